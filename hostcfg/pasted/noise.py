"""What stands around a command's output once people and programs have passed it on: taken off.

Quoting marks of mails (``> ``, ``| ``), log and timestamp prefixes, line numbers, host names of
parallel shells, JSON strings of Ansible, escape sequences of terminals.  A prefix that output itself
could have is taken off only where most lines have it.
"""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.pasted.decoding import unquote_printable

if TYPE_CHECKING:
    from collections.abc import Sequence

_ESCAPES = regex(r"\x1b(?:\[[0-9;?]{0,32}[A-Za-z]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)|[()][0-9A-Z])")
_TAGS = regex(r"</?(?:pre|code|samp|tt|br|p|div|span|font|b|i)\b[^<>\n]{0,200}>", re.IGNORECASE)
_FENCE = regex(r"^[ \t]{0,8}(?:```|~~~)[\w-]{0,20}[ \t]{0,8}$", re.MULTILINE)
_ENTITIES = regex(r"&(?:gt|lt|amp|quot|nbsp|#39);")
_CONTROLS = str.maketrans(
    {"\x00": "\ufffd", "\u00a0": " ", "\u200b": "", "\ufeff": "", "\x0c": "\n", "\x0b": "\n"}
)
_LINE_ENDS = regex(r"\r+\n|\r|\u2028|\u0085")

_MANY_BLANKS = regex(r"\n{4,}")

_ANY_QUOTE = regex(r"^[ ]{0,3}[>|\u2502]", re.MULTILINE)
_MAIL_QUOTE = regex(r"(?:[ ]{0,3}>[ ]?){1,12}")
_BAR_QUOTE = regex(r"(?:[ ]{0,3}[|\u2502][ ]?){1,4}(?!.*\|\s{0,8}$)")

_TIME = r"[0-2]?[0-9]:[0-5][0-9](?::[0-6][0-9])?(?:[.,][0-9]{1,9})?"
_DATE = r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}"
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
_LEVELS = "DEBUG|INFO|NOTICE|WARN|WARNING|ERROR"
_LEVEL = rf"(?:(?:{_LEVELS}|{_LEVELS.lower()})[:\]]?\s{{1,4}}(?:[-:]\s{{0,2}})?)?"
_HOST = r"[\w.-]{1,64}\s"
_SETTING = (
    r"(?:(?:kern|net|vm|hw|dev|vfs|debug|machdep|security|kernel|fs|user)\.|(?:sysctl|netstat|ipadm): )"
)
_PROGRAM = rf"(?!{_SETTING})" + r"[\w./-]{1,64}(?:\[[0-9]{1,9}\])?:\s{1,2}"
_PREFIXES = tuple(
    regex(pattern)
    for pattern in (
        # 2024-05-01T12:00:00.123Z host prog[12]: ...      [2024-05-01 12:00:00] INFO: ...
        rf"\s{{0,8}}[\[(]?{_DATE}[T ]{_TIME}{_ZONE}[\])]?[:,]?\s{{1,4}}(?:{_HOST}{_PROGRAM})?{_LEVEL}",
        # Nov 30 14:35:01 host prog[12]: ...
        rf"\s{{0,8}}(?:<[0-9]{{1,3}}>)?[A-Z][a-z]{{2}}\s{{1,2}}[0-9]{{1,2}}\s{_TIME}\s(?:{_HOST})?(?:{_PROGRAM})?{_LEVEL}",
        # [12:00:01] ...   12:00:01.123 ...   (12:00) ...
        rf"\s{{0,8}}[\[(]{_TIME}[\])]\s{{1,4}}{_LEVEL}",
        rf"\s{{0,8}}{_TIME}(?:\s[AP]M)?(?:\s?[:,|])?\s{{1,4}}{_LEVEL}",
        # [   12.345678] ...    <118>...
        r"\[\s{0,8}[0-9]{1,9}\.[0-9]{3,6}\]\s?",
        r"<[0-9]{1,3}>(?=\S)",
        # INFO: ...    [INFO] ...    [host1] out: ... (fabric)
        rf"\[(?:{_LEVELS}|stdout|stderr|out|err)\]:?\s{{1,4}}",
        rf"(?:{_LEVELS}|STDOUT|STDERR|stdout|stderr|remote|out)\s?[:|>]\s{{1,4}}",
        r"\[[\w.@-]{1,64}\]\s(?:out|err):\s",
    )
)
_HOST_PREFIX = regex(r"(?P<host>[A-Za-z0-9][\w.@-]{0,63})(?P<mark>: | \| |\| )")
_NUMBER = regex(
    r"\s{0,8}(?:L|#|\[)?(?P<number>[0-9]{1,7})"
    r"(?:[.:)\]](?!\s\S{1,64}:\s<)\s{0,4}|\s{0,2}[|\u2502]\s{0,2}|\t|(?P<blank>\s{1,4})(?=[A-Za-z#/]))"
)
_JSON_STRING = regex(r'\s{0,64}"(?P<text>(?:[^"\\]|\\.){0,8000})",?\s{0,8}')
_BULLET = regex(r"\s{0,8}(?:[*\u2022\u25cf\u25aa-]|\u00b7)\s{1,3}(?=\S)")
_NO_HOST = regex(_SETTING)
_VALUE = regex(r"\s*[^\s:=]+\s*")
_MOST = 0.6


def normalize(text: str) -> str:
    """One line end; no escape sequences, quoted-printable, HTML or Markdown fences; NUL becomes U+FFFD."""
    if "=" in text and text.isascii():
        text = unquote_printable(text.encode("ascii")).decode("utf-8", errors="replace")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "</" in text or "<br" in text:
        text = _TAGS.sub("", text)
    if "&" in text and _ENTITIES.search(text):
        text = html.unescape(text)
    text = _FENCE.sub("", _LINE_ENDS.sub("\n", text).translate(_CONTROLS))
    return _MANY_BLANKS.sub("\n\n\n", text)


def strip_noise(text: str) -> list[str]:
    """The lines of ``text`` without what others put in front of them; never raises, linear in time."""
    lines = normalize(text).split("\n")
    if _ANY_QUOTE.search(text):
        lines = [_unquote(line) for line in lines]
    for _ in range(4):
        cleaned = _strip_once(lines)
        if cleaned == lines:
            return lines
        lines = cleaned
    return lines


def _unquote(line: str) -> str:
    """Without the quoting marks of mails; a Markdown row, which ends in a bar too, keeps its own."""
    quoted = _MAIL_QUOTE.match(line)
    if quoted is not None:
        line = line[quoted.end() :]
    bar = _BAR_QUOTE.match(line) if len(line) < 8192 else None
    return line[bar.end() :] if bar is not None and "|" not in line[bar.end() :] else line


def _strip_once(lines: list[str]) -> list[str]:
    """The first kind of prefix that most lines have, taken off."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return lines
    for prefix in _PREFIXES:
        if _share(prefix, filled) >= _MOST:
            return [_without(prefix, line) for line in lines]
    for strip in (_strip_numbers, _strip_hosts, _strip_json, _strip_bullets):
        stripped = strip(lines, filled)
        if stripped is not None:
            return stripped
    return lines


def _share(prefix: re.Pattern[str], filled: Sequence[str]) -> float:
    """Share of the lines that begin with ``prefix``; the first thousand speak for all."""
    sample = filled[:1000]
    return sum(1 for line in sample if prefix.match(line)) / len(sample)


def _without(prefix: re.Pattern[str], line: str) -> str:
    match = prefix.match(line)
    return line[match.end() :] if match is not None else line


def _strip_numbers(lines: list[str], filled: Sequence[str]) -> list[str] | None:
    """Line numbers: they count up by one, which counters of an output do not."""
    found = [_NUMBER.match(line) for line in filled[:1000]]
    numbers = [int(match["number"]) for match in found if match is not None]
    blank = any(match is not None and match["blank"] for match in found)
    if len(numbers) < (5 if blank else 3) or len(numbers) < 0.8 * len(found):
        return None
    steps = [b - a for a, b in pairwise(numbers)]
    if sum(1 for step in steps if step == 1) < 0.7 * len(steps) or any(step <= 0 for step in steps):
        return None
    return [_without(_NUMBER, line) for line in lines]


def _strip_hosts(lines: list[str], filled: Sequence[str]) -> list[str] | None:
    """``host1: `` of a parallel shell: the same word before most lines, and no first part of a sysctl."""
    if len(filled) < 2:
        return None
    words: dict[str, int] = {}
    for line in filled[:1000]:
        match = _HOST_PREFIX.match(line)
        if match is not None:
            words[match[0]] = words.get(match[0], 0) + 1
    if not words:
        return None
    prefix, count = max(words.items(), key=lambda item: item[1])
    if count < 2 or count < 0.8 * len(filled[:1000]) or _NO_HOST.match(prefix):
        return None
    bare = [line.removeprefix(prefix) for line in filled[:1000]]
    if sum(_VALUE.fullmatch(line) is not None for line in bare) > len(bare) // 2:
        return None  # values: what is in front of them is their name
    return [line.removeprefix(prefix) for line in lines]


def _strip_json(lines: list[str], filled: Sequence[str]) -> list[str] | None:
    """Lines as JSON strings, as Ansible prints ``stdout_lines``."""
    if _share(_JSON_STRING, filled) < _MOST:
        return None
    sample = [_JSON_STRING.fullmatch(line) for line in filled[:1000]]
    if sum(match is not None for match in sample) < _MOST * len(sample):
        return None
    return [_json_text(line) for line in lines]


def _json_text(line: str) -> str:
    match = _JSON_STRING.fullmatch(line)
    if match is None:
        return line
    return match["text"].replace('\\"', '"').replace("\\t", "\t").replace("\\\\", "\\")


def _strip_bullets(lines: list[str], filled: Sequence[str]) -> list[str] | None:
    return [_without(_BULLET, line) for line in lines] if _share(_BULLET, filled) >= 0.9 else None
