"""Cut, shuffled and damaged text: never an exception, and never a value that it does not hold.

The rule: a pair of key and value in the result is one that the whole text gives for that key, or it
stands literally on a line that the damage made.
"""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from hostcfg.pasted import parse_pasted
from tests.freebsd.samples import PARSERS, Sample, as_text, samples
from tests.freebsd.sessions import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MUTATIONS = int(os.environ.get("HOSTCFG_MUTATIONS", "40"))
"""Damaged texts of each sample and kind of damage; with 2000 the suite takes some minutes."""

NAMELESS = {"sysctl-n-multi-error__macos__01.txt"}
"""Values without names: the order of the lines is all that says whose they are."""


def pairs_of(text: str) -> dict[str, Any]:
    """Key -> value of the result, groups of mbuf rows as one value each, lists as they are."""
    parsed = parse_pasted(text, PARSERS)
    if parsed is None:
        return {}
    found = dict(parsed.values)
    loader = parsed.extra.get("loader")
    if isinstance(loader, dict):
        found |= loader  # shuffled files of the two kinds can't be told apart: the pairs can
    return {name: as_text(value) for name, value in found.items() if value is not None and name != "types"}


def held_by(text: str) -> dict[str, list[Any]]:
    """Every value that the text, or a part of its lines, gives for a key."""
    lines = text.splitlines()
    held: dict[str, list[Any]] = {}
    for part in (text, *("\n".join(lines[i : i + n]) for i in range(len(lines)) for n in (1, 3))):
        for key, value in pairs_of(part).items():
            held.setdefault(key, []).append(value)
    return held


def wrong_pairs(damaged: str, original: str, held: dict[str, list[Any]]) -> list[tuple[str, Any]]:
    """Pairs of the damaged text that neither the original nor a damaged line holds."""
    lines = set(original.splitlines())
    new = [line for line in damaged.splitlines() if line not in lines]
    return [
        (key, value)
        for key, value in pairs_of(damaged).items()
        if value not in held.get(key, [])
        and not _is_part(value, held.get(key, []), " ".join(new))
        and not any(_holds(line, value) for line in [*new, " ".join(new)])
        and not (key not in held and any(key in line for line in new))
    ]


def _is_part(value: Any, held: list[Any], damaged: str) -> bool:
    """A value of several lines that lost some, or of which the damage changed some."""
    if isinstance(value, list):
        return any(all(item in whole or item in damaged for item in value) for whole in held)
    lines = value.splitlines() if isinstance(value, str) and "\n" in value else []
    known = {line for whole in held for line in str(whole).splitlines()}
    return bool(lines) and all(line in known or line.strip() in damaged for line in lines)


def _holds(line: str, value: Any) -> bool:
    """Whether every number and word of ``value`` stands on ``line``."""
    if isinstance(value, dict):
        return all(_holds(line, item) for item in value.values())
    if isinstance(value, list):
        return all(_holds(line, item) for item in value)
    if str(value) in ("freebsd", "macos", "junos"):
        return True
    octal = {str(int(word, 8)) for word in re.findall(r"\b0[0-7]{1,20}\b", line)}  # sysctl(8) reads 02400 so
    return all(word in line or word in octal for word in re.findall(r"[\w.+-]+", str(value)))


def cut_head(text: str, rng: random.Random) -> str:
    return text[rng.randrange(len(text)) :]


def cut_tail(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


def shuffle(text: str, rng: random.Random) -> str:
    lines = text.splitlines()
    rng.shuffle(lines)
    return "\n".join(lines) + "\n"


def drop_lines(text: str, rng: random.Random) -> str:
    return "\n".join(line for line in text.splitlines() if rng.random() < 0.7) + "\n"


def join_lines(text: str, rng: random.Random) -> str:
    return "".join(line + ("\n" if rng.random() < 0.8 else "") for line in text.splitlines())


def spoil(text: str, rng: random.Random) -> str:
    characters = list(text)
    for _ in range(rng.randint(1, 12)):
        characters[rng.randrange(len(characters))] = rng.choice("\x00\n \t0979:=/#|>\"'(-K\ufffd\u00e9a.")
    return "".join(characters)


def drop_characters(text: str, rng: random.Random) -> str:
    return "".join(c for c in text if rng.random() > 0.01)


def repeat_parts(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text))
    part = text[start : start + rng.randrange(200)]
    at = rng.randrange(len(text))
    return text[:at] + part + text[at:]


DAMAGES: tuple[Callable[[str, random.Random], str], ...] = (
    cut_head,
    cut_tail,
    shuffle,
    drop_lines,
    join_lines,
    spoil,
    drop_characters,
    repeat_parts,
)


def damaged_texts(text: str, seed: str) -> Iterator[tuple[str, str]]:
    for damage in DAMAGES:
        rng = random.Random(f"{seed} {damage.__name__}")
        for _ in range(MUTATIONS // len(DAMAGES) or 1):
            yield damage.__name__, damage(text, rng)


@pytest.mark.parametrize("sample", [s for s in samples() if s.name not in NAMELESS], ids=str)
def test_damage_never_makes_a_wrong_value(sample: Sample) -> None:
    held = held_by(sample.text)
    for name, damaged in damaged_texts(sample.text, sample.name):
        assert wrong_pairs(damaged, sample.text, held) == [], (name, damaged)


@pytest.mark.parametrize("number", [28, 84, 86, 98, 121, 133, 164, 174, 175, 177])
def test_damage_to_recorded_sessions(number: int) -> None:
    text = record("main", number).pasted
    held = held_by(text)
    for name, damaged in damaged_texts(text, str(number)):
        assert wrong_pairs(damaged, text, held) == [], (name, damaged)


def test_the_rule_itself_sees_a_wrong_value() -> None:
    original = "kern.ipc.maxsockbuf: 2097152\nnet.inet.tcp.sendspace: 32768\n"
    held = held_by(original)
    assert wrong_pairs(original, original, held) == []
    assert wrong_pairs("kern.ipc.maxsockbuf: 209\n", original, held) == []  # a line that the damage made
    other = {"kern.ipc.maxsockbuf": ["2097152"], "net.inet.tcp.sendspace": ["1"]}
    assert wrong_pairs(original, original, other) == [("net.inet.tcp.sendspace", "32768")]


def test_lines_of_two_tables_are_never_mixed() -> None:
    text = record("main", 44).stdout
    stacks = "freebsd                         * freebsd                          4\n"
    mixed = text.replace(stacks, "").replace("cubic           * 4\n", f"cubic           * 4\n{stacks}")
    assert pairs_of(mixed)["net.inet.tcp.cc.available"] == ["cubic"]
