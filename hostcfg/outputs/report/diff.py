"""Hosts against a profile to a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.compare import reading_of
from hostcfg.outputs.fleet_views import FEW, diff_tallies, rank_audits
from hostcfg.outputs.report.page import Bar, Cell, Detail, DriftRow, HostRow, Item, Matrix, Page
from hostcfg.outputs.report.rows import (
    UNREAD,
    failures_of,
    finding_rows,
    hosts_text,
    in_order,
    key_of,
    matrix_of,
    plural,
    read_cell,
    said_rows,
    setting_row,
    severities,
)
from hostcfg.outputs.system import system_of
from hostcfg.outputs.views import diff_blocks, difference_texts, link_text, native_name, target_text
from hostcfg.platforms import get_platform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.audit import HostAudit, ProfileAudit
    from hostcfg.model import Difference, Facts, Target
    from hostcfg.outputs.blocks import Tone
    from hostcfg.outputs.report.page import SaidRow, SettingRow
    from hostcfg.outputs.report.rows import Groups

    Read = tuple[int, HostAudit, Facts]

_STATES = {"error": UNREAD, "differs": "differs", "same": "no difference"}
_PLAIN: Tone = "plain"


def diff_page(audit: ProfileAudit, groups: Groups, *, details: bool) -> Page:
    """Hosts against a profile; ``details`` adds all that there is to say of each host."""
    ranked = list(enumerate(rank_audits(audit.hosts)))
    read = [(item, host, host.facts) for item, host in ranked if host.facts is not None]
    many = len(ranked) > FEW  # of a few the details say all this
    return Page(
        title=f"{plural(len(ranked), 'host')} against the profile {audit.profile_name}",
        aside=link_text(audit.link).removeprefix(" at "),
        tallies=diff_tallies(audit),
        items=[Item(host.name, groups(host.name), _STATES[host.status]) for _, host in ranked],
        failures=failures_of((item, host.name, host.error) for item, host in ranked),
        matrix=_diff_matrix(read) if read else None,
        drifts=_drift_rows([(item, host) for item, host, _ in read]) if many else (),
        means=_mean_rows(read) if many else (),
        findings=_finding_rows(read) if many else (),
        settings=_setting_rows(read),
        settings_say="Target",
        details=[Detail(i, diff_blocks(replace(audit, hosts=[h]))) for i, h, _ in read] if details else (),
    )


def _setting_rows(read: Sequence[Read]) -> list[SettingRow]:
    keys: dict[str, list[str]] = {}
    wanted: dict[str, list[str]] = {}
    for _, host, facts in read:
        title = get_platform(facts.os).title
        for target in host.targets:
            keys.setdefault(target.setting, []).append(f"{title}: {key_of(reading_of(facts, target))}")
            wanted.setdefault(target.setting, []).append(f"{title}: {target_text(target)}")
    return [setting_row(name, keys[name], wanted[name]) for name in in_order(set(keys))]


def _mean_rows(read: Sequence[Read]) -> list[SaidRow]:
    said = ((item, host.name, "", _PLAIN, host.meaning) for item, host, _ in read if host.meaning)
    return sorted(said_rows(said, len(read)), key=lambda row: -len(row.items))


def _finding_rows(read: Sequence[Read]) -> list[SaidRow]:
    findings = ((item, host.name, finding) for item, host, _ in read for finding in host.findings)
    notes = ((item, host.name, note) for item, host, _ in read for note in host.notes)
    return finding_rows(findings, notes, len(read))


def _diff_matrix(read: Sequence[Read]) -> Matrix:
    names = in_order({target.setting for _, host, _ in read for target in host.targets})
    rows = [_diff_row(item, host, facts, names) for item, host, facts in read]
    legend = "differs from the profile; below the host's own value stands the target"
    return matrix_of(names, rows, legend)


def _diff_row(item: int, host: HostAudit, facts: Facts, names: Sequence[str]) -> HostRow:
    targets = {target.setting: target for target in host.targets}
    differences = {difference.setting: difference for difference in host.differences}
    cells = [_diff_cell(facts, targets.get(name), differences.get(name)) for name in names]
    count = len(host.differences)
    status = plural(count, "difference") if count else "no difference"
    tone: Tone = "warning" if count else "good"
    return HostRow(
        item,
        host.name,
        system_of(facts),
        [status, *severities(host.findings)],
        tone,
        cells,
    )


def _diff_cell(facts: Facts, target: Target | None, difference: Difference | None) -> Cell:
    if target is None:
        return Cell("", "none", said="the profile wants nothing of this here")
    reading = reading_of(facts, target)
    if difference is None:
        return read_cell(reading, f", target {target_text(target)}")
    current, wanted = difference_texts(difference)
    return Cell(current, "drift", wanted, f"{key_of(reading)}: {current}, target {wanted}")


def _drift_rows(read: Sequence[tuple[int, HostAudit]]) -> list[DriftRow]:
    """What to change, by setting, key and target; what concerns most hosts first."""
    found: dict[tuple[str, str, str, str], dict[int, str]] = {}
    for item, host in read:
        for d in host.differences:
            change = (d.setting, native_name(d.key, d.element), difference_texts(d)[1], d.reason)
            found.setdefault(change, {})[item] = host.name
    rows = [
        DriftRow(
            list(hosts), *change, hosts_text(list(hosts.values()), len(read)), _share(len(hosts), len(read))
        )
        for change, hosts in found.items()
    ]
    return sorted(rows, key=lambda row: -len(row.items))


def _share(count: int, total: int) -> Bar:
    return Bar((count, total - count), f"{count} of {total} hosts", "warning")
