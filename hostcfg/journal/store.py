"""Changes in and out of the database, one committed transaction for each thing that happens."""

from __future__ import annotations

import getpass
import json
import os
import secrets
import socket
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

from hostcfg.changes import UNFINISHED
from hostcfg.errors import ChangeRefused
from hostcfg.journal import rows
from hostcfg.journal.database import Database, state_directory
from hostcfg.journal.process import this_process
from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from sqlite3 import Connection

    from hostcfg.changes import Change, ChangeKind, Fault, FileState, HostChange, HostStatus, Run
    from hostcfg.model import Json, Plan
    from hostcfg.platforms.changer import StepReport


@dataclass(frozen=True, slots=True)
class Draft:
    """A change that has an id and no host yet; it is stored with its first host, its ``run`` with it."""

    id: str
    kind: ChangeKind
    started: str
    by: str
    from_host: str
    of: str | None = None
    profile: Mapping[str, Json] = field(default_factory=dict)
    run: Run | None = None
    process: str = ""

    @classmethod
    def again(cls, change: Change) -> Self:
        """A change that is stored already, as its further hosts are stored with it."""
        return cls(
            id=change.id,
            kind=change.kind,
            started=change.started,
            by=change.by,
            from_host=change.from_host,
            of=change.of,
            profile=change.profile,
            run=change.run,
            process=change.process,
        )


def now_utc() -> str:
    """This moment, ISO 8601 in UTC to the millisecond."""
    return _stamp(datetime.now(UTC))


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def due_in(left_s: int | None) -> str | None:
    """The moment in ``left_s`` seconds, ISO 8601 in UTC; None where no timer runs."""
    return None if left_s is None else _stamp(datetime.now(UTC) + timedelta(seconds=left_s))


def who(user: Callable[[], str] = getpass.getuser) -> str:
    """The user who runs this, and who they were before sudo or doas."""
    try:
        name = user()
    except (KeyError, OSError, ImportError):  # a uid without a name; a Windows that does not say who it is
        number: Callable[[], int] | None = getattr(os, "getuid", None)
        name = str(number()) if number is not None else "an unknown user"
    behind = os.environ.get("SUDO_USER") or os.environ.get("DOAS_USER")
    return f"{behind} as {name}" if behind and behind != name else name


class Journal:
    """The store of all changes of one user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, directory: Path | None = None) -> Self:
        """The journal in ``directory`` (None: where HOSTCFG_STATE or the system says); JournalError."""
        return cls(Database.open(directory if directory is not None else state_directory()))

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def draft(
        self,
        kind: ChangeKind,
        *,
        of: str | None = None,
        profile: Mapping[str, Json] | None = None,
        run: Run | None = None,
    ) -> Draft:
        """A change with an id that sorts by time, made by this user on this machine; not stored yet."""
        moment = datetime.now(UTC)
        change_id = f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        where, known = socket.gethostname(), dict(profile or {})
        return Draft(change_id, kind, _stamp(moment), who(), where, of, known, run, this_process())

    # what happens, in this order

    def planned(
        self,
        draft: Draft,
        plan: Plan,
        *,
        revert_in_s: int,
        modules: Iterable[str] = (),
        reach: Mapping[str, Json] | None = None,
    ) -> int:
        """A host's plan with every before-value: on the disk when this returns.

        ``reach``: how to find the host again, without secrets.  Returns which attempt of this change
        at this host it is: more than 1 for one that was put back before.
        """
        with self._database.transaction() as db:
            rows.insert_change(db, draft)
            attempt = rows.insert_host(
                db, draft.id, plan, revert_in_s=revert_in_s, modules=list(modules), reach=reach or {}
            )
            self._event(db, draft.id, plan.host, "planned")
        return attempt

    def run_is(self, change_id: str, run: Run) -> None:
        """How far the run of a change is; nothing happens while no host of it had a step."""
        with self._database.transaction() as db:
            rows.update_run(db, change_id, run, this_process())
            rows.close_change(db, change_id, now_utc(), sorted(UNFINISHED))

    def begun(
        self,
        change_id: str,
        host: str,
        *,
        identity: Mapping[str, str],
        details: Mapping[str, str],
        files: Sequence[FileState],
        new_files: Sequence[FileState],
        left_s: int | None,
    ) -> None:
        """The host is locked and backed up and its timer runs; its files as they are and will be.

        Before any write.
        """
        with self._database.transaction() as db:
            stored = json.dumps(dict(identity))
            rows.update_host(db, change_id, host, identity=stored, deadline=due_in(left_s))
            rows.set_details(db, change_id, host, details)
            rows.insert_files(db, change_id, host, files)
            rows.set_files_after(db, change_id, host, new_files)
            self._status(db, change_id, host, "applying")
            self._event(db, change_id, host, "begun")

    def wrote(
        self, change_id: str, host: str, steps: Sequence[StepReport], *, modules: Sequence[str] | None = None
    ) -> None:
        """What the host says of each step."""
        with self._database.transaction() as db:
            rows.set_results(db, change_id, host, steps)
            if modules is not None:
                rows.update_host(db, change_id, host, modules=json.dumps(list(modules)))
            self._event(db, change_id, host, "wrote")

    def ended(
        self,
        change_id: str,
        host: str,
        status: HostStatus,
        *,
        error: Fault | None = None,
        notes: Sequence[str] | None = None,
        undone: str | None = None,
    ) -> None:
        """A host's state; a change whose hosts are all final gets its end.

        ``undone``: the change that this one took back on this host.
        """
        with self._database.transaction() as db:
            self._status(db, change_id, host, status, error)
            if notes is not None:
                rows.update_host(db, change_id, host, notes=json.dumps(list(notes)))
            if undone is not None:
                rows.set_undone(db, undone, host, change_id)
            self._event(db, change_id, host, status)

    def event(self, change_id: str, host: str | None, text: str) -> None:
        """Anything else worth a line with its time."""
        with self._database.transaction() as db:
            self._event(db, change_id, host, text)

    def _status(
        self, db: Connection, change_id: str, host: str, status: HostStatus, error: Fault | None = None
    ) -> None:
        rows.update_host(
            db,
            change_id,
            host,
            status=status,
            error_kind=error.kind if error else None,
            error=error.message if error else None,
        )
        rows.close_change(db, change_id, now_utc(), sorted(UNFINISHED))

    @staticmethod
    def _event(db: Connection, change_id: str, host: str | None, text: str) -> None:
        db.execute(
            "INSERT INTO events (change, host, at, event) VALUES (?, ?, ?, ?)",
            (change_id, host, now_utc(), text),
        )

    # what was

    def changes(self, limit: int | None = None) -> Sequence[Change]:
        """Changes, newest first."""
        with self._database.reading() as db:
            return rows.read_changes(db, limit=limit)

    def change(self, change_id: str) -> Change:
        """One change; ChangeRefused if there is none of that id."""
        with self._database.reading() as db:
            found = rows.read_changes(db, change_id=change_id)
        if not found:
            raise ChangeRefused(f"no change {change_id[:60]!r} in {self._database.path}; see hostcfg history")
        return found[0]

    def find(self, text: str) -> Change:
        """The change whose id is ``text``, or the only one whose id begins with it; ChangeRefused."""
        with self._database.reading() as db:
            found = rows.ids_beginning(db, text) if text else []
        if len(found) > 1:
            shown = ", ".join(found[:3]) + (" ..." if len(found) > 3 else "")
            raise ChangeRefused(f"{text!r} begins the ids of {len(found)} changes ({shown}): give more of it")
        return self.change(found[0] if found else text)

    def newer(self, change: Change) -> Sequence[Change]:
        """Changes that were begun after ``change``, newest first."""
        with self._database.reading() as db:
            return rows.read_newer(db, change)

    def is_stored(self, change_id: str) -> bool:
        """Whether there is a change of that id: a draft is none before its first host has a step."""
        with self._database.reading() as db:
            return db.execute("SELECT 1 FROM changes WHERE id = ?", (change_id,)).fetchone() is not None

    def host(self, change_id: str, host: str) -> HostChange:
        """One host of a change; ChangeRefused if the change does not have it."""
        for found in self.change(change_id).hosts:
            if found.host == host:
                return found
        raise ChangeRefused(f"change {change_id} has no such host", host=host)

    def events(self, change_id: str) -> Sequence[tuple[str, str | None, str]]:
        """``(time, host, what)`` of everything that happened in a change, oldest first."""
        with self._database.reading() as db:
            found = db.execute(
                "SELECT at, host, event FROM events WHERE change = ? ORDER BY number", (change_id,)
            ).fetchall()
        return [(row["at"], row["host"], row["event"]) for row in found]

    def unfinished(self) -> Sequence[Change]:
        """Changes with a host that has not reached a final state or a run that was cut, newest first."""
        marks = ", ".join("?" * len(UNFINISHED))
        query = (
            "SELECT id FROM changes WHERE run_state = 'running' OR EXISTS (SELECT 1 FROM hosts"  # noqa: S608
            f" WHERE change = id AND status IN ({marks})) ORDER BY started DESC, id DESC"
        )
        with self._database.reading() as db:
            found = [row["id"] for row in db.execute(query, sorted(UNFINISHED)).fetchall()]
            return [change for name in found for change in rows.read_changes(db, change_id=name)]
