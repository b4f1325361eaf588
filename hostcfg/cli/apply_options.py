"""What the command line says of an apply, and the user's own check between its batches."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.batches import Rules
from hostcfg.cli.change_common import Planner
from hostcfg.errors import UsageError
from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.batches import OnFailure
    from hostcfg.model import Json


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says of an apply; rate and rtt still as text."""

    profile_name: str
    rate: str | None
    rtt: str | None
    inputs: Sequence[str]
    persist: bool
    revert_in_s: int
    hold: bool
    force: bool
    max_failures: int
    on_failure: OnFailure
    check: str | None
    profile_sha256: str | None = None
    """Of the profile's file when the run began; None from the command line."""

    def planner(self) -> Planner:
        """Facts to a plan."""
        return Planner(
            self.profile_name, self.rate, self.rtt, self.inputs, persist=self.persist, force=self.force
        )

    def refuse_another_profile(self, planner: Planner, change_id: str) -> None:
        """UsageError where the profile's file is not what it was: one change would be of two minds."""
        path = planner.profile.path
        if self.profile_sha256 not in (None, _sha256(path)):
            raise UsageError(
                f"{path} has changed since change {change_id} began: put it back, or begin a new apply"
            )

    def rules(self) -> Rules:
        """When a run of it goes on."""
        return Rules(self.max_failures, self.on_failure)

    def stored(self, planner: Planner) -> dict[str, Json]:
        """As the journal keeps it for a resume.

        Not the check's command, which may hold a password; a profile's file by its whole path.
        """
        own = Path(self.profile_name)
        name = str(own.absolute()) if own.exists() else self.profile_name
        return {
            **asdict(self),
            "inputs": list(self.inputs),
            "profile_name": name,
            "check": self.check is not None,
            "profile_sha256": _sha256(planner.profile.path),
        }


def _sha256(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


SHELL = "/bin/sh"

_NOT_EXECUTABLE, _NOT_FOUND = 126, 127  # POSIX, sh, EXIT STATUS


def parse_check(text: str | None, shell: str = SHELL) -> str | None:
    """``--check`` as the shell gets it; UsageError for no command, or one that no shell can read."""
    if text is None:
        return None
    if not text.strip():
        raise UsageError("--check takes a command")
    try:
        read = subprocess.run([shell, "-n"], input=os.fsencode(text), capture_output=True)  # not run yet
    except OSError:
        return text  # what can't be run says so when it is
    if read.returncode != 0:
        said = read.stderr.decode(errors="replace").strip().splitlines() or [f"{shell} can't read it"]
        raise UsageError(f"--check {text!r}: {said[0]}")
    return text


def run_check(command: str, names: Sequence[str], change_id: str, shell: str = SHELL) -> str | None:
    """What is wrong after a batch, by the user's own command; None if it says 0.

    ``/bin/sh -c`` runs it here, as make(1) runs a recipe.  The names of hosts reach it through its
    environment alone: the batch's in ``HOSTCFG_HOSTS``, with blanks between, and the change's id in
    ``HOSTCFG_CHANGE``.  What it prints goes to standard error.
    """
    environment = {**os.environ, "HOSTCFG_HOSTS": " ".join(names), "HOSTCFG_CHANGE": change_id}
    where = f"after {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}"
    try:
        done = subprocess.run([shell, "-c", command], env=environment, stdin=subprocess.DEVNULL, stdout=2)
    except OSError as error:
        return f"--check {command!r} can't be run {where}: {shell}: {error.strerror}"
    return _said(done.returncode, f"--check {command!r}", where)


def _said(status: int, check: str, where: str) -> str | None:
    if status == 0:
        return None
    if status == _NOT_FOUND:
        return f"{check} can't be run {where}: no such command (status 127)"
    if status == _NOT_EXECUTABLE:
        return f"{check} can't be run {where}: it is not executable (status 126)"
    return f"{check} ended {f'with {status}' if status > 0 else f'by signal {-status}'} {where}"
