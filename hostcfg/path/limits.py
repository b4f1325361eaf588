"""Everything that limits one direction of a path, and to how many bit/s: windows, options, link, loss."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isinf
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.model import State
from hostcfg.path.report import Limit, LimitKind
from hostcfg.path.tcp import LOSS_HIGH, LOSS_LOW, Segment, algorithm, window_rate_bps
from hostcfg.platforms.endpoint import (
    MAX_WINDOW_BYTES,
    UNSCALED_WINDOW_BYTES,
    Flow,
    Side,
    Window,
    WindowModel,
    name_of,
)
from hostcfg.units import bounded

if TYPE_CHECKING:
    from hostcfg.model import Link, Reading

# Equal rates: the link is named before a window that just fills it, a buffer before the missing
# option that would allow no more than the buffer does.
_ORDER: dict[LimitKind, int] = {
    "link_rate": 0,
    "receive_window": 1,
    "explicit_window": 1,
    "send_buffer": 2,
    "window_scaling": 3,
    "loss": 4,
}


@dataclass(frozen=True, slots=True)
class Question:
    """One direction as asked about: ``sender`` writes, ``receiver`` reads.

    ``loss`` is the share of packets lost at random on the way, None where it is not known.
    """

    sender: WindowModel
    receiver: WindowModel
    link: Link
    segment: Segment
    flow: Flow
    streams: int
    loss: float | None

    @property
    def goodput_bps(self) -> float:
        """The link's rate without headers."""
        return self.link.rate_bps * self.segment.efficiency


@dataclass(frozen=True, slots=True)
class Windows:
    """What both ends allow one stream; ``scaled``: both offer the window scale option."""

    receive: Window
    send: Window
    scaled: bool

    @property
    def bytes(self) -> int | None:
        """Payload that one stream can have in flight; None where neither end's window is known."""
        known = [w.mid_bytes for w in (self.receive, self.send) if w.mid_bytes is not None]
        if not self.scaled:
            known.append(UNSCALED_WINDOW_BYTES)
        return min(known) if known else None

    @property
    def is_floor(self) -> bool:
        """Whether it is a send buffer that says so, which flows can exceed."""
        narrowest, send = self.bytes, self.send
        if narrowest is None or send.high_bytes is not None:
            return False
        return narrowest == send.mid_bytes and narrowest != self.receive.mid_bytes

    @property
    def text(self) -> str:
        """``2,810,183 bytes or more``."""
        return bounded(f"{self.bytes or 0:,} bytes", floor=self.is_floor)


def windows_of(question: Question) -> Windows:
    """Both windows, within what the memory of the hosts allows all streams together."""
    sender, receiver, flow = question.sender, question.receiver, question.flow
    return Windows(
        _within_memory(_within_field(receiver.receive(flow)), receiver, question.streams),
        _within_memory(sender.send(flow), sender, question.streams),
        sender.scaling().on and receiver.scaling().on,
    )


def _within_field(window: Window) -> Window:
    """``window`` as the header can tell it: no larger than 65,535 x 2^14 bytes (RFC 7323 section 2.3)."""
    if window.mid_bytes is None or window.mid_bytes <= MAX_WINDOW_BYTES:
        return window
    low, high = (
        None if size is None else min(size, MAX_WINDOW_BYTES)
        for size in (window.low_bytes, window.high_bytes)
    )
    return replace(window, low_bytes=low, mid_bytes=MAX_WINDOW_BYTES, high_bytes=high)


def limits_of(question: Question, windows: Windows) -> list[Limit]:
    """All limits, the one that leaves least first."""
    found = [_link_limit(question)]
    if windows.receive.mid_bytes is not None:
        found.append(_window_limit(question, windows.receive, question.receiver, "receive"))
    if windows.send.mid_bytes is not None:
        found.append(_window_limit(question, windows.send, question.sender, "send"))
    if not windows.scaled and (windows.receive.mid_bytes or MAX_WINDOW_BYTES) > UNSCALED_WINDOW_BYTES:
        found.append(_scaling_limit(question))
    if question.loss is not None and (lost := _loss_limit(question)) is not None:
        found.append(lost)
    return sorted(found, key=lambda limit: (limit.rate_bps, _ORDER[limit.kind]))


def unknown_of(windows: Windows) -> list[str]:
    """One sentence for each window that was not read."""
    return [w.reason for w in (windows.receive, windows.send) if w.mid_bytes is None and not w.unbounded]


def assumed_of(question: Question, windows: Windows) -> list[str]:
    """One sentence for each value that was assumed, in the order in which it matters."""
    notes = [*windows.receive.assumed, *windows.send.assumed]
    for model in (question.receiver, question.sender):
        notes += [n for n in (model.scaling().assumed, model.timestamps().assumed) if n is not None]
    algorithm_reading = question.sender.congestion_control()
    if question.loss is not None and algorithm_reading.state is not State.VALUE:
        notes.append(f"{question.sender.missing(algorithm_reading)}: assumed to take loss as Reno does")
    return list(dict.fromkeys(notes))


def _within_memory(window: Window, model: WindowModel, streams: int) -> Window:
    """``window`` cut to its share of the memory that all streams may have together."""
    for limit in model.memory_limits():
        wanted = streams * (window.buffer_bytes or 0)
        if window.mid_bytes is None or wanted <= limit.total_bytes:
            continue
        share = limit.total_bytes / wanted
        high = None if window.high_bytes is None else int(window.high_bytes * share)
        name = name_of(limit.reading)
        reason = f"{name} leaves {streams} streams {limit.total_bytes:,} bytes of buffers together"
        window = replace(
            window,
            low_bytes=int((window.low_bytes or 0) * share),
            mid_bytes=int(window.mid_bytes * share),
            high_bytes=high,
            setting=limit.reading.setting,
            key=limit.reading.key,
            value=limit.reading.value,
            element=limit.reading.element,
            reason=reason,
            assumed=(*window.assumed, *([limit.assumed] if limit.assumed else [])),
        )
    return window


def _window_limit(question: Question, window: Window, model: WindowModel, side: Side) -> Limit:
    kind: LimitKind = "receive_window" if side == "receive" else "send_buffer"
    if question.flow.explicit_bytes is not None:
        kind = "explicit_window"
    mid = window.mid_bytes or 0
    return Limit(
        kind,
        model.facts.host,
        window.setting,
        window.key,
        window.value,
        _rate(question, mid),
        _rate(question, mid if window.low_bytes is None else window.low_bytes),
        inf if window.high_bytes is None else _rate(question, window.high_bytes),
        window.reason,
        mid,
        window.element,
        _word(model, window.key),
    )


def _word(model: WindowModel, key: str | None) -> str | None:
    """The native value of ``key`` where it is a word: an autotuning level."""
    native = model.facts.native.get(key) if key is not None else None
    raw = native.raw if native is not None and native.state is State.VALUE else None
    return raw.strip() if raw is not None and raw.strip().isalpha() else None


def _scaling_limit(question: Question) -> Limit:
    """65,535 bytes where one end does not offer the option (RFC 7323 section 2.2)."""
    off = next(m for m in (question.receiver, question.sender) if not m.scaling().on)
    reading: Reading = off.scaling().reading
    rate = _rate(question, UNSCALED_WINDOW_BYTES)
    return Limit(
        "window_scaling",
        off.facts.host,
        "window_scaling",
        reading.key,
        reading.value,
        rate,
        rate,
        rate,
        f"without the window scale option at both ends a window ends at {UNSCALED_WINDOW_BYTES:,} bytes",
        UNSCALED_WINDOW_BYTES,
        reading.element,
        _word(off, reading.key),
    )


def _link_limit(question: Question) -> Limit:
    """The link's rate less headers; a short queue keeps a lossless flow from all of it."""
    rate, segment = question.goodput_bps, question.segment
    cc = algorithm(_algorithm_name(question))
    survive = 1 - question.loss if question.loss is not None and cc.family == "model" else 1.0
    reason = f"{segment.payload_bytes} of {segment.frame_bytes} bytes of each frame are data"
    value = question.link.rate_bps
    return Limit("link_rate", None, None, None, value, rate, rate * cc.shallow * survive, rate, reason)


def _loss_limit(question: Question) -> Limit | None:
    """What random loss leaves; None where the algorithm does not take loss as a sign of congestion."""
    mss, rtt_s = question.segment.payload_bytes, question.link.rtt_s
    cc = algorithm(_algorithm_name(question))
    segments = cc.window_segments(question.loss or 0.0, rtt_s)
    if isinf(segments):
        return None
    rate = question.streams * segments * mss * 8 / rtt_s
    reading = question.sender.congestion_control()
    return Limit(
        "loss",
        question.sender.facts.host,
        "congestion_control",
        reading.key,
        reading.value,
        rate,
        rate * LOSS_LOW,
        rate * LOSS_HIGH,
        f"a loss of {question.loss:.3g} keeps {cc.family} at {segments:.0f} segments on average",
        int(segments * mss),
        reading.element,
    )


def _algorithm_name(question: Question) -> str | None:
    value = question.sender.congestion_control().value
    return value if isinstance(value, str) else None


def _rate(question: Question, window_bytes: int) -> float:
    """Goodput of all streams with ``window_bytes`` each."""
    one = window_rate_bps(window_bytes, question.segment.payload_bytes, question.link.rtt_s)
    return question.streams * one
