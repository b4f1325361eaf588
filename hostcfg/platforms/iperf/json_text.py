"""JSON documents in text that may hold more than one, something around them, or a cut one.

iperf3 ``-J`` prints a document a test; shells, loggers and the tool itself add lines; a full disk or
an impatient reader cuts.  Work is linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hostcfg.model import Json

    Object = Mapping[str, Json]

_NOT_A_NUMBER = regex(r"(?<=[:\[,])(?P<blank>[ \t]*)-?(?:nan|inf(?:inity)?)\b", re.IGNORECASE)
_PIECE = regex(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[{}\[\],]', re.DOTALL)
_LONGEST_INTEGER = 20
"""Digits of 2^64: iperf counts in no larger numbers, and Python refuses to read some thousands."""


def _integer(text: str) -> int | None:
    return int(text) if len(text) <= _LONGEST_INTEGER else None


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Empty where a name has two values: the line between two objects is lost."""
    found = dict(pairs)
    return found if all(found[name] == value for name, value in pairs) else {}


_DECODER = json.JSONDecoder(parse_int=_integer, object_pairs_hook=_object)
_NAME = regex(r'"(\w{1,40})"\s{0,8}:\s{0,8}$')
MOST_NAME = 64
MOST_DEPTH = 200
"""iperf3 nests six levels; a document deeper than this is no report."""
MOST_REPAIRS = 3
"""Each try reads to the end of the text; after as many in vain it holds no cut report."""
MOST_WORK = 200_000_000
"""Characters that failed starts may cost (each error counts the lines before it)."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A document (``value``), or the text between documents (``value`` None).

    ``name`` is what it is called in a document whose beginning is lost.
    """

    text: str
    value: dict[str, Json] | None = None
    cut: bool = False
    name: str | None = None


def pieces(text: str) -> Iterator[Piece]:
    """Documents and the text around them, in order.  A cut document is closed after its last whole value."""
    text = _NOT_A_NUMBER.sub(r"\g<blank>null", text)
    at = start = work = 0
    repairs = MOST_REPAIRS
    while work < MOST_WORK and (at := text.find("{", at)) >= 0:
        value, end, cut = _decoded(text, at, repair=repairs > 0)
        if value is None:
            repairs, work, at = repairs - 1, work + end, end
            continue
        if text[start:at].strip():
            yield Piece(text[start:at])
        name = _NAME.search(text[max(start, at - MOST_NAME) : at])
        yield Piece(text[at:end], value, cut, name and name[1])
        at = start = end
    if text[start:].strip():
        yield Piece(text[start:])


def _decoded(text: str, at: int, *, repair: bool) -> tuple[dict[str, Json] | None, int, bool]:
    """The document that begins at ``at``, where to go on, and whether it was cut."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError:
        return None, len(text), False
    except json.JSONDecodeError as error:
        repaired = _repaired(text, at) if repair else None
        if repaired is not None:
            return repaired, len(text), True
        return None, max(error.pos, at + 1), False
    return (value, end, False) if isinstance(value, dict) else (None, end, False)


def _repaired(text: str, at: int) -> dict[str, Json] | None:
    """A document that the text's end cuts, up to its last whole value and with its brackets closed.

    None for one that closes before the end: it is broken, not cut.
    """
    stack: list[str] = []
    end, depth = at, 0
    for found in _PIECE.finditer(text, at):
        mark = found[0][0]
        if mark == '"':
            continue
        if mark in "{[":
            stack.append("}" if mark == "{" else "]")
            if len(stack) > MOST_DEPTH:
                return None
        elif mark == ",":
            end, depth = found.start(), len(stack)
        else:
            stack.pop()
            end, depth = found.end(), len(stack)
            if not stack:
                return None
    try:
        value = _DECODER.decode(text[at:end] + "".join(reversed(stack[:depth])))
    except (json.JSONDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def inner(value: Object, *path: str) -> Object:
    """The object at ``path``; empty where there is none."""
    for name in path:
        found = value.get(name)
        value = found if isinstance(found, dict) else {}
    return value


def objects(value: Json) -> list[Object]:
    """The objects of an array; none of anything else."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def text_at(value: Object, name: str, *, strip: str = "") -> str | None:
    """The text called ``name`` without ``strip`` before it; None where it is empty or something else."""
    found = value.get(name)
    return found.removeprefix(strip) if isinstance(found, str) and found else None


def decimal(value: Json) -> float | None:
    """A number from JSON; None for anything else."""
    ok = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if ok and isinstance(value, int | float) else None
