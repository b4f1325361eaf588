"""Blocks as text for a terminal or a pipe: 80 columns, colour only where someone sees it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from hostcfg.outputs.blocks import Block, Code, Heading, Paragraph, Table, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO

    from hostcfg.outputs.blocks import Row, Tone

STYLES: dict[Tone, str] = {
    "plain": "",
    "good": "green",
    "note": "cyan",
    "warning": "yellow",
    "error": "bold red",
}
MIN_WIDTH, PIPE_WIDTH, MAX_WIDTH, MIN_COLUMN = 40, 80, 120, 8
WHOLE_CELL = 16
"""A cell of up to so many columns, "4294967295 bytes", is not wrapped while another one can give way."""


def make_console(stream: IO[str] | None = None, *, color: bool = True) -> Console:
    """A console on ``stream`` (standard output): no colour in a pipe, with NO_COLOR, or if not wanted."""
    stream = stream or sys.stdout
    plain = not color or bool(os.environ.get("NO_COLOR"))  # no-color.org: set, and not empty
    console = Console(
        file=stream,
        width=None if stream.isatty() else PIPE_WIDTH,
        no_color=plain,
        color_system=None if plain else "auto",
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=False,
    )
    console.width = max(MIN_WIDTH, min(MAX_WIDTH, console.width))
    return console


def print_blocks(blocks: Iterable[Block], console: Console) -> None:
    """Draw ``blocks`` one below the other, with a blank line before each heading but the first."""
    with console.capture() as captured:
        for number, block in enumerate(blocks):
            if isinstance(block, Heading) and number:
                console.print()
            _print_block(block, console)
    lines = captured.get().splitlines()
    text = "".join(f"{line.rstrip(' ')}\n" for line in lines)  # rich fills lines with blanks
    console.file.write(_writable(text, console.file))


def _writable(text: str, stream: IO[str]) -> str:
    """``text`` with what ``stream`` has no bytes for (a name in a locale of ASCII) shown as an escape."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, errors="backslashreplace").decode(encoding)


def _print_block(block: Block, console: Console) -> None:
    if isinstance(block, Heading):
        line = Text(one_line(block.text), style=f"bold {STYLES[block.tone]}".strip())
        console.print(line.append(f"  {visible(block.aside)}" if block.aside else "", style="dim not bold"))
    elif isinstance(block, Paragraph):
        line = Text(f"{block.label}: " if block.label else "", style=STYLES[block.tone])
        console.print(Padding(line.append(visible(block.text), style="default"), (0, 0, 0, 2)))
    elif isinstance(block, Code):
        console.print(Text(visible(block.text.rstrip("\n"))), soft_wrap=True)
    else:
        _print_table(block, console)


def _print_table(table: Table, console: Console) -> None:
    """One rich table while no row has a detail, else one for each run of rows up to a detail."""
    table = _with_cells_below(table, console.width - 2)
    widths = _widths(table, console.width - 2)
    header = _grid(table, widths)
    header.add_row(*(Text(c.title, style="bold dim") for c in table.columns))
    console.print(Padding(header, (0, 0, 0, 2)))
    grid = _grid(table, widths)
    for row in table.rows:
        grid.add_row(*_cells(row))
        if row.detail:
            console.print(Padding(grid, (0, 0, 0, 2)))
            console.print(Padding(Text(visible(row.detail), style="dim"), (0, 0, 0, 6)))
            grid = _grid(table, widths)
    if grid.rows:
        console.print(Padding(grid, (0, 0, 0, 2)))


def _cells(row: Row) -> list[Text]:
    style = STYLES[row.tone]
    return [
        Text(visible(cell), style=style if i else f"bold {style}".strip()) for i, cell in enumerate(row.cells)
    ]


def _grid(table: Table, widths: list[int]) -> RichTable:
    grid = RichTable.grid(padding=(0, 2, 0, 0))
    for column, width in zip(table.columns, widths, strict=True):
        grid.add_column(width=width, justify="right" if column.right else "left", overflow="fold")
    return grid


def _widths(table: Table, room: int) -> list[int]:
    """Widths that fit ``room``: lists of words give way first, then what has to be broken in a word."""
    wanted = [_wanted(table, i) for i in range(len(table.columns))]
    loose = [i for i, column in enumerate(table.columns) if not column.fixed]
    whole = [_widest_whole(table, i) for i in range(len(wanted))]
    least = [MIN_COLUMN] * len(wanted)
    for candidates, floors in ((loose, whole), (loose, least), (list(range(len(wanted))), least)):
        while sum(wanted) + 2 * (len(wanted) - 1) > room and any(wanted[i] > floors[i] for i in candidates):
            able = [i for i in candidates if wanted[i] > floors[i]]
            wanted[max(able, key=lambda i: wanted[i])] -= 1
    return wanted


def _with_cells_below(table: Table, room: int) -> Table:
    """``table`` with what has no room in a last column that is ``below`` as its row's detail."""
    if not table.columns or not table.columns[-1].below:
        return table
    others = range(len(table.columns) - 1)
    taken = sum(_wanted(table, i) if table.columns[i].fixed else _widest_whole(table, i) for i in others)
    left = max(room - taken - 2 * len(others), cell_len(table.columns[-1].title))
    return replace(table, rows=[_cell_below(row, left) for row in table.rows])


def _cell_below(row: Row, left: int) -> Row:
    *cells, last = row.cells
    if cell_len(visible(last)) <= left:
        return row
    return replace(row, cells=(*cells, ""), detail=f"{last}: {row.detail}" if row.detail else last)


def _widest_whole(table: Table, index: int) -> int:
    """What the column needs for no word, and no number with its unit, to be broken."""
    cells = [table.columns[index].title, *(visible(row.cells[index]) for row in table.rows)]
    return max(
        cell_len(part)
        for cell in cells
        for part in ([cell] if cell_len(cell) <= WHOLE_CELL else cell.split() or [""])
    )


def _wanted(table: Table, index: int) -> int:
    cells = [table.columns[index].title, *(visible(row.cells[index]) for row in table.rows)]
    return max(cell_len(line) for cell in cells for line in cell.split("\n"))
