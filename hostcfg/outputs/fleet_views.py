"""Many hosts at a glance: one row each, the worst first.  What each has in full is shown on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.outputs.blocks import Block, Column, Heading, Row, Table, Tone
from hostcfg.outputs.system import system_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hostcfg.audit import HostAudit, ProfileAudit
    from hostcfg.changes import HostChange
    from hostcfg.model import Facts, Finding, Plan
    from hostcfg.reader import Outcome

FEW = 3
"""Up to so many hosts are shown in full, and without a table of them."""

_SEVERITY = {"error": 0, "warning": 1, "info": 2}
_NO_FINDING = 3
_LONGEST = 100
_FAILED, _ATTENTION, _GOOD = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Tally:
    """``3 could not be read``: a count, and what of the hosts it counts."""

    count: int
    what: str
    tone: Tone


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()} ..."


def _worst(findings: Iterable[Finding]) -> Finding | None:
    return min(findings, key=lambda f: _SEVERITY[f.severity], default=None)


def _severity(finding: Finding | None) -> int:
    return _NO_FINDING if finding is None else _SEVERITY[finding.severity]


def _finding_text(finding: Finding | None) -> str:
    """Notes are left to the details: nearly every host has some."""
    return _short(finding.message) if finding is not None and finding.severity != "info" else ""


def _counts(pairs: Iterable[tuple[int, str]]) -> str:
    return ", ".join(f"{count} {what}" for count, what in pairs if count)


def _tally_text(tallies: Iterable[Tally]) -> str:
    return _counts((tally.count, tally.what) for tally in tallies)


def _summary(total: int, aside: str, columns: Sequence[Column], rows: Sequence[Row]) -> list[Block]:
    return [Heading(f"{total} hosts", aside), Table(columns, rows)]


def count_of_hosts(total: int, tallies: Iterable[Tally]) -> list[Block]:
    """One line for several hosts: what became of how many; none for a single one."""
    return [Heading(f"{total} hosts", _tally_text(tallies))] if total > 1 else []


def rank_outcomes(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Hosts that could not be read first, then those with the worst findings."""
    return sorted(outcomes, key=lambda o: (o.facts is not None, _severity(_worst_of(o.facts))))


def show_tallies(outcomes: Sequence[Outcome]) -> list[Tally]:
    """How many hosts could be read."""
    failed = sum(o.facts is None for o in outcomes)
    return [Tally(failed, "could not be read", "error"), Tally(len(outcomes) - failed, "read", "good")]


def show_summary(outcomes: Sequence[Outcome]) -> list[Block]:
    """Each host's system and its worst finding; those that could not be read first."""
    columns = (Column("Host"), Column("Status", fixed=True), Column("System"), Column("Worst finding"))
    rows = [_show_row(outcome) for outcome in rank_outcomes(outcomes)]
    return _summary(len(outcomes), _tally_text(show_tallies(outcomes)), columns, rows)


def _worst_of(facts: Facts | None) -> Finding | None:
    return None if facts is None else _worst(facts.findings)


def _show_row(outcome: Outcome) -> Row:
    name, facts = outcome.spec.name, outcome.facts
    if facts is None:
        kind = outcome.error.kind if outcome.error is not None else "error"
        return Row((name, kind, "", ""), tone="error")
    finding = _worst(facts.findings)
    tone: Tone = "warning" if _finding_text(finding) else "plain"
    return Row((name, "ok", system_of(facts), _finding_text(finding)), tone=tone)


def rank_audits(audits: Iterable[HostAudit]) -> list[HostAudit]:
    """Hosts that could not be read, then the most differences, then the worst findings."""
    return sorted(audits, key=lambda h: (h.error is None, -len(h.differences), _severity(_worst(h.findings))))


def diff_tallies(audit: ProfileAudit, link: str = "") -> list[Tally]:
    """How many hosts differ from the profile; ``link`` is said after its name."""
    statuses = [host.status for host in audit.hosts]
    differ, same = statuses.count("differs"), statuses.count("same")
    return [
        Tally(statuses.count("error"), "could not be read", "error"),
        Tally(differ, f"differ{'s' * (differ == 1)} from {audit.profile_name}{link}", "warning"),
        Tally(same, "has no difference" if same == 1 else "have no difference", "good"),
    ]


def diff_summary(audit: ProfileAudit, link: str) -> list[Block]:
    """Each host's differences and its worst finding: errors, then the most differences first."""
    columns = (
        Column("Host"),
        Column("Status", fixed=True),
        Column("Differences"),
        Column("Worst finding"),
    )
    rows = [_diff_row(host) for host in rank_audits(audit.hosts)]
    return _summary(len(audit.hosts), _tally_text(diff_tallies(audit, link)), columns, rows)


def _diff_row(host: HostAudit) -> Row:
    if host.error is not None:
        return Row((host.name, host.error.kind, "", ""), tone="error")
    count = len(host.differences)
    names = ", ".join(d.setting for d in host.differences[:3]) + (" ..." if count > 3 else "")
    tone: Tone = "warning" if count else "good"
    differs = f"{count}: {names}" if count else "none"
    return Row((host.name, host.status, differs, _finding_text(_worst(host.findings))), tone=tone)


def plan_summary(plans: Sequence[Plan]) -> list[Block]:
    """How many steps each host would take, the most first."""
    ranked = sorted(plans, key=lambda plan: -len(plan.steps))
    busy = sum(bool(plan.steps) for plan in plans)
    aside = _counts([(busy, "would be changed"), (len(plans) - busy, "need nothing")])
    columns = (Column("Host"), Column("Steps", right=True), Column("Keys"))
    rows = [
        Row(
            (plan.host, str(len(plan.steps)), _short(", ".join(step.key for step in plan.steps)) or "-"),
            tone="warning" if plan.steps else "good",
        )
        for plan in ranked
    ]
    return _summary(len(plans), aside, columns, rows)


def change_summary(hosts: Sequence[HostChange], not_reached: Sequence[str]) -> list[Block]:
    """What became of each host, failures first; then those that were not begun."""
    ranked = sorted(hosts, key=_change_rank)
    statuses = [host.status for host in hosts]
    counts = [(statuses.count(status), status) for status in dict.fromkeys(statuses)]
    aside = _counts([*counts, (len(not_reached), "not reached")])
    columns = (Column("Host"), Column("Status", fixed=True), Column("Steps", right=True), Column("Error"))
    rows = [_change_row(host) for host in ranked]
    rows += [Row((name, "not reached", "", "")) for name in not_reached]
    return _summary(len(rows), aside, columns, rows)


def _change_rank(host: HostChange) -> int:
    if host.error is not None or host.status in ("failed", "unknown"):
        return _FAILED
    return _GOOD if host.status in ("applied", "reverted") else _ATTENTION


def _change_row(host: HostChange) -> Row:
    tones: tuple[Tone, ...] = ("error", "warning", "good")
    error = _short(host.error.message) if host.error is not None else ""
    return Row((host.host, host.status, str(len(host.steps)), error), tone=tones[_change_rank(host)])
