"""Settings of several systems in one text, as two ends of a path in one mail: told apart by their names.

::

    net.ipv4.tcp_rmem = 4096 131072 6291456       Linux's alone
    kern.ipc.maxsockbuf: 2097152                  of BSD and macOS alone
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.platforms import folders_with

if TYPE_CHECKING:
    from collections.abc import Sequence

_SETTING = regex(r"\s{0,16}-?(?P<name>[a-z]\w{0,40}\.[\w-]{1,60})[\w./:*@%+-]{0,200}\s{0,8}[:=]")


def by_system(lines: Sequence[str]) -> list[Sequence[str]]:
    """``lines`` parted by the systems whose settings they are, each system's together.

    What can be any system's stays with the line above it.
    """
    owners = [owner_of(line) for line in lines]
    known = [owner for owner in owners if owner is not None]
    if len(set(known)) < 2:
        return [lines]
    current = known[0]
    parts: dict[tuple[str, ...], list[str]] = {}
    for line, owner in zip(lines, owners, strict=True):
        current = owner or current
        parts.setdefault(current, []).append(line)
    return list(parts.values())


def are_strangers(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether both texts hold settings, and those of one are of no system of the other."""
    here, there = ({owner for line in lines if (owner := owner_of(line))} for lines in (some, others))
    return bool(here and there) and not here & there


def owner_of(line: str) -> tuple[str, ...] | None:
    """The folders of the systems that alone can have the setting in ``line``; None: any, or no setting."""
    found = _SETTING.match(line)
    return None if found is None else folders_with(found["name"])
