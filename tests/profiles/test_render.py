"""A profile as native text for someone else's host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.audit import audit_host, describe_profile
from hostcfg.model import Link, Target
from hostcfg.platforms import all_platforms, get_platform
from hostcfg.platforms.base import Bound, ProfileContext, Stays
from hostcfg.profiles import find_profile, load_profile
from hostcfg.render import render_profile, stock_text, within_rule
from tests.path.hosts import linux

from .handler import STOCK, HandlerPlatform

if TYPE_CHECKING:
    from pathlib import Path

    from hostcfg.model import Rule, Value
    from hostcfg.platforms.base import RenderStyle

LINK = Link(1e9, 0.08)  # BDP 10,000,000 bytes


def unwrapped(text: str) -> str:
    """Comments as one running text."""
    return " ".join(text.replace("#", " ").replace("\nrem ", " ").split())


@pytest.mark.parametrize("name", ["wan", "lan", "rfc1323-off", "default"])
def test_no_comment_is_wider_than_a_terminal(name: str) -> None:
    """Commands are as long as they are; those that a comment holds too."""
    for platform in all_platforms():
        for style in ("script", "config"):
            text = render_profile(find_profile(name), platform, LINK, {}, style)
            comments = [line for line in text.splitlines() if line.startswith(("# ", "rem "))]
            assert not [line for line in comments if len(line) > 80 and " netsh " not in line]


def test_a_text_of_a_profile_turns_no_comment_around(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        'name: own\nsummary: "to the \\u202e left"\nwhen: w\nsettings:\n'
        '  sack: {rule: exact, value: true, reason: "a \\u202e b", source: s}\n'
    )
    for platform in all_platforms():
        text = render_profile(load_profile(str(path)), platform, None, {}, "script")
        assert "\u202e" not in text


def test_the_script_of_wan_in_full() -> None:
    lines = render_profile(find_profile("wan"), HandlerPlatform(), LINK, {}, "script").splitlines()
    body = [line for line in lines if not line.startswith("#")]
    assert body == [
        "set net.sndmax '20000000'",
        "set net.options '3'",
        "set net.rmem '4096 131072 20000000'",
        "set net.cc 'cubic'",
        "set net.qdisc 'fq'",
        "set net.backlog '2500'",
    ]
    assert lines[:6] == [
        "# hostcfg profile wan for Handler",
        "# high latency - buffers above the bandwidth-delay product, all TCP options,",
        "# pacing",
        "# link: 1 Gbit/s, RTT 80 ms, bandwidth-delay product 10,000,000 bytes",
        "# Values are for a host with stock settings; leave one beyond its rule.",
        "#",
    ]
    assert "# net.options: window_scaling on" in lines
    assert "# net.cc: congestion_control one of bbr, cubic, htcp" in lines
    reason = lines[lines.index("# net.rmem: recv_buffer_max at least 20000000") + 1]
    assert reason.startswith("#   the window must hold the 10,000,000 bytes in flight")
    assert any(line.startswith("# note: New values serve new connections") for line in lines)


def test_the_config_is_the_same_values() -> None:
    platform = HandlerPlatform()
    text = render_profile(find_profile("wan"), platform, LINK, {}, "config")
    assert "net.rmem = 4096 131072 20000000\n" in text
    assert platform.stays["net.rmem"] == Stays((Bound("at_least", 20_000_000, 2),), stock_holds=True)
    assert platform.stays["net.cc"] == Stays((Bound("one_of", ("bbr", "cubic", "htcp")),), stock_holds=True)
    assert "net.options" not in platform.stays  # a value of its own


def test_a_stock_value_never_moves_against_its_rule() -> None:
    small = Link(10e6, 0.01)  # 2 x BDP is 25,000 bytes: below what is stock
    text = render_profile(find_profile("wan"), HandlerPlatform(), small, {}, "config")
    assert "net.rmem = 4096 131072 6291456\n" in text
    assert "net.sndmax = 4194304\n" in text
    assert "recv_buffer_max at least 25000\n" in text
    lan = render_profile(find_profile("lan"), HandlerPlatform(), Link(1e9, 0.00025), {}, "config")
    assert "net.sndmax = 65536\n" in lan


def test_a_cap_and_inputs_show_in_the_comments() -> None:
    platform = HandlerPlatform({"memory_bytes": 64 * 2**20})
    text = render_profile(find_profile("wan"), platform, Link(10e9, 0.08), {"streams": "2"}, "config")
    assert "net.sndmax = 4194304\n" in text  # 1/16 of 64 MiB
    assert "capped, 100,000,000 bytes would be needed: 1/16 of the host's 64 MiB of RAM" in unwrapped(text)


def test_scaling_and_timestamps_share_one_number() -> None:
    text = render_profile(find_profile("rfc1323-off"), HandlerPlatform(), None, {}, "script")
    assert "set net.options '0'" in text
    assert "set net.rmem '4096 131072 131072'" in text
    assert "link:" not in text


def test_native_keys_are_written_as_they_stand_and_what_can_not_be_set_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        """\
name: own
summary: s
when: w
settings:
  congestion_control_available: {rule: one_of, value: [cubic, reno], reason: both loaded, source: s}
os:
  linux:
    settings:
      net.raw: {rule: exact, value: 1 2 3, reason: a triple, source: s}
      net.flag: {rule: exact, value: true, reason: a switch, source: s}
"""
    )
    text = render_profile(load_profile(str(path)), HandlerPlatform(), None, {}, "script")
    assert "set net.raw '1 2 3'\nset net.flag '1'\n" in text
    assert "# net.raw 1 2 3\n#   a triple\n" in text
    assert "# left out: congestion_control_available: net.cc_available can't be set\n" in text


@pytest.mark.parametrize(
    ("rule", "value", "stock", "written"),
    [
        ("at_least", 100, 50, 100),
        ("at_least", 100, 200, 200),
        ("at_least", 100, None, 100),
        ("at_most", 100, 50, 50),
        ("at_most", 100, 0, 0),  # 0 is a value
        ("at_most", 100, 200, 100),
        ("exact", 100, 200, 100),
        ("one_of", ("bbr", "cubic"), "cubic", "cubic"),
        ("one_of", ("bbr", "cubic"), "reno", "bbr"),
        ("one_of", ("bbr", "cubic"), None, "bbr"),
    ],
)
def test_what_is_written_over_a_stock_value(rule: Rule, value: Value, stock: Value, written: Value) -> None:
    assert within_rule(Target("s", rule, value, "r", "src"), stock) == written


def test_the_stock_text_of_a_key_is_made_of_all_that_it_carries() -> None:
    keys = HandlerPlatform().keys(None)
    assert stock_text("net.rmem", keys, ProfileContext({}, STOCK)) == "4096 131072 6291456"
    assert stock_text("net.options", keys, ProfileContext({}, STOCK)) == "3"
    assert stock_text("net.options", keys, ProfileContext({}, {"timestamps": True})) == "2"
    assert stock_text("net.rmem", keys, ProfileContext({}, {"recv_buffer_max": 1})) == ""
    assert stock_text("net.cc", keys, ProfileContext({}, {})) == ""


def test_a_triple_with_an_unknown_rest_is_left_out_and_says_so() -> None:
    platform = HandlerPlatform()
    platform.context = ProfileContext({}, {"timestamps": True})
    text = render_profile(find_profile("wan"), platform, LINK, {}, "script")
    assert "set net.rmem" not in text
    assert "left out: recv_buffer_max: the rest of net.rmem has no known stock value" in text


@pytest.mark.parametrize("style", ["script", "config"])
@pytest.mark.parametrize("name", ["wan", "lan", "rfc1323-off", "default"])
def test_every_real_platform_renders_every_profile(name: str, style: RenderStyle) -> None:
    for platform in all_platforms():
        text = render_profile(find_profile(name), platform, LINK, {}, style)
        assert f"hostcfg profile {name} for {platform.title}\n" in text
        assert "10,000,000 bytes" in text
        assert "no known stock value" not in text


def test_what_is_rendered_for_an_unknown_linux_is_enough_for_all_of_its_releases() -> None:
    text = render_profile(find_profile("wan"), get_platform("linux"), LINK, {}, "config")
    assert "net.ipv4.tcp_rmem = 4096 131072 25000000\n" in text  # 2.5 x BDP, as kernels before 6.6 need
    assert "from 6.6 on 2 x is enough" in unwrapped(text)
    assert "# Stock values are those of Linux 6.12; another release may have others.\n" in text
    for release in ("5.10.0", "6.1.0", "6.12.0"):
        host = linux("far", release=release, rmem="4096 131072 25000000", wmem="4096 16384 25000000")
        names = {d.setting for d in audit_host(host, find_profile("wan"), LINK, {}).differences}
        assert not names & {"recv_buffer_max", "send_buffer_max"}, release


def test_the_default_profile_names_the_release_that_it_speaks_of() -> None:
    for name, release in (
        ("linux", "Linux 6.12"),
        ("freebsd", "FreeBSD 14.2"),
        ("windows", "Windows build 26100"),
    ):
        said = f"tock values are those of {release}; another release may have others"
        text = render_profile(find_profile("default"), get_platform(name), None, {}, "script")
        assert said in unwrapped(text)
        (system,) = describe_profile(find_profile("default"), None, {}, name).systems
        assert system.wanted.notes[0] == f"s{said}"
        (other,) = describe_profile(find_profile("lan"), LINK, {}, name).systems
        assert f"s{said}" not in other.wanted.notes  # it speaks of no stock value
