"""``netsh interface tcp show global``, ``supplemental``, ``heuristics`` and ``chimneystats``.

::

    Querying active state...

    TCP Global Parameters
    ----------------------------------------------
    Receive-Side Scaling State          : enabled
    Receive Window Auto-Tuning Level    : normal

Keys and values are English whatever the language of the labels (see :mod:`mapping`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.windows.domains import TEMPLATES, number
from hostcfg.platforms.windows.fields import GLOBAL, HEURISTICS, HEURISTICS_WORDS, SUPPLEMENTAL
from hostcfg.platforms.windows.mapping import is_labelled, map_rows, rows_of, split_row
from hostcfg.platforms.windows.text import is_rule, plain_text
from hostcfg.platforms.windows.usage import HEAD_CHARS, is_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Json
    from hostcfg.platforms.windows.fields import Table
    from hostcfg.platforms.windows.mapping import Mapped, Row
    from hostcfg.platforms.windows.text import Text

POSITION_NOTE = "labels in a language without a table, told by their order and values: "
"""How a note begins that names rows which only their place or value could tell."""

_TELLING_ALONE = frozenset(
    {"receive_window_auto_tuning_level", "rfc1323_timestamps", "receive_side_scaling", "hystart"}
)
_WORD = regex(r"[a-z]+")
_PROPERTY = regex(r"\s*(?!HyStart)(?:[A-Z][a-z0-9]+){2,8}(?:WS)?(?:\((?:ms|MSS)\))?\s*:")
"""A property of PowerShell's, as ``ScalingHeuristics``: no label of netsh's."""
_TEMPLATE = regex(
    r"templat|vorlage|model|plantilla|sjablo|szablon|sablon|skabelon|\bmal(?:l|len|li)?\b|modello|modelo"
)
"""A template in languages that can do without accents."""
_NO_SENTENCE = regex(r"[0-9/#=|<>]")
_CHIMNEY_LIMIT = 4096


def parse_global(raw: str, kind: str = "netsh-tcp-global", store: str = "") -> Parsed:
    """The global parameters; ``heuristics_override_note`` is true where the ``**`` note is under them."""
    text = plain_text(raw)
    rows, others = _table(text, raw)
    mapped = map_rows(rows, GLOBAL)
    others, notes = _starred(others)
    values = dict(mapped.values)
    if notes and values:
        values["heuristics_override_note"] = True
    rest = [line for line in others if not _is_heading(line)]
    command = f"netsh interface tcp show global{store}"
    return _parsed(kind, command, values, mapped, rest, notes)


def parse_persistent(raw: str) -> Parsed:
    """As :func:`parse_global`, of what the next boot will bring (``store=persistent``)."""
    return parse_global(raw, "netsh-tcp-global-persistent", " store=persistent")


def _starred(others: Sequence[str]) -> tuple[list[str], list[str]]:
    """Lines before a ``**`` note, and the note with its continuation as one line."""
    start = next((i for i, line in enumerate(others) if line.startswith("**")), None)
    if start is None:
        return list(others), []
    return list(others[:start]), [" ".join(others[start:])]


def parse_supplemental(raw: str) -> Parsed:
    """The parameters of the template in use; ``default_template`` alone in automatic mode."""
    text = plain_text(raw)
    rows, others = _table(text, raw)
    lines = [row.line for row in rows] + others
    template_line = next((line for line in lines if _template_of(line) is not None), None)
    template = _template_of(template_line) if template_line is not None else None
    rows = [row for row in rows if row.line != template_line]
    mapped = map_rows(rows, SUPPLEMENTAL)
    notes = [line for line in others if "netsh int" in line.lower()]
    rest = [line for line in others if line != template_line and line not in notes and not _is_heading(line)]
    if template is not None and not rows and not text.ended and _is_prefix(template):
        rest, template = [*rest, template_line or ""], None
    values: dict[str, Json] = {} if template is None else {"default_template": template}
    values.update(mapped.values)
    asked = [word for word in _WORD.findall((text.command or "").lower()) if word in TEMPLATES]
    command = " ".join(["netsh interface tcp show supplemental", *(f"template={word}" for word in asked[:1])])
    return _parsed("netsh-tcp-supplemental", command, values, mapped, rest, notes)


def parse_internet(raw: str) -> Parsed:
    """The internet template's parameters, whatever template is in use."""
    parsed = parse_supplemental(raw)
    return replace(
        parsed, kind="netsh-tcp-supplemental-internet", command=f"{parsed.command} template=internet"
    )


def _template_of(line: str) -> str | None:
    """The one template that a line about TCP names: a sentence in English, ``label: name`` in German.

    >>> _template_of("The TCP global default template is internet")
    'internet'
    """
    found: list[str] = _WORD.findall(line.lower())
    named = {word for word in found if word in TEMPLATES}
    if "tcp" not in found or len(named) != 1 or "netsh" in found or _NO_SENTENCE.search(line):
        return None
    if line.isascii() and not _TEMPLATE.search(line.lower()):
        return None  # "tcp" and "internet" stand in many a line
    return named.pop()


def _is_prefix(template: str) -> bool:
    return any(other != template and other.startswith(template) for other in TEMPLATES)


def parse_heuristics(raw: str) -> Parsed:
    """The window-scaling heuristics and, on Windows 7 to 8, what they found for each profile."""
    text = plain_text(raw)
    rows, others = _table(text, raw)
    mapped = map_rows(rows, HEURISTICS if _is_under_rule(text) else replace(HEURISTICS, eras=()))
    rest = [line for line in others if not _is_heading(line)]
    command = "netsh interface tcp show heuristics"
    return _parsed("netsh-tcp-heuristics", command, dict(mapped.values), mapped, rest, ())


def _is_under_rule(text: Text) -> bool:
    """Whether the first row stands right under the rule: a single row's place says something only then."""
    lines = [line for line in text.lines if line.strip()]
    return any(is_rule(a) and split_row(b) is not None for a, b in pairwise(lines))


def parse_chimneystats(raw: str) -> Parsed:
    """``result`` message: netsh only says that the offload is off.  Rows go to ``settings``."""
    rows, others = _table(plain_text(raw), raw)
    settings: dict[str, Json] = {}
    bad = []
    for row in rows:
        if row.label.isascii() and row.word is not None:
            value = number(0, 1 << 32)(row.word)
            settings["_".join(_WORD.findall(row.label))] = row.word if value is None else value
        else:
            bad.append(row.line)
    said = [line for line in others if "chimney" in line.lower()]
    rest = bad + [line for line in others if line not in said and not _is_heading(line)]
    values: dict[str, Json] = {}
    if said or settings:
        values = {"result": "table" if settings else "message", "settings": settings}
    return Parsed(
        "windows", "netsh-chimneystats", "netsh interface tcp show chimneystats", values, said, rest
    )


def _table(text: Text, raw: str) -> tuple[list[Row], list[str]]:
    """Rows and other lines; of a usage text everything is "other", so that nothing becomes a value."""
    if is_usage(raw):
        return [], [line.strip() for line in text.lines if line.strip()]
    return rows_of(text)


def _is_heading(line: str) -> bool:
    """A table's title or the line that says what is being asked."""
    if line.startswith((".", "*")) or len(line) > 120:
        return False
    return line.endswith(("...", "\u2026")) or ("TCP" in line and not line.endswith((".", "\u3002")))


def _parsed(
    kind: str,
    command: str,
    values: dict[str, Json],
    mapped: Mapped,
    rest: Sequence[str],
    notes: Sequence[str],
) -> Parsed:
    placed = [POSITION_NOTE + ", ".join(mapped.by_place)] if mapped.by_place else []
    twice = [f"{key} stands there with different values, so none is taken" for key in mapped.twice]
    unrecognized = (*mapped.unrecognized, *rest)
    return Parsed("windows", kind, command, values, (*notes, *placed, *twice), unrecognized)


def _known_rows(raw: str, table: Table) -> list[str]:
    """Keys of the lines whose label is the table's and whose value the row can have."""
    keys = []
    for line in plain_text(raw[:HEAD_CHARS]).lines[:2000]:
        row = split_row(line) if not _PROPERTY.match(line) else None
        if row is not None and row.word is not None and is_labelled(row, table):
            key = map_rows([row], table).values
            keys += list(key)
    return keys


def _recognize_table(raw: str, table: Table) -> int:
    if is_usage(raw):
        return 0
    keys = _known_rows(raw, table)
    if len(set(keys)) > 1:
        return min(94, 50 + 5 * len(set(keys)))
    return 45 if set(keys) & _TELLING_ALONE else 0


def _recognize_global(raw: str) -> int:
    return 0 if _says_persistent(raw) else _recognize_table(raw, GLOBAL)


def _recognize_persistent(raw: str) -> int:
    return _recognize_table(raw, GLOBAL) if _says_persistent(raw) else 0


def _says_persistent(raw: str) -> bool:
    lines = raw[:HEAD_CHARS].lower().splitlines()[:40]
    return any("persistent" in line and (line.rstrip().endswith("...") or "show" in line) for line in lines)


def _recognize_supplemental(raw: str) -> int:
    score = _recognize_table(raw, SUPPLEMENTAL)
    lines = plain_text(raw[:HEAD_CHARS]).lines[:40]
    if not is_usage(raw) and any(_template_of(line) for line in lines):
        return max(score, 90)
    return score


def _recognize_heuristics(raw: str) -> int:
    if is_usage(raw):
        return 0
    keys = _known_rows(raw, HEURISTICS)
    if not keys or not parse_heuristics(raw[:HEAD_CHARS]).values:
        return 0  # rows that contradict each other are words of some other text
    if "window_scaling_heuristics" in keys:
        return 93
    titled = any(re.search(HEURISTICS_WORDS, line.lower()) for line in raw[:HEAD_CHARS].splitlines()[:40])
    return 88 if titled else 0


def _recognize_chimneystats(raw: str) -> int:
    head = raw[:_CHIMNEY_LIMIT].lower()
    if is_usage(raw) or "tcp chimney" not in head or _known_rows(raw, GLOBAL):
        return 0
    return 85


PARSERS = (
    Parser("netsh-tcp-global", "windows", "netsh interface tcp show global", _recognize_global, parse_global),
    Parser(
        "netsh-tcp-global-persistent",
        "windows",
        "netsh interface tcp show global store=persistent",
        _recognize_persistent,
        parse_persistent,
    ),
    Parser(
        "netsh-tcp-supplemental",
        "windows",
        "netsh interface tcp show supplemental",
        _recognize_supplemental,
        parse_supplemental,
        transcript=True,
    ),
    Parser(
        "netsh-tcp-supplemental-internet",
        "windows",
        "netsh interface tcp show supplemental template=internet",
        lambda _raw: 0,  # without its command it can't be told from the template in use
        parse_internet,
    ),
    Parser(
        "netsh-tcp-heuristics",
        "windows",
        "netsh interface tcp show heuristics",
        _recognize_heuristics,
        parse_heuristics,
    ),
    Parser(
        "netsh-chimneystats",
        "windows",
        "netsh interface tcp show chimneystats",
        _recognize_chimneystats,
        parse_chimneystats,
    ),
)
