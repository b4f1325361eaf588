"""``ip link show`` (also ``ip addr``, ``-s``, ``-d``) and ``ip [-d] -j link``: one row for each interface.

Sample::

    3: eth0.100@eth0: <BROADCAST,UP> mtu 1500 qdisc fq_codel state UP mode DEFAULT group default qlen 1000
        link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff

Rows have the field names of ``ip -j``, whichever form was printed.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
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

_HEADER = regex(
    r"(?P<ifindex>[0-9]{1,9}): (?P<ifname>[^\s@:]{1,64})(?:@(?P<link>\S{1,64}))?: "
    r"<(?P<flags>[A-Z0-9_,-]*)> (?P<rest>mtu [0-9]{1,10} .*)"
)
_ADDRESS = regex(
    r"link/(?P<link_type>\S+)(?: (?P<address>[0-9a-fA-F:.]+)(?: (?:brd|peer) (?P<broadcast>\S+))?)?"
    r"(?P<rest>.*)"
)
_INET = regex(r"inet6? (?P<address>[0-9a-fA-F.:]+(?:/[0-9]{1,3})?)(?: .*)?")
# Text word -> JSON name, for what stands behind the flags and in the details of -d.
_NAMES = {
    "mtu": "mtu",
    "qdisc": "qdisc",
    "master": "master",
    "state": "operstate",
    "mode": "linkmode",
    "group": "group",
    "qlen": "txqlen",
    "link-netns": "link_netns",
    "link-netnsid": "link_netnsid",
    "promiscuity": "promiscuity",
    "allmulti": "allmulti",
    "minmtu": "min_mtu",
    "maxmtu": "max_mtu",
    "numtxqueues": "num_tx_queues",
    "numrxqueues": "num_rx_queues",
    "gso_max_size": "gso_max_size",
    "gso_max_segs": "gso_max_segs",
    "tso_max_size": "tso_max_size",
    "tso_max_segs": "tso_max_segs",
    "gro_max_size": "gro_max_size",
}
# Words that mean something else below: "bond mode 802.3ad", "bridge_slave state forwarding".
_OF_HEADERS = frozenset({"mtu", "qdisc", "master", "operstate", "linkmode", "group", "txqlen"})
_NUMBERS = frozenset(_NAMES.values()) - {"qdisc", "master", "operstate", "linkmode", "group", "link_netns"}
# Lines of ip addr and of -s that say nothing about the link itself.
_OTHER = regex(r"(?:valid_lft |altname |alias |RX:|TX:|RX errors:|TX errors:|permaddr |[0-9\s]+$)")


def parse(text: str) -> Parsed:
    """``values.links``: the rows; ``links``: name, MTU, queue length, qdisc and state of each.

    What was not printed is null in ``links`` and missing in a row.
    """
    found = find_json(text)
    rows, unrecognized = _from_text(text) if found is None else _from_json(found)
    short: list[Json] = [
        [row.get("ifname"), row.get("mtu"), row.get("txqlen"), row.get("qdisc"), row.get("operstate")]
        for row in rows
    ]
    values: dict[str, Json] = {"links": list(rows)}
    return Parsed("linux", "ip-link", "ip link show", values, (), unrecognized, {"links": short})


def _from_text(text: str) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    unrecognized: list[str] = []
    row: Row | None = None
    lines = clean(text).split("\n")
    names = {header["ifname"] for line in lines if (header := _HEADER.fullmatch(line.strip(BLANKS)))}
    for line in lines:
        stripped = line.strip(BLANKS)
        if not stripped or prompted(stripped) is not None:
            continue
        header = _HEADER.fullmatch(stripped)
        new = None if header is None else _row(header)
        if new is not None:
            row = new
            rows.append(row)
        elif row is None or not _detail(stripped, row, names):
            unrecognized.append(stripped)
            if line[0] not in BLANKS or stripped.startswith("link/"):
                row = None  # a header is lost: what follows belongs to nobody
    return rows, unrecognized


def _row(header: re.Match[str]) -> Row | None:
    row: Row = {"ifindex": int(header["ifindex"]), "ifname": header["ifname"]}
    under = header["link"]
    if under is not None and re.fullmatch(r"if[0-9]{1,9}", under):
        row["link_index"] = int(under[2:])
    elif under not in (None, "NONE"):
        row["link"] = under
    row["flags"] = [flag for flag in header["flags"].split(",") if flag]
    row |= _pairs(header["rest"])
    # busybox has no state: "mtu 1500 qdisc noqueue qlen 1000"
    ended = isinstance(row.get("operstate"), str) or "txqlen" in row
    return row if ended and isinstance(row.get("qdisc"), str) else None  # None: cut before its end


def _pairs(text: str) -> Row:
    got: Row = {}
    words = text.split()
    for word, after in pairwise(words):
        name = _NAMES.get(word)
        if name is None or name in got:
            continue
        value: Json = number(after) if name in _NUMBERS else after
        if value is not None:
            got[name] = value
    return got


def _detail(stripped: str, row: Row, names: set[str]) -> bool:
    """Takes an indented line into the row; False if it is not understood, or is another interface's."""
    address = _ADDRESS.fullmatch(stripped)
    inet = _INET.fullmatch(stripped)
    if address is not None:
        if "link_type" in row or not _fits(address, row):
            return False
        named = {name: value for name, value in address.groupdict().items() if name != "rest" and value}
        row |= named | _pairs(address["rest"])
        return True
    if inet is not None:
        if not _is_its_own(inet, row, names):
            return False
        addresses = row.setdefault("addresses", [])
        if isinstance(addresses, list):
            addresses.append(inet["address"])
        return True
    details = {name: value for name, value in _pairs(stripped).items() if name not in _OF_HEADERS}
    if not details.keys().isdisjoint(row):
        return False
    row |= details
    return bool(details) or _OTHER.match(stripped) is not None


def _fits(address: re.Match[str], row: Row) -> bool:
    """Whether a ``link/`` line is of the interface above it, as far as its flags say (print_linkinfo())."""
    flags = row["flags"]
    if "<" in address["rest"]:
        return False  # the next header is joined to it
    if not isinstance(flags, list) or ("LOOPBACK" in flags) != (address["link_type"] == "loopback"):
        return False
    return "link-netns" not in address["rest"] or "link_index" in row or "link" in row


def _is_its_own(inet: re.Match[str], row: Row, names: set[str]) -> bool:
    """Whether an address is of the interface above it: IPv4 ends in its label, ``lo`` or ``lo:1``."""
    flags = row["flags"]
    if inet["address"].startswith("::1/") and isinstance(flags, list) and "LOOPBACK" not in flags:
        return False
    label = inet[0].rpartition(" ")[2].partition(":")[0]
    return label == row["ifname"] or label not in names


def _from_json(found: Found) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    unrecognized = list(found.rest)
    for item in rows_of(found):
        if isinstance(item.get("ifname"), str) and whole(item.get("mtu")) is not None:
            rows.append(item)
        elif item:  # "ip -j link show dev X" of some releases prints {} for each other interface
            unrecognized.append(json.dumps(item, ensure_ascii=False))
    return rows, unrecognized


def recognize(text: str) -> int:
    """High for ``N: NAME: <FLAGS> mtu`` lines, or JSON objects with ifname and mtu."""
    found = find_json(text[:400_000])
    if found is not None:
        rows = [row for row in rows_of(found) if row]
        return 97 if rows and all({"ifname", "mtu", "flags"} <= row.keys() for row in rows) else 0
    lines = head(text)
    headers = [line for line in lines if _HEADER.fullmatch(line.strip(BLANKS))]
    followers = sum(line[0] in BLANKS for line in lines)
    return share(len(headers) + followers, lines, 96) if headers else 0


IP_LINK = Parser("ip-link", "linux", "ip link show", recognize, parse)
