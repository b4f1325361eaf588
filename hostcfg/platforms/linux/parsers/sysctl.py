"""``sysctl`` of procps, busybox and toybox: ``-a``, names, ``-n``, ``-w``, ``-p`` and ``--system``.

Sample::

    net.ipv4.tcp_rmem = 4096        131072  6291456
    net.ipv4.ip_local_reserved_ports =
    sysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'
    net.ipv4.conf.eth0/100.rp_filter = 0

and of a set::

    * Applying /etc/sysctl.d/90-bbr.conf ...
    sysctl: setting key "net.core.default_qdisc": No such file or directory
    net.core.default_qdisc = fq

The last line is what was asked for and not the state: procps up to 3.3.15 prints it all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.native import (
    BSD_NAMES,
    form_of,
    is_linux,
    is_root_only,
    typed,
    written,
)
from hostcfg.platforms.linux.parsers.sysctl_lines import scan, writes
from hostcfg.platforms.linux.parsers.text import BLANKS, head, share
from hostcfg.platforms.linux.parsers.tuned import SECTION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostcfg.model import Json
    from hostcfg.platforms.linux.parsers.problems import Problem
    from hostcfg.platforms.linux.parsers.sysctl_lines import Entry, Scan

# Nothing that is only read can fail like this, in any language.
_OF_WRITES = frozenset({"read_only", "invalid", "not_found", "syntax", "range"})
_BSD_MARKS = ("unknown oid", "sysctl: oid ", "Tunable values are set in")
_PRINTED = regex(r"[a-z][a-z0-9_-]{0,60}(?:\.[\w/*@:+-]{1,100}){1,12} = ?.*")
"""A line as ``sysctl -a`` prints it, of whatever root: a module may bring its own."""
_ANYBODYS, _LISTING = 20, 30
"""Points where no key is Linux's own: none are enough, but for a listing of such lines alone."""
_LISTED = 3
_BY_SYSCTL = regex(r"^(?:\S*sysctl|error|warning|busybox)(?:\[[0-9]+\])?:|systemd-sysctl\[")


def parse_read(text: str) -> Parsed:
    """The values that sysctl read; ``denied``, ``unknown`` and ``read_only`` are lists of keys."""
    found = scan(text)
    values = _values(found, found.entries, with_comment=False)
    return _parsed("sysctl", "sysctl", found, values, {})


def parse_set(text: str) -> Parsed:
    """What sysctl wrote: ``changes`` (old is not printed: null), and ``set`` with the values as text."""
    found = scan(text)
    values = _values(found, found.entries, with_comment=True)
    read = {entry.key for entry in found.entries if entry.was_read}
    new = {key: value for key, value in values.items() if key not in read}
    changes: list[Json] = [{"name": key, "old": None, "new": value} for key, value in new.items()]
    texts: dict[str, Json] = {key: _as_text(value) for key, value in new.items()}
    extra: dict[str, Json] = {"changes": changes, "set": texts, "errors": errors_of(found.problems)}
    if found.files:
        extra["files"] = list(found.files)
    return _parsed("sysctl-set", "sysctl --system", found, values, extra)


def errors_of(problems: Iterable[Problem]) -> list[Json]:
    """Problems in the form of the contract: ``name``, ``kind``, and the line as ``text``."""
    return [{"name": p.name, "kind": p.kind, "text": p.text} for p in problems]


def _as_text(value: Json) -> Json:
    return [str(part) for part in value] if isinstance(value, list) else str(value)


def _values(found: Scan, entries: Iterable[Entry], *, with_comment: bool) -> dict[str, Json]:
    values: dict[str, Json] = {}
    previous = None
    for entry in entries:
        form = form_of(entry.key)
        try:
            value = (written if with_comment else typed)(entry.key, entry.raw)
        except ValueError as error:
            found.unrecognized.append(f"{entry.key} = {entry.raw}")
            found.notes.append(f"line {entry.line}: {entry.key}: {error}")
            continue
        earlier = values.get(entry.key)
        if form is not None and form.shape == "lines" and previous == entry.key:
            value = [*(earlier if isinstance(earlier, list) else []), entry.raw]
        values[entry.key] = value
        previous = entry.key
    return values


def _parsed(kind: str, command: str, found: Scan, values: dict[str, Json], more: dict[str, Json]) -> Parsed:
    extra: dict[str, Json] = {}
    for name in ("denied", "unknown", "read_only"):
        keys = found.named(name)
        if keys:
            extra[name] = list(keys)
    if found.problems:
        extra["errors"] = errors_of(found.problems)
    return Parsed("linux", kind, command, values, found.notes, found.unrecognized, extra | more)


@dataclass(frozen=True, slots=True)
class _Face:
    """What the first lines of a text look like: ``known`` of them are sysctl's, ``linux`` are Linux's."""

    lines: list[str]
    entries: int
    known: int
    linux: int
    bsd: int
    is_set: bool
    printed: int  # of lines that have sysctl's form, whatever their key


def _face(text: str) -> _Face:
    lines = head(text)
    found = scan("\n".join(lines))
    bsd = sum(line.lstrip(BLANKS).startswith(BSD_NAMES) for line in lines)
    bsd += sum(any(mark in line for mark in _BSD_MARKS) for line in lines)
    by_sysctl = [p for p in found.problems if _BY_SYSCTL.search(p.text)]
    linux = sum(is_linux(entry.key) for entry in (*found.entries, *found.refused))
    linux += sum(p.name is not None and is_linux(p.name) for p in by_sysctl)
    foreign = len(found.problems) - len(by_sysctl) + len(found.unrecognized)
    is_set = bool(found.files) or any(map(_tells_of_a_write, by_sysctl))
    is_set = is_set or any("sysctl" in command and writes(command.split()) for command in found.commands)
    entries = len(found.entries) + len(found.refused)
    printed = sum(_PRINTED.fullmatch(line) is not None for line in lines)
    # Beside keys of Linux, unknown ones are those of modules.
    known = max(0, len(lines) - foreign, min(len(lines), printed) if linux else 0)
    return _Face(lines, entries, known, linux, bsd, is_set, printed)


def _tells_of_a_write(error: Problem) -> bool:
    """The error is one of writing, or a key is denied that everyone may read."""
    if error.kind in _OF_WRITES:
        return True
    return error.kind == "denied" and error.name is not None and not is_root_only(error.name)


def _score(face: _Face, ceiling: int) -> int:
    if face.bsd >= max(face.linux, 1):
        return 0
    if not face.linux:
        if _LISTED <= face.printed == len(face.lines):
            return _LISTING
        return share(face.known, face.lines, _ANYBODYS) if face.entries else 0
    if any(SECTION.fullmatch(line.strip(BLANKS)) for line in face.lines):
        ceiling = 30  # an INI file: tuned's
    return share(face.known, face.lines, ceiling)


def recognize_read(text: str) -> int:
    """High for ``key = value`` lines with Linux's keys and for sysctl's messages about them."""
    face = _face(text)
    return _score(face, 80 if face.is_set else 94)


def recognize_set(text: str) -> int:
    """High where an ``Applying`` line or the error of a write stands among them."""
    face = _face(text)
    return _score(face, 97) if face.is_set else 0


SYSCTL = Parser("sysctl", "linux", "sysctl -a", recognize_read, parse_read, transcript=True)
SYSCTL_SET = Parser("sysctl-set", "linux", "sysctl --system", recognize_set, parse_set, transcript=True)
