"""What sysctl(8) complains about, on FreeBSD, macOS, NetBSD, OpenBSD and DragonFly.

::

    sysctl: unknown oid 'net.inet.tcp.nosuch' at line 5
    sysctl: oid 'net.inet.tcp.tcbhashsize' is a read only tunable
    sysctl: Tunable values are set in /boot/loader.conf
    sysctl: kern.ipc.maxsockbuf=1000: Invalid argument
    sysctl: second level name maxsockbuf in kern.maxsockbuf is invalid

Source: sbin/sysctl/sysctl.c of each system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex

if TYPE_CHECKING:
    from hostcfg.model import Json

_PREFIX = regex(r"(?:/[\w./-]*/)?sysctl: (?P<message>.*)")
_AT_LINE = regex(r" at line (?P<line>[0-9]+)(?=$|:)")
_MORE = "Tunable values are set in /boot/loader.conf"
_USAGE = regex(r"usage: (?:\S{0,64}/)?sysctl \[.*")
_USAGE_MORE = regex(r"\s{1,16}sysctl \[-.*")

_ERRNO_KINDS = {
    "Operation not permitted": "permission",
    "Permission denied": "permission",
    "Result too large": "range",
    "Numerical result out of range": "range",
    "Invalid argument": "invalid_argument",
    "No such process": "unavailable",
    "No such file or directory": "unknown_oid",
    "Read-only file system": "read_only",
    "Device busy": "busy",
    "Cannot allocate memory": "memory",
    "Operation not supported": "unsupported",
    "Not a directory": "unknown_oid",
}

_LEVEL = r"(?:top|second|third|fourth|fifth) level name"
_NUMBER = r"(?:unsigned )?(?:integer|long|u?int[0-9]+_t|value)"
_TEXT = r"(?P<text>[A-Z][\w /-]+)"
_BARE = regex(rf"(?P<message>{_LEVEL} \S{{1,128}} in \S{{1,256}} is invalid)")
"""Older macOS and NetBSD complain without saying who does."""
_SHAPES = tuple(
    (regex(shape), kind)
    for shape, kind in (
        (r"unknown oid '(?P<name>[^']*)'(?:: .*)?", "unknown_oid"),
        (r"oid '(?P<name>[^']*)' is a read only tunable", "loader_tunable"),
        (r"oid '(?P<name>[^']*)' is read only", "read_only"),
        (r"oid '(?P<name>[^']*)' isn't a leaf node", "not_a_leaf"),
        (r"oid '(?P<name>[^']*)' is type (?P<value>[0-9]+), cannot set that", "not_settable"),
        (r"couldn't find format of oid '(?P<name>[^']*)'.*", "unreadable"),
        (rf"{_LEVEL} '?\S+?'? in '?(?P<name>[^\s']+)'? is invalid", "unknown_oid"),
        (rf"invalid {_NUMBER} '(?P<value>[^']*)'", "invalid_value"),
        (r"empty numeric value", "empty_value"),
        (rf"(?P<name>[A-Za-z_][^\s=:]*)[=:](?P<value>.*): {_TEXT}", ""),
        (rf"(?P<name>[A-Za-z_][^\s=:]*): {_TEXT}", ""),
        (rf"(?P<file>/\S+|-): {_TEXT}", "file"),
        (r"illegal option -- \S+", "usage"),
        (r"Can't set variables when using -T or -W", "usage"),
    )
)


@dataclass(frozen=True, slots=True)
class SysctlError:
    """One complaint: the ``name`` it is about (None: not said), what ``kind``, and what was to be set.

    ``kind``: unknown_oid, permission, range, invalid_argument, unavailable (no such algorithm),
    loader_tunable, read_only, invalid_value, empty_value, not_a_leaf, not_settable, busy ...
    """

    name: str | None
    kind: str
    value: str | None = None
    text: str | None = None
    line: int | None = None

    def as_json(self) -> dict[str, Json]:
        """As ``hostcfg parse`` prints it under ``errors``: only what the message holds."""
        optional: dict[str, Json] = {"value": self.value, "text": self.text, "line": self.line}
        known = {key: value for key, value in optional.items() if value is not None}
        return {"name": self.name, "kind": self.kind, **known}


def is_second_line(line: str) -> bool:
    """Whether ``line`` only goes on with the complaint about a loader tunable, or with the usage."""
    if _USAGE_MORE.fullmatch(line):
        return True
    match = _PREFIX.fullmatch(line.strip())
    return match is not None and match["message"] == _MORE


def parse_error(line: str) -> SysctlError | None:
    """The complaint in one line; None if it is none that is known."""
    match = _PREFIX.fullmatch(line.strip()) or _BARE.fullmatch(line.strip())
    if _USAGE.fullmatch(line.strip()):
        return SysctlError(None, "usage")
    if match is None or len(line) > 4096:
        return None
    message = match["message"]
    at = _AT_LINE.search(message)
    number = int(at["line"]) if at and len(at["line"]) < 10 else None
    message = _AT_LINE.sub("", message)
    for shape, kind in _SHAPES:
        found = shape.fullmatch(message)
        if found is not None:
            return _from_match(found.groupdict(), kind, number)
    return None


def _from_match(groups: dict[str, str | None], kind: str, line: int | None) -> SysctlError:
    text = groups.get("text")
    if not kind:
        kind = _ERRNO_KINDS.get(text or "", "other")
        if kind == "unknown_oid" and groups.get("value") is not None:
            kind = "unavailable"  # ENOENT of a set: the OID is there, the algorithm or stack is not
    return SysctlError(groups.get("name") or groups.get("file"), kind, groups.get("value"), text, line)
