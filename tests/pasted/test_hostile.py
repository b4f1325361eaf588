"""Garbage takes time in proportion to its length: a quadratic pattern would run into the time limit."""

from __future__ import annotations

import random

import pytest

from hostcfg.pasted import decode_bytes, parse_pasted
from tests.pasted.texts import PARSERS

LENGTH, PIECE = 400_000, 100_000

GARBAGE: dict[str, bytes] = {
    "random bytes": random.Random(1).randbytes(LENGTH),
    "NUL": b"\0" * LENGTH,
    "blanks": b" " * LENGTH,
    "line ends": b"\n" * LENGTH,
    "blank lines": b" \n" * (LENGTH // 2),
    "one word": b"a" * LENGTH,
    "digits": b"1" * LENGTH,
    "slashes": b"1/" * (LENGTH // 2),
    "names": b"kern." * (LENGTH // 5),
    "quoting marks": b"> " * (LENGTH // 2),
    "prompts": b"root@h:~ # sysctl a\n" * (LENGTH // 20),
    "settings": b"kern.ipc.maxsockbuf: 2097152\n" * (LENGTH // 29),
    "rows": b"0/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n\n" * (LENGTH // 64),
    "open JSON": b'{"mbuf-statistics": ' * (LENGTH // 20),
    "soft breaks": (b"x" * 74 + b"=\n") * (LENGTH // 76),
    "high bytes": b"\x82\xe9" * (LENGTH // 2),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage(name: str) -> None:
    text = decode_bytes(GARBAGE[name])
    parse_pasted(text, PARSERS)


PATTERNS = [
    *(
        "1",
        "1/",
        " ",
        "a",
        "kern.",
        "kern.a:",
        ":",
        "ab ",
        "-",
        '"',
        "=",
        "\t",
        "1 ",
        " \n",
        "#",
        "|",
        "(",
        "@",
    ),
    *("kern.a.b=1\n", " -> ", "1 a ", "CCmod D ", "sysctl: ", "sysctl: oid 'a' ", "$ sysctl ", "$ sysctl '"),
    *("a: flags=0<", "1 1 0x1 1 a\n", "a.b=\\#", "| kern.a.b ", "1 (", "1/1 a (b/c) ", "<a>1</a>", "&gt;"),
    *("a@b", ">", "[", "\\", "%", "mbufs in use "),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_parser_on_a_pattern_without_end(pattern: str) -> None:
    text = pattern * (PIECE // len(pattern))
    for parser in PARSERS:
        for given in (text, f"kern.ipc.a: 1\n1/1/1 mbufs in use (current/cache/total)\n{text}"):
            assert 0 <= parser.recognize(given) <= 100
            parser.parse(given)
