"""Native keys of a BSD kernel and the types of their values.

The type comes from a table of keys, never from how a value looks: a key that no table knows stays
plain text, and a value that has not its key's form is no value at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass, regex

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Mapping

    from hostcfg.model import Json

KeyType = Literal["int", "ints", "word", "words", "names", "text"]
"""``words`` are separated by commas, ``names`` by blanks."""
When = Literal["runtime", "increase", "loader", "read"]
Scope = Literal["vnet", "global"]

_TOP_LEVELS = (
    *("kern", "vm", "vfs", "debug", "hw", "machdep", "user", "p1003_1b", "compat", "dev"),
    *("kstat", "proc", "emul", "ddb", "audit", "ktrace", "iogpu", "kperf", "iokit", "apfs", "jail", "lwkt"),
    "sysctl",
    r"net(?!\.(?:ipv[46]|core|netfilter)\.)",  # Linux's
    r"security(?=\.(?:bsd|jail|mac(?:_\w+)?|pax|models|curtain|sadvise|codesigning)\.)",  # not Java's
)

OID = rf"(?:{'|'.join(_TOP_LEVELS)})(?:\.[A-Za-z0-9_%][\w%+@,-]*)+\.?"
"""A name of sysctl(8): a known first level, then at least one more (``dev.em.0.%desc``)."""

_INTEGER = regex(r"([+-]?)(0[xX][0-9A-Fa-f]{1,32}|0[0-7]{0,40}|[1-9][0-9]{0,30})")
_PRINTED = regex(r"(-?)(0x[0-9a-f]{1,32}|0|[1-9][0-9]{0,30})")
_WORD = regex(r"[A-Za-z0-9_+-]+")


@dataclass(frozen=True, slots=True)
class NativeKey:
    """One native key: ``type`` of its value, ``when`` it can be changed, and for which ``scope``.

    ``when``: at run time; at run time and upwards only; in the loader only; never.
    ``scope`` ``vnet``: each network stack (VNET jail) has its own.
    """

    name: str
    type: KeyType
    meaning: str
    when: When = "runtime"
    scope: Scope = "vnet"


Table = dict[str, NativeKey]


def table(rows: Iterable[NativeKey]) -> Table:
    """The rows by name."""
    return {row.name: row for row in rows}


def parse_int(text: str) -> int | None:
    """An integer as sysctl(8) takes it (strtol, base 0): decimal, ``0x`` hex, ``0`` octal; or None."""
    return _number(text, _INTEGER)


def parse_printed_int(text: str) -> int | None:
    """An integer as sysctl(8) prints it: decimal, or ``0x`` hex with ``-x``; never octal."""
    return _number(text, _PRINTED)


def _number(text: str, form: re.Pattern[str]) -> int | None:
    match = form.fullmatch(text.strip()) if len(text) < 128 else None
    if match is None:
        return None
    sign, digits = match.groups()
    octal = len(digits) > 1 and digits.startswith("0") and digits[1] not in "xX"
    number = int(digits, 8) if octal else int(digits, 0)
    return -number if sign == "-" else number


def parse_words(text: str, separator: str = ",") -> list[str] | None:
    """``newreno, cubic`` as a list; None if something in it is no name.

    ``separator`` " " is NetBSD's: ``reno newreno cubic``.  The two are not mixed: the head of a table,
    ``CCmod D PCB count``, is no list of FreeBSD's.
    """
    words = [word.strip() for word in (text.split(separator) if separator != " " else text.split())]
    if not words or not all(_WORD.fullmatch(word) and not word.isdecimal() for word in words):
        return None
    return words


def typed(
    keys: Mapping[str, NativeKey],
    name: str,
    raw: str,
    integer: Callable[[str], int | None] = parse_printed_int,
) -> tuple[bool, Json]:
    """Whether ``raw`` has the form of its key, and the value in the key's type.

    A key that ``keys`` does not hold takes any text.  Tables (``words`` of several lines) are read
    by :mod:`hostcfg.platforms.bsd.tables` and have not the form of a list here.
    """
    key = keys.get(name)
    if key is None or key.type == "text":
        return True, raw
    if key.type == "int":
        number = integer(raw)
        return number is not None, number
    if key.type == "ints":
        numbers = [integer(part) for part in raw.split()]
        return bool(numbers) and None not in numbers, raw.strip()
    separator = " " if key.type == "names" else ","
    words = parse_words(raw.strip(), separator) if "\n" not in raw else None
    if key.type == "word":
        return words is not None and len(words) == 1, raw.strip()
    return words is not None, list(words or [])
