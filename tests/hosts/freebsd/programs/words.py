"""How sysctl(8) reads numbers and lines of its files."""

from __future__ import annotations

from tests.hosts.freebsd.programs.kernel import unsigned

SPACE = " \t\n\v\f\r"
"""isspace(3)."""


def number_of(word: str, kind: str) -> int | None:
    """strtol(3) or strtoul(3), base 0; None where that is no number or does not fit 64 bits."""
    text = word.lstrip(SPACE)
    sign = -1 if text.startswith("-") else 1
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isascii() or not digits.isalnum():
        return None
    try:
        octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
        number = int(digits, 8 if octal else 0)
    except ValueError:
        return None
    limit = 2**64 if unsigned(kind) else 2**63
    return sign * number if number < limit else None


def without_comment(line: str) -> str:
    """The text before a ``#`` that no backslash escapes and no quote holds."""
    start = 0
    first = min((line.index(quote) for quote in "'\"" if quote in line), default=len(line))
    while (at := line.find("#", start)) >= 0:
        if at > first:
            close = line.find(line[first], first + 1)
            return line[: close + 1] if close >= 0 else line
        if at == 0 or line[at - 1] != "\\":
            return line[:at]
        start = at + 1
    return line
