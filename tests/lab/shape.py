"""What the emulated path is: rate, round-trip time, queue and loss, both directions alike."""

from __future__ import annotations

from dataclasses import dataclass

from hostcfg.errors import UnitError
from hostcfg.units import parse_rate, parse_ratio, parse_size, parse_time

_LEAST_QUEUE_BYTES = 4 * 1514


@dataclass(frozen=True)
class Shape:
    """One path.

    Rate and queue count Ethernet bytes (1514 for a segment of 1448): the best goodput is 0.956 of the
    rate.  ``rtt_s`` is what an idle ping shows.
    """

    rate_bps: float
    rtt_s: float
    queue_bytes: int
    loss: float = 0.0

    @classmethod
    def of(cls, rate: str, rtt: str, queue: str = "1bdp", loss: str = "0%") -> Shape:
        """From text with units; the queue in bytes or in BDPs (``10bdp``)."""
        rate_bps, rtt_s = parse_rate(rate), parse_time(rtt)
        if queue.endswith("bdp"):
            try:
                queue_bytes = int(float(queue.removesuffix("bdp")) * rate_bps * rtt_s / 8)
            except ValueError:
                raise UnitError(f"{queue!r} is no queue: give 1bdp, 10bdp or a size as in 64K") from None
        else:
            queue_bytes = parse_size(queue)
        return cls(rate_bps, rtt_s, max(queue_bytes, _LEAST_QUEUE_BYTES), parse_ratio(loss))

    def order(self) -> list[str]:
        """Rate in bit/s, one-way delay in us, queue in bytes and loss in ppm, as delayline reads them."""
        numbers = (self.rate_bps, self.rtt_s * 500_000, self.queue_bytes, self.loss * 1_000_000)
        return [str(round(number)) for number in numbers]
