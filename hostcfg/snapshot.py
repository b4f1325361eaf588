"""Facts as files: what a host printed, section by section, so that a later hostcfg reads it anew.

::

    {"schema": "hostcfg.snapshot/1", "host": "lon-1", "os": "linux", "taken": "2026-11-30T16:20:00+00:00",
     "sections": [{"kind": "proc-sys", "text": "...", "errors": "", "status": 0}, ...]}
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hostcfg.errors import InputError
from hostcfg.lean import dataclass
from hostcfg.model import Section

if TYPE_CHECKING:
    from hostcfg.model import Facts

SCHEMA = "hostcfg.snapshot/1"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One host's raw sections; ``taken`` is an ISO 8601 time with its zone."""

    host: str
    os: str
    taken: str
    sections: tuple[Section, ...]


def dump_snapshot(facts: Facts) -> str:
    """The snapshot of ``facts`` as JSON text."""
    document = {
        "schema": SCHEMA,
        "host": facts.host,
        "os": facts.os,
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
        "sections": [asdict(section) for section in facts.sections],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def looks_like_snapshot(data: bytes) -> bool:
    """Whether ``data`` claims to be a snapshot, whole or damaged."""
    start = data[:2000].removeprefix(b"\xef\xbb\xbf").lstrip()
    return start[:1] == b"{" and b'"hostcfg.snapshot/' in start


def load_snapshot(data: bytes, path: str) -> Snapshot:
    """The snapshot in ``data``; InputError that names ``path`` if it is damaged or of a newer form."""
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError("a damaged snapshot: it is not UTF-8; take it again", path=path) from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"a damaged snapshot: {error.msg}; take it again", path=path, line=error.lineno
        ) from None
    if document.get("schema") != SCHEMA:
        raise InputError(
            f"a snapshot of the form {document.get('schema')!r}; this hostcfg reads {SCHEMA}: update it",
            path=path,
        )
    try:
        sections = tuple(_section(item) for item in document["sections"])
        return Snapshot(str(document["host"]), str(document["os"]), str(document["taken"]), sections)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"a damaged snapshot: {error}; take it again", path=path) from None


def _section(item: dict[str, Any]) -> Section:
    status = item.get("status")
    return Section(str(item["kind"]), str(item["text"]), str(item.get("errors", "")), status)


def snapshot_name(host: str) -> str:
    """A file name for the snapshot of ``host``: no separators, no hidden file, no surprise."""
    safe = "".join(c if c.isalnum() or c in "-_.@+" else "_" for c in host).lstrip(".") or "host"
    return f"{safe[:200]}.json"
