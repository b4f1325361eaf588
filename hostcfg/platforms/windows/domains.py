"""What each row of a netsh table may hold: a value outside its domain is never taken.

The words are netsh's own parameters, which stay English in every language; the ranges are those of
MicrosoftDocs "netsh interface" and of the MSFT_NetTCPSetting class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex

if TYPE_CHECKING:
    from collections.abc import Callable

    Domain = Callable[[str], str | int | None]

LEVELS = ("disabled", "highlyrestricted", "restricted", "normal", "experimental")
"""Autotuning levels, smallest window first."""

PROVIDERS = ("none", "default", "newreno", "ctcp", "dctcp", "ledbat", "cubic", "bbr2")
TEMPLATES = (
    "automatic",
    "internet",
    "internetcustom",
    "datacenter",
    "datacentercustom",
    "compat",
    "custom",
)
PACING = ("off", "initialwindow", "slowstart", "always", "default")

_VALUE = regex(r"(?P<value>[\w.\-]+)\s*(?P<rest>.*)")
_ANNOTATION = regex(r"(?:#|//|;|<|--|=>|->|←|\*|\(|\[)")


def words(*allowed: str) -> Domain:
    """Accepts one of ``allowed`` in any case and returns it in lower case."""
    known = frozenset(allowed)

    def read(raw: str) -> str | None:
        word = raw.lower()
        return word if word in known else None

    return read


def number(low: int, high: int) -> Domain:
    """Accepts a decimal number from ``low`` to ``high``."""

    def read(raw: str) -> int | None:
        if not raw.isascii() or not raw.isdigit() or len(raw) > 10:
            return None
        value = int(raw)
        return value if low <= value <= high else None

    return read


switch = words("enabled", "disabled", "default")


def first_word(cell: str) -> str | None:
    """The value in a cell; None if something follows it that is not set off as a remark.

    >>> first_word("normal   // the default")
    'normal'
    """
    found = _VALUE.fullmatch(cell.strip())
    if found is None or (found["rest"] and not _ANNOTATION.match(found["rest"])):
        return None
    return found["value"]
