"""What a rollback would do: the journal's before-values against what a host has now.  Pure."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.changes import StepResult
from hostcfg.errors import ChangeRefused
from hostcfg.lean import dataclass
from hostcfg.model import Plan, State
from hostcfg.plan import Wanted, hazards_of, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.platforms.changer import get_changer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.changes import Change, FileState, HostChange, Outcome
    from hostcfg.model import Facts
    from hostcfg.platforms.changer import BeginReport, Changer, StatusReport


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """Steps back, and what is left alone with the reason."""

    plan: Plan
    left: Sequence[str] = ()


def in_force(change: Change, host: HostChange) -> bool:
    """Whether what the change did to the host still stands, as far as the journal knows."""
    good = "applied" if change.kind == "apply" else "reverted"
    return host.status == good and host.undone_by is None


def plan_rollback(facts: Facts, done: HostChange, *, force: bool = False) -> RollbackPlan:
    """What brings ``done``'s before-values back on a host that is as ``facts`` say; pure.

    ChangeRefused, unless ``force``, where the way back would lock people out: a first buffer that
    someone raised since stands above the cap that was there before.
    """
    changer = get_changer(facts.os)
    wanted: list[Wanted] = []
    left: list[str] = []
    for step in reversed(done.steps):
        if step.outcome == "unchanged":
            continue  # nothing was written; without an outcome nobody knows
        why = _why_left(facts, changer, step, force=force)
        if why is not None:
            left.append(f"{step.key}: {why}")
        elif step.from_raw is not None and not changer.same(
            step.key, _raw(facts, step.key) or "", step.from_raw
        ):
            wanted.append(Wanted(step.key, step.from_raw, step.settings, "rollback"))
    platform = get_platform(facts.os)
    plan = plan_writes(facts, platform, wanted, force=True, ordered=True)
    hazards = hazards_of(facts, platform, plan.steps)
    if hazards and not force:
        why = (
            f"taken back as things are now, {'; '.join(hazards)}; --force takes everything back all the same"
        )
        raise ChangeRefused(why, host=facts.host)
    return RollbackPlan(Plan(plan.host, plan.os, plan.steps), tuple(left))


def _raw(facts: Facts, key: str) -> str | None:
    native = facts.native.get(key)
    return native.raw if native is not None and native.state is State.VALUE else None


def _why_left(facts: Facts, changer: Changer, step: StepResult, *, force: bool) -> str | None:
    """Why a step can't or must not be taken back now; None if it can, or is back already."""
    if step.from_raw is None or step.inverse is None:
        return "it was written by force and nothing can take it back"
    now = _raw(facts, step.key)
    if now is None:
        return "it can't be read now"
    wrote = step.read_back if step.read_back is not None else step.to_raw
    if force or changer.same(step.key, now, step.from_raw) or changer.same(step.key, now, wrote):
        return None
    shown = " ".join(now.split())
    return f"someone changed it to {shown!r} since, so it is left alone; --force restores it all the same"


def way_back(host: HostChange, report: StatusReport, facts: Facts | None) -> tuple[StepResult, ...]:
    """The steps by which a host has restored itself, in their order; pure.

    ``report`` is the host's own word of it, ``facts`` what it has now (None: it could not be read).
    A step whose old value was never known has no way back and is left out.
    """
    steps = list(enumerate(host.steps, 1))
    return tuple(
        _step_back(number, step, get_changer(host.os), report, facts)
        for number, step in reversed(steps)
        if step.from_raw is not None
    )


def _step_back(
    number: int, step: StepResult, changer: Changer, report: StatusReport, facts: Facts | None
) -> StepResult:
    written = report.written is None or number in report.written
    before = step.from_raw or ""
    had = step.read_back if step.read_back is not None else step.to_raw
    now = None if facts is None else _raw(facts, step.key)
    outcome: Outcome | None = "set" if report.state == "restored" else None
    if str(number) in report.unrestored:
        outcome = "rejected"
    elif not written:
        outcome = "unchanged"
    elif now is not None:
        outcome = "set" if changer.same(step.key, now, before) else "overridden"
    return StepResult(
        key=step.key,
        from_raw=had if written else before,
        to_raw=before,
        command=step.inverse or "",
        inverse=step.command,
        persist=step.persist,
        settings=step.settings,
        read_back=changer.shown(step.key, now),
        outcome=outcome,
    )


@dataclass(slots=True)
class RollbackFiles:
    """Which files go back, and which are somebody else's by now."""

    done: HostChange
    changer: Changer
    force: bool
    left: list[str] = field(default_factory=list)

    def __call__(self, report: BeginReport) -> Sequence[FileState]:
        now = {state.path: state for state in report.files}
        found = []
        for change in self.done.files:
            state = now.get(change.before.path)
            if state is None or change.after is None:
                continue
            restored = self.changer.file_restored(change, state)
            if restored is None and self.force:
                restored = change.before
            if restored is None:
                self.left.append(f"{state.path}: someone changed it since, so it is left alone")
            elif restored != state:
                found.append(restored)
        return found
