"""A test that is done beside the prediction: the results of iperf."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass
from hostcfg.path.sentences import limit_name, predicted_rate
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

LARGEST_NUMBER = 1e24
"""Beyond every rate, size and time that a test can tell: a damaged text."""
TOLERANCE = 0.1
"""Measured flows were within 10 % of the exact models in all but a few noisy rows of truth.csv."""
OTHER_RTT = 1.5
"""An RTT that differs by this factor is another one than was asked about."""


@dataclass(frozen=True, slots=True)
class MeasuredEvidence:
    """One measurement beside the direction that it measured.

    ``predicted_is_floor``: what limits is soft, flows may exceed the prediction.
    ``explained``: measured over predicted, None without a result or where no TCP was measured.
    ``steady_bps``: without the seconds of slow start.  ``in_flight_bytes``: what the rate means in
    payload a stream and RTT.  ``rtt_s``: the least round trip that the test itself saw, else the mean.
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
    predicted_is_floor: bool = False
    rtt_s: float | None = None


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
    streams, asked = first_number(record, "streams"), first_number(record, "requested_bytes")
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
    lost, packets = first_number(record, "lost_packets"), first_number(record, "packets")
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


def _compared(report: PathReport, direction: Direction, record: Mapping[str, Json]) -> MeasuredEvidence:
    measured = first_number(record, "received_bps", "sent_bps")
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
    streams = first_number(record, "streams") or 1.0
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
            *_measured_sentences(report, direction, measured, record),
            *_run_sentences(report, direction, record),
        ],
        direction.limited_by.is_floor,
        _rtt_s(record),
    )


def _verdict(direction: Direction, measured: float) -> Verdict:
    if measured < direction.low_bps * (1 - TOLERANCE):
        return "below"
    return "above" if measured > direction.high_bps * (1 + TOLERANCE) else "as_predicted"


def _measured_sentences(
    report: PathReport, direction: Direction, measured: float, record: Mapping[str, Json]
) -> list[str]:
    limit, verdict = direction.limited_by, _verdict(direction, measured)
    share = format_ratio(measured / direction.predicted_bps)
    found = [
        (
            f"Measured {format_rate(measured)} of the {predicted_rate(direction)} that "
            f"{limit_name(limit)} leaves: {share}."
        )
    ]
    other = _other_link(report, measured, record, verdict)
    found += other
    if verdict == "below":
        told = _told_rate_bps(direction, record)
        if told is not None and measured <= told * (1 + TOLERANCE):
            found.append(
                f"The test was told to send no more than {format_rate(told)} (-b): it shows no limit."
            )
        longer = (_rtt_s(record) or 0.0) / report.link.rtt_s if other else 1.0
        explained = measured * max(1.0, longer) >= direction.low_bps * (1 - TOLERANCE)
        if not explained and (told is None or measured < told * (1 - TOLERANCE)):
            found.append(_unexplained(report, measured, record))
    if verdict == "above" and not other:
        found.append("That is more than the settings allow: they changed since, or the test used others.")
    return found


def _rtt_s(record: Mapping[str, Json]) -> float | None:
    """The least round trip that the test saw, else the mean; None where it tells none."""
    micros = first_number(record, "min_rtt_us", "mean_rtt_us")
    return micros / 1e6 if micros is not None and micros > 0 else None


def _other_link(
    report: PathReport, measured: float, record: Mapping[str, Json], verdict: Verdict
) -> list[str]:
    """What says that the test ran over another link than was asked about.

    The RTTs that iperf tells are smoothed and under load (tcpi_rtt): a shorter one is another path, a
    longer one may be the queue, so it is told only where it could be why a test is slow.
    """
    seen, link, found = _rtt_s(record), report.link, []
    if seen is not None and seen * OTHER_RTT < link.rtt_s:
        found.append(
            f"The test itself saw an RTT of {format_time(seen)}, not {format_time(link.rtt_s)}: "
            f"--rtt {format_time(seen).replace(' ', '')} says what the settings allow there."
        )
    elif seen is not None and seen > OTHER_RTT * link.rtt_s and verdict == "below":
        found.append(
            f"The test itself saw an RTT of {format_time(seen)}, not {format_time(link.rtt_s)}: a queue "
            "that was full, or a longer path."
        )
    if measured > link.rate_bps:
        found.append(f"That is more than a link of {format_rate(link.rate_bps)} carries: --rate is another.")
    return found


def _told_rate_bps(direction: Direction, record: Mapping[str, Json]) -> float | None:
    """What all streams of the run together were told to send (``-b`` is of each), where that is the limit."""
    each, streams = first_number(record, "target_bps"), first_number(record, "streams") or 1.0
    return each * streams if each and each * streams < direction.low_bps else None


def _unexplained(report: PathReport, measured: float, record: Mapping[str, Json]) -> str:
    """What may have held a run below its limit; a loss only where something was retransmitted."""
    others = "a longer RTT under load, a slow program or disk, or a rate limit on the way"
    if first_number(record, "retransmits") == 0:
        return (
            f"The limit does not explain the rest, and nothing was retransmitted, so no loss does: {others}."
        )
    frame = report.mtu_bytes + ETHERNET_HEADER_BYTES
    payload = report.link_goodput_bps / report.link.rate_bps * frame
    segments = measured * report.link.rtt_s / 8 / payload / report.streams
    loss = loss_that_explains(segments)
    return f"The limit does not explain the rest: a loss of {format_ratio(loss)} would (Reno), or {others}."


def _run_sentences(report: PathReport, direction: Direction, record: Mapping[str, Json]) -> list[str]:
    """What makes this run another case than the predicted one."""
    found = []
    streams, asked = first_number(record, "streams"), first_number(record, "requested_bytes")
    if streams is not None and streams != report.streams:
        found.append(f"The run had {streams:.0f} streams, the prediction {report.streams}.")
    if asked is not None and asked != report.window_bytes:
        predicted = "none" if report.window_bytes is None else f"{report.window_bytes:,}"
        found.append(f"The run asked for {asked:,.0f} bytes (-w), the prediction for {predicted}.")
    seconds = first_number(record, "seconds")
    if seconds is not None and seconds < 5 * direction.slow_start_s:
        found.append(
            f"The run took {format_time(seconds)}, slow start alone takes "
            f"{format_time(direction.slow_start_s)}: it was too short to show the limit."
        )
    retransmits = first_number(record, "retransmits")
    own_limit = direction.limited_by.kind not in {"loss", "link_rate"}
    if retransmits == 0 and own_limit and _told_rate_bps(direction, record) is None:
        found.append("Nothing was retransmitted, as it is where a window or a buffer limits.")
    return found


def _steady_bps(record: Mapping[str, Json], after_s: float) -> float | None:
    """Mean rate of the whole test's intervals that start after slow start; None if there are none."""
    intervals = record.get("intervals")
    bits = seconds = 0.0
    for row in intervals if isinstance(intervals, list) else []:
        if not isinstance(row, dict) or row.get("omitted") is True:
            continue
        start, end, rate = (first_number(row, name) for name in ("start", "end", "bps"))
        if start is None or end is None or rate is None or start < after_s or end <= start:
            continue
        bits, seconds = bits + rate * (end - start), seconds + end - start
    return bits / seconds if seconds > 0 else None


def first_number(record: Mapping[str, Json], *names: str) -> float | None:
    """The first of ``names`` that holds a count or quantity that can be; None if none of them does."""
    for name in names:
        value = record.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST_NUMBER:
            return float(value)
    return None
