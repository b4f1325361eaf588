"""Text from a host, made fit for one line of a message."""

from __future__ import annotations


def printable(text: str, limit: int = 200) -> str:
    """``text`` in one line of at most ``limit`` characters, without what would command a terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[: limit * 4]).split())[:limit]
