"""The line grammar of sysctl.conf(5) and sysctl.d(5) files, as each boot-time loader reads it.

The loaders agree on ``key = value`` and differ on nearly everything else: marks in front of a key,
globs, continuation lines, dots in interface names.  What is here was read in their sources
(systemd ``src/sysctl/sysctl.c``, procps ``src/sysctl.c``, busybox ``procps/sysctl.c`` and
``libbb/parse_config.c``) and holds against the recorded ``conf-probe`` experiments.

Sample lines::

    net.core.rmem_max = 16777216            # every loader takes "16777216            # ..." as value
    -net.ipv4.tcp_fack = 0                  ignore errors: systemd, procps from 3.3.16
    net.ipv4.conf.*.rp_filter = 2           glob: systemd, procps from 4.0.0
    -net.ipv4.conf.all.rp_filter            keeps globs off this key: the same two
    net/ipv4/conf/eth0.100/rp_filter = 1    the first separator says what a dot means
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass, regex

if TYPE_CHECKING:
    from collections.abc import Iterator

Loader = Literal["systemd-sysctl", "procps", "busybox", "generic"]

# What a loader strips from both ends; never Python's own idea, which counts NBSP as a space.
_BLANKS = " \t\n\r\v\f"
_SWAP = str.maketrans("./", "/.")
_GLOB = regex(r"[*?\[]")
# Names below /proc/sys: the kernel's own are ASCII words; an interface name may hold anything but
# white space and a slash (dev_valid_name in net/core/dev.c), so only the first part is checked.
_KEY = regex(r"[A-Za-z0-9_*?\[][A-Za-z0-9_*?\[\]{},^!-]*(?:/[^\s/\ufeff]+)*")
_PER_INTERFACE = regex(r"(net/ipv[46]/(?:conf|neigh))/(.+)/([^/]+)")


@dataclass(frozen=True, slots=True)
class Assignment:
    """One line that the loader understood.

    ``key`` is normalised as ``sysctl -a`` prints it: parts parted by dots, a dot within a part
    written as a slash (``net.ipv4.conf.eth0/100.rp_filter``).  ``raw`` is the value as the loader
    would write it: stripped at both ends, quotes and trailing comments included.  ``line`` counts
    from 1.  ``exclude``: the line is ``-key`` without a value; it keeps globs off that key.
    """

    key: str
    raw: str
    line: int
    ignore_errors: bool = False
    glob: bool = False
    exclude: bool = False


@dataclass(frozen=True, slots=True)
class Conf:
    """A file as one loader reads it: its assignments in order, and the lines that it can't use."""

    assignments: tuple[Assignment, ...]
    not_understood: tuple[tuple[int, str], ...]


def assignments(text: str, loader: Loader = "generic", version: tuple[int, ...] | None = None) -> Conf:
    """What ``loader`` of ``version`` (None: a current one) makes of the lines of ``text``.

    ``generic`` is the common reading for a file whose loader is not known: globs, exclusions and
    the ``-`` mark are understood, continuation lines are not.  Never raises.
    """
    found: list[Assignment] = []
    bad: list[tuple[int, str]] = []
    for number, line in _lines(text, loader):
        stripped = line.strip(_BLANKS)
        if not stripped or _is_comment(stripped, loader, version):
            continue
        got = _assignment(stripped, number, loader, version)
        if got is None:
            bad.append((number, stripped))
        else:
            found.append(got)
    return Conf(tuple(found), tuple(bad))


def key_to_path(key: str) -> str:
    """``key`` as a path below /proc/sys: ``net.ipv4.conf.eth0/100.mtu`` -> ``net/ipv4/conf/eth0.100/mtu``.

    A key whose first separator is a slash already is a path and comes back as it is (procps
    ``slashdot()``, systemd ``sysctl_normalize()``).
    """
    first = re.search(r"[./]", key)
    return key.translate(_SWAP) if first and first[0] == "." else key


def path_to_key(path: str) -> str:
    """A path below /proc/sys as ``sysctl -a`` prints it; the inverse of :func:`key_to_path`."""
    return path.translate(_SWAP)


def _lines(text: str, loader: Loader) -> Iterator[tuple[int, str]]:
    if loader == "systemd-sysctl":  # read_line() also ends a line at a lone CR and at NUL
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\n")
    rows = text.split("\n")
    if loader != "busybox":
        yield from enumerate(rows, 1)
        return
    start, parts = 1, []
    for number, row in enumerate(rows, 1):
        # A backslash at the very end joins the next line, in comments too.
        if row.endswith("\\"):
            parts.append(row[:-1])
            continue
        yield start, "".join([*parts, row])
        start, parts = number + 1, []
    if parts:
        yield start, "".join(parts)


def _is_comment(stripped: str, loader: Loader, version: tuple[int, ...] | None) -> bool:
    if loader == "systemd-sysctl" and version is not None and version >= (262,):
        return stripped[0] == "#"  # recorded: ";" is a comment for 247 and 252, and is none for 262
    if loader == "procps" and len(stripped) < 2:
        return True  # procps passes over one lone character without a word
    return stripped[0] in "#;"


def _assignment(
    stripped: str, number: int, loader: Loader, version: tuple[int, ...] | None
) -> Assignment | None:
    name, equals, value = stripped.partition("=")
    marked = name.startswith("-") and _knows_mark(loader, version)
    if marked:
        name = name[1:]
    if not equals and not (marked and _knows_globs(loader, version)):
        return None
    # procps strips after it has taken the mark, and only the right end: "- key" has a blank in front.
    name = name.rstrip(_BLANKS) if loader == "procps" else name.strip(_BLANKS)
    key = _normalised(name, loader, version)
    raw = value.strip(_BLANKS)
    glob = key is not None and _GLOB.search(key) is not None
    if key is None or (glob and not _knows_globs(loader, version)):
        return None
    if equals and not raw and not _takes_empty(loader, version):
        return None
    return Assignment(key, raw, number, marked and bool(equals), glob, exclude=not equals)


def _knows_mark(loader: Loader, version: tuple[int, ...] | None) -> bool:
    if loader == "procps":
        return version is None or version >= (3, 3, 16)
    return loader != "busybox"


def _knows_globs(loader: Loader, version: tuple[int, ...] | None) -> bool:
    if loader == "procps":
        return version is None or version >= (4,)
    return loader != "busybox"


def _takes_empty(loader: Loader, version: tuple[int, ...] | None) -> bool:
    """Whether ``key =`` leads to a write (of nothing) instead of a complaint about the line."""
    if loader == "procps":
        return version is None or version >= (4,)
    return loader != "busybox"


def _normalised(name: str, loader: Loader, version: tuple[int, ...] | None) -> str | None:
    """The key that ``name`` stands for, or None where no sysctl can have that name."""
    path = _busybox_path(name, version) if loader == "busybox" else key_to_path(name)
    if loader in ("procps", "busybox") and path.endswith("/"):
        return None  # recorded: "Not a directory", "Is a directory"
    if loader == "busybox" and path.startswith("/"):
        return None  # busybox opens the name itself, below its working directory /proc/sys
    path = re.sub(r"/{2,}", "/", path).strip("/")
    return path_to_key(path) if _KEY.fullmatch(path) else None


def _busybox_path(name: str, version: tuple[int, ...] | None) -> str:
    """busybox replaces as few dots as lead to an existing file, so an interface keeps its own.

    Until 1.30 a slash was never taken for a dot (recorded); 1.35 swaps them as the others do.
    """
    swaps = version is None or version >= (1, 31)
    path = key_to_path(name) if swaps else name.replace(".", "/")
    inner = _PER_INTERFACE.fullmatch(path)
    if inner is None or (not swaps and "/" in name and "." in name.partition("/")[0]):
        return path
    return f"{inner[1]}/{inner[2].replace('/', '.')}/{inner[3]}"
