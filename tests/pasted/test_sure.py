"""A text that one system's parsers alone are asked about is understood as if all had been asked."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostcfg.decoding import decode_bytes
from hostcfg.pasted import parse_pasted, split_pasted
from hostcfg.platforms import all_parsers, parsers_for
from hostcfg.platforms.linux.sure import KINDS, sure_parsers

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
TEXTS = sorted(
    p
    for p in FIXTURES.rglob("*")
    if p.suffix in {".txt", ".conf", ".json", ".log", ".out", ""} and p.is_file()
)


@cache
def text_of(path: Path) -> str:
    return decode_bytes(path.read_bytes())


def assert_same(text: str) -> None:
    """What ``parsers_for`` leaves out would not have changed anything."""
    few, everybody = parsers_for(text), all_parsers()
    assert split(text, few) == split(text, everybody)
    assert parse_pasted(text, few) == parse_pasted(text, everybody)


def split(text: str, parsers: object) -> object:
    pasted = split_pasted(text, parsers)  # type: ignore[arg-type]
    pieces = [(p.section, p.parser.os, p.parser.kind, p.command) for p in pasted.pieces]
    return pieces, pasted.unrecognized, pasted.os


SURE = [path for path in TEXTS if sure_parsers(text_of(path)) is not None]


def test_most_listings_of_linux_are_sure() -> None:
    names = {path.name for path in SURE}
    listings = [path.name for path in TEXTS if path.name.startswith("sysctl-a")]
    assert len(names & set(listings)) >= 0.8 * len(listings)
    assert "lon-1.txt" in names


def test_no_text_of_another_system_is() -> None:
    assert {path.parent.name for path in SURE} <= {"linux", "docs"}


@pytest.mark.parametrize("path", SURE, ids=[path.name for path in SURE])
def test_every_sure_sample_is_understood_as_before(path: Path) -> None:
    assert_same(text_of(path))


@pytest.mark.parametrize("path", SURE, ids=[path.name for path in SURE])
def test_no_other_parser_knows_it(path: Path) -> None:
    text = text_of(path)
    others = [p for p in all_parsers() if not (p.os == "linux" and p.kind in KINDS)]
    assert {f"{p.os}:{p.kind}": points for p in others if (points := p.recognize(text))} == {}


def lines_of(folder: str, pattern: str) -> list[str]:
    files = [path for path in (FIXTURES / folder).rglob(pattern) if path.is_file()]
    found = {line for path in files for line in text_of(path).split("\n")}
    return sorted(line for line in found if line.strip() and len(line) < 300)


LINUX = [line for line in lines_of("linux", "sysctl*") if sure_parsers(f"kernel.a = 1\n{line}\n") is not None]
OTHERS = [
    *lines_of("freebsd", "*"),
    *lines_of("windows", "*"),
    *lines_of("linux", "*"),
    *lines_of("iperf", "*"),
]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 12), blanks=st.booleans())
def test_any_lines_that_are_sure_together_are_understood_as_before(
    seed: int, count: int, blanks: bool
) -> None:
    chosen = random.Random(seed).choices(LINUX, k=count)
    text = ("\n\n" if blanks else "\n").join(chosen) + "\n"
    assert_same(text)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 6))
def test_and_with_lines_of_all_systems_between_them(seed: int, count: int) -> None:
    """A line of another output either ends the certainty or is one that both read alike."""
    pick = random.Random(seed)
    lines = [*pick.choices(LINUX, k=count), *pick.choices(OTHERS, k=1 + count // 3)]
    pick.shuffle(lines)
    text = "\n".join(lines) + "\n"
    if sure_parsers(text) is not None:
        assert_same(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "vm.swappiness = 60\n",  # NetBSD has vm. too
        "net.core.rmem_max = 1\nkern.ipc.maxsockbuf = 2\n",
        "net.core.rmem_max = 1\nnet.inet.tcp.sendspace: 32768\n",
        "net.core.rmem_max = 1\nReceive Window Auto-Tuning Level    : normal\n",
        "net.core.rmem_max = 1\n# a comment\n",
        "$ sysctl -w kern.ipc.maxsockbuf=1\nnet.core.rmem_max = 1\nnet.core.wmem_max = 1\n",
        "$ cat /etc/rc.conf\nnet.core.rmem_max = 1\n",
        "> net.core.rmem_max = 1\n",
        "vm.a = 1\nvm.b = 1\nvm.c = 1\nnet.core.rmem_max = 1\n",
    ],
)
def test_not_sure(text: str) -> None:
    assert sure_parsers(text) is None


def test_sure_of_what_was_typed_and_what_sysctl_says() -> None:
    text = (
        "admin@lon-1:~$ uname -a\n"
        "Linux lon-1 6.1.0-50-amd64 #1 SMP Debian 6.1.170-1 (2026-05-01) x86_64 GNU/Linux\n"
        "admin@lon-1:~$ sudo sysctl -a -r '^net' | grep tcp\r\n"
        "net.ipv4.tcp_rmem = 4096\t131072\t6291456\r\n"
        "vm.swappiness = 60\n"
        "sysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'\n"
    )
    found = sure_parsers(text)
    assert found is not None
    assert {parser.kind for parser in found} == KINDS
    assert_same(text)
