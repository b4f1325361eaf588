"""The scripts for one change: the ``.sh`` files with this change's names and values in front, quoted."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.platforms.posix.sh import print_bytes, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.changes import FileState
    from hostcfg.platforms.changer import Job, JobStep

BASE = "/var/lib/hostcfg"
"""Where backups and locks are on the host, root only (hier(7), FHS 5.8)."""


@dataclass(frozen=True, slots=True)
class Family:
    """What a POSIX system adds: its ``change.sh`` and how a native key is addressed.

    ``address`` gives the kind and the argument of a key: ``("sysctl", "/proc/sys/net/...")``.
    ``expected`` is a wanted value as the system prints it, for the comparison on the host.
    """

    script: str
    address: Callable[[str], tuple[str, str]]
    expected: Callable[[str, str], str]


@cache
def text_of(package: str, name: str) -> str:
    """A ``.sh`` file of a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def _part(name: str) -> str:
    return text_of("hostcfg.platforms.posix", name)


def _assign(**values: str | int) -> str:
    return "".join(f"{name}={quote(str(value))}\n" for name, value in values.items())


def begin(family: Family, job: Job, nonce: str) -> str:
    """Exec 2: see ``begin.sh``."""
    saved = saved_script(family, job)
    wanted = "\n".join(f"{name} {value}" for name, value in sorted(job.identity.items()))
    head = _assign(
        hc_by=job.by,
        hc_from=job.from_host,
        hc_started=job.started,
        hc_want_identity=wanted,
        hc_restore_bytes=len(saved.encode()),
        hc_force=int(job.force),
    )
    # no here-document: bash and mksh keep one in a file, and /tmp may be full or read-only
    text = f"hc_restore_text() {{\nprintf '%s' {quote(saved)}\n}}\n"
    return _whole(family, job, nonce, head + text, "begin.sh", "hc_begin")


def write(family: Family, job: Job, nonce: str) -> str:
    """Exec 3: see ``write.sh``; it can restore by itself, so that a stop needs no further exec."""
    head = _assign(hc_accept=int(job.accept))
    return _whole(family, job, nonce, head, "write.sh", "hc_write")


def confirm(family: Family, job: Job, nonce: str, new_files: Sequence[FileState]) -> str:
    """Exec 4: see ``confirm.sh``."""
    numbers = {path: number for number, path in enumerate(job.paths, 1)}
    rows: list[str] = []
    contents: list[str] = []
    for state in new_files:
        data = state.contents
        number = numbers[state.path]
        rows.append(
            f'"$1" {number} {quote(state.path)} {state.mode:o} {state.uid} {state.gid}'
            f" {0 if data is None else 1} {0 if data is None else len(data)}\n"
        )
        contents.append(f"{number})\n{print_bytes(data or b'')}\n;;\n")
    head = (
        _assign(hc_accept=int(job.accept), hc_unload_list=" ".join(job.unload))
        + _function("hc_each_write", rows)
        + _function("hc_contents", [f"case $1 in\n{''.join(contents)}esac\n"])
    )
    return _whole(family, job, nonce, head, "confirm.sh", "hc_confirm")


def status(family: Family, change_id: str, nonce: str, *, restore: bool) -> str:
    """What has become of a change: see ``status.sh``."""
    head = _assign(hc_id=change_id, hc_base=BASE, hc_nonce=nonce, hc_revert=0) + _assign(
        hc_do="restore" if restore else "status"
    )
    return f"{head}{_part('common.sh')}\n{family.script}\n{_part('status.sh')}\nhc_status\n"


def saved_script(family: Family, job: Job) -> str:
    """The script that stays on the host: restore by hand, or from the timer; one compound command.

    A compound command is read whole before any of it runs, so a file that is cut does nothing.
    """
    body = (
        _data(family, job, "-")
        + f"{_part('common.sh')}\n{family.script}\n{_part('restore.sh')}\n{_part('saved.sh')}"
    )
    about = f"# hostcfg change {job.change_id}: puts back what was there before it."
    return f"#!/bin/sh\n{about}\n{{\n{body}\nexit\n}}\n"


def _whole(family: Family, job: Job, nonce: str, head: str, part: str, call: str) -> str:
    return (
        head
        + _data(family, job, nonce)
        + f"{_part('common.sh')}\n{family.script}\n{_part('restore.sh')}\n{_part(part)}\n{call}\n"
    )


def _data(family: Family, job: Job, nonce: str) -> str:
    head = _assign(
        hc_id=job.change_id,
        hc_base=BASE,
        hc_nonce=nonce,
        hc_revert=job.revert_in_s,
        hc_modules=" ".join(job.modules),
    )
    rows = [_step_row(family, step) for step in job.steps]
    paths = [f'"$1" {number} {quote(path)}\n' for number, path in enumerate(job.paths, 1)]
    return (
        head
        + _function("hc_each", rows)
        + _function("hc_each_back", rows[::-1])
        + _function("hc_each_file", paths)
    )


def _step_row(family: Family, step: JobStep) -> str:
    kind, argument = family.address(step.key)
    words = (kind, argument, step.before or "", str(int(step.before is not None)), step.wanted)
    quoted = " ".join(quote(word) for word in (*words, family.expected(step.key, step.wanted)))
    return f'"$1" {step.number} {quoted}\n'


def _function(name: str, rows: Sequence[str]) -> str:
    return f"{name}() {{\n{''.join(rows)}return 0\n}}\n"
