"""One parsed output to blocks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hostcfg.outputs.blocks import Block, Column, Heading, Paragraph, Row, Table

if TYPE_CHECKING:
    from hostcfg.model import Json, Parsed

MOST_UNRECOGNIZED = 10


def parse_blocks(parsed: Parsed, file: str | None) -> list[Block]:
    """Values as a table; tables within it one below the other; then what was not understood."""
    title = f"{file}: {parsed.command}" if file else parsed.command
    blocks: list[Block] = [Heading(title, parsed.os)]
    plain = {k: v for k, v in parsed.values.items() if not _is_rows(v)}
    if plain:
        rows = [Row((key, _text(value))) for key, value in plain.items()]
        blocks.append(Table((Column("Name", fixed=True), Column("Value")), rows))
    for name, value in {**parsed.values, **parsed.extra}.items():
        if name in plain:
            continue
        if _is_rows(value):
            blocks.append(Heading(name))
            blocks.append(_rows_table(value))
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
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _rows_table(value: Json) -> Table:
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(names) > 6:  # too many columns for a page: name and value, row by row
        pairs = [Row((f"{i} {name}", _text(row[name]))) for i, row in enumerate(rows, 1) for name in row]
        return Table((Column("Row and name"), Column("Value")), pairs)
    return Table([Column(name) for name in names], [Row([_text(row.get(n)) for n in names]) for row in rows])


def _text(value: Json) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list) and all(not isinstance(v, (list, dict)) for v in value):
        return " ".join(str(v) for v in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)
