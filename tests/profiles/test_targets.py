"""From a profile to targets: rules, caps, stock values, systems.  Profiles written here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import ProfileError, UsageError
from hostcfg.model import Link
from hostcfg.platforms.base import ProfileContext

from .computing import compute
from .own import one, row, targets

if TYPE_CHECKING:
    from pathlib import Path

    from hostcfg.model import Scalar, Value


@pytest.mark.parametrize(
    ("setting", "rule", "value", "expected"),
    [
        ("recv_buffer_max", "at_least", "2 * bdp", 2_000_000),
        ("recv_buffer_max", "at_least", "bdp / 3", 333_334),  # a whole byte, on the safe side of the rule
        ("recv_buffer_max", "at_most", "bdp / 3", 333_333),
        ("recv_buffer_max", "exact", "4MiB", 4_194_304),
        ("recv_buffer_max", "exact", "0", 0),  # 0 is a value
        ("window_scaling", "exact", "true", True),
        ("window_scaling", "exact", "bdp > 65535", True),
        ("slow_start_after_idle", "exact", "false", False),
        ("ecn", "exact", "'off'", "off"),
        ("congestion_control", "one_of", "[bbr, cubic]", ("bbr", "cubic")),
        ("recv_buffer_max", "one_of", "[65536, 131072]", (65536, 131072)),
        ("recv_window_scale_overhead", "exact", "-2", -2),
        ("recv_buffer_max", "at_least", "1e17", 2**31 - 1),
    ],
)
def test_values_have_the_type_of_their_setting(
    tmp_path: Path, setting: str, rule: str, value: str, expected: Value
) -> None:
    target = one(tmp_path, f"settings:\n  {setting}:\n{row(rule, value)}")
    assert target.value == expected
    assert type(target.value) is type(expected)
    assert (target.setting, target.rule, target.reason, target.source) == (setting, rule, "r", "RFC 1")
    assert target.key is None


def test_an_int32_limit_says_so(tmp_path: Path) -> None:
    target = one(tmp_path, f"settings:\n  recv_buffer_max:\n{row('at_least', '4GiB')}")
    assert target.value == 2_147_483_647
    assert target.capped == "capped, 4 GiB would be needed: the system keeps it in 32 bits"


def test_a_stock_value_and_an_unsigned_setting_are_not_cut_to_31_bits(tmp_path: Path) -> None:
    text = f"settings:\n  send_not_sent_lowat:\n{row('exact', 'stock')}"
    context = ProfileContext({}, {"send_not_sent_lowat": 2**32 - 1})
    (target,) = targets(tmp_path, text, context=context).targets
    assert (target.value, target.capped) == (2**32 - 1, None)
    own = one(tmp_path, f"settings:\n  send_not_sent_lowat:\n{row('exact', '4294967295')}")
    assert (own.value, own.capped) == (2**32 - 1, None)


CAPPED = f"""
caps:
  ram:
    value: default(memory_bytes, 1TiB) / 16
    reason: 1/16 of {{default(memory_bytes, 0)|size}}
  other:
    value: 700000
    reason: another limit
settings:
  recv_buffer_max:
{row("at_least", "2 * bdp", "cap: [ram, other]")}"""


@pytest.mark.parametrize(
    ("known", "value", "capped"),
    [
        ({"memory_bytes": 8_388_608}, 524_288, "capped, 2,000,000 bytes would be needed: 1/16 of 8 MiB"),
        ({"memory_bytes": 2**30}, 700_000, "capped, 2,000,000 bytes would be needed: another limit"),
        ({}, 700_000, "capped, 2,000,000 bytes would be needed: another limit"),
    ],
)
def test_the_lowest_cap_counts_and_says_why(
    tmp_path: Path, known: dict[str, Scalar], value: int, capped: str
) -> None:
    target = one(tmp_path, CAPPED, known)
    assert (target.value, target.capped) == (value, capped)


def test_a_value_below_its_caps_is_not_called_capped(tmp_path: Path) -> None:
    target = one(tmp_path, CAPPED.replace("2 * bdp", "65536"), {"memory_bytes": 2**30})
    assert (target.value, target.capped) == (65_536, None)


def test_stock_is_the_context_s_value_and_a_note_where_none_is_known(tmp_path: Path) -> None:
    text = f"""
settings:
  recv_buffer_max:
{row("exact", "stock")}
  fast_open:
    rule: exact
    formula: stock
    reason: as installed
    source: release
  sack:
{row("exact", "stock")}
  send_buffer_max:
{row("at_least", "max(stock, 2 * bdp)")}"""
    stock: dict[str, Value] = {"recv_buffer_max": 6291456, "fast_open": "client", "send_buffer_max": 4194304}
    found = targets(tmp_path, text, context=ProfileContext({}, stock, "tcp.c 6.1"))
    assert [(t.setting, t.value, t.source) for t in found.targets] == [
        ("recv_buffer_max", 6291456, "tcp.c 6.1"),
        ("fast_open", "client", "tcp.c 6.1"),
        ("send_buffer_max", 4194304, "tcp.c 6.1"),
    ]
    assert found.notes == ("no stock value is known for this release: sack",)


def test_settings_that_the_host_has_no_key_for_get_no_target_and_no_note(tmp_path: Path) -> None:
    text = f"settings:\n  recv_buffer_max:\n{row('exact', 'stock')}\n  sack:\n{row('exact', 'stock')}"
    found = targets(tmp_path, text, supported=["window_scaling"])
    assert found.targets == ()
    assert found.notes == ()


SYSTEMS = f"""
let:
  factor: 2
  size: ceil(factor * bdp)
settings:
  sack:
{row("exact", "true")}
  recv_buffer_max:
{row("at_least", "size")}
os:
  linux:
    let:
      factor: 2.5 if default(linux_before_6_6, false) else 2
    settings:
      net.ipv4.tcp_low_latency:
        rule: exact
        value: '1'
        reason: native
        source: ip-sysctl
      net.ipv4.tcp_rmem:
        rule: exact
        value: 4096 87380 12582912
        reason: native
        source: ip-sysctl
      net.core.busy_poll:
        rule: at_least
        formula: 10 * 5
        reason: native
        source: net.rst
  windows:
    settings:
      sack: null
      recv_buffer_max:
{row("at_least", "max(bdp, 64KiB)").replace("    ", "        ")}"""


def test_an_os_block_overrides_adds_native_keys_and_takes_away(tmp_path: Path) -> None:
    old = targets(tmp_path, SYSTEMS, context=ProfileContext({"linux_before_6_6": True}))
    assert [(t.setting, t.key, t.value) for t in old.targets] == [
        ("sack", None, True),
        ("recv_buffer_max", None, 2_500_000),
        ("net.ipv4.tcp_low_latency", "net.ipv4.tcp_low_latency", "1"),
        ("net.ipv4.tcp_rmem", "net.ipv4.tcp_rmem", "4096 87380 12582912"),
        ("net.core.busy_poll", "net.core.busy_poll", 50),
    ]
    new = targets(tmp_path, SYSTEMS)
    assert new.targets[1].value == 2_000_000
    windows = targets(tmp_path, SYSTEMS, os="windows")
    assert [(t.setting, t.value) for t in windows.targets] == [("recv_buffer_max", 1_000_000)]
    elsewhere = targets(tmp_path, SYSTEMS, os="plan9")
    assert [(t.setting, t.value) for t in elsewhere.targets] == [
        ("sack", True),
        ("recv_buffer_max", 2_000_000),
    ]


def test_the_first_alternative_whose_condition_holds_counts(tmp_path: Path) -> None:
    text = """
settings:
  congestion_control:
    - {rule: exact, value: ctcp, reason: old, source: s, when: "default(build, 99999) < 16299"}
    - {rule: exact, value: cubic, reason: new, source: s, when: "default(build, 99999) < 22621"}
    - {rule: one_of, value: [bbr2, cubic], reason: newest, source: s}
"""
    assert one(tmp_path, text, {"build": 9600}).value == "ctcp"
    assert one(tmp_path, text, {"build": 20348}).value == "cubic"
    assert one(tmp_path, text).value == ("bbr2", "cubic")


def test_a_row_whose_condition_fails_is_no_target(tmp_path: Path) -> None:
    text = f"settings:\n  sack:\n{row('exact', 'true', 'when: bdp < 0')}"
    assert targets(tmp_path, text).targets == ()


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("recv_buffer_max", "0 - bdp", "settings.recv_buffer_max.value: gives -1,000,000"),
        ("recv_buffer_max", "bdp > 1", "gives True, and this setting is a number"),
        ("recv_buffer_max", "\"'64K'\"", "gives '64K', and this setting is a number"),
        ("recv_buffer_max", "bdp / (rtt_s - 0.08)", "divides by zero"),
        ("window_scaling", "1", "1 is no flag: write on, off, true or false"),
        ("window_scaling", "'1'", "gives 1, and this setting is on, off, true or false"),
        ("window_scaling", "maybe", "'maybe' is no flag: write on, off, true or false"),
        ("recv_buffer_max", "1e18 * bdp", "overflows"),
    ],
)
def test_a_formula_that_gives_the_wrong_kind_names_its_line(
    tmp_path: Path, setting: str, value: str, says: str
) -> None:
    with pytest.raises(ProfileError) as caught:
        one(
            tmp_path,
            f"settings:\n  {setting}:\n    rule: exact\n    value: {value}\n    reason: r\n    source: s\n",
        )
    assert says in str(caught.value)
    assert f"own.yaml:7: settings.{setting}.value: " in str(caught.value)


@pytest.mark.parametrize(
    ("word", "value"),
    [("on", True), ("off", False), ("true", True), ("false", False), ("'Off'", False), ("bdp > 1", True)],
)
def test_a_flag_is_written_as_the_outputs_show_it(tmp_path: Path, word: str, value: bool) -> None:
    text = f"settings:\n  window_scaling: {{rule: exact, value: {word}, reason: r, source: s}}\n"
    assert one(tmp_path, text).value is value


def test_let_names_are_computed_once_and_only_when_asked_for(tmp_path: Path) -> None:
    text = f"""
let:
  never: 1 / 0
  a: b * 2
  b: bdp
settings:
  recv_buffer_max:
{row("at_least", "a if bdp > 0 else never")}"""
    assert one(tmp_path, text).value == 2_000_000


def test_a_link_that_can_not_be_is_the_users_slip_and_not_the_profiles() -> None:
    with pytest.raises(UsageError, match=r"1000 Tbit/s x 1000 s is more in flight") as caught:
        compute("wan", "linux", Link(1e15, 1e3))
    assert "check both and their units" in str(caught.value)
    assert "yaml" not in str(caught.value)
