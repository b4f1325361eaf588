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

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.native import (
    BSD_NAMES,
    form_of,
    is_key,
    is_linux,
    is_root_only,
    typed,
    written,
)
from hostcfg.platforms.linux.parsers.problems import problem, spliced
from hostcfg.platforms.linux.parsers.sysctl_lines import APPLYING, ASSIGNED, command_of, scan, writes
from hostcfg.platforms.linux.parsers.text import BLANKS, head, share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostcfg.model import Json
    from hostcfg.platforms.linux.parsers.problems import Problem
    from hostcfg.platforms.linux.parsers.sysctl_lines import Entry, Scan

_SET_MARKS = (
    "setting key",
    "write error",
    "malformed setting",
    "must be of the form name=value",
    "invalid syntax, continuing",
    "Couldn't write '",
)
_BSD_MARKS = ("unknown oid", "sysctl: oid ", "Tunable values are set in")
_BY_SYSCTL = re.compile(r"^(?:\S*sysctl|error|warning|busybox)(?:\[\d+\])?:|systemd-sysctl\[")


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
    """What the first lines of a text look like."""

    lines: list[str]
    assigned: int
    problems: int
    neutral: int
    linux: int
    bsd: int
    is_set: bool


def _face(text: str) -> _Face:
    lines = head(text)
    assigned = problems = neutral = linux = bsd = 0
    is_set = False
    for line in lines:
        stripped = line.strip(BLANKS)
        error = problem(stripped)
        found = ASSIGNED.fullmatch(stripped)
        if stripped.startswith(BSD_NAMES) or any(mark in stripped for mark in _BSD_MARKS):
            bsd += 1
        elif error is not None and _BY_SYSCTL.search(stripped):
            problems += 1
            linux += error.name is not None and is_linux(error.name)
            is_set = is_set or _tells_of_a_write(error)
        elif APPLYING.match(stripped):
            neutral, is_set = neutral + 1, True
        elif (command := command_of(stripped)) is not None:
            neutral, is_set = neutral + 1, is_set or ("sysctl" in command and writes(command.split()))
        elif spliced(stripped) is not None:
            neutral += 1
        elif found is not None and is_key(found["key"].replace("/", ".")):
            assigned += 1
            linux += is_linux(found["key"].replace("/", "."))
    return _Face(lines, assigned, problems, neutral, linux, bsd, is_set)


def _tells_of_a_write(error: Problem) -> bool:
    """A key that everyone may read is denied, or the words say so."""
    if error.kind == "read_only" or any(mark in error.text for mark in _SET_MARKS):
        return True
    return error.kind == "denied" and error.name is not None and not is_root_only(error.name)


def _score(face: _Face, ceiling: int) -> int:
    if face.bsd > face.linux or not face.assigned + face.problems:
        return 0
    if not face.linux:
        ceiling = 20
    return share(face.assigned + face.problems + face.neutral, face.lines, ceiling)


def recognize_read(text: str) -> int:
    """High for ``key = value`` lines with Linux's keys and for sysctl's messages about them."""
    face = _face(text)
    return _score(face, 80 if face.is_set else 94)


def recognize_set(text: str) -> int:
    """High where an ``Applying`` line or the error of a write stands among them."""
    face = _face(text)
    return _score(face, 97) if face.is_set else 0


SYSCTL = Parser("sysctl", "linux", "sysctl -a", recognize_read, parse_read)
SYSCTL_SET = Parser("sysctl-set", "linux", "sysctl --system", recognize_set, parse_set)
