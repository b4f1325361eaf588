"""From the lines of a netsh table to keys and values, whatever the language.

A row is known by its label, else by a value that only one row can have, else by its place: the
table must then have exactly the rows of a release era, every known row must stand where that era
has it and every value must be one that its row can hold.  What stays uncertain is unrecognized.
"""

from __future__ import annotations

import unicodedata
from dataclasses import field as dataclass_field
from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.platforms.windows.domains import first_word
from hostcfg.platforms.windows.text import MAX_LINES, is_rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Json
    from hostcfg.platforms.windows.fields import Field, Table
    from hostcfg.platforms.windows.text import Text

MAX_ROWS = 64
"""No netsh table has more rows; a longer text is no table, and is not searched for one."""

_QUOTES = regex("[\"'`\u201c-\u201f\u2018-\u201b\u00ab\u00bb\u2039\u203a\u300c\u300d]")


@dataclass(frozen=True, slots=True)
class Row:
    """One ``label : value`` line; ``key`` is None until it is known, ``by`` says how it became so."""

    line: str
    label: str
    word: str | None
    key: str | None = None
    by: str = ""
    cut: bool = False  # the text ends within this line: a number in it may have lost digits


@dataclass(frozen=True, slots=True)
class Mapped:
    """Values by key, the rows' labels that only place or value could tell, and all other lines."""

    values: dict[str, Json] = dataclass_field(default_factory=dict)
    by_place: tuple[str, ...] = ()
    unrecognized: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()  # keys that stand there with two different values


def plain_label(label: str) -> str:
    """``label`` without quotes, in one case and one form of blanks and letters."""
    text = unicodedata.normalize("NFKC", _QUOTES.sub("", label)).casefold()
    return " ".join(text.split())


def split_row(line: str, *, cut: bool = False) -> Row | None:
    """``line`` as a row if it has a label, a colon and something after it."""
    label, colon, cell = line.partition(":")
    if not colon or not label.strip() or not cell.strip():
        return None
    return Row(line.strip(), plain_label(label), first_word(cell), cut=cut)


def rows_of(text: Text) -> tuple[list[Row], list[str]]:
    """Rows, and the other lines that are neither blank nor a rule of dashes."""
    rows: list[Row] = []
    others: list[str] = []
    last = len(text.lines) - 1
    if last > MAX_LINES:
        return [], [line.strip() for line in text.lines if line.strip()]
    for index, line in enumerate(text.lines):
        if not line.strip() or is_rule(line):
            continue
        row = split_row(line, cut=index == last and not text.ended)
        if row is None:
            others.append(line.strip())
        else:
            rows.append(row)
    return rows, others


def map_rows(rows: Sequence[Row], table: Table) -> Mapped:
    """Each row's key and value in ``table``; nothing is returned that is not certain."""
    if len(rows) > MAX_ROWS:
        return Mapped(unrecognized=tuple(row.line for row in rows))
    named = [_by_value(row, table) for row in _told_apart([_by_label(row, table) for row in rows])]
    placed = _by_place(named, table)
    return _values(placed, table)


def is_labelled(row: Row, table: Table) -> bool:
    """Whether the row's label names one of the table's fields."""
    return _by_label(row, table).key is not None


def _by_label(row: Row, table: Table) -> Row:
    key = next((f.key for f in table.fields if f.names(row.label)), None)
    return row if key is None else replace(row, key=key, by="label")


def _told_apart(rows: list[Row]) -> list[Row]:
    """Rows whose different labels fit the same field say nothing: their word stems are not theirs."""
    labels: dict[str, set[str]] = {}
    for row in rows:
        if row.key is not None:
            labels.setdefault(row.key, set()).add(row.label)
    return [replace(row, key=None, by="") if len(labels.get(row.key or "", ())) > 1 else row for row in rows]


def _by_value(row: Row, table: Table) -> Row:
    word = (row.word or "").lower()
    if row.key is not None or not word:
        return row
    told = [f.key for f in table.fields if word in f.telling]
    return replace(row, key=told[0], by="value") if len(told) == 1 else row


def _by_place(rows: list[Row], table: Table) -> list[Row]:
    """Rows that are still unknown, placed where all eras that fit the whole table agree."""
    if all(row.key is not None for row in rows):
        return rows
    eras = [era for era in table.eras if _fits(rows, era, table)]
    return [
        row if row.key is not None or len(keys) != 1 else replace(row, key=next(iter(keys)), by="place")
        for row, keys in ((row, {era[i] for era in eras}) for i, row in enumerate(rows))
    ]


def _fits(rows: list[Row], era: tuple[str, ...], table: Table) -> bool:
    if len(rows) != len(era):
        return False
    return all(_may_be(row, table.by_key[key]) for row, key in zip(rows, era, strict=True))


def _may_be(row: Row, field: Field) -> bool:
    if row.word is None or field.domain(row.word) is None:
        return False
    return row.key == field.key or (row.key is None and not field.everywhere)


def _values(rows: list[Row], table: Table) -> Mapped:
    values: dict[str, Json] = {}
    by_place: list[str] = []
    bad: list[str] = []
    twice: set[str] = set()
    complete = [row.key for row in rows] in [list(era) for era in table.eras]
    for row in rows:
        value = table.by_key[row.key].domain(row.word) if row.key and row.word else None
        if value is None or row.key is None or (row.cut and isinstance(value, int) and not complete):
            bad.append(row.line)
        elif values.setdefault(row.key, value) != value:
            twice.add(row.key)
            bad.append(row.line)
        elif row.by != "label":
            by_place.append(row.label)
    bad += [row.line for row in rows if row.key in twice and row.line not in bad]
    for key in twice:
        del values[key]
    return Mapped(values, tuple(by_place), tuple(bad), tuple(sorted(twice)))
