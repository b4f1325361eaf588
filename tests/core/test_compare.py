"""Rules, targets that can't be compared, and one host against another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hostcfg.compare import compare_hosts, compare_with_targets, meets
from hostcfg.model import Facts, Section, State, Target, Value
from hostcfg.platforms import get_platform

SYSCTL = """\
net.core.rmem_max = 212992
net.core.wmem_max = 212992
net.ipv4.tcp_rmem = 4096\t131072\t6291456
net.ipv4.tcp_wmem = 4096\t16384\t4194304
net.ipv4.tcp_window_scaling = 1
net.ipv4.tcp_timestamps = 1
net.ipv4.tcp_sack = 0
net.ipv4.tcp_congestion_control = reno
net.ipv4.tcp_available_congestion_control = reno cubic
"""


def linux(text: str = SYSCTL, host: str = "a") -> Facts:
    return get_platform("linux").assemble(host, [Section("sysctl", text)])


def target(setting: str, rule: str, value: Value, key: str | None = None) -> Target:
    return Target(setting, rule, value, "because", "RFC 7323", key)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "wanted", "value", "met"),
    [
        ("at_least", 100, 100, True),
        ("at_least", 100, 101, True),
        ("at_least", 100, 99, False),
        ("at_least", 0, 0, True),
        ("at_most", 100, 100, True),
        ("at_most", 100, 101, False),
        ("at_most", 0, 0, True),
        ("exact", True, True, True),
        ("exact", True, False, False),
        ("exact", 0, 0, True),
        ("one_of", ("bbr", "cubic"), "cubic", True),
        ("one_of", ("bbr", "cubic"), "reno", False),
    ],
)
def test_rules(rule: str, wanted: Value, value: Value, met: bool) -> None:
    assert meets(value, target("recv_buffer_max", rule, wanted)) is met


def test_a_difference_keeps_the_other_elements_of_a_triple() -> None:
    compared = compare_with_targets(
        linux(), [target("recv_buffer_max", "at_least", 12582912)], get_platform("linux")
    )
    (found,) = compared.differences
    assert (found.key, found.element, found.current, found.target) == (
        "net.ipv4.tcp_rmem",
        2,
        6291456,
        12582912,
    )
    assert (found.target_native or "").split() == ["4096", "131072", "12582912"]


def test_a_host_that_has_more_is_left_alone() -> None:
    compared = compare_with_targets(
        linux(), [target("recv_buffer_max", "at_least", 65536)], get_platform("linux")
    )
    assert compared.differences == ()
    assert compared.findings == ()


def test_one_of_takes_the_first_that_the_host_has() -> None:
    wanted = target("congestion_control", "one_of", ("bbr", "cubic", "htcp"))
    (found,) = compare_with_targets(linux(), [wanted], get_platform("linux")).differences
    assert (found.current, found.target) == ("reno", "cubic")


def test_one_of_without_any_that_the_host_has_is_no_difference() -> None:
    wanted = target("congestion_control", "one_of", ("bbr", "htcp"))
    compared = compare_with_targets(linux(), [wanted], get_platform("linux"))
    assert compared.differences == ()
    assert [(f.kind, list(f.keys)) for f in compared.findings] == [
        ("none_available", ["net.ipv4.tcp_congestion_control"])
    ]


def test_what_was_not_read_is_a_finding_and_no_difference() -> None:
    facts = linux("net.core.rmem_max = 212992\n")
    denied = replace(facts.readings["timestamps"], state=State.DENIED, value=None)
    facts = replace(facts, readings={**facts.readings, "timestamps": denied})
    compared = compare_with_targets(
        facts,
        [
            target("timestamps", "exact", True),
            target("sack", "exact", True),
            target("pacing", "exact", "off"),
        ],
        get_platform("linux"),
    )
    assert compared.differences == ()
    assert {f.kind: list(f.keys) for f in compared.findings} == {
        "not_compared_denied": ["net.ipv4.tcp_timestamps"],
        "not_compared_absent": ["net.ipv4.tcp_sack"],
    }


def test_a_native_key_of_a_profile_is_compared_by_type() -> None:
    facts = linux(SYSCTL + "net.ipv4.tcp_retries2 = 15\nnet.ipv4.tcp_orphan_retries = 0\n")
    compared = compare_with_targets(
        facts,
        [
            target("net.ipv4.tcp_retries2", "at_most", 8, key="net.ipv4.tcp_retries2"),
            target("net.ipv4.tcp_orphan_retries", "exact", 0, key="net.ipv4.tcp_orphan_retries"),
        ],
        get_platform("linux"),
    )
    assert [(d.key, d.current, d.target, d.target_native) for d in compared.differences] == [
        ("net.ipv4.tcp_retries2", 15, 8, "8")
    ]


def test_a_host_does_not_differ_from_itself() -> None:
    difference = compare_hosts(linux(), linux(host="b"))
    assert difference.settings == ()
    assert difference.native == ()


def test_blanks_and_tabs_are_no_difference() -> None:
    difference = compare_hosts(linux(), linux(SYSCTL.replace("\t", "   ")))
    assert difference.settings == ()
    assert difference.native == ()


def test_hosts_with_almost_nothing_in_common_are_compared_key_by_key() -> None:
    excerpt = linux("net.ipv4.tcp_rmem = 4096 87380 65536\nnet.ipv4.tcp_sack = 1\n", "b")
    many = linux(SYSCTL + "".join(f"net.ipv4.tcp_key{n} = {n}\n" for n in range(60)))
    for a, b in ((many, excerpt), (excerpt, many)):
        difference = compare_hosts(a, b)
        assert {p.setting for p in difference.settings} >= {"recv_buffer_default", "recv_buffer_max", "sack"}
        assert {p.key for p in difference.native} >= {"net.ipv4.tcp_rmem", "net.ipv4.tcp_key7"}


def test_two_hosts_by_setting_and_by_native_key() -> None:
    other = linux(SYSCTL.replace("6291456", "262144").replace("tcp_sack = 0", "tcp_sack = 1"), "b")
    difference = compare_hosts(linux(), other)
    assert [(p.setting, p.a.value, p.b.value) for p in difference.settings] == [
        ("recv_buffer_max", 6291456, 262144),
        ("sack", False, True),
    ]
    assert [p.key for p in difference.native] == ["net.ipv4.tcp_rmem", "net.ipv4.tcp_sack"]


def test_a_linux_window_against_a_windows_level() -> None:
    text = """\
TCP Global Parameters
----------------------------------------------
Receive-Side Scaling State          : enabled
Receive Window Auto-Tuning Level    : restricted
"""
    windows = get_platform("windows").assemble("w", [Section("netsh-tcp-global", text)])
    difference = compare_hosts(linux(), windows)
    (pair,) = [p for p in difference.settings if p.setting == "recv_buffer_max"]
    assert (pair.a.value, pair.a.key) == (6291456, "net.ipv4.tcp_rmem")
    assert (pair.b.value, pair.b.key) == (1048576, "global.autotuninglevel")
    assert difference.native == ()
