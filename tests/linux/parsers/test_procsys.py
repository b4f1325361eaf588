"""Files below /proc/sys with their names."""

from __future__ import annotations

from tests.linux.parsers.samples import best, parsed


def test_names_become_keys() -> None:
    text = (
        "/proc/sys/net/ipv4/tcp_rmem:4096\t131072\t6291456\n"
        "/proc/sys/net/ipv4/conf/eth0.100/rp_filter:0\n"
        "/proc/sys/kernel/core_pattern:|/usr/lib/x:y %p\n"
        "/proc/sys/net/ipv4/ip_local_reserved_ports:\n"
    )
    got = parsed("proc-sys", text)
    assert got.values == {
        "net.ipv4.tcp_rmem": [4096, 131072, 6291456],
        "net.ipv4.conf.eth0/100.rp_filter": 0,
        "kernel.core_pattern": "|/usr/lib/x:y %p",
        "net.ipv4.ip_local_reserved_ports": "",
    }
    assert best(text).kind == "proc-sys"


def test_several_lines_of_one_file() -> None:
    text = (
        "/proc/sys/kernel/core_modes:file\n/proc/sys/kernel/core_modes:pipe\n"
        "/proc/sys/dev/x/info:a\n/proc/sys/dev/x/info:b\n"
    )
    assert parsed("proc-sys", text).values == {"kernel.core_modes": ["file", "pipe"], "dev.x.info": "a\nb"}


def test_titles_of_tail() -> None:
    text = "==> /proc/sys/net/core/rmem_max <==\n212992\n\n==> /proc/sys/net/ipv4/tcp_sack <==\n1\n"
    got = parsed("proc-sys", text)
    assert got.values == {"net.core.rmem_max": 212992, "net.ipv4.tcp_sack": 1}
    assert best(text).kind == "proc-sys"


def test_errors_and_values_without_their_form() -> None:
    text = (
        "/proc/sys/net/core/rmem_max:2129x\n"
        "grep: /proc/sys/net/core/bpf_jit_limit: Permission denied\n"
        "grep: /proc/sys/net/ipv6/conf/lo/stable_secret: Input/output error\n"
        "cat: can't open '/proc/sys/net/nosuch': No such file or directory\n"
        "grep: /proc/sys/net: Is a directory\n"
    )
    got = parsed("proc-sys", text)
    assert got.values == {}
    assert got.unrecognized == ["/proc/sys/net/core/rmem_max:2129x"]
    errors = got.extra["errors"]
    assert isinstance(errors, list)
    assert [(e["name"], e["kind"]) for e in errors if isinstance(e, dict)] == [
        ("net.core.bpf_jit_limit", "denied"),
        ("net.ipv6.conf.lo.stable_secret", "unreadable"),
        ("net.nosuch", "unknown"),
        (None, "other"),
    ]


def test_only_errors() -> None:
    text = "Error (sysctl.c:135): Can't read net/ipv6/conf/lo/stable_secret: Input/output error\n"
    got = parsed("proc-read", text)
    assert got.values == {}
    assert got.extra["errors"] == [
        {"name": "net.ipv6.conf.lo.stable_secret", "kind": "unreadable", "text": text.strip()}
    ]
