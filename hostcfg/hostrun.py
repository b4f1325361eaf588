"""One planned change on one host, from the journal to the confirmation: what apply and rollback share.

Each arrow is one command; nothing is written before the journal has it on its disk::

    journal -> begin -> journal -> write -> journal -> (new connection) confirm -> journal

Whatever fails, the host is asked what has become of it, over any connection that can be had, and
put back; a host that can't be asked restores itself when its timer runs out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from hostcfg.asking import Asking, Refused, raise_for, run_whole
from hostcfg.change_options import ChangeOptions, Connect, Each, OnEvent, in_turn, nothing
from hostcfg.changes import Fault, HostChange
from hostcfg.errors import ChangeRefused, HostError, JournalError
from hostcfg.hostrun_words import ended_notes, not_confirmed, result_of, unheard, why_stopped, why_unasked
from hostcfg.journal.store import due_in
from hostcfg.lean import dataclass
from hostcfg.platforms.changer import Job, JobStep, StepReport
from hostcfg.platforms.framing import new_nonce

if TYPE_CHECKING:
    from hostcfg.changes import FileState, HostStatus
    from hostcfg.errors import HostcfgError
    from hostcfg.journal import Draft, Journal
    from hostcfg.model import Json, Plan
    from hostcfg.platforms.changer import (
        BeginReport,
        Changer,
        ConfirmReport,
        StatusReport,
        WriteReport,
    )
    from hostcfg.transports.base import Transport

Files = Callable[["BeginReport"], "Sequence[FileState]"]

__all__ = ["ChangeOptions", "Connect", "Each", "HostRun", "OnEvent", "in_turn", "nothing"]


@dataclass(slots=True)
class HostRun:
    """The run of one plan on one host.

    ``files`` gives the files to write from what begin found; ``details`` what restores a key beyond
    its raw value; ``done`` is the status of success, ``back`` that of a change that was taken back
    again (a rollback that was is ``failed``: the host is not where it was wanted); ``shortfall``
    says what was left alone on purpose, which makes a success a ``failed`` too.
    """

    host: str
    plan: Plan
    draft: Draft
    journal: Journal
    connect: Connect
    changer: Changer
    options: ChangeOptions
    on_event: OnEvent
    files: Files = lambda _: ()
    paths: Sequence[str] = ()
    unload: Sequence[str] = ()
    identity: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    reach: Mapping[str, Json] = field(default_factory=dict)
    attempt: int = 1
    done: HostStatus = "applied"
    back: HostStatus = "reverted"
    shortfall: Callable[[], Fault | None] = lambda: None
    _results: dict[str, StepReport] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)
    _new_files: Sequence[FileState] = ()
    _left_s: int | None = None
    _first: Transport | None = None
    _began_writing: bool = False

    def over(self, first: Transport) -> HostChange:
        """The whole change, with ``first`` as its first connection."""
        self._first = first
        self._notes = list(self.plan.notes)
        self.attempt = self.journal.planned(
            self.draft,
            self.plan,
            revert_in_s=self.options.revert_in_s,
            modules=self._job().modules,
            reach=self.reach,
        )
        self.on_event("journalled")
        try:
            return self._protected(first, self._job())
        except JournalError:
            with suppress(HostError):
                self.asking.over(first, restore=True)  # what can't be recorded must not stay
            raise

    def _protected(self, first: Transport, job: Job) -> HostChange:
        """Everything after the journal has the plan: whatever goes wrong, the host is put back."""
        try:
            self._begin(first, job)
        except Refused as refused:
            return self._end("failed", refused.fault)
        except (HostError, ChangeRefused) as error:
            return self._settle(error)
        try:
            written = self._write(first, job)
        except (Refused, HostError) as error:
            return self._settle(error)
        if written.stopped is not None:
            return self._end_stopped(written)
        if self.options.hold:
            return self._end("pending")
        return self._confirm(job)

    def resume(self, held: HostChange) -> HostChange:
        """The confirmation of a change that was held."""
        self._notes = list(held.notes)
        self._new_files = [file.after for file in held.files if file.after is not None]
        self._left_s = held.left_s
        self._results = {s.key: StepReport(s.key, s.outcome, s.read_back, s.error) for s in held.steps}
        self._began_writing = True
        return self._confirm(self._job())

    @property
    def id_on_host(self) -> str:
        """What the host knows this change by: a second attempt must not meet the first one's backup."""
        return self.draft.id if self.attempt == 1 else f"{self.draft.id}.{self.attempt}"

    def _job(self) -> Job:
        modules: dict[str, None] = {}
        for step in self.plan.steps:
            modules |= dict.fromkeys(self.changer.modules_for(step.key, step.to_raw))
        return Job(
            change_id=self.id_on_host,
            by=self.draft.by,
            from_host=self.draft.from_host,
            started=self.draft.started,
            revert_in_s=self.options.revert_in_s,
            steps=tuple(
                JobStep(number, step.key, step.from_raw, self.details.get(step.key, step.to_raw))
                for number, step in enumerate(self.plan.steps, 1)
            ),
            paths=tuple(self.paths),
            modules=tuple(modules),
            unload=tuple(self.unload),
            identity=self.identity,
            force=self.options.force,
        )

    def _begin(self, first: Transport, job: Job) -> None:
        nonce = new_nonce()
        for command in self.changer.prepare(job, nonce):
            run_whole(first, command)
        report = self.changer.read_begin(job, nonce, run_whole(first, self.changer.begin(job, nonce)))
        self.on_event("begun")
        raise_for(report.refusal, self.host)
        self._left_s = report.left_s
        self._new_files = self.files(report)
        keys = [step.key for step in self.plan.steps if step.from_raw != step.to_raw]
        general = self.changer.unreached(keys, None)
        self._notes = [note for note in self._notes if note not in general]
        self._notes += self.changer.unreached(keys, report.listening_ports)
        if report.timer is None:
            self._notes.append(
                "no revert timer runs on the host (--revert-in 0): nothing restores it by itself"
            )
        self.journal.begun(
            self.draft.id,
            self.host,
            identity=report.identity,
            details=report.details,
            files=report.files,
            new_files=self._new_files,
            left_s=report.left_s,
        )
        self.on_event("begin journalled")

    def _write(self, first: Transport, job: Job) -> WriteReport:
        nonce = new_nonce()
        self._began_writing = True
        report = self.changer.read_write(job, nonce, run_whole(first, self.changer.write(job, nonce)))
        self.on_event("written")
        raise_for(report.refusal, self.host)
        self._results = {step.key: step for step in report.steps}
        self._left_s = report.left_s
        self.journal.wrote(self.draft.id, self.host, report.steps, modules=report.modules)
        self.on_event("write journalled")
        return report

    def _end_stopped(self, report: WriteReport) -> HostChange:
        """The host stopped by itself, and has put back what it wrote, or says what it could not."""
        fault = Fault("command", f"{self.host}: {why_stopped(report, self.changer)}")
        if report.state == "restored":
            return self._end(self.back, fault)
        if report.state != "failed":  # the timer, or somebody else, is at it
            return self._settle(ChangeRefused(fault.message))
        left = ", ".join(report.unrestored)
        return self._end("failed", Fault(fault.kind, f"{fault.message}; not put back: {left}"))

    def _confirm(self, job: Job) -> HostChange:
        """Over a new connection: that it can be made is what makes the change good."""
        try:
            with self.connect(self.host) as second:
                self.on_event("reconnected")
                report = self._run_confirm(second, job)
        except HostError as error:
            return self._settle(Refused(not_confirmed(self.host, error)), ", so the change was taken back")
        if report.state == "confirmed":
            return self._end(self.done)
        for key, value in report.overridden.items():
            self._results[key] = replace(
                self._results[key],
                outcome="overridden",
                read_back=value,
                error="changed again by something else",
            )
        if report.overridden:
            self.journal.wrote(self.draft.id, self.host, list(self._results.values()))
        why = report.refusal.message if report.refusal else f"the host says {report.state}"
        fault = Fault("refused", f"{self.host}: not confirmed: {why}")
        if report.state == "restored":
            return self._end(self.back, fault)
        if report.state == "failed":
            return self._end(
                "failed", Fault(fault.kind, f"{fault.message}; not put back: {', '.join(report.unrestored)}")
            )
        return self._settle(ChangeRefused(fault.message))

    def _run_confirm(self, second: Transport, job: Job) -> ConfirmReport:
        nonce = new_nonce()
        command = self.changer.confirm(job, nonce, self._new_files)
        result = run_whole(second, command)
        self.on_event("confirmed")
        return self.changer.read_confirm(job, nonce, result)

    # when something went wrong

    def _settle(self, error: HostcfgError | Refused, restored: str = "") -> HostChange:
        """Asks the host what has become of it and has it restored; the end that this makes.

        ``restored`` is said after the fault where the host has put itself back.
        """
        fault = error.fault if isinstance(error, Refused) else Fault.of(error)
        waits = why_unasked(self._left_s, began_writing=self._began_writing)
        report = self.asking.to_restore(self._first, self._left_s)
        self._hear_of_no_more(report)
        if report is None:
            message = (
                f"{fault.message}; the host can't be asked now ({waits}): hostcfg rollback --unfinished later"
            )
            return self._end("unknown", Fault(fault.kind, message))
        return self._end_as(report, fault, restored)

    def _hear_of_no_more(self, report: StatusReport | None) -> None:
        """What was to be written and was not told of is not known any more, but by what the host says now."""
        if not self._began_writing:
            return
        knows = report is not None and report.root and report.state != "gone"
        written = report.written if report is not None and knows else None
        keys = [s.key for n, s in enumerate(self.plan.steps, 1) if written is None or n in written]
        found = unheard(keys, self._results)
        if found:
            self._results |= {step.key: step for step in found}
            self.journal.wrote(self.draft.id, self.host, found)

    def _end_as(self, report: StatusReport, fault: Fault, restored: str) -> HostChange:
        """The end of a change that went wrong, by what the host says it is."""
        if report.state == "confirmed":
            return self._end(self.done)
        if report.state == "restored":
            return self._end(self.back, Fault(fault.kind, fault.message + restored))
        if report.state == "gone" and not self._began_writing and report.root:
            return self._end("failed", fault)
        if report.state == "failed":
            left = ", ".join(self._name(word) for word in report.unrestored)
            return self._end("failed", Fault(fault.kind, f"{fault.message}; not put back: {left}"))
        why = f"the host says {report.state}" if report.root else "root is needed to put it back"
        return self._end("unknown", Fault(fault.kind, f"{fault.message}; {why}"))

    def _name(self, word: str) -> str:
        """A step's number, or f. and a file's, as restore.sh leaves them."""
        if word.startswith("f."):
            return self.paths[int(word[2:]) - 1]
        return self.plan.steps[int(word) - 1].key

    @property
    def asking(self) -> Asking:
        """Questions to the host about this change."""
        return Asking(self.host, self.id_on_host, self.connect, self.changer)

    def _end(self, status: HostStatus, fault: Fault | None = None) -> HostChange:
        self._notes = ended_notes(self._notes, self._new_files, status, done=self.done)
        if status == self.done and fault is None:
            fault = self.shortfall()  # what was done is done, and told, all the same
            status = status if fault is None else "failed"
        undone = self.draft.of if status == self.done else None
        self.journal.ended(self.draft.id, self.host, status, error=fault, notes=self._notes, undone=undone)
        self.on_event("ended")
        return HostChange(
            host=self.host,
            os=self.plan.os,
            status=status,
            steps=tuple(
                result_of(step, self._results.get(step.key), self.changer) for step in self.plan.steps
            ),
            error=fault,
            notes=tuple(self._notes),
            revert_in_s=self.options.revert_in_s,
            left_s=self._left_s if status == "pending" else None,
            due=due_in(self._left_s) if status == "pending" else None,
            reach=self.reach,
            attempt=self.attempt,
        )
