"""A text that some systems' parsers alone are asked about is understood as if all had been asked."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostcfg.pasted import decode_bytes, parse_pasted, split_pasted
from hostcfg.platforms import all_parsers, parsers_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.platforms.base import Parser

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
TEXTS = sorted(path for path in FIXTURES.rglob("*") if path.is_file() and path.name != "index.yaml")


@cache
def text_of(path: Path) -> str:
    return decode_bytes(path.read_bytes())


def systems(text: str) -> set[str]:
    """Whose parsers are asked about ``text``; none where all are."""
    found = parsers_for(text)
    return set() if found is all_parsers() else {parser.os for parser in found}


LINUX = {"linux"}
FAMILY = {"freebsd", "macos", "netbsd", "openbsd", "dragonfly", "junos", "rtems", "illumos"}
SURE = [path for path in TEXTS if systems(text_of(path))]


def split(text: str, parsers: Sequence[Parser]) -> object:
    pasted = split_pasted(text, parsers)
    pieces = [(p.section, p.parser.os, p.parser.kind, p.command) for p in pasted.pieces]
    return pieces, pasted.unrecognized, pasted.os


def assert_same(text: str) -> None:
    """What ``parsers_for`` leaves out would not have changed anything."""
    few, everybody = parsers_for(text), all_parsers()
    assert split(text, few) == split(text, everybody)
    assert parse_pasted(text, few) == parse_pasted(text, everybody)


def test_most_listings_of_linux_and_some_of_the_family_are_sure() -> None:
    listings = [path for path in TEXTS if path.name.startswith("sysctl-a__") and path.parent.name == "linux"]
    assert len(set(SURE) & set(listings)) >= 0.8 * len(listings)
    assert systems(text_of(FIXTURES / "docs" / "lon-1.txt")) == LINUX
    family = [path for path in SURE if path.is_relative_to(FIXTURES / "freebsd")]
    assert len(family) >= 5


def test_each_sure_sample_is_of_the_system_that_it_comes_from() -> None:
    for path in SURE:
        folder = path.relative_to(FIXTURES).parts[0]
        assert systems(text_of(path)) <= (FAMILY if folder == "freebsd" else LINUX), path


@pytest.mark.parametrize("path", SURE, ids=[path.name for path in SURE])
def test_every_sure_sample_is_understood_as_before(path: Path) -> None:
    assert_same(text_of(path))


@pytest.mark.parametrize("path", SURE, ids=[path.name for path in SURE])
def test_no_other_parser_knows_it(path: Path) -> None:
    text = text_of(path)
    asked = {(parser.os, parser.kind) for parser in parsers_for(text)}
    others = [parser for parser in all_parsers() if (parser.os, parser.kind) not in asked]
    assert {f"{p.os}:{p.kind}": points for p in others if (points := p.recognize(text))} == {}


def lines_of(folder: str, start: str = "") -> list[str]:
    """Lines of the samples in a folder whose names begin with ``start``."""
    files = [path for path in (FIXTURES / folder).rglob(f"{start}*") if path in TEXTS]
    found = {line for path in files for line in text_of(path).split("\n")}
    return sorted(line for line in found if line.strip() and len(line) < 300)


OWN = {
    "linux": [line for line in lines_of("linux", "sysctl") if systems(f"kernel.a = 1\n{line}\n") == LINUX],
    "freebsd": [line for line in lines_of("freebsd", "sysctl") if systems(f"kern.a: 1\n{line}\n")],
}
OTHERS = [line for folder in ("freebsd", "windows", "linux", "iperf") for line in lines_of(folder)]


@settings(max_examples=200, deadline=None)
@given(
    folder=st.sampled_from(["linux", "freebsd"]),
    seed=st.integers(0, 2**32),
    count=st.integers(1, 12),
    end=st.sampled_from(["\n", "\n\n", "\r\n"]),
)
def test_lines_that_are_sure_together_are_understood_as_before(
    folder: str, seed: int, count: int, end: str
) -> None:
    text = "".join(f"{line}{end}" for line in random.Random(seed).choices(OWN[folder], k=count))
    assert_same(text)


@settings(max_examples=400, deadline=None)
@given(folder=st.sampled_from(["linux", "freebsd"]), seed=st.integers(0, 2**32), count=st.integers(1, 6))
def test_and_with_lines_of_all_systems_between_them(folder: str, seed: int, count: int) -> None:
    """A line of another output either ends the certainty or is one that all read alike."""
    pick = random.Random(seed)
    lines = [*pick.choices(OWN[folder], k=count), *pick.choices(OTHERS, k=1 + count // 3)]
    pick.shuffle(lines)
    text = "\n".join(lines) + "\n"
    if systems(text):
        assert_same(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "$ sysctl -a\nnet.core.rmem_max = 1\n$ sysctl -a\n",
        "$ sysctl -a\nnet.inet.tcp.sendspace: 1\n\nvm.swappiness: 60\n",
        "vm.swappiness = 60\n",  # NetBSD has vm. too
        "net.core.rmem_max = 1\nkern.ipc.maxsockbuf = 2\n",
        "net.core.rmem_max = 1\nnet.inet.tcp.sendspace: 32768\n",
        "net.inet.tcp.sendspace: 32768\nnet.core.rmem_max = 1\n",
        "net.core.rmem_max = 1\nReceive Window Auto-Tuning Level    : normal\n",
        "net.inet.tcp.sendspace: 32768\nReceive Window Auto-Tuning Level    : normal\n",
        "net.core.rmem_max = 1\n# a comment\n",
        "net.core.rmem_max: 1\n",
        "$ sysctl -w kern.ipc.maxsockbuf=1\nnet.core.rmem_max = 1\nnet.core.wmem_max = 1\n",
        "$ sysctl net.core.rmem_max\nkern.ipc.maxsockbuf: 1\n",
        "$ cat /etc/rc.conf\nnet.core.rmem_max = 1\n",
        "> net.core.rmem_max = 1\n",
        "vm.a = 1\nvm.b = 1\nnet.core.rmem_max = 1\n",
        "Linux kernel settings of ours\nnet.core.rmem_max = 1\n",
    ],
)
def test_not_sure(text: str) -> None:
    assert systems(text) == set()


LINUX_MAIL = (
    "admin@lon-1:~$ uname -a\n"
    "Linux lon-1 6.1.0-50-amd64 #1 SMP Debian 6.1.170-1 (2026-05-01) x86_64 GNU/Linux\n"
    "admin@lon-1:~$ sudo sysctl -a -r '^net' | grep tcp\r\n"
    "net.ipv4.tcp_rmem = 4096\t131072\t6291456\r\n"
    "vm.swappiness = 60\n"
    "sysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'\n"
)
FREEBSD_MAIL = (
    "root@lon-2:~ # uname -a\n"
    "FreeBSD lon-2 14.2-RELEASE FreeBSD 14.2-RELEASE releng/14.2-n269506 GENERIC amd64\n"
    "root@lon-2:~ # sysctl kern.ipc net.inet.tcp\n"
    "kern.ipc.maxsockbuf: 2097152\n"
    "net.inet.tcp.recvbuf_max: 2097152\n"
    "sysctl: unknown oid 'net.inet.tcp.recvbuf_inc'\n"
)


@pytest.mark.parametrize(("text", "asked"), [(LINUX_MAIL, LINUX), (FREEBSD_MAIL, FAMILY)])
def test_sure_of_what_was_typed_and_what_sysctl_says(text: str, asked: set[str]) -> None:
    assert systems(text) <= asked
    assert systems(text)
    assert_same(text)


def test_of_linux_only_the_parsers_of_sysctls_and_of_uname_are_asked() -> None:
    kinds = {parser.kind for parser in parsers_for(LINUX_MAIL)}
    assert kinds == {"sysctl", "sysctl-set", "sysctl-conf", "uname"}


def test_a_number_behind_the_name_of_a_sysctl_is_no_code_page_and_no_port_of_windows() -> None:
    windows = [parser for parser in all_parsers() if parser.os == "windows"]
    for text in (
        "net.inet.tcp.delacktime: 100\n",
        "net.inet.tcp.sendspace: 32768\nnet.inet.tcp.recvspace: 65536\nnet.inet.tcp.keepidle=600000\n",
    ):
        assert [parser.kind for parser in windows if parser.recognize(text)] == []
