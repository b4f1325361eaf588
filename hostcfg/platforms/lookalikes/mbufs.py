"""mbuf statistics of NetBSD, OpenBSD, DragonFly, Junos and RTEMS.

::

    36/112/6144 mbuf 2048 byte clusters in use (current/peak/max)      OpenBSD
    0/0/0/18482 9k (page size) jumbo clusters in use (...)             Junos, "show system buffers"
    397 mbufs allocated to fxp data (rx)                               Junos, older
    mbufs:4096    clusters: 256    free: 241                           RTEMS
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.bsd.old_mbufs import read_old_mbufs

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostcfg.model import Json

_CLASSIC = regex(r"\b[0-9]{1,19} mbufs? in use:|mbufs? allocated to |requests for memory (?:denied|delayed)")
_OPENBSD = regex(
    r"mbuf [0-9]{1,5} byte clusters in use|\b1 mbuf (?:in use|allocated)|mbuf cluster pages in use"
)
_NETBSD = regex(r"mapped pages in use")
_DRAGONFLY = regex(r"mbuf jumbo clusters in use|mbufs and mbuf clusters allocated to")
_JUNOS = regex(
    r"\b(?:9|16)k \(page size\) jumbo|show system buffers|mbufs allocated to (?:pfe|fxp|em0|ttp|rpio)\b"
)
_MACOS = regex(
    r"mbuf [0-9]{1,5}KB clusters in use|KB returned to the system|allocated to (?:caches|packet tags)"
)
_FREEBSD_4 = regex(r"% of mb_map in use")
_RTEMS = regex(r"\*{4,} MBUF STATISTICS \*{4,}")
_RTEMS_PAIR = regex(r"([a-z]{1,12}):\s{0,8}([0-9]{1,19})")
_SCAN = 1 << 20


def _classic(text: str) -> bool:
    return _CLASSIC.search(text) is not None and not _MACOS.search(text) and not _JUNOS.search(text)


def _recognize_openbsd(text: str) -> int:
    text = text[:_SCAN]
    return 92 if _classic(text) and _OPENBSD.search(text) else 0


def _recognize_dragonfly(text: str) -> int:
    text = text[:_SCAN]
    return 92 if _DRAGONFLY.search(text) and not _JUNOS.search(text) else 0


def _recognize_netbsd(text: str) -> int:
    text = text[:_SCAN]
    if not _classic(text) or _OPENBSD.search(text) or _DRAGONFLY.search(text) or _FREEBSD_4.search(text):
        return 0
    return 92 if _NETBSD.search(text) else 60


def _recognize_junos(text: str) -> int:
    return 96 if _JUNOS.search(text[:_SCAN]) and "mbufs" in text[:_SCAN] else 0


def _recognize_rtems(text: str) -> int:
    return 100 if _RTEMS.search(text[:_SCAN]) else 0


def _parse_classic(os: str, command: str) -> Callable[[str], Parsed]:
    def parse(text: str) -> Parsed:
        values, rest = read_old_mbufs(text)
        found: dict[str, Json] = {"format": os, "mbufs": None, "clusters": None, "kbytes": None}
        return Parsed(os, "netstat-m", command, found | values, (), rest)

    return parse


def _parse_junos(text: str) -> Parsed:
    from hostcfg.platforms.freebsd.netstat import parse_netstat_m  # Junos is FreeBSD underneath

    parsed = parse_netstat_m(text)
    values = {"format": "junos"} | dict(parsed.values)
    rest = [line for line in parsed.unrecognized if not line.startswith("show system buffers")]
    return Parsed("junos", "netstat-m", "show system buffers", values, parsed.notes, rest)


def _parse_rtems(text: str) -> Parsed:
    """Every ``name: number`` pair; the first rows are the pool, the later ones the types of mbufs."""
    pool: dict[str, Json] = {}
    types: dict[str, Json] = {}
    rest: list[str] = []
    for line in text.splitlines():
        pairs = _RTEMS_PAIR.findall(line[:8192])
        if not pairs and line.strip() and not _RTEMS.search(line):
            rest.append(line.strip()[:8192])
        into = pool if any(name in ("mbufs", "drops") for name, _ in pairs) else types
        into.update((name, int(number)) for name, number in pairs)
    values: dict[str, Json] = {
        "format": "rtems",
        "mbufs": {"total": pool.get("mbufs")},
        "clusters": {"total": pool.get("clusters"), "free": pool.get("free")},
        "requests_denied": pool.get("drops"),
        "requests_delayed": pool.get("waits"),
        "drains": pool.get("drains"),
        "types": types,
    }
    return Parsed("rtems", "netstat-m", "netstats", values, (), rest)


MBUF_PARSERS = (
    Parser("netstat-m", "netbsd", "netstat -m", _recognize_netbsd, _parse_classic("netbsd", "netstat -m")),
    Parser("netstat-m", "openbsd", "netstat -m", _recognize_openbsd, _parse_classic("openbsd", "netstat -m")),
    Parser(
        "netstat-m",
        "dragonfly",
        "netstat -m",
        _recognize_dragonfly,
        _parse_classic("dragonfly", "netstat -m"),
    ),
    Parser("netstat-m", "junos", "show system buffers", _recognize_junos, _parse_junos),
    Parser("netstat-m", "rtems", "netstats", _recognize_rtems, _parse_rtems),
)
