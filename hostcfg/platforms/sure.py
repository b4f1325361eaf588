"""Texts that can be nothing but one system's settings: most of what is pasted, and quickly told.

Asking all parsers takes longer than everything else that is done with a short text.  A folder whose
settings have names of their own says in its file ``sure.py``, as ``sure_of(text)``, which parsers can know
a text at all; where it can't be sure it says None.  Nothing else may come of it than of asking them all.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from hostcfg.lean import regex

if TYPE_CHECKING:
    import re

Kind = Literal["own", "shared", "said", "call", "blank"]

_SETTING = regex(r"(?P<name>[a-z]\w{0,40}[./][\w./:*@%+-]{1,200}) ?(?P<separator>[:=])(?P<value>\s.*|\S.*|)")
_CALL = regex(
    r"(?:\S{1,100} ?[$#%]|\$) ?(?:sudo |doas )?(?:/\w{1,10}){0,3}/?(?:sysctl|uname)\b[^\n;&`]{0,300}"
)

"""A prompt and a call; behind a lone ``#`` it could be a comment."""


class Sure(NamedTuple):
    """Whose parsers can know a text: of these folders, and of these kinds (None: any of theirs)."""

    folders: tuple[str, ...]
    kinds: frozenset[str] | None = None


class Signs(NamedTuple):
    """What tells a system's settings from those of all others.

    Names begin with one of ``own``, which no system outside of the folders has, or ``shared``, which others
    have too, but not with ``foreign``.  ``separators`` stand between a name and its ``value``.  ``says`` is
    what sysctl prints beside values, ``unames`` what ``uname -s`` prints.
    """

    own: tuple[str, ...]
    shared: tuple[str, ...]
    foreign: tuple[str, ...]
    separators: str
    value: re.Pattern[str]
    says: re.Pattern[str]
    unames: frozenset[str]


def holds_only(text: str, signs: Signs) -> bool:
    """Whether every line of ``text`` is a setting, what sysctl says, a call of it, or ``uname -a``.

    Of the settings after each call and in each paragraph, which are judged by themselves, half at least are
    the system's ``own``: ``vm.swappiness = 60`` alone could be another's.
    """
    parts: list[Counter[Kind]] = [Counter()]
    for line in text.split("\n"):
        kind = _kind_of(line.strip(" \t\r"), signs)
        if kind is None:
            return False
        if kind == "call" or (kind == "blank" and parts[-1].keys() - {"call"}):
            parts.append(Counter())
        if kind != "blank":
            parts[-1][kind] += 1
    filled = [part for part in parts if part]
    return bool(filled) and all(0 < part["own"] >= part["shared"] for part in filled)


def _kind_of(line: str, signs: Signs) -> Kind | None:
    found = _SETTING.fullmatch(line)
    if found is None:
        return _kind_beside(line, signs)
    if found["separator"] not in signs.separators or not signs.value.fullmatch(found["value"].strip()):
        return None
    if found["name"].startswith(signs.own):
        return "own"
    is_shared = found["name"].startswith(signs.shared) and not found["name"].startswith(signs.foreign)
    return "shared" if is_shared else None


def _kind_beside(line: str, signs: Signs) -> Kind | None:
    """What a line is that is no setting."""
    if not line:
        return "blank"
    words = line.split(maxsplit=3)
    if len(words) > 2 and words[0] in signs.unames and words[2][0].isdecimal():
        return "own"
    if any(name in line for name in signs.foreign):
        return None
    if _CALL.fullmatch(line):
        return "call"
    return "said" if signs.says.fullmatch(line) else None
