"""Paths to a page: what each direction reaches of its link's rate, what limits it and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.outputs.fleet_views import Tally
from hostcfg.outputs.path_views import limits, rank_directions
from hostcfg.outputs.report.page import Bar, Failure, Item, Page, PathRow
from hostcfg.outputs.report.rows import plural
from hostcfg.outputs.views import link_text
from hostcfg.path.sentences import limit_name, need_text, predicted_rate, predicted_share
from hostcfg.units import format_rate, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.errors import HostcfgError
    from hostcfg.outputs.blocks import Block, Tone
    from hostcfg.path import Direction, PathReport

FAILED = "could not be analysed"
LIMITED = "limited by a setting"
FULL = "not limited by a setting"


@dataclass(frozen=True, slots=True)
class Audited:
    """A path that could be analysed, and the groups that one of its ends is in."""

    report: PathReport
    groups: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """A path that could not, by the names of its ends, and why."""

    from_host: str
    to_host: str
    error: HostcfgError
    groups: Sequence[str] = ()


def path_page(paths: Sequence[Audited], unread: Sequence[Unread] = (), blocks: Sequence[Block] = ()) -> Page:
    """The directions, the worst first, after the paths that could not be analysed."""
    groups = {id(one.report): one.groups for one in paths}
    ranked = rank_directions([one.report for one in paths])
    names = [f"{d.from_host} -> {d.to_host}" for _, d, _ in ranked]
    failed = [f"{one.from_host} and {one.to_host}" for one in unread]
    items = [Item(name, one.groups, FAILED) for name, one in zip(failed, unread, strict=True)]
    items += [
        Item(name, groups[id(report)], LIMITED if limits(direction) else FULL)
        for name, (report, direction, _) in zip(names, ranked, strict=True)
    ]
    states = [item.state for item in items]
    count = len(paths) + len(unread)
    return Page(
        title=plural(count, "path") if count != 1 or not ranked else names[0].replace("->", "<->"),
        aside=link_text(paths[0].report.link).removeprefix(" at ") if count == 1 and paths else "",
        what="directions",
        tallies=[
            _tally(len(unread), "path", FAILED, "error"),
            _tally(states.count(LIMITED), "direction", LIMITED, "warning"),
            _tally(states.count(FULL), "direction", FULL, "good"),
        ],
        items=items,
        failures=[Failure(i, failed[i], one.error.kind, str(one.error)) for i, one in enumerate(unread)],
        paths=[
            _row(len(unread) + i, names[i], report, direction)
            for i, (report, direction, _) in enumerate(ranked)
        ],
        blocks=blocks,
    )


def _tally(count: int, what: str, state: str, tone: Tone) -> Tally:
    return Tally(count, f"{what}{'s' if count != 1 else ''} {state}", tone)


def _row(item: int, name: str, report: PathReport, direction: Direction) -> PathRow:
    predicted, link_bps = direction.predicted_bps, report.link.rate_bps
    tone: Tone = "warning" if limits(direction) else "good"
    notes = dict.fromkeys(need.need.note for need in direction.needs if need.need.note is not None)
    carried = max(predicted, report.link_goodput_bps)
    said = f"{predicted_rate(direction)} of the link's {format_rate(link_bps)}"
    return PathRow(
        item=item,
        name=name,
        link=f"{format_rate(link_bps)} x {format_time(report.link.rtt_s)}",
        bdp=f"BDP {format_size(report.link.bdp_bytes)}",
        bar=Bar((predicted, carried - predicted, max(0.0, link_bps - carried)), said, tone),
        predicted=predicted_rate(direction),
        share=predicted_share(direction, report.link_goodput_bps),
        limit=limit_name(direction.limited_by),
        mend=[*(need_text(need) for need in direction.needs), *notes],
        tone=tone,
    )
