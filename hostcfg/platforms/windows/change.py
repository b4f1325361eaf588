"""How Windows is changed: netsh, a script that stays on the host, and a scheduled task that runs it.

Each apply is a probe, the upload of the script's first pieces, begin, write, and confirm over a new
connection: five or six commands.  What netsh sets lasts over a boot, so nothing else persists it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import ChangeRefused, UsageError
from hostcfg.model import State
from hostcfg.platforms.changer import Changer
from hostcfg.platforms.windows import change_reports as reports
from hostcfg.platforms.windows import change_text as text
from hostcfg.platforms.windows.keys import BUILD_8, LEVEL_KEY
from hostcfg.platforms.windows.write import STORE, set_command
from hostcfg.transports.base import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.changes import FileChange, FileState
    from hostcfg.model import Facts
    from hostcfg.platforms.changer import BeginReport, ConfirmReport, Job, StatusReport, WriteReport
    from hostcfg.transports.base import CommandResult

_NEW_RENO = frozenset({"none", "newreno"})


class WindowsChanger(Changer):
    """Vista and Server 2008 to Windows 11 and Server 2025, over cmd.exe or PowerShell."""

    os = "windows"

    def prepare(self, job: Job, nonce: str) -> Sequence[Command]:
        return [Command(line) for line in text.prepare_lines(job, nonce)]

    def begin(self, job: Job, nonce: str) -> Command:
        return Command(text.begin_line(job, nonce))

    def read_begin(self, job: Job, nonce: str, result: CommandResult) -> BeginReport:
        """ChangeRefused too: another machine, or values that changed since they were read."""
        return reports.begin_report(job, reports.sections(nonce, result), self.same)

    def write(self, job: Job, nonce: str) -> Command:
        return Command(text.write_line(job, nonce))

    def read_write(self, job: Job, nonce: str, result: CommandResult) -> WriteReport:
        return reports.write_report(job, reports.sections(nonce, result), self.same)

    def confirm(self, job: Job, nonce: str, files: Sequence[FileState]) -> Command:
        """``files`` is empty here: netsh keeps what it sets."""
        del files
        return Command(text.run_line(job.change_id, "confirm", nonce))

    def read_confirm(self, job: Job, nonce: str, result: CommandResult) -> ConfirmReport:
        return reports.confirm_report(job, reports.sections(nonce, result), self.same)

    def status(self, change_id: str, nonce: str, *, restore: bool) -> Command:
        return Command(text.run_line(change_id, "undo" if restore else "status", nonce))

    def read_status(self, nonce: str, result: CommandResult) -> StatusReport:
        return reports.status_report(reports.sections(nonce, result))

    def same(self, key: str, a: str, b: str) -> bool:
        """Words in any case; New Reno has two names."""
        left, right = a.lower().split(), b.lower().split()
        if left == right:
            return True
        return key.endswith(".congestionprovider") and {*left, *right} <= _NEW_RENO

    def inverse(self, facts: Facts, key: str, wanted: str) -> tuple[str | None, str]:
        try:
            set_command(key, wanted)
            native = facts.native.get(key)
            if native is None or native.raw is None or native.state is not State.VALUE:
                state = "absent" if native is None else native.state.value
                return None, f"its value could not be read ({state})"
            command = set_command(key, native.raw)
        except UsageError as error:
            raise ChangeRefused(error.message, key=error.key) from error
        if key == LEVEL_KEY and facts.details.get("heuristics_override") is True:
            return None, "the level shown is what the heuristics made of it, and not the one that was set"
        for boot in facts.boot:
            if boot.key == key and not self.same(key, boot.raw, native.raw):
                why = f"it runs with {native.raw} and boots with {boot.raw}, and netsh sets both at once"
                return None, why
        return command, ""

    def notes(self, facts: Facts, keys: Sequence[str], *, persist: bool) -> Sequence[str]:
        del keys
        kept = "netsh keeps what it sets over a boot"
        notes = [f"{kept}; --persist changes nothing here" if persist else kept]
        timed = "the revert timer is a scheduled task"
        if _makes_tasks(facts):
            return [*notes, f"{timed} with seconds, made by PowerShell"]
        notes.append(f"{timed} on the next whole minute, since this host's PowerShell can't make one")
        return [*notes, "it follows the local time: a change to or from daylight saving time would move it"]

    def persisted(self, facts: Facts, values: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
        del facts, values
        return {}

    def file_contents(self, path: str, now: bytes | None, assignments: Mapping[str, str]) -> bytes:
        del now, assignments
        raise ChangeRefused(f"hostcfg writes no {path}: {STORE}")

    def file_restored(self, change: FileChange, now: FileState) -> FileState | None:
        """No change here has a file."""
        del change
        return now

    def outranked_by(self, facts: Facts, key: str) -> str | None:
        del facts, key
        return None

    def unreached(self, keys: Sequence[str], ports: Sequence[int] | None) -> Sequence[str]:
        del ports
        if not keys:
            return ()
        return ("connections that exist keep what they have; new ones get the new values",)


def _makes_tasks(facts: Facts) -> bool:
    """Register-ScheduledTask comes with Windows 8 and Server 2012, and needs a PowerShell that starts."""
    build = facts.details.get("build")
    started = any(section.kind == "powershell" and section.status == 0 for section in facts.sections)
    return started and isinstance(build, int) and build >= BUILD_8


CHANGER = WindowsChanger()
