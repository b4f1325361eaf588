"""Taking a change back: the journal's before-values against what the host has now, then as an apply.

A value that is no longer what hostcfg wrote belongs to someone else by now: it is named and left
alone, unless forced.  A rollback is a change of its own, with a backup and a timer, and can be
rolled back.  An unfinished change is settled by asking the host what has become of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.change_options import Agreed, to_anything
from hostcfg.errors import ChangeRefused
from hostcfg.hostrun import ChangeOptions, Connect, Each, OnEvent, in_turn, nothing
from hostcfg.journal.process import lives_elsewhere
from hostcfg.lean import dataclass
from hostcfg.rollback_one import HostsBack, settle_host, take_back
from hostcfg.rollback_order import set_since
from hostcfg.rollback_plan import RollbackPlan, in_force, plan_rollback

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hostcfg.apply import Read
    from hostcfg.changes import Change, HostChange
    from hostcfg.journal import Journal

__all__ = [
    "Rollback",
    "RollbackPlan",
    "in_force",
    "nothing_stands",
    "plan_rollback",
    "rollback_change",
    "rollback_host",
    "rollback_last",
    "rollback_unfinished",
    "set_since",
    "settle_change",
    "standing",
]


@dataclass(frozen=True, slots=True)
class Rollback:
    """What became of each host; ``id`` None where nothing had to be written."""

    id: str | None
    hosts: Sequence[HostChange]


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
    agreed: Agreed = to_anything,
) -> Rollback:
    """Takes back a change on all its hosts, or on ``hosts``; ChangeRefused if nothing of it stands.

    ``agreed`` hears what is going to be written on a host that has the change, and may refuse it.
    """
    change = journal.change(change_id)
    _refuse_if_alive(change)
    chosen = [h for h in change.hosts if hosts is None or h.host in hosts]
    if not standing(change, chosen):
        raise ChangeRefused(nothing_stands(change, chosen))
    draft, since = journal.draft("rollback", of=change.id), set_since(change, journal.newer(change))
    run = HostsBack(journal, connect, read, options, on_event, draft, agreed, since)

    def back(host: HostChange) -> HostChange:
        return settle_host(change, host, run) if host.unfinished else take_back(host, run)

    results = each(back, standing(change, chosen))
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


def standing(change: Change, hosts: Sequence[HostChange]) -> list[HostChange]:
    """Those of ``hosts`` that have the change, or may have it."""
    return [host for host in hosts if in_force(change, host) or host.unfinished]


def nothing_stands(change: Change, hosts: Sequence[HostChange]) -> str:
    """Why nothing of a change is left to take back on ``hosts``."""
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
    hosts: Collection[str] | None = None,
    each: Each = in_turn,
    on_event: OnEvent = nothing,
) -> Rollback:
    """Settles the hosts of ``change`` (of ``hosts``, None: any) that have no final state, and ends its run.

    ChangeRefused while another process works on it.
    """
    _refuse_if_alive(change)
    draft, since = journal.draft("rollback", of=change.id), set_since(change, journal.newer(change))
    run = HostsBack(journal, connect, read, options, on_event, draft, since=since)
    chosen = [h for h in change.hosts if h.unfinished and (hosts is None or h.host in hosts)]
    settled = each(lambda host: settle_host(change, host, run), chosen)
    _end_run(change, journal)
    return Rollback(change.id, settled)
