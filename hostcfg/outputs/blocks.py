"""What every readable output is made of: headings, paragraphs and tables, without any form yet.

Results become blocks once (:mod:`hostcfg.outputs.views`); text, Markdown and HTML only differ in how
they draw a block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

Tone = Literal["plain", "good", "note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; ``aside`` follows it in a lighter voice."""

    text: str
    aside: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One sentence or a few; ``label`` stands before it ("warning", "note")."""

    text: str
    tone: Tone = "plain"
    label: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; numbers stand at the right.  ``fixed`` columns are never wrapped.

    ``below``, of a last column: a cell that has no room in its line stands under it, whole.
    """

    title: str
    right: bool = False
    fixed: bool = False
    below: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Cells, and a sentence below them that belongs to them alone."""

    cells: Sequence[str]
    detail: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; ``detail_title`` names the rows' sentences where they are a column of their own."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    detail_title: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """Text to copy: commands or a config file."""

    text: str
    language: str = "sh"


Block = Heading | Paragraph | Table | Code


def visible(text: str) -> str:
    """``text`` with control characters shown and not obeyed: what a host says is no command to a screen.

    They include those that turn the direction of writing, with which a text can look like another.
    """
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def one_line(text: str) -> str:
    """``visible`` with line ends shown too: what stands within a line can't begin another one.

    A name in the remark of a command to copy would else be a command of its own.
    """
    return visible(text).replace("\n", "\\x0a")
