"""ProxyCommand (ssh_config(5)): a program whose standard input and output are the connection."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
from typing import IO

from hostcfg.errors import HostError
from hostcfg.transports.words import printable

_GRACE_S = 2.0  # between asking the program to end and ending it


class ProxyCommand:
    """A running proxy program as a stream; close() ends the program.

    ``last_words`` is then the last line of its standard error, for messages, and ``status`` what it ended
    with if it ended by itself.

    paramiko's own class waits a tenth of a second for each packet and spins when the program is
    gone, so this one gives the program a real socket.
    """

    def __init__(self, line: str, host: str) -> None:
        """Start ``line`` under a shell, as ssh does; HostError ``unreachable`` if that fails."""
        self.last_words = ""
        self.status: int | None = None
        self._closing = threading.Lock()
        with contextlib.ExitStack() as undo:
            try:
                self._errors = undo.enter_context(tempfile.TemporaryFile())
                self._socket, theirs = socket.socketpair()
                undo.enter_context(self._socket)
                with theirs:
                    self._process = _start(line, theirs, self._errors)
            except OSError as error:
                raise HostError(
                    "unreachable", f"ProxyCommand can't be run: {error.strerror}", host=host
                ) from error
            undo.pop_all()

    def send(self, data: bytes) -> int:
        return self._socket.send(data)

    def recv(self, size: int) -> bytes:
        return self._socket.recv(size)

    def settimeout(self, timeout: float | None) -> None:
        self._socket.settimeout(timeout)

    def close(self) -> None:
        """Close the connection and end the program; for any thread, again and again."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with self._closing:
            if self._errors.closed:
                return
            self._socket.close()
            self.status = self._process.poll()
            if self.status is None:
                self._process.terminate()
                try:
                    self._process.wait(_GRACE_S)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait()
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, size - 1000))
            lines = self._errors.read().decode("utf-8", "replace").split("\n")
            self.last_words = printable(next((line for line in reversed(lines) if line.strip()), ""))
            self._errors.close()


def _start(line: str, theirs: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    if sys.platform == "win32":
        process = start_pumped(line, theirs.dup(), errors)
    else:
        ends = theirs.fileno()
        process = subprocess.Popen(["/bin/sh", "-c", f"exec {line}"], stdin=ends, stdout=ends, stderr=errors)
    return process


def start_pumped(line: str, theirs: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start ``line`` with pipes and two threads between them and the socket, where a socket is no file."""
    process = subprocess.Popen(  # noqa: S602  # the user's own configuration, as ssh runs it
        line, shell=True, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
    )
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise OSError("no pipes")

    def to_program() -> None:
        with contextlib.suppress(OSError), stdin:
            while data := theirs.recv(1 << 16):
                stdin.write(data)

    def from_program() -> None:
        with contextlib.suppress(OSError), theirs, stdout:
            while data := stdout.read(1 << 16):
                theirs.sendall(data)

    for pump in (to_program, from_program):
        threading.Thread(target=pump, name="proxy command", daemon=True).start()
    return process
