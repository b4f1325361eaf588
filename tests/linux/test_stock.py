"""Stock values by release, and the names for profiles' formulas."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostcfg.model import Section
from hostcfg.platforms.linux import PLATFORM
from tests.linux.pieces import MACHINE, host_facts

FIXTURES = Path(__file__).parents[1] / "fixtures" / "linux"

RECORDED = {  # untouched hosts
    "sysctl-tcp__debian11-5.10__01.txt": "5.10.0",
    "sysctl-tcp__debian12-6.1__01.txt": "6.1.0",
    "sysctl-tcp__debian-sid-7.2__01.txt": "7.2.13",
    "sysctl-a__rhcos-4.18__01.txt": "4.18.0",
}


@pytest.mark.parametrize("name", RECORDED)
def test_an_untouched_host_has_its_stock_values(name: str) -> None:
    """The recordings are of hosts as they came: nothing of them may differ from stock."""
    sections = [
        Section("uname", f"Linux h {RECORDED[name]} #1 SMP x86_64 GNU/Linux"),
        Section("sysctl", (FIXTURES / name).read_text()),
        Section("linux-host", "=page_bytes 4096\n"),
    ]
    facts = PLATFORM.assemble("h", sections)
    stock = PLATFORM.profile_context(facts).stock
    assert len(stock) >= 15
    for setting, value in stock.items():
        reading = facts.readings[setting]
        if reading.value is not None and setting != "congestion_control":
            assert reading.value == value, setting


@pytest.mark.parametrize(
    ("release", "setting", "value"),
    [
        ("2.6.32-754.el6", "recv_window_scale_overhead", 2),
        ("2.6.32-754.el6", "listen_backlog_max", 128),
        ("2.6.32-754.el6", "fast_open", "off"),
        ("4.18.0", "recv_buffer_default", 87380),
        ("4.19.0", "recv_buffer_default", 87380),
        ("4.20.0", "recv_buffer_default", 131072),
        ("5.3.0", "listen_backlog_max", 128),
        ("5.4.0", "listen_backlog_max", 4096),
        ("6.5.0", "recv_window_scale_overhead", 1),
        ("6.15.0", "recv_buffer_max", 6291456),
        ("6.16.0", "recv_buffer_max", 33554432),
        ("6.16.0", "recv_explicit_max", 212992),
        ("6.18.0", "recv_explicit_max", 4194304),
        ("6.1.0", "send_buffer_max", 4194304),
    ],
)
def test_by_release(release: str, setting: str, value: object) -> None:
    assert PLATFORM.profile_context(host_facts(release=release)).stock[setting] == value


def test_what_is_not_known_is_left_out() -> None:
    assert "recv_explicit_max" not in PLATFORM.profile_context(host_facts(release="6.17.1")).stock
    assert "recv_window_scale_overhead" not in PLATFORM.profile_context(host_facts(release="6.6.0")).stock
    assert "queue_discipline" not in PLATFORM.profile_context(None).stock
    empty = PLATFORM.profile_context(PLATFORM.assemble("h", []))
    assert (empty.inputs, empty.stock) == ({}, {})


def test_32_bit_machines_have_less_overhead() -> None:
    sections = [Section("uname", "Linux r 4.14.0 #0 SMP mips GNU/Linux")]
    assert PLATFORM.profile_context(PLATFORM.assemble("h", sections)).stock["recv_explicit_max"] == 163840
    sections = [Section("uname", "Linux r 4.14.0 #0 SMP aarch64 GNU/Linux")]
    assert PLATFORM.profile_context(PLATFORM.assemble("h", sections)).stock["recv_explicit_max"] == 212992


def test_buffers_follow_the_memory() -> None:
    """max(least, min(cap, free / 128)); 128 MB of RAM gave 969632 (recorded)."""
    marks = "/proc/meminfo:MemTotal:       127000 kB\n=page_bytes 4096\n"
    facts = host_facts({"net.ipv4.tcp_rmem": "4096 131072 969632", "net.ipv4.tcp_mem": "0 0 0"}, marks=marks)
    stock = PLATFORM.profile_context(facts).stock
    assert stock["recv_buffer_max"] == 969632  # within what the kernel's own sum leaves open
    changed = host_facts(
        {"net.ipv4.tcp_rmem": "4096 131072 500000", "net.ipv4.tcp_mem": "0 0 0"}, marks=marks
    )
    assert PLATFORM.profile_context(changed).stock["recv_buffer_max"] == 127000 * 1024 // 128
    assert PLATFORM.profile_context(changed).stock["send_buffer_max"] == 127000 * 1024 // 128


def test_inputs() -> None:
    inputs = PLATFORM.profile_context(host_facts()).inputs
    assert inputs["kernel_major"] == 6
    assert inputs["kernel_minor"] == 1
    assert inputs["linux_before_6_6"] is True
    assert inputs["window_fraction"] == 0.5
    assert inputs["memory_bytes"] == 16384000 * 1024
    assert "default_interface_speed_bps" not in inputs


@pytest.mark.parametrize(
    ("release", "scale", "fraction"),
    [
        ("6.1.0", "2", 0.75),
        ("6.1.0", "-2", 0.25),
        ("6.1.0", "3", 0.875),
        ("6.1.0", "0", 1.0),
        ("6.12.0", "3", 0.68),
    ],
)
def test_window_fraction(release: str, scale: str, fraction: float) -> None:
    """Measured: 0.75 and 0.25 on 6.1; from 6.6 on the scale has no effect."""
    facts = host_facts({"net.ipv4.tcp_adv_win_scale": scale}, release=release)
    assert PLATFORM.profile_context(facts).inputs["window_fraction"] == fraction


def test_interface_speed() -> None:
    section = Section("linux-net-class", "/sys/class/net/eth0/speed:25000\n")
    route = Section("ip-route", "default via 192.0.2.1 dev eth0")
    inputs = PLATFORM.profile_context(host_facts(more=[route, section])).inputs
    assert inputs["default_interface_speed_bps"] == 25_000_000_000
    for odd in ("-1", "0", "4294967295000"):
        section = Section("linux-net-class", f"/sys/class/net/eth0/speed:{odd}\n")
        inputs = PLATFORM.profile_context(host_facts(more=[route, section])).inputs
        assert "default_interface_speed_bps" not in inputs


def test_a_typical_host() -> None:
    context = PLATFORM.profile_context(None)
    assert context.inputs["linux_before_6_6"] is False
    assert context.stock["recv_buffer_max"] == 6291456
    assert MACHINE
