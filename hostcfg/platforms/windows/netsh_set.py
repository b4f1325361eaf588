"""What a ``netsh ... set ...`` printed: its word for success, or an error, in any language.

::

    'chimney' is not a valid argument for this command.
    The syntax supplied for this command is not valid. Check help for the correct syntax.

    Usage: set global [[rss=]disabled|enabled|default]

The exit status is not asked: Windows 11 prints usage and exits 0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.windows.messages import error_kind, is_ok
from hostcfg.platforms.windows.text import plain_text
from hostcfg.platforms.windows.usage import HEAD_CHARS, is_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Json

KIND = "netsh-set"
_MAX_LINES = 40
_ARGUMENT = regex(
    "^['\"\u2018\u201c\u201e\u00ab\u2039\u300c]\\s*(?P<name>[\\w.=\\-]{1,60}?)\\s*['\"\u2019\u201d\u201c\u00bb\u203a\u300d]"
)
_OF_UNIX = regex(r"\s*(?:[$#%] |-?(?:[a-z]+\[\d+\]|[a-z/][\w/.+-]{0,60}): |[\w-]+(?:\.[\w/-]+)+\s?[=:])")
"""A program that names itself before its message (``sysctl: permission denied``), a prompt, a setting."""
_VALUE_OF = regex(r"is not an acceptable value for ['\"](?P<name>\w{1,60})['\"]", re.IGNORECASE)


def parse_set(raw: str) -> Parsed:
    """``result`` ok or error; with ``error_kind`` and, where the text says it, ``invalid_argument``."""
    text = plain_text(raw[:HEAD_CHARS])
    lines = [line.strip() for line in text.lines if line.strip()]
    command = text.command or "netsh ... set ..."
    values: dict[str, Json] = {}
    rest: Sequence[str] = ()
    notes: list[str] = []
    if is_usage(raw):
        values, notes = _of_usage(lines)
    elif lines and len(lines) <= _MAX_LINES:
        values, rest, notes = _of_lines(lines)
    else:
        rest = lines
    beyond = raw[HEAD_CHARS:].splitlines()
    return Parsed("windows", KIND, command, values, notes, (*rest, *beyond))


def _of_usage(lines: Sequence[str]) -> tuple[dict[str, Json], list[str]]:
    """A refused argument, as its first line says, or a call for help that set nothing."""
    first = lines[0]
    named = _VALUE_OF.search(first) or _ARGUMENT.match(first)
    values: dict[str, Json] = {"result": "error", "error_kind": "invalid_syntax"}
    if named is not None:
        values = {"result": "error", "error_kind": "invalid_argument", "invalid_argument": named["name"]}
    elif error_kind(first) == "invalid_argument":
        values["error_kind"] = "invalid_argument"
    return values, ["netsh printed its usage: nothing was set, whatever the exit status was"]


def _of_lines(lines: Sequence[str]) -> tuple[dict[str, Json], list[str], list[str]]:
    bad = [line for line in lines if not is_ok(line)]
    if not bad:
        return {"result": "ok"}, [], []
    said = " ".join(bad)
    kind = error_kind(said)
    if kind is None:
        return {}, list(lines), []
    values: dict[str, Json] = {"result": "error", "error_kind": kind}
    named = _VALUE_OF.search(said) or (_ARGUMENT.match(bad[0]) if kind == "invalid_argument" else None)
    if named is not None:
        values["invalid_argument"] = named["name"]
    return values, [], [said]


def _recognize(raw: str) -> int:
    if is_usage(raw):
        return 90
    lines = [line for line in plain_text(raw[:8192]).lines if line.strip()][: _MAX_LINES + 1]
    if not lines or len(lines) > _MAX_LINES or len(raw) > HEAD_CHARS:
        return 0
    if all(is_ok(line) for line in lines):
        return 75
    if "set-net" in raw.lower() or "categoryinfo" in raw.lower() or any(map(_OF_UNIX.match, lines)):
        return 0
    return 65 if len(lines) <= 6 and error_kind(" ".join(lines)) is not None else 0


PARSERS = (Parser(KIND, "windows", "netsh ... set ...", _recognize, parse_set),)
