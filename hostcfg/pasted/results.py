"""What a pasted text says: each piece parsed, and all of them merged into one result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import UsageError
from hostcfg.model import Parsed
from hostcfg.nearest import nearest
from hostcfg.pasted.runs import runs_of
from hostcfg.pasted.split import ANY_OS, split_pasted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Json
    from hostcfg.pasted.split import Pasted
    from hostcfg.platforms.base import Parser


def parse_pasted(text: str, parsers: Sequence[Parser], kind: str | None = None) -> Parsed | None:
    """What ``text`` says, noise and several commands included, all merged; None: nothing is understood.

    ``kind`` is a parser's kind, or ``os:kind``, and is taken at its word for the whole of the text;
    UsageError if there is none of that name.
    """
    if kind is not None:
        return _forced(text, _named(parsers, kind))
    return _merged(split_pasted(text, parsers))


def _named(parsers: Sequence[Parser], kind: str) -> list[Parser]:
    found = [parser for parser in parsers if kind in (parser.kind, f"{parser.os}:{parser.kind}")]
    if not found:
        names = {parser.kind for parser in parsers} | {f"{p.os}:{p.kind}" for p in parsers}
        known = ", ".join(sorted({parser.kind for parser in parsers}))
        close = nearest(kind, names)
        meant = f"; did you mean {close!r}?" if close else ""
        raise UsageError(f"there is no parser {kind!r}{meant} Known are {known}, or OS:KIND")
    return found


def _forced(text: str, named: Sequence[Parser]) -> Parsed:
    """What the parser among ``named`` that fits best makes of the whole text."""
    runs = runs_of(text)
    texts = {
        transcript: "".join(run.text(transcript=transcript) for run in runs) for transcript in (True, False)
    }
    best = max(named, key=lambda parser: parser.recognize(texts[parser.transcript]))
    return best.parse(texts[best.transcript])


def _merged(pasted: Pasted) -> Parsed | None:
    parts = [piece.parser.parse(piece.section.text) for piece in pasted.own_pieces]
    if not parts:
        return None
    left_out = pasted.left_out(pasted.os)
    return merge(parts, [left_out] if left_out else [], pasted.unrecognized)


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
