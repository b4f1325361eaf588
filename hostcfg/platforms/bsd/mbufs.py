"""Rows of ``netstat -m``, whatever BSD printed them: numbers, words, and what the numbers are.

::

    771/2203/2974/25600 mbuf clusters in use (current/cache/total/max)
    0/0/0 requests for jumbo clusters denied (4k/9k/16k)
    7549 KB allocated to network (8.1% in use)

Mail programs break these rows anywhere; a row counts only once it is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_LINE = 8192
MBUFS_BEGIN = r"[0-9]{1,19}(?:/[0-9]{1,19}){0,4} mbufs in use"
"""The first row of ``netstat -m``."""

_LEAD = regex(r"[\s#*;>|]{0,64}(?=[0-9])")
_ROW = regex(
    r"(?P<numbers>[0-9]{1,19}K?(?:/[0-9]{1,19}K?){0,4})\s+(?P<words>[^()]*?)\s*(?:\((?P<labels>[^()]{1,80})\))?:?"
)
_START = regex(r"[\s#*;>|]{0,64}[0-9]{1,19}K?(?:/[0-9]{1,19}K?){0,4}(?:\s|$)")
_SPACED_SIZE = regex(r"\(page size\)")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ``words`` in lower case with single blanks, ``labels`` one for each number or none."""

    numbers: tuple[int, ...]
    words: str
    labels: tuple[str, ...]
    note: str = ""  # what stood in the parentheses
    kilo: bool = False  # each number ends in K


def read_rows(text: str, known: Callable[[Row], bool]) -> tuple[list[Row], list[str]]:
    """Rows of ``text`` that ``known`` accepts, and the lines that belong to none; never raises."""
    lines = [line for line in text.splitlines() if line.strip()]
    rows: list[Row] = []
    rest: list[str] = []
    index = 0
    while index < len(lines):
        row, used = _longest(lines, index, known)
        if row is not None:
            rows.append(row)
        else:
            rest.append(lines[index].strip()[:MAX_LINE])
        index += used
    return rows, rest


def _longest(lines: Sequence[str], index: int, known: Callable[[Row], bool]) -> tuple[Row | None, int]:
    """The row that begins at ``index`` with as many continuation lines as make it whole."""
    found: tuple[Row | None, int] = (None, 1)
    joined = ""
    for used in range(1, 4):
        line = lines[index + used - 1] if index + used <= len(lines) else None
        if line is None or len(line) > MAX_LINE or (used > 1 and _begins_row(line)):
            break
        joined = f"{joined} {line.strip(' >|#')}" if joined else line
        row = parse_row(joined)
        if row is not None and known(row):
            found = (row, used)
    return found


def _begins_row(line: str) -> bool:
    return _START.match(line) is not None


def parse_row(line: str) -> Row | None:
    """``line`` as a row; None unless it has numbers, words, and as many labels as numbers (or none)."""
    lead = _LEAD.match(line)
    if lead is None or len(line) > MAX_LINE:
        return None
    text = " ".join(_SPACED_SIZE.sub("[page size]", line[lead.end() :]).split())
    match = _ROW.fullmatch(text)
    if match is None:
        return None
    parts = match["numbers"].split("/")
    if len({part.endswith("K") for part in parts}) != 1:
        return None
    numbers = tuple(int(part.rstrip("K")) for part in parts)
    note = (match["labels"] or "").strip().lower()
    labels = tuple(label.strip() for label in note.split("/")) if "/" in note else ()
    if labels and len(labels) != len(numbers):
        return None
    return Row(numbers, match["words"].strip().lower(), labels, note, parts[0].endswith("K"))
