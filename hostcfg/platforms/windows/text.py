"""Lines of console output as people paste them, made plain: no values are decided here.

A mail or a log adds quoted-printable, prompts, a prefix on every line; a localized console adds
no-break spaces before its colons and full-width colons.
"""

from __future__ import annotations

import quopri
import re

from hostcfg.lean import dataclass, regex

MAX_LINES = 5000
"""More lines than any output has that is read here; a longer text is searched for nothing."""
MAX_MAIL_CHARS = 1_000_000

_SPACES = dict.fromkeys(map(ord, "\u00a0\u202f\u2007\u3000\t\u000b\u000c"), " ")
_COLONS = dict.fromkeys(map(ord, "\uff1a\ufe55\ufe13"), ":")
_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200e\u200f\u202a\u202b\u202c\u00ad"), None)
_PLAIN = {**_SPACES, **_COLONS, **_INVISIBLE}

_SOFT_BREAK = regex(r"(?m)(?:=20|=09|[^\s\]=]=|[^\S\n]=)$")
_LOG_PREFIX = regex(r"\s*[\w.\-/\[\]]{1,40}:(?=\s|$)")
_PROMPT = regex(
    r"\s*(?:\[\w+\]: )?(?:PS )?(?:[A-Za-z]:\\[^>:*?\"<|]{0,200}|netsh[^>]{0,60})?>(?P<command>.*)"
)
_COMMAND = regex(
    r"\s*(?:[$#>] ?)?(?P<command>(?:netsh(?:\.exe)? |(?:get|set)-net\w+\b(?!\s*:)).*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Text:
    """``lines`` without prompts and prefixes; ``command`` is what a prompt line says was typed."""

    lines: tuple[str, ...]
    command: str | None
    ended: bool  # a blank or a line end stands after the last word: no letter of it can be lost
    closed: bool  # the last line has its line end: nothing can be lost of it


def plain_text(text: str) -> Text:
    """Lines of ``text`` with plain blanks and colons, right-stripped; blank lines stay as ``""``."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _quoted_printable(text).translate(_PLAIN)
    rows = _without_prefix(text.split("\n"))
    command = None
    kept = []
    for row in rows:
        typed = _PROMPT.match(row) or _COMMAND.fullmatch(row)
        if typed is None:
            kept.append("" if row.strip() == "NULL" else row.rstrip())  # xp_cmdshell's empty line
        elif typed["command"].strip():
            command = typed["command"].strip()
    return Text(tuple(kept), command, text.endswith(("\n", " ")), text.endswith("\n"))


def _quoted_printable(text: str) -> str:
    """A quoted-printable mail body decoded; anything else as it is."""
    if len(text) > MAX_MAIL_CHARS or not _SOFT_BREAK.search(text):
        return text
    return quopri.decodestring(text.encode()).decode("utf-8", errors="replace")


def _without_prefix(rows: list[str]) -> list[str]:
    """``rows`` without a log prefix like ``vhd: `` where every line has it."""
    filled = [row for row in rows if row.strip()]
    if len(filled) < 3:
        return rows
    found = _LOG_PREFIX.match(filled[0] + " ")
    if found is None or not all(row.startswith(found[0]) for row in filled):
        return rows
    return [row[found.end() :] for row in rows]


def is_rule(line: str) -> bool:
    """A line of dashes under a title (also the broken one of a table's columns)."""
    return bool(line.strip()) and not line.strip("- ")


def is_typed(line: str) -> bool:
    """A prompt with the command after it, or the command alone."""
    return bool(_PROMPT.match(line) or _COMMAND.fullmatch(line))
