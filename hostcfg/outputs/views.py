"""Results to blocks: what a person gets to read of facts, audits and comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.model import State
from hostcfg.outputs.blocks import Block, Column, Heading, Paragraph, Row, Table, Tone
from hostcfg.outputs.documents import named_values, on_texts
from hostcfg.outputs.fleet_views import (
    FEW,
    count_of_hosts,
    diff_summary,
    diff_tallies,
    show_summary,
    show_tallies,
)
from hostcfg.outputs.system import system_of
from hostcfg.settings import SETTINGS
from hostcfg.units import format_rate, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.audit import DescribedProfile, HostAudit, ProfileAudit
    from hostcfg.compare import HostDifference
    from hostcfg.model import Difference, Facts, Finding, Interface, Link, Reading, Severity, Target, Value
    from hostcfg.profiles import Profile
    from hostcfg.profiles.structure import Input
    from hostcfg.reader import Outcome

TONES: dict[Severity, Tone] = {"info": "note", "warning": "warning", "error": "error"}
SIGNS = {"at_least": ">= ", "at_most": "<= ", "exact": "= ", "one_of": "= "}


def value_text(value: Value | None) -> str:
    """A typed value as a person writes it: flags are on and off, tuples are words."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return " ".join(str(v) for v in value)
    return str(value)


def native_name(key: str | None, element: int | None) -> str:
    """``net.ipv4.tcp_rmem[2]``: a native key and the element of it."""
    if key is None:
        return ""
    return key if element is None else f"{key}[{element}]"


def finding_blocks(findings: Sequence[Finding]) -> list[Block]:
    """One paragraph a finding, the most serious first."""
    order = {"error": 0, "warning": 1, "info": 2}
    return [
        Paragraph(f.message, TONES[f.severity], "note" if f.severity == "info" else f.severity)
        for f in sorted(findings, key=lambda f: order[f.severity])
    ]


def show_blocks(outcomes: Sequence[Outcome], *, details: bool = True) -> list[Block]:
    """Facts of each host: settings with their native keys, interfaces, what is persisted, findings.

    Many hosts have a summary before them, or instead where ``details`` are not wanted; a few, one line
    after them.
    """
    blocks: list[Block] = []
    many = len(outcomes) > FEW or not details
    if many:
        blocks += show_summary(outcomes)
    for outcome in outcomes if details else ():
        if outcome.facts is None:
            blocks.append(Heading(outcome.spec.name, "could not be read", "error"))
            continue
        blocks += _facts_blocks(outcome.facts)
    return blocks if many else [*blocks, *count_of_hosts(len(outcomes), show_tallies(outcomes))]


def _facts_blocks(facts: Facts) -> list[Block]:
    readings = [facts.readings[name] for name in SETTINGS if name in facts.readings]
    rows = [_reading_row(r) for r in readings if r.state is not State.UNSUPPORTED]
    blocks: list[Block] = [
        Heading(facts.host, _host_aside(facts)),
        Table(
            (Column("Setting", fixed=True), Column("Value", right=True), Column("Native key", below=True)),
            rows,
        ),
    ]
    if facts.interfaces:
        blocks.append(_interface_table(facts.interfaces))
    boot = [b for b in facts.boot if b.key in facts.native]  # a distribution also sets what is not TCP's
    if boot:
        columns = (Column("Set at boot", fixed=True), Column("Value", right=True), Column("By"))
        blocks.append(
            Table(
                columns,
                [Row((b.key, " ".join(b.raw.split()), f"{b.path}:{b.line} ({b.loader})")) for b in boot],
            )
        )
    return [*blocks, *finding_blocks(facts.findings)]


def _host_aside(facts: Facts) -> str:
    parts = [system_of(facts)]
    if facts.memory_bytes is not None:
        parts.append(f"{facts.memory_bytes / 2**30:.1f} GiB RAM")
    if facts.confined:
        parts.append(f"in a {facts.confined}")
    return ", ".join(parts)


def _reading_row(reading: Reading) -> Row:
    unit = SETTINGS[reading.setting].unit
    key = native_name(reading.key, reading.element)
    if reading.state is not State.VALUE:
        return Row((reading.setting, reading.state.value, key), tone="warning")
    text = value_text(reading.value)
    return Row((reading.setting, f"{text} {unit}" if unit and unit != "count" else text, key))


def _interface_table(interfaces: Sequence[Interface]) -> Table:
    columns = (
        Column("Interface"),
        Column("MTU", right=True),
        Column("Speed", right=True),
        Column("Qdisc"),
        Column("Queue", right=True),
        Column("Carries"),
    )
    rows = [
        Row(
            (
                i.name,
                _known(i.mtu_bytes),
                "-" if i.speed_bps is None else format_rate(i.speed_bps),
                i.qdisc or "-",
                _known(i.txqueuelen_packets),
                ", ".join(f"{r} route" for r in i.routes),
            )
        )
        for i in interfaces
    ]
    return Table(columns, rows)


def _known(value: int | None) -> str:
    return "-" if value is None else str(value)


def diff_blocks(audit: ProfileAudit, *, details: bool = True) -> list[Block]:
    """Each host against the profile: current, target, rule and reason, and what it means.

    Many hosts have a summary before them, or instead where ``details`` are not wanted; a few, one line
    after them.
    """
    blocks: list[Block] = []
    many, link = len(audit.hosts) > FEW or not details, link_text(audit.link)
    if many:
        blocks += diff_summary(audit, link)
    for host in audit.hosts if details else ():
        blocks += _audit_blocks(host, audit)
    return blocks if many else [*blocks, *count_of_hosts(len(audit.hosts), diff_tallies(audit, link))]


def _audit_blocks(host: HostAudit, audit: ProfileAudit) -> list[Block]:
    if host.facts is None:
        return [Heading(host.name, "could not be read", "error")]
    count = len(host.differences)
    what = f"{count} difference{'s' if count != 1 else ''} to" if count else "nothing differs from"
    if not host.targets:
        what = "nothing to compare with"
    aside = f"{_host_aside(host.facts)}: {what} {audit.profile_name}{link_text(audit.link)}"
    blocks: list[Block] = [Heading(host.name, aside, "warning" if count or not host.targets else "good")]
    if host.meaning:
        blocks.append(Paragraph(host.meaning))
    if count:
        columns = (Column("Setting", fixed=True), Column("Current", right=True), Column("Target", right=True))
        rows = [_difference_row(d) for d in host.differences]
        blocks.append(Table(columns, rows, detail_title="Why"))
    blocks += [Paragraph(note, "note", "note") for note in host.notes]
    return [*blocks, *finding_blocks(host.findings)]


def link_text(link: Link | None, before: str = " at") -> str:
    """`` at 1 Gbit/s x 80 ms (BDP 10 MB)``, after ``before``; empty without a link."""
    if link is None:
        return ""
    bdp = format_size(round(link.bdp_bytes))
    return f"{before} {format_rate(link.rate_bps)} x {format_time(link.rtt_s)} (BDP {bdp})"


def difference_texts(difference: Difference) -> tuple[str, str]:
    """The host's own value, and the target with its sign; by the system's own names where it has levels."""
    current, target = value_text(difference.current), value_text(difference.target)
    named, wanted = named_values(difference)
    if isinstance(named, str) and isinstance(wanted, str):
        current, target = named, wanted
    return current, SIGNS[difference.rule] + target


def _difference_row(d: Difference) -> Row:
    return Row((d.setting, *difference_texts(d)), f"{native_name(d.key, d.element)}: {d.reason}")


def host_diff_blocks(a: Facts, b: Facts, difference: HostDifference) -> list[Block]:
    """Two hosts side by side: neutral settings that differ, then native keys where both run one OS."""
    blocks: list[Block] = [
        Heading(f"{a.host} and {b.host}", f"{system_of(a)}; {system_of(b)}"),
    ]
    said = [replace(f, message=f"{one.host}: {f.message}") for one in (a, b) for f in on_texts(one)]
    texts = finding_blocks(said)
    if not difference.settings and not difference.native:
        return [*blocks, Paragraph("No difference.", "good"), *texts]
    both = [p for p in difference.settings if State.UNSUPPORTED not in (p.a.state, p.b.state)]
    if both:
        columns = (Column("Setting", fixed=True), Column(a.host, right=True), Column(b.host, right=True))
        rows = [Row((p.setting, _side(p.a), _side(p.b)), _keys_of(p.a, p.b)) for p in both]
        blocks.append(Table(columns, rows, detail_title="Native keys"))
    for host, ours in (
        (a.host, [(p.a, p.b) for p in difference.settings]),
        (b.host, [(p.b, p.a) for p in difference.settings]),
    ):
        only = [f"{r.setting} {_side(r)}" for r, other in ours if other.state is State.UNSUPPORTED]
        if only:
            blocks.append(Paragraph(f"{', '.join(only)}", label=f"only {host} has"))
    if difference.native:
        columns = (Column("Native key", fixed=True), Column(a.host, right=True), Column(b.host, right=True))
        rows = [Row((p.key, _raw(p.a), _raw(p.b))) for p in difference.native]
        blocks.append(Table(columns, rows))
    return [*blocks, *texts]


def _side(reading: Reading) -> str:
    return value_text(reading.value) if reading.state is State.VALUE else reading.state.value


def _keys_of(a: Reading, b: Reading) -> str:
    key_a, key_b = native_name(a.key, a.element), native_name(b.key, b.element)
    if key_a == key_b:
        return key_a
    return f"{key_a or 'no counterpart'} | {key_b or 'no counterpart'}"


def _raw(raw: str | None) -> str:
    return "-" if raw is None else " ".join(raw.split())


def profile_list_blocks(profiles: Sequence[Profile]) -> list[Block]:
    """The profiles with who should use each."""
    rows = [Row((p.name, p.summary), p.when) for p in profiles]
    return [Table((Column("Profile", fixed=True), Column("What it does")), rows, detail_title="When")]


def profile_blocks(described: DescribedProfile) -> list[Block]:
    """What a profile wants of each system, with the reason and source of each value."""
    profile = described.profile
    blocks: list[Block] = [
        Heading(profile.name, profile.summary + link_text(described.link, "; for a link of")),
        Paragraph(profile.when, label="when"),
    ]
    blocks += [Paragraph(_input_text(i), label="input") for i in profile.inputs.values()]
    columns = (Column("Setting", fixed=True), Column("Target", right=True), Column("Source"))
    for system in described.systems:
        rows = [
            Row(
                (t.setting, target_text(t), t.source),
                f"{t.reason} ({t.capped})" if t.capped else t.reason,
            )
            for t in system.wanted.targets
        ]
        blocks.append(Heading(system.title))
        blocks.append(Table(columns, rows, detail_title="Why") if rows else Paragraph("Nothing to set."))
        blocks += [Paragraph(note, "note", "note") for note in system.wanted.notes]
    return blocks


def target_text(target: Target) -> str:
    """What a profile wants, after the sign of its rule."""
    sign = "one of " if target.rule == "one_of" else SIGNS[target.rule]
    return sign + value_text(target.value)


def _input_text(wanted: Input) -> str:
    from hostcfg.profiles.inputs import format_input

    given = "" if wanted.default is None else f" (default {format_input(wanted, wanted.default)})"
    return f"{wanted.name}: {wanted.meaning}{given}"
