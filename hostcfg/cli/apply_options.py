"""What the command line says of an apply, and the user's own check between its batches."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

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

    def planner(self) -> Planner:
        """Facts to a plan."""
        return Planner(
            self.profile_name, self.rate, self.rtt, self.inputs, persist=self.persist, force=self.force
        )

    def stored(self) -> dict[str, Json]:
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
        }


def parse_check(text: str | None) -> list[str] | None:
    """The words of ``--check``; UsageError for an unfinished quotation or no word at all."""
    if text is None:
        return None
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--check {text[:60]!r}: {error}") from None
    if not words:
        raise UsageError("--check takes a command")
    return words


def run_check(words: Sequence[str], names: Sequence[str], change_id: str) -> str | None:
    """What is wrong after a batch, by the user's own command; None if it says 0.

    It gets the batch's hosts in ``HOSTCFG_HOSTS``, with blanks between, and the change's id in
    ``HOSTCFG_CHANGE``; what it prints goes to standard error.
    """
    environment = {**os.environ, "HOSTCFG_HOSTS": " ".join(names), "HOSTCFG_CHANGE": change_id}
    try:
        done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=2)
    except OSError as error:
        return f"--check {words[0]!r} can't be run: {error.strerror}"
    if done.returncode == 0:
        return None
    how = f"with {done.returncode}" if done.returncode > 0 else f"by signal {-done.returncode}"
    return f"--check {words[0]!r} ended {how} after {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}"
