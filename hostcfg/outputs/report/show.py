"""Facts of hosts to a page, which marks what is unlike most hosts of the same system."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hostcfg.model import Reading, State
from hostcfg.outputs.fleet_views import FEW, rank_outcomes, show_tallies
from hostcfg.outputs.report.page import Cell, Detail, HostRow, Item, Matrix, Page, SettingRow
from hostcfg.outputs.report.rows import (
    UNREAD,
    failures_of,
    finding_rows,
    key_of,
    matrix_of,
    plural,
    read_cell,
    setting_row,
    severities,
)
from hostcfg.outputs.system import system_of
from hostcfg.outputs.views import show_blocks, value_text
from hostcfg.platforms import get_platform
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts
    from hostcfg.outputs.blocks import Tone
    from hostcfg.outputs.report.page import SaidRow
    from hostcfg.outputs.report.rows import Groups
    from hostcfg.reader import Outcome

    Common = Mapping[tuple[str, str], tuple[str, int, int]]

FEWEST = 3
"""Hosts of one system from which on a value that most of them have says something of the others."""


def show_page(outcomes: Sequence[Outcome], groups: Groups, *, details: bool) -> Page:
    """Facts of hosts; a value is marked where most hosts of the same system have another."""
    ranked = list(enumerate(rank_outcomes(outcomes)))
    read = [(item, one.facts) for item, one in ranked if one.facts is not None]
    common = _common_values([facts for _, facts in read])
    names = [name for name in SETTINGS if any(_is_there(facts, name) for _, facts in read)]
    many = len(ranked) > FEW  # of a few the details say all this
    return Page(
        title=f"TCP settings of {plural(len(ranked), 'host')}",
        tallies=show_tallies(outcomes),
        items=[Item(one.spec.name, groups(one.spec.name), _show_state(one)) for _, one in ranked],
        failures=failures_of((item, one.spec.name, one.error) for item, one in ranked),
        matrix=_show_matrix(read, names, common) if read else None,
        settings=[_setting_row(name, read, common) for name in names] if many else (),
        findings=_finding_rows(read) if many else (),
        details=[Detail(i, show_blocks([one])) for i, one in ranked if one.facts is not None and details],
    )


def _finding_rows(read: Sequence[tuple[int, Facts]]) -> list[SaidRow]:
    findings = ((item, facts.host, finding) for item, facts in read for finding in facts.findings)
    return finding_rows(findings, (), len(read))


def _show_state(outcome: Outcome) -> str:
    if outcome.facts is None:
        return UNREAD
    return "errors or warnings" if severities(outcome.facts.findings) else "nothing found"


def _reading(facts: Facts, name: str) -> Reading:
    return facts.readings.get(name, Reading(name, None, State.UNSUPPORTED))


def _is_there(facts: Facts, name: str) -> bool:
    return _reading(facts, name).state not in (State.UNSUPPORTED, State.ABSENT)


def _common_values(everyone: Sequence[Facts]) -> dict[tuple[str, str], tuple[str, int, int]]:
    """(system, setting) -> the value that more than half of its hosts have, how many do, and of how many."""
    values: dict[tuple[str, str], Counter[str]] = {}
    for facts in everyone:
        for name, reading in facts.readings.items():
            if reading.state is State.VALUE:
                values.setdefault((facts.os, name), Counter())[value_text(reading.value)] += 1
    found = {}
    for where, counts in values.items():
        (value, count), total = counts.most_common(1)[0], counts.total()
        if total >= FEWEST and count * 2 > total:
            found[where] = (value, count, total)
    return found


def _show_matrix(
    read: Sequence[tuple[int, Facts]],
    names: Sequence[str],
    common: Common,
) -> Matrix:
    rows = []
    for item, facts in read:
        worth = severities(facts.findings)
        tone: Tone = "warning" if worth else "good"
        cells = [_show_cell(facts, name, common.get((facts.os, name))) for name in names]
        system = system_of(facts)
        rows.append(HostRow(item, facts.host, system, worth or ["nothing found"], tone, cells))
    legend = "is unlike most hosts of the same system; below the host's own value stands theirs"
    return matrix_of(names, rows, legend)


def _show_cell(facts: Facts, name: str, common: tuple[str, int, int] | None) -> Cell:
    cell = read_cell(_reading(facts, name))
    if cell.mark or common is None or cell.text == common[0]:
        return cell
    value, count, total = common
    title = get_platform(facts.os).title
    said = f"{cell.said}: {cell.text}, {count} of {total} {title} hosts have {value}"
    return Cell(cell.text, "drift", f"most {value}", said)


def _setting_row(name: str, read: Sequence[tuple[int, Facts]], common: Common) -> SettingRow:
    keys, most = [], []
    for _, facts in read:
        reading = _reading(facts, name)
        title = get_platform(facts.os).title
        if reading.state is not State.UNSUPPORTED:
            keys.append(f"{title}: {key_of(reading)}")
        if (facts.os, name) in common:
            value, count, total = common[facts.os, name]
            most.append(f"{title}: {value} ({count} of {total})")
    return setting_row(name, keys, most)
