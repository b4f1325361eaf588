"""What is worth saying about a path beside its limits: requests cut or refused, room, queues, memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.model import Finding, Severity
from hostcfg.path.limits import windows_of
from hostcfg.path.report import HostFinding
from hostcfg.path.sentences import need_text
from hostcfg.path.tcp import loaded_rtt_s
from hostcfg.platforms.endpoint import UNSCALED_WINDOW_BYTES, WindowModel
from hostcfg.units import bounded, format_rate, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostcfg.path.limits import Question, Windows
    from hostcfg.path.report import Direction

QUEUE_FACTOR, QUEUE_S = 4, 0.1
"""A standing queue is worth a word when it makes the round trip four times as long and adds 100 ms."""
LAN_RTT_S = 0.01
"""Where buffers of the WAN's size only do harm."""
MEMORY_SHARE = 0.5
"""Buffers above half of the RAM are worth a word."""


def findings_of(
    questions: Sequence[Question], windows: Sequence[Windows], directions: Sequence[Direction]
) -> list[HostFinding]:
    """Each once: the most serious first, in the order of the directions otherwise."""
    found: list[HostFinding] = []
    for question, window, direction in zip(questions, windows, directions, strict=True):
        found += _request_findings(question, window)
        found += _autotuning_finding(question, window)
        found += _headroom_finding(question, window, direction)
        found += _queue_finding(question, window)
        found += _memory_findings(question, direction)
    for question in questions:
        found += _host_findings(question.sender)
    order = {"error": 0, "warning": 1, "info": 2}
    once: dict[tuple[str | None, str, str], HostFinding] = {}
    for item in found:
        once.setdefault((item.host, item.finding.kind, item.finding.message), item)
    return sorted(once.values(), key=lambda f: order[f.finding.severity])


def _request_findings(question: Question, windows: Windows) -> Iterator[HostFinding]:
    """A size asked for that a host cuts or refuses."""
    for model, window in ((question.receiver, windows.receive), (question.sender, windows.send)):
        host, key = model.facts.host, (window.key or "-w",)
        if window.refused is not None:
            yield _finding(host, "explicit_refused", "error", f"{host}: {window.refused}", key)
        elif window.clamped:
            message = f"{host} does not grant the size asked for: {window.reason}"
            yield _finding(host, "explicit_clamped", "warning", message, key)


def _autotuning_finding(question: Question, windows: Windows) -> Iterator[HostFinding]:
    """An explicit size switches autotuning off: a fault where the OS alone would do better."""
    asked = question.flow.explicit_bytes
    if asked is None or windows.bytes is None:
        return
    tuned = windows_of(replace(question, flow=replace(question.flow, explicit_bytes=None)))
    worse = tuned.bytes is not None and tuned.bytes > windows.bytes
    ends = (question.sender, question.receiver)
    if worse:
        way = f"{ends[0].facts.host} -> {ends[1].facts.host}"
        message = (
            f"{way}: asking for {format_size(asked)} leaves a window of {windows.bytes:,} bytes; without it "
            f"autotuning would reach {tuned.text}"
        )
        yield _finding(None, "autotuning_off", "warning", message, ("-w",))
    for model in ends:
        host = model.facts.host
        yield _finding(host, "explicit_effect", "info", f"{host}: {model.explicit_effect()}", ("-w",))


def _headroom_finding(question: Question, windows: Windows, direction: Direction) -> Iterator[HostFinding]:
    """A window between one and two BDP: enough for an empty queue, not for one that has filled."""
    link, window = question.link, windows.bytes
    if direction.limited_by.kind != "link_rate" or window is None:
        return
    total = question.streams * window
    if not link.bdp_bytes <= total < 2 * link.bdp_bytes:
        return
    narrow = next(limit for limit in direction.limits if limit.kind not in {"link_rate", "loss"})
    severity: Severity = "warning" if window <= UNSCALED_WINDOW_BYTES + 1 else "info"
    carries = "carries about" if narrow.is_floor else "never carries more than"
    message = (
        f"{direction.from_host} -> {direction.to_host}: {narrow.host}'s window of {window:,} bytes "
        f"{carries} {format_rate(narrow.rate_bps)}; the link is slower, but once queues double "
        f"the RTT the window limits to {bounded(format_rate(narrow.rate_bps / 2), floor=narrow.is_floor)}"
    )
    yield _finding(narrow.host, "window_headroom", severity, message, (narrow.key or "-w",))


def _queue_finding(question: Question, windows: Windows) -> Iterator[HostFinding]:
    """Windows far above the BDP: every other flow waits behind what these streams keep in the queue."""
    window, link = windows.bytes, question.link
    if window is None:
        return
    loaded = loaded_rtt_s(window * question.streams, question.segment, link.rate_bps)
    if loaded < QUEUE_FACTOR * link.rtt_s or loaded - link.rtt_s < QUEUE_S:
        return
    host = question.sender.facts.host
    flows = "one such flow" if question.streams == 1 else f"{question.streams} such flows together"
    message = (
        f"{host}: a window of {window:,} bytes is {window / link.bdp_bytes:.1f} times the BDP: {flows} "
        f"can hold {format_time(loaded - link.rtt_s)} of queue before the link where the queue is "
        "that long, and starve the others; the profile lan caps the send buffers"
    )
    keys = tuple(k for k in (windows.send.key, windows.receive.key) if k is not None)
    severity: Severity = "warning" if link.rtt_s < LAN_RTT_S else "info"
    yield _finding(host, "standing_queue", severity, message, keys)


def _memory_findings(question: Question, direction: Direction) -> Iterator[HostFinding]:
    """Needs whose buffers would take more than half of the host's RAM."""
    for item in direction.needs:
        model = question.receiver if item.host == direction.to_host else question.sender
        memory, target = model.facts.memory_bytes, item.need.target
        if memory is None or item.need.setting not in {"recv_buffer_max", "send_buffer_max"}:
            continue
        if isinstance(target, int) and target * question.streams > MEMORY_SHARE * memory:
            message = (
                f"{item.host}: {question.streams} streams with such buffers ({need_text(item)}) "
                f"could take more than half of the {format_size(memory)} of RAM"
            )
            yield _finding(item.host, "buffer_memory", "warning", message, (item.need.key or "",))


def _host_findings(model: WindowModel) -> Iterator[HostFinding]:
    """The host's own findings from warnings up, those on lines not understood, and its window model's."""
    host = model.facts.host
    for text in model.notes():
        yield _finding(host, "window_note", "warning", text, ())
    for finding in model.facts.findings:
        if finding.severity != "info" or finding.kind == "unrecognized":
            yield HostFinding(host, replace(finding, keys=tuple(finding.keys)))


def _finding(
    host: str | None, kind: str, severity: Severity, message: str, keys: tuple[str, ...]
) -> HostFinding:
    return HostFinding(host, Finding(kind, severity, message, keys))
