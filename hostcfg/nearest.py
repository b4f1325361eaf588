"""The nearest known name, for every error that says "unknown"."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that ``word`` is most likely a slip of; None where none is close.

    Case, dashes and blanks don't count.  The work is bounded: the longest names have 64 characters.
    """
    from difflib import get_close_matches  # 2 ms that only an error pays

    by_plain = {_plain(name): name for name in known}
    found = get_close_matches(_plain(word[:64]), by_plain, n=1, cutoff=0.6)
    return by_plain[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'wan'?`` or, with no name close, ``; known are default, lan, wan``."""
    names = sorted(set(known))
    close = nearest(word, names)
    if close is not None:
        return f"; did you mean {close!r}?"
    shown = ", ".join(names[:12]) + (" ..." if len(names) > 12 else "")
    return f"; known are {shown}" if names else ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
