"""Blocks as GitHub Markdown, to paste into a ticket or a mail."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.outputs.blocks import Block, Code, Heading, Paragraph, Table, visible

if TYPE_CHECKING:
    from collections.abc import Iterable


def to_markdown(blocks: Iterable[Block]) -> str:
    """``blocks`` as Markdown; text from hosts can't become markup."""
    return "\n\n".join(_block(block) for block in blocks) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"### {escape(block.text)}" + (f" ({escape(block.aside)})" if block.aside else "")
    if isinstance(block, Paragraph):
        text = escape(block.text)
        return f"**{escape(block.label)}:** {text}" if block.label else _opening(text)
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
        return f"{fence}{block.language}\n{visible(block.text.rstrip())}\n{fence}"
    return _table(block)


def _table(table: Table) -> str:
    detail = [table.detail_title] if table.detail_title else []
    titles = [*(c.title for c in table.columns), *detail]
    rule = ["---:" if c.right else "---" for c in table.columns] + ["---"] * len(detail)
    rows = [[*row.cells, *([row.detail] if detail else [])] for row in table.rows]
    lines = [titles, rule, *rows]
    return "\n".join(
        "| " + " | ".join(cell if line is rule else escape(cell) for cell in line) + " |" for line in lines
    )


def escape(text: str) -> str:
    """``text`` so that it shows as itself within a line or a table cell."""
    return re.sub(r"([\\`*_\[\]<>|#~&])", r"\\\1", visible(" ".join(text.split())))


def _opening(text: str) -> str:
    """Escaped ``text`` that begins a line: it starts no list and no rule there."""
    text = re.sub(r"^([-+=])", r"\\\1", text)
    return re.sub(r"^([0-9]{1,9})(?=[.)](?:\s|$))", r"\1\\", text)
