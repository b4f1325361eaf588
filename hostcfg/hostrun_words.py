"""What a host said of its steps, as values and in words for a person.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.changes import ONCE_CONFIRMED, WRITTEN, Fault, StepResult
from hostcfg.journal.store import due_in
from hostcfg.platforms.changer import StepReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostcfg.changes import FileState, HostStatus
    from hostcfg.errors import HostError
    from hostcfg.model import Step
    from hostcfg.platforms.changer import Changer, WriteReport

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


UNHEARD = "it may be set: the connection ended before the host told"
"""Of a step that the host was told to write, and nobody knows whether it did."""


def unheard(keys: Iterable[str], told: Mapping[str, StepReport]) -> list[StepReport]:
    """What is known of the steps that the host has not told of, once it was told to write them all."""
    return [StepReport(key, None, None, UNHEARD) for key in keys if key not in told]


def ended_notes(
    notes: Sequence[str], files: Sequence[FileState], status: HostStatus, *, done: HostStatus
) -> list[str]:
    """The notes of a host that ends as ``status``, with where its values are kept for the next boot."""
    kept = [note for note in notes if not note.endswith(ONCE_CONFIRMED)]
    if status == "pending":
        return kept + [f"{file.path} {ONCE_CONFIRMED}" for file in files]
    if status != done:
        return kept
    if done == "reverted":
        return kept + [
            f"{file.path} is {'removed' if file.contents is None else 'put back'}" for file in files
        ]
    return kept + [f"{file.path}{WRITTEN}" for file in files]


def why_unasked(left_s: int | None, *, began_writing: bool) -> str:
    """What a host that can't be asked is expected to do by itself, ``left_s`` from now."""
    if not began_writing:
        return "nothing was written there yet"
    if left_s is None:
        return "no timer runs there"
    return f"its timer was due at {due_in(left_s)} and restores it, unless it was down"


def not_confirmed(host: str, error: HostError) -> Fault:
    """Why nobody was let in again after the change."""
    why = str(error).removeprefix(f"{host}: ")
    return Fault(error.kind, f"{host}: the confirming connection failed ({why})")


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
