"""``hostcfg plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import (
    TARGET_HELP,
    Session,
    code_of,
    host_options,
    output_options,
    profile_options,
    with_session,
)
from hostcfg.errors import HostcfgError
from hostcfg.model import Plan
from hostcfg.reader import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.cli.change_common import Planner
    from hostcfg.model import Facts
    from hostcfg.outputs.blocks import Block
    from hostcfg.targets import HostSpec


@click.command(epilog=TARGET_HELP)
@click.argument("targets", nargs=-1, metavar="TARGET...")
@profile_options()
@click.option("--persist", is_flag=True, help="Plan the boot files too.")
@click.option("--force", is_flag=True, help="Plan steps that are refused otherwise.")
@host_options()
@output_options()
@with_session
def plan(
    session: Session,
    targets: tuple[str, ...],
    profile_name: str,
    rate: str | None,
    rtt: str | None,
    inputs: tuple[str, ...],
    persist: bool,
    force: bool,
) -> int:
    """The exact commands that apply would run, in order, with their inverses; touches nothing.

    \b
    hostcfg plan lon-1 --profile wan --rate 1gbit --rtt 80ms

    Exit status: 0 no step, 1 steps, 2 trouble.
    """
    from hostcfg.cli.change_common import Planner

    planner = Planner(profile_name, rate, rtt, inputs, persist=persist, force=force)
    return print_plans(session, session.hosts(targets), planner)


def print_plans(session: Session, specs: Sequence[HostSpec], planner: Planner) -> int:
    """Read, plan and print; the exit code."""
    from hostcfg.outputs.documents import plan_document

    outcomes = planned(session, specs, planner)
    plans = [outcome for outcome in outcomes if isinstance(outcome, Plan)]
    unplanned = [outcome for outcome in outcomes if isinstance(outcome, Outcome)]

    def blocks() -> list[Block]:
        from hostcfg.outputs.change_views import plan_blocks

        return plan_blocks(plans, details=session.details(plans))

    session.emit(lambda: plan_document(outcomes), blocks)
    return code_of(unplanned, differs=any(p.steps for p in plans))


def planned(
    session: Session, specs: Sequence[HostSpec], planner: Callable[[Facts], Plan], *, tell: bool = True
) -> list[Plan | Outcome]:
    """Each host's plan, or why it has none; ``tell``: on stderr too.

    A host is planned as soon as it is read: what it printed is not kept for longer.
    """
    plans: dict[HostSpec, Plan] = {}

    def heed(spec: HostSpec, facts: Facts) -> None:
        try:
            plans[spec] = planner(facts)
        except HostcfgError as error:
            error.host = error.host or spec.name
            raise

    outcomes = session.read(specs, heed=heed, tell=tell)
    return [plans.get(one.spec, one) for one in outcomes]
