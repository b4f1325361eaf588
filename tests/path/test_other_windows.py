"""FreeBSD, macOS and Windows: what a host lets one flow have in flight, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hostcfg.audit import audit_host
from hostcfg.errors import UsageError
from hostcfg.model import Link
from hostcfg.outputs.blocks import Paragraph
from hostcfg.outputs.path_views import path_blocks
from hostcfg.outputs.report.paths import Audited, path_page
from hostcfg.path import analyse_path, to_json
from hostcfg.platforms import get_platform
from hostcfg.platforms.bsd.sockbuf import maxsockbuf_for, usable
from hostcfg.platforms.endpoint import Flow, shift_for
from hostcfg.platforms.freebsd.window import FreeBsdWindowModel
from hostcfg.platforms.macos.window import POOL_NOTE, MacosWindowModel
from hostcfg.platforms.windows.window import WindowsWindowModel
from hostcfg.profiles import find_profile
from tests.path.hosts import freebsd, linux, macos, pasted, windows

FLOW = Flow(None, 1448, timestamps=True, rtt_s=0.1)
MIB = 1 << 20


def asking(size: int) -> Flow:
    return replace(FLOW, explicit_bytes=size)


def test_eight_ninths_of_maxsockbuf_are_usable() -> None:
    assert usable(2 * MIB) == 1_864_135
    assert maxsockbuf_for(1_864_135) == 2 * MIB
    assert usable(maxsockbuf_for(4_000_000)) >= 4_000_000 > usable(maxsockbuf_for(4_000_000) - 2)


def test_freebsd_growth_ends_below_the_usable_limit() -> None:
    """65,536 x 1.5 eight times is 1,679,616 and the ninth step would cross 1,864,135."""
    window = FreeBsdWindowModel(freebsd()).receive(FLOW)
    assert window.mid_bytes == 1_679_616
    assert (window.setting, window.key) == ("socket_buffer_max", "kern.ipc.maxsockbuf")
    # before 13: 65,536 + 109 x 16,384
    assert FreeBsdWindowModel(freebsd(release="9.3-RELEASE")).receive(FLOW).mid_bytes == 1_851_392
    # sending: 32,768 + 223 x 8,192
    assert FreeBsdWindowModel(freebsd()).send(FLOW).mid_bytes == 1_859_584


def test_freebsd_growth_reaches_a_maximum_that_is_allowed() -> None:
    window = FreeBsdWindowModel(freebsd(maxsockbuf=4 * MIB)).receive(FLOW)
    assert (window.mid_bytes, window.key) == (2 * MIB, "net.inet.tcp.recvbuf_max")
    off = FreeBsdWindowModel(freebsd(recvbuf_auto=0)).receive(FLOW)
    assert (off.mid_bytes, off.key) == (65536, "net.inet.tcp.recvspace")


def test_freebsd_before_10_4_grows_by_timestamps_only() -> None:
    model = FreeBsdWindowModel(freebsd(release="9.3-RELEASE"))
    assert model.receive(replace(FLOW, timestamps=False)).mid_bytes == 65536
    assert model.receive(replace(FLOW, rtt_s=1.2)).mid_bytes == 65536
    assert FreeBsdWindowModel(freebsd()).receive(replace(FLOW, timestamps=False)).mid_bytes == 1_679_616


def test_freebsd_takes_a_size_to_the_byte_or_refuses_it() -> None:
    model = FreeBsdWindowModel(freebsd())
    window = model.receive(asking(1_000_000))
    assert (window.low_bytes, window.mid_bytes, window.high_bytes) == (1_000_000,) * 3
    refused = model.receive(asking(2 * MIB))
    assert refused.refused is not None
    assert "ENOBUFS" in refused.refused
    assert (refused.mid_bytes, refused.key) == (1_679_616, "kern.ipc.maxsockbuf")


@pytest.mark.parametrize(
    ("maxsockbuf", "shift"),
    [
        (256 << 10, 3),
        (2 * MIB, 6),
        (4 * MIB, 7),
        (8 * MIB, 8),
        (16 * MIB, 9),
        (32 * MIB, 10),
        (128 * MIB, 12),
    ],
)
def test_freebsd_scale_follows_maxsockbuf(maxsockbuf: int, shift: int) -> None:
    assert FreeBsdWindowModel(freebsd(maxsockbuf=maxsockbuf)).shift(FLOW) == shift


def test_freebsd_needs_the_cap_before_what_it_caps() -> None:
    needs = FreeBsdWindowModel(freebsd(recvbuf_max=262144)).needs(1_000_000, "receive", FLOW)
    assert [(n.setting, n.current, n.target) for n in needs] == [
        ("socket_buffer_max", 2 * MIB, 2_250_000),
        ("recv_buffer_max", 262144, 2_000_000),
    ]


def test_freebsd_clusters_limit_all_sockets_and_zero_does_not() -> None:
    (limit,) = FreeBsdWindowModel(freebsd(nmbclusters=1000)).memory_limits()
    assert limit.total_bytes == 2_048_000
    assert FreeBsdWindowModel(freebsd(nmbclusters=0)).memory_limits() == ()


def test_freebsd_receive_growth_takes_its_time() -> None:
    # (1,000,000 - 65,536) / 16,384 steps, one a round trip; from 13 on log1.5(15.26) / 2
    old = FreeBsdWindowModel(freebsd(release="9.3-RELEASE")).rtts_to_reach(1_000_000)
    assert old == pytest.approx(57.0, abs=0.1)
    assert FreeBsdWindowModel(freebsd()).rtts_to_reach(1_000_000) == pytest.approx(3.36, abs=0.01)


def test_macos_scale_follows_the_autotuned_maximum() -> None:
    model = MacosWindowModel(macos())
    assert model.shift(FLOW) == 7  # 65,535 << 6 is 4,194,240, below 4 MiB
    assert model.shift(asking(65_535)) == 0
    assert model.receive(FLOW).mid_bytes == 4 * MIB
    capped = model.receive(asking(8 * MIB))
    assert capped.refused is not None


def test_macos_growth_below_its_cap_is_a_range() -> None:
    window = MacosWindowModel(macos(maxsockbuf=2 * MIB)).receive(FLOW)
    assert (window.low_bytes, window.high_bytes) == (932_067, 1_864_135)


@pytest.mark.parametrize(
    ("level", "window", "shift"),
    [
        ("disabled", 65_535, 0),
        ("highlyrestricted", 65_535 << 2, 2),
        ("restricted", 65_535 << 4, 4),
        ("normal", 65_535 << 8, 8),
        ("experimental", 65_535 << 14, 14),
    ],
)
def test_windows_levels(level: str, window: int, shift: int) -> None:
    model = WindowsWindowModel(windows(level=level))
    assert (model.receive(FLOW).mid_bytes, model.shift(FLOW)) == (window, shift)
    assert model.scaling().on is (level != "disabled")


def test_windows_needs_the_smallest_level_that_carries_the_window() -> None:
    model = WindowsWindowModel(windows(level="disabled"))
    (need,) = model.needs(100_000, "receive", FLOW)
    assert (need.key, need.current, need.target) == ("global.autotuninglevel", 65_535, 1 << 18)
    (need,) = model.needs(187_500, "receive", FLOW)
    assert need.target == 1 << 18
    assert [n.target for n in model.scaling_needs(187_500)] == [1 << 18]
    (need,) = model.needs(375_000, "receive", FLOW)
    assert need.target == 1 << 20
    (need,) = model.needs(10_000_000, "receive", FLOW)
    assert need.target == 1 << 24  # 1 Gbit/s x 80 ms: normal's 16,776,960 bytes carry 1.68 Gbit/s
    (need,) = model.needs(16_777_217, "receive", FLOW)
    assert need.target == 1 << 30
    assert model.needs(2_000_000, "send", FLOW) == []


def test_windows_sends_without_a_limit_unless_a_size_is_asked_for() -> None:
    model = WindowsWindowModel(windows())
    assert model.send(FLOW).unbounded
    asked = model.send(asking(190_000))
    assert (asked.mid_bytes, asked.high_bytes) == (190_000, None)
    assert model.receive(asking(190_000)).mid_bytes == 190_000


def test_a_scale_is_at_most_14() -> None:
    assert shift_for(1 << 40) == 14
    assert shift_for(65_535) == 0
    assert shift_for(65_536) == 1


def test_a_platform_without_a_model_says_so() -> None:
    platform = get_platform("freebsd")

    class Other(type(platform)):  # type: ignore[misc]  # a platform of the same kind under another name
        name = "beos"
        title = "BeOS"

    with pytest.raises(UsageError, match="hostcfg has no window model for BeOS"):
        Other().window_model(pasted("far", "kern.ipc.maxsockbuf: 2097152"))


@pytest.mark.parametrize(
    "size", [65_535, 65_536, 262_144, 262_145, 1 << 20, 10_000_000, 1 << 24, (1 << 24) + 1]
)
def test_path_and_the_profile_wan_want_the_same_level(size: int) -> None:
    facts = windows(level="disabled")
    link = Link(size * 8 / 0.1, 0.1)
    path = {
        n.target_native for n in analyse_path(linux(), facts, link).directions[0].needs if n.host == "win"
    }
    audit = audit_host(facts, find_profile("wan"), link, {})
    wan = {d.target_native for d in audit.differences if d.setting == "recv_buffer_max"}
    if size > 65_535:
        assert path == wan
    else:
        assert (
            path == set()
        )  # a window without scaling carries it; the profile wants the option on all the same


def test_macos_may_refuse_the_cap_that_a_path_needs() -> None:
    """2 x 10,000,000 bytes need 22,500,000 of maxsockbuf: 1/16 of no pool that is stock."""
    link, a, b = Link(1e9, 0.080), linux("a"), macos("b")
    report = analyse_path(a, b, link)
    document: Any = to_json(report)
    notes = [need["note"] for direction in document["directions"] for need in direction["needs"]]
    assert [note for note in notes if note] == [POOL_NOTE] * 2
    said = [p for p in path_blocks(report, a, b) if isinstance(p, Paragraph) and p.text == POOL_NOTE]
    assert [p.label for p in said] == ["note"] * 2  # once a direction
    assert all(POOL_NOTE in row.mend for row in path_page([Audited(report)]).paths)
    assert POOL_NOTE in audit_host(b, find_profile("wan"), link, {}).notes  # the profile says the same


def test_macos_has_a_pool_that_tells() -> None:
    """kern.ipc.nmbclusters x 2 KiB / 16: 32,768 make 4 MiB, 65,536 make 8."""
    small, large = (pasted("b", f"{_MAC}\nkern.ipc.nmbclusters: {n}") for n in (32768, 65536))
    link = Link(100e6, 0.240)  # BDP 3,000,000: buffers of 6,000,000, maxsockbuf 6,750,000
    (note,) = {n.need.note for n in analyse_path(linux("a"), small, link).directions[0].needs if n.need.note}
    assert note == f"{POOL_NOTE} Here that is 4,194,304: kern.ipc.nmbclusters is 32,768."
    needs = analyse_path(linux("a"), large, link).directions[0].needs
    assert [n.need.target for n in needs if n.need.key == "kern.ipc.maxsockbuf"] == [6_750_000]
    assert not any(n.need.note for n in needs)


_MAC = """kern.osrelease: 22.6.0
kern.ostype: Darwin
net.inet.tcp.doautorcvbuf: 1
net.inet.tcp.autorcvbufmax: 2097152
net.inet.tcp.autosndbufmax: 2097152
net.inet.tcp.win_scale_factor: 3
kern.ipc.maxsockbuf: 4194304"""


def test_two_ends_of_one_cap_say_what_makes_them_two() -> None:
    """8/9 of 2 MiB: 65,536 x 1.5^8 from 13 on, 65,536 + 109 x 16,384 before; 32,768 + 223 x 8,192 to send."""
    cap = "8/9 of kern.ipc.maxsockbuf = 2097152 ends the growth at"
    new, old = (FreeBsdWindowModel(freebsd(release=r)) for r in ("14.2-RELEASE", "12.4-RELEASE"))
    below = "below net.inet.tcp.recvbuf_max: it goes from 65,536"
    assert new.receive(FLOW).reason == f"{cap} 1,679,616 bytes, {below} by halves"
    assert old.receive(FLOW).reason == f"{cap} 1,851,392 bytes, {below} in steps of 16,384"
    sent = "below net.inet.tcp.sendbuf_max: it goes from 32,768"
    assert new.send(FLOW).reason == f"{cap} 1,859,584 bytes, {sent} in steps of 8,192"
    unknown = FreeBsdWindowModel(replace(freebsd(), release=None)).receive(FLOW).reason
    assert unknown.endswith("by halves or, before FreeBSD 13, in steps of 16,384: the release is not known")
    mac = MacosWindowModel(macos(maxsockbuf=2 * MIB, recvspace=131072)).receive(FLOW).reason
    assert mac.endswith("below net.inet.tcp.autorcvbufmax: it goes from 131,072 by doubling at most")
