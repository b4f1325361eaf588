"""``hostcfg apply``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hostcfg.cli.common import (
    TARGET_HELP,
    Session,
    host_options,
    output_options,
    profile_options,
    with_session,
)
from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from hostcfg.batches import OnFailure


@click.command(epilog=TARGET_HELP)
@click.argument("targets", nargs=-1, metavar="TARGET...")
@profile_options(required=False)
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
@click.option(
    "--batch",
    metavar="SIZES",
    default="1,10%,100%",
    show_default=True,
    help="Hosts at a time, the last size until all are done.",
)
@click.option(
    "--max-failures",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Stop once more than N hosts have failed; who can't be read fails before any is written.",
)
@click.option(
    "--on-failure",
    type=click.Choice(["stop", "rollback", "continue"]),
    default="stop",
    show_default=True,
    help="Then leave the hosts that are done, take them back, or go on.",
)
@click.option(
    "--check",
    metavar="COMMAND",
    help="Run here by /bin/sh -c after each batch, its hosts in $HOSTCFG_HOSTS; not 0 is a failure.",
)
@click.option("--resume", "resumed", metavar="ID", help="Go on with a run that was cut or stopped.")
@host_options()
@output_options()
@with_session
def apply(
    session: Session,
    targets: tuple[str, ...],
    profile_name: str | None,
    rate: str | None,
    rtt: str | None,
    inputs: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    persist: bool,
    revert_in_s: int,
    hold: bool,
    force: bool,
    batch: str,
    max_failures: int,
    on_failure: OnFailure,
    check: str | None,
    resumed: str | None,
) -> int:
    """Write a profile to hosts: backup, revert timer, write, check, confirm over a new connection.

    \b
    hostcfg apply lon-1 --profile wan --rate 1gbit --rtt 80ms
    hostcfg apply @eu -i fleet.yaml --profile wan --rate 1gbit --rtt 80ms --yes
    hostcfg apply --resume 20261130-162700-4f2a
    """
    from hostcfg.batches import parse_sizes
    from hostcfg.cli.apply_options import Asked, parse_check
    from hostcfg.cli.apply_run import apply_new, refuse_one_host_twice, resume

    if resumed is not None:
        return resume(session, resumed, _given_with_resume(), yes=yes)
    if profile_name is None or not (targets or session.inventory_path):
        raise UsageError("give hosts and --profile NAME, or --resume ID (hostcfg apply --help)")
    asked = Asked(
        profile_name=profile_name,
        rate=rate,
        rtt=rtt,
        inputs=inputs,
        persist=persist,
        revert_in_s=revert_in_s,
        hold=hold,
        force=force,
        max_failures=max_failures,
        on_failure=on_failure,
        check=check,
    )
    sizes = parse_sizes(batch)
    parse_check(check)
    specs = session.hosts(targets)
    refuse_one_host_twice(session, specs)
    if dry_run:
        from hostcfg.cli.plan import print_plans

        return print_plans(session, specs, asked.planner())
    return apply_new(session, specs, asked, sizes, yes=yes)


_SETTLED = frozenset(
    {
        "targets",
        "profile_name",
        "rate",
        "rtt",
        "inputs",
        "persist",
        "revert_in_s",
        "hold",
        "force",
        "batch",
        "dry_run",
        "limit",
        "exclude",
    }
)


def _given_with_resume() -> dict[str, Any]:
    """What may be said anew of a run that goes on; UsageError for what was settled when it began."""
    context = click.get_current_context()
    given = {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    settled = [p for p in context.command.params if p.name in given.keys() & _SETTLED]
    if settled:
        said = ", ".join(p.opts[0] if isinstance(p, click.Option) else "TARGET" for p in settled)
        raise UsageError(f"--resume goes on with what was begun: leave out {said}")
    return {name: given[name] for name in ("max_failures", "on_failure", "check") if name in given}
