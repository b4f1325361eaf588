"""The SQLite file under the journal: where it is, its schema, its transactions, and its errors as ours."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from hostcfg.errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_NAME = "journal.sqlite3"
APPLICATION_ID = 0x68636667
"""``hcfg``: tells this database from others (PRAGMA application_id)."""

VERSION = 1
BUSY_TIMEOUT_S = 30.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS changes (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, of TEXT, started TEXT NOT NULL, ended TEXT,
    by TEXT NOT NULL, from_host TEXT NOT NULL, profile TEXT NOT NULL,
    process TEXT NOT NULL DEFAULT '', run TEXT, run_state TEXT
);
CREATE TABLE IF NOT EXISTS hosts (
    change TEXT NOT NULL REFERENCES changes (id), host TEXT NOT NULL, position INTEGER NOT NULL,
    os TEXT NOT NULL, status TEXT NOT NULL, error_kind TEXT, error TEXT, notes TEXT NOT NULL,
    identity TEXT NOT NULL DEFAULT '{}', modules TEXT NOT NULL DEFAULT '[]',
    revert_in_s INTEGER NOT NULL, deadline TEXT, undone_by TEXT,
    reach TEXT NOT NULL DEFAULT '{}', attempt INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (change, host)
);
CREATE TABLE IF NOT EXISTS steps (
    change TEXT NOT NULL, host TEXT NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL,
    from_raw TEXT, to_raw TEXT NOT NULL, command TEXT NOT NULL, inverse TEXT, persist TEXT,
    settings TEXT NOT NULL, detail TEXT, read_back TEXT, outcome TEXT, error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (change, host, number), FOREIGN KEY (change, host) REFERENCES hosts (change, host)
);
CREATE TABLE IF NOT EXISTS files (
    change TEXT NOT NULL, host TEXT NOT NULL, path TEXT NOT NULL, number INTEGER NOT NULL,
    before BLOB, before_mode INTEGER NOT NULL, before_uid INTEGER NOT NULL, before_gid INTEGER NOT NULL,
    written INTEGER NOT NULL DEFAULT 0,
    after BLOB, after_mode INTEGER, after_uid INTEGER, after_gid INTEGER,
    PRIMARY KEY (change, host, path), FOREIGN KEY (change, host) REFERENCES hosts (change, host)
);
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY, change TEXT NOT NULL REFERENCES changes (id), host TEXT,
    at TEXT NOT NULL, event TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_of_change ON events (change);
"""


_DAMAGED = "the journal is damaged: move it away; the backups on the hosts are whole"


def state_directory() -> Path:
    """``HOSTCFG_STATE``, or the user's state directory of this system."""
    named = os.environ.get("HOSTCFG_STATE")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_state_path

    try:
        return user_state_path("hostcfg", appauthor=False)
    except RuntimeError:  # no HOME, and nobody of this number in the password database
        raise JournalError("no home directory is known: set HOME, or HOSTCFG_STATE to a directory") from None


class Database:
    """One open journal file; safe to use from several threads, and from several processes at once."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.RLock()

    @classmethod
    def open(cls, directory: Path) -> Self:
        """The journal in ``directory``, made if it is not there; JournalError that says what is wrong."""
        path = directory / FILE_NAME
        with _named(path):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create(path)
            connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        database = cls(path, connection)
        try:
            database._prepare()
        except BaseException:
            connection.close()
            raise
        return database

    def _prepare(self) -> None:
        with _named(self.path):
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA foreign_keys = ON")
            # EXTRA also syncs the directory once the rollback journal is gone: a commit is on the disk.
            self._connection.execute("PRAGMA synchronous = EXTRA")
            self._connection.execute("PRAGMA fullfsync = ON")  # macOS: through the drive's own cache
        with self.reading() as connection:
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
            known: int = connection.execute("PRAGMA application_id").fetchone()[0]
            if (known, version) == (APPLICATION_ID, VERSION):
                return  # the usual case writes nothing: a journal can be read where it can't be written
        with self.transaction() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            known = connection.execute("PRAGMA application_id").fetchone()[0]
            tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if known != APPLICATION_ID and (tables or version):
                raise JournalError(f"{self.path} is a database of another program; move it away")
            if version > VERSION or version < 0:
                raise JournalError(
                    f"{self.path} was written by a newer hostcfg (version {version}, "
                    f"this one knows {VERSION}): use that one"
                )
            for statement in _SCHEMA.strip().split(";\n"):  # each IF NOT EXISTS: two may make it at once
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One atomic write, on the disk when the block ends; JournalError if it could not be."""
        with self._lock, _named(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Reads that belong together: all of one moment."""
        with self._lock, _named(self.path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            except (ValueError, KeyError, TypeError, AttributeError) as error:  # what no hostcfg wrote
                raise JournalError(f"{_DAMAGED} ({self.path}: {str(error)[:80]!r})") from error
            finally:
                self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Closes the file; what was committed stays."""
        with self._lock:
            self._connection.close()


def _create(path: Path) -> None:
    """An empty file that only its owner can read, before SQLite writes to it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError:
        if not os.access(path, os.R_OK):
            raise


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Foreign errors as JournalError: what is wrong with the journal, and what to do."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        raise JournalError(
            f"can't use the journal {path}: {what}; HOSTCFG_STATE can name another directory"
        ) from error
    except UnicodeEncodeError as error:
        raise JournalError(
            f"a name or value is no text and can't be recorded: {error.object[:60]!r}"
        ) from error
    except sqlite3.Error as error:
        raise JournalError(f"{_meaning(error)} ({path}: {error})") from error


def _meaning(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "") or ""
    meanings = {
        "SQLITE_FULL": "no room for the journal on this disk: free some, nothing may be changed without it",
        "SQLITE_BUSY": f"another hostcfg holds the journal for more than {BUSY_TIMEOUT_S:.0f} s: try again",
        "SQLITE_READONLY": "the journal can't be written: its file or directory is read-only",
        "SQLITE_CANTOPEN": "the journal can't be opened: is its directory writable?",
        "SQLITE_NOTADB": "the journal is not a database: move it away, or set HOSTCFG_STATE",
        "SQLITE_CORRUPT": _DAMAGED,
        "SQLITE_IOERR": "the disk under the journal gave an error",
    }
    return next((text for known, text in meanings.items() if name.startswith(known)), "the journal failed")
