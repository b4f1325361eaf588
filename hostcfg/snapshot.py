"""Facts as files: what a host printed, section by section, so that a later hostcfg reads it anew.

::

    {"schema": "hostcfg.snapshot/1", "host": "lon-1", "os": "linux", "taken": "2026-11-30T16:20:00+00:00",
     "by": "hostcfg 0.1.0", "sections": [{"kind": "proc-sys", "text": "...", "errors": "", "status": 0}, ...]}
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from hostcfg import __version__
from hostcfg.errors import InputError
from hostcfg.lean import dataclass
from hostcfg.model import Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Facts

SCHEMA = "hostcfg.snapshot/1"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One host's raw sections; ``taken`` is an ISO 8601 time with its zone, ``by`` what wrote it."""

    host: str
    os: str
    taken: str
    sections: tuple[Section, ...]
    by: str = "hostcfg"  # the first ones did not say which

    @property
    def origin(self) -> str:
        """A sentence on whose facts these are, and of when."""
        return (
            f"a snapshot of {self.host}, taken {self.taken[:19].replace('T', ' ')}{self._zone} by {self.by}"
        )

    @property
    def _zone(self) -> str:
        zone = self.taken[19:]
        return " UTC" if zone in ("+00:00", "Z") else zone


def dump_snapshot(facts: Facts) -> str:
    """The snapshot of ``facts`` as JSON text."""
    document = {
        "schema": SCHEMA,
        "host": facts.host,
        "os": facts.os,
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": f"hostcfg {__version__}",
        "sections": [asdict(section) for section in facts.sections],
    }
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    # half a surrogate pair, which a file name of other bytes leaves, as JSON's own escape
    return text.encode(errors="backslashreplace").decode()


def looks_like_snapshot(data: bytes) -> bool:
    """Whether ``data`` claims to be a snapshot, whole or damaged."""
    start = data[:2000].removeprefix(b"\xef\xbb\xbf").lstrip()
    return start[:1] == b"{" and b'"hostcfg.snapshot/' in start


def load_snapshot(data: bytes, path: str) -> Snapshot:
    """The snapshot in ``data``; InputError that names ``path`` if it is damaged or of a newer form."""
    document = _document(data, path)
    if document.get("schema") != SCHEMA:
        raise InputError(
            f"a snapshot of the form {document.get('schema')!r}; this hostcfg reads {SCHEMA}: update it",
            path=path,
        )
    try:
        host, os, taken = (_text(document, name) for name in ("host", "os", "taken"))
        items = document.get("sections")
        if not isinstance(items, list) or not items:
            raise ValueError("sections is no list of what the host printed")
        by = _text(document, "by") if "by" in document else "hostcfg"
        sections = tuple(_section(item, number) for number, item in enumerate(items, start=1))
    except ValueError as error:
        raise InputError(f"a damaged snapshot: {error}; take it again", path=path) from None
    return Snapshot(host, os, taken, sections, by)


def _document(data: bytes, path: str) -> dict[str, Any]:
    """The JSON object in ``data``; it begins with a brace, as looks_like_snapshot saw."""
    try:
        return cast("dict[str, Any]", json.loads(data.decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise InputError("a damaged snapshot: it is not UTF-8; take it again", path=path) from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"a damaged snapshot: {error.msg}; take it again", path=path, line=error.lineno
        ) from None
    except (RecursionError, ValueError):  # nested without end, or a number of thousands of digits
        raise InputError("a damaged snapshot: no hostcfg wrote this; take it again", path=path) from None


def _text(item: Mapping[str, Any], name: str, what: str = "") -> str:
    value = item.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{what}{name} is {'missing' if value is None else 'no text'}")
    return value


def _section(item: Any, number: int) -> Section:
    if not isinstance(item, dict):
        raise ValueError(f"section {number} is no object")
    status, what = item.get("status"), f"section {number}: "
    if not (status is None or isinstance(status, int)) or isinstance(status, bool):
        raise ValueError(f"{what}status is no whole number")
    errors = _text(item, "errors", what) if "errors" in item else ""
    return Section(_text(item, "kind", what), _text(item, "text", what), errors, status)


def snapshot_name(host: str) -> str:
    """A file name for the snapshot of ``host``: no separators, no hidden file, no surprise, and not too long.

    File systems end a name at 255 bytes (NAME_MAX), and one is written beside it first.
    """
    safe = "".join(c if c.isalnum() or c in "-_.@+" else "_" for c in host).lstrip(".") or "host"
    return f"{safe.encode()[:200].decode(errors='ignore')}.json"
