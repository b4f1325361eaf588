"""What the script of a change printed, read: netsh's tables by the same parsers as a probe's.

The host itself only tells whether a row of a table changed to the wanted word.  Which setting that
was, what else it says, and what a refusal means is decided here.  Sample, between two frames::

    @@hostcfg 0011223344556677 begin said.1
    Ok.
    @@hostcfg 0011223344556677 end said.1 0
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast, get_args

from hostcfg.errors import ChangeRefused, HostError
from hostcfg.lean import regex
from hostcfg.model import Section
from hostcfg.platforms.changer import (
    BeginReport,
    ConfirmReport,
    HostState,
    Refusal,
    StatusReport,
    StepReport,
    WriteReport,
)
from hostcfg.platforms.framing import split_frames
from hostcfg.platforms.windows import probe
from hostcfg.platforms.windows.change_text import table_of, tables_of
from hostcfg.platforms.windows.keys import LEVEL_KEY, Situation
from hostcfg.platforms.windows.messages import DENIED_KINDS, error_kind, is_ok
from hostcfg.platforms.windows.outputs import MISSING_KINDS, native_keys, parse_sections
from hostcfg.platforms.windows.usage import is_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostcfg.changes import Outcome
    from hostcfg.platforms.changer import Job, JobStep
    from hostcfg.transports.base import CommandResult

    Same = Callable[[str, str, str], bool]
    Found = Mapping[str, Section]

_KINDS = {
    "global": "netsh-tcp-global",
    "heuristics": "netsh-tcp-heuristics",
    "dynamicport": "netsh-dynamicport",
}
_OF_TEMPLATE = "netsh-tcp-supplemental-internet"
_GUID = regex(r"MachineGuid\s+REG_SZ\s+([0-9A-Fa-f-]{8,64})")
_HOST_KEY = regex(r"^ssh-ed25519 ([A-Za-z0-9+/=]{16,200})", re.MULTILINE)
_MINUTE_S = 60


def sections(nonce: str, result: CommandResult) -> dict[str, Section]:
    """Sections by kind, the last of a kind wins; HostError ``command`` where the output is cut."""
    out, err = probe.decode(result.stdout), probe.decode(result.stderr)
    return {section.kind: section for section in split_frames(nonce, out, err)}


def begin_report(job: Job, found: Found, same: Same) -> BeginReport:
    """The report of begin; ChangeRefused where the host is not as planned: it must be asked to restore."""
    refusal = _refusal(found, job)
    values = {step.key: _value(step.key, found.get(_table("before", step.key, job))) for step in job.steps}
    identity = _identity(found)
    how = _text(found, "timer").split()
    report = BeginReport(
        refusal=refusal,
        state=_state(found) if refusal is None else "gone",
        values=values,
        details={},
        files=(),
        identity=identity,
        timer=how[0] if how else None,
        left_s=_left(found),
    )
    if refusal is None and not job.force:
        _refuse_other(job, report, same)
    return report


def _left(found: Found) -> int | None:
    """Seconds until the task starts, at most: with a whole minute it is up to one more.

    Sample of the section: ``schtasks 60``, the time that was asked for.
    """
    words = _text(found, "timer").split()
    if len(words) < 2 or not words[1].isdecimal():
        return None
    return int(words[1]) + (_MINUTE_S if words[0] == "schtasks" else 0)


def _refuse_other(job: Job, report: BeginReport, same: Same) -> None:
    others = [name for name, was in job.identity.items() if report.identity.get(name, was) != was]
    if others:
        raise ChangeRefused(
            f"this is not the machine that the change was made on ({others[0]} differs); --force overrides"
        )
    changed = []
    for step in job.steps:
        now = report.values[step.key]
        if step.before is not None and (now is None or not same(step.key, now, step.before)):
            changed.append(step.key)
    if changed:
        names = ", ".join(changed)
        raise ChangeRefused(f"changed since it was read, so the plan no longer fits: {names}; run it again")


def write_report(job: Job, found: Found, same: Same) -> WriteReport:
    """The report of write; ``stopped`` with state pending: the host took for good what is not."""
    refusal = _refusal(found, job)
    steps = tuple(_step(job, step, found, same) for step in job.steps)
    stopped = _text(found, "stop") or None
    good = all(step.outcome in ("set", "unchanged") for step in steps)
    bad = [step for step in steps if step.outcome not in ("set", "unchanged")]
    kept = job.accept and all(step.outcome == "clamped" for step in bad)
    if refusal is None and stopped is None and not good and not kept:
        stopped = "failed"
    return WriteReport(
        refusal=refusal,
        state=_state(found),
        steps=steps,
        stopped=stopped,
        unrestored=_unrestored(job, found),
        left_s=_left(found),
    )


def confirm_report(job: Job, found: Found, same: Same) -> ConfirmReport:
    """The report of confirm."""
    refusal = _refusal(found, job)
    overridden = {}
    if refusal is not None and refusal.code == "overridden":
        for step in job.steps:
            now = _value(step.key, found.get(_table("final", step.key, job)))
            if now is None or not same(step.key, now, step.wanted):
                overridden[step.key] = now
    return ConfirmReport(refusal, _state(found), overridden, _unrestored(job, found))


def status_report(found: Found) -> StatusReport:
    """The report of status and undo."""
    return StatusReport(
        state=_state(found),
        was=_state(found, "was"),
        identity=_identity(found),
        unrestored=tuple(_text(found, "unrestored").split()),
        left_s=_left(found),
        root="S-1-16-" in _text(found, "integrity"),
        log=_text(found, "log"),
    )


# -- pieces -----------------------------------------------------------------------------------------


def _table(when: str, key: str, job: Job) -> str:
    return f"{when}.{tables_of(job).index(table_of(key)) + 1}"


def _text(found: Found, kind: str) -> str:
    section = found.get(kind)
    return section.text.strip() if section is not None else ""


def _value(key: str, section: Section | None) -> str | None:
    """``key`` as a table shows it; None where it has no such row, or none that can be read."""
    if section is None:
        return None
    table, _, rest = key.partition(".")
    kind = _KINDS.get(table, _OF_TEMPLATE)
    name = f"supplemental.internet.{rest.rpartition('.')[2]}" if kind == _OF_TEMPLATE else key
    outputs = parse_sections([Section(kind, section.text)])
    native = native_keys(outputs, Situation()).get(name)
    return None if native is None else native.raw


def _state(found: Found, kind: str = "state") -> HostState:
    text = _text(found, kind)
    if text in get_args(HostState):
        return cast("HostState", text)
    raise HostError("command", f"the report of the change has no {kind!r}: is the output complete?")


def _identity(found: Found) -> dict[str, str]:
    text = _text(found, "identity")
    guid, key = _GUID.search(text), _HOST_KEY.search(text)
    named = {"machine-guid": guid, "host-key-ed25519": key}
    return {name: match[1] for name, match in named.items() if match is not None}


def _unrestored(job: Job, found: Found) -> tuple[str, ...]:
    names = {str(step.number): step.key for step in job.steps}
    return tuple(names.get(word, word) for word in _text(found, "unrestored").split())


# -- refusals ---------------------------------------------------------------------------------------


def _refusal(found: Found, job: Job) -> Refusal | None:
    code = _text(found, "refused")
    return Refusal(code, _explain(code, found, job)) if code else None


def _explain(code: str, found: Found, job: Job) -> str:
    texts = {
        "no_permission": "a change needs an elevated administrator there: log in as one",
        "directory": (
            r"%ProgramData%\hostcfg is there and hostcfg did not make it: look at it and remove it, "
            "since its contents would run as the system"
        ),
        "upload": r"its script did not arrive whole in %ProgramData%\hostcfg: the disk may be full",
        "space": r"can't write in %ProgramData%\hostcfg, the disk may be full",
        "lock": "another change has taken the host meanwhile",
        "timer": "no scheduled task could be made or found to restore it; nothing was changed",
        "state": f"the change is already {_text(found, 'state')} on the host",
        "overridden": "something else has changed it again",
    }
    return _holder(found, job) if code == "locked" else texts.get(code, code)


def _holder(found: Found, job: Job) -> str:
    """Sample of the section: ``pending``, the line of the owner, and ``timer`` where its task is there."""
    del job
    lines = [line.strip() for line in _text(found, "holder").splitlines()]
    state = lines[0] if lines else "pending"
    words = lines[1].split() if len(lines) > 1 else []
    owner = dict(word.split("=", 1) for word in words if "=" in word)
    name = words[0] if words else "unknown"
    end = "its timer restores the host unless it is confirmed"
    if "timer" not in lines[2:]:
        by_hand = rf"%ProgramData%\hostcfg\{name}\restore.cmd there"
        end = f"it has no timer: hostcfg confirm or rollback, or {by_hand}"
    return (
        f"change {name} by {owner.get('by', '?')} from {owner.get('from', '?')} is {state} there "
        f"since {owner.get('started', '?')}; {end}"
    )


# -- steps ------------------------------------------------------------------------------------------


def _step(job: Job, step: JobStep, found: Found, same: Same) -> StepReport:
    """One step's outcome, by its row after the write; never by an exit status or a word of success."""
    after = found.get(f"after.{step.number}")
    if after is None:
        return StepReport(step.key, None, None)
    said = _text(found, f"said.{step.number}")
    now = _value(step.key, after)
    final = _value(step.key, found.get(_table("final", step.key, job)))
    if now is not None and same(step.key, now, step.wanted):
        policy = _policy_level(found) if step.key == LEVEL_KEY else None
        if policy is not None and policy != step.wanted:
            return StepReport(step.key, "overridden", policy, f"group policy enforces {policy}")
        if final is None or not same(step.key, final, step.wanted):
            return StepReport(step.key, "overridden", final, "something else changed it again at once")
        known = step.before is not None and same(step.key, step.before, step.wanted)
        return StepReport(step.key, "unchanged" if known else "set", now)
    outcome, error = _failed(step, now, said, after, same)
    return StepReport(step.key, outcome, now, error)


def _failed(step: JobStep, now: str | None, said: str, after: Section, same: Same) -> tuple[Outcome, str]:
    kind = error_kind(said[:4096])
    line = _first_line(said)
    if kind in DENIED_KINDS:
        return "denied", line
    if now is None:
        return "absent", line or "netsh shows no such row"
    if step.key == LEVEL_KEY and _overridden_by_heuristics(after):
        return "overridden", "the window scaling heuristics override it: heuristics.wsh"
    if kind in MISSING_KINDS or is_usage(said):
        return "rejected", line
    if step.before is not None and same(step.key, now, step.before):
        return "rejected", "netsh took it and changed nothing" if is_ok(line) else line
    return "clamped", "" if is_ok(line) else line


def _first_line(said: str) -> str:
    return next((" ".join(line.split())[:160] for line in said.splitlines() if line.strip()), "")


def _overridden_by_heuristics(after: Section) -> bool:
    parsed = parse_sections([Section("netsh-tcp-global", after.text)])
    return parsed.values("netsh-tcp-global").get("heuristics_override_note") is True


def _policy_level(found: Found) -> str | None:
    """The level that group policy enforces, where PowerShell tells."""
    values = parse_sections([found["get-nettcpsetting"]] if "get-nettcpsetting" in found else []).values(
        "get-nettcpsetting"
    )
    if values.get("internet.auto_tuning_level_effective") != "grouppolicy":
        return None
    level = values.get("internet.auto_tuning_level_group_policy")
    return level if isinstance(level, str) else None
