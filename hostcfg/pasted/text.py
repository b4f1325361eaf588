"""Whether bytes are a text at all: a program, a picture or an archive is refused before any parser looks."""

from __future__ import annotations

from hostcfg.errors import InputError
from hostcfg.lean import regex
from hostcfg.pasted.decoding import decode_bytes

_CONTROL = regex("[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters but those that terminals, editors and printers leave in a text: BEL to CR, ESC."""
_FEW = 2
_SHARE = 50
"""Of so many characters one may be such a control: a damaged text has fewer, random bytes one in ten."""
_PADDING = regex("\x00{16,}")
"""Zeros at one place: what a file has where a system crashed while it was written."""


def text_of(data: bytes, path: str) -> str:
    """``data``, the content of ``path``, as text; InputError if it can't be what a command printed."""
    text = decode_bytes(data)
    controls = len(_CONTROL.findall(text))
    if controls > _FEW and controls * _SHARE > len(text):
        padding = sum(len(zeros) - 1 for zeros in _PADDING.findall(text)) if _is_padded(text) else 0
        if (controls - padding) * _SHARE > len(text) - padding:
            raise InputError(
                f"is no text: {controls} of {len(text)} characters are control characters; "
                "save what the command printed as plain text",
                path=path,
            )
    return text


def _is_padded(text: str) -> bool:
    """Whether zeros fill one or two holes; a program has them all over."""
    return len(_PADDING.findall(text)) <= 2
