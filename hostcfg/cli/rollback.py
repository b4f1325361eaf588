"""``hostcfg rollback``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import Session, host_options, output_options, with_session
from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from hostcfg.apply import ChangeOptions
    from hostcfg.changes import Change
    from hostcfg.cli.change_common import Hosts
    from hostcfg.journal import Journal


@click.command()
@click.argument("change_id", metavar="[ID]", required=False)
@click.option("--host", metavar="TARGET", help="The newest change of this host that still holds.")
@click.option("--last", is_flag=True, help="The newest change of all that still holds.")
@click.option("--unfinished", is_flag=True, help="Every change that did not reach its end.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Restore values that someone else changed since, too.")
@click.option(
    "--revert-in",
    "revert_in_s",
    type=click.IntRange(0, 86400),
    default=60,
    show_default=True,
    metavar="S",
    help="Seconds until the host takes an unconfirmed rollback back by itself; 0: never.",
)
@host_options()
@output_options()
@with_session
def rollback(
    session: Session,
    change_id: str | None,
    host: str | None,
    last: bool,
    unfinished: bool,
    yes: bool,
    force: bool,
    revert_in_s: int,
) -> int:
    """Put before-values back, checked.

    \b
    hostcfg rollback 20261130-162700-4f2a
    hostcfg rollback --last
    hostcfg rollback --unfinished --yes
    """
    from hostcfg.apply import ChangeOptions
    from hostcfg.cli.change_common import Hosts, ask, finish
    from hostcfg.journal import Journal
    from hostcfg.rollback import rollback_change, rollback_host, rollback_last

    if sum((change_id is not None, host is not None, last, unfinished)) != 1:
        raise UsageError("say what to take back: an ID (hostcfg history), --host, --last or --unfinished")
    journal = Journal.open()
    hosts = Hosts(session, [])
    options = ChangeOptions(revert_in_s=revert_in_s, force=force)
    if unfinished:
        return _settle(session, journal, hosts, options, yes=yes)
    if change_id is not None:
        ask(f"take back {change_id} ({_what(journal.change(change_id))})?", yes=yes)
        done = rollback_change(
            change_id, journal=journal, connect=hosts.connect, read=hosts.read, options=options
        )
    elif host is not None:
        ask(f"take back the newest change of {host}?", yes=yes)
        done = rollback_host(host, journal=journal, connect=hosts.connect, read=hosts.read, options=options)
    else:
        ask(f"take back the newest change{_newest(journal)}?", yes=yes)
        done = rollback_last(journal=journal, connect=hosts.connect, read=hosts.read, options=options)
    return finish(session, done.id, done.hosts)


def _settle(session: Session, journal: Journal, hosts: Hosts, options: ChangeOptions, *, yes: bool) -> int:
    """Every unfinished change: ask its hosts, and have them restored."""
    from hostcfg.cli.change_common import ask, finish
    from hostcfg.rollback import rollback_unfinished

    if not journal.unfinished():
        click.echo("hostcfg: nothing is unfinished", err=True)
        return finish(session, None, [])
    ask("take back what did not reach its end?", yes=yes)
    done = rollback_unfinished(journal=journal, connect=hosts.connect, read=hosts.read, options=options)
    return finish(session, done[0].id if len(done) == 1 else None, [h for one in done for h in one.hosts])


def _what(change: Change) -> str:
    from hostcfg.outputs.change_views import change_title

    return f"{change_title(change)} on {', '.join(h.host for h in change.hosts[:5])}"


def _newest(journal: Journal) -> str:
    changes = journal.changes(1)
    return f" ({changes[0].id})" if changes else ""
