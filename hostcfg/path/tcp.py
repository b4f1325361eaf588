"""The arithmetic of one TCP flow on one link: segments, windows, loss, slow start.  No OS, no I/O."""

from __future__ import annotations

from math import cbrt, ceil, inf, log2, sqrt

from hostcfg.lean import dataclass

ETHERNET_HEADER_BYTES = 14
"""What a frame adds to its IP packet where rates count Ethernet bytes (IEEE 802.3, no FCS, no gap)."""
IP_HEADER_BYTES, TCP_HEADER_BYTES = 20, 20
TIMESTAMPS_BYTES = 12
"""The option of 10 bytes, padded (RFC 7323 appendix A)."""
DEFAULT_MTU_BYTES = 1500
SMALLEST_MTU_BYTES = 68
"""RFC 791."""

CUBIC_C, CUBIC_BETA = 0.4, 0.7
"""RFC 9438 sections 4.6 and 5."""
LOSS_LOW, LOSS_HIGH = 0.6, 1.4
"""Flows with random loss were measured within 40 % of the response functions (truth.csv)."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A full segment on the wire: ``frame_bytes`` of Ethernet carry ``payload_bytes`` of data."""

    payload_bytes: int
    frame_bytes: int

    @classmethod
    def of(cls, mtu_bytes: int, *, timestamps: bool) -> Segment:
        """The largest segment that an IPv4 packet of ``mtu_bytes`` carries: 1448 in 1514 for 1500."""
        headers = IP_HEADER_BYTES + TCP_HEADER_BYTES + (TIMESTAMPS_BYTES if timestamps else 0)
        return cls(mtu_bytes - headers, mtu_bytes + ETHERNET_HEADER_BYTES)

    @property
    def efficiency(self) -> float:
        """Share of the link's rate that is data: 0.956, without timestamps 0.964 (MTU 1500)."""
        return self.payload_bytes / self.frame_bytes


def window_rate_bps(window_bytes: int, mss_bytes: int, rtt_s: float) -> float:
    """Goodput of one flow with ``window_bytes`` in flight each round trip, in whole segments.

    floor(W / MSS) x MSS x 8 / RTT; a window below one segment is used as it is.
    """
    whole = window_bytes // mss_bytes * mss_bytes
    return (whole or window_bytes) * 8 / rtt_s


def loaded_rtt_s(window_bytes: float, segment: Segment, rate_bps: float) -> float:
    """Round trip once the window has filled the queue before the link: W x frame / payload x 8 / rate."""
    return window_bytes / segment.efficiency * 8 / rate_bps


def reno_window_segments(loss: float) -> float:
    """Average window of Reno's response function, sqrt(3/2) / sqrt(p) (Mathis 1997, RFC 9438 5.1)."""
    return sqrt(1.5 / loss)


def cubic_window_segments(loss: float, rtt_s: float) -> float:
    """Average window of CUBIC: (C (3 + b) / (4 (1 - b)))^1/4 x (RTT / p)^3/4 (RFC 9438 section 5.1).

    Where Reno would have more, CUBIC is in its Reno-friendly region and has as much (section 4.3).
    """
    factor = sqrt(sqrt(CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))))
    return max(factor * sqrt(sqrt(rtt_s / loss)) ** 3, reno_window_segments(loss))


def loss_that_explains(window_segments: float) -> float:
    """The loss at which Reno's average window is ``window_segments``: 1.5 / W^2."""
    return min(1.0, 1.5 / window_segments**2) if window_segments > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Algorithm:
    """How a congestion control algorithm takes loss.

    ``family``: which response function.  ``shallow``: share of the link that one flow keeps when
    the queue is too short for it, so the low end of a full link.
    """

    family: str
    shallow: float

    def window_segments(self, loss: float, rtt_s: float) -> float:
        """Average window in segments under random loss; infinite where loss does not set it."""
        if self.family == "model" or loss == 0:
            return inf
        return cubic_window_segments(loss, rtt_s) if self.family == "cubic" else reno_window_segments(loss)


# Shallow queue: CUBIC falls to 0.7 of its window and is on average at 1 - 0.3/4 of it until the next
# loss (RFC 9438 4.1), Reno falls to a half, on average at 3/4.  BBR spends a few percent on probing:
# 0.966 was measured, ProbeRTT on long paths costs up to another 4 %.
CUBIC = Algorithm("cubic", 0.925)
RENO = Algorithm("reno", 0.75)
BBR = Algorithm("model", 0.92)


def algorithm(name: str | None) -> Algorithm:
    """The behaviour of the algorithm ``name``; unknown ones and None count as Reno, the least of them."""
    plain = (name or "").lower()
    if plain.startswith("bbr"):
        return BBR
    return CUBIC if plain == "cubic" else RENO


def slow_start_rtts(window_bytes: float, mss_bytes: int, initial_segments: int) -> float:
    """Round trips from the initial window to ``window_bytes``, doubling (RFC 5681 3.1, RFC 3465)."""
    first = initial_segments * mss_bytes
    return float(ceil(log2(window_bytes / first))) if window_bytes > first else 0.0


def cubic_recovery_s(window_bytes: float, mss_bytes: int) -> float:
    """K: seconds until CUBIC is back at the window it had before a loss (RFC 9438 section 4.2)."""
    return cbrt(window_bytes / mss_bytes * (1 - CUBIC_BETA) / CUBIC_C)
