"""The one place where errors of paramiko and of sockets become a HostError that says what to do."""

from __future__ import annotations

import errno
import os
import socket
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import paramiko
from paramiko.ssh_exception import IncompatiblePeer

from hostcfg.errors import HostcfgError, HostError, HostErrorKind
from hostcfg.lean import dataclass
from hostcfg.transports.words import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostcfg.transports.wire import Wire

Phase = Literal["connect", "login", "command"]

_TOO_SLOW = {
    "connect": "no SSH answer within {limit:g} s: is the host up, does a firewall let port {port} through?",
    "login": "the login did not end within {limit:g} s",
    "command": "the command did not end within {limit:g} s; give it longer with --timeout",
}


_REFUSALS = (b"Exceeded MaxStartups", b"Not allowed at this time")
"""What OpenSSH says in place of its banner (sshd.c, should_drop_connection())."""

_EXPECTED = (OSError, EOFError, paramiko.SSHException)
"""What our own code raises too, for what a host does."""

_OURS = f"{Path(__file__).parents[1]}{os.sep}"


@dataclass(slots=True)
class Attempt:
    """What is being tried with which host; ``wire`` says whether a limit ended it."""

    host: str
    address: str
    port: int
    phase: Phase
    limit_s: float
    wire: Wire | None = None


@contextmanager
def translated(attempt: Attempt) -> Iterator[Attempt]:
    """Raises HostError for everything that paramiko, sockets and name servers raise inside.

    What a host sends can make paramiko raise anything, in its own thread, and hand it to us.  What
    our own code raises is no host's fault, and stays as it is.
    """
    try:
        yield attempt
    except (HostcfgError, MemoryError):  # which is ours
        raise
    except Exception as error:
        if not isinstance(error, _EXPECTED) and _is_ours(error):
            raise
        kind, message = _explain(error, attempt)
        raise HostError(kind, message, host=attempt.host) from error


def _is_ours(error: Exception) -> bool:
    """Whether ``error`` was raised in hostcfg's code and not in what hostcfg calls."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS)


def _explain(error: Exception, attempt: Attempt) -> tuple[HostErrorKind, str]:
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "unreachable", "this machine starts no further thread (ulimit -u, -v): try a smaller --jobs"
    spent = attempt.wire.spent if attempt.wire is not None else None
    head = attempt.wire.head if attempt.wire is not None else b""
    if spent == "bytes" and attempt.phase == "command":
        return "command", "it sends without end; given up"
    if spent == "bytes":
        place = f"{attempt.address} port {attempt.port}"
        return "unreachable", f"{place} sends without end; given up: is an SSH server there?"
    if attempt.phase == "connect" and head.startswith(b"SSH-") and b"\n" in head and spent == "time":
        said = printable(head.split(b"\n")[0].decode("ascii", "replace").strip())
        return "timeout", (
            f"it is there ({said}), but the key exchange did not end within {attempt.limit_s:g} s:"
            " does the path drop large packets (MTU), or is the host overloaded?"
        )
    if spent == "time" or isinstance(error, TimeoutError):
        return "timeout", _TOO_SLOW[attempt.phase].format(limit=attempt.limit_s, port=attempt.port)
    if attempt.phase == "command" and isinstance(error, paramiko.ChannelException):
        return "command", f"the host opens no session ({_words(error)})"
    if attempt.phase == "command":
        return "command", f"the connection broke before the command ended ({_words(error)})"
    if attempt.phase == "login":
        return "auth", f"the host ended the login ({_words(error)})"
    return "unreachable", _unreachable(error, attempt)


def _unreachable(error: Exception, attempt: Attempt) -> str:
    place = f"{attempt.address} port {attempt.port}"
    if isinstance(error, socket.gaierror):
        if error.errno == socket.EAI_AGAIN:
            return f"no name server answered for {attempt.address}: check the DNS settings here"
        return f"the name {attempt.address} is unknown: check its spelling, or set HostName in ~/.ssh/config"
    if isinstance(error, ConnectionRefusedError):
        return f"{place} is closed (connection refused): does sshd run there, and is the port right?"
    if isinstance(error, IncompatiblePeer):
        return f"{place} and hostcfg have no algorithm in common ({_words(error)}): its SSH server is too old"
    if isinstance(error, paramiko.ChannelException):
        return f"the jump host can't or may not connect to {place} ({printable(error.text) or 'refused'})"
    head = attempt.wire.head if attempt.wire is not None else b""
    if head.startswith(_REFUSALS):
        said = printable(head.split(b"\n")[0].decode("ascii", "replace"))
        return (
            f"{place} takes no login now ({said!r}): too many at once or too many that failed"
            " (MaxStartups, PerSourcePenalties): wait a while, or try a smaller --jobs"
        )
    if head and not head.startswith(b"SSH-"):
        said = head.split(b"\n")[0].decode("ascii", "replace")
        return f"{place} does not speak SSH (it says {printable(said)!r}): is the port right?"
    if isinstance(error, EOFError | ConnectionError) or isinstance(
        error.__context__,
        EOFError | ConnectionError,  # paramiko's error about the banner hides it
    ):
        return (
            f"{place} closed the connection before the login: a firewall, or too many logins at once"
            " (MaxStartups; try a smaller --jobs)"
        )
    if isinstance(error, OSError) and error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
        return f"no route to {place} ({_words(error)})"
    if isinstance(error, OSError):
        return f"can't connect to {place} ({_words(error)})"
    return f"{place} does not speak SSH ({_words(error)}): is the port right?"


def _words(error: Exception) -> str:
    """The error's own words in one short line; a message of paramiko may hold what a host sent."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or "connection closed"
    if not isinstance(error, _EXPECTED):
        text = f"what it sent is not SSH: {type(error).__name__}: {text}"
    return printable(text)
