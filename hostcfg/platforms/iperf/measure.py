"""One measurement of iperf, whichever version and format printed it.

A record is a flat dict, the same for all formats: null for what the output does not hold.  Sizes are
bytes, rates bit/s, times seconds unless the name says otherwise.  ``reverse``: data ran from the
server to the client.  ``window_bytes`` is the socket buffer that the tool reports (doubled on Linux),
``requested_bytes`` what ``-w`` asked for, ``target_bps`` what ``-b`` allows each stream.
``intervals`` are of all streams together.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostcfg.model import Json

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_AMOUNT = regex(r"(?P<number>\d+(?:\.\d+)?) ?(?P<prefix>[KMGT]?)Bytes?")
_RATE = regex(r"(?P<number>\d+(?:\.\d+)?) ?(?P<prefix>[KMGT]?)(?P<what>bits|Bytes)/sec")

RECORD_FIELDS = (
    "tool",
    "version",
    "role",
    "protocol",
    "reverse",
    "local_host",
    "local_port",
    "remote_host",
    "remote_port",
    "streams",
    "started",
    "seconds",
    "omit_s",
    "window_bytes",
    "requested_bytes",
    "target_bps",
    "sndbuf_bytes",
    "rcvbuf_bytes",
    "mss_bytes",
    "mtu_bytes",
    "congestion",
    "sent_bytes",
    "received_bytes",
    "sent_bps",
    "received_bps",
    "retransmits",
    "max_cwnd_bytes",
    "max_peer_window_bytes",
    "mean_rtt_us",
    "min_rtt_us",
    "jitter_ms",
    "lost_packets",
    "packets",
    "complete",
    "error",
)
"""The scalar fields of a record, in the order of the CSV columns."""


def amount_bytes(text: str) -> int | None:
    """``5.13 MBytes`` -> 5379195: iperf's prefixes of amounts are powers of 1024."""
    found = _AMOUNT.fullmatch(text.strip())
    return round(float(found["number"]) * (1 << 10 * _UNITS[found["prefix"]])) if found else None


def rate_bps(text: str) -> int | None:
    """``8.23 Mbits/sec`` -> 8230000 (powers of 1000), ``64.0 KBytes/sec`` -> 524288 (of 1024)."""
    found = _RATE.fullmatch(text.strip())
    if found is None:
        return None
    power = _UNITS[found["prefix"]]
    factor: int = 1000**power if found["what"] == "bits" else 8 * 1024**power
    return round(float(found["number"]) * factor)


MOST_RECORDS = 20_000
"""A text with more measurements is cut there, and says so: no log of tests is that long."""
TOO_MANY = f"the text holds more than {MOST_RECORDS:,} measurements: the rest is left out"


@dataclass(slots=True)
class Interval:
    """One line of rates; ``stream`` None is the sum of all streams."""

    start: float
    end: float
    bytes: int | None
    bps: int | None
    stream: str | None = None
    retransmits: int | None = None
    cwnd_bytes: int | None = None
    peer_window_bytes: int | None = None
    rtt_us: int | None = None
    omitted: bool = False

    def document(self) -> dict[str, Json]:
        """As a record holds it."""
        found: dict[str, Json] = {"start": self.start, "end": self.end, "bytes": self.bytes, "bps": self.bps}
        found |= {"retransmits": self.retransmits, "cwnd_bytes": self.cwnd_bytes}
        found |= {"peer_window_bytes": self.peer_window_bytes, "rtt_us": self.rtt_us}
        return found | {"omitted": self.omitted}


@dataclass(slots=True)
class Stream:
    """One connection of a test."""

    id: str
    local_host: str | None = None
    local_port: int | None = None
    remote_host: str | None = None
    remote_port: int | None = None
    mss_bytes: int | None = None
    first_rtt_us: int | None = None
    sent_bps: int | None = None
    received_bps: int | None = None
    sent_bytes: int | None = None
    received_bytes: int | None = None
    retransmits: int | None = None
    max_cwnd_bytes: int | None = None

    def document(self) -> dict[str, Json]:
        """As a record holds it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Record:
    """A measurement under construction; ``scalars`` are fields of ``RECORD_FIELDS``."""

    tool: str
    scalars: dict[str, Json] = field(default_factory=dict)
    streams: dict[str, Stream] = field(default_factory=dict)
    sums: list[Interval] = field(default_factory=list)
    parts: list[Interval] = field(default_factory=list)
    has_several: bool = False  # a line of the sum of streams was there

    def stream(self, name: str) -> Stream:
        """The stream called ``name``, new if it was not there."""
        return self.streams.setdefault(name, Stream(name))

    def document(self) -> dict[str, Json]:
        """The finished record, with every field of ``RECORD_FIELDS``."""
        found: dict[str, Json] = dict.fromkeys(RECORD_FIELDS)
        lost = self.has_several and len(self.streams) < 2
        found |= {"tool": self.tool, "streams": None if lost else max(len(self.streams), 1)}
        found |= self._ends()
        found |= {name: value for name, value in self.scalars.items() if value is not None}
        found["intervals"] = [i.document() for i in self.whole_intervals()]
        found["stream_intervals"] = [i.document() | {"stream": i.stream} for i in self.parts]
        found["per_stream"] = [s.document() for s in self.streams.values()]
        return found

    def _ends(self) -> dict[str, Json]:
        """Of the first stream; where the line of one is lost, only what is the same for all of them."""
        known = [stream for stream in self.streams.values() if stream.local_host is not None]
        names = ("local_host", "local_port", "remote_host", "remote_port", "mss_bytes")
        if len(known) == max(len(self.streams), 1 + self.has_several):
            return {name: getattr(known[0], name) for name in names}
        near = {"client": "remote_port", "server": "local_port"}.get(str(self.scalars.get("role")))
        return {
            name: getattr(known[0], name) for name in ("local_host", "remote_host", near) if name and known
        }

    def whole_intervals(self) -> list[Interval]:
        """Intervals of all streams together: the tool's own sums, else sums over the streams."""
        if self.sums:
            return self.sums
        if len({i.stream for i in self.parts}) <= 1:
            return self.parts
        groups: dict[tuple[float, float, bool], list[Interval]] = {}
        for part in self.parts:
            groups.setdefault((round(part.start, 1), round(part.end, 1), part.omitted), []).append(part)
        streams = max(len(self.streams), len({i.stream for i in self.parts}))
        return [_summed(group, streams) for group in groups.values()]


def _summed(group: list[Interval], streams: int) -> Interval:
    """Of all ``streams`` together; no sum where the line of one is lost, and none twice."""
    first = group[0]
    group = list({i.stream: i for i in group}.values())
    lost = [None] * (streams - len(group))
    return Interval(
        first.start,
        first.end,
        total([*(i.bytes for i in group), *lost]),
        total([*(i.bps for i in group), *lost]),
        retransmits=total([*(i.retransmits for i in group), *lost]),
        omitted=first.omitted,
    )


def split_rows(
    by_stream: Mapping[str | None, Sequence[Interval]],
) -> dict[str | None, tuple[list[Interval], Interval | None]]:
    """For each stream its intervals, and the line over the whole test, wherever it stands.

    It starts at 0 and ends last.  Where no stream has more than one line, that is both.
    """
    rows = {
        name: list({(row.start, row.end, row.bytes, row.bps): row for row in own}.values())  # none twice
        for name, own in by_stream.items()
    }
    end = max((row.end for own in rows.values() for row in own), default=0.0)
    lone = all(len(own) == 1 for own in rows.values())
    found: dict[str | None, tuple[list[Interval], Interval | None]] = {}
    for name, own in rows.items():
        last = max(own, key=lambda row: (round(row.end, 1), -row.start, row.end))
        if last.start != 0 or last.end < 0.9 * end:
            found[name] = own, None
        else:
            found[name] = own if lone else [row for row in own if row is not last], last
    return found


def is_gapless(intervals: Sequence[Interval]) -> bool:
    """Whether each stream's intervals follow each other from the beginning of the test on."""
    ends: dict[str | None, float] = {}
    for row in intervals:
        if abs(row.start - ends.get(row.stream, 0.0)) > 0.1:
            return False
        ends[row.stream] = row.end
    return True


def total(values: Iterable[int | None]) -> int | None:
    """The sum; None where one is not known (its line is lost), or there is none."""
    found = list(values)
    known = [v for v in found if v is not None]
    return sum(known) if known and len(known) == len(found) else None


def integer(value: Json) -> int | None:
    """A whole number from JSON; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return round(value) if abs(value) < 1e18 else None


def clean_lines(text: str) -> list[str]:
    """Lines without carriage returns, no-break spaces, quote marks of a mail and trailing blanks."""
    plain = text.replace("\r", "").replace("\u00a0", " ").replace("\ufeff", "")
    return [re.sub(r"^(?:> ?){1,4}", "", line).rstrip() for line in plain.split("\n")]
