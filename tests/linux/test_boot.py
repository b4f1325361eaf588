"""Orders and rules of the boot loaders that no recording holds: old procps, OpenWrt, Alpine."""

from __future__ import annotations

import pytest

from hostcfg.platforms.linux.accepts import kernel_takes, kernel_value, same_value
from hostcfg.platforms.linux.boot import BootLoader, ConfFile, files_in_order, resolve

KEY = "net.core.somaxconn"
SYSTEMD = BootLoader("systemd-sysctl", (252,))
PROCPS = BootLoader("procps", (4, 0, 2))


def tree(*paths: str) -> list[ConfFile]:
    """Files that each set the key to the length of the list so far."""
    return [ConfFile(path, f"{KEY} = {n}\n") for n, path in enumerate(paths, 1)]


def order(loader: BootLoader, *paths: str) -> list[str]:
    return [f.path for f in files_in_order(tree(*paths), loader)]


def test_old_procps_prefers_run() -> None:
    paths = ("/etc/sysctl.d/1.conf", "/run/sysctl.d/1.conf")
    assert order(BootLoader("procps", (3, 3, 16)), *paths) == ["/run/sysctl.d/1.conf"]
    assert order(BootLoader("procps", (3, 3, 17)), *paths) == ["/etc/sysctl.d/1.conf"]
    assert order(BootLoader("procps"), *paths) == ["/etc/sysctl.d/1.conf"]


def test_openwrt_reads_etc_alone() -> None:
    paths = ("/etc/sysctl.conf", "/etc/sysctl.d/20.conf", "/etc/sysctl.d/11.conf", "/usr/lib/sysctl.d/1.conf")
    loader = BootLoader("openwrt", (1, 36, 1))
    assert order(loader, *paths) == ["/etc/sysctl.d/11.conf", "/etc/sysctl.d/20.conf", "/etc/sysctl.conf"]
    assert resolve(tree(*paths), loader).values[KEY].path == "/etc/sysctl.conf"


def test_alpine_reads_run_last() -> None:
    paths = (
        "/run/sysctl.d/a.conf",
        "/etc/sysctl.conf",
        "/etc/sysctl.d/z.conf",
        "/etc/sysctl.d/a.conf",
        "/usr/lib/sysctl.d/z.conf",
        "/lib/sysctl.d/00-alpine.conf",
    )
    assert order(BootLoader("alpine"), *paths) == [
        "/lib/sysctl.d/00-alpine.conf",
        "/etc/sysctl.d/z.conf",
        "/etc/sysctl.conf",
        "/run/sysctl.d/a.conf",
    ]


def test_names_sort_as_bytes() -> None:
    names = ["a", "Z", "9", "10", "ä", "_", "-"]
    got = order(SYSTEMD, *(f"/etc/sysctl.d/{name}.conf" for name in names))
    assert [path.removeprefix("/etc/sysctl.d/").removesuffix(".conf") for path in got] == [
        "-", "10", "9", "Z", "_", "a", "ä",
    ]  # fmt: skip


def test_what_is_not_read_says_why() -> None:
    files = tree(
        "/etc/sysctl.conf", "/etc/sysctl.d/.x.conf", "/etc/sysctl.d/1.conf", "/usr/lib/sysctl.d/1.conf"
    )
    why = dict(resolve(files, SYSTEMD).ignored)
    assert why == {
        "/etc/sysctl.conf": "systemd-sysctl does not read it at boot",
        "/etc/sysctl.d/.x.conf": "systemd-sysctl skips hidden files",
        "/usr/lib/sysctl.d/1.conf": "/etc/sysctl.d/1.conf has the same name and comes first",
    }


def test_overridden_assignments_are_told() -> None:
    boot = resolve(tree("/etc/sysctl.d/1.conf", "/etc/sysctl.d/2.conf", "/etc/sysctl.conf"), PROCPS)
    pairs = [(pair.loser.path, pair.winner.path) for pair in boot.overridden]
    assert pairs == [
        ("/etc/sysctl.d/1.conf", "/etc/sysctl.d/2.conf"),
        ("/etc/sysctl.d/2.conf", "/etc/sysctl.conf"),
    ]
    assert boot.values[KEY].raw == "3"


def test_a_refused_value_leaves_the_earlier_one() -> None:
    """procps writes one by one; systemd keeps only the last, and that one fails."""
    files = [ConfFile("/etc/sysctl.d/1.conf", f'{KEY} = 7\n{KEY} = "8"\n')]
    assert resolve(files, PROCPS).values[KEY].raw == "7"
    assert KEY not in resolve(files, SYSTEMD).values
    assert [v.raw for v in resolve(files, SYSTEMD).refused] == ['"8"']


def test_busybox_ends_at_a_refused_value() -> None:
    text = f"net.ipv4.tcp_sack = 0\n{KEY} = many\nnet.ipv4.tcp_dsack = 0\n"
    boot = resolve([ConfFile("/etc/sysctl.conf", text)], BootLoader("busybox", (1, 36, 1)))
    assert list(boot.values) == ["net.ipv4.tcp_sack"]
    assert [(v.key, v.line) for v in boot.ends] == [(KEY, 2)]
    openwrt = resolve(
        [ConfFile("/etc/sysctl.d/1.conf", text), *tree("/etc/sysctl.conf")], BootLoader("openwrt")
    )
    assert openwrt.values[KEY].path == "/etc/sysctl.conf"  # each file is a run of its own


def test_systemd_takes_back() -> None:
    files = [ConfFile("/etc/sysctl.d/1.conf", f"{KEY} = 7\n"), ConfFile("/etc/sysctl.d/2.conf", f"-{KEY}\n")]
    assert resolve(files, SYSTEMD).values == {}
    assert resolve(files, PROCPS).values[KEY].raw == "7"


def test_globs_meet_the_keys_of_the_host() -> None:
    text = "net.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.all.rp_filter\nnet.ipv4.conf.lo.rp_filter = 0\n"
    keys = [f"net.ipv4.conf.{name}.rp_filter" for name in ("all", "lo", "eth0", "eth0/100")]
    files = [ConfFile("/etc/sysctl.d/1.conf", text)]
    for loader in (SYSTEMD, PROCPS):
        got = {key: value.raw for key, value in resolve(files, loader, keys).values.items()}
        assert got == {
            "net.ipv4.conf.lo.rp_filter": "0",
            "net.ipv4.conf.eth0.rp_filter": "2",
            "net.ipv4.conf.eth0/100.rp_filter": "2",
        }


def test_a_file_that_was_not_read_is_not_empty() -> None:
    boot = resolve([ConfFile("/etc/sysctl.d/1.conf", None)], SYSTEMD)
    assert boot.unread == ("/etc/sysctl.d/1.conf",)


@pytest.mark.parametrize(
    ("key", "raw", "takes"),
    [
        ("net.ipv4.tcp_rmem", "4096 87380 6291456", True),
        ("net.ipv4.tcp_rmem", "4096\t87380", True),  # the third stays as it is
        ("net.ipv4.tcp_rmem", "4096 87380 6291456 7", True),  # recorded: the fourth is a short write
        ("net.ipv4.tcp_rmem", '"4096 87380 6291456"', False),
        ("net.ipv4.tcp_rmem", "4096,87380,6291456", False),
        ("net.ipv4.tcp_rmem", "4096 87380 16M", False),
        ("net.ipv4.tcp_rmem", "4096 87380 2147483648", False),
        ("net.ipv4.tcp_rmem", "0x1000 010000 6291456 # comment", True),
        ("net.ipv4.tcp_mem", "1 2 4294967296", True),
        ("net.core.rmem_max", "2303", False),
        ("net.core.rmem_max", "2304", True),
        ("net.core.wmem_max", "4607", False),
        ("net.core.rmem_max", "300002#x", False),
        ("net.core.rmem_max", "300026 = 3", True),
        ("net.core.rmem_max", "", False),
        ("net.ipv4.tcp_notsent_lowat", "4294967295", True),
        ("net.core.default_qdisc", "fq", True),
        ("net.core.default_qdisc", "fq # c", False),
        ("net.core.default_qdisc", '"fq"', False),
        ("kernel.nobody.knows", "any text", True),
    ],
)
def test_what_the_kernel_takes(key: str, raw: str, takes: bool) -> None:
    assert kernel_takes(key, raw) is takes


def test_values_are_compared_by_type() -> None:
    assert same_value("net.ipv4.tcp_rmem", "4096 87380 6291456", "0x1000\t87380\t6291456")
    assert same_value("net.ipv4.tcp_rmem", "4096 87380", "4096\t87380\t6291456")
    assert same_value("net.ipv4.tcp_notsent_lowat", "-1", "4294967295")
    assert not same_value("net.ipv4.tcp_adv_win_scale", "-1", "4294967295")
    assert same_value("net.core.default_qdisc", " fq", "fq")
    assert not same_value("net.core.default_qdisc", "fq", "fq_codel")
    assert kernel_value("net.core.rmem_max", "16 MB") == 16


def test_a_thousand_files_and_globs_over_two_hundred_keys() -> None:
    files = tree(*(f"/etc/sysctl.d/{n}.conf" for n in range(1000)))
    files += [ConfFile("/etc/sysctl.conf", "net.*.* = 1\n" * 4000)]
    keys = [f"net.core.k{n}" for n in range(200)]
    assert resolve(files, PROCPS, keys).values.keys() == {*keys, "net.core.somaxconn"}
