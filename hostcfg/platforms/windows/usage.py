"""netsh's help text, which is full of ``label : value`` look-alikes, told from its tables."""

from __future__ import annotations

from hostcfg.lean import regex

_SYNTAX = regex(r"\[\[?\w+=\]|\]\s*\[\[|=\][\w<\[]+(?:\|[\w<\[]+)+")
HEAD_CHARS = 65536
"""How much of a text is looked at to recognize it."""


def is_usage(raw: str) -> bool:
    """Whether ``raw`` holds netsh's syntax lines, as in ``[[rss=]disabled|enabled|default]``."""
    return "=]" in raw[:HEAD_CHARS] and bool(_SYNTAX.search(raw[:HEAD_CHARS]))
