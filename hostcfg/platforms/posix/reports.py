"""What the scripts print, read: frames to reports.  Sample of one section, between two frames::

@@hostcfg 0011223344556677 begin after.1
4096	131072	12582912
@@hostcfg 0011223344556677 end after.1 0
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast, get_args

from hostcfg.changes import FileState
from hostcfg.errors import HostError
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostcfg.changes import Outcome
    from hostcfg.model import Section
    from hostcfg.platforms.changer import Job, JobStep
    from hostcfg.transports.base import CommandResult

    Same = Callable[[str, str, str], bool]


def sections(nonce: str, result: CommandResult) -> dict[str, Section]:
    """Sections by kind, the last of a kind wins; HostError ``command`` where the output is cut."""
    out = result.stdout.decode("utf-8", errors="backslashreplace")
    err = result.stderr.decode("utf-8", errors="backslashreplace")
    return {section.kind: section for section in split_frames(nonce, out, err, host=result.host)}


def begin_report(job: Job, found: Mapping[str, Section]) -> BeginReport:
    """The report of ``begin.sh``."""
    values = {step.key: _value(found.get(f"before.{step.number}")) for step in job.steps}
    details = {
        key: value for key, value in values.items() if value is not None and value.startswith("qdisc ")
    }
    how, left = _timer(found)
    refusal = _refusal(found, job)
    return BeginReport(
        refusal=refusal,
        state=_state(found) if refusal is None else "gone",
        values=values,
        details=details,
        files=() if refusal else tuple(_file(n, path, found) for n, path in enumerate(job.paths, 1)),
        identity=_pairs(found),
        timer=how,
        left_s=left,
        listening_ports=_ports(_text(found, "listeners")) if "listeners" in found else None,
    )


def write_report(job: Job, found: Mapping[str, Section], same: Same) -> WriteReport:
    """The report of ``write.sh``."""
    left = _text(found, "left")
    return WriteReport(
        refusal=_refusal(found, job),
        state=_state(found),
        steps=tuple(_step(step, found, same) for step in job.steps),
        stopped=_text(found, "stop") or None,
        unrestored=_unrestored(job, found),
        modules=tuple(_text(found, "modules").split()),
        left_s=int(left) if left else None,
    )


def confirm_report(job: Job, found: Mapping[str, Section], same: Same) -> ConfirmReport:
    """The report of ``confirm.sh``."""
    finals = {s.key: (s.wanted, _value(found.get(f"final.{s.number}"))) for s in job.steps}
    return ConfirmReport(
        refusal=_refusal(found, job),
        state=_state(found),
        overridden={
            key: value
            for key, (wanted, value) in finals.items()
            if f"final.{_number(job, key)}" in found and (value is None or not same(key, value, wanted))
        },
        unrestored=_unrestored(job, found),
    )


def status_report(found: Mapping[str, Section]) -> StatusReport:
    """The report of ``status.sh``."""
    _, left = _timer(found)
    return StatusReport(
        state=_state(found),
        was=_state(found, "was"),
        identity=_pairs(found),
        unrestored=tuple(_text(found, "unrestored").split()),
        left_s=left,
        root=_text(found, "uid") == "0",
        written=frozenset(int(word) for word in _text(found, "written").split() if word.isdecimal()),
        log="\n".join(part for part in (_text(found, "restore"), _text(found, "log")) if part),
    )


def _text(found: Mapping[str, Section], kind: str) -> str:
    section = found.get(kind)
    return section.text.strip() if section is not None else ""


def _value(section: Section | None) -> str | None:
    return section.text if section is not None and section.status == 0 else None


def _number(job: Job, key: str) -> int:
    return next(step.number for step in job.steps if step.key == key)


def _state(found: Mapping[str, Section], kind: str = "state") -> HostState:
    text = _text(found, kind)
    if text in get_args(HostState):
        return cast("HostState", text)
    return "gone" if "refused" in found else _cut(kind)


def _cut(kind: str) -> HostState:
    raise HostError("command", f"the report of the change has no {kind!r}: is the output complete?")


def _pairs(found: Mapping[str, Section]) -> dict[str, str]:
    words = (line.split(None, 1) for line in _text(found, "identity").splitlines())
    return {word[0]: word[1] for word in words if len(word) == 2}


def _timer(found: Mapping[str, Section]) -> tuple[str | None, int | None]:
    """("systemd", 58) of a ``timer`` section; no time where no timer runs."""
    section = found.get("timer")
    if section is None:
        return None, None
    words = section.text.split()
    if len(words) == 2 and words[1].isdecimal():
        return words[0], int(words[1])
    return (words[0] if words else None), None


def _ports(text: str) -> tuple[int, ...]:
    """Hexadecimal ports of /proc/net/tcp, or decimal ones with a leading ``:`` from sockstat(1)."""
    found = set()
    for word in text.split():
        number = word.removeprefix(":")
        try:
            found.add(int(number, 10 if word.startswith(":") else 16))
        except ValueError:
            continue
    return tuple(sorted(found))


def _file(number: int, path: str, found: Mapping[str, Section]) -> FileState:
    """A file as begin found it.  Sample of the ``file.N`` section: ``-rw-r--r-- 1 0 0 1234 ...``."""
    listing = _text(found, f"file.{number}")
    if listing == "absent":
        return FileState(path, None)
    match = re.match(
        r"(?P<mode>[-a-zA-Z]{10})\S*\s+\d+\s+(?P<uid>\d+)\s+(?P<gid>\d+)\s+(?P<size>\d+)\s", listing
    )
    if match is None:
        raise HostError("command", f"can't read the owner and mode of {path}: {listing[:80]!r}")
    try:
        contents = bytes.fromhex(_text(found, f"bytes.{number}"))
    except ValueError:
        contents = b""
    if len(contents) != int(match["size"]):
        raise HostError("command", f"can't read {path}: the host has neither od(1) nor hexdump(1)")
    return FileState(path, contents, _mode(match["mode"]), int(match["uid"]), int(match["gid"]))


def _mode(listing: str) -> int:
    """``-rwsr-x--t`` as bits (ls(1), POSIX "Long format")."""
    bits = int("".join("1" if letter in "rwxst" else "0" for letter in listing[1:10]), 2)
    for place, bit in ((3, 0o4000), (6, 0o2000), (9, 0o1000)):
        bits |= bit if listing[place] in "sStT" else 0
    return bits


def _unrestored(job: Job, found: Mapping[str, Section]) -> tuple[str, ...]:
    """Keys and paths from the numbers that restore.sh leaves: ``3 f.1``."""
    names = {str(step.number): step.key for step in job.steps}
    names |= {f"f.{number}": path for number, path in enumerate(job.paths, 1)}
    return tuple(names.get(word, word) for word in _text(found, "unrestored").split())


def _refusal(found: Mapping[str, Section], job: Job) -> Refusal | None:
    section = found.get("refused")
    if section is None:
        return None
    code, _, rest = section.text.strip().partition("\n")
    return Refusal(code, _explain(code, rest.strip(), found, job))


def _explain(code: str, rest: str, found: Mapping[str, Section], job: Job) -> str:
    keys = {str(step.number): step.key for step in job.steps}
    named = ", ".join(keys.get(word, word) for word in rest.split())
    return {
        "locked": lambda: _holder(found),
        "lock": lambda: f"another change ({rest or 'unknown'}) has taken the host meanwhile",
        "no_permission": lambda: f"a change needs root there, not {rest}: log in as root or use --become",
        "other_machine": lambda: (
            "this is not the machine that the change was made on "
            f"(its identity is {' '.join(rest.split())[:160]!r} now); --force overrides"
        ),
        "changed": lambda: f"changed since it was read, so the plan no longer fits: {named}; run it again",
        "space": lambda: f"can't write there, the disk may be full or read-only: {rest}",
        "exists": lambda: rest,
        "timer": lambda: f"the revert timer does not run: {rest}; nothing was changed",
        "late": lambda: (
            f"only {rest} s are left of {job.revert_in_s} s until the timer restores; "
            "use a longer --revert-in"
        ),
        "state": lambda: f"the change is already {rest} on the host",
        "overridden": lambda: f"something else has changed it again: {named}",
    }.get(code, lambda: rest or code)()


def _holder(found: Mapping[str, Section]) -> str:
    lines = _text(found, "holder").splitlines()
    owner = dict(line.split("=", 1) for line in lines[1:] if "=" in line)
    change = lines[0] if lines else "unknown"
    who = f"change {change} by {owner.get('by', '?')} from {owner.get('from', '?')}"
    how, left = _timer({"timer": found["holder-timer"]}) if "holder-timer" in found else (None, None)
    if owner.get("state") == "preparing":
        end = "it has just begun and not written anything yet"
    elif how == "alive":
        end = f"it reverts in {left} s unless it is confirmed"
    elif how == "dead":
        end = "its timer is gone: hostcfg rollback --unfinished where it was started, "
        end += f"or sh /var/lib/hostcfg/{change}/restore on the host"
    else:
        end = "it has no timer and waits for hostcfg confirm or rollback"
    return f"{who} is {owner.get('state', 'pending')} there since {owner.get('started', '?')}; {end}"


_ERRNO: tuple[tuple[str, Outcome], ...] = (
    ("read-only file system", "read_only"),
    ("is a read only", "read_only"),
    ("is read only", "read_only"),
    ("operation not permitted", "denied"),
    ("unknown oid", "absent"),
)


def _step(step: JobStep, found: Mapping[str, Section], same: Same) -> StepReport:
    """One step's outcome, by what was read before and after; never by an exit status."""
    before, after = found.get(f"before.{step.number}"), found.get(f"after.{step.number}")
    final = found.get(f"final.{step.number}")
    error = " ".join(_text(found, f"error.{step.number}").split())
    if f"changed.{step.number}" in found and before is not None:
        return StepReport(step.key, "overridden", _value(before), "changed by someone else just now")
    if after is None or before is None:
        return StepReport(step.key, None, None, error)
    mode = _text(found, f"mode.{step.number}")
    outcome = _outcome(step, (_value(before), _value(after)), after.status, error.lower(), mode, same)
    if outcome == "set" and final is not None and "stop" not in found:
        now = _value(final)
        if now is None or not same(step.key, now, step.wanted):
            return StepReport(step.key, "overridden", now, "something else changed it again at once")
    return StepReport(step.key, outcome, _value(after), error)


def _outcome(
    step: JobStep,
    read: tuple[str | None, str | None],
    status: int | None,
    error: str,
    mode: str,
    same: Same,
) -> Outcome:
    before, after = read
    if after is not None and same(step.key, after, step.wanted):
        return "unchanged" if before is not None and same(step.key, before, step.wanted) else "set"
    if status == 1:
        return "absent"
    for words, outcome in _ERRNO:
        if words in error:
            return outcome
    if "permission denied" in error:  # EACCES for root: the kernel gave the file no write bit
        return "denied" if "w" in mode[1:10] else "read_only"
    if error or after is None or (before is not None and same(step.key, before, after)):
        return "rejected"
    return "clamped"
