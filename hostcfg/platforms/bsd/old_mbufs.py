"""``netstat -m`` in the form of 4.4BSD: macOS, NetBSD, OpenBSD, DragonFly and older Junos.

::

    484/1238 mbufs in use:
            244 mbufs allocated to data
    240/1004 mbuf 2KB clusters in use
    0/8/6144 mbuf 4096 byte clusters in use (current/peak/max)
    7549 KB allocated to network (8.1% in use)
    0 requests for memory denied

Sources: usr.bin/netstat/mbuf.c of NetBSD, OpenBSD and DragonFly, network_cmds/netstat.tproj/mbuf.c
of macOS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.platforms.bsd.mbufs import Row, read_rows

if TYPE_CHECKING:
    import re

    from hostcfg.model import Json

_PERCENT = regex(r"(?:approx\. )?([0-9]{1,3})(\.[0-9]{1,3})?% (?:of mb_map )?in use")
_SIZED = regex(r"mbuf ([0-9]{1,5})(kb| byte) clusters in use")
_TYPE = regex(r"mbufs allocated to [^:,=]{1,60}")
_PEAK = ("current", "peak", "max")
_COUNTERS = {
    "requests for memory denied": "requests_denied",
    "requests for memory delayed": "requests_delayed",
    "calls to drain routines": "drains",
    "calls to protocol drain routines": "drains",
    "kb returned to the system": "kbytes_returned",
}
_KBYTES = frozenset({"kb allocated to network", "kbytes allocated to network"})
_CLUSTERS = {"mbuf clusters in use": "clusters", "mbuf jumbo clusters in use": "jumbo_clusters"}

Values = dict[str, "Json"]


def read_old_mbufs(text: str) -> tuple[Values, list[str]]:
    """What the rows of ``text`` say, and the lines that are no such rows; never raises."""
    rows, rest = read_rows(text, lambda row: values_of(row) is not None)
    values: Values = {}
    for row in rows:
        for name, value in (values_of(row) or {}).items():
            known = values.get(name)
            if name == "types" and isinstance(known, dict) and isinstance(value, dict):
                known.update(value)
            else:
                values[name] = value
    return values, rest


def values_of(row: Row) -> Values | None:
    """What one row gives; None for a row of something else."""
    if row.kilo:
        return None
    words = row.words.replace("mbuf in use", "mbufs in use").replace("mbuf allocated", "mbufs allocated")
    if words == "mbufs in use":
        return _mbufs(row)
    sized = _SIZED.fullmatch(words)
    if sized is not None:
        return _sized(row, sized)
    if words in _CLUSTERS and row.labels in (_PEAK, ("current", "max")):
        return {_CLUSTERS[words]: dict(zip(row.labels, row.numbers, strict=True))}
    if words in ("mbuf cluster pages in use", "mapped pages in use"):
        return {"pages": dict(zip(row.labels or ("current", "total"), row.numbers, strict=False))}
    if words in _KBYTES:
        return _kbytes(row)
    if len(row.numbers) != 1 or row.note:
        return None
    if _TYPE.fullmatch(words):
        return {"types": {words.removeprefix("mbufs allocated to "): row.numbers[0]}}
    return {_COUNTERS[words]: row.numbers[0]} if words in _COUNTERS else None


def _mbufs(row: Row) -> Values | None:
    if row.labels == _PEAK or row.labels == ("current", "max"):
        return {"mbufs": dict(zip(row.labels, row.numbers, strict=True))}
    if row.note or len(row.numbers) > 2:
        return None
    return {"mbufs": dict(zip(("active", "total"), row.numbers, strict=False))}


def _sized(row: Row, sized: re.Match[str]) -> Values | None:
    """``mbuf 2KB clusters`` (macOS: in use and total), ``mbuf 2048 byte clusters`` (OpenBSD, labelled)."""
    if sized[2] == "kb":
        return (
            {f"clusters_{sized[1]}k": list(row.numbers)} if len(row.numbers) == 2 and not row.note else None
        )
    if row.labels != _PEAK:
        return None
    return {f"clusters_{sized[1]}": dict(zip(row.labels, row.numbers, strict=True))}


def _kbytes(row: Row) -> Values | None:
    if row.labels == _PEAK:
        return {"kbytes": dict(zip(row.labels, row.numbers, strict=True))}
    if len(row.numbers) != 1:
        return None
    percent = _PERCENT.fullmatch(row.note)
    if row.note and percent is None:
        return None
    values: Values = {"kbytes": row.numbers[0]}
    if percent is not None:
        values["percent_in_use"] = float(percent[1] + percent[2]) if percent[2] else int(percent[1])
    return values
