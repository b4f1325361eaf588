"""Linux buffers to windows: by hand, and against what ss showed on real hosts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostcfg.model import Interface, Link
from hostcfg.path import analyse_path
from hostcfg.platforms.endpoint import Flow
from hostcfg.platforms.linux.parsers.ss import SS
from hostcfg.platforms.linux.shares import per_segment, window_of_space
from hostcfg.platforms.linux.window import LinuxWindowModel
from tests.iperf.samples import text_of
from tests.path.hosts import linux, pasted

if TYPE_CHECKING:
    from hostcfg.model import Facts

FLOW = Flow(None, 1448, timestamps=True, rtt_s=0.1)
SMALL = "4096 131072 262144"


def asking(size: int) -> Flow:
    return replace(FLOW, explicit_bytes=size)


def with_gro(facts: Facts, on: bool | None) -> Facts:
    offloads = {} if on is None else {"generic-receive-offload": on}
    return replace(facts, interfaces=(Interface("eth0", 1500, offloads=offloads, routes=("peer",)),))


@pytest.mark.parametrize(
    ("scale", "window"), [(1, 131072), (2, 196608), (3, 229376), (-2, 65536), (0, 262144)]
)
def test_the_share_before_6_6(scale: int, window: int) -> None:
    assert window_of_space(262144, scale) == window


@pytest.mark.parametrize(
    ("sample", "release", "keys"),
    [
        ("ss-tin__debian12-6.1-rmem256k__01.txt", "6.1.0", {"rmem": SMALL}),
        ("ss-tin__debian12-6.1-aws3__01.txt", "6.1.0", {"rmem": SMALL, "tcp_adv_win_scale": "3"}),
        ("ss-tin__debian-sid-7.2-rmem256k__01.txt", "7.2.13", {"rmem": SMALL}),
        ("ss-tin__debian-sid-7.2-aws3__01.txt", "7.2.13", {"rmem": SMALL, "tcp_adv_win_scale": "3"}),
    ],
)
def test_autotuned_windows_that_ss_showed(sample: str, release: str, keys: dict[str, str]) -> None:
    window = LinuxWindowModel(with_gro(linux(release=release, **keys), on=True)).receive(FLOW)
    seen = _largest_peer_window(sample)
    assert window.low_bytes is not None
    assert window.high_bytes is not None
    # ss shows a moment: up to 3 % below the most it will be, or a flow still growing
    assert window.low_bytes * 0.95 <= seen <= window.high_bytes


@pytest.mark.parametrize(
    "sample", ["ss-tin__debian12-6.1-P4-w64k__01.txt", "ss-tin__debian12-6.1-w64k-json__01.txt"]
)
def test_an_explicit_window_keeps_one_segment_back(sample: str) -> None:
    window = LinuxWindowModel(linux()).receive(asking(65536))
    assert window.mid_bytes == 64088 == _largest_peer_window(sample)
    assert (window.buffer_bytes, window.clamped, window.key) == (131072, False, "-w")


def test_a_request_is_cut_then_doubled() -> None:
    window = LinuxWindowModel(linux()).receive(asking(290 * 1024))
    assert (window.buffer_bytes, window.mid_bytes) == (425984, 211544)
    assert (window.setting, window.key, window.value) == ("recv_explicit_max", "net.core.rmem_max", 212992)
    assert window.clamped
    assert window.refused is None  # 296,960 <= 2 x 212,992: iperf3 does not notice
    refused = LinuxWindowModel(linux()).receive(asking(1 << 20)).refused
    assert refused is not None
    assert "socket buffer size not set correctly" in refused


def test_a_buffer_that_can_not_grow_keeps_one_segment_back() -> None:
    window = LinuxWindowModel(linux(rmem="4096 65536 65536")).receive(FLOW)
    assert window.mid_bytes == 32768 - 1448
    off = LinuxWindowModel(linux(tcp_moderate_rcvbuf="0")).receive(FLOW)
    assert off.mid_bytes == 64000  # 65,536 - 1,448 in steps of 2^7: the scale of tcp_rmem[2]
    assert (off.setting, off.element) == ("recv_buffer_default", 1)


def test_a_first_size_above_the_maximum_stays() -> None:
    window = LinuxWindowModel(linux(rmem="4096 131072 65536")).receive(FLOW)
    assert window.buffer_bytes == 131072


@pytest.mark.parametrize(
    ("gro", "low", "mid", "high"),
    [(False, 0.53, 0.617, 0.67), (True, 0.53, 0.749, 0.9), (None, 0.53, 0.68, 0.9)],
)
def test_from_6_6_on_the_share_is_a_range_that_the_interface_decides(
    gro: bool | None, low: float, mid: float, high: float
) -> None:
    window = LinuxWindowModel(with_gro(linux(release="6.12.1", rmem="4096 131072 1000000"), gro)).receive(
        FLOW
    )
    found = [window.low_bytes, window.mid_bytes, window.high_bytes]
    assert found == [pytest.approx(share * 1_000_000, abs=16) for share in (low, mid, high)]


def test_an_unknown_release_has_the_widest_range() -> None:
    facts = pasted("far", "net.ipv4.tcp_rmem = 4096 131072 1000000\nnet.core.rmem_max = 212992")
    window = LinuxWindowModel(facts).receive(FLOW)
    assert facts.release is None
    assert window.low_bytes == pytest.approx(500_000, abs=16)
    assert window.high_bytes == pytest.approx(900_000, abs=16)


@pytest.mark.parametrize(
    ("rmem", "rmem_max", "shift"),
    [
        (262144, 212992, 3),
        (65536, 212992, 2),
        (6291456, 212992, 7),
        (6291456, 1 << 30, 14),
        (65536, 4194304, 7),
    ],
)
def test_the_scale_of_the_syn(rmem: int, rmem_max: int, shift: int) -> None:
    facts = linux(rmem=f"4096 65536 {rmem}", rmem_max=str(rmem_max))
    assert LinuxWindowModel(facts).shift(FLOW) == shift


@pytest.mark.parametrize(("size", "shift"), [(65536, 1), (190 * 1024, 2), (290 * 1024, 3), (1 << 20, 5)])
def test_the_scale_of_an_explicit_size(size: int, shift: int) -> None:
    facts = linux(rmem_max="16777216")
    assert LinuxWindowModel(facts).shift(asking(size)) == shift
    later = linux(release="6.12.1", rmem_max="16777216")
    assert LinuxWindowModel(later).shift(asking(size)) == shift


def test_the_scale_caps_a_window_from_6_6_on() -> None:
    """131,070 bytes: half of it has 15 bits, so no scale, although more than half would be window."""
    window = LinuxWindowModel(with_gro(linux(release="6.12.1"), on=True)).receive(asking(65535))
    assert window.mid_bytes == 65535


def test_a_full_segment_in_the_send_buffer() -> None:
    assert per_segment(1448) == 2304  # sndbuf 428,544 at 93 segments of cwnd: 2 x 93 x 2304
    assert per_segment(8948) == 16384 + 256


def test_a_send_buffer_is_a_soft_limit() -> None:
    window = LinuxWindowModel(linux(wmem="4096 16384 262144")).send(FLOW)
    assert window.mid_bytes == int(0.67 * 262144)
    assert window.low_bytes == int(2 / 3 * 1448 / 2304 * 262144)
    assert window.high_bytes is None
    assert (window.setting, window.key, window.element) == ("send_buffer_max", "net.ipv4.tcp_wmem", 2)


@pytest.mark.parametrize(
    ("release", "scale", "target"),
    [
        ("6.1.0", "1", 2_500_000),
        ("6.1.0", "2", 2_500_000),
        ("6.1.0", "-2", 5_000_000),
        ("6.12.1", "1", 2_000_000),
    ],
)
def test_what_a_window_needs(release: str, scale: str, target: int) -> None:
    facts = linux(release=release, tcp_adv_win_scale=scale, rmem=SMALL)
    (need,) = LinuxWindowModel(facts).needs(1_000_000, "receive", FLOW)
    assert (need.setting, need.element, need.current, need.target) == ("recv_buffer_max", 2, 262144, target)


def test_autotuning_that_is_off_is_needed_too() -> None:
    needs = LinuxWindowModel(linux(tcp_moderate_rcvbuf="0")).needs(1_000_000, "receive", FLOW)
    assert [(n.setting, n.target) for n in needs] == [("recv_autotuning", True)]


def test_what_was_not_read_is_assumed_and_said() -> None:
    facts = pasted("far", "kernel.osrelease = 6.1.0\nnet.ipv4.tcp_rmem = 4096 131072 262144")
    model = LinuxWindowModel(facts)
    window = model.receive(FLOW)
    assert window.mid_bytes == 131072
    assert any("tcp_adv_win_scale" in note and "assumed 1" in note for note in window.assumed)
    assert any("tcp_moderate_rcvbuf" in note for note in window.assumed)
    unknown = model.send(FLOW)
    assert unknown.mid_bytes is None
    assert unknown.reason == "far: net.ipv4.tcp_wmem was not read"
    asked = model.receive(asking(100_000))
    assert any("net.core.rmem_max" in note and "assumed to allow 100,000" in note for note in asked.assumed)


def test_memory_of_all_sockets() -> None:
    facts = pasted(
        "far", "kernel.osrelease = 6.1.0\nnet.ipv4.tcp_mem = 100 200 300\nnet.ipv4.tcp_rmem = 4096 1 2"
    )
    (limit,) = LinuxWindowModel(facts).memory_limits()
    assert limit.total_bytes == 300 * 4096
    assert limit.reading.key == "net.ipv4.tcp_mem"


def _largest_peer_window(sample: str) -> int:
    sockets = SS.parse(text_of("linux", sample)).values["sockets"]
    assert isinstance(sockets, list)
    found = [s["snd_wnd"] for s in sockets if isinstance(s, dict) and s.get("busy_ms")]
    return max(n for n in found if isinstance(n, int))


def test_the_reason_says_what_was_read_that_makes_the_window() -> None:
    """262,144 bytes: 0.68, 0.749 or 0.617 of them, by what is known of the interface and the release."""
    said = [
        (
            window.mid_bytes,
            window.reason,
        )
        for window in (
            LinuxWindowModel(with_gro(linux(release="6.12.0", rmem=SMALL), gro)).receive(FLOW)
            for gro in (None, True, False)
        )
    ]
    assert [reason for _, reason in said] == [
        f"about {share}: {why} (262,144 bytes)"
        for share, why in (
            ("0.68 of the buffer, 0.53 to 0.9", "not known whether the interface merges frames"),
            ("0.75 of the buffer, 0.53 to 0.9", "the interface merges frames (GRO is on)"),
            ("0.62 of the buffer, 0.53 to 0.67", "the interface merges no frames (GRO is off)"),
        )
    ]
    # in units of 2^shift = 4: space is 262,144, so the shift is 18 - 15 = 3: multiples of 8
    assert [window for window, _ in said] == [178_256, 196_344, 161_736]
    unknown = LinuxWindowModel(pasted("a", f"net.ipv4.tcp_rmem = {SMALL}")).receive(FLOW).reason
    assert unknown.startswith("about 0.62 of the buffer, 0.5 to 0.9: the kernel release is not known")


def test_a_buffer_that_does_not_grow_says_what_it_keeps() -> None:
    """65,536 bytes, half of them window, less a segment: of 1,448 at an MTU of 1500 and 8,948 at 9000."""
    fixed = LinuxWindowModel(linux(rmem="4096 65536 65536"))
    for mss, window in ((1448, 31_320), (8948, 23_820)):
        found = fixed.receive(replace(FLOW, mss_bytes=mss))
        assert found.mid_bytes == window
        assert found.reason == (
            f"tcp_adv_win_scale 1 makes 50% of a 65,536-byte buffer window, less a segment of {mss:,}"
        )


def test_a_window_below_one_unit_of_its_scale_is_no_zero_window() -> None:
    """rmem_max 512 MiB gives a shift of 14; half of 16,384 less a segment of 1,448 is below 2^14."""
    receiver = linux("b", rmem="4096 16384 16384", rmem_max="536870912")
    direction = analyse_path(linux("a"), receiver, Link(1e6, 0.03)).directions[0]
    assert direction.receive_shift == 14
    (receive,) = [limit for limit in direction.limits if limit.kind == "receive_window"]
    assert receive.window_bytes == 8192 - 1448
    assert (direction.limited_by.kind, direction.needs) == ("link_rate", [])
