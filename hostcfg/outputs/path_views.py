"""A path's analysis to blocks: fit for a terminal, and for the mail to the far end's admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Facts, Reading, State
from hostcfg.outputs.blocks import Block, Code, Column, Heading, Paragraph, Row, Table, Tone, one_line
from hostcfg.outputs.views import TONES, value_text
from hostcfg.path.sentences import limit_name, limit_rate, predicted_rate, predicted_share
from hostcfg.units import bounded, format_rate, format_ratio, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.path import Direction, LiveEvidence, MeasuredEvidence, PathReport
    from hostcfg.path.report import HostFinding, Limit

SHOWN = (
    "recv_buffer_max",
    "send_buffer_max",
    "recv_explicit_max",
    "send_explicit_max",
    "socket_buffer_max",
    "window_scaling",
    "timestamps",
    "recv_autotuning",
    "congestion_control",
)
"""Settings that decide a window, side by side."""

MARK = " <--"


def path_blocks(
    report: PathReport,
    a: Facts,
    b: Facts,
    measured: list[MeasuredEvidence] | None = None,
    live: LiveEvidence | None = None,
) -> list[Block]:
    """Both hosts side by side with the limit marked, then each direction, then how to test it."""
    link = report.link
    aside = (
        f"{format_rate(link.rate_bps)} x {format_time(link.rtt_s)}, BDP {format_size(round(link.bdp_bytes))}"
    )
    blocks: list[Block] = [Heading(f"{a.host} <-> {b.host}", aside), _side_by_side(report, a, b)]
    for direction in report.directions:
        blocks += _direction_blocks(report, direction)
    blocks += _measured_blocks(measured or [], live)
    findings = [_finding(f) for f in report.findings]
    if findings:
        blocks += [Heading("Also"), *findings]
    return [*blocks, *_test_blocks(report)]


def _finding(found: HostFinding) -> Paragraph:
    """The finding after its host, where it does not begin with the host or a direction itself."""
    message, severity = found.finding.message, found.finding.severity
    named = found.host is None or message.startswith(found.host) or " -> " in message.partition(": ")[0]
    text = message if named else f"{found.host}: {message}"
    return Paragraph(text, TONES[severity], "note" if severity == "info" else severity)


def _side_by_side(report: PathReport, a: Facts, b: Facts) -> Table:
    limits = {(d.limited_by.host, d.limited_by.setting) for d in report.directions}
    rows = []
    for name in SHOWN:
        sides = [_side(facts, name, (facts.host, name) in limits) for facts in (a, b)]
        if any(text for text in sides):
            tone: Tone = "warning" if any(text.endswith(MARK) for text in sides) else "plain"
            rows.append(Row((name, *(text or "-" for text in sides)), tone=tone))
    return Table(
        (Column("Setting", fixed=True), Column(a.host, right=True), Column(b.host, right=True)), rows
    )


def _side(facts: Facts, name: str, limiting: bool) -> str:
    reading = facts.readings.get(name, Reading(name, None, State.UNSUPPORTED))
    if reading.state is State.UNSUPPORTED:
        return ""
    text = value_text(reading.value) if reading.state is State.VALUE else reading.state.value
    native = facts.native.get(reading.key or "")
    if native is not None and native.raw is not None and native.raw.strip().isalpha() and text.isdecimal():
        text = f"{native.raw.strip()} ({text})"  # a level's name beside its bytes
    return text + MARK if limiting else text


def limits(direction: Direction) -> bool:
    """Whether a setting limits this direction, and not the link or its losses."""
    return direction.limited_by.kind not in ("link_rate", "loss")


def _direction_blocks(report: PathReport, direction: Direction) -> list[Block]:
    limited = limits(direction)
    share = predicted_share(direction, report.link_goodput_bps)
    aside = f"{predicted_rate(direction)}, {share} of what the link carries"
    title = f"{direction.from_host} -> {direction.to_host}"
    blocks: list[Block] = [Heading(title, aside, "warning" if limited else "good")]
    blocks += [Paragraph(sentence) for sentence in direction.sentences]
    columns = (Column("Limit"), Column("Window", right=True), Column("Allows", right=True))
    rows = [_limit_row(limit, first=not i) for i, limit in enumerate(direction.limits)]
    blocks.append(Table(columns, rows))
    commands = [f"{need.command}   # on {one_line(need.host)}" for need in direction.needs if need.command]
    if commands:
        alone = not limited and report.streams > 1
        title = "So that one stream alone fills it:" if alone else "To mend it:"
        blocks += [Paragraph(title), Code("\n".join(commands))]
    notes = dict.fromkeys(need.need.note for need in direction.needs if need.need.note is not None)
    blocks += [Paragraph(note, "note", "note") for note in notes]
    return blocks + [Paragraph(text, "note", "assumed") for text in direction.assumed]


def _limit_row(limit: Limit, *, first: bool) -> Row:
    window = "-" if limit.window_bytes is None else str(limit.window_bytes)
    return Row(
        (limit_name(limit), window, limit_rate(limit)), tone="warning" if first and limit.host else "plain"
    )


def _measured_blocks(measured: list[MeasuredEvidence], live: LiveEvidence | None) -> list[Block]:
    blocks: list[Block] = []
    if measured:
        blocks.append(Heading("Measured beside predicted"))
        columns = (
            Column("Direction"),
            Column("Measured", right=True),
            Column("Predicted", right=True),
            Column("Share", right=True),
        )
        rows = [
            Row(
                (
                    f"{m.from_host} -> {m.to_host}",
                    "-" if m.measured_bps is None else format_rate(m.measured_bps),
                    bounded(format_rate(m.predicted_bps), floor=m.predicted_is_floor),
                    "-" if m.explained is None else format_ratio(m.explained),
                ),
                " ".join(m.sentences),
            )
            for m in measured
        ]
        blocks.append(Table(columns, rows, detail_title="What it says"))
    if live is not None:
        blocks.append(Heading("The running transfer", f"{live.sockets} connections"))
        if live.rwnd_limited is None:  # nothing to tabulate
            return blocks + [Paragraph(sentence) for sentence in live.sentences]
        shares = (
            ("receive window", live.rwnd_limited),
            ("send buffer", live.sndbuf_limited),
            ("congestion window", live.cwnd_limited),
        )
        rows = [Row((name, "-" if share is None else format_ratio(share))) for name, share in shares]
        blocks.append(Table((Column("Limited by"), Column("Share of time", right=True)), rows))
        blocks += [Paragraph(sentence) for sentence in live.sentences]
    return blocks


def _test_blocks(report: PathReport) -> list[Block]:
    blocks: list[Block] = [Heading("How to test it")]
    shared = [
        w for w in report.directions[0].test.warnings if all(w in d.test.warnings for d in report.directions)
    ]
    for direction in report.directions:
        blocks.append(Paragraph(_test_sentence(direction)))
        blocks.append(Code("\n".join(direction.test.commands)))
        own = [warning for warning in direction.test.warnings if warning not in shared]
        blocks += [Paragraph(warning, "warning", "warning") for warning in own]
    return blocks + [Paragraph(warning, "warning", "warning") for warning in shared]


def _test_sentence(direction: Direction) -> str:
    """How long, and with how many streams and why."""
    test = direction.test
    text = (
        f"{direction.from_host} -> {direction.to_host}: {test.seconds} s, the first {test.omit_s} s left out "
        "(slow start)"
    )
    return text if test.streams_reason is None else f"{text}, {test.streams} streams: {test.streams_reason}"


def rank_directions(reports: Sequence[PathReport]) -> list[tuple[PathReport, Direction, float]]:
    """All directions with the share that each has of what its link carries, the least share first."""
    directions = [
        (report, d, d.predicted_bps / report.link_goodput_bps)
        for report in reports
        for d in report.directions
    ]
    return sorted(directions, key=lambda ranked: ranked[2])


def path_summary_blocks(reports: Sequence[PathReport]) -> list[Block]:
    """Many paths, the worst first: what each direction reaches and what limits it."""
    columns = (
        Column("Path"),
        Column("Predicted", right=True),
        Column("Of the link", right=True),
        Column("Limited by"),
    )
    rows = [
        Row(
            (
                f"{d.from_host} -> {d.to_host}",
                predicted_rate(d),
                predicted_share(d, report.link_goodput_bps),
                limit_name(d.limited_by),
            ),
            tone="warning" if limits(d) else "plain",
        )
        for report, d, _ in rank_directions(reports)
    ]
    return [Table(columns, rows)] if rows else [Paragraph("No path could be analysed.", "error")]
