"""The transport contract: run one native command on one host and return what it printed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from types import TracebackType


DEFAULT_TIMEOUT_S = 30.0
"""Bounds each of connect, login and command of one host (``--timeout``)."""

DEFAULT_LIMIT_BYTES = 32 << 20
"""The most that one command may print."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to execute: ``line`` as the host's exec request, ``stdin`` as its whole standard input.

    POSIX hosts get ``line="/bin/sh -s"`` and the script on ``stdin``, whatever the login shell:
    nothing of a script is ever quoted for an unknown shell or seen in an argument list.
    """

    line: str
    stdin: bytes = b""

    @classmethod
    def sh(cls, script: str) -> Command:
        """``script`` under ``/bin/sh``; the shell reads it whole before it runs any of it.

        Commands in the script get an empty standard input, so none can eat the rest of it.
        """
        return cls("/bin/sh -s", f"{{\n{script}\n}} </dev/null\nexit $?\n".encode())


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Standard output and error as bytes, and the exit status (None: the connection ended first).

    ``host`` is whose they are, where who reads them is to name it.
    """

    stdout: bytes
    stderr: bytes
    status: int | None
    host: str | None = None


Tell = Callable[[str, str], None]
"""Is told a host's name and what is done there, for ``-v``; from any thread."""


def tell_nobody(host: str, text: str) -> None:
    """Nobody asked for ``-v``."""


def told_result(command: Command, result: CommandResult, seconds: float) -> str:
    """What came of a command, in one line without any of its output."""
    size = f"{len(result.stdout) + len(result.stderr):,} bytes in {seconds:.1f} s"
    end = "no status" if result.status is None else f"status {result.status}"
    return f"ran {command.line.partition(' ')[0]}, {len(command.stdin):,} bytes of script: {end}, {size}"


class Transport(ABC):
    """One way to one host.  A context manager: ``with`` opens and closes the connection.

    ``host`` is the name that the user gave.  ``commands_run`` and ``connections_made`` are counts,
    for tests and for ``-v``.
    Every failure is a :class:`hostcfg.errors.HostError` with its kind; foreign errors are mapped in
    one place per transport.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self.commands_run = 0
        self.connections_made = 0

    @abstractmethod
    def open(self) -> None:
        """Connect and log in; HostError ``unreachable``, ``host_key``, ``auth`` or ``timeout``."""

    @abstractmethod
    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        """Run one command as the user that the target names, through ``become`` where set.

        ``timeout_s`` overrides the transport's own limit.  HostError ``timeout`` when it takes
        longer, ``no_permission`` where ``become`` refuses, ``command`` when the connection breaks.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection; never raises."""

    @property
    def banner(self) -> str | None:
        """The SSH identification string, once open, where there is one: it may name the OS."""
        return None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
