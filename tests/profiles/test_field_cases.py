"""The field cases through real platforms: pasted native text, held against a profile."""

from __future__ import annotations

from hostcfg.compare import Comparison, compare_with_targets
from hostcfg.model import Difference, Facts, Link, Section
from hostcfg.platforms import get_platform
from hostcfg.profiles import find_profile, profile_targets


def read(os: str, *sections: Section) -> Facts:
    return get_platform(os).assemble("far-end", sections)


def held_against(name: str, facts: Facts, link: Link) -> Comparison:
    platform = get_platform(facts.os)
    wanted = profile_targets(
        find_profile(name),
        os=facts.os,
        context=platform.profile_context(facts),
        link=link,
        inputs={},
        supported=platform.keys(facts),
    )
    return compare_with_targets(facts, wanted.targets, platform)


def by_setting(compared: Comparison) -> dict[str, Difference]:
    return {difference.setting: difference for difference in compared.differences}


def test_case_1_before_and_after() -> None:
    link = Link(20e6, 0.516)
    before = read(
        "linux",
        Section(
            "sysctl",
            "kernel.osrelease = 2.6.32-754.el6.x86_64\n"
            "net.core.rmem_max = 163840\n"
            "net.core.wmem_max = 163840\n"
            "net.ipv4.tcp_rmem = 4096\t87380\t4194304\n"
            "net.ipv4.tcp_wmem = 4096\t16384\t4194304\n",
        ),
    )
    found = by_setting(held_against("wan", before, link))
    assert set(found) == {"recv_explicit_max", "send_explicit_max"}  # 4 MiB is more than 2.5 x 1.29 MB
    assert found["send_explicit_max"].current == 163_840
    assert found["send_explicit_max"].target == 3_225_000
    after = read(
        "linux",
        Section(
            "sysctl",
            "kernel.osrelease = 2.6.32-754.el6.x86_64\n"
            "net.core.netdev_max_backlog = 5000\n"
            "net.core.rmem_max = 12582912\n"
            "net.core.wmem_max = 12582912\n"
            "net.ipv4.tcp_rmem = 10240 87380 12582912\n"
            "net.ipv4.tcp_wmem = 10240 87380 12582912\n"
            "net.ipv4.tcp_window_scaling = 1\n"
            "net.ipv4.tcp_sack = 1\n",
        ),
    )
    assert held_against("wan", after, link).differences == ()


def test_case_2_names_the_caps_of_the_far_end() -> None:
    far = read(
        "linux",
        Section(
            "sysctl",
            "kernel.osrelease = 5.10.0\nnet.core.rmem_max = 65536\nnet.core.wmem_max = 65536\n",
        ),
    )
    found = by_setting(held_against("wan", far, Link(100e6, 0.012)))  # BDP 150,000
    assert {name: (d.current, d.target, d.key) for name, d in found.items()} == {
        "recv_explicit_max": (65_536, 375_000, "net.core.rmem_max"),
        "send_explicit_max": (65_536, 375_000, "net.core.wmem_max"),
    }


def test_case_3_a_triple_keeps_its_other_values() -> None:
    kek = read(
        "linux",
        Section("sysctl", "kernel.osrelease = 6.12.0\nnet.ipv4.tcp_rmem = 4096 65536 131072\n"),
    )
    difference = by_setting(held_against("wan", kek, Link(200e6, 0.08)))["recv_buffer_max"]
    assert (difference.current, difference.target) == (131_072, 4_000_000)
    assert difference.target_native is not None
    assert difference.target_native.split() == ["4096", "65536", "4000000"]


def test_case_5_names_the_send_buffer_of_the_file_server() -> None:
    server = read(
        "freebsd",
        Section(
            "sysctl",
            "kern.osrelease: 9.0-RELEASE\n"
            "kern.ipc.maxsockbuf: 262144\n"
            "net.inet.tcp.sendbuf_max: 262144\n"
            "net.inet.tcp.sendspace: 32768\n"
            "net.inet.tcp.recvbuf_max: 262144\n"
            "net.inet.tcp.rfc1323: 1\n",
        ),
    )
    found = by_setting(held_against("lan", server, Link(1e9, 0.00025)))
    assert set(found) == {"send_buffer_max"}
    assert found["send_buffer_max"].key == "net.inet.tcp.sendbuf_max"
    assert found["send_buffer_max"].target_native == "65536"
    off = by_setting(held_against("rfc1323-off", server, Link(1e9, 0.00025)))
    assert {off["window_scaling"].key, off["timestamps"].key} == {"net.inet.tcp.rfc1323"}


def test_wan_raises_the_cap_of_a_freebsd_above_its_buffers() -> None:
    host = read(
        "freebsd",
        Section(
            "sysctl",
            "kern.osrelease: 14.2-RELEASE\n"
            "kern.ipc.maxsockbuf: 2097152\n"
            "net.inet.tcp.sendbuf_max: 2097152\n"
            "net.inet.tcp.recvbuf_max: 2097152\n",
        ),
    )
    found = by_setting(held_against("wan", host, Link(200e6, 0.08)))
    assert found["recv_buffer_max"].target_native == "4000000"
    assert found["socket_buffer_max"].target_native == "4500000"


def test_case_6_a_windows_level_carries_the_window_or_not() -> None:
    text = (
        "TCP Global Parameters\n"
        "----------------------------------------------\n"
        "Receive-Side Scaling State          : enabled\n"
        "Receive Window Auto-Tuning Level    : {level}\n"
        "Add-On Congestion Control Provider  : default\n"
        "ECN Capability                      : disabled\n"
        "RFC 1323 Timestamps                 : disabled\n"
    )
    link = Link(50e6, 0.030)  # BDP 187,500
    off = read("windows", Section("netsh-tcp-global", text.format(level="disabled")))
    found = by_setting(held_against("wan", off, link))
    assert (found["recv_buffer_max"].current, found["recv_buffer_max"].target) == (65_535, 187_500)
    assert found["recv_buffer_max"].target_native == "highlyrestricted"
    assert "level highlyrestricted or above; it allows 256 KiB" in found["recv_buffer_max"].reason
    normal = read("windows", Section("netsh-tcp-global", text.format(level="normal")))
    assert "recv_buffer_max" not in by_setting(held_against("wan", normal, link))
