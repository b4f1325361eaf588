"""How a command is talked through ``sudo`` or ``doas``: dialogues without input or output of their own.

A transport executes :attr:`Dialogue.line`, sends what :meth:`Dialogue.start` and
:meth:`Dialogue.feed` return, and gives the end to :meth:`Dialogue.finish`.  The password goes out
only after the program asked for it, once, and the command's own input only after the command has
begun: neither can reach the wrong reader, whether a password is wanted or not.
"""

from __future__ import annotations

import re
import secrets
import shlex
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from hostcfg.errors import HostError
from hostcfg.transports.base import CommandResult
from hostcfg.transports.words import printable

if TYPE_CHECKING:
    from hostcfg.transports.base import Command
    from hostcfg.transports.destination import Become

_MAX_WORDS_BYTES = 256 * 1024
"""More than any lecture, banner or shell profile prints before a command."""

_PASSWORD_WANTED = (
    "a password is required",  # sudo
    "interactive authentication is required",  # sudo-rs
    "authentication required",  # opendoas
    "authorization required",  # OpenBSD, FreeBSD
    "a tty is required",
)

_TTY_PROMPT = re.compile(rb"(password|passwort|mot de passe|contrase\S{1,3}a)[^\n:]{0,80}: ?$", re.IGNORECASE)


def dialogue_for(command: Command, *, host: str, become: Become | None, password: str | None) -> Dialogue:
    """The way to run ``command``: as it is, or through ``become`` with or without a password."""
    if become is None:
        return Plain(command, host)
    if password is None:
        return WithoutPassword(command, host, become)
    if any(c in password for c in "\r\n\0"):
        raise HostError("no_permission", f"the {become} password holds a line break", host=host)
    return (
        SudoPassword(command, host, password) if become == "sudo" else DoasTerminal(command, host, password)
    )


class Dialogue(ABC):
    """One run of one command.  ``pty`` asks for a terminal, whose output all comes as ``stdout``."""

    line: str
    pty = False
    listens = True  # what the host says may have to be answered

    def __init__(self, command: Command, host: str) -> None:
        self.command = command
        self.host = host
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.input_ended = True  # nothing follows what was returned so far

    @abstractmethod
    def start(self) -> bytes:
        """What to send at once."""

    @abstractmethod
    def feed(self, stdout: bytes, stderr: bytes) -> bytes:
        """Take what came, return what to send; HostError ``no_permission`` at a wrong password."""

    @abstractmethod
    def finish(self, status: int | None) -> CommandResult:
        """The command's own output and status; HostError where it never began."""

    def waiting_for(self) -> str:
        """What has not happened yet, for a timeout's message; empty when the command runs."""
        return ""


class Plain(Dialogue):
    """The command as it is."""

    listens = False

    def __init__(self, command: Command, host: str) -> None:
        super().__init__(command, host)
        self.line = command.line

    def start(self) -> bytes:
        return self.command.stdin

    def feed(self, stdout: bytes, stderr: bytes) -> bytes:
        self.stdout += stdout
        self.stderr += stderr
        return b""

    def finish(self, status: int | None) -> CommandResult:
        return CommandResult(bytes(self.stdout), bytes(self.stderr), status)


class _Become(Dialogue):
    """The command tells on standard error that it has begun; what came before is the program's own."""

    def __init__(self, command: Command, host: str, program: Become) -> None:
        super().__init__(command, host)
        self.program = program
        self.nonce = secrets.token_hex(8)
        self.begun = False
        self._searched = 0
        self._mark = f"@@hostcfg {self.nonce} begun\n".encode()

    def wrapped(self) -> str:
        """The command behind its mark, as one word for any login shell (csh and fish too)."""
        return shlex.quote(f"echo @@hostcfg {self.nonce} begun >&2; {self.command.line}")

    def feed(self, stdout: bytes, stderr: bytes) -> bytes:
        self.stdout += stdout
        self.stderr += stderr
        if self.begun:
            return b""
        at = self._search()
        if at < 0:
            return self.before_begin()
        self.begun = True
        del self.stderr[: at + len(self._mark)]
        return self.at_begin()

    def _search(self) -> int:
        """Where the mark is, or -1; what a program prints before it has some bounds."""
        at = self.stderr.find(self._mark, self._searched)
        self._searched = max(0, len(self.stderr) - len(self._mark))
        if at < 0 and len(self.stderr) > _MAX_WORDS_BYTES:
            raise HostError("command", f"{self.program} prints without end", host=self.host)
        return at

    def before_begin(self) -> bytes:
        """What to send while the program has not started the command."""
        return b""

    def at_begin(self) -> bytes:
        """What to send once the command runs."""
        return b""

    def finish(self, status: int | None) -> CommandResult:
        if not self.begun:
            words = self.stderr.decode("utf-8", "replace") or self.stdout.decode("utf-8", "replace")
            raise refusal(self.program, words, status, self.host)
        return CommandResult(bytes(self.stdout), bytes(self.stderr), status)

    def waiting_for(self) -> str:
        return "" if self.begun else f"{self.program} did not start the command"


class WithoutPassword(_Become):
    """``sudo -n`` or ``doas -n``: no password, no question, no further round trip."""

    def __init__(self, command: Command, host: str, program: Become) -> None:
        super().__init__(command, host, program)
        self.line = f"{program} -n -- /bin/sh -c {self.wrapped()}"

    def start(self) -> bytes:
        return self.command.stdin


class SudoPassword(_Become):
    """``sudo -S`` with a prompt of our own: its second appearance means that the password is wrong."""

    def __init__(self, command: Command, host: str, password: str) -> None:
        super().__init__(command, host, "sudo")
        self.input_ended = False
        self._rejected = False
        self._password: bytes | None = password.encode() + b"\n"
        self._prompt = f"@@hostcfg:{self.nonce}:password".encode()
        self.line = f"sudo -S -p {self._prompt.decode()} -- /bin/sh -c {self.wrapped()}"

    def start(self) -> bytes:
        return b""

    def before_begin(self) -> bytes:
        at = self.stderr.find(self._prompt)
        if at < 0:
            return b""
        del self.stderr[at : at + len(self._prompt)]
        self._searched = 0
        if self._password is None:
            self._rejected = self.input_ended = True  # sudo sees the end, and counts one failure
            return b""
        reply, self._password = self._password, None
        return reply

    def finish(self, status: int | None) -> CommandResult:
        if self._rejected:
            raise HostError("no_permission", "sudo does not accept the password", host=self.host)
        return super().finish(status)

    def at_begin(self) -> bytes:
        self.input_ended = True
        return self.command.stdin


class DoasTerminal(Dialogue):
    """``doas`` reads its password from a terminal only, so the command gets one, in raw mode.

    A terminal has one stream for output and no end of input: the input's length is in the command
    line, and standard error is kept in a file and follows the output after a mark.
    """

    pty = True

    def __init__(self, command: Command, host: str, password: str) -> None:
        super().__init__(command, host)
        self.begun = False
        self.input_ended = False  # never ends on a terminal
        self._password: bytes | None = password.encode() + b"\n"
        nonce = secrets.token_hex(8)
        self._mark = f"@@hostcfg {nonce} begun\n".encode()
        self._end = f"\n@@hostcfg {nonce} end ".encode()
        source = f"head -c {len(command.stdin)} |" if command.stdin else "</dev/null"
        script = (
            "e=$(mktemp) || exit 125; "
            'trap "rm -f $e" EXIT HUP INT TERM; '
            f"echo @@hostcfg {nonce} begun; "
            f'{source} /bin/sh -c {shlex.quote(command.line)} 2>"$e"; s=$?; '
            f'echo; echo @@hostcfg {nonce} end $s; cat "$e"; exit $s'
        )
        self.line = f"stty raw -echo && doas -- /bin/sh -c {shlex.quote(script)}"

    def start(self) -> bytes:
        return b""

    def feed(self, stdout: bytes, stderr: bytes) -> bytes:
        self.stdout += stdout
        self.stderr += stderr
        if self.begun:
            return b""
        at = self.stdout.find(self._mark)
        if at >= 0:
            self.begun = True
            del self.stdout[: at + len(self._mark)]
            return self.command.stdin
        if len(self.stdout) > _MAX_WORDS_BYTES:
            raise HostError("command", "doas prints without end", host=self.host)
        if not _TTY_PROMPT.search(bytes(self.stdout[-200:])):
            return b""
        self.stdout.clear()
        if self._password is None:
            raise HostError("no_permission", "doas does not accept the password", host=self.host)
        reply, self._password = self._password, None
        return reply

    def finish(self, status: int | None) -> CommandResult:
        if not self.begun:
            raise refusal("doas", self.stdout.decode("utf-8", "replace"), status, self.host)
        output, mark, rest = bytes(self.stdout).rpartition(self._end)
        code, newline, errors = rest.partition(b"\n")
        if not mark or not newline or not code.isdigit():
            raise HostError("command", "the output ends before the command did", host=self.host)
        return CommandResult(output, errors, int(code))

    def waiting_for(self) -> str:
        return "" if self.begun else "doas did not start the command"


def refusal(program: Become, words: str, status: int | None, host: str) -> HostError:
    """Why ``program`` did not run the command, from what it printed (in any language)."""
    lines = [line for line in words.splitlines() if line.strip()]
    said = printable(lines[-1]) if lines else f"it ended with status {status}"
    lower = words.lower()
    if status == 127 or "not found" in lower:
        advice = f"{program} is not installed there, or not in the PATH of a plain ssh command"
    elif "tty" in lower and program == "sudo":
        advice = "its sudoers file asks for a terminal: add 'Defaults !requiretty' for this user"
    elif "incorrect password" in lower or "authentication failed" in lower:
        advice = f"{program} does not accept the password"
    elif any(wanted in lower for wanted in _PASSWORD_WANTED):
        advice = f"{program} wants a password and none was given (--ask-become-pass)"
    else:
        advice = f"{program} does not let this user run /bin/sh as root"
    return HostError("no_permission", f"{advice} ({said})", host=host)
