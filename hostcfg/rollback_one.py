"""Taking back one host: a change that stands, or one of which nobody knows how it ended."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.change_options import Agreed, to_anything
from hostcfg.changes import Fault, HostChange
from hostcfg.errors import HostcfgError, HostError, JournalError
from hostcfg.hostrun import HostRun
from hostcfg.hostrun_words import UNHEARD
from hostcfg.lean import dataclass
from hostcfg.platforms.changer import StepReport, get_changer
from hostcfg.rollback_plan import RollbackFiles, plan_rollback, way_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.apply import Read
    from hostcfg.changes import Change, HostStatus, StepResult
    from hostcfg.hostrun import ChangeOptions, Connect, OnEvent
    from hostcfg.journal import Draft, Journal
    from hostcfg.model import Facts
    from hostcfg.platforms.changer import StatusReport
    from hostcfg.transports.base import Transport


@dataclass(slots=True)
class HostsBack:
    """What one rollback needs to know of itself."""

    journal: Journal
    connect: Connect
    read: Read
    options: ChangeOptions
    on_event: OnEvent
    draft: Draft
    agreed: Agreed = to_anything
    since: Mapping[str, Fault] = field(default_factory=dict)
    """Host -> why another change has to be taken back there first."""


def take_back(done: HostChange, run: HostsBack) -> HostChange:
    """One host of a change that stands; what happens to it is in its ``error``; JournalError."""
    if done.host in run.since and not run.options.force:
        return HostChange(done.host, done.os, "failed", error=run.since[done.host])
    try:
        changer = get_changer(done.os)
        with run.connect(done.host) as first:
            run.on_event("connected")
            back = plan_rollback(run.read(first, done.host), done, force=run.options.force)
            if not done.unfinished:  # those were asked about without a look at them
                run.agreed(back.plan)
            run.on_event("planned")
            files = RollbackFiles(done, changer, run.options.force)
            left = list(back.left)
            paths = tuple(file.before.path for file in done.files if file.after is not None)
            if not back.plan.steps and not paths:
                return _nothing_to_write(done, left, run)
            host_run = HostRun(
                host=done.host,
                plan=back.plan,
                draft=run.draft,
                journal=run.journal,
                connect=run.connect,
                changer=changer,
                options=run.options,
                on_event=run.on_event,
                files=files,
                paths=paths,
                unload=done.modules,
                identity={} if run.options.force else done.identity,
                details={step.key: step.detail for step in done.steps if step.detail is not None},
                reach=done.reach,
                done="reverted",
                back="failed",
                shortfall=lambda: _left_alone(done.host, [*left, *files.left]),
            )
            return host_run.over(first)
    except JournalError:
        raise
    except HostcfgError as error:
        status: HostStatus = "unknown" if isinstance(error, HostError) else "failed"
        return HostChange(done.host, done.os, status, error=Fault.of(error))


def _left_alone(host: str, left: Sequence[str]) -> Fault | None:
    return Fault("changed", f"{host}: {'; '.join(left)}") if left else None


def _nothing_to_write(done: HostChange, left: Sequence[str], run: HostsBack) -> HostChange:
    """The host has its before-values already (a boot brought them), or all of them are someone else's."""
    fault = _left_alone(done.host, left)
    if fault is not None:
        return HostChange(done.host, done.os, "failed", error=fault)
    assert run.draft.of is not None  # noqa: S101  # a rollback is of a change
    run.journal.ended(run.draft.of, done.host, "reverted")
    return HostChange(done.host, done.os, "reverted", notes=("it has them already: nothing was written",))


def settle_host(change: Change, host: HostChange, run: HostsBack) -> HostChange:
    """Asks a host what has become of an unfinished change, and has it restored if it still stands.

    JournalError, with the host as it is, if nothing can be recorded.
    """
    run.journal.event(change.id, host.host, "settling")
    try:
        with run.connect(host.host) as transport:
            run.on_event("connected")
            report = _status_run(change, host, run).asking.over(transport, restore=True)
            run.on_event("asked")
            steps = _way_back(host, report, run, transport)
            _keep_unheard(change, host, report, run)
    except HostError as error:
        _keep_unheard(change, host, None, run)
        return _ended(change, host, run, "unknown", Fault.of(error))
    if not report.root:
        fault = Fault(
            "no_permission", f"{host.host}: only root can see there what became of it: use --become"
        )
        return _ended(change, host, run, "unknown", fault)
    if report.state == "gone" and host.status != "planned":
        return _settle_without_backup(change, host, report, run)
    return _ended(change, host, run, *_settled(change, host, report), steps)


def _way_back(
    host: HostChange, report: StatusReport, run: HostsBack, transport: Transport
) -> Sequence[StepResult]:
    """The steps that took the host back, checked by reading it again; its own steps where none did."""
    if not report.root or report.state not in ("restored", "failed"):
        return host.steps
    facts: Facts | None = None
    with suppress(HostError):  # what became of the host is known all the same
        facts = run.read(transport, host.host)
    return way_back(host, report, facts)


def _keep_unheard(change: Change, host: HostChange, report: StatusReport | None, run: HostsBack) -> None:
    """The journal hears which steps of a change that was cut the host had begun to write, or may have."""
    knows = report is not None and report.root and report.state != "gone"
    written = report.written if report is not None and knows else None
    if written is None and host.status != "applying":
        return
    found = []
    for number, step in enumerate(host.steps, 1):
        said = UNHEARD if written is None or number in written else ""
        if step.outcome is None and step.error != said:
            found.append(StepReport(step.key, None, None, said))
    if found:
        run.journal.wrote(change.id, host.host, found)


def _status_run(change: Change, host: HostChange, run: HostsBack) -> HostRun:
    from hostcfg.apply import run_of

    return run_of(change, host, run.journal, run.connect, run.on_event)


def _settled(change: Change, host: HostChange, report: StatusReport) -> tuple[HostStatus, Fault | None]:
    """The final state of a host, by its own word."""
    rollback = change.kind == "rollback"
    if report.state == "confirmed":
        return ("reverted" if rollback else "applied"), None
    if report.state in ("restored", "gone"):
        if not rollback:
            return "reverted", None
        return "failed", Fault(
            "refused", f"{host.host}: the rollback did not end; {change.of} is still in force"
        )
    if report.state == "failed":
        names = {str(number): step.key for number, step in enumerate(host.steps, 1)}
        names |= {f"f.{number}": file.before.path for number, file in enumerate(host.files, 1)}
        left = ", ".join(names.get(word, word) for word in report.unrestored)
        return "failed", Fault("command", f"{host.host}: not put back: {left}")
    return "unknown", Fault("command", f"{host.host}: the host says {report.state}")


def _settle_without_backup(
    change: Change, host: HostChange, report: StatusReport, run: HostsBack
) -> HostChange:
    """The host's own backup is gone: the journal's before-values, if it is still that machine."""
    for name, value in host.identity.items():
        if report.identity.get(name, value) != value and not run.options.force:
            message = f"{host.host}: this is another machine now ({name} differs); --force overrides"
            return _ended(change, host, run, "failed", Fault("refused", message))
    result = take_back(host, run)
    if result.status == "reverted":
        return _ended(change, host, run, "reverted", None, result.steps)
    return result


def _ended(
    change: Change,
    host: HostChange,
    run: HostsBack,
    status: HostStatus,
    fault: Fault | None,
    steps: Sequence[StepResult] | None = None,
) -> HostChange:
    taken = change.of if change.kind == "rollback" and status == "reverted" else None
    run.journal.ended(change.id, host.host, status, error=fault, undone=taken)
    run.on_event("ended")
    return HostChange(
        host=host.host,
        os=host.os,
        status=status,
        steps=host.steps if steps is None else steps,
        error=fault,
        notes=host.notes,
        revert_in_s=host.revert_in_s,
    )
