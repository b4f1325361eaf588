"""Which parser a text belongs to: its points, and what the typed command says of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostcfg.platforms.base import Parser

FILE_POINTS, COMMAND_POINTS, PROGRAM_POINTS = 45, 40, 10
_WRAPPERS = frozenset({"sudo", "doas", "env", "command", "exec", "time"})
_READERS = frozenset({"cat", "more", "less", "head", "tail", "type", "get-content", "grep", "egrep"})


SAMPLED_FROM = 1 << 20
"""Texts longer than this are judged by samples, or some seventy parsers take minutes over garbage."""
WHOLE_SAMPLE, BLOCK_SAMPLE = 1 << 16, 1 << 13
MAX_PARTS, MAX_SAMPLED_PARTS = 2000, 60
"""More prompts or paragraphs than this cut no more: time stays linear in the length of the text."""


class Judge:
    """The points that parsers give to texts; what was asked once is remembered.

    ``length`` is that of the whole text: a long one is judged by the beginnings of its parts.
    """

    def __init__(self, parsers: Sequence[Parser], length: int) -> None:
        self.parsers = parsers
        self.sampled = length > SAMPLED_FROM
        self.max_parts = MAX_SAMPLED_PARTS if self.sampled else MAX_PARTS
        self._known: dict[str, tuple[int, ...]] = {}

    def points(self, text: str, *, transcript: bool) -> Iterator[tuple[Parser, int]]:
        """Parsers that want transcripts, or those that do not, with the points each gives ``text``."""
        for parser, found in self.all_points(text, WHOLE_SAMPLE):
            if parser.transcript == transcript:
                yield parser, found

    def all_points(self, text: str, sample: int = BLOCK_SAMPLE) -> Iterator[tuple[Parser, int]]:
        """Every parser with the points that it gives ``text``; none for a blank text."""
        text = text[:sample] if self.sampled else text
        if not text.strip():
            return iter(())
        if text not in self._known:
            self._known[text] = tuple(parser.recognize(text) for parser in self.parsers)
        return zip(self.parsers, self._known[text], strict=True)


@dataclass(frozen=True, slots=True)
class Scores:
    """The points of every parser that accepts one text."""

    points: tuple[tuple[Parser, int], ...]

    def best(self, favourite: str | None, close: int, bonus: int) -> Parser | None:
        """The parser with the most points; among close ones that of the ``favourite`` system."""
        if not self.points:
            return None
        top = max(found for _, found in self.points)
        near = [(parser, found) for parser, found in self.points if found > top - close - bonus]
        best = max(near, key=lambda item: item[1] + (bonus if item[0].os == favourite else 0))
        return best[0]

    def clear_os(self, close: int) -> tuple[str, int] | None:
        """The system that no other one comes close to, and its points."""
        by_os: dict[str, int] = {}
        for parser, found in self.points:
            by_os[parser.os] = max(found, by_os.get(parser.os, 0))
        ranked = sorted(by_os.items(), key=lambda item: -item[1])
        if not ranked or (len(ranked) > 1 and ranked[1][1] > ranked[0][1] - close):
            return None
        return ranked[0]


def hint(command: str, typed: str | None) -> int:
    """Points for a parser of ``command`` where ``typed`` came before the text.

    ``netsh int tcp sh gl`` is ``netsh interface tcp show global``: words may be cut short.
    """
    if not typed:
        return 0
    known = _words(command)
    best = 0
    for part in re.split(r"[;|]|&&", typed[:4096]):
        best = max(best, _match(known, _words(part)))
    return best


def _words(text: str) -> list[str]:
    words = text.lower().split()
    while words and words[0] in _WRAPPERS:
        words = words[1:]
    if words:
        words[0] = re.split(r"[/\\]", words[0])[-1].removesuffix(".exe")
    return words


def _match(known: list[str], typed: list[str]) -> int:
    if not known or not typed:
        return 0
    name = known[-1].rsplit("/", 1)[-1]
    if typed[0] in _READERS and (known[0] in _READERS or (len(known) == 1 and name.endswith(".conf"))):
        names = {word.rsplit("/", 1)[-1] for word in typed[1:]}
        in_folder = any(f"/{name.removesuffix('conf')}d/" in word for word in typed[1:])
        return FILE_POINTS if in_folder or names & {name, f"{name}.local"} else 0
    if known[0] != typed[0]:
        return 0
    if len(known) == 1:
        return COMMAND_POINTS
    rest = typed[1:]
    for word in known[1:]:
        at = next((i for i, given in enumerate(rest) if given and word.startswith(given)), None)
        if at is None:
            return PROGRAM_POINTS
        rest = rest[at + 1 :]
    return COMMAND_POINTS
