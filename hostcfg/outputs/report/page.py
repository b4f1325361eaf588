"""What the page of a fleet read shows: plain values without any markup (``hostcfg.outputs.html`` draws them).

An *item* is what a reader filters by: a host, or one direction of a path.  Rows name the items that they
are about by their numbers; a row is hidden when none of them is wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.outputs.blocks import Block, Tone
    from hostcfg.outputs.fleet_views import Tally

Mark = Literal["", "drift", "unread", "none"]


@dataclass(frozen=True, slots=True)
class Item:
    """A host or a direction: the groups of the inventory that it is in, and the state it came out with."""

    name: str
    groups: Sequence[str]
    state: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A host or a path that could not be read; ``kind`` as in the error tree."""

    item: int
    name: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting of one host: its own value, and what was wanted where that is something else.

    ``said`` is the same in one line, with the native key.  ``mark``: ``drift``, ``unread`` (the state stands
    for the value) or ``none`` (this system has no such setting).
    """

    text: str
    mark: Mark = ""
    wanted: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host of the matrix."""

    item: int
    name: str
    system: str
    status: Sequence[str]
    tone: Tone
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class SettingColumn:
    """One setting of the matrix; ``drifts`` counts the hosts that differ in it."""

    name: str
    unit: str
    drifts: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Hosts x settings, the worst host first; ``legend`` says what a marked cell means."""

    columns: Sequence[SettingColumn]
    rows: Sequence[HostRow]
    legend: str


@dataclass(frozen=True, slots=True)
class Bar:
    """Lengths of one bar in ``unit``, from the left; together they are the whole that it stands for."""

    parts: Sequence[float]
    said: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class DriftRow:
    """One thing to change, and on which hosts."""

    items: Sequence[int]
    setting: str
    key: str
    target: str
    reason: str
    count: str
    bar: Bar


@dataclass(frozen=True, slots=True)
class SettingRow:
    """What one setting is: its meaning, the native keys by system, and what most hosts have or should."""

    name: str
    unit: str
    meaning: str
    keys: Sequence[str]
    said: Sequence[str]


@dataclass(frozen=True, slots=True)
class SaidRow:
    """One sentence that is true of some hosts."""

    items: Sequence[int]
    label: str
    tone: Tone
    message: str
    hosts: str


@dataclass(frozen=True, slots=True)
class PathRow:
    """One direction of a path.

    ``bar``: predicted goodput, what the link would carry besides, and the frames' headers, in bit/s.
    """

    item: int
    name: str
    link: str
    bdp: str
    bar: Bar
    predicted: str
    share: str
    limit: str
    mend: Sequence[str]
    tone: Tone


@dataclass(frozen=True, slots=True)
class Detail:
    """All there is to say of one item."""

    item: int
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Page:
    """One report.  Empty parts are left out."""

    title: str
    aside: str = ""
    what: str = "hosts"
    tallies: Sequence[Tally] = ()
    items: Sequence[Item] = ()
    failures: Sequence[Failure] = ()
    paths: Sequence[PathRow] = ()
    matrix: Matrix | None = None
    drifts: Sequence[DriftRow] = ()
    means: Sequence[SaidRow] = ()
    findings: Sequence[SaidRow] = ()
    settings: Sequence[SettingRow] = ()
    settings_say: str = "Most hosts have"
    details: Sequence[Detail] = ()
    blocks: Sequence[Block] = ()

    @property
    def groups(self) -> list[str]:
        """The groups of all items by name."""
        return sorted({group for item in self.items for group in item.groups})

    @property
    def states(self) -> list[str]:
        """The states of all items, the worst first."""
        return list(dict.fromkeys(item.state for item in self.items))


def titled(blocks: Sequence[Block]) -> Page:
    """A page of nothing but blocks, whose first heading is its title."""
    from hostcfg.outputs.blocks import Heading

    first = blocks[0]
    if not isinstance(first, Heading):
        return Page("Result", blocks=blocks)
    return Page(first.text, first.aside, blocks=blocks[1:])
