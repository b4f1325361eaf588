"""Settings of several systems in one text, as two ends of a path in one mail: told apart by their names.

::

    net.ipv4.tcp_rmem = 4096 131072 6291456       Linux's alone
    kern.ipc.maxsockbuf: 2097152                  of BSD and macOS alone
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.platforms import folders_with, systems_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Owner = tuple[str, ...]
"""The folders of the systems that alone have a setting."""

_SETTING = regex(r"\s{0,16}-?(?P<name>[a-z]\w{0,40}\.[\w-]{1,60})[\w./:*@%+-]{0,200}\s{0,8}[:=]")


def by_system(lines: Sequence[str]) -> list[Sequence[str]]:
    """``lines`` parted by the systems whose settings they are, each system's together.

    What can be any system's goes with the only system of its paragraph, else with the line above it.
    """
    owners = [owner_of(line) for line in lines]
    known = [owner for owner in owners if owner is not None]
    if len(set(known)) < 2:
        return [lines]
    current = known[0]
    parts: dict[Owner, list[str]] = {}
    for start, end in _paragraphs(lines):
        here = {owner for owner in owners[start:end] if owner is not None}
        current = here.pop() if len(here) == 1 else current
        for line, owner in zip(lines[start:end], owners[start:end], strict=True):
            current = owner or current
            parts.setdefault(current, []).append(line)
    return list(parts.values())


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each paragraph begins and ends, with the blank lines after it."""
    start, blank = 0, False
    for index, line in enumerate(lines):
        if line.strip() and blank:
            yield start, index
            start = index
        blank = not line.strip()
    yield start, len(lines)


def are_strangers(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether both texts hold settings, and those of one are of no system of the other."""
    here, there = ({owner for line in lines if (owner := owner_of(line))} for lines in (some, others))
    return bool(here and there) and not here & there


def settings_of_strangers(lines: Sequence[str], os: str) -> list[str]:
    """The settings in ``lines`` that are surely of other systems than ``os``."""
    owned = ((line, owner_of(line)) for line in lines)
    return [line for line, owner in owned if owner is not None and os not in systems_of(owner)]


def owner_of(line: str) -> Owner | None:
    """The folders of the systems that alone can have the setting in ``line``; None: any, or no setting."""
    found = _SETTING.match(line)
    return None if found is None else folders_with(found["name"])
