"""Commands that leave alone what is within its rule already: for scripts to hosts that nobody has read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex

if TYPE_CHECKING:
    from hostcfg.platforms.base import Bound, Stays

_WORD = regex(r"[A-Za-z0-9_.-]{1,40}")
_SEVERAL = regex(r"[;|&]")


def unless_it_stays(read: str, command: str, stays: Stays | None) -> str:
    """``command``, behind a test of what ``read`` prints where ``stays`` says what may be left alone.

    awk(1) reads the value: where none is printed, there is nothing to leave alone.

    >>> from hostcfg.platforms.base import Bound, Stays
    >>> stays = Stays((Bound("at_least", 4096, 2),), stock_holds=True)
    >>> unless_it_stays("sysctl -n net.ipv4.tcp_rmem", "sysctl -w x=1", stays)
    "sysctl -n net.ipv4.tcp_rmem | awk '{ ok = $3 >= 4096 } END { exit !ok }' || sysctl -w x=1"
    """
    tests = [_test(bound) for bound in stays.bounds] if stays is not None else []
    if not tests or None in tests:
        return command
    together = f"{{ {command}; }}" if _SEVERAL.search(command) else command
    return f"{read} | awk '{{ ok = {' && '.join(map(str, tests))} }} END {{ exit !ok }}' || {together}"


def within_bounds(raw: str, stays: Stays) -> str | None:
    """An awk program that prints a host's own value of the form of ``raw`` with each number within its bound.

    None where ``raw`` holds nothing beside the numbers that have a bound.

    >>> from hostcfg.platforms.base import Bound, Stays
    >>> within_bounds("4096 131072 8388608", Stays((Bound("at_least", 8388608, 2),), stock_holds=True))
    '{ $3 = $3 >= 8388608 ? $3 : 8388608; print }'
    """
    parts = []
    for bound in stays.bounds:
        if bound.element is None or not isinstance(bound.value, int):
            return None
        field = f"${bound.element + 1}"
        parts.append(f"{field} = {_test(bound)} ? {field} : {bound.value}; ")
    return f"{{ {''.join(parts)}print }}" if len(parts) < len(raw.split()) else None


def only_where(stays: Stays) -> str:
    """``only where it is below 4,096``: for a file, which can't look."""
    words = {"at_least": "below", "at_most": "above"}
    said = []
    for bound in stays.bounds:
        shown = ", ".join(bound.value) if isinstance(bound.value, tuple) else f"{bound.value:,}"
        said.append(f"{words.get(bound.rule, 'none of')} {shown}")
    return f"only where it is {' or '.join(dict.fromkeys(said))}"


def _test(bound: Bound) -> str | None:
    """An awk expression that is true where the value may stay; None where none can be made."""
    field = f"${(bound.element or 0) + 1}"
    if isinstance(bound.value, tuple):
        if not all(map(_WORD.fullmatch, bound.value)):
            return None
        return f"{field} ~ /^({'|'.join(re.escape(word) for word in bound.value)})$/"
    return f"{field} {'>=' if bound.rule == 'at_least' else '<='} {bound.value}"
