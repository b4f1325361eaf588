"""A test beside the prediction: iperf results that are done, and ``ss`` while one runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hostcfg.path.sentences import limit_name
from hostcfg.path.tcp import DEFAULT_MTU_BYTES, Segment, loss_that_explains
from hostcfg.units import format_rate, format_ratio, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Json, Parsed
    from hostcfg.path.report import Direction, PathReport

Verdict = Literal["as_predicted", "below", "above", "no_result"]

TOLERANCE = 0.1
"""Measured flows were within 10 % of the exact models in all but a few noisy rows of truth.csv."""
_LIMITED = re.compile(r"(?P<ms>\d+)ms(?:\((?P<percent>\d+(?:\.\d+)?)%\))?")


@dataclass(frozen=True, slots=True)
class MeasuredEvidence:
    """One measurement beside the direction that it measured.

    ``explained``: measured over predicted, None without a result.  ``steady_bps``: without the
    seconds of slow start.  ``in_flight_bytes``: what the rate means in payload a stream and RTT.
    """

    from_host: str
    to_host: str
    measured_bps: float | None
    steady_bps: float | None
    predicted_bps: float
    explained: float | None
    in_flight_bytes: float | None
    verdict: Verdict
    sentences: Sequence[str]


@dataclass(frozen=True, slots=True)
class LiveEvidence:
    """Shares (0 to 1) of the time that the senders were busy, over all sockets of a test.

    ``cwnd_limited`` is the rest.  None where the kernel does not report it (before 4.10) or nothing
    was being sent.
    """

    sockets: int
    rwnd_limited: float | None
    sndbuf_limited: float | None
    cwnd_limited: float | None
    peer_window_bytes: int | None
    rtt_s: float | None
    min_rtt_s: float | None
    retransmitted: int | None
    sentences: Sequence[str]


def compare_measured(report: PathReport, parsed: Parsed, *, reverse: bool = False) -> list[MeasuredEvidence]:
    """Every record of an iperf result beside the direction that it measured.

    The client is taken to have run on the path's first host; ``reverse``: on the second.
    """
    records = parsed.values.get("records")
    found = []
    for record in records if isinstance(records, list) else []:
        if isinstance(record, dict):
            back = record.get("reverse") is True
            direction = report.directions[1 if back != reverse else 0]
            found.append(_compared(report, direction, record))
    return found


def live_evidence(parsed: Parsed, direction: Direction | None = None) -> LiveEvidence:
    """What ``ss -tin`` on the sender says of the sockets that carry the test.

    Sockets that acknowledged less than a hundredth of the largest (control connections) are left out.
    """
    rows = _carriers(_rows(parsed))
    busy = [_busy_ms(row) for row in rows]
    total = sum(b for b in busy if b is not None)
    rwnd, sndbuf = (_share(rows, name, total) for name in ("rwnd_limited", "sndbuf_limited"))
    cwnd = None if rwnd is None or sndbuf is None else max(0.0, 1 - rwnd - sndbuf)
    rtts = [_leading_float(row.get("rtt")) for row in rows]
    least = [_leading_float(row.get("minrtt")) for row in rows]
    windows = [n for n in (_integer(row.get("snd_wnd")) for row in rows) if n is not None]
    shares = (rwnd, sndbuf, cwnd)
    return LiveEvidence(
        len(rows),
        *shares,
        max(windows, default=None),
        _seconds(rtts, most=True),
        _seconds(least, most=False),
        _retransmitted(rows),
        _live_sentences(len(rows), shares, direction),
    )


def _compared(report: PathReport, direction: Direction, record: Mapping[str, Json]) -> MeasuredEvidence:
    measured = _first_number(record, "received_bps", "sent_bps")
    if measured is None:  # a report without its end: what its intervals say
        measured = _steady_bps(record, 0.0)
    predicted = direction.predicted_bps
    if measured is None:
        error = record.get("error")
        text = f"the test has no result: {error}" if isinstance(error, str) else "the test has no result"
        return MeasuredEvidence(
            direction.from_host, direction.to_host, None, None, predicted, None, None, "no_result", [text]
        )
    verdict = _verdict(direction, measured)
    streams = _first_number(record, "streams") or 1.0
    return MeasuredEvidence(
        direction.from_host,
        direction.to_host,
        measured,
        _steady_bps(record, direction.slow_start_s),
        predicted,
        measured / predicted,
        measured * report.link.rtt_s / 8 / streams,
        verdict,
        [
            *_measured_sentences(report, direction, measured, verdict),
            *_run_sentences(report, direction, record),
        ],
    )


def _verdict(direction: Direction, measured: float) -> Verdict:
    if measured < direction.low_bps * (1 - TOLERANCE):
        return "below"
    return "above" if measured > direction.high_bps * (1 + TOLERANCE) else "as_predicted"


def _measured_sentences(
    report: PathReport, direction: Direction, measured: float, verdict: Verdict
) -> list[str]:
    limit = direction.limited_by
    share = format_ratio(measured / direction.predicted_bps)
    found = [
        (
            f"Measured {format_rate(measured)} of the {format_rate(direction.predicted_bps)} that "
            f"{limit_name(limit)} leaves: {share}."
        )
    ]
    if verdict == "below":
        mss = Segment.of(report.mtu_bytes or DEFAULT_MTU_BYTES, timestamps=True).payload_bytes
        segments = measured * report.link.rtt_s / 8 / mss / report.streams
        loss = loss_that_explains(segments)
        found.append(
            f"The limit does not explain the rest: a loss of {format_ratio(loss)} would (Reno), or a "
            "longer RTT under load, a slow program or disk, or a rate limit on the way."
        )
    if verdict == "above":
        found.append("That is more than the settings allow: they changed since, or the test used others.")
    return found


def _run_sentences(report: PathReport, direction: Direction, record: Mapping[str, Json]) -> list[str]:
    """What makes this run another case than the predicted one."""
    found = []
    streams, asked = _first_number(record, "streams"), _first_number(record, "requested_bytes")
    if streams is not None and streams != report.streams:
        found.append(f"The run had {streams:.0f} streams, the prediction {report.streams}.")
    if asked is not None and asked != report.window_bytes:
        found.append(f"The run asked for {asked:,.0f} bytes (-w), the prediction for {report.window_bytes}.")
    seconds = _first_number(record, "seconds")
    if seconds is not None and seconds < 5 * direction.slow_start_s:
        found.append(
            f"The run took {format_time(seconds)}, slow start alone takes "
            f"{format_time(direction.slow_start_s)}: it was too short to show the limit."
        )
    retransmits = _first_number(record, "retransmits")
    if retransmits == 0 and direction.limited_by.kind not in {"loss", "link_rate"}:
        found.append("Nothing was retransmitted, as it is where a window or a buffer limits.")
    return found


def _steady_bps(record: Mapping[str, Json], after_s: float) -> float | None:
    """Mean rate of the whole test's intervals that start after slow start; None if there are none."""
    intervals = record.get("intervals")
    bits = seconds = 0.0
    for row in intervals if isinstance(intervals, list) else []:
        if not isinstance(row, dict) or row.get("omitted") is True:
            continue
        start, end, rate = (_first_number(row, name) for name in ("start", "end", "bps"))
        if start is None or end is None or rate is None or start < after_s or end <= start:
            continue
        bits, seconds = bits + rate * (end - start), seconds + end - start
    return bits / seconds if seconds > 0 else None


def _live_sentences(
    sockets: int, shares: tuple[float | None, float | None, float | None], direction: Direction | None
) -> list[str]:
    rwnd, sndbuf, cwnd = shares
    if sockets == 0:
        return ["No socket to the peer was sending: start the transfer first."]
    if rwnd is None or sndbuf is None or cwnd is None:
        return ["The kernel does not report what limits its sockets (it does from 4.10 on)."]
    found = [
        (
            f"Of the time it had data to send, the sender waited {rwnd:.0%} for the receiver's window, "
            f"{sndbuf:.0%} for its own send buffer and {cwnd:.0%} for the congestion window or the link."
        )
    ]
    kind = direction.limited_by.kind if direction is not None else None
    if kind == "link_rate" and rwnd > 0.5:
        found.append("That is no contradiction: a window of about two BDP waits like this on a full link.")
    if kind == "send_buffer" and sndbuf < 0.05:
        found.append("Linux does not always count the send buffer, even where it is what limits.")
    if kind in {"receive_window", "window_scaling"} and rwnd < 0.5:
        found.append(
            "The receiver's window was not what the sender waited for: the prediction does not hold."
        )
    return found


def _rows(parsed: Parsed) -> list[Mapping[str, Json]]:
    rows = parsed.extra.get("rows", parsed.values.get("rows"))
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _carriers(rows: list[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    acked = [_integer(row.get("bytes_acked")) or 0 for row in rows]
    most = max(acked, default=0)
    return [row for row, n in zip(rows, acked, strict=True) if n > 0 and n * 100 >= most]


def _busy_ms(row: Mapping[str, Json]) -> float | None:
    """Milliseconds with data to send: as printed, else from a limited time and its percentage."""
    busy = row.get("busy")
    if isinstance(busy, str) and (found := _LIMITED.match(busy)):
        return float(found["ms"])
    for name in ("rwnd_limited", "sndbuf_limited"):
        value = row.get(name)
        found = _LIMITED.match(value) if isinstance(value, str) else None
        if found and found["percent"] and float(found["percent"]) > 0:
            return float(found["ms"]) * 100 / float(found["percent"])
    return None


def _share(rows: Sequence[Mapping[str, Json]], name: str, busy_ms: float) -> float | None:
    """ss leaves a time out that is zero, so a missing one counts as zero once any was printed."""
    if busy_ms <= 0:
        return None
    found = [_LIMITED.match(v) for row in rows if isinstance(v := row.get(name), str)]
    return min(1.0, sum(float(m["ms"]) for m in found if m) / busy_ms)


def _retransmitted(rows: Sequence[Mapping[str, Json]]) -> int | None:
    """The second number of ``retrans:0/12``, over all sockets."""
    counts = [v.rpartition("/")[2] for row in rows if isinstance(v := row.get("retrans"), str)]
    return sum(int(c) for c in counts if c.isdecimal()) if rows else None


def _seconds(values_ms: Sequence[float | None], *, most: bool) -> float | None:
    known = [v / 1000 for v in values_ms if v is not None]
    return (max(known) if most else min(known)) if known else None


def _leading_float(value: Json) -> float | None:
    """``116.997/21.532`` -> 116.997."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    found = re.match(r"\d+(?:\.\d+)?", value) if isinstance(value, str) else None
    return float(found[0]) if found else None


def _integer(value: Json) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() else None


def _first_number(record: Mapping[str, Json], *names: str) -> float | None:
    for name in names:
        value = record.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None
