"""The changer that Linux and FreeBSD share: scripts out, reports in."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.platforms.changer import Changer
from hostcfg.platforms.posix import reports, scripts
from hostcfg.platforms.posix.config import merge, without
from hostcfg.transports.base import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.changes import FileChange, FileState
    from hostcfg.platforms.changer import (
        BeginReport,
        ConfirmReport,
        Job,
        StatusReport,
        WriteReport,
    )
    from hostcfg.platforms.posix.config import Style
    from hostcfg.transports.base import CommandResult


# 24 digits hold any 64-bit value, and keep int() off a megabyte of them
_NUMBER = regex(r"-?(?:0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,24}|[1-9][0-9]{0,24})")


class PosixChanger(Changer):
    """Everything but what is true of one OS alone."""

    family: scripts.Family

    def begin(self, job: Job, nonce: str) -> Command:
        return Command.sh(scripts.begin(self.family, job, nonce))

    def read_begin(self, job: Job, nonce: str, result: CommandResult) -> BeginReport:
        return reports.begin_report(job, reports.sections(nonce, result))

    def write(self, job: Job, nonce: str) -> Command:
        return Command.sh(scripts.write(self.family, job, nonce))

    def read_write(self, job: Job, nonce: str, result: CommandResult) -> WriteReport:
        return reports.write_report(job, reports.sections(nonce, result), self.same)

    def confirm(self, job: Job, nonce: str, files: Sequence[FileState]) -> Command:
        return Command.sh(scripts.confirm(self.family, job, nonce, files))

    def read_confirm(self, job: Job, nonce: str, result: CommandResult) -> ConfirmReport:
        return reports.confirm_report(job, reports.sections(nonce, result), self.same)

    def status(self, change_id: str, nonce: str, *, restore: bool) -> Command:
        return Command.sh(scripts.status(self.family, change_id, nonce, restore=restore))

    def read_status(self, nonce: str, result: CommandResult) -> StatusReport:
        return reports.status_report(reports.sections(nonce, result))

    def same(self, key: str, a: str, b: str) -> bool:
        """Words one by one, numbers by base-0 value (procfs and sysctl(8) take hex and octal)."""
        del key
        words_a, words_b = a.split(), b.split()
        return len(words_a) == len(words_b) and all(map(_same_word, words_a, words_b))

    def listeners(self, what: str, ports: Sequence[int] | None) -> Sequence[str]:
        """The note that servers which listen already keep their first ``what``; none where nobody listens."""
        if ports is not None and not ports:
            return ()
        text = f"servers that listen already keep their first {what} until they restart"
        if ports is None:
            return (text,)
        more = f" and {len(ports) - 12} more" if len(ports) > 12 else ""
        shown = ", ".join(map(str, ports[:12])) + more
        return (f"{text}: TCP port{'s' if len(ports) > 1 else ''} {shown}",)

    @abstractmethod
    def style(self, path: str) -> Style:
        """How assignments stand in ``path``."""

    def file_contents(self, path: str, now: bytes | None, assignments: Mapping[str, str]) -> bytes:
        return merge(now, assignments, self.style(path))

    def file_restored(self, change: FileChange, now: FileState) -> FileState | None:
        before, after = change.before, change.after
        if now.contents == before.contents or after is None:
            return now
        if now.contents == after.contents:
            return before
        if now.contents is None:
            return None  # somebody removed it: nothing of ours is left in it
        contents = without(now.contents, after.contents or b"", before.contents or b"")
        if contents is None:
            return None
        if contents == b"" and before.contents is None:
            return before
        return replace(now, contents=contents)


def _same_word(a: str, b: str) -> bool:
    if a == b:
        return True
    left, right = number(a), number(b)
    return left is not None and left == right


def number(word: str) -> int | None:
    """Base-0 value of a word as strtoul(3) and the kernel take it (0x hex, 0 octal), or None."""
    if _NUMBER.fullmatch(word) is None:
        return None
    digits = word.removeprefix("-").lower()
    octal = digits != "0" and digits.startswith("0") and not digits.startswith("0x")
    value = int(digits, 8 if octal else 0)
    return -value if word.startswith("-") else value


def canonical(raw: str) -> str:
    """A wanted value as the kernel prints it: decimal numbers, single blanks."""
    values = ((word, number(word)) for word in raw.split())
    return " ".join(word if value is None else str(value) for word, value in values)
