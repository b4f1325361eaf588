"""Rows to values and back: the only place that knows the tables."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

from hostcfg.changes import (
    Change,
    ChangeKind,
    Fault,
    FileChange,
    FileState,
    HostChange,
    HostStatus,
    Outcome,
    StepResult,
)
from hostcfg.errors import JournalError
from hostcfg.journal.runs import dump_run, load_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from sqlite3 import Connection, Row

    from hostcfg.changes import Run
    from hostcfg.journal.store import Draft
    from hostcfg.model import Json, Plan
    from hostcfg.platforms.changer import StepReport

_HOST_COLUMNS = frozenset(
    {"status", "error_kind", "error", "notes", "identity", "modules", "deadline", "undone_by"}
)


def insert_change(db: Connection, draft: Draft) -> None:
    """Stores the change unless one of its hosts did so already."""
    row = (draft.kind, draft.of, draft.started, draft.by, draft.from_host, json.dumps(dict(draft.profile)))
    known = db.execute("SELECT started, by, from_host FROM changes WHERE id = ?", (draft.id,)).fetchone()
    if known is None:
        run, state = (dump_run(draft.run), draft.run.state) if draft.run is not None else (None, None)
        values = (draft.id, *row, draft.process, run, state)
        db.execute("INSERT INTO changes VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?)", values)
    elif tuple(known) != (draft.started, draft.by, draft.from_host):
        raise JournalError(f"the id {draft.id} is taken by another change: try again")


def update_run(db: Connection, change_id: str, run: Run, process: str) -> None:
    """How far a run is, and who runs it; a change that is not stored (no host had a step) stays so."""
    db.execute(
        "UPDATE changes SET run = ?, run_state = ?, process = ?, ended = NULL WHERE id = ?",
        (dump_run(run), run.state, process, change_id),
    )


def _attempt(db: Connection, change_id: str, host: str) -> int:
    """1 for a host that is new to the change, one more for one that was put back before.

    What is known of a host that is not back as it was must never be written over.
    """
    row = db.execute(
        "SELECT status, undone_by, attempt FROM hosts WHERE change = ? AND host = ?", (change_id, host)
    ).fetchone()
    if row is None:
        return 1
    if row["status"] != "reverted" or row["undone_by"] is not None:
        raise JournalError(f"change {change_id} has the host {host} already")
    for table in ("steps", "files", "hosts"):
        db.execute(f"DELETE FROM {table} WHERE change = ? AND host = ?", (change_id, host))  # noqa: S608
    attempt: int = row["attempt"] + 1
    return attempt


def insert_host(
    db: Connection,
    change_id: str,
    plan: Plan,
    *,
    revert_in_s: int,
    modules: Sequence[str],
    reach: Mapping[str, Json],
) -> int:
    """One host, planned, with its steps; which attempt of the change at the host this is."""
    attempt = _attempt(db, change_id, plan.host)
    db.execute(
        "INSERT INTO hosts (change, host, position, os, status, notes, modules, revert_in_s, reach, attempt)"
        " VALUES (?, ?, (SELECT count(*) FROM hosts WHERE change = ?), ?, 'planned', ?, ?, ?, ?, ?)",
        (
            change_id,
            plan.host,
            change_id,
            plan.os,
            json.dumps(list(plan.notes)),
            json.dumps(list(modules)),
            revert_in_s,
            json.dumps(dict(reach)),
            attempt,
        ),
    )
    db.execute("UPDATE changes SET ended = NULL WHERE id = ?", (change_id,))
    _insert_steps(db, change_id, plan)
    return attempt


def _insert_steps(db: Connection, change_id: str, plan: Plan) -> None:
    db.executemany(
        "INSERT INTO steps (change, host, number, key, from_raw, to_raw, command, inverse, persist, settings)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                change_id,
                plan.host,
                number,
                step.key,
                step.from_raw,
                step.to_raw,
                step.command,
                step.inverse,
                step.persist,
                json.dumps(list(step.settings)),
            )
            for number, step in enumerate(plan.steps, 1)
        ],
    )


def update_host(db: Connection, change_id: str, host: str, **values: str | None) -> None:
    """Sets columns of one host."""
    unknown = set(values) - _HOST_COLUMNS
    if unknown:
        raise ValueError(f"no such columns: {unknown}")
    sets = ", ".join(f"{name} = ?" for name in values)
    query = f"UPDATE hosts SET {sets} WHERE change = ? AND host = ?"  # noqa: S608  # names from the set above
    db.execute(query, (*values.values(), change_id, host))


def set_details(db: Connection, change_id: str, host: str, details: Mapping[str, str]) -> None:
    """What restoring needs beyond the raw value (a queueing discipline's options)."""
    db.executemany(
        "UPDATE steps SET detail = ? WHERE change = ? AND host = ? AND key = ?",
        [(detail, change_id, host, key) for key, detail in details.items()],
    )


def insert_files(db: Connection, change_id: str, host: str, files: Sequence[FileState]) -> None:
    """Files as they were before."""
    db.executemany(
        "INSERT INTO files (change, host, path, number, before, before_mode, before_uid, before_gid)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (change_id, host, f.path, number, f.contents, f.mode, f.uid, f.gid)
            for number, f in enumerate(files, 1)
        ],
    )


def set_files_after(db: Connection, change_id: str, host: str, files: Sequence[FileState]) -> None:
    """Files as they will be."""
    db.executemany(
        "UPDATE files SET written = 1, after = ?, after_mode = ?, after_uid = ?, after_gid = ?"
        " WHERE change = ? AND host = ? AND path = ?",
        [(f.contents, f.mode, f.uid, f.gid, change_id, host, f.path) for f in files],
    )


def set_results(db: Connection, change_id: str, host: str, steps: Sequence[StepReport]) -> None:
    """What became of each step."""
    db.executemany(
        "UPDATE steps SET read_back = ?, outcome = ?, error = ? WHERE change = ? AND host = ? AND key = ?",
        [(s.read_back, s.outcome, s.error, change_id, host, s.key) for s in steps],
    )


def set_undone(db: Connection, change_id: str, host: str, by: str) -> None:
    """``by`` took back what ``change_id`` did to a host.

    Taking back a rollback puts what it had taken back in force again, and so on down the chain.
    """
    undone, current, taker = True, change_id, by
    while True:
        row = db.execute("SELECT kind, of FROM changes WHERE id = ?", (current,)).fetchone()
        if row is None:
            return
        status = "reverted" if undone or row["kind"] == "rollback" else "applied"
        db.execute(
            "UPDATE hosts SET status = ?, undone_by = ? WHERE change = ? AND host = ?",
            (status, taker if undone else None, current, host),
        )
        if row["kind"] != "rollback":
            return
        undone, current, taker = not undone, row["of"], current


def close_change(db: Connection, change_id: str, now: str, unfinished: Sequence[str]) -> None:
    """Sets the end of a change once all its hosts are final, and takes it away if one no longer is.

    A run that goes on has no end yet, whatever its hosts are.
    """
    marks = ", ".join("?" * len(unfinished))
    query = f"SELECT count(*) FROM hosts WHERE change = ? AND status IN ({marks})"  # noqa: S608  # marks only
    open_hosts: int = db.execute(query, (change_id, *unfinished)).fetchone()[0]
    if open_hosts:
        db.execute("UPDATE changes SET ended = NULL WHERE id = ?", (change_id,))
    else:
        db.execute(
            "UPDATE changes SET ended = coalesce(ended, ?) WHERE id = ? AND run_state IS NOT 'running'",
            (now, change_id),
        )


def read_changes(db: Connection, *, change_id: str | None = None, limit: int | None = None) -> list[Change]:
    """Changes with all that belongs to them, newest first."""
    if change_id is not None:
        found = db.execute("SELECT * FROM changes WHERE id = ?", (change_id,)).fetchall()
    else:
        found = db.execute(
            "SELECT * FROM changes ORDER BY started DESC, id DESC LIMIT ?", (-1 if limit is None else limit,)
        ).fetchall()
    return [_change(db, row) for row in found]


def read_newer(db: Connection, change: Change) -> list[Change]:
    """Changes that were begun after ``change``, newest first."""
    found = db.execute(
        "SELECT * FROM changes WHERE (started, id) > (?, ?) ORDER BY started DESC, id DESC",
        (change.started, change.id),
    ).fetchall()
    return [_change(db, row) for row in found]


def ids_beginning(db: Connection, text: str) -> list[str]:
    """The ids that begin with ``text``, oldest first; that one alone which is ``text``."""
    query = "SELECT id FROM changes WHERE substr(id, 1, ?) = ? ORDER BY started, id"
    found = [row["id"] for row in db.execute(query, (len(text), text)).fetchall()]
    return [text] if text in found else found


def _change(db: Connection, row: Row) -> Change:
    hosts = db.execute("SELECT * FROM hosts WHERE change = ? ORDER BY position", (row["id"],)).fetchall()
    return Change(
        id=row["id"],
        kind=_known(row["kind"], ChangeKind),
        started=row["started"],
        ended=row["ended"],
        by=row["by"],
        from_host=row["from_host"],
        of=row["of"],
        profile=dict(json.loads(row["profile"])),
        process=row["process"],
        hosts=tuple(_host(db, host) for host in hosts),
        run=None if row["run"] is None else load_run(row["run"], row["run_state"]),
    )


def _host(db: Connection, row: Row) -> HostChange:
    of = (row["change"], row["host"])
    steps = db.execute("SELECT * FROM steps WHERE change = ? AND host = ? ORDER BY number", of).fetchall()
    files = db.execute("SELECT * FROM files WHERE change = ? AND host = ? ORDER BY number", of).fetchall()
    return HostChange(
        host=row["host"],
        os=row["os"],
        status=_known(row["status"], HostStatus),
        steps=tuple(_step(step) for step in steps),
        error=Fault(row["error_kind"], row["error"]) if row["error_kind"] is not None else None,
        notes=tuple(json.loads(row["notes"])),
        files=tuple(_file(file) for file in files),
        modules=tuple(json.loads(row["modules"])),
        identity=dict(json.loads(row["identity"])),
        revert_in_s=row["revert_in_s"],
        left_s=_left(row) if row["status"] == "pending" else None,
        due=row["deadline"] if row["status"] == "pending" else None,
        undone_by=row["undone_by"],
        reach=dict(json.loads(row["reach"])),
        attempt=row["attempt"],
    )


def _known(word: str, words: Any) -> Any:
    """``word``, if it is one of the Literal ``words``; ValueError otherwise."""
    if word not in get_args(words):
        raise ValueError(word)
    return word


def _left(row: Row) -> int | None:
    if row["deadline"] is None:
        return None
    left_s = (datetime.fromisoformat(row["deadline"]) - datetime.now(UTC)).total_seconds()
    return max(0, math.ceil(left_s))


def _step(row: Row) -> StepResult:
    return StepResult(
        key=row["key"],
        from_raw=row["from_raw"],
        to_raw=row["to_raw"],
        command=row["command"],
        inverse=row["inverse"],
        persist=row["persist"],
        settings=tuple(json.loads(row["settings"])),
        detail=row["detail"],
        read_back=row["read_back"],
        outcome=None if row["outcome"] is None else _known(row["outcome"], Outcome),
        error=row["error"],
    )


def _file(row: Row) -> FileChange:
    before = FileState(row["path"], row["before"], row["before_mode"], row["before_uid"], row["before_gid"])
    if not row["written"]:
        return FileChange(before)
    after = FileState(row["path"], row["after"], row["after_mode"], row["after_uid"], row["after_gid"])
    return FileChange(before, after)
