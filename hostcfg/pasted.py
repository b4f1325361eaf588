"""Raw text of several commands, one after the other, cut into sections of known kinds.  Pure.

Prompts cut best, and the command that was typed says what follows; without prompts the content
decides, block by block.  Nothing is thrown away in silence: what no parser knows is handed back.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from hostcfg.decoding import decode_bytes
from hostcfg.errors import UsageError
from hostcfg.lean import dataclass
from hostcfg.model import Parsed, Section
from hostcfg.noise import strip_noise
from hostcfg.prompts import commands_in
from hostcfg.textblocks import blocks_of
from hostcfg.texthints import MAX_PARTS, Judge, Scores, hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostcfg.model import Json
    from hostcfg.platforms.base import Parser

__all__ = ["Pasted", "Piece", "decode_bytes", "parse_pasted", "recognize", "split_pasted"]

ANY_OS = "any"
"""The system of parsers whose programs print the same everywhere."""
ACCEPTED = 25
"""A text that no parser gives at least this many points is not understood."""
CLOSE = 15
"""Parsers whose points differ by less are told apart by the rest of the text."""
SAME_OS_POINTS = 20
CHANCE_LINES, CHANCE_SHARE = 2000, 500
"""Of more strange lines than a mail has, at least one in so many must be known."""


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


@dataclass(frozen=True, slots=True)
class _Run:
    """A typed command (None: none was seen) and the lines up to the next one."""

    command: str | None
    lines: tuple[str, ...]

    def text(self, *, transcript: bool) -> str:
        typed = [f"$ {self.command}"] if transcript and self.command else []
        return "\n".join([*typed, *self.lines]) + "\n"

    def all_lines(self) -> list[str]:
        """The command and the lines that are not blank."""
        return [line.strip() for line in (self.command or "", *self.lines) if line.strip()]


def split_pasted(text: str, parsers: Sequence[Parser]) -> Pasted:
    """``text`` as sections of the kinds that ``parsers`` know; never raises, linear in time."""
    judge = Judge(parsers, len(text))
    cut = _runs(strip_noise(text), judge.max_parts)
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
    """Whether so little of a long text is known that it looks known by chance: random bytes, a log."""
    known = sum(piece.section.text.count("\n") for piece in pieces)
    return len(rest) > CHANCE_LINES and known * CHANCE_SHARE < len(rest)


Group = list[_Run]


def _joined_transcripts(scored: Sequence[tuple[_Run, Scores]], judge: Judge) -> list[tuple[Group, Scores]]:
    """Calls of one program after one another as one text: they are judged together.

    A set and the reading after it, each with its own prompt, come from one system.
    """
    groups: list[tuple[Group, Parser | None]] = []
    for run, points in scored:
        best = points.best(None, CLOSE, 0)
        last = groups[-1][1] if groups else None
        if best is not None and last is not None and best.transcript and last.kind == best.kind:
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


def _runs(lines: Sequence[str], most: int = MAX_PARTS) -> list[_Run]:
    """Cut at every prompt, ``most`` at most; a bare prompt ends what came before it."""
    runs: list[_Run] = []
    command: str | None = None
    body: list[str] = []
    for line, typed in zip(lines, commands_in(lines), strict=True):
        if typed is None or len(runs) >= most:
            body.append(line)
            continue
        runs.append(_Run(command, tuple(body)))
        command, body = (typed or None), []
    runs.append(_Run(command, tuple(body)))
    return [run for run in runs if run.command or any(line.strip() for line in run.lines)]


def _parts(run: _Run, judge: Judge, most: int) -> list[_Run]:
    """Blocks of different kinds within one run; the command stays with the first."""
    blocks = blocks_of(run.lines, judge, most)
    if len(blocks) < 2:
        return [run]
    return [_Run(run.command if not index else None, tuple(block)) for index, block in enumerate(blocks)]


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
    lines: dict[str, int] = {}
    for piece in pieces:
        lines[piece.parser.os] = lines.get(piece.parser.os, 0) + piece.section.text.count("\n")
    if len(lines) > 1:
        lines.pop(ANY_OS, None)
    return max(lines, key=lambda os: lines[os]) if lines else None


def recognize(text: str, parsers: Sequence[Parser], kind: str | None = None) -> Parser | None:
    """A parser for the whole of ``text``, noise and several commands included; None: not understood.

    ``kind`` is a parser's kind, or ``os:kind``, and is taken at its word; UsageError if there is
    none of that name.  The parser returned merges what the parts of the text say.
    """
    if kind is not None:
        return _forced(text, _named(parsers, kind))
    pasted = split_pasted(text, parsers)
    if not pasted.pieces:
        return None
    first = pasted.own_pieces[0].parser

    def parse(given: str) -> Parsed:
        again = pasted if given == text else split_pasted(given, parsers)
        return _merged(again) or first.parse(given)

    return replace(first, parse=parse)


def parse_pasted(text: str, parsers: Sequence[Parser], kind: str | None = None) -> Parsed | None:
    """What ``text`` says, all its parts merged; None if nothing in it is understood."""
    parser = recognize(text, parsers, kind)
    return None if parser is None else parser.parse(text)


def _named(parsers: Sequence[Parser], kind: str) -> list[Parser]:
    found = [parser for parser in parsers if kind in (parser.kind, f"{parser.os}:{parser.kind}")]
    if not found:
        names = sorted({parser.kind for parser in parsers} | {f"{p.os}:{p.kind}" for p in parsers})
        near = get_close_matches(kind, names, 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        known = ", ".join(sorted({parser.kind for parser in parsers}))
        raise UsageError(f"there is no parser {kind!r}{meant} Known are {known}, or OS:KIND")
    return found


def _forced(text: str, named: Sequence[Parser]) -> Parser:
    """The parser among ``named`` that fits best, for the whole text."""

    def prepared(parser: Parser, given: str) -> str:
        runs = _runs(strip_noise(given))
        return "".join(run.text(transcript=parser.transcript) for run in runs)

    best = max(named, key=lambda parser: parser.recognize(prepared(parser, text)))
    return replace(best, parse=lambda given: best.parse(prepared(best, given)))


def _merged(pasted: Pasted) -> Parsed | None:
    parts = [piece.parser.parse(piece.section.text) for piece in pasted.own_pieces]
    if not parts:
        return None
    others = {piece.parser.os for piece in pasted.pieces} - {pasted.os, ANY_OS}
    notes = [f"the text also holds output of {os}, which is left out" for os in sorted(others)]
    return merge(parts, notes, pasted.unrecognized)


def merge(parts: Sequence[Parsed], notes: Sequence[str], unrecognized: Sequence[str]) -> Parsed:
    """One result from several of one system: a later value wins, lists and mappings are joined."""
    values: dict[str, Json] = {}
    extra: dict[str, Json] = {}
    for part in parts:
        measured = [*_records(values), *_records(part.values)]
        values |= part.values
        if measured:
            values["records"] = measured
        for name, value in part.extra.items():
            extra[name] = _joined(extra.get(name), value)
    return Parsed(
        os=next((part.os for part in parts if part.os != ANY_OS), ANY_OS),
        kind=parts[0].kind,
        command="; ".join(dict.fromkeys(part.command for part in parts)),
        values=values,
        notes=(*notes, *(note for part in parts for note in part.notes)),
        unrecognized=(*unrecognized, *(line for part in parts for line in part.unrecognized)),
        extra=extra,
    )


def _records(values: Mapping[str, Json]) -> list[Json]:
    """Measurements add up, where a later setting replaces an earlier one."""
    found = values.get("records")
    return found if isinstance(found, list) else []


def _joined(old: Json, new: Json) -> Json:
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **new}
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if isinstance(old, int) and isinstance(new, int) and not isinstance(old, bool):
        return old + new
    return new
