"""``hostcfg rollback``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import OK, TROUBLE, Session, host_options, output_options, with_session
from hostcfg.errors import ChangeRefused, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hostcfg.apply import ChangeOptions
    from hostcfg.change_options import Agreed
    from hostcfg.changes import Change, HostChange
    from hostcfg.cli.change_common import Hosts, Interrupts
    from hostcfg.journal import Journal
    from hostcfg.model import Plan
    from hostcfg.outputs.blocks import Block
    from hostcfg.reader import Outcome


@click.command()
@click.argument("change_id", metavar="[ID]", required=False)
@click.option("--host", metavar="TARGET", help="The newest change of this host that still holds.")
@click.option("--last", is_flag=True, help="The newest change of all that still holds.")
@click.option("--unfinished", is_flag=True, help="Every change that did not reach its end.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")
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
    dry_run: bool,
    force: bool,
    revert_in_s: int,
) -> int:
    """Put before-values back, checked.  The beginning of an ID will do where no other has it.

    \b
    hostcfg rollback 20261130-162700-4f2a
    hostcfg rollback --last
    hostcfg rollback --unfinished --yes
    """
    from hostcfg.apply import ChangeOptions
    from hostcfg.change_options import to_anything
    from hostcfg.cli.change_common import Hosts, Interrupts, chosen, finish, side_by_side
    from hostcfg.journal import Journal
    from hostcfg.rollback import newest_in_force, rollback_change

    if sum((change_id is not None, host is not None, last, unfinished)) != 1:
        raise UsageError("say what to take back: an ID (hostcfg history), --host, --last or --unfinished")
    journal = Journal.open()
    options = ChangeOptions(revert_in_s=revert_in_s, force=force)
    if unfinished:
        return _settle(session, journal, options, yes=yes, dry_run=dry_run)
    change = journal.find(change_id) if change_id is not None else newest_in_force(journal, host)
    wanted = chosen(session, [one.host for one in change.hosts if host is None or one.host == host])
    hosts = Hosts(session, known=change.hosts)
    if dry_run:
        return _print(session, _plans(session, journal, change, wanted, hosts, force=force))
    agreed = to_anything if yes else _ask(session, journal, change, wanted, hosts, force=force)
    with Interrupts() as interrupts:
        done = rollback_change(
            change.id,
            journal=journal,
            connect=hosts.connect,
            read=hosts.read,
            options=options,
            hosts=wanted,
            each=side_by_side(session, interrupts),
            agreed=agreed,
        )
    left = _not_reached(change, wanted, done.hosts)
    code = finish(session, done.id, done.hosts, not_reached=left, rolled_back=True, of=change.id)
    return interrupts.code(code)


def _plans(
    session: Session, journal: Journal, change: Change, wanted: Sequence[str], hosts: Hosts, *, force: bool
) -> list[Plan | Outcome]:
    """What would be written on each host that has the change; ChangeRefused where none has."""
    from hostcfg.cli.change_preview import backwards, ways_back
    from hostcfg.rollback import nothing_stands, set_since, standing

    mine = [host for host in change.hosts if host.host in wanted]
    if not standing(change, mine):
        raise ChangeRefused(nothing_stands(change, mine))
    since = set_since(change, journal.newer(change))
    held = [host for host in standing(change, mine) if not host.unfinished]
    return [
        *(backwards(host) for host in mine if host.unfinished),
        *ways_back(session, hosts, held, since, force=force),
    ]


def _print(session: Session, outcomes: Sequence[Plan | Outcome]) -> int:
    """The plans of a rollback, which writes none of them; the exit code, as of ``plan``."""
    from hostcfg.cli.common import code_of
    from hostcfg.model import Plan
    from hostcfg.outputs.documents import plan_document
    from hostcfg.reader import Outcome

    plans = [one for one in outcomes if isinstance(one, Plan)]

    def blocks() -> list[Block]:
        from hostcfg.outputs.change_views import question_blocks

        return question_blocks(plans, details=session.details(plans))

    session.emit(lambda: plan_document(outcomes), blocks)
    unplanned = [one for one in outcomes if isinstance(one, Outcome)]
    return code_of(unplanned, differs=any(plan.steps or plan.files for plan in plans))


def _ask(
    session: Session, journal: Journal, change: Change, wanted: Sequence[str], hosts: Hosts, *, force: bool
) -> Agreed:
    """What would be written, and whether it shall; no question where nothing would be.

    Returns what refuses all else: a host may be another one by the time of a yes.
    """
    from hostcfg.cli.change_common import ask, need_someone
    from hostcfg.cli.change_preview import Shown, show
    from hostcfg.model import Plan

    need_someone(yes=False)
    found = _plans(session, journal, change, wanted, hosts, force=force)
    plans = [one for one in found if isinstance(one, Plan)]
    if plans:
        show(session, plans)
    if any(plan.steps or plan.files for plan in plans):
        ask(f"take back {change.id} ({_what(change, wanted)})?", yes=False, no="not taken back")
    return Shown(plans).refuse_others


def _not_reached(change: Change, wanted: Sequence[str], done: Sequence[HostChange]) -> list[str]:
    """Hosts that still have the change, since the rollback was interrupted before their turn."""
    from hostcfg.rollback import standing

    reached = {host.host for host in done}
    names = [host.host for host in standing(change, change.hosts)]
    return [name for name in names if name in wanted and name not in reached]


def _settle(session: Session, journal: Journal, options: ChangeOptions, *, yes: bool, dry_run: bool) -> int:
    """Every unfinished change: ask its hosts, and have them restored."""
    from hostcfg.cli.change_common import Interrupts, ask, chosen, finish, need_someone
    from hostcfg.cli.change_preview import backwards, show

    changes = journal.unfinished()
    if not changes:
        click.echo("hostcfg: nothing is unfinished", err=True)
        return finish(session, None, [])
    wanted = set(chosen(session, list(dict.fromkeys(host.host for c in changes for host in c.hosts))))
    changes = [c for c in changes if not c.hosts or any(host.host in wanted for host in c.hosts)]
    plans = [backwards(h) for c in changes for h in c.hosts if h.unfinished and h.host in wanted]
    if dry_run:
        return _print(session, plans)
    need_someone(yes=yes)
    if not yes:
        show(session, plans)
    ask(
        f"take back what did not reach its end ({', '.join(c.id for c in changes[:5])})?",
        yes=yes,
        no="not taken back",
    )
    with Interrupts() as interrupts:
        settled, refused = _settled(session, journal, changes, options, wanted, interrupts)
    one = changes[0] if len(changes) == 1 else None
    told = finish(session, one.id if one else None, settled, of=one.of if one else None, way_back=True)
    return interrupts.code(max(told, TROUBLE if refused else OK))


def _settled(
    session: Session,
    journal: Journal,
    changes: Sequence[Change],
    options: ChangeOptions,
    wanted: Collection[str],
    interrupts: Interrupts,
) -> tuple[list[HostChange], bool]:
    """What became of the hosts, one change after the other, and whether one was refused, which is told."""
    from hostcfg.cli import report
    from hostcfg.cli.change_common import Hosts, side_by_side
    from hostcfg.rollback import settle_change

    settled: list[HostChange] = []
    refused = False
    for change in changes:
        hosts = Hosts(session, known=change.hosts)
        try:
            done = settle_change(
                change,
                journal=journal,
                connect=hosts.connect,
                read=hosts.read,
                options=options,
                hosts=wanted,
                each=side_by_side(session, interrupts),
            )
        except ChangeRefused as error:
            report(error)
            refused = True
        else:
            settled += done.hosts
    return settled, refused


def _what(change: Change, hosts: Sequence[str]) -> str:
    from hostcfg.outputs.change_views import change_title

    more = f" ... ({len(hosts)} hosts)" if len(hosts) > 5 else ""
    return f"{change_title(change)} on {', '.join(hosts[:5])}{more}"
