"""iperf3 as people see it: client and server, ``-P``, ``-R``, ``--bidir``, UDP, ``-V``, ``-d``, errors.

Sample::

    Connecting to host 10.0.0.2, port 5201
    [  5] local 10.0.0.1 port 51796 connected to 10.0.0.2 port 5201
    [ ID] Interval           Transfer     Bitrate         Retr  Cwnd
    [  5]   0.00-1.00   sec   520 KBytes  4.26 Mbits/sec    0    163 KBytes
    [  5]   0.00-5.00   sec  2.52 MBytes  4.23 Mbits/sec    0             sender
    [  5]   0.00-5.11   sec  2.52 MBytes  4.14 Mbits/sec                  receiver
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.iperf.iperf3_state import State, Test
from hostcfg.platforms.iperf.measure import Interval, Record, amount_bytes, clean_lines, rate_bps, total

if TYPE_CHECKING:
    from hostcfg.model import Json

KIND, COMMAND = "iperf3", "iperf3 -c HOST"
_HEAD = 65536
_PARAMETER_LINES = 100

_ROW = regex(
    r"\[ *(?P<id>SUM|\d+)\](?:\[(?P<role>[TR]X-[CS])\])? +(?P<start>\d+\.\d+)- *(?P<end>\d+\.\d+) +sec"
    r" +(?P<amount>\d+(?:\.\d+)? [KMGT]?Bytes) +(?P<rate>\d+(?:\.\d+)? [KMGT]?(?:bits|Bytes)/sec)(?P<rest>.*)"
)
_TCP_REST = regex(r"(?P<retr>\d+)(?: +(?P<cwnd>\d+(?:\.\d+)? [KMGT]?Bytes))?(?: .*)?")
_UDP_REST = regex(r"(?P<jitter>\d+\.\d+) ms +(?P<lost>-?\d+)/(?P<packets>\d+) \(.*")
_ENDS = regex(
    r"\[ *(?P<id>\d+)\] local (?P<lhost>\S+) port (?P<lport>\d+)"
    r" connected to (?P<rhost>\S+) port (?P<rport>\d+)(?!\S)"
)
_STARTING = regex(
    r"Starting Test: protocol: (?P<protocol>\w+), .*?omitting (?P<omit>\d+) seconds,"
    r" (?P<seconds>\d+) second test.*"
)
_ERROR = regex(r"iperf3?(?:\.exe)?: (?P<what>error|interrupt) - (?P<message>.*)")
_SERVER_ERROR = regex(r"iperf3: SERVER ERROR - (?P<message>.*)")
_BUFFER = regex(r"(?:SO_)?(?P<side>SND|RCV)BUF is (?P<size>\d+)(?!\w)(?:, expecting (?P<asked>\d+)(?!\w))?.*")
_MSS = regex(r"(?:TCP MSS:|Control connection MSS) (?P<mss>\d+)(?!\w).*")
_STAMP = regex(r"^(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} ){1,2}")
_NOISE = regex(
    r"-{5,}|(?:- ){5,}-?|\[ ID\].*|Cookie: .*|Time: .*|iperf Done\.|Test Complete\. .*"
    r"|CPU Utilization: .*|rcv_tcp_congestion .*|\[(?:SUM|[ \d]+)\] \((?:sender|receiver) statistics .*"
    r"|tcpi_snd_cwnd .*|interval_len .*|interval forces.*|(?:sent|read) \d+ bytes of .*"
    r"|[A-Z][a-z]+ \S+ \d\S* #\d.*"  # uname -a
)


_DECIMALS = regex(r"\d+\.\d\d")


def recognize(text: str) -> int:
    """96 for what only iperf3 prints, 85 for its lines of rates alone."""
    head = text[:_HEAD]
    if re.search(
        r"^(?:> )?(?:[A-Z].{20,30} )?iperf3: (?:error|SERVER ERROR|interrupt) - ", head, re.MULTILINE
    ):
        return 96
    lines = [_STAMP.sub("", line) for line in clean_lines(head)]
    ends = any(_ENDS.match(line) for line in lines)
    rows = [m for line in lines if (m := _ROW.match(line))]
    if ends or (rows and any(r["rest"].rstrip().endswith(("sender", "receiver")) for r in rows)):
        return 96
    if any(line.startswith("iperf 3.") for line in lines) or "get_parameters:" in head:
        return 90
    # iperf 2 prints one blank before "sec", iperf3 at least two for one-digit seconds, and Cwnd in a column
    # and three and more decimals; one in old versions.
    ours = any(_DECIMALS.fullmatch(row["start"]) for row in rows)
    return 85 if ours and re.search(r"\[ ID\].*(?:Retr|Bitrate|Total Datagrams)", head) else 0


def parse(text: str) -> Parsed:
    """``values``: ``records``, ``error`` and, where ``-d`` shows it, ``window`` (bytes asked for)."""
    state = State()
    lines = clean_lines(text)
    at = 0
    while at < len(lines):
        line = _STAMP.sub("", lines[at]).strip()
        if line.endswith("_parameters:"):
            at = _parameters(state, lines, at + 1)
            continue
        if line in {"get_results", "send_results"}:  # -d: what the two ends told each other
            at = (_block_end(lines, at + 1) or at) + 1
            continue
        if line and (not at or lines[at] != lines[at - 1]) and not _take(state, line):
            state.unrecognized.append(line)  # a doubled line says nothing new
        at += 1
    records = [record for test in state.tests if test.used for record in _finished(test)]
    extra: dict[str, Json] = {"error": _error_text(state, text)}
    if state.window is not None:
        extra["window"] = state.window
    values: dict[str, Json] = {"records": [record.document() for record in records], **extra}
    return Parsed("any", KIND, COMMAND, values, state.notes, state.unrecognized, extra)


def _error_text(state: State, text: str) -> str | None:
    """The message of the last error; where the output is nothing but that line, the line as it is."""
    if not state.errors:
        return None
    lines = [line.strip() for line in clean_lines(text) if line.strip()]
    return lines[0] if len(lines) == 1 else state.errors[-1]


def _take(state: State, line: str) -> bool:
    """Use one line; False if it is not understood."""
    if row := _ROW.match(line):
        state.test().rows.append(row)
        return True
    if ends := _ENDS.match(line):
        ports = int(ends["lport"]), int(ends["rport"])
        state.test().ends[ends["id"]] = (ends["lhost"], ports[0], ends["rhost"], ports[1])
        return True
    if error := _ERROR.match(line) or _SERVER_ERROR.match(line):
        state.errors.append(error["message"].strip())
        state.test().scalars["error"] = error["message"].strip()
        return True
    return _take_start(state, line) or _take_detail(state, line) or _NOISE.fullmatch(line) is not None


def _take_start(state: State, line: str) -> bool:
    """Lines that begin or end a test."""
    if found := re.match(r"Connecting to host (?P<host>\S+), port (?P<port>\d+)(?!\w)", line):
        test = state.begin("client")
        test.scalars |= {"remote_host": found["host"], "remote_port": int(found["port"])}
    elif found := re.match(r"Accepted connection from (?P<host>\S+), port (?P<port>\d+)", line):
        test = state.begin("server")
        test.scalars["remote_host"] = found["host"]
    elif re.match(r"Server listening on ", line):
        state.begin("server")
    elif line == "Server output:":  # of the test that the client has just printed
        reverse = state.test().scalars.get("reverse")
        state.begin("server").scalars["reverse"] = reverse
    elif re.match(r"Reverse mode, remote host ", line):
        state.test().scalars["reverse"] = True
    elif line == "iperf Done.":
        state.test().done = True
    else:
        return False
    return True


def _take_detail(state: State, line: str) -> bool:
    """Lines about the test that runs."""
    scalars = state.test().scalars
    if found := _STARTING.match(line):
        scalars |= {"protocol": found["protocol"], "omit_s": float(found["omit"])}
        scalars["seconds"] = float(found["seconds"])
    elif found := _MSS.match(line):
        scalars["mss_bytes"] = int(found["mss"]) or scalars.get("mss_bytes")
    elif found := _BUFFER.match(line):
        scalars["sndbuf_bytes" if found["side"] == "SND" else "rcvbuf_bytes"] = int(found["size"])
        if found["asked"] and int(found["asked"]):
            scalars["requested_bytes"] = int(found["asked"])
    elif found := re.match(r"iperf (?P<version>3\.\S+)", line):
        scalars["version"] = found["version"]
    elif found := re.match(r"(?:snd_tcp_congestion|Congestion algorithm is) (?P<name>\S+)", line):
        scalars["congestion"] = found["name"]
    elif re.match(r"warning: ", line, re.IGNORECASE):
        state.notes.append(line)
    else:
        return False
    return True


def _block_end(lines: list[str], at: int) -> int | None:
    """The line that closes the object that ``-d`` prints from line ``at`` on: a brace at its margin."""
    for number in range(at, min(at + _PARAMETER_LINES, len(lines))):
        if lines[number] == "}":
            return number
        if lines[number][:1] not in {"{", "\t", " "}:
            return None
    return None


def _parameters(state: State, lines: list[str], at: int) -> int:
    """The JSON object that ``-d`` prints; returns the line after it."""
    end = next(
        (i for i in range(at, min(at + _PARAMETER_LINES, len(lines))) if lines[i].strip() == "}"), None
    )
    if end is None:
        return at
    try:
        found = json.loads("\n".join(lines[at : end + 1]))
    except (ValueError, RecursionError):
        state.unrecognized += [line.strip() for line in lines[at : end + 1]]
        return end + 1
    window, scalars = found.get("window"), state.test().scalars
    if isinstance(window, int):
        state.window = window
        scalars["requested_bytes"] = window
    for name, source in (("seconds", "time"), ("omit_s", "omit")):
        if isinstance(found.get(source), int | float):
            scalars[name] = float(found[source])
    scalars["reverse"] = found.get("reverse") is True
    scalars["protocol"] = "UDP" if found.get("udp") is True else "TCP"
    return end + 1


def _finished(test: Test) -> list[Record]:
    """One record for each way: ``--bidir`` has rows of both."""
    roles = list(dict.fromkeys(row["role"] for row in test.rows)) or [None]
    if len(roles) == 1:
        roles = [None] if roles[0] is None else roles
    return [_record(test, role) for role in roles]


def _record(test: Test, role: str | None) -> Record:
    record = Record("iperf3", scalars=dict(test.scalars))
    if role is not None:  # [TX-C] client sends, [RX-S] server receives: both are the forward way
        record.scalars["reverse"] = role in {"RX-C", "TX-S"}
    elif record.scalars.get("reverse") is None:
        record.scalars["reverse"] = _direction(test)
    rows = [row for row in test.rows if row["role"] == role]
    used = {row["id"] for row in rows}
    for name, (lhost, lport, rhost, rport) in test.ends.items():
        if name in used or role is None:
            stream = record.stream(name)
            stream.local_host, stream.local_port, stream.remote_host, stream.remote_port = (
                lhost,
                lport,
                rhost,
                rport,
            )
    for row in rows:
        _add_row(record, row)
    _add_totals(record)
    return record


def _direction(test: Test) -> bool | None:
    """Whether data ran from server to client: the client says so, the server shows what it did."""
    if test.scalars.get("role") == "client":
        return False
    ends = {
        row["rest"].split()[-1] for row in test.rows if row["rest"].rstrip().endswith(("sender", "receiver"))
    }
    if test.scalars.get("role") != "server" or len(ends) != 1:
        return None
    return ends == {"sender"}


def _add_row(record: Record, row: re.Match[str]) -> None:
    """A line of rates: an interval, or a summary that ends in ``sender`` or ``receiver``."""
    rest = row["rest"].strip()
    name = None if row["id"] == "SUM" else row["id"]
    record.has_several = record.has_several or name is None
    end = rest.rpartition(" ")[2] if rest.endswith(("sender", "receiver")) else None
    interval = Interval(
        float(row["start"]),
        float(row["end"]),
        amount_bytes(row["amount"]),
        rate_bps(row["rate"]),
        name,
        omitted="(omitted)" in rest,
    )
    udp = _UDP_REST.match(rest)
    tcp = None if udp or re.match(r"\d+\.", rest) else _TCP_REST.match(rest)
    if udp:
        record.scalars["protocol"] = "UDP"
    elif tcp:
        interval.retransmits = int(tcp["retr"])
        interval.cwnd_bytes = amount_bytes(tcp["cwnd"]) if tcp["cwnd"] else None
    if end is None:
        (record.sums if name is None else record.parts).append(interval)
        if name is not None:
            record.stream(name)
        return
    _add_summary(record, interval, end, udp)


def _add_summary(record: Record, row: Interval, end: str, udp: re.Match[str] | None) -> None:
    way = "sent" if end == "sender" else "received"
    if row.stream is None:
        record.scalars |= {f"{way}_bps": row.bps, f"{way}_bytes": row.bytes}
        if way == "sent":
            record.scalars["retransmits"] = row.retransmits
    else:
        stream = record.stream(row.stream)
        setattr(stream, f"{way}_bps", row.bps)
        setattr(stream, f"{way}_bytes", row.bytes)
        if way == "sent":
            stream.retransmits = row.retransmits
    record.scalars["complete"] = True
    if way == "sent" or record.scalars.get("role") == "server":  # a client's receiver ends a round trip later
        record.scalars.setdefault("seconds", round(row.end - row.start, 4))
    if udp and way == "received":  # a sender prints 0 for what it can't know
        record.scalars |= {"jitter_ms": float(udp["jitter"])}
        record.scalars |= {"lost_packets": int(udp["lost"]), "packets": int(udp["packets"])}


def _add_totals(record: Record) -> None:
    """Sums over the streams where there is no SUM line, and the largest congestion window."""
    streams = list(record.streams.values())
    for name in ("sent_bps", "received_bps", "sent_bytes", "received_bytes", "retransmits"):
        if record.scalars.get(name) is None and len(streams) < 2:  # of several there is a sum, or it is lost
            record.scalars[name] = total(getattr(stream, name) for stream in streams)
    # a server does not know what its client sent, and prints 0
    if record.scalars.get("role") == "server" and record.scalars.get("sent_bytes") == 0:
        record.scalars |= {"sent_bps": None, "sent_bytes": None, "retransmits": None}
    for part in record.parts:
        stream = record.stream(part.stream or "")
        known = [n for n in (stream.max_cwnd_bytes, part.cwnd_bytes) if n is not None]
        stream.max_cwnd_bytes = max(known, default=None)
    sizes = [s.max_cwnd_bytes for s in streams if s.max_cwnd_bytes is not None]
    record.scalars["max_cwnd_bytes"] = max(sizes, default=None)
    record.scalars.setdefault("complete", False)
    sent = record.scalars.get("reverse") == (record.scalars.get("role") == "server")
    record.scalars["window_bytes"] = record.scalars.get("sndbuf_bytes" if sent else "rcvbuf_bytes")
