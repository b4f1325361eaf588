"""``hostcfg apply``."""

from __future__ import annotations

import click

from hostcfg.cli.common import Session, host_options, output_options, profile_options, with_session


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@profile_options()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Stop before the first write, as plan does.")
@click.option("--persist", is_flag=True, help="Also write the file that sets the values at boot.")
@click.option(
    "--revert-in",
    "revert_in_s",
    type=click.IntRange(0, 86400),
    default=60,
    show_default=True,
    metavar="S",
    help="Seconds until the host takes an unconfirmed change back by itself; 0: never.",
)
@click.option("--hold", is_flag=True, help="Leave the confirmation to `hostcfg confirm`.")
@click.option("--force", is_flag=True, help="Write what is refused otherwise.")
@host_options()
@output_options()
@with_session
def apply(
    session: Session,
    targets: tuple[str, ...],
    profile_name: str,
    rate: str | None,
    rtt: str | None,
    inputs: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    persist: bool,
    revert_in_s: int,
    hold: bool,
    force: bool,
) -> int:
    """Write a profile to hosts: backup, revert timer, write, check, confirm over a new connection.

    \b
    hostcfg apply lon-1 --profile wan --rate 1gbit --rtt 80ms
    hostcfg apply lon-1 --profile wan --rate 1gbit --rtt 80ms --persist --yes
    """
    from hostcfg.apply import ChangeOptions, apply_host
    from hostcfg.cli.change_common import Hosts, Planner, ask, finish, map_hosts
    from hostcfg.journal import Journal

    planner = Planner(profile_name, rate, rtt, inputs, persist=persist, force=force)
    specs = session.hosts(targets)
    hosts = Hosts(session, specs)
    if dry_run:
        from hostcfg.cli.plan import print_plans

        return print_plans(session, specs, planner)
    names = [spec.name for spec in specs]
    ask(f"apply {planner.profile.name} to {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}?", yes=yes)
    journal = Journal.open()
    draft = journal.draft("apply", profile=planner.document())
    options = ChangeOptions(revert_in_s=revert_in_s, hold=hold, force=force)
    changes = map_hosts(
        names,
        lambda name: apply_host(
            name,
            draft=draft,
            journal=journal,
            connect=hosts.connect,
            read=hosts.read,
            planner=planner,
            options=options,
        ),
        session.jobs,
    )
    stored = any(change.steps for change in changes)
    return finish(session, draft.id if stored else None, changes)
