"""What a question is about: the plan, shown before it on standard error, and kept to after it."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.errors import ChangeRefused, HostcfgError
from hostcfg.model import Plan, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.changes import Fault, HostChange
    from hostcfg.cli.change_common import Hosts
    from hostcfg.cli.session import Session
    from hostcfg.model import Facts
    from hostcfg.reader import Outcome
    from hostcfg.targets import HostSpec


class Shown:
    """Plans as they were shown to whoever was asked: facts may be others by the time of a yes."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._steps = {plan.host: {_shown(step) for step in plan.steps} for plan in plans}

    def refuse_others(self, plan: Plan) -> None:
        """ChangeRefused for a plan with a step that nobody was shown."""
        new = [step.key for step in plan.steps if _shown(step) not in self._steps.get(plan.host, ())]
        if new:
            message = (
                f"it is not as it was shown any more, so nothing is written ({', '.join(new)}): run it again"
            )
            raise ChangeRefused(message, host=plan.host)

    def only(self, planner: Callable[[Facts], Plan]) -> Callable[[Facts], Plan]:
        """A planner that refuses what it was not shown."""

        def plan(facts: Facts) -> Plan:
            found = planner(facts)
            self.refuse_others(found)
            return found

        return plan


def _shown(step: Step) -> tuple[str, str | None, str]:
    return step.key, step.from_raw, step.to_raw


def show(session: Session, plans: Sequence[Plan]) -> None:
    """What would be written, on standard error: the result alone goes to standard output."""
    from hostcfg.outputs.change_views import question_blocks
    from hostcfg.outputs.text import make_console, print_blocks

    blocks = question_blocks(plans, details=session.details(plans))
    print_blocks(blocks, make_console(sys.stderr, color=session.color))


def ways_back(
    session: Session, hosts: Hosts, standing: Sequence[HostChange], since: Mapping[str, Fault], *, force: bool
) -> list[Plan | Outcome]:
    """What taking hosts back would write, by a fresh look; who can't be looked at, or taken back, is told.

    ``since``: hosts on which another change has to be taken back first.
    """
    found: dict[str, Plan | Outcome] = {
        host.host: _told(hosts.spec(host.host), ChangeRefused(since[host.host].message))
        for host in standing
        if host.host in since and not force
    }
    free = [host for host in standing if host.host not in found]
    outcomes = session.read([hosts.spec(host.host) for host in free], keep_text=True)
    for outcome, done in zip(outcomes, free, strict=True):
        try:
            plan = None if outcome.facts is None else _way_back(outcome.facts, done, force=force)
            found[done.host] = plan or outcome
        except HostcfgError as error:
            found[done.host] = _told(outcome.spec, error)
    return [found[host.host] for host in standing]


def _told(spec: HostSpec, error: HostcfgError) -> Outcome:
    from hostcfg.cli import report
    from hostcfg.reader import Outcome

    report(error)
    return Outcome(spec, None, error)


def _way_back(facts: Facts, done: HostChange, *, force: bool) -> Plan:
    from hostcfg.rollback import plan_rollback

    back = plan_rollback(facts, done, force=force)
    paths = [file.before.path for file in done.files if file.after is not None]
    return replace(back.plan, host=done.host, notes=back.left, files=dict.fromkeys(paths, ""))


def backwards(host: HostChange) -> Plan:
    """What taking a host back would write, as far as the journal knows."""
    asked = "what became of it, the host is asked first: only what still stands is taken back"
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
    return Plan(host.host, host.os, steps, (asked,))
