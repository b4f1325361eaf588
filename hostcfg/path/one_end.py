"""One host and a link, without the other end: what its buffers allow at best, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.path.tcp import DEFAULT_MTU_BYTES, Segment
from hostcfg.platforms import get_platform
from hostcfg.platforms.endpoint import UNSCALED_WINDOW_BYTES, Flow
from hostcfg.units import bounded, format_rate, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Facts, Link

LEAST_LOSS = 0.05
"""A throughput that falls by less than this is the same: a window is known no better."""


@dataclass(frozen=True, slots=True)
class _Side:
    """What one side of a host allows one connection; ``is_floor``: flows may have more."""

    name: str
    rate_bps: float
    is_floor: bool

    def on(self, link: Link) -> str:
        """The rate in words, three digits of it: a window says no more; never above the link's."""
        if self.rate_bps >= link.rate_bps:
            return format_rate(link.rate_bps)
        return bounded(format_rate(float(f"{self.rate_bps:.3g}")), floor=self.is_floor)


def _sides(facts: Facts, link: Link) -> dict[str, _Side]:
    """The receiving and the sending side, as far as what decides them was read."""
    model = get_platform(facts.os).window_model(facts)
    segment = Segment.of(DEFAULT_MTU_BYTES, timestamps=model.timestamps().on)
    flow = Flow(None, segment.payload_bytes, model.timestamps().on, link.rtt_s)
    scaled = model.scaling().on
    sides = {}
    for name, window in (("receive buffer", model.receive(flow)), ("send buffer", model.send(flow))):
        if window.mid_bytes is None:
            continue
        capped = not scaled and window.mid_bytes > UNSCALED_WINDOW_BYTES
        window_bytes = UNSCALED_WINDOW_BYTES if capped else window.mid_bytes
        said = "window without scaling" if capped else name
        is_floor = window.high_bytes is None and not capped
        sides[name] = _Side(said, window_bytes * 8 / link.rtt_s, is_floor)
    return sides


def throughput_sentence(facts: Facts, link: Link) -> str | None:
    """What one connection of this host reaches on ``link`` if the far end allows it.

    Window / RTT (RFC 7323 section 1.1), the receiving and the sending side apart.  None where
    nothing that decides it was read.
    """
    sides = _sides(facts, link).values()
    if not sides:
        return None
    slow = {side.name: side.on(link) for side in sides if side.rate_bps < link.rate_bps}
    if not slow:
        names = " and ".join(side.name for side in sides)
        return f"One connection: the {names} allow{'s' if len(sides) == 1 else ''} the whole {_whole(link)}."
    parts = [f"the {name} allows {rate}" for name, rate in slow.items()]
    return f"One connection: {', '.join(parts)} of the {_whole(link)}."


def slower_sentence(facts: Facts, raws: Mapping[str, str], link: Link) -> str | None:
    """What one connection loses on ``link`` once native keys have the values ``raws``; None: nothing."""
    from hostcfg.path.mended import with_raws

    before, after = _sides(facts, link), _sides(with_raws(facts, raws), link)
    parts: dict[str, str] = {}
    for name, then in after.items():
        now = before.get(name)
        if now is not None and then.rate_bps < min(now.rate_bps, link.rate_bps) * (1 - LEAST_LOSS):
            parts.setdefault(f"the {then.name} allows {then.on(link)}", now.on(link))
    if not parts:
        return None
    said = ", ".join(f"{then} (now {now})" for then, now in parts.items())
    return f"One connection will be slower at {format_time(link.rtt_s)}: after the change {said}."


def _whole(link: Link) -> str:
    return f"{format_rate(link.rate_bps)} at {format_time(link.rtt_s)}"
