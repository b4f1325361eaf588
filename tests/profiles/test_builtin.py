"""The profiles that come with hostcfg: their numbers by hand, for every system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.compare import meets
from hostcfg.errors import UsageError
from hostcfg.formula import LONGEST_FORMULA
from hostcfg.model import Link
from hostcfg.platforms import all_platforms
from hostcfg.platforms.base import ProfileContext
from hostcfg.profiles import check_profile, find_profile, list_profiles, profile_targets
from hostcfg.profiles.structure import Expression

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Scalar, Target, Value
    from hostcfg.profiles import ProfileTargets

NAMES = ["default", "lan", "rfc1323-off", "wan"]
SYSTEMS = ["linux", "freebsd", "macos", "windows"]
OLD_LINUX: Mapping[str, Scalar] = {"kernel_major": 6, "linux_before_6_6": True, "window_fraction": 0.5}
NEW_LINUX: Mapping[str, Scalar] = {"kernel_major": 6, "linux_before_6_6": False, "window_fraction": 0.68}

CASE_1 = Link(20e6, 0.516)  # Hungary to Singapore
CASE_3 = Link(200e6, 0.080)  # SLAC to ORNL
CASE_6 = Link(50e6, 0.030)  # carrier Ethernet
COMMON = Link(100e6, 0.080)
LAN = Link(1e9, 0.00025)


def compute(
    name: str,
    os: str,
    link: Link | None,
    known: Mapping[str, Scalar] | None = None,
    **inputs: str,
) -> ProfileTargets:
    context = ProfileContext(known or {})
    return profile_targets(find_profile(name), os=os, context=context, link=link, inputs=inputs)


def by_name(found: ProfileTargets) -> dict[str, Target]:
    return {target.setting: target for target in found.targets}


def values(found: ProfileTargets) -> dict[str, Value]:
    return {target.setting: target.value for target in found.targets}


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_profile_has_no_fault(name: str) -> None:
    profile = find_profile(name)
    assert [str(problem) for problem in check_profile(profile.path)] == []
    assert len(profile.summary) <= 100
    assert profile.when


@pytest.mark.parametrize("os", SYSTEMS)
@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_a_short_reason_a_source_and_a_value_for_every_system(name: str, os: str) -> None:
    profile = find_profile(name)
    assert profile.needs_link(os) == (name in {"wan", "lan"})
    stock: dict[str, Value] = dict.fromkeys(profile.common.rows, 1)
    for link in (COMMON, LAN, CASE_1, Link(100e9, 0.3)):
        inputs = {"guard": "both"} if name == "lan" else {}
        rows = profile.block(os).rows
        context = ProfileContext({"memory_bytes": 2**30}, stock if name != "default" else {})
        found = profile_targets(profile, os=os, context=context, link=link, inputs=inputs)
        for target in found.targets:
            assert 20 <= len(target.reason) < 150, target.reason
            assert target.source
            assert target.reason[0].islower() or target.reason.startswith("Windows")
        assert all(len(row.source) > 3 for alternatives in rows.values() for row in alternatives)


def test_the_formulas_leave_room_below_their_limit() -> None:
    for profile in list_profiles():
        for os in SYSTEMS:
            for expression in profile.block(os).let.values():
                assert isinstance(expression, Expression)
                assert len(expression.text) < LONGEST_FORMULA / 2


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
    [(0.5, 2_500_000), (0.25, 5_000_000), (0.75, 2_500_000)],  # tcp_adv_win_scale 1, -2, 2
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


def test_case_5_the_file_server_is_brought_to_64_kib() -> None:
    found = by_name(compute("lan", "freebsd", LAN))  # 2 x 31,250 bytes: the floor counts
    assert (found["send_buffer_max"].rule, found["send_buffer_max"].value) == ("at_most", 65_536)
    assert not meets(262_144, found["send_buffer_max"])
    assert meets(65_536, found["send_buffer_max"])
    assert meets(32_768, found["send_buffer_default"])  # its sendspace
    assert "socket_buffer_max" not in found
    assert "recv_buffer_max" not in found


@pytest.mark.parametrize(
    ("link", "cap"), [(LAN, 65_536), (Link(1e9, 0.001), 250_000), (Link(10e9, 0.0002), 500_000)]
)
def test_lan_caps_are_twice_the_bdp_with_a_floor(link: Link, cap: int) -> None:
    for os in ("linux", "freebsd", "macos"):
        send = values(compute("lan", os, link))
        assert send["send_buffer_max"] == cap
        assert "recv_buffer_max" not in send
        both = values(compute("lan", os, link, guard="both"))
        assert both["recv_buffer_max"] == both["recv_buffer_default"] == both["send_buffer_max"] == cap


@pytest.mark.parametrize(
    ("rtt_s", "window", "level"),
    [
        (0.00025, 65_535, "disabled"),
        (0.0015, 262_144, "highlyrestricted"),
        (0.005, 1_048_576, "restricted"),
        (0.1, 16_777_216, "normal"),
    ],
)
def test_windows_takes_the_largest_level_within_the_lan_cap(rtt_s: float, window: int, level: str) -> None:
    link = Link(1e9, rtt_s)
    target = by_name(compute("lan", "windows", link, guard="both"))["recv_buffer_max"]
    assert (target.rule, target.value) == ("at_most", window)
    assert window <= max(65_536, 2 * link.bdp_bytes)
    assert target.reason.startswith(f"level {level} is the highest within the cap")
    send = compute("lan", "windows", link)
    assert set(values(send)) == {"ecn"}
    (note,) = send.notes
    assert "no limit for send buffers" in note


def test_lan_has_an_aqm_queue_and_ecn() -> None:
    found = by_name(compute("lan", "linux", LAN))
    assert found["queue_discipline"].value == ("fq_codel", "cake")
    assert found["ecn"].value == "on"


def test_lan_says_what_the_cap_costs_on_the_way_out() -> None:
    notes = compute("lan", "freebsd", LAN, wan_rtt="80ms").notes
    assert (
        "A cap of 64 KiB holds one flow that leaves the LAN to 6.55 Mbit/s at an RTT of 80 ms; "
        "it needs 10,000,000 bytes for 1 Gbit/s."
    ) in notes
    notes = compute("lan", "freebsd", LAN).notes
    assert any("26.2 Mbit/s at an RTT of 20 ms, for instance. Give wan_rtt" in note for note in notes)


@pytest.mark.parametrize(
    ("os", "recv", "send"),
    [
        ("linux", 131_072, 131_072),
        ("freebsd", 65_536, 65_536),
        ("macos", 65_536, 65_536),
        ("windows", 65_535, None),
    ],
)
def test_rfc1323_off_on_each_system(os: str, recv: int, send: int | None) -> None:
    found = by_name(compute("rfc1323-off", os, None))
    assert found["window_scaling"].value is False
    assert found["timestamps"].value is False
    assert (found["recv_buffer_max"].rule, found["recv_buffer_max"].value) == ("at_most", recv)
    assert (found["send_buffer_max"].value if "send_buffer_max" in found else None) == send


def test_rfc1323_off_says_what_it_costs() -> None:
    assert compute("rfc1323-off", "linux", Link(100e6, 0.1)).notes == (
        "At an RTT of 100 ms a connection then carries at most 5.24 Mbit/s of the 100 Mbit/s.",
    )
    assert compute("rfc1323-off", "linux", LAN).notes == (
        "At an RTT of 250 us a window of 65,535 bytes still carries the 1 Gbit/s.",
    )
    (note,) = compute("rfc1323-off", "linux", None).notes
    assert "5.24 Mbit/s at 100 ms" in note


def test_default_is_the_stock_value_of_the_release() -> None:
    stock: dict[str, Value] = {"recv_buffer_max": 6291456, "congestion_control": "cubic", "sack": True}
    found = profile_targets(
        find_profile("default"),
        os="linux",
        context=ProfileContext({}, stock, "tcp.c of 6.1"),
        link=None,
        inputs={},
        supported=[*stock, "timestamps"],
    )
    assert values(found) == stock
    assert {(target.rule, target.source) for target in found.targets} == {("exact", "tcp.c of 6.1")}
    assert found.notes == ("no stock value is known for this release: timestamps",)


@pytest.mark.parametrize("name", ["wan", "lan"])
def test_without_a_link_the_error_says_what_to_add(name: str) -> None:
    with pytest.raises(UsageError, match=f"profile {name} needs a rate and an RTT; add for instance --rate"):
        compute(name, "linux", None)


@pytest.mark.parametrize("name", NAMES)
def test_real_platforms_give_their_typical_host_targets_that_their_keys_can_write(name: str) -> None:
    assert {platform.name for platform in all_platforms()} >= set(SYSTEMS)
    for platform in all_platforms():
        keys, context = platform.keys(None), platform.profile_context(None)
        found = profile_targets(
            find_profile(name), os=platform.name, context=context, link=LAN, inputs={}, supported=keys
        )
        assert found.targets or (name == "default" and found.notes), platform.name
        for target in found.targets:
            assert keys[target.setting].encode is not None, (platform.name, target.setting)
