"""A text without prompts, parted where a line shows that another command's output begins.

::

    net.ipv4.tcp_rmem = 4096 131072 6291456
    2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc fq state UP      ip link
        link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    Settings for eth0:                                                         ethtool

Beside a table of a thousand lines those of a short output are too few to be seen; its first one is enough.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hostcfg.lean import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from hostcfg.platforms.base import Parser


def by_heading(lines: Sequence[str], parsers: Sequence[Parser], most: int) -> list[Sequence[str]]:
    """``lines`` in ``most`` consecutive parts at most; comments and blank lines go with what follows them.

    What stands above the first heading stays with it: many outputs have a line in front.
    """
    begins = _pattern(tuple(dict.fromkeys(parser.begins for parser in parsers if parser.begins)))
    cuts: list[int] = []
    current: int | None = None
    for index, line in enumerate(lines):
        found = begins.match(line)
        if found is None or found.lastindex == current:
            continue
        if current is not None and len(cuts) + 1 < most:
            cuts.append(_above(lines, index, cuts[-1] if cuts else 0))
        current = found.lastindex
    return [lines[start:end] for start, end in zip([0, *cuts], [*cuts, len(lines)], strict=True)]


def _above(lines: Sequence[str], index: int, first: int) -> int:
    """Where the comments directly above a line begin."""
    while index - 1 > first and lines[index - 1].lstrip()[:1] in ("", "#", ";"):
        index -= 1
    return index


@lru_cache(maxsize=8)
def _pattern(begins: tuple[str, ...]) -> re.Pattern[str]:
    """One group for each of ``begins``; a text that has none of them matches nowhere."""
    return regex(rf"[ \t]{{0,16}}(?:{'|'.join(f'({one})' for one in begins) or '(?!)'})")
