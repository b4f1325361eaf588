"""The values of a change: what the journal holds, what apply and rollback return, and their JSON.  Pure."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.errors import HostcfgError
    from hostcfg.model import Json

Outcome = Literal["set", "unchanged", "clamped", "rejected", "denied", "read_only", "absent", "overridden"]
HostStatus = Literal["planned", "applying", "pending", "applied", "reverted", "failed", "unknown"]
ChangeKind = Literal["apply", "rollback"]

UNFINISHED: frozenset[HostStatus] = frozenset({"planned", "applying", "pending", "unknown"})
"""A host in one of these has not reached a final state: ``rollback --unfinished`` asks it."""

UNTIL_BOOT = "these values last until the next boot; --persist keeps them"
"""A note that is true of what stands, and not of what was taken back."""

KEPT = "kept over a boot by "
"""Begins a note on the keys that the next boot sets as they are wanted, and the file that has them."""

NOT_KEPT = "not kept over a boot: "
"""Begins a warning on keys that the next boot does not set as they are wanted, and why."""

WRITTEN = " is written"
"""Ends a note on a file that a change has written."""

NOTHING_TO_DO = "nothing was to be done"

ONCE_CONFIRMED = "is written once the change is confirmed"
"""Ends a note on a file, which is true as long as the host waits."""

RunState = Literal["running", "stopped", "ended"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a host's change did not go as planned: a stable word and one line."""

    kind: str
    message: str

    @classmethod
    def of(cls, error: HostcfgError) -> Fault:
        """The fault that ``error`` describes."""
        return cls(error.kind, str(error))


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step and what became of it.

    ``outcome`` None: it was not tried (an earlier one failed, or nothing was written at all), or, where
    ``error`` says so, it may have been written and nobody heard what became of it.
    ``read_back`` is the host's own text after the write, None where there is none.
    ``error`` is what the host said, one line, empty where it said nothing.
    ``detail`` is what restoring needs beyond ``from_raw`` (a queueing discipline's options).
    """

    key: str
    from_raw: str | None
    to_raw: str
    command: str = ""
    inverse: str | None = None
    persist: str | None = None
    settings: Sequence[str] = ()
    detail: str | None = None
    read_back: str | None = None
    outcome: Outcome | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class FileState:
    """One file as it was or as it shall be; ``contents`` None means that it is absent.

    ``mode`` is the permission bits (0o644), ``uid`` and ``gid`` the numeric owner.
    """

    path: str
    contents: bytes | None
    mode: int = 0o644
    uid: int = 0
    gid: int = 0


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a change: ``after`` None means that the change did not come to write it."""

    before: FileState
    after: FileState | None = None


@dataclass(frozen=True, slots=True)
class HostChange:
    """What became of one host in one change.

    ``left_s`` is how many seconds are left to confirm, ``due`` when that is, ISO 8601 in UTC (``pending``
    only; None: no timer).
    ``modules`` names kernel modules that the change loaded; ``undone_by`` the change that took
    this one back.  ``identity`` holds what tells this machine from another one.  ``reach`` is how the
    host was reached, without any secret, so that it can be found again without the inventory.
    ``attempt`` counts from 1: a resumed change may come back to a host that was put back before.
    """

    host: str
    os: str
    status: HostStatus
    steps: Sequence[StepResult] = ()
    error: Fault | None = None
    notes: Sequence[str] = ()
    files: Sequence[FileChange] = ()
    modules: Sequence[str] = ()
    identity: Mapping[str, str] = field(default_factory=dict)
    revert_in_s: int = 0
    left_s: int | None = None
    due: str | None = None
    undone_by: str | None = None
    reach: Mapping[str, Json] = field(default_factory=dict)
    attempt: int = 1

    @property
    def unfinished(self) -> bool:
        """Whether the host still has to come to an end."""
        return self.status in UNFINISHED

    @property
    def overdue(self) -> bool:
        """Whether the host's timer must have taken it back by now; only the host can tell."""
        return self.status == "pending" and self.left_s == 0

    @property
    def trouble(self) -> bool:
        """Whether exit code 2 is due: the host could not be changed as asked."""
        return self.error is not None


@dataclass(frozen=True, slots=True)
class Run:
    """An apply over several hosts, batch by batch: all that is needed to go on with it later.

    ``batches`` name every host in order, ``reach`` says how each is reached, ``options`` what the
    user asked for.  ``unchanged`` are hosts that needed nothing; ``faults`` why a host failed before
    anything could be journalled for it.  A run that was killed stays ``running``.
    """

    batches: Sequence[Sequence[str]]
    reach: Mapping[str, Mapping[str, Json]]
    options: Mapping[str, Json]
    unchanged: Sequence[str] = ()
    faults: Mapping[str, Fault] = field(default_factory=dict)
    state: RunState = "running"

    @property
    def names(self) -> Sequence[str]:
        """Every host of the run, in order."""
        return [name for batch in self.batches for name in batch]


@dataclass(frozen=True, slots=True)
class Change:
    """One applied (or tried) plan over one or more hosts; times are ISO 8601 in UTC.

    ``hosts`` are those that have a plan in the journal; a ``run`` may name more.  ``process`` is the
    one that works on it, or did last.
    """

    id: str
    kind: ChangeKind
    started: str
    ended: str | None
    by: str
    from_host: str
    of: str | None = None
    profile: Mapping[str, Json] = field(default_factory=dict)
    hosts: Sequence[HostChange] = ()
    run: Run | None = None
    process: str = ""

    @property
    def everyone(self) -> Sequence[HostChange]:
        """Every host of the change: those of a run that have no plan yet come as ``planned``."""
        if self.run is None:
            return self.hosts
        known = {host.host: host for host in self.hosts}
        run = self.run
        return [known.get(name) or _without_plan(run, name) for name in run.names]


def _without_plan(run: Run, name: str) -> HostChange:
    """A host for which nothing was journalled, so nothing was written on it."""
    fault = run.faults.get(name)
    status: HostStatus = "failed" if fault else "applied" if name in run.unchanged else "planned"
    notes = (NOTHING_TO_DO,) if name in run.unchanged else ()
    return HostChange(name, "", status, error=fault, notes=notes, reach=run.reach.get(name, {}))


def true_notes(host: HostChange) -> list[str]:
    """The notes of a host that are true of what it has come to: nothing is kept of what was taken back."""
    notes = [note for note in host.notes if host.status == "pending" or not note.endswith(ONCE_CONFIRMED)]
    if host.status not in ("reverted", "failed"):
        return notes
    return [
        note
        for note in notes
        if note != UNTIL_BOOT and not note.startswith((KEPT, NOT_KEPT)) and not note.endswith(WRITTEN)
    ]


def change_document(
    change_id: str | None, hosts: Sequence[HostChange], not_reached: Sequence[str] = ()
) -> dict[str, Json]:
    """``hostcfg.change/1``; ``change_id`` None where no host needed a change.

    ``not_reached`` are hosts of a run that were not begun.
    """
    return {
        "schema": "hostcfg.change/1",
        "id": change_id,
        "hosts": [_host(h) for h in hosts],
        "not_reached": list(not_reached),
    }


def history_document(changes: Sequence[Change]) -> dict[str, Json]:
    """``hostcfg.history/1``."""
    return {"schema": "hostcfg.history/1", "changes": [_change(c) for c in changes]}


def _change(change: Change) -> dict[str, Json]:
    return {
        "id": change.id,
        "started": change.started,
        "ended": change.ended,
        "by": change.by,
        "from_host": change.from_host,
        "profile": dict(change.profile),
        "kind": change.kind,
        "of": change.of,
        "run": None if change.run is None else change.run.state,
        "hosts": [_host(h) for h in change.everyone],
    }


def _host(host: HostChange) -> dict[str, Json]:
    fault = host.error
    return {
        "host": host.host,
        "os": host.os,
        "status": host.status,
        "steps": [_step(s) for s in host.steps],
        "error": None if fault is None else {"kind": fault.kind, "message": fault.message},
        "notes": [*true_notes(host)],
        "left_s": host.left_s,
        "due": host.due,
        "overdue": host.overdue,
        "undone_by": host.undone_by,
    }


def _step(step: StepResult) -> dict[str, Json]:
    return {
        "key": step.key,
        "from": step.from_raw,
        "to": step.to_raw,
        "read_back": step.read_back,
        "outcome": step.outcome,
        "error": step.error,
        "command": step.command,
        "inverse": step.inverse,
        "persist": step.persist,
    }
