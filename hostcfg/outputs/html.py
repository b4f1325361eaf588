"""A page to one self-contained HTML document: no network, no server, and no JavaScript but to filter.

The document is plain ASCII whatever it shows, so that no encoding on the way to the file can spoil it.
Its content security policy allows the one script that is part of it, by its hash, and nothing else: what a
host calls itself could not run even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
import re
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup, escape

from hostcfg import __version__
from hostcfg.outputs.blocks import Code, Heading, Paragraph, Table, visible
from hostcfg.outputs.report.bars import bar_svg

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from hostcfg.outputs.report.page import Bar, Page

FILES = Path(__file__).parent / "report"

COLUMNS = 9
"""Settings side by side: so many fit a screen of 1280 pixels and a landscape A4 sheet beside the host."""

_LONG_NUMBER = re.compile(r"(?<![\w.])\d{5,}(?![\w.])")


def to_html(page: Page, made: datetime) -> str:
    """The document, which names ``made`` (UTC) as its time."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FILES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters |= {"bar": _bar, "digits": _digits, "breaks": _breaks}
    environment.tests |= {"heading": _is(Heading), "paragraph": _is(Paragraph), "code": _is(Code)}
    environment.tests |= {"table": _is(Table)}
    script = (FILES / "page.js").read_text("ascii")
    document = environment.get_template("page.html.j2").render(
        page=page,
        made=made.strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        script=Markup(script),  # noqa: S704  # our own file
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup((FILES / "page.css").read_text("ascii")),  # noqa: S704  # our own file
        parts=_parts(len(page.matrix.columns) if page.matrix is not None else 0),
    )
    return document.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _is(kind: type) -> Callable[[object], bool]:
    return lambda block: isinstance(block, kind)


def _finalize(value: object) -> object:
    """Text with its control characters shown; HTML would drop or obey them."""
    return visible(value) if type(value) is str else value


def _parts(count: int) -> list[slice]:
    """The columns of a matrix in parts of nearly the same width."""
    size = ceil(count / max(1, ceil(count / COLUMNS)))
    return [slice(start, start + size) for start in range(0, count, size)] if size else []


def _bar(bar: Bar) -> Markup:
    return Markup('<span class="bar {}" role="img" aria-label="{}">{}</span>').format(
        bar.tone, bar.said, bar_svg(tuple(bar.parts))
    )


def _digits(text: str) -> Markup:
    """Numbers in groups of three to the eye; copied or searched for they are as the host writes them."""
    marked = _LONG_NUMBER.sub(lambda number: _groups(number[0]), str(escape(visible(text))))
    return Markup(marked)  # noqa: S704  # escaped in the line above


def _groups(number: str) -> str:
    first = len(number) % 3 or 3
    return number[:first] + "".join(f"<i>{number[i : i + 3]}</i>" for i in range(first, len(number), 3))


def _breaks(text: str) -> Markup:
    """A name or a key that may be broken after its dots and underscores."""
    marked = re.sub(r"([._])(?=\w)", r"\1<wbr>", str(escape(visible(text))))
    return Markup(marked)  # noqa: S704  # escaped in the line above
