"""Text that sysctl(8) printed, of any age, as entries in the order of the lines.

::

    kern.ipc.maxsockbuf: 2097152                  value
    kern.ipc.maxsockbuf=2097152                   value (-e; NetBSD and OpenBSD)
    kern.maxfiles: 2088 -> 5000                   change: the new value was read back
    kern.ipc.maxsockbuf: 8388608                  old value of a set that ...
    sysctl: kern.ipc.maxsockbuf=8441037: Result too large        ... was refused
    net.inet.tcp.cc.available:                    value of several lines
    CCmod           D PCB count
    cubic           * 4

Lines that begin with ``$ `` are the commands that were typed, as :mod:`hostcfg.pasted` writes them:
with ``-n`` they are all that says which value is whose.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from hostcfg.lean import dataclass, regex
from hostcfg.platforms.bsd.calls import Call, parse_calls
from hostcfg.platforms.bsd.sysctl_errors import SysctlError, is_second_line, parse_error
from hostcfg.platforms.bsd.tables import is_table_row, table_kind
from hostcfg.platforms.bsd.values import OID

MAX_LINE = 8192
"""A longer line is no line of sysctl(8) that holds a setting."""

_NAMED = regex(rf"\s{{0,64}}(?P<name>{OID})(?P<separator>:|\s?=)(?P<value>.*)")
_ARROW = regex(r"(?P<old>.*?) -> (?P<new>.*)")
_BARE_ARROW = regex(r"(?P<old>\S+) -> (?P<new>\S+)")
_MARKDOWN = regex(rf"\|?\s*`?(?P<name>{OID})`?\s*\|\s*(?P<type>[a-z0-9_ ]+?)\s*\|(?P<value>[^|]*)\|.*")
_MULTI_LINE = regex(
    r"kern\.(?:version|msgbuf|conftxt|geom\.conf\w+|sched\.topology_spec)|hw\.intrs|debug\.fail_point\..*"
    r"|vm\.(?:vmtotal|reserv\.\w+|phys_\w+)"
    r"|net\.inet\.tcp\.(?:cc\.available|functions_available|hostcache\.list)"
)
_TABLES = frozenset({"net.inet.tcp.cc.available", "net.inet.tcp.functions_available"})
TYPE_NAMES = frozenset(
    {
        *("integer", "unsigned integer", "long integer", "long", "unsigned long", "string", "node", "opaque"),
        *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    }
)
"""What ``sysctl -t`` prints in place of values."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One value as the text gives it; ``old`` where the line is a change."""

    name: str
    raw: str
    line: int
    old: str | None = None
    kind: Literal["value", "change", "refused"] = "value"


@dataclass(slots=True)
class SysctlText:
    """Everything that a sysctl text says, in order.

    ``ordered`` are values that stand without a name (``-n`` with several names); ``calls`` the sets
    of echoed commands; ``described`` lines of ``-d`` and ``-t``, which hold no values.
    """

    entries: list[Entry] = field(default_factory=list)
    errors: list[SysctlError] = field(default_factory=list)
    ordered: list[str] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    unrecognized: list[str] = field(default_factory=list)


def read_sysctl(text: str) -> SysctlText:
    """The entries, errors and the rest of ``text``; never raises."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), start=1):
        reader.take(number, line)
    return reader.finish()


class _Reader:
    """Line after line; ``open`` is the entry whose value may go on, ``bare`` what had no name."""

    def __init__(self) -> None:
        self.found = SysctlText()
        self.open: tuple[str, int, list[str]] | None = None
        self.calls: tuple[Call, ...] = ()
        self.bare: list[str] = []
        self.call_errors: list[SysctlError] = []
        self.single: list[str] = []
        self.call_line = 0

    def take(self, number: int, line: str) -> None:
        if len(line) > MAX_LINE:
            self.found.unrecognized.append(line[:200])
        elif line.startswith("$ "):
            self._next_call(line[2:], number)
        elif not self._take_error(number, line) and not self._take_named(number, line):
            self._take_other(line)

    def finish(self) -> SysctlText:
        self._close()
        self._end_call()
        if not self.found.ordered:
            self.found.ordered = self.single
        return self.found

    def _next_call(self, command: str, number: int) -> None:
        self._close()
        self._end_call()
        self.calls, self.call_line = parse_calls(command), number
        for call in self.calls:
            self.found.calls += [(n, v) for n, v in call.sets if not v.startswith("$")]

    @property
    def _nameless(self) -> list[str]:
        return [name for call in self.calls if call.values_only for name in call.names]

    def _take_error(self, number: int, line: str) -> bool:
        if self.open is not None and self.open[0] == "kern.msgbuf":
            return False  # a log may hold complaints of long ago
        if is_second_line(line):
            return True
        error = parse_error(line)
        if error is None:
            return False
        self._close()
        self._mark_refused(error, number)
        self.found.errors.append(self._named_by_call(error))
        self.call_errors.append(error)
        return True

    def _mark_refused(self, error: SysctlError, number: int) -> None:
        """A refused set prints the old value as a line of its own, before the complaint."""
        if error.value is None or error.kind in ("unknown_oid", "not_settable"):
            return
        for index in range(len(self.found.entries) - 1, -1, -1):
            entry = self.found.entries[index]
            if entry.name == error.name and entry.kind == "value" and entry.line < number:
                self.found.entries[index] = Entry(entry.name, entry.raw, entry.line, entry.raw, "refused")
            if entry.name == error.name:
                return

    def _named_by_call(self, error: SysctlError) -> SysctlError:
        """``invalid integer 'abc'`` names no OID: the call that was typed does, if it set only one."""
        sets = [pair for call in self.calls for pair in call.sets]
        if error.name is not None or error.kind not in ("invalid_value", "empty_value") or len(sets) != 1:
            return error
        return SysctlError(sets[0][0], error.kind, error.value, error.text, error.line)

    def _take_named(self, number: int, line: str) -> bool:
        match = _NAMED.fullmatch(line)
        if match is None:
            return self._take_markdown(number, line)
        self._close()
        name, value = match["name"], match["value"].strip()
        described = bool(self.calls) and all(call.describes for call in self.calls)
        if described or value.split(":", 1)[0] in TYPE_NAMES:
            self.found.described.append(line.strip())
            return True
        arrow = _ARROW.fullmatch(value)
        if arrow is not None:
            self._add_change(name, arrow["old"], arrow["new"], number)
        else:
            self.open = (name, number, [value])
        return True

    def _take_markdown(self, number: int, line: str) -> bool:
        """``| net.inet.tcp.tso | integer | 1 | Enable TCP Segmentation Offload |``: a table of -t and -d."""
        match = _MARKDOWN.fullmatch(line.strip()) if "|" in line else None
        if match is None or match["type"] not in TYPE_NAMES:
            return False
        self._close()
        self.found.entries.append(Entry(match["name"], match["value"].strip(), number))
        return True

    def _add_change(self, name: str, old: str, new: str, number: int) -> None:
        self.found.entries.append(Entry(name, new.strip(), number, old.strip(), "change"))

    def _take_other(self, line: str) -> None:
        if self.open is None or not _MULTI_LINE.fullmatch(self.open[0]):
            self._close()
            self._take_loose(line)
            return
        name, _, lines = self.open
        if not line.strip():
            if len(lines) > 1 and _ends_at_blank(name):
                self._close()
            else:
                lines.append(line)
        elif name in _TABLES and not (table_kind(line) is not None or is_table_row(line)):
            self._close()
            self._take_loose(line)
        else:
            lines.append(line)

    def _take_loose(self, line: str) -> None:
        if self._nameless:
            self.bare.append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            self.found.unrecognized.append(line.strip())

    def _close(self) -> None:
        if self.open is None:
            return
        name, number, lines = self.open
        self.open = None
        while len(lines) > 1 and not lines[-1].strip():
            lines.pop()
        self.found.entries.append(Entry(name, "\n".join(lines), number))

    def _end_call(self) -> None:
        """Give the values without names to the names that were asked for, where that is certain."""
        names = self._nameless
        failed = {e.name for e in self.call_errors if e.kind == "unknown_oid"}
        values = _trimmed(self.bare)
        left = [name for name in names if name not in failed]
        if len(names) == 1 and left and _is_one_value(left[0], values):
            self._add_bare(left[0], "\n".join(values))
            self.single.append("\n".join(values))
        elif len(names) == 1:
            self.found.ordered += [value for value in values if value.strip()]  # a whole subtree
        elif len(names) > 1 and values:
            self.found.ordered += [value for value in values if value.strip()]
            if len(left) == len(values) and all(value.strip() for value in values):
                for name, value in zip(left, values, strict=True):
                    self._add_bare(name, value)
        self.bare, self.call_errors = [], []

    def _add_bare(self, name: str, value: str) -> None:
        arrow = _BARE_ARROW.fullmatch(value.strip())
        if arrow is not None:
            self._add_change(name, arrow["old"], arrow["new"], self.call_line)
        else:
            self.found.entries.append(Entry(name, value, self.call_line))


def _is_one_value(name: str, lines: list[str]) -> bool:
    return len(lines) == 1 or (len(lines) > 1 and _MULTI_LINE.fullmatch(name) is not None)


def _trimmed(lines: list[str]) -> list[str]:
    """Without blank lines at the end and, where a table begins after one, at the start."""
    first, last = 0, len(lines)
    while last > first and not lines[last - 1].strip():
        last -= 1
    while first < last and not lines[first].strip():
        first += 1
    return lines[first:last]


def _ends_at_blank(name: str) -> bool:
    """Tables and a version end at a blank line; logs and lists may hold some."""
    return name in _TABLES or name in ("kern.version", "net.inet.tcp.hostcache.list")
