"""hostcfg's part of a config file: the marked block, or the file that is its own.  Bytes in, bytes out.

::

    # BEGIN hostcfg (these lines are written by hostcfg; others are left alone)
    net.ipv4.tcp_rmem = 4096 131072 12582912
    # END hostcfg
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.errors import ChangeRefused
from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

BLOCK_START = b"# BEGIN hostcfg"
BEGIN = BLOCK_START + b" (these lines are written by hostcfg; others are left alone)"
END = b"# END hostcfg"


@dataclass(frozen=True, slots=True)
class Style:
    """``separator`` between key and value, and the quotes around a value (loader.conf wants them)."""

    separator: str = " = "
    quotes: str = ""


def merge(now: bytes | None, assignments: Mapping[str, str], style: Style) -> bytes:
    """``now`` with ``assignments`` in the block: keys that are there get the new value, new ones follow.

    The block goes to the end of the file, where it wins over what stands before it.  Everything
    outside it stays byte for byte.  ChangeRefused for a value that can't stand in one line.
    """
    before, block, after = _split(now or b"")
    if now is not None and not assignments and not block:
        return now
    lines = {_key(line): line for line in block}
    for key, raw in assignments.items():
        lines[key] = _line(key, raw, style)
    rest = before + after
    if rest and not rest.endswith(b"\n"):
        rest += b"\n"
    return rest + b"\n".join([BEGIN, *lines.values(), END, b""])


def without(now: bytes, after: bytes, before: bytes) -> bytes | None:
    """``now`` with the block of ``before`` in place of the block of ``after``: other people's lines stay.

    None where the block itself was changed since, by whoever.
    """
    head, block, tail = _split(now)
    if block != _split(after)[1] or not block:
        return None
    old = _split(before)[1]
    return head + (b"\n".join([BEGIN, *old, END, b""]) if old else b"") + tail


def _split(data: bytes) -> tuple[bytes, list[bytes], bytes]:
    """What stands before the block, its lines, and what follows; no block where it has no end."""
    lines = data.splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if line.strip().startswith(BLOCK_START)]
    if not starts:
        return data, [], b""
    start = starts[-1]
    ends = [i for i in range(start, len(lines)) if lines[i].strip() == END]
    if not ends:
        return data, [], b""
    block = [line.strip() for line in lines[start + 1 : ends[0]] if line.strip()]
    return b"".join(lines[:start]), block, b"".join(lines[ends[0] + 1 :])


def _key(line: bytes) -> str:
    """The key of an assignment, or the line itself: a person's comment in the block stays."""
    match = re.match(rb"\s*([^#\s=:][^\s=]*?)\s*[=:]", line)
    return match[1].decode("utf-8", "replace") if match else line.decode("latin-1")


def _line(key: str, raw: str, style: Style) -> bytes:
    value = " ".join(raw.split(" "))
    value = value.replace("\t", " ").strip()
    for text in (key, value):
        if any(ord(c) < 32 or ord(c) == 127 for c in text) or "\u2028" in text:
            raise ChangeRefused("can't be written to a config file: it holds a control character", key=key)
    if any(c in value for c in "#\"'`\\") or any(c in key for c in " =#:\"'`\\$"):
        raise ChangeRefused(f"can't be written to a config file: {value[:60]!r}", key=key)
    return f"{key}{style.separator}{style.quotes}{value}{style.quotes}".encode()
