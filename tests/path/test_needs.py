"""What must change: within what windows and types can hold, all of it at once, and enough when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.model import Link
from hostcfg.path import analyse_path

from .hosts import freebsd, linux, macos, pasted, windows

if TYPE_CHECKING:
    from hostcfg.model import Facts, Value
    from hostcfg.path import Direction

LARGEST_WINDOW = 65535 << 14  # 1,073,725,440
BEYOND = Link(100e9, 0.3)  # BDP 3,750,000,000 bytes: more than any window
COMMON = Link(100e6, 0.08)  # BDP 1,000,000 bytes
TINY = Link(1e6, 0.02)  # BDP 2,500 bytes: less than two segments


def there(a: Facts, b: Facts, link: Link, *, window: int | None = None, streams: int = 1) -> Direction:
    return analyse_path(a, b, link, window_bytes=window, streams=streams).directions[0]


def targets(direction: Direction, host: str) -> dict[str | None, Value]:
    return {n.need.key: n.need.target for n in direction.needs if n.host == host}


def test_no_need_is_beyond_a_window_or_32_bits() -> None:
    """2 x 1,073,725,440 fits into 31 bits, 2.5 x does not; FreeBSD's cap is 9/8 of its buffer."""
    new, old = linux("new", release="6.12.0"), linux("old", release="6.1.0")
    direction = there(new, old, BEYOND)
    assert targets(direction, "new") == {"net.ipv4.tcp_wmem": 2_147_450_880}
    assert targets(direction, "old") == {"net.ipv4.tcp_rmem": 2**31 - 1}
    assert any("tcp_rmem=4096 131072 2147483647" in str(n.command) for n in direction.needs)
    bsd = targets(there(new, freebsd("bsd"), BEYOND), "bsd")
    assert bsd == {"kern.ipc.maxsockbuf": 2**31 - 1, "net.inet.tcp.recvbuf_max": 2_147_450_880}


def test_a_link_beyond_every_window_says_how_many_streams_it_takes() -> None:
    """A window of 1,073,725,440 bytes in 0.3 s is 28.6 Gbit/s; the link carries 95.6."""
    most = "4096 131072 2147483647"
    direction = there(linux("a", wmem=most), linux("b", rmem=most), BEYOND)
    assert direction.needs == []
    assert direction.window_bytes == LARGEST_WINDOW
    assert direction.predicted_bps == pytest.approx(28.63e9, rel=1e-3)
    assert (
        "No TCP window is larger than 1 GiB, 28.6 Gbit/s at this RTT: it takes 4 streams to fill the link."
        in (direction.sentences)
    )


def test_a_size_of_the_programs_own_ends_at_a_gibibyte() -> None:
    direction = there(windows("a"), windows("b"), BEYOND, window=1 << 20)
    assert targets(direction, "a")["-w"] == 1 << 30


@pytest.mark.parametrize(
    "receiver",
    [
        freebsd(recvbuf_max=1_500_000_000, maxsockbuf=2**31 - 1),
        macos(maxsockbuf=2**31 - 1, autorcvbufmax=1_500_000_000),
    ],
)
def test_no_window_is_larger_than_its_field(receiver: Facts) -> None:
    window = next(x for x in there(linux(), receiver, BEYOND).limits if x.kind == "receive_window")
    assert window.window_bytes == LARGEST_WINDOW


def test_a_step_of_nothing_keeps_a_freebsd_buffer_small() -> None:
    direction = there(freebsd("a", sendbuf_inc=0), linux("b"), COMMON)
    assert direction.window_bytes == 32768
    cap, need = direction.needs
    assert (cap.need.key, cap.need.target) == ("kern.ipc.maxsockbuf", 2_250_000)  # 9/8 of 2 x BDP
    assert (need.need.key, need.need.current, need.need.target) == ("net.inet.tcp.sendbuf_inc", 0, 8192)
    assert need.command == "sysctl net.inet.tcp.sendbuf_inc=8192"
    assert there(freebsd("a", sendbuf_inc=8192), linux("b"), COMMON).needs == []


def test_a_large_step_needs_a_larger_cap() -> None:
    """32,768 + 4,194,304 is the first step: 8/9 of maxsockbuf must hold it, though 2,000,000 were enough."""
    direction = there(freebsd("a", sendbuf_inc=4_194_304, sendbuf_max=16_777_216), linux("b"), COMMON)
    assert direction.window_bytes == 32768
    (need,) = direction.needs
    assert need.need.key == "kern.ipc.maxsockbuf"
    assert isinstance(need.need.target, int)
    assert need.need.target * 8 // 9 >= 32_768 + 4_194_304
    mended = freebsd("a", maxsockbuf=need.need.target, sendbuf_inc=4_194_304, sendbuf_max=16_777_216)
    assert there(mended, linux("b"), COMMON).needs == []


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        (0, {"net.inet.tcp.rfc1323": True}),
        (1, {"net.inet.tcp.recvspace": 2_000_000, "kern.ipc.maxsockbuf": 2_250_000}),
    ],
)
def test_growth_that_is_timed_by_timestamps_needs_them(own: int, wanted: dict[str, Value]) -> None:
    """FreeBSD before 10.4: with its own off they are the remedy, else a larger first size is."""
    peer = linux("peer", tcp_timestamps="1" if own == 0 else "0", wmem="4096 16384 8388608")
    keys = {"rfc1323": own, "maxsockbuf": 2_250_000 if own == 0 else 2_097_152}
    direction = there(peer, freebsd("old", release="9.3-RELEASE", **keys), COMMON)
    assert targets(direction, "old").items() >= wanted.items()


def test_a_window_of_parts_of_segments_does_not_count_for_whole() -> None:
    """BDP 2,500 bytes, a window of 2,560: one segment of 1,460 in 20 ms is 584 kbit/s of the 964 kbit/s."""
    receiver = linux("b", rmem="4096 5120 5120", tcp_timestamps="0", release="6.1.0")
    direction = there(linux("a"), receiver, TINY)
    assert direction.window_bytes == 2_560  # half of 5,120
    assert direction.predicted_bps == pytest.approx(584_000)
    assert targets(direction, "b") == {"net.ipv4.tcp_rmem": 7_300}  # 2.5 x two segments of 1,460
    mended = linux("b", rmem="4096 5120 7300", tcp_timestamps="0", release="6.1.0")
    assert there(linux("a"), mended, TINY).limited_by.kind == "link_rate"


@pytest.mark.parametrize(("scale", "window"), [("-31", 0), ("-10", 6144)])
def test_a_share_that_leaves_next_to_nothing_is_mended_itself(scale: str, window: int) -> None:
    """6,291,456 >> 10 is 6,144, and >> 31 nothing at all: no buffer makes up for that, scale 1 does."""
    direction = there(linux("a"), linux("b", tcp_adv_win_scale=scale), COMMON)
    assert direction.window_bytes == window
    assert targets(direction, "b") == {"net.ipv4.tcp_adv_win_scale": 1}
    assert direction.test.streams == (1 if window == 0 else 128)
    assert (
        there(linux("a"), linux("b", tcp_adv_win_scale="-2"), Link(400e6, 0.08)).needs[0].need.target
        == 20_000_000
    )


def test_memory_that_the_wanted_buffers_would_not_have_is_asked_for_at_once() -> None:
    """400 pages are 1,638,400 bytes: too little for 2.5 x 1,000,000, which takes 611 of them."""
    small = {"rmem": "4096 131072 262144", "tcp_mem": "200 300 400"}
    direction = there(linux("a"), linux("b", **small), COMMON)
    wanted = targets(direction, "b")
    assert wanted == {"net.ipv4.tcp_mem": 611, "net.ipv4.tcp_rmem": 2_500_000}
    mended = linux("b", rmem="4096 131072 2500000", tcp_mem="200 300 611")
    assert there(linux("a"), mended, COMMON).needs == []


def test_one_size_for_both_ends_is_granted_by_both() -> None:
    """FreeBSD asks for 2,000,000 (-w), and Linux must allow that too, not only the 1,250,000 of its own."""
    a, b = freebsd("a"), linux("b")
    direction = there(a, b, COMMON, window=262_144)
    assert targets(direction, "a") == {"-w": 2_000_000, "kern.ipc.maxsockbuf": 2_250_000}
    assert targets(direction, "b") == {"net.core.rmem_max": 2_000_000}


def test_float_dust_adds_no_byte() -> None:
    """Products such as 7e9 x 0.0033 / 8, which is 2,887,500 by hand and a bit more as a float."""
    for rate, rtt, bdp in ((1e9, 0.0003, 37_500), (100e6, 0.0011, 13_750), (7e9, 0.0033, 2_887_500)):
        receiver = pasted("b", "kernel.osrelease = 6.1.0\nnet.ipv4.tcp_rmem = 4096 8192 8192")
        direction = there(linux("a"), receiver, Link(rate, rtt))
        mss = 1448
        wanted = -(-bdp // mss) * mss if bdp < 20 * mss else bdp
        assert targets(direction, "b") == {"net.ipv4.tcp_rmem": -(-wanted * 5 // 2)}


@pytest.mark.parametrize("value", [-1, -2147483648])
def test_a_size_below_zero_is_no_size(value: int) -> None:
    """A 32-bit sysctl that was given too much shows as negative: nothing is computed from it."""
    direction = there(linux("a"), freebsd("b", maxsockbuf=value, recvbuf_max=262_144), COMMON)
    assert direction.window_bytes == 262_144
    assert f"b: kern.ipc.maxsockbuf is {value}: assumed to allow 262,144 bytes" in direction.assumed
    assert there(linux("a"), freebsd("b", recvbuf_max=value), COMMON).unknown == [
        f"b: net.inet.tcp.recvbuf_max is {value}"
    ]


def test_a_first_buffer_above_its_cap_leaves_no_range_upside_down() -> None:
    """recvspace above 8/9 of maxsockbuf: 262,144 x 8/9 is 233,016, and nothing is larger."""
    direction = there(linux("a"), freebsd("b", maxsockbuf=262_144, recvspace=1_048_576), COMMON)
    (receive,) = [x for x in direction.limits if x.kind == "receive_window"]
    assert receive.window_bytes == 233_016
    assert receive.low_bps <= receive.rate_bps <= receive.high_bps


def test_no_memory_at_all_is_a_number_too() -> None:
    """0 pages leave nothing; 2.5 x 1,000,000 bytes take 611 of 4,096."""
    direction = there(linux("a"), linux("b", tcp_mem="0 0 0"), COMMON)
    assert (direction.window_bytes, direction.predicted_bps) == (0, 0)
    assert direction.limited_by.key == "net.ipv4.tcp_mem"
    assert targets(direction, "b") == {"net.ipv4.tcp_mem": 611}
    assert there(linux("a"), linux("b", tcp_mem="0 0 611"), COMMON).needs == []


def test_memory_is_asked_for_by_what_the_buffers_take() -> None:
    """tcp_adv_win_scale -2 makes a quarter of a buffer window: 5 x 1,000,000 bytes, 1,221 pages."""
    small = {"rmem": "4096 131072 262144", "tcp_mem": "200 300 400", "tcp_adv_win_scale": "-2"}
    direction = there(linux("a"), linux("b", **small), COMMON)
    wanted = targets(direction, "b")
    assert wanted["net.ipv4.tcp_rmem"] == 5_000_000
    assert isinstance(wanted["net.ipv4.tcp_mem"], int)
    assert wanted["net.ipv4.tcp_mem"] >= 1_221 * 4 // 5  # four fifths of that carry the BDP exactly
    (need,) = [n for n in direction.needs if n.need.key == "net.ipv4.tcp_mem"]
    assert need.need.current == 400  # what is there now, not what a smaller need made of it
    mended = small | {"rmem": "4096 131072 5000000", "tcp_mem": str(need.target_native)}
    assert there(linux("a"), linux("b", **mended), COMMON).needs == []


def test_a_cap_that_was_not_read_must_allow_the_size_too() -> None:
    """In a network namespace before 6.11 there is no rmem_max: it must still allow Windows' 2,000,000."""
    inside = pasted("a", "kernel.osrelease = 6.1.0\nnet.ipv4.tcp_rmem = 4096 131072 6291456")
    direction = analyse_path(windows("b"), inside, COMMON, window_bytes=262_144).directions[0]
    assert targets(direction, "b") == {"-w": 2_000_000}
    assert targets(direction, "a") == {"net.core.rmem_max": 2_000_000}


def test_what_an_option_brings_to_light_is_needed_as_well() -> None:
    """FreeBSD before 10.4 grows a buffer only with the peer's timestamps; then its maximum is too small."""
    peer = freebsd("peer", release="12.4-RELEASE", rfc1323=0)
    old = pasted(
        "old",
        "kern.osrelease: 9.3-RELEASE\nkern.ipc.maxsockbuf: 16777216\n"
        "net.inet.tcp.recvbuf_max: 212992\nnet.inet.tcp.rfc1323: 1",
    )
    direction = there(peer, old, COMMON)
    assert targets(direction, "peer") == {"net.inet.tcp.rfc1323": True}
    assert targets(direction, "old") == {"net.inet.tcp.recvbuf_max": 2_000_000}
