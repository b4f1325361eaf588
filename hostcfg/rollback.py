"""Taking a change back: the journal's before-values against what the host has now, then as an apply.

A value that is no longer what hostcfg wrote belongs to someone else by now: it is named and left
alone, unless forced.  A rollback is a change of its own, with a backup and a timer, and can be
rolled back.  An unfinished change is settled by asking the host what has become of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.changes import UNFINISHED, Fault, HostChange
from hostcfg.errors import ChangeRefused, HostcfgError, HostError, JournalError
from hostcfg.hostrun import ChangeOptions, Connect, Each, HostRun, OnEvent, in_turn, nothing
from hostcfg.journal.process import lives_elsewhere
from hostcfg.lean import dataclass
from hostcfg.platforms.changer import get_changer
from hostcfg.rollback_plan import RollbackFiles, RollbackPlan, in_force, plan_rollback

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hostcfg.apply import Read
    from hostcfg.changes import Change, HostStatus
    from hostcfg.journal import Draft, Journal
    from hostcfg.platforms.changer import StatusReport

__all__ = [
    "Rollback",
    "RollbackPlan",
    "in_force",
    "plan_rollback",
    "rollback_change",
    "rollback_host",
    "rollback_last",
    "rollback_unfinished",
    "settle_change",
]


@dataclass(frozen=True, slots=True)
class Rollback:
    """What became of each host; ``id`` None where nothing had to be written."""

    id: str | None
    hosts: Sequence[HostChange]


@dataclass(slots=True)
class _Run:
    """What one rollback needs to know."""

    journal: Journal
    connect: Connect
    read: Read
    options: ChangeOptions
    on_event: OnEvent
    draft: Draft


def rollback_change(
    change_id: str,
    *,
    journal: Journal,
    connect: Connect,
    read: Read,
    options: ChangeOptions,
    hosts: Collection[str] | None = None,
    each: Each = in_turn,
    on_event: OnEvent = nothing,
) -> Rollback:
    """Takes back a change on all its hosts, or on ``hosts``; ChangeRefused if nothing of it stands."""
    change = journal.change(change_id)
    _refuse_if_alive(change)
    chosen = [h for h in change.hosts if hosts is None or h.host in hosts]
    standing = [h for h in chosen if in_force(change, h)]
    waiting = [h for h in chosen if h.status in UNFINISHED]
    if not standing and not waiting:
        raise ChangeRefused(_nothing_stands(change, chosen))
    run = _Run(journal, connect, read, options, on_event, journal.draft("rollback", of=change.id))

    def back(host: HostChange) -> HostChange:
        return _settle_host(change, host, run) if host.status in UNFINISHED else _take_back(host, run)

    results = each(back, [host for host in chosen if host in standing or host in waiting])
    _end_run(change, journal)
    return Rollback(run.draft.id if journal.is_stored(run.draft.id) else None, results)


def _refuse_if_alive(change: Change) -> None:
    """Two processes that change the same hosts would undo each other's work."""
    pid = lives_elsewhere(change.process, change.from_host) if change.ended is None else None
    if pid is not None:
        message = f"process {pid} is working on change {change.id} right now: wait for it, or end it"
        raise ChangeRefused(message)


def _end_run(change: Change, journal: Journal) -> None:
    """A run whose hosts were taken back or settled is over, whatever it did not come to."""
    if change.run is not None and change.run.state == "running":
        journal.run_is(change.id, replace(change.run, state="stopped"))


def _nothing_stands(change: Change, hosts: Sequence[HostChange]) -> str:
    undone = [h for h in hosts if h.undone_by is not None]
    if undone:
        return f"change {change.id} was rolled back already, by {undone[0].undone_by}"
    states = ", ".join(f"{h.host} {h.status}" for h in hosts) or "it has no such host"
    return f"nothing of change {change.id} is in force: {states}"


def newest_in_force(journal: Journal, host: str | None = None) -> Change:
    """The newest apply that still stands (on ``host``); ChangeRefused if there is none."""
    for change in journal.changes():
        mine = [h for h in change.hosts if host is None or h.host == host]
        if change.kind == "apply" and any(in_force(change, h) or h.status == "pending" for h in mine):
            return change
    where = " on it" if host is not None else ""
    raise ChangeRefused(f"no applied change is left to roll back{where}; see hostcfg history", host=host)


def rollback_last(
    *,
    journal: Journal,
    connect: Connect,
    read: Read,
    options: ChangeOptions,
    on_event: OnEvent = nothing,
) -> Rollback:
    """Takes back the newest apply that still stands on some host; ChangeRefused if there is none."""
    change = newest_in_force(journal)
    return rollback_change(
        change.id, journal=journal, connect=connect, read=read, options=options, on_event=on_event
    )


def rollback_host(
    host: str,
    *,
    journal: Journal,
    connect: Connect,
    read: Read,
    options: ChangeOptions,
    on_event: OnEvent = nothing,
) -> Rollback:
    """Takes back the newest apply that still stands on ``host``, there alone; ChangeRefused if none does."""
    return rollback_change(
        newest_in_force(journal, host).id,
        journal=journal,
        connect=connect,
        read=read,
        options=options,
        hosts={host},
        on_event=on_event,
    )


def _take_back(done: HostChange, run: _Run) -> HostChange:
    """One host of a change that stands."""
    try:
        changer = get_changer(done.os)
        with run.connect(done.host) as first:
            run.on_event("connected")
            back = plan_rollback(run.read(first, done.host), done, force=run.options.force)
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


def _nothing_to_write(done: HostChange, left: Sequence[str], run: _Run) -> HostChange:
    """The host has its before-values already (a boot brought them), or all of them are someone else's."""
    fault = _left_alone(done.host, left)
    if fault is not None:
        return HostChange(done.host, done.os, "failed", error=fault)
    assert run.draft.of is not None  # noqa: S101  # a rollback is of a change
    run.journal.ended(run.draft.of, done.host, "reverted")
    return HostChange(done.host, done.os, "reverted", notes=("it has its before-values already",))


def rollback_unfinished(
    *,
    journal: Journal,
    connect: Connect,
    read: Read,
    options: ChangeOptions,
    on_event: OnEvent = nothing,
) -> Sequence[Rollback]:
    """Settles every host that has not reached a final state, change by change, newest first."""
    return [
        settle_change(change, journal=journal, connect=connect, read=read, options=options, on_event=on_event)
        for change in journal.unfinished()
    ]


def settle_change(
    change: Change,
    *,
    journal: Journal,
    connect: Connect,
    read: Read,
    options: ChangeOptions,
    each: Each = in_turn,
    on_event: OnEvent = nothing,
) -> Rollback:
    """Settles the hosts of ``change`` that have not reached a final state, and ends its run.

    ChangeRefused while another process works on it.
    """
    _refuse_if_alive(change)
    run = _Run(journal, connect, read, options, on_event, journal.draft("rollback", of=change.id))
    hosts = each(
        lambda host: _settle_host(change, host, run), [h for h in change.hosts if h.status in UNFINISHED]
    )
    _end_run(change, journal)
    return Rollback(change.id, hosts)


def _settle_host(change: Change, host: HostChange, run: _Run) -> HostChange:
    """Asks a host what has become of an unfinished change, and has it restored if it still stands."""
    try:
        with run.connect(host.host) as transport:
            run.on_event("connected")
            report = _status_run(change, host, run).asking.over(transport, restore=True)
            run.on_event("asked")
    except HostError as error:
        return _ended(change, host, run, "unknown", Fault.of(error))
    if not report.root:
        fault = Fault(
            "no_permission", f"{host.host}: only root can see there what became of it: use --become"
        )
        return _ended(change, host, run, "unknown", fault)
    if report.state == "gone" and host.status != "planned":
        return _settle_without_backup(change, host, report, run)
    return _ended(change, host, run, *_settled(change, host, report))


def _status_run(change: Change, host: HostChange, run: _Run) -> HostRun:
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


def _settle_without_backup(change: Change, host: HostChange, report: StatusReport, run: _Run) -> HostChange:
    """The host's own backup is gone: the journal's before-values, if it is still that machine."""
    for name, value in host.identity.items():
        if report.identity.get(name, value) != value and not run.options.force:
            message = f"{host.host}: this is another machine now ({name} differs); --force overrides"
            return _ended(change, host, run, "failed", Fault("refused", message))
    result = _take_back(host, run)
    if result.status == "reverted":
        return _ended(change, host, run, "reverted", None)
    return result


def _ended(
    change: Change, host: HostChange, run: _Run, status: HostStatus, fault: Fault | None
) -> HostChange:
    taken = change.of if change.kind == "rollback" and status == "reverted" else None
    run.journal.ended(change.id, host.host, status, error=fault, undone=taken)
    run.on_event("ended")
    return HostChange(
        host=host.host,
        os=host.os,
        status=status,
        steps=host.steps,
        error=fault,
        notes=host.notes,
        revert_in_s=host.revert_in_s,
    )
