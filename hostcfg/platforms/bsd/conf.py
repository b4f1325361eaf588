"""Files that set values at boot: sysctl.conf, loader.conf and rc.conf.

::

    kern.ipc.maxsockbuf=16777216        # sysctl.conf: "=" or ":", one pair of quotes is stripped
    net.inet.icmp.icmplim: 400
    cc_htcp_load="YES"                  # loader.conf and rc.conf: shell-like
    ==> /etc/sysctl.conf.local <==      # what tail(1) and the probe print before each file

Sources: sysctl.conf(5), sbin/sysctl/sysctl.c (parsefile), loader.conf(5).
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from hostcfg.lean import dataclass, regex

Loader = Literal["sysctl", "loader", "rc"]

MAX_LINE = 8192

_HEADER = regex(r"==> (?P<path>\S.*) <==")
_CAT = regex(r"\$ (?:sudo |doas )?(?:cat|more|less|tail|head)\s(?:.*\s)?(?P<path>/?[\w./-]*\.(?:conf|local))")
_SYSCTL = regex(r"(?P<name>[A-Za-z_][\w.%+@,-]*\.[\w.%+@,-]*)\s*[=:]\s*(?P<value>.*)")
_LOADER = regex(r"(?P<name>[A-Za-z_][\w.%-]*)\s*=\s*(?P<value>.*)")
_SHELL = regex(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)")
_FORMS = {"sysctl": _SYSCTL, "loader": _LOADER, "rc": _SHELL}
_COMMENTED = regex(r"#+\s{0,8}(?P<name>[a-z_][\w%]*(?:\.[\w%]+)+)\s{0,8}=\s{0,8}(?P<value>[^\s=]+)")


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment of one file, as the loader will read it; ``line`` from 1 within the file."""

    name: str
    value: str
    path: str
    line: int


@dataclass(slots=True)
class ConfText:
    """Assignments in order, names that are only commented out, and lines that are neither."""

    assignments: list[Assignment] = field(default_factory=list)
    commented: list[str] = field(default_factory=list)
    unrecognized: list[str] = field(default_factory=list)

    def winners(self) -> dict[str, Assignment]:
        """The last assignment of each name: a later one wins."""
        return {found.name: found for found in self.assignments}

    def duplicates(self) -> dict[str, list[Assignment]]:
        """Names that are assigned more than once, with every assignment in order."""
        by_name: dict[str, list[Assignment]] = {}
        for found in self.assignments:
            by_name.setdefault(found.name, []).append(found)
        return {name: found for name, found in by_name.items() if len(found) > 1}


def read_conf(text: str, loader: Loader, default_path: str) -> ConfText:
    """The assignments that ``loader`` would make of ``text``; never raises.

    ``default_path`` names the file where no ``==> path <==`` line and no typed ``cat`` does.
    """
    found = ConfText()
    path, first = default_path, 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        header = _HEADER.fullmatch(line) or _CAT.fullmatch(line)
        if len(raw) > MAX_LINE:
            found.unrecognized.append(raw[:200])
        elif header is not None:
            path, first = header["path"], number
        elif line.startswith("$ "):
            continue  # another command that was typed
        elif line.startswith("#"):
            commented = _COMMENTED.match(line)
            if commented is not None:
                found.commented.append(commented["name"])
        elif line:
            _read_line(found, line, loader, path, number - first)
    assigned = {assignment.name for assignment in found.assignments}
    found.commented = [name for name in dict.fromkeys(found.commented) if name not in assigned]
    return found


def _read_line(found: ConfText, line: str, loader: Loader, path: str, number: int) -> None:
    text = _without_comment(line, quotes_protect=loader != "sysctl")
    match = _FORMS[loader].fullmatch(text)
    value = _unquoted(match["value"], loader) if match is not None else None
    if match is None or value is None:
        found.unrecognized.append(line)
    else:
        found.assignments.append(Assignment(match["name"], value, path, number))


def _without_comment(line: str, *, quotes_protect: bool) -> str:
    """``line`` up to its comment; ``\\#`` is a plain ``#``.

    sysctl(8) ends a line at any ``#`` (parsefile in sysctl.c); the loader and sh spare quoted ones.
    """
    kept: list[str] = []
    quoted = False
    index = 0
    while index < len(line):
        char = line[index]
        if line.startswith("\\#", index):
            kept.append("#")
            index += 2
            continue
        if char == '"':
            quoted = not quoted
        elif char == "#" and not (quoted and quotes_protect):
            break
        kept.append(char)
        index += 1
    return "".join(kept).strip()


def _unquoted(value: str, loader: Loader) -> str | None:
    """Without its pair of quotes; None where a quote is left open or text follows it."""
    value = value.strip()
    for quote in "\"'":
        if not value.startswith(quote):
            continue
        if len(value) > 1 and value.endswith(quote) and quote not in value[1:-1]:
            return value[1:-1]
        return None
    if loader != "sysctl" and any(char in value for char in " \t"):
        return None
    return value
