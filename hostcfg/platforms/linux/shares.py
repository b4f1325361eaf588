"""How much of a Linux socket buffer is payload: what the source fixes, and what was measured.

Sources: include/net/tcp.h (tcp_win_from_space), net/ipv4/tcp_input.c (tcp_measure_rcv_mss,
tcp_sndbuf_expand).  The shares that no source fixes were measured on 6.1, 6.12 and 6.18:
tests/fixtures/path/truth.csv.
"""

from __future__ import annotations

from hostcfg.lean import dataclass

RATIO_RELEASE = (6, 6)
"""From here on the window's share of the buffer is measured per socket (commit dfa2f0483360)."""
NARROW_DEFAULT_RELEASE = (3, 4)
"""Before it tcp_adv_win_scale was 2 by default, from it on 1 (commit b49960a05e32)."""
SEND_SHARE = 0.67
"""Payload in a send buffer: esnet/iperf#145 and the flows of iperf3 in truth.csv (0.6 to 0.95)."""
MAX_TCP_HEADER, SHARED_INFO, SK_BUFF = 256, 320, 256
"""Bytes that the kernel adds to a segment's payload: two inside the data block, one beside it.

With 256 a segment of 1448 bytes takes 2304, as sndbuf = 2 x cwnd x 2304 shows on 6.1, 6.12 and 6.18."""


@dataclass(frozen=True, slots=True)
class Share:
    """How much of a receive buffer becomes window: seen least, best estimate, seen most."""

    low: float
    mid: float
    high: float
    reason: str


# len/truesize of received packets, which the driver decides (tcp_measure_rcv_mss): single frames
# gave 0.54 to 0.66 on veth, merged ones 0.75 to 0.76 and, at 300 Mbit/s without delay, 0.89; other
# reports lie between 0.53 and 0.86.
SINGLE_FRAMES = Share(
    0.53, 0.617, 0.67, "about 0.62 of the buffer, 0.53 to 0.67: the interface merges no frames (GRO is off)"
)
MERGED_FRAMES = Share(
    0.53, 0.749, 0.90, "about 0.75 of the buffer, 0.53 to 0.9: the interface merges frames (GRO is on)"
)
UNKNOWN_FRAMES = Share(
    0.53, 0.68, 0.90, "about 0.68 of the buffer, 0.53 to 0.9: not known whether the interface merges frames"
)
UNKNOWN_RELEASE = Share(
    0.50, 0.617, 0.90, "about 0.62 of the buffer, 0.5 to 0.9: the kernel release is not known"
)


def window_of_space(space_bytes: int, adv_win_scale: int) -> int:
    """The window in a receive buffer before 6.6 (tcp_win_from_space, ip-sysctl tcp_adv_win_scale)."""
    if adv_win_scale > 0:
        return space_bytes - (space_bytes >> adv_win_scale)
    return space_bytes >> -adv_win_scale


def per_segment(mss_bytes: int) -> int:
    """What a full segment takes in the send buffer (tcp_sndbuf_expand): 2304 for 1448 bytes.

    roundup_pow_of_two(mss + headers + shared info) + sk_buff.
    """
    data = mss_bytes + MAX_TCP_HEADER + SHARED_INFO
    return int(1 << (data - 1).bit_length()) + SK_BUFF
