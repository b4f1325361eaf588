"""What pages of hosts share: failures, sentences with their hosts, cells of the matrix."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hostcfg.model import Reading, State
from hostcfg.outputs.report.page import Cell, Failure, HostRow, Matrix, SaidRow, SettingColumn, SettingRow
from hostcfg.outputs.views import TONES, native_name, value_text
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hostcfg.errors import HostcfgError
    from hostcfg.model import Finding, Severity
    from hostcfg.outputs.blocks import Tone

    Groups = Callable[[str], Sequence[str]]

NAMED = 8
"""Up to so many hosts are named beside what is true of them; of more the matrix tells which."""

UNREAD = "could not be read"


def hosts_text(names: Sequence[str], total: int) -> str:
    """``a, b``, or ``31 of 40 hosts`` where naming them would tell nobody anything."""
    if len(names) == total and total > 1:
        return f"all {total} hosts"
    return ", ".join(names) if len(names) <= NAMED else f"{len(names)} of {total} hosts"


def failures_of(named: Iterable[tuple[int, str, HostcfgError | None]]) -> list[Failure]:
    """Each error with its kind, as the documents have it; its host stands beside it."""
    return [
        Failure(item, name, error.kind, str(error).removeprefix(f"{name}: "))
        for item, name, error in named
        if error is not None
    ]


def plural(count: int, what: str) -> str:
    """``1 host``, ``40 hosts``."""
    return f"{count} {what}{'s' if count != 1 else ''}"


def severities(findings: Iterable[Finding]) -> list[str]:
    """``2 errors``, ``1 warning``: notes are left to the details."""
    counts = Counter(f.severity for f in findings)
    worth: tuple[Severity, ...] = ("error", "warning")
    return [plural(counts[severity], severity) for severity in worth if counts[severity]]


def said_rows(said: Iterable[tuple[int, str, str, Tone, str]], total: int) -> list[SaidRow]:
    """Each sentence once, with all its hosts: (item, host, label, tone, sentence)."""
    found: dict[tuple[str, Tone, str], dict[int, str]] = {}
    for item, host, label, tone, message in said:
        found.setdefault((label, tone, message), {})[item] = host
    return [
        SaidRow(list(hosts), label, tone, message, hosts_text(list(hosts.values()), total))
        for (label, tone, message), hosts in found.items()
    ]


def finding_rows(
    findings: Iterable[tuple[int, str, Finding]], notes: Iterable[tuple[int, str, str]], total: int
) -> list[SaidRow]:
    """Errors, then warnings, then notes; within them what is true of most hosts first."""
    order = {"error": 0, "warning": 1, "note": 2}
    said = [
        (item, host, "note" if f.severity == "info" else f.severity, TONES[f.severity], f.message)
        for item, host, f in findings
    ]
    said += [(item, host, "note", TONES["info"], note) for item, host, note in notes]
    return sorted(said_rows(said, total), key=lambda row: (order[row.label], -len(row.items)))


def in_order(names: set[str]) -> list[str]:
    """Settings as the settings table has them, then native keys of a profile by name."""
    order = {name: number for number, name in enumerate(SETTINGS)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def matrix_of(names: Sequence[str], rows: Sequence[HostRow], legend: str) -> Matrix:
    """The columns of ``names`` over ``rows``, whose cells are in that order."""
    drifts = [sum(row.cells[i].mark == "drift" for row in rows) for i in range(len(names))]
    units = [SETTINGS[name].unit if name in SETTINGS else "" for name in names]
    columns = [SettingColumn(*column) for column in zip(names, units, drifts, strict=True)]
    return Matrix(columns, rows, legend)


def setting_row(name: str, keys: Iterable[str], said: Iterable[str]) -> SettingRow:
    """A row of the table of settings; what many hosts say stands there once."""
    setting = SETTINGS.get(name)
    unit, meaning = (setting.unit, setting.meaning) if setting is not None else ("", "a key of the profile")
    return SettingRow(name, unit, meaning, list(dict.fromkeys(keys)), list(dict.fromkeys(said)))


def key_of(reading: Reading) -> str:
    """The native key that a reading comes from; its setting where no host has one."""
    return native_name(reading.key, reading.element) or reading.setting


def read_cell(reading: Reading, after: str = "") -> Cell:
    """What was read, unmarked; ``after`` ends the line that says it."""
    if reading.state is State.UNSUPPORTED:
        return Cell("", "none", said="this system has no such setting")
    if reading.state is not State.VALUE:
        return Cell(reading.state.value, "unread", said=f"{key_of(reading)}: {reading.state.value}{after}")
    return Cell(value_text(reading.value), said=f"{key_of(reading)}{after}")
