"""Host patterns of inventories: ``db[01:50].example.org:2222`` -> names and a port.  Pure.

As Ansible's lib/ansible/parsing/utils/addresses.py and plugins/inventory/__init__.py read them: both
ends of a range belong to it, a leading zero in its beginning keeps the width, a third number is the
step, and several ranges multiply.
"""

from __future__ import annotations

import ipaddress
import re
import string

from hostcfg.lean import dataclass, regex

MOST_HOSTS = 100_000
"""Names that one pattern may stand for; a slip such as [1:99999999] is told and not tried."""

RANGE = regex(r"\[([0-9A-Za-z]*):([0-9A-Za-z]*)(?::([0-9]+))?\]")
_PORT = regex(r"(.*):([0-9]{1,5})", re.DOTALL)
_LETTERS = string.ascii_letters


@dataclass(frozen=True, slots=True)
class HostPattern:
    """The names that a pattern stands for, in order, and the port it gives (None: none)."""

    names: list[str]
    port: int | None = None


def parse_pattern(text: str) -> HostPattern:
    """ValueError that says what is wrong with the pattern.

    >>> parse_pattern("www[01:03].example.org").names
    ['www01.example.org', 'www02.example.org', 'www03.example.org']
    >>> parse_pattern("badwolf.example.com:5309")
    HostPattern(names=['badwolf.example.com'], port=5309)
    """
    host, port = _split_port(text)
    names = _expand(host)
    for name in names:
        check_name(name)
    return HostPattern(names, port)


def check_name(name: str) -> None:
    """ValueError for a name that is none: empty, like an option, or with blanks or control characters."""
    if not name:
        raise ValueError("a host without a name")
    if name.startswith("-"):
        raise ValueError(f"{name[:60]!r}: a host's name can't begin with '-'")
    if any(c.isspace() or not c.isprintable() for c in name):
        raise ValueError(f"{name[:60]!r}: a host's name has no blanks and no control characters")
    if len(name) > 1000:
        raise ValueError(f"{name[:40]!r}...: a host's name is not as long as that")


def _split_port(text: str) -> tuple[str, int | None]:
    """Host and port; an IPv6 address has a port only in brackets."""
    if _is_ipv6(text):
        return text, None
    if text.startswith("[") and "]" in text:
        inner, _, rest = text[1:].partition("]")
        if _is_ipv6(inner):
            return inner, _port(rest[1:], text) if rest.startswith(":") else None
    found = _PORT.fullmatch(text)
    if found is None or found[1].endswith(":") or found[1].count("[") != found[1].count("]"):
        return text, None
    return found[1], _port(found[2], text)


def _port(digits: str, text: str) -> int:
    if digits.isascii() and digits.isdigit() and 1 <= int(digits) <= 65535:
        return int(digits)
    raise ValueError(f"{text[:60]!r}: a port is a number from 1 to 65535")


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _expand(pattern: str) -> list[str]:
    """Every name of a pattern; the last range runs fastest."""
    names = [""]
    end = 0
    for found in RANGE.finditer(pattern):
        words = _words(found)
        before = pattern[end : found.start()]
        if len(names) * len(words) > MOST_HOSTS:
            raise ValueError(f"{pattern[:60]!r} stands for more than {MOST_HOSTS} hosts")
        names = [name + before + word for name in names for word in words]
        end = found.end()
    rest = pattern[end:]
    if "[" in rest or "]" in rest:
        raise ValueError(f"{pattern[:60]!r}: a range is written [01:50], [1:50:2] or [a:f]")
    return [name + rest for name in names]


def _words(found: re.Match[str]) -> list[str]:
    begin, end, step = found[1] or "0", found[2], int(found[3] or 1)
    shown = found[0][:60]
    if not end:
        raise ValueError(f"{shown!r}: the range has no end")
    if step < 1:
        raise ValueError(f"{shown!r}: the step is at least 1")
    if begin.isdecimal() and end.isdecimal():
        return _numbers(begin, end, step, shown)
    if len(begin) != 1 or len(end) != 1 or begin not in _LETTERS or end not in _LETTERS:
        raise ValueError(f"{shown!r}: a range goes from number to number or from letter to letter")
    first, last = _LETTERS.index(begin), _LETTERS.index(end)
    if first > last:
        raise ValueError(f"{shown!r}: the range ends before it begins")
    return list(_LETTERS[first : last + 1 : step])


def _numbers(begin: str, end: str, step: int, shown: str) -> list[str]:
    width = len(begin) if begin.startswith("0") and len(begin) > 1 else 0
    if width and len(end) != width:
        raise ValueError(f"{shown!r}: with a leading zero both ends have the same number of digits")
    first, last = int(begin[:12]), int(end[:12])
    if first > last:
        raise ValueError(f"{shown!r}: the range ends before it begins")
    if (last - first) // step >= MOST_HOSTS:
        raise ValueError(f"{shown!r} stands for more than {MOST_HOSTS} hosts")
    return [str(number).zfill(width) for number in range(first, last + 1, step)]
