"""``netstat -m`` of FreeBSD 4 to 15: text, and what ``--libxo json`` or ``xml`` prints.

::

    257/1018/1275 mbufs in use (current/cache/total)
    0/84/84/63496 4k (page size) jumbo clusters in use (current/cache/total/max)
    0/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)

Every group is in the result, None where this release does not print it.  Kilobyte figures are
truncated one by one and need not add up.  Source: usr.bin/netstat/mbuf.c of each release.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.bsd.mbufs import MBUFS_BEGIN, Row, parse_row, read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Json

_CCT = ("current", "cache", "total")
_CCTM = (*_CCT, "max")
_PEAK = ("current", "peak", "max")
_FAILS = {"mbufs": "mbufs", "clusters": "clusters", "mbuf+clusters": "mbuf_clusters"}

_POOLS: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "mbufs in use": ("mbufs", (_CCT, _PEAK)),
    "mbuf clusters in use": ("clusters", (_CCTM, _PEAK, ("current", "max"))),
    "mbuf+clusters out of packet secondary zone in use": ("packets", (("current", "cache"),)),
    "9k jumbo clusters in use": ("jumbo_9k", (_CCTM,)),
    "16k jumbo clusters in use": ("jumbo_16k", (_CCTM,)),
    "sfbufs in use": ("sfbufs", (_PEAK,)),
}
_PAGE_POOL = regex(r"[0-9]{1,3}k \[page size\] jumbo clusters in use")
_PAGE_LABEL = regex(r"[0-9]{1,3}k")
_COUNTERS = {
    "requests for sfbufs denied": "sfbufs_denied",
    "requests for sfbufs delayed": "sfbufs_delayed",
    "requests for i/o initiated by sendfile": "sendfile_io",
    "calls to protocol drain routines": "protocol_drains",
    "sendfile syscalls": "sendfile_syscalls",
    "sendfile syscalls completed without i/o request": "sendfile_no_io",
    "pages read by sendfile as part of a request": "pages_sent",
    "pages were valid at time of a sendfile request": "pages_valid",
    "pages were valid and substituted to bogus page": "pages_bogus",
    "pages were requested for read ahead by applications": "pages_requested_readahead",
    "pages were read ahead by sendfile": "pages_readahead",
    "times sendfile encountered an already busy page": "busy_encounters",
    "requests for memory denied": "requests_denied",
    "requests for memory delayed": "requests_delayed",
}
GROUPS = (
    "mbufs", "clusters", "packets", "jumbo_page", "jumbo_9k", "jumbo_16k", "kbytes", "denied", "delayed",
    "jumbo_delayed", "jumbo_denied", "sfbufs", *_COUNTERS.values(), "types",
)  # fmt: skip

_XO_POOLS = {
    "mbufs": ("mbuf-current", "mbuf-cache", "mbuf-total", None),
    "clusters": ("cluster-current", "cluster-cache", "cluster-total", "cluster-max"),
    "packets": ("packet-count", "packet-free", None, None),
    "jumbo_page": ("jumbo-count", "jumbo-cache", "jumbo-total", "jumbo-max"),
    "jumbo_9k": ("jumbo9-count", "jumbo9-cache", "jumbo9-total", "jumbo9-max"),
    "jumbo_16k": ("jumbo16-count", "jumbo16-cache", "jumbo16-total", "jumbo16-limit"),
    "kbytes": ("bytes-in-use", "bytes-in-cache", "bytes-total", None),
}
_XO_FAILS = {
    "denied": {"mbufs": "mbuf-failures", "clusters": "cluster-failures", "mbuf_clusters": "packet-failures"},
    "delayed": {"mbufs": "mbuf-sleeps", "clusters": "cluster-sleeps", "mbuf_clusters": "packet-sleeps"},
    "jumbo_delayed": {"page": "jumbop-sleeps", "9k": "jumbo9-sleeps", "16k": "jumbo16-sleeps"},
    "jumbo_denied": {"page": "jumbop-failures", "9k": "jumbo9-failures", "16k": "jumbo16-failures"},
    "sfbufs": {"current": "nsfbufs-current", "peak": "nsfbufs-peak", "max": "nsfbufs"},
}
_XO_COUNTERS = {
    "sfbufs_denied": "sfbufs-alloc-failed",
    "sfbufs_delayed": "sfbufs-alloc-wait",
    "sendfile_io": "sendfile-io-count",
    "sendfile_syscalls": "sendfile-syscalls",
    "sendfile_no_io": "sendfile-no-io",
    "pages_sent": "sendfile-pages-sent",
    "pages_valid": "sendfile-pages-valid",
    "pages_bogus": "sendfile-pages-bogus",
    "pages_requested_readahead": "sendfile-requested-readahead",
    "pages_readahead": "sendfile-readahead",
    "busy_encounters": "sendfile-busy-encounters",
}
_XML_FIELD = regex(r"<([a-z0-9-]{1,40})>([0-9]{1,19})</([a-z0-9-]{1,40})>")
_ROWS_SEEN = regex(
    r"/[0-9]{1,19} mbufs in use ?\(current/(?:cache|peak)"
    r"|/[0-9]{1,19} mbuf clusters in use ?\(current/(?:cache|max)"
    r"|mbuf\+clusters out of packet secondary zone|k (?:\(page size\) )?jumbo clusters in use"
    r"|bytes allocated to network ?\(current/cache"
    r"|requests for (?:mbufs|jumbo clusters|sfbufs) (?:denied|delayed)"
    r"|initiated by sendfile|\bmbuf cluster usage:|% of mb_map in use"
)
_JUNOS = regex(r"\b(?:9|16)k \(page size\) jumbo|show system buffers")
_XO = regex(r'"mbuf-statistics"|<mbuf-statistics>')


def recognize_netstat_m(text: str) -> int:
    """How surely ``text`` is FreeBSD's ``netstat -m``: 0 to 100."""
    if not any(word in text for word in ("mbuf", "jumbo", "sfbufs", "sendfile", "allocated to network")):
        return 0
    if _XO.search(text):
        return 100
    if _JUNOS.search(text):
        return 20
    joined = " ".join(text.split())  # rows may be wrapped anywhere
    seen = sum(1 for _, _ in zip(range(4), _ROWS_SEEN.finditer(joined), strict=False))
    return 0 if not seen else 80 + 5 * seen


def parse_netstat_m(text: str) -> Parsed:
    """The groups of ``netstat -m``; rows that are not whole go to ``unrecognized``."""
    if _XO.search(text):
        return _parsed(*_read_libxo(text))
    values, rest, notes = _read_text(text)
    return _parsed(values, rest, notes)


def _parsed(values: Mapping[str, Json], rest: list[str], notes: list[str]) -> Parsed:
    full: dict[str, Json] = dict.fromkeys(GROUPS) | dict(values)
    return Parsed("freebsd", "netstat-m", "netstat -m", full, notes, rest)


def group_of(row: Row) -> tuple[str, Json] | None:
    """The group that a row fills and what with; None for a row of something else."""
    if row.kilo != (row.words == "bytes allocated to network"):
        return None
    if row.kilo:
        return ("kbytes", _by_label(row)) if row.labels == _CCT else None
    if row.words.startswith("requests for ") and len(row.numbers) == 3:
        return _failures(row)
    if len(row.numbers) == 1 and not row.labels:
        return _single(row)
    words = row.words.replace("9k [page size]", "9k").replace("16k [page size]", "16k")
    pool = ("jumbo_page", (_CCTM,)) if _PAGE_POOL.fullmatch(words) else _POOLS.get(words)
    if pool is None or row.labels not in pool[1]:
        return None
    return pool[0], _by_label(row)


def _by_label(row: Row) -> dict[str, Json]:
    return dict(zip(row.labels, row.numbers, strict=True))


def _failures(row: Row) -> tuple[str, Json] | None:
    what, _, verb = row.words.removeprefix("requests for ").rpartition(" ")
    if verb not in ("denied", "delayed"):
        return None
    if what == "mbufs" and row.labels == tuple(_FAILS):
        return verb, dict(zip(_FAILS.values(), row.numbers, strict=True))
    page = row.labels[0] if row.labels else ""
    if what == "jumbo clusters" and _PAGE_LABEL.fullmatch(page) and row.labels[1:] == ("9k", "16k"):
        return f"jumbo_{verb}", dict(zip(("page", "9k", "16k"), row.numbers, strict=True))
    return None


def _single(row: Row) -> tuple[str, Json] | None:
    if row.words == "mbufs in use" and not row.note:
        return "mbufs", {"current": row.numbers[0]}  # 5.3 to 6.0
    if row.words == "kbytes allocated to network":
        return "kbytes", row.numbers[0]  # up to 6.0; the percentage is of the map's size
    kind, found, what = row.words.partition(" allocated to ")
    if found and kind in ("mbufs", "mbufs and mbuf clusters"):
        return "types", {what: row.numbers[0]}  # up to 6.0
    name = _COUNTERS.get(row.words)
    return (name, row.numbers[0]) if name is not None and not row.note else None


def _read_text(text: str) -> tuple[dict[str, Json], list[str], list[str]]:
    if "mbuf usage:" in text or "mbuf cluster usage:" in text:
        return _read_lists(text)
    rows, rest = read_rows(text, lambda row: group_of(row) is not None)
    values: dict[str, Json] = {}
    notes: list[str] = []
    for row in rows:
        found = group_of(row)
        if found is None:
            continue
        name, value = found
        types = values.get("types")
        if name == "types" and isinstance(types, dict) and isinstance(value, dict):
            types.update(value)
            continue
        if name in values and values[name] != value:
            notes.append(f"{name} is given more than once; the last row counts")
        values[name] = value
    return values, rest, notes


_LIST_TOTAL = regex(r"Total:\s+([0-9]{1,19})/([0-9]{1,19}) \(in use/in pool\)")
_LIST_MAX = regex(r"Maximum possible: ([0-9]{1,19})")
_LIST_OTHER = regex(
    r"(?:GEN|CPU #[0-9]+) (?:list|cache):\s+[0-9]+/[0-9]+ \(in use/in pool\)|[0-9]+% of \w+ map consumed"
    r"|Maximum number allowed on each CPU list: -?[0-9]+|Mbuf cache (?:high|low) watermark: [0-9]+"
    r"|Cluster cache (?:high|low) watermark: [0-9]+|Allocated mbuf types:|[0-9]+ mbufs allocated to .*"
)


def _read_lists(text: str) -> tuple[dict[str, Json], list[str], list[str]]:
    """FreeBSD 5.0 to 5.2: one list for each CPU, then the totals, for mbufs and for clusters."""
    values: dict[str, Json] = {}
    rest: list[str] = []
    group: dict[str, Json] | None = None
    for raw in text.splitlines():
        line = " ".join(raw[:8192].split())
        total, most = _LIST_TOTAL.fullmatch(line), _LIST_MAX.fullmatch(line)
        single = parse_row(line)
        if line in ("mbuf usage:", "mbuf cluster usage:"):
            group = {}
            values["mbufs" if line == "mbuf usage:" else "clusters"] = group
        elif total is not None and group is not None:
            group.update(current=int(total[1]), total=int(total[2]))
        elif most is not None and group is not None:
            group["max"] = int(most[1])
        elif single is not None and group_of(single) is not None:
            values.update([group_of(single) or ("", None)])
        elif line and not _LIST_OTHER.fullmatch(line):
            rest.append(line)
    return values, rest, []


def _read_libxo(text: str) -> tuple[dict[str, Json], list[str], list[str]]:
    start = (
        min(i for i in (text.find("{"), text.find("<mbuf-statistics>")) if i >= 0) if _XO.search(text) else 0
    )
    fields = _xml_fields(text) if text.startswith("<", start) else _json_fields(text[start:])
    if fields is None:
        return {}, [line[:200] for line in text.splitlines() if line.strip()], ["the JSON is cut or damaged"]
    values: dict[str, Json] = {}
    for group, names in _XO_POOLS.items():
        found = {label: fields[n] for label, n in zip(_CCTM, names, strict=True) if n in fields}
        values[group] = found or None
    for group, by_label in _XO_FAILS.items():
        found = {label: fields[n] for label, n in by_label.items() if n in fields}
        values[group] = found or None
    values |= {group: fields.get(name) for group, name in _XO_COUNTERS.items()}
    return values, [], []


def _json_fields(text: str) -> dict[str, Json] | None:
    try:
        document, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    found = document.get("mbuf-statistics") if isinstance(document, dict) else None
    if found is None and isinstance(document, dict):
        inner = document.get("statistics")
        found = inner.get("mbuf-statistics") if isinstance(inner, dict) else None
    if not isinstance(found, dict):
        return None
    return {k: int(v) for k, v in found.items() if str(v).isascii() and str(v).isdigit() and len(str(v)) < 20}


def _xml_fields(text: str) -> dict[str, Json]:
    return {m[1]: int(m[2]) for m in _XML_FIELD.finditer(text) if m[1] == m[3]}


NETSTAT_PARSER = Parser(
    "netstat-m", "freebsd", "netstat -m", recognize_netstat_m, parse_netstat_m, begins=MBUFS_BEGIN
)
