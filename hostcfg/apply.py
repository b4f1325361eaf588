"""Changing one host: read, plan, journal, begin (lock, backup, timer), write, verify, confirm.

What the command line builds on (``hostcfg.changes`` has the values, ``hostcfg.journal`` the store)::

    journal = Journal.open()                     # HOSTCFG_STATE or the user's state directory; JournalError
    draft = journal.draft("apply", profile={...})   # an id; stored with the first host that has a step

    plan_host(host, connect=..., read=..., planner=...) -> Plan            # plan, apply --dry-run
    apply_host(host, draft=draft, journal=journal, connect=..., read=..., planner=...,
               options=ChangeOptions(revert_in_s=60, hold=False, force=False),
               reach={...}, on_event=lambda name: None) -> HostChange
    confirm_change(change_id, journal=journal, connect=..., hosts=None) -> Sequence[HostChange]

    connect: Callable[[str], Transport]          # a fresh, unopened transport for a host's name
    read:    Callable[[Transport, str], Facts]   # reader.probe over an open transport
    planner: Callable[[Facts], Plan]             # profile -> targets -> differences -> make_plan

    # hostcfg.plan
    make_plan(facts, differences, platform, *, persist=False, force=False, also={}) -> Plan
        # also: native key -> raw of targets that hold already; with persist they are persisted too

    # hostcfg.rollback: each returns Rollback(id: str | None, hosts: Sequence[HostChange])
    rollback_change(change_id, journal=..., connect=..., read=..., options=...)
    rollback_last(journal=..., ...)      rollback_host(host, journal=..., ...)
    rollback_unfinished(journal=..., connect=...)

    journal.changes(limit=None) -> Sequence[Change];  journal.change(change_id) -> Change
    change_document(id, hosts), history_document(changes)                  # hostcfg.changes

``apply_host`` never raises for what happens to a host: HostError and ChangeRefused become
``HostChange.error``; only JournalError (nothing can be recorded, so nothing may be written) and
faults of ours are raised.  A plan without steps gives status ``applied`` with no steps, and nothing
is stored or written.  Exit code 2 if any ``HostChange.trouble``.

Round trips: an apply is two connections and four commands, and three of the commands wait for each
other; the fourth proves that the host still lets people in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.changes import Fault, HostChange
from hostcfg.errors import ChangeRefused, HostcfgError, JournalError
from hostcfg.hostrun import ChangeOptions, Connect, Each, HostRun, OnEvent, in_turn, nothing
from hostcfg.journal import Draft
from hostcfg.model import Plan, Step
from hostcfg.platforms.changer import get_changer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from hostcfg.changes import Change, FileState, StepResult
    from hostcfg.journal import Journal
    from hostcfg.model import Facts, Json
    from hostcfg.platforms.changer import Changer
    from hostcfg.transports.base import Transport

    Read = Callable[[Transport, str], Facts]
    Planner = Callable[[Facts], Plan]

__all__ = ["ChangeOptions", "Connect", "apply_host", "confirm_change", "plan_host"]


def plan_host(host: str, *, connect: Connect, read: Read, planner: Planner) -> Plan:
    """What ``apply_host`` would do to a host, by the same path up to its first write; HostcfgError."""
    with connect(host) as transport:
        return planner(read(transport, host))


def apply_host(
    host: str,
    *,
    draft: Draft,
    journal: Journal,
    connect: Connect,
    read: Read,
    planner: Planner,
    options: ChangeOptions,
    reach: Mapping[str, Json] | None = None,
    on_event: OnEvent = nothing,
) -> HostChange:
    """What became of ``host``; JournalError if nothing could be recorded (then nothing was written).

    ``reach`` is kept in the journal: how to find the host again, without secrets.
    ``on_event`` hears the name of each step as it is over.
    """
    try:
        with connect(host) as first:
            on_event("connected")
            facts = read(first, host)
            plan = planner(facts)
            on_event("planned")
            if not plan.steps:
                _refuse_while_pending(journal, host)
                return HostChange(host, plan.os, "applied", notes=tuple(plan.notes))
            changer = get_changer(plan.os)
            run = HostRun(
                host=host,
                plan=plan,
                draft=draft,
                journal=journal,
                connect=connect,
                changer=changer,
                options=options,
                on_event=on_event,
                files=lambda report: new_files(changer, facts, plan.steps, report.files),
                paths=tuple(_assignments(changer, facts, plan.steps)),
                reach=reach or {},
            )
            return run.over(first)
    except JournalError:
        raise
    except HostcfgError as error:
        return HostChange(host, "", "failed", error=Fault.of(error))


def _refuse_while_pending(journal: Journal, host: str) -> None:
    """ChangeRefused where all is as wanted only until the timer of a held change takes it back."""
    for change in journal.unfinished():
        if any(one.host == host and one.status == "pending" for one in change.hosts):
            message = (
                f"change {change.id} waits on it: hostcfg confirm {change.id} or hostcfg rollback {change.id}"
            )
            raise ChangeRefused(message, host=host)


def _assignments(changer: Changer, facts: Facts, steps: Sequence[Step]) -> dict[str, dict[str, str]]:
    """Path -> key -> raw of everything that the steps persist."""
    found: dict[str, dict[str, str]] = {}
    for step in steps:
        if step.persist is not None:
            for path, values in changer.persisted(facts, {step.key: step.to_raw}).items():
                found.setdefault(path, {}).update(values)
    return found


def new_files(
    changer: Changer, facts: Facts, steps: Sequence[Step], files: Sequence[FileState]
) -> Sequence[FileState]:
    """The files that persist ``steps``, from what they are now; those that stay as they are are left out."""
    wanted = _assignments(changer, facts, steps)
    found = []
    for now in files:
        contents = changer.file_contents(now.path, now.contents, wanted.get(now.path, {}))
        if contents != now.contents:
            found.append(replace(now, contents=contents))
    return found


def confirm_change(
    change_id: str,
    *,
    journal: Journal,
    connect: Connect,
    hosts: Collection[str] | None = None,
    each: Each = in_turn,
    on_event: OnEvent = nothing,
) -> Sequence[HostChange]:
    """Ends the waiting time of the held hosts of a change, each over a new connection.

    ChangeRefused if the change has no host (of ``hosts``, None: any) that waits.
    """
    change = journal.change(change_id)
    asked = [h for h in change.hosts if hosts is None or h.host in hosts]
    waiting = [h for h in asked if h.status == "pending"]
    if not waiting:
        states = ", ".join(f"{h.host} {h.status}" for h in asked)
        raise ChangeRefused(f"nothing of change {change_id} waits for a confirmation ({states})")
    return each(lambda host: _confirm_host(change, host, journal, connect, on_event), waiting)


def _confirm_host(
    change: Change, host: HostChange, journal: Journal, connect: Connect, on_event: OnEvent
) -> HostChange:
    journal.event(change.id, host.host, "confirming")  # a host is asked nothing that can't be recorded
    return run_of(change, host, journal, connect, on_event).resume(host)


def run_of(
    change: Change, host: HostChange, journal: Journal, connect: Connect, on_event: OnEvent
) -> HostRun:
    """The run of a host as the journal has it, to ask about it or to end it."""
    return HostRun(
        host=host.host,
        plan=Plan(host.host, host.os, [_planned(step) for step in host.steps], host.notes),
        draft=Draft.again(change),
        journal=journal,
        connect=connect,
        changer=get_changer(host.os),
        options=ChangeOptions(revert_in_s=host.revert_in_s, force=_was_forced(host)),
        on_event=on_event,
        paths=tuple(file.before.path for file in host.files),
        reach=host.reach,
        attempt=host.attempt,
    )


def _planned(step: StepResult) -> Step:
    return Step(step.key, step.from_raw, step.to_raw, step.command, step.inverse, step.settings, step.persist)


def _was_forced(host: HostChange) -> bool:
    """Whether a value that came out other than wanted was accepted: then it is no surprise now."""
    return any(step.outcome not in ("set", "unchanged") for step in host.steps)
