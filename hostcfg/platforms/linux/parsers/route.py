"""``ip route show`` and ``ip route get``, text and ``-j``: where a path leaves, and what its route fixes.

Samples::

    default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.7 metric 100 initcwnd 30
    198.51.100.9 via 192.0.2.1 dev eth0 src 192.0.2.7 uid 1000
        cache mtu 1400

A window, a congestion control or an initial window on a route overrides the host's own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.parsers.text import (
    BLANKS,
    clean,
    find_json,
    head,
    number,
    prompted,
    rows_of,
    share,
    whole,
)

if TYPE_CHECKING:
    from hostcfg.model import Json
    from hostcfg.platforms.linux.parsers.text import Found

    Row = dict[str, Json]

_NOWHERE = frozenset({"throw", "unreachable", "prohibit", "blackhole"})
_TYPES = _NOWHERE | {"unicast", "local", "broadcast", "multicast", "anycast"}
_DST = regex(
    r"default|[0-9]{1,3}(?:\.[0-9]{1,3}){0,3}(?:/[0-9]{1,2})?|[0-9a-fA-F]{0,4}:[0-9a-fA-F:.]{1,45}(?:/[0-9]{1,3})?"
)
# Text word -> name in a row, which is that of ip -j where it has one.
_WORDS = {
    "via": "gateway",
    "dev": "dev",
    "src": "prefsrc",
    "proto": "protocol",
    "scope": "scope",
    "table": "table",
    "congctl": "congctl",
    "from": "from",
    "nhid": "nhid",
    "pref": "pref",
    "features": "features",
    "rtt": "rtt",
    "rttvar": "rttvar",
    "rto_min": "rto_min",
    "expires": "expires",
}
_NUMBERS = frozenset(
    {"metric", "mtu", "window", "initcwnd", "initrwnd", "cwnd", "advmss", "ssthresh", "quickack", "hoplimit"}
    | {"fastopen_no_cookie", "uid", "reordering", "weight"}
)


def parse(text: str) -> Parsed:
    """``values.routes``: one row for each route; bytes, segments and packets as plain numbers."""
    found = find_json(text)
    rows, unrecognized = _from_text(text) if found is None else _from_json(found)
    return Parsed("linux", "ip-route", "ip route show", {"routes": list(rows)}, (), unrecognized)


def _from_text(text: str) -> tuple[list[Row], list[str]]:
    found: list[tuple[Row, str]] = []
    unrecognized: list[str] = []
    for line in clean(text).split("\n"):
        words = line.split()
        if not words or prompted(line) is not None:
            continue
        row = found[-1][0] if found and line[0] in BLANKS else None
        if words[0] == "cache" and row is not None:
            row |= _attributes(words[1:])
        elif words[0] == "nexthop" and row is not None and not _leads_alone(row):
            hops = row.setdefault("nexthops", [])
            if isinstance(hops, list):
                hops.append(_attributes(words[1:]))
        elif (new := _row(words)) is not None:
            found.append((new, line.strip(BLANKS)))
        else:
            unrecognized.append(line.strip(BLANKS))
    unrecognized += [line for row, line in found if not _leads_somewhere(row)]
    return [row for row, _ in found if _leads_somewhere(row)], unrecognized


def _leads_alone(row: Row) -> bool:
    """A route with a device, or of a type that leads nowhere, has no next hops below it."""
    return "dev" in row or row.get("type") in _NOWHERE


def _leads_somewhere(row: Row) -> bool:
    """A route without a device has next hops or a type that needs none."""
    return bool({"dev", "nexthops", "nhid"} & row.keys()) or row.get("type") in _NOWHERE


def _row(words: list[str]) -> Row | None:
    kind = words[0] if words and words[0] in _TYPES else None
    rest = words if kind is None else words[1:]
    if not rest or not _DST.fullmatch(rest[0]):
        return None
    row: Row = {"dst": rest[0]}
    if kind is not None:
        row["type"] = kind
    row |= _attributes(rest[1:])
    return row


def _attributes(words: list[str]) -> Row:
    row: Row = {}
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in ("onlink", "linkdown", "dead", "pervasive", "offload", "rt_offload"):
            row[word] = True
            continue
        if index < len(words) and words[index] in ("lock", "inet6", "inet"):
            if words[index] == "lock":
                row[f"{word}_lock"] = True
            index += 1
        value: Json = words[index] if index < len(words) else None
        if word in _NUMBERS:
            value = number(str(value))
        if value is not None and (word in _NUMBERS or word in _WORDS):
            row.setdefault(_WORDS.get(word, word), value)
            index += 1
    return row


def _from_json(found: Found) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    unrecognized = list(found.rest)
    for item in rows_of(found):
        if not isinstance(item.get("dst"), str):
            unrecognized.append(json.dumps(item, ensure_ascii=False))
            continue
        row = {name: value for name, value in item.items() if name != "metrics"}
        metrics = item.get("metrics")  # where ip -j keeps mtu, initcwnd and the like
        for group in metrics if isinstance(metrics, list) else ():
            if isinstance(group, dict):
                row |= {k: v for k, v in group.items() if whole(v) is not None or isinstance(v, str)}
        if "congestion" in row:
            row["congctl"] = row.pop("congestion")
        rows.append(row)
    return rows, unrecognized


def recognize(text: str) -> int:
    """High for lines that begin with a destination and name a device, or JSON objects with dst and dev."""
    found = find_json(text[:200_000])
    if found is not None:
        rows = rows_of(found)
        routes = sum("dst" in row and ("gateway" in row or _leads_somewhere(row)) for row in rows)
        return 96 if rows and routes == len(rows) else 0
    lines = head(text)
    rows_seen = [line for line in lines if line[0] not in BLANKS and _row(line.split())]
    followers = sum(line[0] in BLANKS and line.split()[:1] in (["cache"], ["nexthop"]) for line in lines)
    known = share(len(rows_seen) + followers, lines, 95)
    return known if rows_seen and any(" dev " in line for line in lines) else 0


IP_ROUTE = Parser("ip-route", "linux", "ip route show", recognize, parse)
