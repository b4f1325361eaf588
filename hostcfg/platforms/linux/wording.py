"""How findings put a host's text into one harmless line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms.linux.accepts import kernel_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Facts, Severity

RANK: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}


def shown(value: object) -> str:
    """``value`` in one line of at most 60 printable characters; a host's text may hold anything."""
    text = " ".join(str(value).split())
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= 60 else f"{text[:57]}..."


def joined(names: Sequence[str], most: int = 6) -> str:
    """``a, b, c and 4 more``."""
    text = ", ".join(map(shown, names[:most]))
    return f"{text} and {len(names) - most} more" if len(names) > most else text


def numbers(facts: Facts, key: str, count: int) -> list[int] | None:
    """The integers of a key that was read; None if there are not ``count`` of them."""
    native = facts.native.get(key)
    if native is None or native.raw is None:
        return None
    try:
        value = kernel_value(key, native.raw)
    except ValueError:
        return None
    found = [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, int)]
    return found if len(found) == count else None
