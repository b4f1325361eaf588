"""What a host said of its steps, as values and in words for a person.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.changes import StepResult

if TYPE_CHECKING:
    from hostcfg.model import Step
    from hostcfg.platforms.changer import Changer, StepReport, WriteReport

_STOPPED = {
    "space": "no room for its own notes on the host; nothing more was written",
    "taken": "the time ran out before everything was written",
}


def why_stopped(report: WriteReport, changer: Changer) -> str:
    """Why a host stopped writing: the step that came out otherwise, else its own reason."""
    for step in report.steps:
        if step.outcome not in (None, "set", "unchanged"):
            shown = changer.shown(step.key, step.read_back)
            got = f", the host has {' '.join(shown.split())!r}" if shown is not None else ""
            said = f" ({step.error})" if step.error else ""
            return f"{step.key}: {step.outcome}{said}{got}; everything written before it was put back"
    reason = report.stopped or ""
    return _STOPPED.get(reason, f"it stopped ({reason})")


def result_of(step: Step, report: StepReport | None, changer: Changer) -> StepResult:
    """A planned step with what the host said of it; ``report`` None: it was not tried."""
    return StepResult(
        key=step.key,
        from_raw=step.from_raw,
        to_raw=step.to_raw,
        command=step.command,
        inverse=step.inverse,
        persist=step.persist,
        settings=tuple(step.settings),
        read_back=changer.shown(step.key, report.read_back) if report else None,
        outcome=report.outcome if report else None,
        error=report.error if report else "",
    )
