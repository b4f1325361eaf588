"""Which template of ``Get-NetTCPSetting`` a line belongs to: the one named above it, if nothing is lost.

::

    SettingName                   : Internet
    MinRto(ms)                    : 300
    ...
    SettingName                   : Compat
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Json

    Record = dict[str, tuple[Json, str]]
    """Property -> its cell and its line."""

_TCP_ORDER = """
    SettingName MinRto MinRtoMs InitialCongestionWindow InitialCongestionWindowMss CongestionProvider
    CwndRestart DelayedAckTimeout DelayedAckTimeoutMs DelayedAckFrequency MemoryPressureProtection
    AutoTuningLevelLocal AutoTuningLevelGroupPolicy AutoTuningLevelEffective EcnCapability Timestamps
    InitialRto InitialRtoMs ScalingHeuristics DynamicPortRangeStartPort DynamicPortRangeNumberOfPorts
    AutomaticUseCustom NonSackRttResiliency ForceWS MaxSynRetransmissions AutoReusePortRangeStartPort
    AutoReusePortRangeNumberOfPorts"""
TCP_ORDER = tuple(_TCP_ORDER.split())
"""As every release lists them."""
TCP_NAMES = frozenset(TCP_ORDER)
_LATER = """
    MinRto MinRtoMs InitialCongestionWindow InitialCongestionWindowMss DelayedAckTimeout
    DelayedAckTimeoutMs InitialRto InitialRtoMs DelayedAckFrequency AutomaticUseCustom
    NonSackRttResiliency ForceWS MaxSynRetransmissions AutoReusePortRangeStartPort
    AutoReusePortRangeNumberOfPorts"""
_LATER_NAMES = frozenset(_LATER.split())
"""Names that not every listing has: from a later release, or one of two names of the same property."""
_SELECTED = 4
"""So many properties may have been asked for, in any order; more are a listing in the order of all."""


def in_order(records: list[Record], rest: list[str]) -> tuple[list[Record], list[str]]:
    """Records that are whole: a property belongs to the template named above it, or to none.

    Every template has the same properties in the same order.  Lines out of order mean that the
    text was shuffled or spliced, and then nobody knows which template a line belongs to.  Where lines
    are missing within a record, those of the next template's name may be among them: what follows the
    gap is nobody's.
    """
    longest = max((list(record) for record in records), key=len, default=[])
    if TCP_NAMES.isdisjoint(map(_plain, longest)):
        return records, rest  # the other cmdlet's, which has no templates
    if len(records) < 2:
        listed = _listed_names(records[0])
        is_tail = listed[-len(longest) :] == longest  # of a listing whose beginning is lost
        if len(longest) <= _SELECTED or "SettingName" not in longest:
            return ([], [*(line for _, line in records[0].values()), *rest]) if is_tail else (records, rest)
        longest = listed
    ordered = all(_is_subsequence(list(record), longest) for record in records)
    kept = [_up_to_gap(record, longest) for record in records if ordered and "SettingName" in record]
    taken = {line for record in kept for _, line in record.values()}
    lost = [line for record in records for _, line in record.values() if line not in taken]
    return kept, [*lost, *rest]


def steps_back(record: Record, name: str) -> bool:
    """Whether ``name`` stands above the last property of a listing: then it is another template's."""
    if len(record) <= _SELECTED or name not in TCP_NAMES:
        return False
    return TCP_ORDER.index(name) < TCP_ORDER.index(_plain(list(record)[-1]))


def _listed_names(record: Record) -> list[str]:
    """The properties that a listing with ``record`` has, in order."""
    own = {_plain(name): name for name in record}
    return [own.get(name, name) for name in TCP_ORDER if name in own or name not in _LATER_NAMES]


def _plain(name: str) -> str:
    return name.partition("(")[0]


def _up_to_gap(record: Record, of: Sequence[str]) -> Record:
    """The first properties of ``record``, as far as they follow each other as in ``of``."""
    names = list(record)
    following = of[of.index(names[0]) :] if names[0] in of else []
    pairs = zip(names, following, strict=False)
    return {name: record[name] for name, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)}


def _is_subsequence(names: Sequence[str], of: Sequence[str]) -> bool:
    rest = iter(of)
    return all(name in rest for name in names)
