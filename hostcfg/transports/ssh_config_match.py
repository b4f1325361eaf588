"""paramiko's configuration with a ``Match exec`` that leaves our standard input alone."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

from paramiko.config import SSHConfig

from hostcfg.errors import InputError

_TIMEOUT_S = 30.0


class MatchingConfig(SSHConfig):
    """paramiko runs ``Match exec`` through a library that reads this program's input while it waits."""

    exec_answers: dict[str, bool]

    @classmethod
    def read(cls, text: str, exec_answers: dict[str, bool]) -> MatchingConfig:
        """``text`` parsed; a command that was run before is answered from ``exec_answers``."""
        config = cls()
        config.exec_answers = exec_answers
        config.parse(io.StringIO(text))
        return config

    def _does_match(
        self, match_list: list[dict[str, Any]], host: str, canonical: bool, final: bool, options: Any
    ) -> Any:
        """As in paramiko, criteria from left to right; a command runs only if all before it hold."""
        others: list[dict[str, Any]] = []
        ran: list[dict[str, Any]] = []
        for criterion in match_list:
            if criterion["type"] != "exec":
                others.append(criterion)
                continue
            if others and not self._plain_match(others, host, canonical, final, options):
                return []
            command = self._tokenize(options, host, "match-exec", criterion["param"])  # type: ignore[attr-defined]
            if self._succeeds(command) == criterion["negate"]:
                return []
            ran.append(criterion)
        return self._plain_match(others, host, canonical, final, options) if others else ran

    def _plain_match(self, *arguments: Any) -> Any:
        return super()._does_match(*arguments)  # type: ignore[misc]

    def _succeeds(self, command: str) -> bool:
        if command not in self.exec_answers:
            argv = command if sys.platform == "win32" else ["/bin/sh", "-c", command]
            try:
                done = subprocess.run(
                    argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=_TIMEOUT_S
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise InputError(f"ssh configuration: Match exec {command!r}: {error}") from error
            self.exec_answers[command] = done.returncode == 0
        return self.exec_answers[command]
