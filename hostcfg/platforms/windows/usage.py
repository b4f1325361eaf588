"""netsh's help text, which is full of ``label : value`` look-alikes, told from its tables."""

from __future__ import annotations

from hostcfg.lean import regex

_SYNTAX = regex(r"\[[a-z]{2,40}=\]\s{0,40}(?:<[^<>\n]{1,60}>|[a-z]{2,40}[|\]])")
HEAD_CHARS = 65536
"""How much of a text is looked at to recognize it."""


def is_usage(raw: str) -> bool:
    """Whether ``raw`` holds netsh's syntax lines, as in ``[[rss=]disabled|enabled|default]``.

    A name and what it may be: brackets alone stand in any code, and in random bytes.
    """
    return "=]" in raw[:HEAD_CHARS] and bool(_SYNTAX.search(raw[:HEAD_CHARS]))
