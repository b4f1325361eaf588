"""This machine: commands under /bin/sh, or under cmd on Windows."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from hostcfg.errors import HostError
from hostcfg.transports.base import (
    DEFAULT_LIMIT_BYTES,
    DEFAULT_TIMEOUT_S,
    Command,
    CommandResult,
    Tell,
    Transport,
    tell_nobody,
    told_result,
)
from hostcfg.transports.become import dialogue_for

if TYPE_CHECKING:
    from hostcfg.transports.destination import Become
    from hostcfg.transports.prompts import Prompts


class LocalTransport(Transport):
    """This machine.  A command that takes longer than ``timeout_s`` is killed with all that it started.

    ``become`` runs commands through sudo or doas unless we are root already; ``prompts`` has the
    password.  Background processes must let go of standard output and error, as over SSH.
    """

    def __init__(
        self,
        host: str = "local",
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        become: Become | None = None,
        prompts: Prompts | None = None,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        tell: Tell = tell_nobody,
    ) -> None:
        super().__init__(host)
        self.timeout_s = timeout_s
        self.become = become
        self.prompts = prompts
        self.limit_bytes = limit_bytes
        self.tell = tell

    def open(self) -> None:
        """Nothing to connect to."""

    def close(self) -> None:
        """Nothing to close."""

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        limit_s = self.timeout_s if timeout_s is None else timeout_s
        self.commands_run += 1
        began = time.monotonic()
        try:
            if sys.platform == "win32":
                result = self._run_on_windows(command, limit_s)
            else:
                result = self._run_on_posix(command, limit_s)
        except OSError as error:
            raise HostError("command", f"can't run it: {error.strerror}", host=self.host) from error
        self.tell(self.host, told_result(command, result, time.monotonic() - began))
        return result

    if sys.platform == "win32":

        def _run_on_windows(self, command: Command, limit_s: float) -> CommandResult:
            if self.become is not None:
                raise HostError("no_permission", f"Windows has no {self.become}", host=self.host)
            process = subprocess.Popen(  # noqa: S602  # cmd is what runs there
                command.line,
                shell=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            try:
                stdout, stderr = process.communicate(command.stdin, limit_s)
            except subprocess.TimeoutExpired as error:
                raise HostError(
                    "timeout", f"the command did not end within {limit_s:g} s", host=self.host
                ) from error
            finally:
                _kill_tree(process)
            if len(stdout) + len(stderr) > self.limit_bytes:
                raise HostError(
                    "command", f"it printed more than {self.limit_bytes >> 20} MiB", host=self.host
                )
            return CommandResult(stdout, stderr, process.returncode)

    else:

        def _run_on_posix(self, command: Command, limit_s: float) -> CommandResult:
            from hostcfg.transports.local_process import hold

            become = None if os.geteuid() == 0 else self.become
            password = self.prompts.become.get(self.host) if become and self.prompts else None
            dialogue = dialogue_for(command, host=self.host, become=become, password=password)
            try:
                return dialogue.finish(hold(dialogue, self.host, limit_s, self.limit_bytes))
            except HostError as error:
                if error.kind == "no_permission" and self.prompts is not None:
                    self.prompts.become.forget(self.host)
                raise


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill what still runs of a command: Windows has no process groups to kill."""
    if process.poll() is not None:
        return
    import psutil

    try:
        leader = psutil.Process(process.pid)
        family = [*leader.children(recursive=True), leader]
    except psutil.NoSuchProcess:
        return
    for member in family:
        try:
            member.kill()
        except psutil.NoSuchProcess:
            continue
    process.communicate()
