"""Garbage by the megabyte: every parser ends soon, and claims nothing of it."""

from __future__ import annotations

import random

import pytest

from hostcfg.platforms.linux.parsers import PARSERS
from tests.linux.parsers.samples import BY_KIND

MANY = 300_000


def _garbage() -> dict[str, str]:
    chance = random.Random(4)
    printable = "".join(chance.choices("abcdefgh qrstuv=.:/#\"'$[]{}()<>\t0123456789", k=30_000))
    return {
        "one line": printable * 10,
        "short lines": "\n".join(printable[i : i + 80] for i in range(0, len(printable), 80)) * 10,
        "letters": "a" * MANY,
        "blanks": " " * MANY,
        "line ends": "\n" * MANY,
        "brackets": "[" * MANY,
        "objects": '{"a":' * (MANY // 5),
        "digits": "1" * MANY,
        "equals": "=" * MANY,
        "quotes": "'" * MANY,
        "addresses": "a@" * (MANY // 2),
        "keys": "net.core." * (MANY // 9),
        "errors": "sysctl: " * (MANY // 8),
        "paths": "/proc/sys/a" * (MANY // 11),
        "arrays": "a=(" * (MANY // 3),
        "escapes": "\x1b[" * (MANY // 2),
        "mail": "> " * (MANY // 2),
        "here documents": "cat <<E\n" * (MANY // 8),
        "unicode": "".join(chr(chance.randrange(1, 0xD7FF)) for _ in range(15_000)) * 10,
    }


@pytest.mark.parametrize("name", _garbage())
def test_garbage_of_each_kind(name: str) -> None:
    text = _garbage()[name]
    for parser in PARSERS:
        assert parser.recognize(text) < 25
        parser.parse(text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sysctl", "sysctl-conf", "ss", "tc-qdisc"])
def test_ten_megabytes(kind: str) -> None:
    text = _garbage()["short lines"] * 34
    got = BY_KIND[kind].parse(text)
    assert got.unrecognized


def test_a_number_of_a_million_digits_is_no_value() -> None:
    got = BY_KIND["sysctl"].parse("net.core.rmem_max = " + "1" * MANY + "\n")
    assert got.values == {}
