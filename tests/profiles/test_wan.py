"""The wan profile: its numbers by hand, for every system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.audit import audit_host
from hostcfg.compare import meets
from hostcfg.model import Link
from hostcfg.profiles import find_profile
from hostcfg.reader import read_pasted

from .computing import CASE_1, CASE_3, CASE_6, COMMON, NEW_LINUX, OLD_LINUX, SYSTEMS, by_name, compute, values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Scalar, Value


@pytest.mark.parametrize(
    ("link", "bdp", "new", "old"),
    [
        (COMMON, 1_000_000, 2_000_000, 2_500_000),
        (CASE_1, 1_290_000, 2_580_000, 3_225_000),
        (CASE_3, 2_000_000, 4_000_000, 5_000_000),
        (CASE_6, 187_500, 375_000, 468_750),
    ],
)
def test_wan_buffers_of_the_field_cases(link: Link, bdp: int, new: int, old: int) -> None:
    assert link.bdp_bytes == pytest.approx(bdp)
    buffers = ("recv_buffer_max", "send_buffer_max", "recv_explicit_max", "send_explicit_max")
    for known, size in ((NEW_LINUX, new), (OLD_LINUX, old), (None, old)):
        found = by_name(compute("wan", "linux", link, known))
        assert [(found[b].rule, found[b].value) for b in buffers] == [("at_least", size)] * 4
    freebsd = values(compute("wan", "freebsd", link))
    assert freebsd["recv_buffer_max"] == freebsd["send_buffer_max"] == new
    assert freebsd["socket_buffer_max"] == -(-new * 9 // 8)
    assert values(compute("wan", "macos", link))["socket_buffer_max"] == -(-new * 9 // 8)
    assert values(compute("wan", "windows", link))["recv_buffer_max"] == bdp


def test_an_unknown_release_is_taken_for_an_old_one_and_a_note_says_so() -> None:
    assert any("release is not known" in note for note in compute("wan", "linux", COMMON).notes)
    for known in (OLD_LINUX, NEW_LINUX):
        assert not any("release" in note for note in compute("wan", "linux", COMMON, known).notes)


def test_what_was_set_in_case_1_satisfies_wan() -> None:
    found = by_name(compute("wan", "linux", CASE_1, OLD_LINUX))
    set_there: dict[str, Value] = {
        "recv_buffer_max": 12_582_912,
        "send_buffer_max": 12_582_912,
        "recv_explicit_max": 12_582_912,
        "send_explicit_max": 12_582_912,
        "input_backlog": 5000,
        "window_scaling": True,
        "sack": True,
    }
    assert all(meets(value, found[name]) for name, value in set_there.items())
    assert not meets(163_840, found["send_explicit_max"])  # what it was before


def test_the_far_end_of_case_2_and_the_128_kib_host_of_case_3_do_not() -> None:
    found = by_name(compute("wan", "linux", Link(43_690_667.0, 0.012)))  # 64 KiB in flight
    assert not meets(65_536, found["recv_explicit_max"])
    assert not meets(131_072, by_name(compute("wan", "linux", CASE_3))["recv_buffer_max"])
    assert meets(8 * 2**20, by_name(compute("wan", "linux", CASE_3, OLD_LINUX))["recv_buffer_max"])


def test_streams_share_the_bdp() -> None:
    assert values(compute("wan", "linux", COMMON, NEW_LINUX, streams="4"))["recv_buffer_max"] == 500_000
    assert values(compute("wan", "windows", COMMON, streams="4"))["recv_buffer_max"] == 250_000
    assert values(compute("wan", "windows", COMMON, streams="128"))["recv_buffer_max"] == 65_536


@pytest.mark.parametrize(
    ("fraction", "size"),
    [(0.5, 2_500_000), (0.25, 5_000_000), (0.75, 2_500_000), (0.0625, 2_500_000)],  # scale 1, -2, 2, -4
)
def test_an_old_kernel_that_keeps_more_of_the_buffer_needs_a_larger_one(fraction: float, size: int) -> None:
    known: Mapping[str, Scalar] = {"linux_before_6_6": True, "window_fraction": fraction}
    assert values(compute("wan", "linux", COMMON, known))["recv_buffer_max"] == size


def test_a_small_host_caps_the_buffers_at_a_sixteenth_of_its_ram() -> None:
    memory = 256 * 2**20
    found = by_name(compute("wan", "linux", Link(10e9, 0.1), {**NEW_LINUX, "memory_bytes": memory}))
    assert found["recv_buffer_max"].value == 16 * 2**20
    assert found["recv_buffer_max"].capped == (
        "capped, 250,000,000 bytes would be needed: "
        "1/16 of the host's 256 MiB of RAM is the most that one connection should take"
    )
    freebsd = by_name(compute("wan", "freebsd", Link(10e9, 0.1), {"memory_bytes": memory}))
    assert freebsd["recv_buffer_max"].value == 16 * 2**20
    assert freebsd["socket_buffer_max"].value == 18 * 2**20  # 9/8 of what is left, not of what was wanted


def test_the_limits_of_the_protocol_and_of_the_type_are_named() -> None:
    huge = Link(400e9, 0.3)  # 15 GB in flight
    linux = by_name(compute("wan", "linux", huge, NEW_LINUX))["recv_buffer_max"]
    assert (linux.value, linux.capped) == (
        2**31 - 1,
        "capped, 30,000,000,000 bytes would be needed: the system keeps it in 32 bits",
    )
    for os in ("freebsd", "macos", "windows"):
        found = by_name(compute("wan", os, huge))
        assert found["recv_buffer_max"].value == 2**30
        assert "no TCP window is larger than 1 GiB" in str(found["recv_buffer_max"].capped)
    assert values(compute("wan", "freebsd", huge))["socket_buffer_max"] == 9 * 2**27


@pytest.mark.parametrize(
    ("rate_bps", "packets"), [(20e6, 1000), (1e9, 2500), (10e9, 25_000), (100e9, 250_000), (400e9, 250_000)]
)
def test_the_input_backlog_holds_30_ms_of_packets(rate_bps: float, packets: int) -> None:
    assert values(compute("wan", "linux", Link(rate_bps, 0.01)))["input_backlog"] == packets


@pytest.mark.parametrize(
    ("link", "level", "window"),
    [
        (Link(10e6, 0.01), "highlyrestricted", "256 KiB"),
        (CASE_6, "highlyrestricted", "256 KiB"),
        (COMMON, "restricted", "1 MiB"),
        (Link(1e9, 0.08), "normal", "16 MiB"),
        (Link(10e9, 0.1), "experimental", "1 GiB"),
    ],
)
def test_windows_takes_the_smallest_level_that_carries_the_bdp(link: Link, level: str, window: str) -> None:
    found = compute("wan", "windows", link)
    reason = by_name(found)["recv_buffer_max"].reason
    assert reason.startswith(f"level {level} or above; it allows {window} in flight")
    assert any("experimental is above normal" in note for note in found.notes) == (level == "experimental")
    if link is COMMON:
        assert reason.endswith("105 Mbit/s at this RTT")  # 1 MiB x 8 / 80 ms


def test_wan_leaves_initial_values_alone_and_prefers_what_is_there() -> None:
    for os in SYSTEMS:
        found = by_name(compute("wan", os, COMMON))
        assert not {name for name in found if name.endswith(("_default", "_min"))}
        assert found["window_scaling"].value is True
        assert found["timestamps"].value is True
    linux = by_name(compute("wan", "linux", COMMON))
    assert linux["congestion_control"].rule == "one_of"
    assert meets("cubic", linux["congestion_control"])
    assert not meets("reno", linux["congestion_control"])
    assert meets("fq_codel", linux["queue_discipline"])
    assert not meets("pfifo_fast", linux["queue_discipline"])
    assert linux["mtu_probing"].value is True
    assert linux["slow_start_after_idle"].value is False
    assert not meets("newreno", by_name(compute("wan", "freebsd", COMMON))["congestion_control"])


@pytest.mark.parametrize(
    ("known", "target"),
    [
        ({"linux_before_6_6": True, "window_fraction": 0.25}, None),  # tcp_adv_win_scale -2: a larger buffer
        ({"linux_before_6_6": True, "window_fraction": 0.125}, 1),  # -3
        ({"linux_before_6_6": True, "window_fraction": 0.0}, 1),  # -31: no window at all
        ({"linux_before_6_6": False, "window_fraction": 0.125}, None),
        ({}, None),
    ],
)
def test_a_share_of_next_to_nothing_is_mended_itself(known: Mapping[str, Scalar], target: int | None) -> None:
    assert values(compute("wan", "linux", COMMON, known)).get("recv_window_scale_overhead") == target


def test_ram_that_was_not_read_is_no_number_of_its_own() -> None:
    """A typical host's 8 GiB are for `render` alone; of a host that did not say it, a note says so."""
    text = "kern.ostype: FreeBSD\nkern.osrelease: 14.2-RELEASE\nnet.inet.tcp.sendbuf_max: 2097152\n"
    link = Link(40e9, 0.1)  # BDP 500,000,000; 1/16 of 8 GiB would be 536,870,912
    for memory, size, said in (("", 1_000_000_000, 1), ("hw.physmem: 4294967296\n", 268_435_456, 0)):
        audit = audit_host(read_pasted("b", text + memory, "b.txt"), find_profile("wan"), link, {})
        targets = {d.setting: d.target for d in audit.differences}
        assert targets["send_buffer_max"] == size
        assert sum("RAM of this host was not read" in note for note in audit.notes) == said
        unread = next(f for f in audit.findings if f.kind == "not_compared_absent")
        assert unread.keys.count("net.inet.tcp.rfc1323") == 1
