"""One host and a link, without the other end: what its buffers allow at best, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.path.tcp import DEFAULT_MTU_BYTES, Segment
from hostcfg.platforms import get_platform
from hostcfg.platforms.endpoint import UNSCALED_WINDOW_BYTES, Flow
from hostcfg.units import format_rate, format_time

if TYPE_CHECKING:
    from hostcfg.model import Facts, Link


def throughput_sentence(facts: Facts, link: Link) -> str | None:
    """What one connection of this host reaches on ``link`` if the far end allows it.

    Window / RTT (RFC 7323 section 1.1), the receiving and the sending side apart.  None where
    nothing that decides it was read.
    """
    model = get_platform(facts.os).window_model(facts)
    segment = Segment.of(DEFAULT_MTU_BYTES, timestamps=model.timestamps().on)
    flow = Flow(None, segment.payload_bytes, model.timestamps().on, link.rtt_s)
    scaled = model.scaling().on
    sides = []
    for name, window in (("receive buffer", model.receive(flow)), ("send buffer", model.send(flow))):
        if window.mid_bytes is None:
            continue
        capped = not scaled and window.mid_bytes > UNSCALED_WINDOW_BYTES
        window_bytes = UNSCALED_WINDOW_BYTES if capped else window.mid_bytes
        sides.append(("window without scaling" if capped else name, window_bytes * 8 / link.rtt_s))
    if not sides:
        return None
    slow = {name: bps for name, bps in sides if bps < link.rate_bps}
    whole = f"{format_rate(link.rate_bps)} at {format_time(link.rtt_s)}"
    if not slow:
        names = " and ".join(name for name, _ in sides)
        return f"One connection: the {names} allow{'s' if len(sides) == 1 else ''} the whole {whole}."
    parts = [f"the {name} allows {format_rate(_rounded(bps))}" for name, bps in slow.items()]
    return f"One connection: {', '.join(parts)} of the {whole}."


def _rounded(bps: float) -> float:
    """Three digits: a window says no more."""
    return float(f"{bps:.3g}")
