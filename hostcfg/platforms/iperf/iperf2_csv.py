"""iperf 2 ``-y C``: one line an interval and a connection, no header.

Sample::

    20261130141950,10.0.0.1,38650,10.0.0.2,5002,1,0.0-5.2,5636160,8669058

Fields: time, local address, port, peer address, port, id (-1 is the sum), interval, bytes, bit/s; UDP
adds jitter in ms, lost and all datagrams, percent lost, out of order (iperf 2, ReportCSV.c).
"""

from __future__ import annotations

import re
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.model import Parsed
from hostcfg.platforms.iperf.measure import (
    MOST_RECORDS,
    TOO_MANY,
    Interval,
    Record,
    clean_lines,
    split_rows,
    total,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Json

KIND, COMMAND = "iperf2-csv", "iperf -c HOST -y C"

_LINE = regex(
    r"(?P<time>[+\d:.-]{14,40}),(?P<lhost>[0-9a-fA-F:.%\w]{2,60}),(?P<lport>\d+),"
    r"(?P<rhost>[0-9a-fA-F:.%\w]{2,60}),(?P<rport>\d+),(?P<id>-?\d+),"
    r"(?P<start>\d+\.\d+)-(?P<end>\d+\.\d+),(?P<bytes>\d+),(?P<bps>-?\d+)(?P<udp>(?:,-?[\d.]*){0,8})"
)

STREAMS_APART_S = 2


def recognize(text: str) -> int:
    """95 where the first line is one."""
    first = next((line for line in clean_lines(text[:4096]) if line.strip()), "")
    return 95 if _LINE.fullmatch(first.strip()) else 0


@dataclass(slots=True)
class _Test:
    """The lines of one test, and what decides whether the next one belongs to it."""

    rows: list[re.Match[str]] = field(default_factory=list)
    last: dict[tuple[str, ...], re.Match[str]] = field(default_factory=dict)  # by connection
    ids: set[str] = field(default_factory=set)

    def add(self, row: re.Match[str]) -> None:
        """One more line."""
        self.rows.append(row)
        self.last[_connection(row)] = row
        self.ids.add(row["id"])

    def takes(self, row: re.Match[str]) -> bool:
        """``row`` is of this test: of one of its connections, or of one more stream.

        Streams of one test (``-P``) have ids of their own, the same hosts, and print within a second.
        """
        if _connection(row) in self.last or row["id"] == "-1":
            return True
        first = self.rows[0]
        if row["id"] in self.ids or {row["lhost"], row["rhost"]} != {first["lhost"], first["rhost"]}:
            return False
        if abs(_clock_s(row) - _clock_s(self.rows[-1])) > STREAMS_APART_S:
            return False
        totals = [r for r in self.last.values() if float(r["start"]) == 0]
        finished = len(self.last) < len(self.rows) and len(totals) == len(self.last)
        return not (finished and float(row["end"]) < 0.9 * min(float(r["end"]) for r in totals))


def parse(text: str) -> Parsed:
    """``values``: ``records``; ``window`` and ``requested`` are null, CSV holds neither."""
    tests: list[_Test] = []
    unrecognized: list[str] = []
    notes: list[str] = []
    for line in clean_lines(text):
        stripped = line.strip()
        found = _LINE.fullmatch(stripped)
        if found is None:
            unrecognized += [stripped] if stripped else []
            continue
        if not tests or not tests[-1].takes(found):
            if len(tests) >= MOST_RECORDS:
                notes.append(TOO_MANY)
                break
            tests.append(_Test())
        tests[-1].add(found)
    records: list[Json] = [_record(test.rows).document() for test in tests]
    extra: dict[str, Json] = {"window": None, "requested": None}
    return Parsed("any", KIND, COMMAND, {"records": records, **extra}, notes, unrecognized, extra)


def _connection(row: re.Match[str]) -> tuple[str, ...]:
    return row["id"], row["lhost"], row["lport"], row["rhost"], row["rport"]


def _clock_s(row: re.Match[str]) -> float:
    """``20261130141950``, ``+0000:20261130141950.123`` -> seconds; 0 for a date that is none."""
    digits = re.search(r"\d{14}", row["time"])
    try:
        return datetime.strptime(digits[0], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp() if digits else 0.0
    except ValueError:
        return 0.0


def _record(group: Sequence[re.Match[str]]) -> Record:
    record = Record("iperf2")
    rows: dict[str | None, list[Interval]] = {}
    for row in group:
        rows.setdefault(row["id"], []).append(_interval(row, None if row["id"] == "-1" else row["id"]))
    totals: dict[str, re.Match[str]] = {}
    for name, (intervals, last) in split_rows(rows).items():
        (record.sums if name == "-1" else record.parts).extend(intervals)
        own = [row for row in group if row["id"] == name]
        line = next((row for row in own if _interval(row, last.stream) == last), None) if last else None
        if line is not None:
            totals[str(name)] = line
        if name != "-1":
            _add_stream(record, str(name), own[0], line)
    _add_totals(record, totals, group[0])
    return record


def _add_stream(record: Record, name: str, first: re.Match[str], last: re.Match[str] | None) -> None:
    stream = record.stream(name)
    stream.local_host, stream.local_port = first["lhost"], int(first["lport"])
    stream.remote_host, stream.remote_port = first["rhost"], int(first["rport"])
    if last is not None:
        stream.sent_bps, stream.sent_bytes = int(last["bps"]), int(last["bytes"])


def _add_totals(record: Record, totals: dict[str, re.Match[str]], first: re.Match[str]) -> None:
    """CSV does not say which end printed it: rates stand as sent, ``role`` stays unknown."""
    whole = totals.get("-1")
    parts = [row for name, row in totals.items() if name != "-1"]
    ends = [float(row["end"]) for row in totals.values()]
    if len(parts) < len(record.streams) or min(ends, default=0) < 0.9 * max(ends, default=0):
        # The total of one is lost, an interval may stand in its place, and with it that of all.
        parts, whole = [], whole if whole and float(whole["end"]) == max(ends) else None
    record.scalars = {
        "started": first["time"] if float(first["start"]) == 0 else None,
        "protocol": "UDP" if first["udp"] else "TCP",
        "sent_bps": int(whole["bps"]) if whole else total(int(r["bps"]) for r in parts),
        "sent_bytes": int(whole["bytes"]) if whole else total(int(r["bytes"]) for r in parts),
        "complete": bool(totals),
        "seconds": max((float(r["end"]) for r in totals.values()), default=None),
    }
    udp = [text for text in (whole or first)["udp"].split(",") if text]
    if len(udp) >= 3:
        record.scalars |= {"jitter_ms": float(udp[0]), "lost_packets": int(float(udp[1]))}
        record.scalars["packets"] = int(float(udp[2]))


def _interval(row: re.Match[str], stream: str | None) -> Interval:
    return Interval(float(row["start"]), float(row["end"]), int(row["bytes"]), int(row["bps"]), stream)
