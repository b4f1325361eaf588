"""Raw text of several commands, one after the other, cut into sections of known kinds.  Pure.

Prompts cut best, and the command that was typed says what follows; without prompts the content
decides, block by block.  Nothing is thrown away in silence: what no parser knows is handed back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.model import Section
from hostcfg.pasted.blocks import blocks_of
from hostcfg.pasted.headings import by_heading
from hostcfg.pasted.runs import Run, runs_of
from hostcfg.pasted.scores import Judge, Scores, hint
from hostcfg.pasted.systems import are_strangers, by_system

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hostcfg.platforms.base import Parser

ANY_OS = "any"
"""The system of parsers whose programs print the same everywhere."""
ACCEPTED = 25
"""A text that no parser gives at least this many points is not understood."""
CLOSE = 15
"""Parsers whose points differ by less are told apart by the rest of the text."""
SAME_OS_POINTS = 20
CHANCE_LINES, CHANCE_SHARE = 2000, 500
"""Of more strange lines than a mail has, at least one in so many must be known."""
SAYING_SHARE = 20
"""Where fewer than one line in so many is known, something must come of those."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One command's output within a text: the section, its parser and the command if it was seen."""

    section: Section
    parser: Parser
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Pasted:
    """A text, cut: ``pieces`` in order, and the lines that nobody understood.

    ``os`` is the system that most of the text comes from (None: nothing was understood) and
    ``sections`` are its sections; pieces of other systems are only in ``pieces``.
    """

    pieces: tuple[Piece, ...]
    unrecognized: tuple[str, ...]
    os: str | None

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections of ``os``, and those that belong to no system in particular."""
        return tuple(piece.section for piece in self.own_pieces)

    @property
    def own_pieces(self) -> tuple[Piece, ...]:
        """The pieces of ``os``, and those of programs that run anywhere."""
        return tuple(piece for piece in self.pieces if piece.parser.os in (self.os, ANY_OS))

    def left_out(self, os: str | None) -> str | None:
        """What to say of the pieces of other systems than ``os``, which are not used; None: nothing."""
        lines = _lines_by_system(self.pieces)
        others = [name for name in lines if name not in (os, ANY_OS)]
        if os not in lines or not others:
            return None
        left = " and ".join(
            f"{len(lines[name])} lines of {name} ({lines[name][0][:60]!r} ...)" for name in others
        )
        return (
            f"the text holds outputs of several systems: {len(lines[os])} lines of {os} are used, {left} are "
            "left out; give each host a file of its own"
        )


def split_pasted(text: str, parsers: Sequence[Parser]) -> Pasted:
    """``text`` as sections of the kinds that ``parsers`` know; never raises, linear in time."""
    judge = Judge(parsers, len(text))
    cut = [part for run in runs_of(text, judge.max_parts) for part in _of_systems(run)]
    runs = [part for run in cut for part in _parts(run, judge, max(1, judge.max_parts // len(cut)))]
    scored = _joined_transcripts([(run, _scores([run], judge)) for run in runs], judge)
    favourite = _favourite(points for _, points in scored)
    pieces: list[Piece] = []
    rest: list[str] = []
    for group, points in scored:
        parser = points.best(favourite, CLOSE, SAME_OS_POINTS)
        if parser is None:
            rest += [line for run in group for line in run.all_lines()]
        else:
            section = Section(parser.kind, _text_of(group, parser))
            pieces.append(Piece(section, parser, group[0].command))
    if _by_chance(pieces, rest):
        return Pasted((), tuple(rest), None)
    return Pasted(tuple(pieces), tuple(rest), _main_os(pieces))


def _by_chance(pieces: Sequence[Piece], rest: Sequence[str]) -> bool:
    """Whether so little of a text is known that it looks known by chance: random bytes, a log."""
    known = sum(piece.section.text.count("\n") for piece in pieces)
    if known * SAYING_SHARE < len(rest) and not any(_says_something(piece) for piece in pieces):
        return True
    return len(rest) > CHANCE_LINES and known * CHANCE_SHARE < len(rest)


def _says_something(piece: Piece) -> bool:
    """Whether any value or error comes of it."""
    parsed = piece.parser.parse(piece.section.text)
    return bool(parsed.values) or any(value not in ([], {}) for value in parsed.extra.values())


Group = list[Run]


def _joined_transcripts(scored: Sequence[tuple[Run, Scores]], judge: Judge) -> list[tuple[Group, Scores]]:
    """Calls of one program after one another as one text: they are judged together.

    A set and the reading after it, each with its own prompt, come from one system.
    """
    groups: list[tuple[Group, Parser | None]] = []
    for run, points in scored:
        best = points.best(None, CLOSE, 0)
        last = groups[-1][1] if groups else None
        alike = best is not None and last is not None and best.transcript and last.kind == best.kind
        if alike and not are_strangers(groups[-1][0][-1].lines, run.lines):
            groups[-1][0].append(run)
        else:
            groups.append(([run], best))
    single = {id(run): points for run, points in scored}
    return [
        (group, single[id(group[0])] if best is None or len(group) == 1 else _scores(group, judge, best.kind))
        for group, best in groups
    ]


def _text_of(group: Group, parser: Parser) -> str:
    return "".join(run.text(transcript=parser.transcript) for run in group)


def _of_systems(run: Run) -> list[Run]:
    """``run``, parted where settings of several systems stand in it; the command stays with the first."""
    parts = by_system(run.lines)
    return [Run(run.command if not index else None, tuple(part)) for index, part in enumerate(parts)]


def _parts(run: Run, judge: Judge, most: int) -> list[Run]:
    """Blocks of different kinds within one run; the command stays with the first."""
    parts = by_heading(run.lines, judge.parsers, most)
    blocks = [block for part in parts for block in blocks_of(part, judge, max(1, most // len(parts)))]
    if len(blocks) < 2:
        return [run]
    return [Run(run.command if not index else None, tuple(block)) for index, block in enumerate(blocks)]


def _scores(group: Group, judge: Judge, kind: str | None = None) -> Scores:
    """What each parser (of ``kind``) makes of the group's text, and of the commands that were typed."""
    found: list[tuple[Parser, int]] = []
    for transcript in (True, False):
        text = "".join(run.text(transcript=transcript) for run in group)
        for parser, points in judge.points(text, transcript=transcript):
            if points > 0 and kind in (None, parser.kind):
                found.append((parser, points + max(hint(parser.command, run.command) for run in group)))
    return Scores(tuple((parser, points) for parser, points in found if points >= ACCEPTED))


def _favourite(scores: Iterable[Scores]) -> str | None:
    """The system that the clear cases point to."""
    votes: dict[str, int] = {}
    for points in scores:
        clear = points.clear_os(CLOSE)
        if clear is not None and clear[0] != ANY_OS:
            votes[clear[0]] = votes.get(clear[0], 0) + clear[1]
    return max(votes, key=lambda os: votes[os]) if votes else None


def _main_os(pieces: Sequence[Piece]) -> str | None:
    """The system with the most lines; of equals the first; ANY_OS only where there is no other."""
    lines = {os: len(held) for os, held in _lines_by_system(pieces).items()}
    if len(lines) > 1:
        lines.pop(ANY_OS, None)
    return max(lines, key=lambda os: lines[os]) if lines else None


def _lines_by_system(pieces: Sequence[Piece]) -> dict[str, list[str]]:
    """The lines that are not blank."""
    lines: dict[str, list[str]] = {}
    for piece in pieces:
        held = [line for line in piece.section.text.splitlines() if line.strip()]
        lines.setdefault(piece.parser.os, []).extend(held)
    return lines
