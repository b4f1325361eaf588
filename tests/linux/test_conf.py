"""The line grammar of sysctl files, loader by loader."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.platforms.linux.conf import Assignment, Loader, assignments, key_to_path, path_to_key

LOADERS: tuple[Loader, ...] = ("systemd-sysctl", "procps", "busybox", "generic")


def read(text: str, loader: Loader = "generic", version: tuple[int, ...] | None = None) -> list[Assignment]:
    return list(assignments(text, loader, version).assignments)


@pytest.mark.parametrize("loader", LOADERS)
def test_common_ground(loader: Loader) -> None:
    text = "# note\n\n net.ipv4.tcp_rmem\t= 4096 87380\t12582912 \r\nnet.core.rmem_max=12582912"
    assert read(text, loader) == [
        Assignment("net.ipv4.tcp_rmem", "4096 87380\t12582912", 3),
        Assignment("net.core.rmem_max", "12582912", 4),
    ]


@pytest.mark.parametrize(
    ("loader", "version", "understood"),
    [
        ("systemd-sysctl", (252,), True),
        ("procps", (4, 0, 2), True),
        ("procps", (3, 3, 17), True),
        ("procps", (3, 3, 15), False),  # "-" becomes part of the name
        ("busybox", (1, 36, 1), False),
        ("generic", None, True),
    ],
)
def test_ignore_mark(loader: Loader, version: tuple[int, ...] | None, understood: bool) -> None:
    conf = assignments("-net.ipv4.tcp_fack = 0\n", loader, version)
    if understood:
        assert conf.assignments == (Assignment("net.ipv4.tcp_fack", "0", 1, ignore_errors=True),)
    else:
        assert conf.not_understood == ((1, "-net.ipv4.tcp_fack = 0"),)


def test_globs_and_exclusions() -> None:
    text = "net.ipv4.conf.*.rp_filter = 1\n-net.ipv4.conf.all.rp_filter\n"
    want = [
        Assignment("net.ipv4.conf.*.rp_filter", "1", 1, glob=True),
        Assignment("net.ipv4.conf.all.rp_filter", "", 2, exclude=True),
    ]
    assert read(text) == read(text, "procps", (4, 0, 2)) == read(text, "systemd-sysctl") == want
    assert len(assignments(text, "procps", (3, 3, 17)).not_understood) == 2
    assert len(assignments(text, "busybox").not_understood) == 2


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("net.ipv4.conf.eth0/100.mtu", "net.ipv4.conf.eth0/100.mtu"),
        ("net/ipv4/conf/eth0.100/mtu", "net.ipv4.conf.eth0/100.mtu"),
        ("/net/core/rmem_max", "net.core.rmem_max"),
        ("net..core.rmem_max", "net.core.rmem_max"),
        ("net.ipv4.conf.eth0.100.mtu", "net.ipv4.conf.eth0.100.mtu"),  # an interface eth0 with a directory
    ],
)
def test_names_are_normalised(name: str, key: str) -> None:
    assert read(f"{name} = 1", "systemd-sysctl")[0].key == key


def test_busybox_looks_for_the_interface() -> None:
    """It replaces as few dots as lead to a file; the leaf has none."""
    assert read("net.ipv4.conf.eth0.100.mtu = 1", "busybox")[0].key == "net.ipv4.conf.eth0/100.mtu"
    assert assignments("/net/core/rmem_max = 1", "busybox").not_understood  # from its directory /proc/sys


def test_busybox_continues_lines() -> None:
    text = "net.ipv4.tcp_rmem = 4096 \\\n 87380 1\n# off \\\nnet.ipv4.tcp_sack = 0\nnet.core.somaxconn = 9\n"
    assert read(text, "busybox") == [
        Assignment("net.ipv4.tcp_rmem", "4096  87380 1", 1),
        Assignment("net.core.somaxconn", "9", 5),
    ]
    assert [a.key for a in read(text, "procps")] == [
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_sack",
        "net.core.somaxconn",
    ]


@pytest.mark.parametrize(
    "text", ["\ufeffnet.core.rmem_max = 1", "\u00a0net.core.rmem_max = 1", "a b.c = 1", "= 1"]
)
@pytest.mark.parametrize("loader", LOADERS)
def test_names_that_no_sysctl_has(text: str, loader: Loader) -> None:
    assert assignments(text, loader) == assignments(text, loader)
    assert read(text, loader) == []
    assert len(assignments(text, loader).not_understood) == 1


def test_values_are_as_written() -> None:
    text = 'a.b = "x y"\na.c = 1 # one\na.d = 2 = 3\na.e =\n'
    assert [a.raw for a in read(text)] == ['"x y"', "1 # one", "2 = 3", ""]
    assert assignments(text, "busybox").not_understood == ((4, "a.e ="),)


def test_semicolon_is_no_comment_for_new_systemd() -> None:
    assert assignments("; note", "systemd-sysctl", (252,)).not_understood == ()
    assert assignments("; note", "systemd-sysctl", (262, 1)).not_understood == ((1, "; note"),)


parts = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)


@given(st.lists(parts, min_size=2, max_size=5), parts)
def test_paths_and_keys_are_two_spellings(names: list[str], dotted: str) -> None:
    path = "/".join([*names, f"e.{dotted}"])
    assert key_to_path(path_to_key(path)) == path
    assert path_to_key(key_to_path(path_to_key(path))) == path_to_key(path)


@given(st.text(max_size=400), st.sampled_from(LOADERS))
def test_never_raises_and_counts_lines(text: str, loader: Loader) -> None:
    conf = assignments(text, loader)
    last = len(text) + 1
    assert all(1 <= a.line <= last for a in conf.assignments)
    assert all(1 <= number <= last for number, _ in conf.not_understood)


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("piece", ["/", ".", "net.", "a=", "\\\n", "net/ipv4/conf/", "-", "\r", "*"])
def test_two_megabytes_of_one_piece_hold_no_setting(loader: Loader, piece: str) -> None:
    """Time that grows faster than the text would not end within a test's limit (pyproject.toml)."""
    text = piece * (2_000_000 // len(piece))
    assert {a.key for a in assignments(text, loader).assignments} <= {"a"}
