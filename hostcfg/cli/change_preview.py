"""What a question is about: the plan, shown before it on standard error, and kept to after it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hostcfg.errors import ChangeRefused
from hostcfg.model import Plan, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.changes import HostChange
    from hostcfg.cli.session import Session
    from hostcfg.model import Facts


class AsShown:
    """A planner that writes nothing but what was shown: facts may be others by the time of a yes."""

    def __init__(self, planner: Callable[[Facts], Plan], plans: Sequence[Plan]) -> None:
        self._planner = planner
        self._shown = {plan.host: {(step.key, step.to_raw) for step in plan.steps} for plan in plans}

    def __call__(self, facts: Facts) -> Plan:
        """The plan; ChangeRefused if it has a step that nobody was shown."""
        plan = self._planner(facts)
        new = [s.key for s in plan.steps if (s.key, s.to_raw) not in self._shown.get(plan.host, ())]
        if new:
            message = f"the plan that was shown has no such step, so nothing is written ({', '.join(new)})"
            raise ChangeRefused(message, host=plan.host)
        return plan


def show(session: Session, plans: Sequence[Plan]) -> None:
    """What would be written, on standard error: the result alone goes to standard output."""
    from hostcfg.outputs.change_views import question_blocks
    from hostcfg.outputs.text import make_console, print_blocks

    blocks = question_blocks(plans, details=session.details(plans))
    print_blocks(blocks, make_console(sys.stderr, color=session.color))


def backwards(host: HostChange) -> Plan:
    """What taking a host back would write, as far as the journal knows."""
    steps = [
        Step(
            step.key,
            step.read_back if step.read_back is not None else step.to_raw,
            step.from_raw,
            step.inverse or "",
            step.command,
            step.settings,
        )
        for step in reversed(host.steps)
        if step.from_raw is not None and step.outcome != "unchanged"
    ]
    return Plan(host.host, host.os, steps)
