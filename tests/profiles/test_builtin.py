"""The profiles that come with hostcfg: their form, and the numbers of lan, rfc1323-off and default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.audit import audit_host
from hostcfg.compare import meets
from hostcfg.errors import UsageError
from hostcfg.formula import LONGEST_FORMULA
from hostcfg.model import Link
from hostcfg.platforms import all_platforms
from hostcfg.platforms.base import ProfileContext
from hostcfg.profiles import find_profile, list_profiles, profile_targets
from hostcfg.profiles.check import check_profile
from hostcfg.profiles.structure import Expression
from hostcfg.reader import read_pasted

from .computing import CASE_1, COMMON, LAN, SYSTEMS, by_name, compute, values

if TYPE_CHECKING:
    from hostcfg.model import Value

NAMES = ["default", "lan", "rfc1323-off", "wan"]


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


def test_lan_says_where_a_small_cap_holds_up_recovery_on_linux() -> None:
    """2 x (65,536 + 2 x 66,112) bytes; the 1 Gbit/s carry as much in 3.2 ms."""
    for wan_rtt, said in (("80ms", True), ("3ms", False)):
        notes = compute("lan", "linux", LAN, wan_rtt=wan_rtt).notes
        assert any("395,520 bytes are queued" in note for note in notes) is said
    assert not any("TCPWqueueTooBig" in note for note in compute("lan", "linux", LAN).notes)


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


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "kern.ostype: FreeBSD\nkern.ipc.maxsockbuf: 262144\nnet.inet.tcp.sendbuf_max: 262144\n",
            "send_buffer_max",
        ),
        (
            (
                "TCP Global Parameters\n----------------------------------------------\n"
                "Receive Window Auto-Tuning Level    : normal\n"
                "RFC 1323 Timestamps                 : disabled\n"
                "ECN Capability                      : disabled\nInitial RTO                         : 3000\n"
            ),
            "initial_rto",
        ),
        ("net.ipv4.tcp_rmem = 4096 87380 4194304\nnet.ipv4.tcp_sack = 1\n", "recv_buffer_max"),
    ],
)
def test_default_knows_nothing_of_an_unknown_release(text: str, kept: str) -> None:
    """256 KiB is stock on FreeBSD 8, 3000 ms on Windows 10 1909: the current release's is no target."""
    audit = audit_host(read_pasted("h", text, "h.txt"), find_profile("default"), None, {})
    assert audit.differences == ()
    assert any("no stock value is known" in note and kept in note for note in audit.notes)
