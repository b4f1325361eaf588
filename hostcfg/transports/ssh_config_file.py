"""The lines of an ssh_config(5) file: text -> keyword and words."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

from hostcfg.errors import InputError
from hostcfg.files import opened, read_bounded, unix_lines
from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WHOLE_LINE = frozenset(["proxycommand", "localcommand", "remotecommand", "knownhostscommand"])
"""Keywords whose value is the rest of the line: quotes and ``#`` belong to it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One assignment: ``keyword`` in lower case, ``words`` without quotes and comments."""

    keyword: str
    words: tuple[str, ...]
    path: str
    number: int

    @property
    def text(self) -> str:
        """The value as one text."""
        return " ".join(self.words)

    def error(self, message: str) -> InputError:
        """What is wrong with this line."""
        return InputError(f"{self.keyword} {self.text!r}: {message}", path=self.path, line=self.number)


def parse_file(path: Path, *, must_exist: bool) -> Iterator[Line]:
    """The assignments of one file; InputError where ssh would refuse the file or a line of it."""
    try:
        with opened(path) as file:
            _check_owner(path, os.fstat(file.fileno()))
            text = read_bounded(file, str(path)).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        if must_exist:
            raise InputError("no such file", path=str(path)) from None
        return
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", path=str(path)) from None
    for number, raw in enumerate(unix_lines(text).split("\n"), 1):
        stripped = raw.strip()
        if stripped and not stripped.startswith("#"):
            yield _parse_line(stripped, str(path), number)


def _parse_line(text: str, path: str, number: int) -> Line:
    """``Port 2222 # why``, ``Port=2222`` or ``Host "a b" c`` as a Line."""
    end = next((i for i, c in enumerate(text) if c in ' \t="'), len(text))
    keyword, rest = text[:end].lower(), text[end:].lstrip(" \t")
    rest = rest[1:].lstrip(" \t") if rest.startswith("=") else rest
    line = Line(keyword, (rest,), path, number)
    if not keyword.isalnum() or not rest:
        raise line.error("is no ssh_config line; a keyword and a value were expected")
    if keyword in _WHOLE_LINE:
        return line
    return Line(keyword, tuple(_split(rest, line)), path, number)


def _split(text: str, line: Line) -> Iterator[str]:
    """Words as OpenSSH's argv_split() makes them: quotes, backslash escapes, a comment ends the line."""
    word: str | None = None
    quote = ""
    chars = iter(range(len(text)))
    for i in chars:
        char, following = text[i], text[i + 1 : i + 2]
        if char == "\\" and (following in ("'", '"', "\\") or (following == " " and not quote)):
            word = (word or "") + following
            next(chars)
        elif quote:
            word, quote = (word, "") if char == quote else ((word or "") + char, quote)
        elif char in "'\"":
            word, quote = word or "", char
        elif char in " \t":
            if word is not None:
                yield word
            word = None
        elif char == "#" and word is None:
            return
        else:
            word = (word or "") + char
    if quote:
        raise line.error("a quote is not closed")
    if word is not None:
        yield word


def _check_owner(path: Path, info: os.stat_result) -> None:
    """Refuse what ssh refuses: a file that others can write could name a ProxyCommand."""
    if sys.platform != "win32" and (
        info.st_uid not in (0, os.getuid()) or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        raise InputError(
            "bad owner or permissions: only you or root may own it and be able to write it", path=str(path)
        )
