"""Damaged outputs of every kind: no exception, and no value that the damage did not make.

A value of the damaged text is one that the whole text gives under the same name, in the same row; or
its words stand on a line that the damage made; or a line says it as it stands (rule.py).
"""

from __future__ import annotations

import os
import random
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hostcfg.errors import InputError
from hostcfg.pasted import parse_pasted, text_of
from hostcfg.platforms import parsers_for
from tests.pasted.damages import DAMAGES, HARMLESS
from tests.pasted.rule import Rule

if TYPE_CHECKING:
    from tests.pasted.damages import Damage

MUTATIONS = int(os.environ.get("HOSTCFG_MUTATIONS", "1"))
"""Damaged texts of each fixture and kind of damage."""

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
LARGEST = 12_000
UNDECIDABLE = (
    ("sysctl-n-multi-error__macos", "", "values without names: the order of the lines says whose they are"),
    (
        "sysctl-conf__perfsonar-script__20",
        "",
        "keys and values in two arrays: a lost line shifts one of them",
    ),
    ("proc-read__debian12-6.18-fr", "", "the message of a directory looks like a value of it"),
    ("iperf2-server-w64k", "", "several tests of several streams: one's line looks like all of a test"),
    ("iperf2-csv-server-P2", "", "one line a stream and no sum: the one that is left looks like a test"),
    (
        "iperf2-csv-P2",
        "",
        "neither: an interval that is left alone, or has another address, looks like a test",
    ),
    (
        "iperf2.*(?:P2|enh|udp)",
        "cut|drop|flip|join|eye|wrap",
        "an interval, or a stream, that is left alone looks like a test",
    ),
    ("iperf3.*w4m", "", "of two complaints one is left, and true"),
    ("iperf3-json-bidir", "", "which stream runs which way stands in one place"),
    ("iperf[23]", "swap_lines", "a connection, a heading or an error that moved is as whole as before"),
    ("iperf3-json-get-server", "", "two reports in one another: a brace decides whose a line is"),
    ("iperf3-client-get-server", "cut_out", "the heading between two ends' outputs"),
    ("ethtool", "swap_lines", "a line above its title is of an interface whose title is lost"),
    ("rack", "swap_lines", "a typed command that moved: a complaint without a name is of the one above it"),
    ("ss-peaonmi", "", "an old kernel counts no bytes sent: what is in flight says nothing of two sockets"),
    ("ss-tin", "swap_lines|cut_out|drop_lines|flip|eye", "two sockets whose queues are nearly the same"),
    ("get_nettcpsetting", "cut_head", "the last rows of a list look like a selection of properties"),
    ("tcp_set_global|set_nettcpsetting", "", "of two complaints one is left, and true"),
)
"""Beginnings of fixtures' names, kinds of damage (empty: all), and why nobody can see it then."""
FILES = sorted(
    path
    for folder in ("freebsd", "iperf", "linux", "windows", "docs")
    for path in (FIXTURES / folder).rglob("*")
    if path.is_file() and path.suffix not in (".yaml", ".yml") and 0 < path.stat().st_size < LARGEST
)


@cache
def read(path: Path) -> str:
    return text_of(path.read_bytes(), path.name)


def said(data: bytes) -> tuple[str | None, dict[str, Any]]:
    """The system, and what is said: values and the fields beside them."""
    try:
        text = text_of(data, "x")
    except InputError:
        return None, {}
    parsed = parse_pasted(text, parsers_for(text))
    return (None, {}) if parsed is None else (parsed.os, {**parsed.values, **parsed.extra})


@cache
def whole(path: Path) -> tuple[str | None, dict[str, Any]]:
    return said(read(path).encode())


def faults(path: Path, damage: Damage, seed: int) -> list[str]:
    rng = random.Random(f"{path.name} {damage.__name__} {seed}")
    text = read(path)
    after = damage(text, rng)
    os_before, expected = whole(path)
    os_after, found = said(after.encode())
    return [] if os_before != os_after else Rule(text, after).faults(expected, found)


def is_undecidable(path: Path, damage: Damage) -> bool:
    return any(
        re.match(name, path.name) and re.search(kinds, damage.__name__) for name, kinds, _ in UNDECIDABLE
    )


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_damage_makes_no_value(path: Path) -> None:
    for damage in DAMAGES:
        for seed in range(MUTATIONS):
            if not is_undecidable(path, damage):
                assert faults(path, damage, seed) == [], (damage.__name__, seed)


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_nothing_is_lost_where_nothing_is_damaged(path: Path) -> None:
    expected = whole(path)
    for damage in HARMLESS:
        assert said(damage(read(path), random.Random(0)).encode()) == expected, damage.__name__
    for code in ("utf-16", "utf-16-le", "utf-16-be"):
        assert said(read(path).encode(code)) == expected, code


@pytest.mark.parametrize("path", FILES[::4], ids=[path.name for path in FILES[::4]])
def test_two_outputs_in_one_text_raise_nothing(path: Path) -> None:
    rng = random.Random(path.name)
    for _ in range(2 * MUTATIONS):
        one, two = (part.splitlines(keepends=True) for part in (read(path), read(rng.choice(FILES))))
        mixed = sorted([*enumerate(one), *enumerate(two)], key=lambda row: row[0] // rng.randint(1, 9))
        said("".join(line for _, line in mixed).encode())
        said("".join([*one, "\n", *two]).encode())
