"""A first look at every host of an apply, before anything is written on any: who can't be read fails now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.changes import Fault, HostChange
from hostcfg.cli.plan import planned
from hostcfg.lean import dataclass
from hostcfg.model import Plan
from hostcfg.reader import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from hostcfg.batches import Rules
    from hostcfg.cli.session import Session
    from hostcfg.model import Facts
    from hostcfg.targets import HostSpec


@dataclass(frozen=True, slots=True)
class Look:
    """The plans of those that could be read, and the failures of the others, in the order of the hosts."""

    plans: Sequence[Plan]
    failed: Mapping[str, HostChange]

    def ends(self, rules: Rules) -> bool:
        """Whether so many have failed that nothing is begun at all."""
        return bool(self.failed) and rules.too_many(len(self.failed))

    @property
    def why(self) -> str:
        """Why nothing was begun, once so many have failed."""
        hosts = f"{len(self.failed)} host{'s' if len(self.failed) != 1 else ''}"
        return f"{hosts} can't be read or planned, so nothing was begun (--max-failures, --on-failure)"


NO_LOOK = Look((), {})


def look_at(
    session: Session, specs: Sequence[HostSpec], planner: Callable[[Facts], Plan], rules: Rules
) -> Look:
    """Reads and plans every host, side by side; KeyboardInterrupt if that was interrupted.

    Failures are told here unless they end the run, whose report tells them.
    """
    outcomes = planned(session, specs, planner, tell=False)
    failures = [one for one in outcomes if isinstance(one, Outcome)]
    if any(one.error is not None and one.error.kind == "interrupted" for one in failures):
        raise KeyboardInterrupt
    failed = {
        one.spec.name: HostChange(one.spec.name, "", "failed", error=Fault.of(one.error))
        for one in failures
        if one.error is not None
    }
    look = Look([one for one in outcomes if isinstance(one, Plan)], failed)
    if not look.ends(rules):
        session.report_errors(failures)
    return look


def question(profile: str, batches: Sequence[Sequence[str]], failed: Collection[str]) -> str:
    """What is asked before a run: whom it comes to, in which batches, and whom not."""
    left = [[name for name in batch if name not in failed] for batch in batches]
    sizes = [str(len(batch)) for batch in left if batch]
    shown = _few([name for batch in left for name in batch])
    then = "" if len(sizes) == 1 else f", {' then '.join(sizes[:6])}{' ...' if len(sizes) > 6 else ''}"
    without = f", without {_few([*failed])}" if failed else ""
    return f"apply {profile} to {shown}{then}{without}?"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" ... ({len(names)} hosts)" if len(names) > 5 else "")
