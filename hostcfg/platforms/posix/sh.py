"""Text and bytes as POSIX sh source that means exactly these bytes."""

from __future__ import annotations

from shlex import quote as _quote

from hostcfg.errors import ChangeRefused

_PLAIN = frozenset(
    b'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-+=.,:;/@#()[]{}<>!?*|&~^$`"\n\t'
)


def quote(text: str) -> str:
    """``text`` as one sh word; ChangeRefused for a NUL or an unpaired surrogate, which no sh can hold."""
    if "\0" in text:
        raise ChangeRefused(f"a value or name holds a NUL byte: {text[:40]!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ChangeRefused(f"a value or name is no text: {text[:40]!r}") from None
    return _quote(text)


def print_bytes(data: bytes) -> str:
    """An sh command that prints exactly ``data``, whatever bytes it holds (printf(1), XCU).

    Octal escapes have three digits, so that a digit after one can't join it.
    """
    lines = data.splitlines(keepends=True) or [b""]
    return "\n".join(f"printf '{_format(line)}'" for line in lines)


def _format(line: bytes) -> str:
    text = "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in line).replace("\n", "\\n")
    return f"\\055{text[1:]}" if text.startswith("-") else text  # printf would take it for an option
