"""Damaged outputs of every kind: no exception, and no value that the damage did not make.

A value of the damaged text is one that the whole text (or the other one that it is joined with) gives
under the same name, in the same row, or its words stand on a line that the damage made or moved.
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MUTATIONS = int(os.environ.get("HOSTCFG_MUTATIONS", "1"))
"""Damaged texts of each fixture and kind of damage."""

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
LARGEST = 12_000
UNDECIDABLE = {
    "sysctl-n-multi-error__macos__01.txt": "values without names: the order of the lines says whose they are",
    "iperf2-server-w64k__debian12-6.18__01.txt": "several tests: one's last line looks whole",
    "iperf3__debian12-6.1-P4-w64k__01.txt": "streams added in place of a lost SUM are rounded",
    "ipadm-show-prop__solaris-11__01.txt": "a property of several protocols: the last one that is left wins",
    "netstat-m__macos__03.txt": "a name that a flipped bit made is new",
    "proc-read__debian12-6.18-fr__01.txt": "the message of a directory: its tail alone names another key",
    "sysctl-conf__perfsonar-script__20.txt": "keys and values in two arrays: a lost line is not seen in one",
}
"""Fixtures, and what of them can't be told apart once damaged."""
FILES = sorted(
    path
    for folder in ("freebsd", "iperf", "linux", "windows", "docs")
    for path in (FIXTURES / folder).rglob("*")
    if path.is_file()
    and path.suffix not in (".yaml", ".yml")
    and 0 < path.stat().st_size < LARGEST
    and path.name not in UNDECIDABLE
)
SUMMARIES = frozenset(
    {
        *("n_assignments", "duplicates", "complete", "format", "not_assigned", "types"),
        *("mean_rtt_us", "streams", "seconds", "started"),  # over the streams and intervals that are left
        *("kind", "error_kind"),  # of a message that lost words
        *("stream", "id"),
    }
)
"""What is counted over a text, and not read from a line of it."""

UNITS = (1024, 1024**2, 1024**3, 125, 1e3, 1e6, 1e9)


def cut_head(text: str, rng: random.Random) -> str:
    return text[rng.randrange(len(text)) :]


def cut_tail(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


def drop_lines(text: str, rng: random.Random) -> str:
    lost = rng.choice([0.03, 0.1, 0.3])
    return "".join(line for line in text.splitlines(keepends=True) if rng.random() > lost)


def repeat_lines(text: str, rng: random.Random) -> str:
    return "".join(line * (1 + (rng.random() < 0.1)) for line in text.splitlines(keepends=True))


def swap_lines(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "".join(lines)


def join_another(text: str, rng: random.Random) -> str:
    other = read(rng.choice(FILES))
    return f"{text}\n{other}" if rng.random() < 0.5 else f"{other}\n{text}"


def carriage_returns(text: str, rng: random.Random) -> str:
    del rng
    return text.replace("\n", "\r\n")


def tabs_as_blanks(text: str, rng: random.Random) -> str:
    return text.replace("\t", " " * rng.choice([1, 4, 8]))


def flip_bits(text: str, rng: random.Random) -> str:
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 6)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data.decode(errors="replace")


DAMAGES: tuple[Callable[[str, random.Random], str], ...] = (
    cut_head,
    cut_tail,
    drop_lines,
    repeat_lines,
    swap_lines,
    join_another,
    carriage_returns,
    tabs_as_blanks,
    flip_bits,
)


@cache
def read(path: Path) -> str:
    return text_of(path.read_bytes(), path.name)


def said(text: str) -> tuple[str | None, dict[str, Any]]:
    """The system, and what is said: values and the fields beside them."""
    try:
        text = text_of(text.encode(), "x")
    except InputError:
        return None, {}
    parsed = parse_pasted(text, parsers_for(text))
    return (None, {}) if parsed is None else (parsed.os, {"values": dict(parsed.values), **parsed.extra})


@cache
def whole(path: Path) -> tuple[str | None, dict[str, Any]]:
    return said(read(path))


def wrong(text: str, expected: Any, found: Any, made: str) -> list[str]:
    """Values in ``found`` that neither ``expected``, nor a line of ``text``, nor what was ``made`` gives."""
    known: dict[str, set[str]] = {}
    for name, value in leaves(expected):
        known.setdefault(name, set()).add(str(value))
    anywhere = set().union(*known.values())
    lines = text.splitlines()
    is_measured = "records" in expected.get("values", {})
    return [
        f"{name}: {value!r}"
        for name, value in leaves(found)
        if name not in SUMMARIES
        and str(value) not in (anywhere if is_measured else known.get(name, set()))
        and not (is_measured and _is_near(value, text))
        and not _stands(value, made)
        and not any(name in line and _stands(value, line) for line in lines)
    ]


def _is_near(value: Any, text: str) -> bool:
    """Whether a line says so, or, in iperf's text, several lines add up to it."""
    if str(value) in text:
        return True
    numbers = {
        float(number) for number in re.findall(r"([0-9.]{3,8}) [MGK]?bits/sec", text) if number.count(".") < 2
    }
    sums = {a + b for a in numbers for b in numbers} if len(numbers) < 40 else set()
    return isinstance(value, int) and any(f"{value / unit:.4g}" == f"{n:.4g}" for n in sums for unit in UNITS)


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each value with the name it has; the numbers of a list as one, each row and word by itself."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, str(key))
    elif isinstance(value, (list, tuple)) and not (value and all(type(item) is int for item in value)):
        for item in value:
            yield from leaves(item, name)
    elif value is not None and not isinstance(value, bool):
        yield name, value


def _stands(value: Any, made: str) -> bool:
    """Whether every word of ``value`` stands in ``made``."""
    if isinstance(value, dict):
        return all(_stands(item, made) for key, item in value.items() if key not in SUMMARIES)
    if isinstance(value, (list, tuple)):
        return all(_stands(item, made) for item in value)
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, (int, float)) and any(f"{value / unit:.3g}" in made for unit in UNITS):
        return True  # 9.38 Mbits/sec
    made += made.replace("/", ".")
    return all(word in made for word in re.findall(r"[\w.+-]+", str(value)))


def made_by(before: str, after: str) -> str:
    """The lines that the damage made."""
    known = set(before.splitlines())
    lines = re.split(r"\r?\n", after)
    return "\n".join(line for line in lines if line not in known)


def faults(path: Path, damage: Callable[[str, random.Random], str], seed: int) -> list[str]:
    rng = random.Random(f"{path.name} {damage.__name__} {seed}")
    text = read(path)
    after = damage(text, rng)
    os_before, expected = whole(path)
    os_after, found = said(after)
    if os_before != os_after or damage is join_another:
        return []
    return wrong(text, expected, found, made_by(text, after))


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_damage_makes_no_value(path: Path) -> None:
    for damage in DAMAGES:
        for seed in range(MUTATIONS):
            assert faults(path, damage, seed) == [], (damage.__name__, seed)
