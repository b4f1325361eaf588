"""What tells a host from another: ``/proc/meminfo``, ``/etc/os-release`` and ``uname``.

Samples::

    MemTotal:        2038304 kB
    PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
    Linux host1 6.1.0-13-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29) x86_64 GNU/Linux
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.parsers.text import BLANKS, clean, head, prompted, share

if TYPE_CHECKING:
    from hostcfg.model import Json

_MEMORY = regex(r"(?P<name>[A-Z][\w()]{1,40}):[ \t]+(?P<value>[0-9]{1,16})(?P<unit> kB)?")
_RELEASE = regex(r"(?P<name>[A-Z][A-Z0-9_]{1,60})=(?P<raw>.*)")
_VERSION = regex(r"[0-9]{1,3}\.[0-9]{1,5}[\w.+~-]{0,100}")
# "6.1.0-13-amd64" alone: FreeBSD's have no third number, Darwin's a first one of two digits.
_ALONE = regex(r"[2-9]\.[0-9]{1,3}\.[0-9]{1,5}[\w.+~-]{0,100}")
_MACHINES = regex(
    r"(?:x86_64|i[3-6]86|aarch64|arm\w*|ppc\w*|s390x?|mips\w*|riscv\w*|loongarch\w*|sparc\w*|alpha|ia64)"
)


def parse_meminfo(text: str) -> Parsed:
    """Amounts in **bytes** (the file has kB, which are KiB: proc_meminfo(5)); counts of pages as they are."""
    values: dict[str, Json] = {}
    unrecognized: list[str] = []
    for stripped in _live(text):
        found = _MEMORY.fullmatch(stripped)
        if found is None or found["name"] in values:
            unrecognized.append(stripped)
            continue
        values[found["name"]] = int(found["value"]) * (1 if found["unit"] is None else 1024)
    return Parsed("linux", "meminfo", "cat /proc/meminfo", values, (), unrecognized)


def parse_os_release(text: str) -> Parsed:
    """The variables as the shell would read them: os-release(5)."""
    values: dict[str, Json] = {}
    unrecognized: list[str] = []
    for stripped in _live(text):
        found = _RELEASE.fullmatch(stripped)
        words = None if found is None else _words(found["raw"])
        if found is None or words is None or len(words) > 1:
            if not stripped.startswith("#"):
                unrecognized.append(stripped)
            continue
        values[found["name"]] = words[0] if words else ""
    return Parsed("linux", "os-release", "cat /etc/os-release", values, (), unrecognized)


def parse_uname(text: str) -> Parsed:
    """``uname -a``, ``-sr``, ``-srm`` or ``-r``: ``release`` and what else was printed."""
    values: dict[str, Json] = {}
    unrecognized: list[str] = []
    for stripped in _live(text):
        got = _uname(stripped) if not values else None
        if got is None:
            unrecognized.append(stripped)
        else:
            values = got
    return Parsed("linux", "uname", "uname -a", values, (), unrecognized)


def _live(text: str) -> list[str]:
    lines = (line.strip(BLANKS) for line in clean(text).split("\n"))
    return [line for line in lines if line and prompted(line) is None]


def _words(raw: str) -> list[str] | None:
    if len(raw) > 1_000:
        return None
    try:
        return shlex.split(raw)
    except ValueError:  # a quote is left open: the line is cut
        return None


def _uname(line: str) -> dict[str, Json] | None:
    words = line.split()
    if len(words) == 1 and _ALONE.fullmatch(words[0]):
        return {"release": words[0]}
    if len(words) < 2 or words[0] != "Linux" or len(line) > 500:
        return None
    values: dict[str, Json] = {"sysname": "Linux"}
    at = 1 if _VERSION.fullmatch(words[1]) and not (len(words) > 2 and _VERSION.fullmatch(words[2])) else 2
    if len(words) <= at or not _VERSION.fullmatch(words[at]):
        return None
    if at == 2:
        values["nodename"] = words[1]
    values["release"] = words[at]
    rest = words[at + 1 :]
    if rest and rest[-1] == "GNU/Linux":
        values["operating_system"] = rest.pop()
    machines = [index for index, word in enumerate(rest) if _MACHINES.fullmatch(word)]
    if machines:
        values["machine"] = rest[machines[0]]
        rest = rest[: machines[0]]
    if rest:
        values["version"] = " ".join(rest)
    return values


def recognize_meminfo(text: str) -> int:
    """97 for lines ``Name:  N kB`` with ``MemTotal`` among them."""
    lines = [line.strip(BLANKS) for line in head(text)]
    matching = [line for line in lines if _MEMORY.fullmatch(line)]
    return share(len(matching), lines, 97) if any(line.startswith("MemTotal:") for line in matching) else 0


def recognize_os_release(text: str) -> int:
    """95 for shell variables with ``ID`` and ``NAME`` among them, as on Linux."""
    lines = [line.strip(BLANKS) for line in head(text)]
    matching = [line for line in lines if _RELEASE.fullmatch(line)]
    names = {line.partition("=")[0] for line in matching}
    if not {"ID", "NAME"} <= names or any("freebsd" in line.lower() for line in matching):
        return 0
    return share(len(matching), lines, 95)


def recognize_uname(text: str) -> int:
    """96 for a line that begins with ``Linux`` and has a kernel's version, 40 for a version alone."""
    lines = [line.strip(BLANKS) for line in head(text)]
    ceiling = 96 if any(line.startswith("Linux ") for line in lines) else 40
    return share(sum(_uname(line) is not None for line in lines), lines, ceiling)


SYSTEM = (
    Parser("meminfo", "linux", "cat /proc/meminfo", recognize_meminfo, parse_meminfo),
    Parser("os-release", "linux", "cat /etc/os-release", recognize_os_release, parse_os_release),
    Parser("uname", "linux", "uname -a", recognize_uname, parse_uname),
)
