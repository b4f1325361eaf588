"""Plans, changes and the journal to blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.changes import NOT_KEPT, NOTHING_TO_DO, true_notes
from hostcfg.outputs.blocks import Block, Code, Column, Heading, Paragraph, Row, Table, Tone
from hostcfg.outputs.fleet_views import FEW, change_summary, plan_summary
from hostcfg.outputs.system import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hostcfg.changes import Change, HostChange, StepResult
    from hostcfg.model import Plan

STATUS_TONES: Mapping[str, Tone] = {
    "applied": "good",
    "reverted": "good",
    "pending": "warning",
    "planned": "warning",
    "applying": "warning",
    "failed": "error",
    "unknown": "error",
}


def _raw(raw: str | None) -> str:
    return "-" if raw is None else " ".join(raw.split()) or '""'


def plan_blocks(plans: Sequence[Plan], *, details: bool = True) -> list[Block]:
    """The exact commands of each host, in order, with their inverses.

    Several hosts have a summary before them, or instead where ``details`` are not wanted.
    """
    return _blocks_of_plans(plans, _full_steps, details=details)


def question_blocks(plans: Sequence[Plan], *, details: bool = True) -> list[Block]:
    """What is asked about: each host's keys, from and to, or the summary where there are many hosts."""
    return _blocks_of_plans(plans, _short_steps, details=details)


def _short_steps(plan: Plan) -> list[Block]:
    files = [
        # a way back has no lines of its own
        Paragraph(
            f"{path} would be {'written' if lines else 'put back'} once it is confirmed", "note", "note"
        )
        for path, lines in plan.files.items()
    ]
    return [*([_step_table(plan, reasons=False)] if plan.steps else []), *files]


def _blocks_of_plans(
    plans: Sequence[Plan], steps: Callable[[Plan], list[Block]], *, details: bool
) -> list[Block]:
    blocks: list[Block] = []
    if len(plans) > FEW or not details:
        blocks += plan_summary(plans)
    for plan in plans if details else ():
        blocks.append(_plan_heading(plan))
        blocks += steps(plan) if plan.steps or plan.files else []
        blocks += [Paragraph(warning, "warning", "warning") for warning in plan.warnings]
        blocks += _note_blocks(plan.notes)
    return (
        blocks
        if details
        else [*blocks, *_warnings_of((p.host, (*p.warnings, *_losses(p.notes))) for p in plans)]
    )


def _warnings_of(told: Iterable[tuple[str, Iterable[str]]]) -> list[Block]:
    """Each warning once, with the hosts that it is about."""
    about: dict[str, list[str]] = {}
    for host, lines in told:
        for line in lines:
            about.setdefault(line, []).append(host)
    named = (
        (", ".join(hosts) if len(hosts) <= FEW else f"{len(hosts)} hosts", w) for w, hosts in about.items()
    )
    return [Paragraph(f"{hosts}: {warning}", "warning", "warning") for hosts, warning in named]


def _losses(notes: Iterable[str]) -> list[str]:
    """Those that warn: notes alone are for those who want details."""
    return [note for note in notes if note.startswith(NOT_KEPT)]


def _note_blocks(notes: Iterable[str]) -> list[Block]:
    """Notes; what a boot takes back, which ``--persist`` was to keep, is a warning."""
    return [
        Paragraph(text, "warning", "warning")
        if text.startswith(NOT_KEPT)
        else Paragraph(text, "note", "note")
        for text in notes
    ]


def _step_table(plan: Plan, *, reasons: bool) -> Table:
    columns = (Column("Key"), Column("From", right=True), Column("To", right=True))
    rows = [Row((s.key, _raw(s.from_raw), _raw(s.to_raw)), s.reason if reasons else "") for s in plan.steps]
    return Table(columns, rows, detail_title="Why" if reasons else "")


def _full_steps(plan: Plan) -> list[Block]:
    """The steps with their reasons, commands, inverses and files."""
    inverses = [s.inverse or f"# {s.key}: no inverse, its value is not known" for s in plan.steps]
    blocks: list[Block] = [
        _step_table(plan, reasons=True),
        Paragraph("Commands, in this order:"),
        Code("\n".join(s.command for s in plan.steps)),
        Paragraph("Their inverses, in the order of the way back:"),
        Code("\n".join(reversed(inverses))),
    ]
    for path, lines in plan.files.items():
        blocks.append(Paragraph(f"Would be persisted in {path}, hostcfg's part of it:"))
        blocks.append(Code(lines.rstrip("\n")))
    stores = dict.fromkeys(s.persist for s in plan.steps if s.persist is not None)
    blocks += [
        Paragraph(f"would be persisted in {store}", "note", "note")
        for store in stores
        if store not in plan.files
    ]
    return blocks


def _plan_heading(plan: Plan) -> Heading:
    count = len(plan.steps)
    nothing = "nothing to do, but for what is noted" if plan.notes else "nothing to do"
    aside = f"{count} step{'s' if count != 1 else ''}" if count or plan.files else nothing
    return Heading(plan.host, f"{title_of(plan.os)}: {aside}", "warning" if count or plan.files else "good")


def change_blocks(
    change_id: str | None,
    hosts: Sequence[HostChange],
    *,
    not_reached: Sequence[str] = (),
    details: bool = True,
    rolled_back: bool = False,
    of: str | None = None,
    way_back: bool = False,
) -> list[Block]:
    """What became of each host, step by step, and how to go on.

    ``rolled_back``: the change is a rollback (of the change ``of``), which stands where a host is reverted.
    ``way_back``: the steps of a reverted host are those that took it back, as a rollback's are.
    Several hosts have a summary before them, or instead where ``details`` are not wanted.
    """
    blocks: list[Block] = []
    if len(hosts) + len(not_reached) > FEW or not details:
        blocks += change_summary(hosts, not_reached)
    for host in hosts:
        if details:
            blocks += _host_blocks(host, of, way_back=way_back or rolled_back)
        if host.status == "pending" and change_id is not None:
            blocks.append(Paragraph(_pending_text(change_id, host), "warning", "waiting"))
    if not details:
        blocks += _warnings_of((host.host, _losses(true_notes(host))) for host in hosts)
    stands = {"applied", "pending", *(("reverted",) if rolled_back else ())}
    if change_id is not None and any(host.status in stands for host in hosts):
        undo = f"Change {change_id}. To take it back: hostcfg rollback {change_id}"
        blocks.append(Paragraph(undo))
    elif change_id is not None and hosts and not way_back:
        blocks.append(Paragraph(f"Change {change_id}. All of it: hostcfg history {change_id}"))
    left = [host.host for host in hosts if host.status in ("failed", "unknown")]
    if rolled_back and of is not None and left:
        names = ", ".join(left[:FEW]) + (f" and {len(left) - FEW} more" if len(left) > FEW else "")
        blocks.append(Paragraph(f"Change {of} still stands on {names}: hostcfg rollback {of} tries again"))
    return blocks


def _pending_text(change_id: str, host: HostChange) -> str:
    confirm = f"hostcfg confirm {change_id}"
    if host.overdue:
        return (
            f"its timer was due at {host.due}, so it has taken the change back by itself unless it was "
            f"down: {confirm} or hostcfg rollback {change_id} asks it"
        )
    if host.left_s is None:
        return f"no timer runs: {confirm} keeps the change, hostcfg rollback {change_id} takes it back"
    return f"{host.left_s} s left: {confirm} keeps the change, else the host takes it back by itself"


def _host_blocks(host: HostChange, of: str | None, *, way_back: bool) -> list[Block]:
    count = len(host.steps)
    status = _status(host)
    if host.status == "reverted":
        values = f"the values from before change {of}" if of is not None else "its before-values"
        status = f"reverted: it has {values}"
    taken = host.status == "reverted" and not way_back
    notes = true_notes(host)
    aside = f"{status}, {count} step{'s' if count != 1 else ''}" if count else f"{status}, no step"
    if not count and host.status == "applied":
        noted = ", but for what is noted" if set(notes) - {NOTHING_TO_DO} else ""
        aside = f"already as the profile wants{noted}: nothing to do"
    blocks: list[Block] = [Heading(host.host, aside, STATUS_TONES[host.status])]
    if count:
        columns = (Column("Key", fixed=True), Column("Change"), Column("Outcome", fixed=True))
        blocks.append(
            Table(
                columns,
                [_step_row(s, _outcome(s, host, taken=taken)) for s in host.steps],
                detail_title="What the host said",
            )
        )
    if host.error is not None:
        blocks.append(Paragraph(host.error.message, "error", "error"))
    return [*blocks, *_note_blocks(note for note in notes if note != NOTHING_TO_DO)]


def _status(host: HostChange) -> str:
    """The journal's word, and that it is old where the host's timer has had the last one."""
    return "pending, overdue" if host.overdue else host.status


def _outcome(step: StepResult, host: HostChange, *, taken: bool) -> str:
    """A step's outcome in words; ``taken``: the host was put back after it."""
    unheard = step.error or host.status == "applying"
    word = step.outcome or ("unknown" if unheard else "not tried")
    return f"{word}, then taken back" if taken and word in ("set", "clamped", "unknown") else word


def _step_row(step: StepResult, outcome: str) -> Row:
    tone: Tone = "plain" if step.outcome in {"set", "unchanged"} else "warning"
    change = f"{_raw(step.from_raw)} -> {_raw(step.to_raw)}"
    said = [step.error] if step.error else []
    if step.read_back is not None and _raw(step.read_back) != _raw(step.to_raw):
        said.insert(0, f"the host has {_raw(step.read_back)}")
    return Row((step.key, change, outcome), "; ".join(said), tone)


def history_blocks(changes: Sequence[Change]) -> list[Block]:
    """The journal, newest first: one line a change; one change alone with all its steps."""
    if not changes:
        return [Paragraph("The journal is empty.")]
    if len(changes) == 1:
        return _one_change(changes[0])
    columns = (Column("Id", fixed=True), Column("What"), Column("Hosts"), Column("By"))
    rows = [Row((c.id, change_title(c), status_counts(c), f"{c.by}@{c.from_host}")) for c in changes]
    blocks: list[Block] = [Table(columns, rows)]
    if any(host.unfinished for change in changes for host in change.hosts):
        told = (
            "what became of a host that is not final, hostcfg rollback --unfinished asks it (and confirm ID)"
        )
        blocks.append(Paragraph(told, "warning", "unfinished"))
    return blocks


def change_title(change: Change) -> str:
    """``apply wan`` or ``rollback of ID``."""
    if change.kind == "rollback":
        return f"rollback of {change.of}" if change.of else "rollback"
    return f"apply {change.profile.get('name', '')}".strip()


def status_counts(change: Change) -> str:
    """``3 applied, 1 failed``."""
    counts: dict[str, int] = {}
    for host in change.everyone:
        counts[_status(host)] = counts.get(_status(host), 0) + 1
    return ", ".join(f"{n} {status}" for status, n in counts.items()) or "no host"


def _one_change(change: Change) -> list[Block]:
    everyone = change.everyone
    not_reached = [host.host for host in everyone if host.status == "planned" and not host.steps]
    ended = change.ended or "unfinished: hostcfg rollback --unfinished asks the hosts"
    blocks: list[Block] = [
        Heading(change.id, change_title(change)),
        Paragraph(f"by {change.by} from {change.from_host}, started {change.started}, ended {ended}"),
    ]
    reached = [host for host in everyone if host.host not in not_reached]
    if len(everyone) > FEW:
        blocks += change_summary(reached, not_reached)
    if not_reached:
        text = f"hostcfg apply --resume {change.id} goes on with the hosts that were not reached"
        blocks.append(Paragraph(text, "note", "note"))
    for host in reached:
        blocks += _host_blocks(host, change.of, way_back=change.kind == "rollback")
        if host.status == "pending":
            blocks.append(Paragraph(_pending_text(change.id, host), "warning", "waiting"))
        if host.undone_by:
            blocks.append(Paragraph(f"taken back by {host.undone_by}", "note", "note"))
    return blocks
