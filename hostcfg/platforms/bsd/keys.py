"""How native keys of the BSD family carry neutral settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms.base import Key
from hostcfg.platforms.bsd.sockbuf import maxsockbuf_for, usable
from hostcfg.platforms.bsd.tables import parse_available
from hostcfg.platforms.bsd.values import parse_int, parse_words

if TYPE_CHECKING:
    from hostcfg.model import Value


def integer(raw: str) -> int:
    """The integer in ``raw``; ValueError if it is none."""
    number = parse_int(raw)
    if number is None:
        raise ValueError(f"{raw[:60]!r} is no integer")
    return number


def whole(value: Value) -> int:
    """``value`` as the whole number that a native key takes; ValueError for text."""
    if isinstance(value, (str, tuple)):
        raise ValueError(f"{value!r} is no number")
    return int(value)


def int_key(name: str, *, writable: bool = True) -> Key:
    """A key that is the setting."""
    return Key(name, integer, (lambda _raw, value: str(whole(value))) if writable else None)


def flag_key(name: str) -> Key:
    """A key that is off at 0 and on at anything else."""
    return Key(name, lambda raw: integer(raw) != 0, lambda _raw, value: "1" if value else "0")


def word_key(name: str) -> Key:
    """A key that is one word."""
    return Key(name, _word, lambda _raw, value: str(value))


def _word(raw: str) -> str:
    words = parse_words(raw)
    if words is None or len(words) != 1:
        raise ValueError(f"{raw[:60]!r} is no single word")
    return words[0]


def words_key(name: str) -> Key:
    """A list of what is available: one line, or a table; never written."""
    return Key(name, _words, None)


def _words(raw: str) -> tuple[str, ...]:
    table = parse_available(raw.splitlines())
    words = table.names if table is not None else parse_words(raw)
    if not words:
        raise ValueError(f"{raw[:60]!r} is no list of names")
    return tuple(words)


def explicit_key(name: str) -> Key:
    """The largest SO_RCVBUF and SO_SNDBUF: 8/9 of maxsockbuf (sys/kern/uipc_sockbuf.c)."""
    return Key(name, lambda raw: usable(integer(raw)), lambda _raw, value: str(maxsockbuf_for(whole(value))))
