"""iperf 2 as people see it: plain and enhanced (``-e``), client and server, ``-P``, ``-R``, UDP.

Sample::

    Client connecting to 10.0.0.2, TCP port 5002
    TCP window size:  128 KByte (WARNING: requested 64.0 KByte)
    [  1] local 10.0.0.1 port 43924 connected with 10.0.0.2 port 5002 (icwnd/mss/irtt=14/1448/101426)
    [ ID] Interval       Transfer     Bandwidth
    [  1] 0.0000-5.5213 sec  6.00 MBytes  9.12 Mbits/sec

A line over the whole test looks like an interval: it is the one that starts at 0 again, or the only one.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.model import Parsed
from hostcfg.platforms.iperf.measure import (
    MOST_RECORDS,
    TOO_MANY,
    Interval,
    Record,
    amount_bytes,
    clean_lines,
    is_gapless,
    rate_bps,
    split_rows,
    total,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Json

KIND, COMMAND = "iperf2", "iperf -c HOST"
_HEAD = 65536

_ROW = regex(
    r"\[ *(?P<id>\*?\d+|SUM(?:-\w+)?)\] +(?P<start>\d+\.\d+)- *(?P<end>\d+\.\d+) sec"
    r" +(?P<amount>\d+(?:\.\d+)? [KMGT]?Bytes) +(?P<rate>\d+(?:\.\d+)? [KMGT]?(?:bits|Bytes)/sec)(?P<rest>.*)"
)
_ENHANCED = regex(
    r"\d+/\d+ +(?P<retries>\d+) +(?:\d+K\(\d+\)/)?(?P<cwnd>\d+K|NA)(?:\(\d+\))?/(?P<rtt>\d+)(?:\(\d+\))? us.*"
)
_UDP = regex(r"(?P<jitter>\d+\.\d+) ms +(?P<lost>-?\d+)/ *(?P<packets>\d+) \(.*")
_ENDS = regex(
    r"\[ *(?P<id>\*?\d+)\] local (?P<lhost>[^ %]+)(?:%\S+)? port (?P<lport>\d+)"
    r" connected with (?P<rhost>[^ %]+)(?:%\S+)? port (?P<rport>\d+)(?!\w)(?P<rest>.*)"
)
_FIRST = regex(r"\(icwnd/mss/irtt=\d+/(?P<mss>\d+)/(?P<rtt>\d+)\)|\(MSS=(?P<old>\d+)\)")
_HEADER = regex(
    r"(?:(?P<client>Client connecting to (?P<host>[^ ,]+),)|Server listening on) (?P<protocol>TCP|UDP) port"
    r" (?P<port>\d+)(?!\w).*"
)
_WINDOW = regex(
    r"(?:TCP window|UDP buffer) size: +(?P<size>\d+(?:\.\d+)? [KMGT]?Bytes?)"
    r"(?: \((?:WARNING: requested +(?P<asked>\d+(?:\.\d+)? [KMGT]?Bytes?)|default)\))?"
)
_MSS = regex(r"(?:\[ *\d+\] )?MSS size (?P<mss>\d+) bytes(?: \(MTU (?P<mtu>\d+) bytes.*)?")
_ERROR = regex(
    r"(?P<message>(?:tcp |udp )?(?:connect|bind|listener bind|write|read|accept|listen) ?\d* failed.*"
    r"|error: .*)"
)
_DATAGRAMS = regex(r"(?:\[ *\d+\] )?(?:UDP buffer size:|Sending \d+ byte datagrams|Sent \d+ datagrams)")
_NOISE = regex(
    r"-{5,}|\[ ID\].*|\[ CT\].*|(?:Write|Read) buffer size.*|TOS .*|Sending \d+ byte datagrams.*"
    r"|\[ *\d+\] (?:Sent \d+ datagrams|Server Report:|.*datagrams received out-of-order).*"
    r"|Binding to local .*|iperf version .*|Waiting for server threads.*"
)


@dataclass(slots=True)
class _Test:
    """One measurement: its header, its connections and its lines of rates."""

    header: dict[str, Json] = field(default_factory=dict)
    record: Record = field(default_factory=lambda: Record("iperf2"))
    rows: list[tuple[str, Interval, re.Match[str] | None]] = field(default_factory=list)
    datagrams: bool = False  # a line about them was there
    reported: bool = False  # "Server Report:" of UDP: the next line is the far end's


@dataclass(slots=True)
class _State:
    tests: list[_Test] = field(default_factory=list)
    owner: dict[str, _Test] = field(default_factory=dict)
    since_sum: list[_Test] = field(default_factory=list)
    window: str | None = None
    requested: str | None = None
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unrecognized: list[str] = field(default_factory=list)

    def test(self) -> _Test:
        """The test that lines without an id belong to."""
        return self.tests[-1] if self.tests else self.add(_Test())

    def add(self, test: _Test) -> _Test:
        """A new test; beyond ``MOST_RECORDS`` the last one is thrown away for it."""
        if len(self.tests) >= MOST_RECORDS:
            self.tests.pop()
            if TOO_MANY not in self.notes:
                self.notes.append(TOO_MANY)
        self.tests.append(test)
        return test


def recognize(text: str) -> int:
    """96 for what only iperf 2 prints, 85 for its lines of rates alone."""
    lines = clean_lines(text[:_HEAD])
    if any(_ENDS.match(line) or _HEADER.match(line) for line in lines):
        return 96
    return 85 if any(_ROW.match(line) for line in lines) else 0


def parse(text: str) -> Parsed:
    """``values``: ``records``, ``window`` and ``requested`` as printed for the first test, ``error``."""
    state = _State()
    last = ""
    for line in clean_lines(text):
        stripped = line.strip()
        if stripped and stripped != last and not _take(state, stripped):  # a doubled line says nothing new
            state.unrecognized.append(stripped)
        last = stripped
    records = [_finished(test).document() for test in state.tests if test.rows or test.record.streams]
    extra: dict[str, Json] = {"window": state.window, "requested": state.requested}
    if state.errors:
        extra["error"] = state.errors[0]
    values: dict[str, Json] = {"records": list(records), **extra}
    return Parsed("any", KIND, COMMAND, values, state.notes, state.unrecognized, extra)


def _take(state: _State, line: str) -> bool:
    """Use one line; False if it is not understood."""
    if row := _ROW.match(line):
        _take_row(state, row)
    elif ends := _ENDS.match(line):
        _take_ends(state, ends)
    elif header := _HEADER.fullmatch(line):
        _take_header(state, header)
    elif error := _ERROR.fullmatch(line):
        state.errors.append(error["message"])
        state.test().record.scalars["error"] = error["message"]
    elif line.startswith("WARNING:"):
        state.notes.append(line)
    else:
        return _take_detail(state, line) or _NOISE.fullmatch(line) is not None
    return True


def _take_detail(state: _State, line: str) -> bool:
    """Lines about the test that comes."""
    header = state.test().header
    if _DATAGRAMS.match(line):
        state.test().datagrams = True
    if found := _WINDOW.fullmatch(line):
        header["window_bytes"] = amount_bytes(found["size"])
        header["requested_bytes"] = amount_bytes(found["asked"]) if found["asked"] else None
        if state.window is None:
            state.window, state.requested = found["size"], found["asked"]
    elif found := _MSS.fullmatch(line):
        header["mss_bytes"] = int(found["mss"])
        header["mtu_bytes"] = int(found["mtu"]) if found["mtu"] else None
    elif found := re.match(r"TCP congestion control(?: set to| using) (?P<name>\S+)", line):
        header["congestion"] = found["name"]
    elif re.fullmatch(r"\[ *\d+\] Server Report:", line):
        state.test().reported = True
    else:
        return False
    return True


def _take_header(state: _State, header: re.Match[str]) -> None:
    """A header; connections that were printed before it (``-P``) are its own."""
    test = state.test()
    if test.header.get("role") is not None or test.rows:
        test = state.add(_Test())
    client = header["client"] is not None
    test.header |= {"role": "client" if client else "server", "protocol": header["protocol"]}
    if client:
        test.header |= {"remote_host": header["host"], "remote_port": int(header["port"])}


def _take_ends(state: _State, ends: re.Match[str]) -> None:
    """A connection: of the present test, or of the next one where results have been printed."""
    test = state.test()
    if test.rows and (test.record.streams or test.header.get("role") is None):
        own = {"reverse", "started"}  # of one connection, not of the header
        test = state.add(_Test(header={k: v for k, v in test.header.items() if k not in own}))
    state.owner[ends["id"]] = test
    stream = test.record.stream(ends["id"])
    stream.local_host, stream.local_port = ends["lhost"], int(ends["lport"])
    stream.remote_host, stream.remote_port = ends["rhost"], int(ends["rport"])
    if "(reverse)" in ends["rest"]:
        test.header["reverse"] = True
    if found := re.search(
        r"\(icwnd/mss/irtt=\d+/(?P<mss>\d+)/(?P<rtt>\d+)\)|\(MSS=(?P<old>\d+)\)", ends["rest"]
    ):
        stream.mss_bytes = int(found["mss"] or found["old"])
        stream.first_rtt_us = int(found["rtt"]) if found["rtt"] else None
    if found := re.search(r" on (?P<when>\d{4}-\d\d-\d\d [\d:.]+ \([A-Za-z+\d-]+\))", ends["rest"]):
        test.header.setdefault("started", found["when"])


def _take_row(state: _State, row: re.Match[str]) -> None:
    is_sum = row["id"].startswith("SUM")
    name = row["id"].lstrip("*")
    test = state.owner.get(row["id"]) or state.owner.get(name) or state.test()
    if is_sum:
        owners, state.since_sum = state.since_sum, []
        if len({id(owner) for owner in owners}) > 1:  # a sum over several tests belongs to none of them
            state.notes.append(f"a sum over several tests: {row[0].strip()}")
            return
        test = owners[-1] if owners else state.test()
    else:
        state.since_sum.append(test)
        if row["id"].startswith("*"):
            test.header["reverse"] = True
    rest = row["rest"].strip()
    interval = Interval(
        float(row["start"]),
        float(row["end"]),
        amount_bytes(row["amount"]),
        rate_bps(row["rate"]),
        None if is_sum else (row["id"] if row["id"] in test.record.streams else name),
    )
    if found := _ENHANCED.fullmatch(rest):
        interval.retransmits = int(found["retries"])
        interval.cwnd_bytes = None if found["cwnd"] == "NA" else int(found["cwnd"][:-1]) * 1024
        interval.rtt_us = int(found["rtt"]) or None
    udp = _UDP.fullmatch(rest)
    sends = test.header.get("role") == "client" and test.header.get("reverse") is not True
    test.rows.append(("far" if test.reported or (udp and sends) else "own", interval, udp))
    test.reported = False


def _finished(test: _Test) -> Record:
    """The record of a test: which lines are totals shows only now."""
    record = test.record
    record.scalars = {**test.header, **record.scalars}
    role = record.scalars.get("role")
    record.scalars.setdefault("protocol", _protocol(test))
    record.scalars.setdefault("reverse", None if role is None else False)
    sends = (role == "client") != (record.scalars.get("reverse") is True)
    own = [interval for origin, interval, _ in test.rows if origin == "own"]
    totals: dict[str | None, Interval] = {}
    by_stream: dict[str | None, list[Interval]] = {}
    for interval in own:
        by_stream.setdefault(interval.stream, []).append(interval)
    record.has_several = None in by_stream
    for name, (intervals, last) in split_rows(by_stream).items():
        (record.sums if name is None else record.parts).extend(intervals)
        if last is not None:
            totals[name] = last
    if role is not None:
        _add_totals(record, totals, "sent" if sends else "received")
    for origin, interval, _ in test.rows:
        if origin == "far":
            record.scalars |= {"received_bps": interval.bps, "received_bytes": interval.bytes}
    udp = max((row for row in test.rows if row[2]), key=lambda row: row[1].end, default=None)
    if udp is not None and udp[2]:
        record.scalars |= {"jitter_ms": float(udp[2]["jitter"])}
        record.scalars |= {"lost_packets": int(udp[2]["lost"]), "packets": int(udp[2]["packets"])}
    _add_largest(record, own)
    return record


def _protocol(test: _Test) -> str | None:
    """What the rows and connections show where the header is lost; rates alone are of either."""
    if test.datagrams or any(udp for _, _, udp in test.rows):
        return "UDP"
    streams = test.record.streams.values()
    tcp = any(row.retransmits is not None for _, row, _ in test.rows) or any(s.mss_bytes for s in streams)
    return "TCP" if tcp else None


def _add_totals(record: Record, totals: dict[str | None, Interval], way: str) -> None:
    for name, row in totals.items():
        if name is not None:
            stream = record.stream(name)
            setattr(stream, f"{way}_bps", row.bps)
            setattr(stream, f"{way}_bytes", row.bytes)
    streams = [row for name, row in totals.items() if name is not None]
    names = {part.stream for part in record.parts} | {row.stream for row in streams} | record.streams.keys()
    is_whole = len(streams) == max(len(names), 1 + record.has_several)
    # Where the total of one is lost, so is that of all; a client prints the sum of several itself.
    if not is_whole or (len(streams) > 1 and record.scalars.get("role") == "client"):
        streams = []
    whole = totals.get(None)
    is_whole = is_whole and (whole is not None or bool(streams))
    record.scalars[f"{way}_bps"] = whole.bps if whole else total(row.bps for row in streams)
    record.scalars[f"{way}_bytes"] = whole.bytes if whole else total(row.bytes for row in streams)
    record.scalars["complete"] = bool(totals)
    if totals and is_whole:
        record.scalars["seconds"] = round(max(row.end for row in totals.values()), 4)


def _add_largest(record: Record, rows: Sequence[Interval]) -> None:
    """Retransmissions, the largest congestion window and the round trips of the enhanced output."""
    intervals = [r for r in record.parts if r.retransmits is not None]
    if is_gapless(intervals):
        record.scalars["retransmits"] = total(r.retransmits for r in intervals)
    cwnd = [r.cwnd_bytes for r in rows if r.cwnd_bytes is not None]
    rtts = [r.rtt_us for r in rows if r.rtt_us is not None]
    record.scalars["max_cwnd_bytes"] = max(cwnd, default=None)
    record.scalars["mean_rtt_us"] = round(sum(rtts) / len(rtts)) if rtts else None
    record.scalars["min_rtt_us"] = min(rtts, default=None)
