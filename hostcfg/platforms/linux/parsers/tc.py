"""``tc qdisc show``, with and without ``-s``, text and ``-j``.

Sample::

    qdisc fq_codel 110: dev eth0.2 parent 1:11 limit 1001p flows 1024 target 14.0ms interval 109.0ms ecn
     Sent 13233828 bytes 27281 pkt (dropped 0, overlimits 0 requeues 0)
     backlog 0b 0p requeues 0
      maxpacket 942 drop_overlimit 0 new_flow_count 14417 ecn_mark 0

With ``dev`` on tc's command line the device is not printed: it is null then.  Values with a unit
stay text as printed (``"14.0ms"``, ``"32Mb"``: tc has rounded them); JSON has exact numbers.
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
)

if TYPE_CHECKING:
    import re

    from hostcfg.model import Json
    from hostcfg.platforms.linux.parsers.text import Found

    Row = dict[str, Json]

_HEADER = regex(
    r"(?:deleted |added )?qdisc (?P<kind>[\w-]{1,32}) (?P<handle>[0-9a-f]{1,8}:)(?: \[?offloaded\]?)?"
    r"(?: dev (?P<dev>\S+))?(?P<place> root| ingress| clsact| parent (?P<parent>[0-9a-f:]{1,12}))?"
    r"(?P<options>(?: .*)?)"
)
_SENT = regex(
    r"Sent (?P<bytes>[0-9]{1,20}) bytes? (?P<packets>[0-9]{1,20}) pkts? "
    r"\(dropped (?P<drops>[0-9]{1,20}), overlimits (?P<overlimits>[0-9]{1,20}) "
    r"requeues (?P<requeues>[0-9]{1,20})\)"
)
_BACKLOG = regex(r"(?:rate \S+ \S+ )?backlog (?P<backlog>\S+) (?P<qlen>[0-9]{1,20})p requeues [0-9]{1,20}")
# "maxpacket 942 drop_overlimit 0", and of codel "ldelay 1.2ms"
_COUNTERS = regex(r"(?:[a-z][a-z0-9_]* [0-9][0-9A-Za-z.]{0,20}(?:[ ,]+|$)){1,32}")
_COUNTER = regex(r"([a-z][a-z0-9_]{0,40}) ([0-9][0-9A-Za-z.]{0,20})")
_CAKE_LINES = 40
_OPTION = regex(r"[A-Za-z_][\w-]*")
# Options whose value is a word.
_WITH_WORD = frozenset({"bandwidth", "ceil", "rate", "limit", "mode", "hw", "clockid", "default"})
# Options with a fixed number of values, and those with as many numbers as follow.
_LISTS = frozenset({"priomap", "weights", "map", "queues", "quanta", "delay", "loss", "base-time"})


def parse(text: str) -> Parsed:
    """``values.qdiscs``: one row for each queueing discipline; ``qdiscs``: kind, handle, device, place.

    A place is ``root`` or ``parent 1:11``.  ``stats`` are counters in bytes and packets.
    """
    found = find_json(text)
    rows, unrecognized = _from_text(text) if found is None else _from_json(found)
    short: list[Json] = [[row["kind"], row["handle"], row["dev"], row["place"]] for row in rows]
    values: dict[str, Json] = {"qdiscs": list(rows)}
    return Parsed("linux", "tc-qdisc", "tc qdisc show", values, (), unrecognized, {"qdiscs": short})


def _from_text(text: str) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    unrecognized: list[str] = []
    row: Row | None = None
    for line in clean(text).split("\n"):
        stripped = line.strip(BLANKS)
        header = _HEADER.fullmatch(stripped)
        if not stripped or prompted(stripped) is not None:
            continue
        if header is not None:
            row = _row(header)
            rows.append(row)
        elif row is None or not (_counted(stripped, row) or (line[0] in BLANKS and _of_cake(stripped, row))):
            unrecognized.append(stripped)
            if _SENT.match(stripped) or line[0] not in BLANKS:
                row = None  # a header is lost: what follows belongs to nobody
    return rows, unrecognized


def _row(header: re.Match[str]) -> Row:
    options = _options(header["options"].split())
    options.pop("refcnt", None)  # how many queues share it: no property
    return {
        "kind": header["kind"],
        "handle": header["handle"],
        "dev": header["dev"],
        "place": (header["place"] or "").strip(BLANKS) or None,
        "options": options,
    }


def _options(words: list[str]) -> dict[str, Json]:
    """``limit 10240p ecn`` -> ``{"limit": "10240p", "ecn": True}``; plain integers are numbers."""
    options: dict[str, Json] = {}
    index = 0
    while index < len(words):
        name = words[index].rstrip(":")
        index += 1
        if not _OPTION.fullmatch(name):
            continue  # the dashes of "ingress", a mark between brackets
        following: list[Json] = []
        while index < len(words) and (_is_value(words[index]) or (not following and name in _WITH_WORD)):
            following.append(_scalar(words[index]))
            index += 1
            if name not in _LISTS:
                break
        options[name] = True if not following else following if len(following) > 1 else following[0]
    return options


def _is_value(word: str) -> bool:
    return word[0].isdigit() or (word[0] == "-" and word[1:2].isdigit())


def _scalar(word: str) -> Json:
    got = number(word)
    return word if got is None else got


def _counted(stripped: str, row: Row) -> bool:
    """Takes a line of ``-s`` into the row's ``stats``; False if it is none, or a second one of its kind."""
    stats = row.get("stats")
    known: Row = stats if isinstance(stats, dict) else {}
    sent, backlog = _SENT.match(stripped), _BACKLOG.match(stripped)
    new: Row
    if sent is not None:
        new = {name: int(value) for name, value in sent.groupdict().items()}
    elif backlog is not None:
        size = number(backlog["backlog"].removesuffix("b"))
        new = {"backlog": backlog["backlog"] if size is None else size, "qlen": int(backlog["qlen"])}
    elif row["kind"] != "cake" and _COUNTERS.fullmatch(stripped.replace("(", "").replace(")", "")):
        # fq counts "throttled" twice, flows first and events second: the first one stays
        new = {name: _scalar(value) for name, value in _COUNTER.findall(stripped) if name not in known}
    else:
        return False
    if not new.keys().isdisjoint(known) or (row["kind"] == "noqueue" and any(map(_is_some, new.values()))):
        return False  # of another one: noqueue counts nothing
    row["stats"] = known | new
    return True


def _is_some(value: Json) -> bool:
    return isinstance(value, int) and value > 0


def _of_cake(stripped: str, row: Row) -> bool:
    """cake prints a table, one column for each tin: its lines are kept as they are, in ``details``."""
    details = row.setdefault("details", []) if row["kind"] == "cake" else None
    if not isinstance(details, list) or len(details) >= _CAKE_LINES:
        return False
    details.append(stripped)
    return True


def _from_json(found: Found) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    unrecognized = list(found.rest)
    for item in rows_of(found):
        kind, handle, options = item.get("kind"), item.get("handle"), item.get("options")
        if not isinstance(kind, str) or not isinstance(handle, str):
            unrecognized.append(json.dumps(item, ensure_ascii=False))
            continue
        parent = item.get("parent")
        place: Json = (
            "root" if item.get("root") is True else f"parent {parent}" if parent is not None else None
        )
        dev = item.get("dev")
        row: Row = {
            "kind": kind,
            "handle": handle,
            "dev": dev if isinstance(dev, str) else None,
            "place": place,
            "options": _flags(options) if isinstance(options, dict) else {},
        }
        known = {"kind", "handle", "dev", "root", "parent", "options", "refcnt", "offloaded", "ingress"}
        stats: Row = {name: value for name, value in item.items() if name not in known}
        if stats:
            row["stats"] = stats
        rows.append(row)
    return rows, unrecognized


def _flags(options: dict[str, Json]) -> dict[str, Json]:
    """tc prints a flag that is set as null, and some names with a blank at their end."""
    return {name.strip(): True if value is None else value for name, value in options.items()}


def recognize(text: str) -> int:
    """High for lines that begin with ``qdisc KIND HANDLE:``, or JSON objects with a kind and a handle."""
    found = find_json(text[:200_000])
    if found is not None:
        rows = rows_of(found)
        return (
            97 if rows and all("kind" in row and "handle" in row and "options" in row for row in rows) else 0
        )
    lines = head(text)
    headers = [line for line in lines if _HEADER.fullmatch(line.strip(BLANKS))]
    followers = sum(line.startswith(" ") for line in lines)
    return share(len(headers) + followers, lines, 96) if headers else 0


TC_QDISC = Parser("tc-qdisc", "linux", "tc qdisc show", recognize, parse)
