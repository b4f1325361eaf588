"""A test beside the prediction: iperf results that are done, and ``ss`` while one runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass
from hostcfg.path.sentences import limit_name
from hostcfg.path.tcp import ETHERNET_HEADER_BYTES, loss_that_explains
from hostcfg.platforms.endpoint import LARGEST_REQUEST_BYTES
from hostcfg.units import format_rate, format_ratio, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.model import Json, Parsed
    from hostcfg.path.report import Direction, PathReport

    AsRun = Callable[[int, int | None], PathReport]
    """The same path with so many streams and a size asked for (``-w``, None: no size)."""

Verdict = Literal["as_predicted", "below", "above", "no_result", "not_tcp"]

TOLERANCE = 0.1
"""Measured flows were within 10 % of the exact models in all but a few noisy rows of truth.csv."""


@dataclass(frozen=True, slots=True)
class MeasuredEvidence:
    """One measurement beside the direction that it measured.

    ``explained``: measured over predicted, None without a result or where no TCP was measured.
    ``steady_bps``: without the seconds of slow start.  ``in_flight_bytes``: what the rate means in
    payload a stream and RTT.
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


def compare_measured(
    report: PathReport, parsed: Parsed, *, reverse: bool = False, as_run: AsRun | None = None
) -> list[MeasuredEvidence]:
    """Every record of an iperf result beside the direction that it measured.

    The client is taken to have run on the path's first host; ``reverse``: on the second.  ``as_run``
    predicts for other streams or another size: a run that had its own is held against that.
    """
    records = parsed.values.get("records")
    found = []
    for record in records if isinstance(records, list) else []:
        if isinstance(record, dict):
            own = _report_of(report, record, as_run)
            back = record.get("reverse") is True
            direction = own.directions[1 if back != reverse else 0]
            judged = _compared(own, direction, record)
            said = _own_case(report, own)
            found.append(replace(judged, sentences=[*judged.sentences, *said]) if said else judged)
    return found


def _report_of(report: PathReport, record: Mapping[str, Json], as_run: AsRun | None) -> PathReport:
    """``report``, or the one for the streams and the size that the run had."""
    streams, asked = _first_number(record, "streams"), _first_number(record, "requested_bytes")
    count = report.streams if streams is None or streams < 1 else round(streams)
    size = report.window_bytes if asked is None or asked < 1 else min(round(asked), LARGEST_REQUEST_BYTES)
    if as_run is None or _is_udp(record) or (count, size) == (report.streams, report.window_bytes):
        return report
    return as_run(count, size)


def _own_case(report: PathReport, own: PathReport) -> list[str]:
    """With what the run was predicted, where that is not what was asked about."""
    parts = []
    if own.streams != report.streams:
        parts.append(f"its own {own.streams} stream{'' if own.streams == 1 else 's'}")
    if own.window_bytes != report.window_bytes and own.window_bytes is not None:
        parts.append(f"its own size of {format_size(own.window_bytes)} (-w)")
    return [f"Predicted for the run as it was: with {' and '.join(parts)}."] if parts else []


def _is_udp(record: Mapping[str, Json]) -> bool:
    return str(record.get("protocol") or "").lower() == "udp"


def _udp(direction: Direction, measured: float, record: Mapping[str, Json]) -> MeasuredEvidence:
    """A UDP test has no window; what it lost is what a prediction may be given."""
    said = ["A UDP test: it knows no window and goes at the rate that it was given, so nothing is compared."]
    lost, packets = _first_number(record, "lost_packets"), _first_number(record, "packets")
    if lost is not None and packets:
        share = format_ratio(min(1.0, lost / packets))
        given = f": --loss {share} says what TCP makes of that" if 0 < lost < packets else ""
        said.append(f"It lost {share} of {packets:,.0f} packets{given}.")
    return MeasuredEvidence(
        direction.from_host,
        direction.to_host,
        measured,
        None,
        direction.predicted_bps,
        None,
        None,
        "not_tcp",
        said,
    )


def live_evidence(parsed: Parsed, direction: Direction | None = None) -> LiveEvidence:
    """What ``ss -tin`` on the sender (``values["sockets"]``) says of the sockets that carry the test.

    Sockets that acknowledged less than a hundredth of the largest (control connections) are left out.
    """
    sockets = _carriers(_objects(parsed.values.get("sockets")))
    busy_ms = sum(_first_number(s, "busy_ms") or 0.0 for s in sockets)
    rwnd, sndbuf = (_share(sockets, name, busy_ms) for name in ("rwnd_limited_ms", "sndbuf_limited_ms"))
    cwnd = None if rwnd is None or sndbuf is None else max(0.0, 1 - rwnd - sndbuf)
    shares = (rwnd, sndbuf, cwnd)
    rtts = [_leading(s.get("rtt_ms")) for s in sockets]
    least = [_leading(s.get("minrtt_ms")) for s in sockets]
    windows = [_first_number(s, "snd_wnd") or 0.0 for s in sockets]
    return LiveEvidence(
        len(sockets),
        *shares,
        round(max(windows, default=0.0)) or None,
        max((ms / 1000 for ms in rtts if ms is not None), default=None),
        min((ms / 1000 for ms in least if ms is not None), default=None),
        sum(_retransmitted(s) for s in sockets) if sockets else None,
        _live_sentences(len(sockets), shares, direction),
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
    if _is_udp(record):
        return _udp(direction, measured, record)
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
        frame = report.mtu_bytes + ETHERNET_HEADER_BYTES
        payload = report.link_goodput_bps / report.link.rate_bps * frame
        segments = measured * report.link.rtt_s / 8 / payload / report.streams
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
        predicted = "none" if report.window_bytes is None else f"{report.window_bytes:,}"
        found.append(f"The run asked for {asked:,.0f} bytes (-w), the prediction for {predicted}.")
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


def _objects(value: Json) -> list[Mapping[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _carriers(sockets: list[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    acked = [_first_number(s, "bytes_acked") or 0.0 for s in sockets]
    most = max(acked, default=0.0)
    return [s for s, n in zip(sockets, acked, strict=True) if n > 0 and n * 100 >= most]


def _share(sockets: Sequence[Mapping[str, Json]], name: str, busy_ms: float) -> float | None:
    """ss leaves out a time that is zero, so a missing one counts as zero once a busy time is known."""
    if busy_ms <= 0:
        return None
    return min(1.0, sum(_first_number(s, name) or 0.0 for s in sockets) / busy_ms)


def _retransmitted(socket: Mapping[str, Json]) -> int:
    """The second number of ``retrans:0/12``: all since the connection began."""
    value = socket.get("retrans")
    total = value[-1] if isinstance(value, list) and value else None
    return total if isinstance(total, int) else 0


def _leading(value: Json) -> float | None:
    """The first of a pair: ``rtt:116.997/21.532`` is the mean and its variation."""
    first = value[0] if isinstance(value, list) and value else value
    ok = isinstance(first, int | float) and not isinstance(first, bool)
    return float(first) if ok and isinstance(first, int | float) else None


def _first_number(record: Mapping[str, Json], *names: str) -> float | None:
    for name in names:
        value = record.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None
