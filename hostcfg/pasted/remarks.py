"""What is worth saying of a pasted text itself: what of it is not used, and what stands twice.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Finding
from hostcfg.pasted.split import ANY_OS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostcfg.model import Native, Parsed
    from hostcfg.pasted.split import Pasted, Piece

_RUNNING = frozenset({"sysctl", "proc-sys"})
"""Kinds whose text says what runs; config files have a rule of their own."""
_LINE = regex(
    r"(?:[\s>|]{0,16}/proc/sys/|[\s>|]{0,16})(?P<key>[a-z]\w{0,40}[./][\w./*@%+-]{1,200})\s?[:=](?P<raw>.*)"
)
_LONGEST = 8192


def remarks_on(
    text: str, pasted: Pasted, native: Mapping[str, Native], unused: frozenset[str]
) -> Iterator[Finding]:
    """Findings on ``text``, of which ``native`` was made; pieces of the kinds ``unused`` say nothing here."""
    parsed = [(piece, piece.parser.parse(piece.section.text)) for piece in pasted.own_pieces]
    left = [p for p, _ in parsed if p.section.kind in unused or p.parser.os == ANY_OS]
    if left:
        commands = ", ".join(dict.fromkeys(piece.parser.command for piece in left))
        message = f"of no use here, so left out: {commands}; hostcfg parse prints what they say"
        yield Finding("unused", "info", message)
    lines = [*pasted.unrecognized, *(line for _, one in parsed for line in one.unrecognized)]
    if lines:
        many = f"{len(lines)} lines were" if len(lines) > 1 else "1 line was"
        message = f"{many} not understood, the first is {lines[0].strip()[:60]!r}"
        yield Finding("unrecognized", "info", message)
    yield from _twice_in_lines(text, [p for p, _ in parsed if p.section.kind in _RUNNING], native)
    yield from _twice_in_tables([(p, one) for p, one in parsed if not p.parser.transcript])


def _twice_in_lines(text: str, pieces: Sequence[Piece], native: Mapping[str, Native]) -> Iterator[Finding]:
    """Keys with several values; of a key with many lines each is a part of its value."""
    said: dict[str, dict[str, None]] = {}
    for key, raw in (pair for piece in pieces for pair in _pairs(piece.section.text)):
        values = said.setdefault(key, {})
        values.pop(raw, None)
        values[raw] = None
    at: dict[tuple[str, str], int] = {}
    for key, values in said.items():
        read = native.get(key)
        if len(values) < 2 or read is None or read.raw is None or _plain(read.raw) not in values:
            continue
        at = at or {pair: n for n, line in enumerate(text.splitlines(), 1) for pair in _pairs(line)}
        yield _twice(key, [f"{raw} (line {at.get((key, raw), '?')})" for raw in values], read.raw)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values of the lines that have such."""
    for line in text.splitlines():
        found = _LINE.match(line) if len(line) < _LONGEST else None
        if found is not None:
            yield found["key"].replace("/", "."), _plain(found["raw"])


def _plain(raw: str) -> str:
    return " ".join(raw.split())


def _twice_in_tables(parsed: Sequence[tuple[Piece, Parsed]]) -> Iterator[Finding]:
    """Plain values of outputs that stand in the text twice: of two calls, or of two hosts."""
    said: dict[tuple[str, str], list[str]] = {}
    for piece, one in parsed:
        for key, value in one.values.items():
            values = said.setdefault((piece.section.kind, key), [])
            if isinstance(value, (str, int, float)) and str(value) not in values[-1:]:
                values.append(str(value))
    for (_, key), values in said.items():
        if len(values) > 1:
            yield _twice(key, values, values[-1])


def _twice(key: str, values: Sequence[str], used: str) -> Finding:
    message = f"{key} has several values in this text: {', '.join(values)}; {_plain(used)} is used"
    return Finding("twice", "warning", message, (key,))
