"""Forms of native keys and the values that they admit."""

from __future__ import annotations

import pytest

from hostcfg.platforms.linux import native
from hostcfg.platforms.linux.native import Form, form_of, is_key, is_linux, is_root_only, is_volatile

Json = object


@pytest.mark.parametrize(
    ("key", "form"),
    [
        ("net.core.rmem_max", Form("int")),
        ("net.ipv4.tcp_rmem", Form("ints", 3)),
        ("kernel.printk", Form("ints", 4)),
        ("net.ipv4.ip_local_port_range", Form("ints", 2)),
        ("vm.lowmem_reserve_ratio", Form("ints", None)),
        ("net.ipv4.tcp_congestion_control", Form("word")),
        ("net.ipv4.tcp_available_congestion_control", Form("words")),
        ("net.ipv4.conf.eth0.rp_filter", Form("int")),
        ("net.ipv4.conf.eth0/100.rp_filter", Form("int")),
        ("net.ipv4.conf.eth0.100.rp_filter", Form("int")),  # as busybox prints it
        ("net.ipv6.neigh.default.gc_thresh1", Form("int")),
        ("net.ipv6.conf.all.stable_secret", None),
        ("kernel.core_pattern", None),
        ("net.core.flow_limit_cpu_bitmap", None),  # hex
        ("net.ipv4.nosuch", None),
        ("net.ipv4.conf.rp_filter", None),  # no interface
        ("rmem_max", None),
    ],
)
def test_form_of_a_key(key: str, form: Form | None) -> None:
    assert form_of(key) == form


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("net.core.rmem_max", "212992", 212992),
        ("net.ipv4.tcp_notsent_lowat", "-1", -1),
        ("net.ipv4.tcp_notsent_lowat", "4294967295", 4294967295),
        ("fs.file-max", "9223372036854775807", 9223372036854775807),
        ("net.ipv4.tcp_sack", "0", 0),
        ("net.ipv4.tcp_rmem", "4096\t131072\t6291456", [4096, 131072, 6291456]),
        ("net.ipv4.tcp_rmem", " 4096   131072 \t 6291456 ", [4096, 131072, 6291456]),
        ("vm.lowmem_reserve_ratio", "256\t256\t32\t0\t0", [256, 256, 32, 0, 0]),
        ("net.ipv4.tcp_congestion_control", "cubic", "cubic"),
        ("net.ipv4.tcp_available_congestion_control", "reno cubic bbr", ["reno", "cubic", "bbr"]),
        ("net.ipv4.tcp_available_ulp", "", []),
        ("net.ipv4.ip_local_reserved_ports", "", ""),
        ("kernel.core_pattern", "|/usr/lib/x %P %u", "|/usr/lib/x %P %u"),
        ("net.ipv4.nosuch", "17", "17"),  # unknown: text, whatever it looks like
    ],
)
def test_a_printed_value(key: str, raw: str, value: Json) -> None:
    got = native.typed(key, raw)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("net.core.rmem_max", ""),
        ("net.core.rmem_max", "212992 1"),
        ("net.core.rmem_max", "16M"),
        ("net.core.rmem_max", "0x1000"),  # the kernel never prints hex here
        ("net.core.rmem_max", "0212992"),
        ("net.core.rmem_max", "212992sysctl:"),
        ("net.core.rmem_max", "２１２"),
        ("net.core.rmem_max", "1" * 5000),
        ("net.core.rmem_max", "212\u00a0992"),
        ("net.ipv4.tcp_rmem", "4096 131072"),
        ("net.ipv4.tcp_rmem", "4096 131072 6291456 1"),
        ("net.ipv4.tcp_rmem", '"4096 131072 6291456"'),
        ("net.ipv4.tcp_rmem", "4096,131072,6291456"),
        ("net.ipv4.tcp_congestion_control", ""),
        ("net.ipv4.tcp_congestion_control", "cubic reno"),
        ("net.core.default_qdisc", '"fq"'),
        ("net.core.default_qdisc", "fq # fair"),
        ("vm.lowmem_reserve_ratio", ""),
    ],
)
def test_a_value_without_its_form_is_refused(key: str, raw: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        native.typed(key, raw)


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("net.core.rmem_max", "0x1000", 4096),
        ("net.core.rmem_max", "010000", 4096),
        ("net.core.rmem_max", "300002 # trailing", 300002),
        ("net.ipv4.tcp_rmem", "4096 87380 300002 ; semi", [4096, 87380, 300002]),
        ("net.ipv4.tcp_rmem", "0x1000 87380\t6291456", [4096, 87380, 6291456]),
        ("kernel.core_pattern", "/tmp/core # x", "/tmp/core # x"),  # a loader writes all of it
    ],
)
def test_a_written_value(key: str, raw: str, value: Json) -> None:
    assert native.written(key, raw) == value


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("net.core.wmem_max", "300002#x"),  # recorded: EINVAL
        ("net.core.rmem_max", "300026 = 3"),
        ("net.core.rmem_max", "0x"),
        ("net.core.rmem_max", "08"),
        ("net.ipv4.tcp_rmem", "8192 9000 10000 11000"),
        ("net.ipv4.tcp_rmem", "4096 87380 16M"),
        ("net.core.default_qdisc", "fq # comment"),  # recorded: ENOENT
    ],
)
def test_what_the_kernel_refuses_is_refused(key: str, raw: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        native.written(key, raw)


def test_names_that_can_be_keys() -> None:
    assert is_key("net.ipv4.conf.eth0/100.mtu")
    assert is_key("vm.swappiness")
    for name in ("ore.rmem_max", "net", "net.", ".net.core.x", "net.inet.tcp.sack", "kern.ipc.somaxconn", ""):
        assert not is_key(name)


def test_what_only_linux_has() -> None:
    assert is_linux("vm.swappiness")
    assert is_linux("net.core.anything")
    assert not is_linux("vm.pmap.shpgperproc")
    assert not is_linux("net.inet.tcp.rfc1323")


def test_counters_and_secrets() -> None:
    assert is_volatile("fs.file-nr")
    assert is_volatile("fs.quota.syncs")
    assert not is_volatile("net.core.rmem_max")
    assert is_root_only("net.ipv6.conf.eth0.stable_secret")
    assert is_root_only("vm.stat_refresh")
    assert not is_root_only("net.core.netdev_max_backlog")
