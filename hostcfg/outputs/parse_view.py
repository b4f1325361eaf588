"""One parsed output to blocks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hostcfg.outputs.blocks import Block, Column, Heading, Paragraph, Row, Table

if TYPE_CHECKING:
    from hostcfg.model import Json, Parsed

MOST_UNRECOGNIZED = 10
MOST_COLUMNS = 6
_NAMES = ("ifname", "dev", "name", "interface", "local")
"""What a row is called by, where it has such."""


def parse_blocks(parsed: Parsed, file: str | None) -> list[Block]:
    """Values as a table; tables within it one below the other; then what was not understood."""
    title = f"{file}: {parsed.command}" if file else parsed.command
    blocks: list[Block] = [Heading(title, parsed.os)]
    plain = {k: v for k, v in parsed.values.items() if not _is_rows(v)}
    if plain:
        rows = [Row((key, _text(value))) for key, value in plain.items()]
        blocks.append(Table((Column("Name", fixed=True), Column("Value")), rows))
    short = {k: v for k, v in parsed.extra.items() if k not in parsed.values}
    for name, value in {**parsed.values, **short}.items():
        if name in plain:
            continue
        if _is_rows(value):
            blocks.append(Heading(name))
            blocks += _rows_tables(value)
        elif _is_lists(value):
            blocks.append(Heading(name))
            blocks.append(_lists_table(value))
        elif value not in (None, [], {}):
            blocks.append(Paragraph(_text(value), label=name))
    blocks += [Paragraph(note, "note", "note") for note in parsed.notes]
    unread = parsed.unrecognized
    blocks += [Paragraph(line, "warning", "not understood") for line in unread[:MOST_UNRECOGNIZED]]
    if len(unread) > MOST_UNRECOGNIZED:
        blocks.append(
            Paragraph(f"and {len(unread) - MOST_UNRECOGNIZED} lines more", "warning", "not understood")
        )
    return blocks


def _is_rows(value: Json) -> bool:
    return isinstance(value, list) and any(value) and all(isinstance(row, dict) for row in value)


def _is_lists(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, list) for row in value)


def _rows_tables(value: Json) -> list[Block]:
    """A table, or where a page is too narrow several, of which each begins with what a row is called."""
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    names = list(dict.fromkeys(name for row in rows for name in row))
    first = next((name for name in _NAMES if all(name in row for row in rows)), names[0])
    others = [name for name in names if name != first]
    tables: list[Block] = []
    for start in range(0, len(others) or 1, MOST_COLUMNS - 1):
        shown = [first, *others[start : start + MOST_COLUMNS - 1]]
        tables.append(
            Table([Column(n) for n in shown], [Row([_text(row.get(n)) for n in shown]) for row in rows])
        )
    return tables


def _lists_table(value: Json) -> Table:
    rows = [row for row in value if isinstance(row, list)] if isinstance(value, list) else []
    width = max(1, *map(len, rows))
    texts = [[_text(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    return Table([Column(str(number)) for number in range(1, width + 1)], [Row(row) for row in texts])


def _text(value: Json) -> str:
    if value is None or value in ([], {}):
        return "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list) and all(not isinstance(v, (list, dict)) for v in value):
        return " ".join(str(v) for v in value)
    if isinstance(value, dict) and all(not isinstance(v, (list, dict)) for v in value.values()):
        return ", ".join(f"{name} {_text(v)}" for name, v in value.items())
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)
