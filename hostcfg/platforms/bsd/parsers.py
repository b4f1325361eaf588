"""Parsers that every BSD has: sysctl(8) output and the files that set values at boot.

One instance for each system: the text is the same, the table of native keys and the name are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import SETTINGS_BEGIN, Parser
from hostcfg.platforms.bsd.calls import parse_calls
from hostcfg.platforms.bsd.conf import ConfText, read_conf
from hostcfg.platforms.bsd.family import LINUX_CALL, TABLE_ROW, Evidence, evidence
from hostcfg.platforms.bsd.sysctl import SysctlText, read_sysctl
from hostcfg.platforms.bsd.tables import parse_available
from hostcfg.platforms.bsd.values import OID, parse_int, typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Json
    from hostcfg.platforms.bsd.sysctl import Entry
    from hostcfg.platforms.bsd.values import NativeKey

_BSD_NAME = regex(
    r"(?:kern|hw|machdep|security(?=\.(?:bsd|jail|mac|pax|models|curtain))|vfs|audit|ktrace|iogpu|kperf|apfs|ddb|proc|lwkt|jail)\."
    r"|net\.(?:inet6?|link|route|isr|netlink|bpf|classq|necp|mptcp|graph|key|local|raw|wlan|\w+\.en[0-9])\."
)
_OUTPUT = regex(
    rf"^(?:/\S{{1,64}}/)?sysctl: .*(?:{OID}|Operation not permitted|Tunable values|invalid)"
    r"|^\w{3,6} level name .{1,300} is invalid$|^usage: sysctl \["
    rf"|^[ \t]{{0,64}}{OID}\s?[:=].* -> |^[ \t]{{0,64}}net\.inet\.tcp\.cc\.available=$",
    re.MULTILINE,
)
_TYPED = regex(r"^\$ (.*)", re.MULTILINE)
_READ_ONLY = regex(
    r"(?:kern\.(?:os\w+|version|hostname|boottime)|hw\.(?:model|machine\w*|ncpu|physmem\w*)|net\.inet\.tcp\.(?:states|pcbcount))="
)
_CONF_HEADER = regex(r"(?:==> |\$ cat |\$ more |\$ less )\S*sysctl\.conf")
_SCAN = 1 << 20
LISTING = 30
"""Points where no name is known, but all lines have the form: just enough."""
UNDECIDED = 10
"""Points less for each cousin where no key tells them apart: the rest of the text may decide."""


def sysctl_parser(os: str, keys: Mapping[str, NativeKey]) -> Parser:
    """The parser of sysctl(8) output of one system."""
    return Parser(
        "sysctl",
        os,
        "sysctl",
        lambda text: recognize_sysctl(os, text),
        lambda text: parse_sysctl(os, keys, text),
        transcript=True,
        begins=SETTINGS_BEGIN,
    )


def sysctl_conf_parser(os: str, keys: Mapping[str, NativeKey]) -> Parser:
    """The parser of /etc/sysctl.conf of one system."""
    return Parser(
        "sysctl-conf",
        os,
        "cat /etc/sysctl.conf",
        lambda text: recognize_sysctl_conf(os, text),
        lambda text: parse_sysctl_conf(os, keys, text),
        transcript=True,
        begins=SETTINGS_BEGIN,
    )


def recognize_sysctl(os: str, text: str) -> int:
    """How surely ``text`` is what sysctl(8) of ``os`` printed."""
    found = evidence(text[:_SCAN])
    if found.is_prose:
        return 0
    if _OUTPUT.search(text[:_SCAN]) or _has_call(text[:_SCAN]):
        return _score(os, found, text, 80)
    if found.printed:
        return LISTING if os == "freebsd" else 0
    if not found.lines:
        rows = sum(1 for _, _ in zip(range(2), TABLE_ROW.finditer(text[:_SCAN]), strict=False))
        return _score(os, found, text, 88) if rows == 2 else 0
    if found.equals > found.lines / 2 and not _READ_ONLY.search(text[:_SCAN]):
        return _score(os, found, text, 40)
    return _score(os, found, text, 78)


def recognize_sysctl_conf(os: str, text: str) -> int:
    """How surely ``text`` is a sysctl.conf of ``os``."""
    found = evidence(text[:_SCAN])
    if not found.lines or found.is_prose or _OUTPUT.search(text[:_SCAN]) or _has_call(text[:_SCAN]):
        return 0
    if _CONF_HEADER.search(text[:_SCAN]):
        return _score(os, found, text, 95)
    return _score(os, found, text, 75) if found.equals > found.lines / 2 else 0


def _has_call(text: str) -> bool:
    """Whether sysctl(8) itself was typed, and not only its name somewhere in a command."""
    typed_lines = (match[1] for _, match in zip(range(1000), _TYPED.finditer(text), strict=False))
    return any(parse_calls(line) and not LINUX_CALL.search(line) for line in typed_lines)


def _score(os: str, found: Evidence, text: str, base: int) -> int:
    """``base`` for the likely system, less for its cousins, little where no key is a BSD's."""
    if found.linux and found.linux * 3 >= found.lines:
        return 0
    if not _BSD_NAME.search(text[:_SCAN]) and not max(found.points.values()) > 0:
        base = 15
    decided = max(found.points.values()) >= 1
    if os == found.likely:
        return min(100, base + (10 if decided else 0))
    return base // 3 if decided else base - UNDECIDED


def parse_sysctl(os: str, keys: Mapping[str, NativeKey], text: str) -> Parsed:
    """Values by name, and ``changes``, ``errors``, ``lists``, ``tables``, ``old``, ``calls``."""
    found = read_sysctl(text)
    shaper = _Shaper(keys, found)
    for entry in found.entries:
        shaper.take(entry)
    return shaper.parsed(os)


class _Shaper:
    """Entries in the forms that ``hostcfg parse`` prints, by the types of the table of keys."""

    def __init__(self, keys: Mapping[str, NativeKey], found: SysctlText) -> None:
        self.keys, self.found = keys, found
        self.values: dict[str, Json] = {}
        self.lists: dict[str, Json] = {}
        self.tables: dict[str, Json] = {}
        self.old: dict[str, Json] = {}
        self.changes: list[Json] = []
        self.unrecognized: list[str] = []
        self.notes: list[str] = []
        self.descriptions = are_descriptions(keys, found.entries)

    def take(self, entry: Entry) -> None:
        fits, value = typed(self.keys, entry.name, entry.raw)
        table = parse_available(entry.raw.splitlines()) if "\n" in entry.raw else None
        if self.descriptions and entry.kind != "change":
            self.unrecognized.append(f"{entry.name}: {entry.raw}")
        elif table is not None:
            self.tables[entry.name] = table.as_json()
            self.values[entry.name] = list(table.names)
            self.unrecognized += table.damaged
        elif entry.kind == "change":
            self._take_change(entry, fits, value)
        elif not fits:
            self.unrecognized.append(f"{entry.name}: {entry.raw}")
        else:
            self.values[entry.name] = value
            if isinstance(value, list):
                self.lists[entry.name] = value
            if entry.kind == "refused":
                self.old[entry.name] = value

    def _take_change(self, entry: Entry, fits: bool, value: Json) -> None:
        old_fits, old = typed(self.keys, entry.name, entry.old or "")
        if fits and old_fits:
            self.changes.append({"name": entry.name, "old": old, "new": value})
        else:
            self.unrecognized.append(f"{entry.name}: {entry.old} -> {entry.raw}")

    def parsed(self, os: str) -> Parsed:
        found = self.found
        ordered, loose = _ordered(found, bool(self.values))
        if found.described or self.descriptions:
            self.notes.append("types or descriptions, which are no values, are left out")
        extra: dict[str, Json] = {
            "changes": self.changes,
            "errors": [error.as_json() for error in found.errors],
        }
        optional: dict[str, Json] = {
            "lists": self.lists,
            "tables": self.tables,
            "old": self.old,
            "calls": [[name, value] for name, value in found.calls],
            "values_in_order": list(ordered),
        }
        extra |= {name: value for name, value in optional.items() if value}
        rest = [*loose, *self.unrecognized, *found.described]
        return Parsed(os, "sysctl", "sysctl", self.values, self.notes, rest, extra)


def _ordered(found: SysctlText, named: bool) -> tuple[list[str], list[str]]:
    """Values without names, and the lines that are none: bare words alone are what ``-n`` prints."""
    if found.ordered or named or found.entries or found.calls:
        return found.ordered, found.unrecognized
    if found.unrecognized and all(re.fullmatch(r"[\w./+-]{1,128}", line) for line in found.unrecognized):
        return found.unrecognized, []
    return [], found.unrecognized


def are_descriptions(keys: Mapping[str, NativeKey], entries: Sequence[Entry]) -> bool:
    """Whether this is the output of ``-d``: where integers are due there are words."""
    checked = [
        typed(keys, e.name, e.raw)[0] for e in entries if e.name in keys and keys[e.name].type == "int"
    ]
    wrong = checked.count(False)
    return wrong >= 2 and wrong > 0.6 * len(checked)


def parse_sysctl_conf(os: str, keys: Mapping[str, NativeKey], text: str) -> Parsed:
    """Values by name (the last assignment wins), ``duplicates``, ``loader_only``, ``n_assignments``.

    ``not_assigned`` are names that stand only in comments.
    """
    found = read_conf(text, "sysctl", "/etc/sysctl.conf")
    values: dict[str, Json] = {}
    rest = list(found.unrecognized)
    for assignment in found.assignments:
        fits, value = typed(keys, assignment.name, assignment.value, parse_int)
        if fits:
            values[assignment.name] = value
        else:
            rest.append(f"{assignment.name}={assignment.value}")
    extra = conf_extra(found)
    loader_only: list[Json] = [name for name in values if name in keys and keys[name].when == "loader"]
    if loader_only:
        extra["loader_only"] = loader_only
    return Parsed(os, "sysctl-conf", "cat /etc/sysctl.conf", values, (), rest, extra)


def conf_extra(found: ConfText) -> dict[str, Json]:
    """What every config file has beside its values."""
    extra: dict[str, Json] = {"n_assignments": len(found.assignments)}
    duplicates: dict[str, Json] = {
        name: [assignment.value for assignment in given] for name, given in found.duplicates().items()
    }
    if duplicates:
        extra["duplicates"] = duplicates
    if found.commented:
        extra["not_assigned"] = list(found.commented)
    return extra
