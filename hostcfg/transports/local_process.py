"""One local command on POSIX: its pipes or terminal, its limits, and the end of all that it started."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from hostcfg.errors import HostError

if TYPE_CHECKING:
    from hostcfg.transports.become import Dialogue

assert sys.platform != "win32", "hostcfg.transports.local has Windows' way"  # noqa: S101  # for mypy too

_CHUNK_BYTES = 1 << 16
_GRACE_S = 1.0

_ON_TERMINAL = (
    "import os, sys; os.login_tty(0); os.execv('/bin/sh', ['/bin/sh', '-c', sys.argv[1]])"  # login_tty(3)
)


def hold(dialogue: Dialogue, host: str, timeout_s: float, limit_bytes: int) -> int | None:
    """Run the dialogue's line under /bin/sh and hold the dialogue; the exit status, None after a signal.

    HostError ``timeout`` after ``timeout_s`` and ``command`` above ``limit_bytes`` of output; then
    the whole process group is killed.
    """
    deadline = time.monotonic() + timeout_s
    process = _on_terminal(dialogue.line) if dialogue.pty else _with_pipes(dialogue.line)
    try:
        _Talk(process, dialogue, host, limit_bytes).until(deadline)
        status = process.popen.wait(max(0.0, deadline - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        what = dialogue.waiting_for() or "the command did not end"
        raise HostError("timeout", f"{what} within {timeout_s:g} s", host=host) from error
    finally:
        process.end()
    return status if status >= 0 else None


class _Process:
    """A session leader with its descriptors; ``errors`` None: everything comes through ``output``."""

    def __init__(self, popen: subprocess.Popen[bytes], given: int, output: int, errors: int | None) -> None:
        self.popen = popen
        self.given = given
        self.output = output
        self.errors = errors
        self.open = {fd for fd in (given, output, errors) if fd is not None}
        for fd in self.open:
            os.set_blocking(fd, False)

    def close(self, fd: int) -> None:
        """Close one descriptor, once."""
        if fd in self.open:
            self.open.remove(fd)
            os.close(fd)

    def end(self) -> None:
        """Close everything, and kill the group if its leader still runs."""
        for fd in list(self.open):
            self.close(fd)
        if self.popen.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # sudo's children are root's
            os.killpg(self.popen.pid, signal.SIGKILL)
        try:
            self.popen.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            threading.Thread(target=self.popen.wait, name="reaper", daemon=True).start()


class _Talk:
    """Moves bytes between a process and a dialogue."""

    def __init__(self, process: _Process, dialogue: Dialogue, host: str, limit_bytes: int) -> None:
        self.process = process
        self.dialogue = dialogue
        self.host = host
        self.left_bytes = limit_bytes
        self.limit_bytes = limit_bytes
        self.pending = memoryview(dialogue.start())

    def until(self, deadline: float) -> None:
        """Until the process has closed its output and errors; TimeoutError at ``deadline``."""
        process = self.process
        readable = {fd for fd in (process.output, process.errors) if fd is not None}
        while readable:
            self._end_input()
            with selectors.DefaultSelector() as selector:
                for fd in readable | ({process.given} if self.pending else set()):
                    selector.register(fd, _events(fd in readable, fd == process.given and bool(self.pending)))
                ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, events in ready:
                if events & selectors.EVENT_WRITE:
                    self._write()
                if events & selectors.EVENT_READ and not self._read(key.fd):
                    readable.discard(key.fd)

    def _end_input(self) -> None:
        if not self.pending and self.dialogue.input_ended and self.process.given != self.process.output:
            self.process.close(self.process.given)

    def _read(self, fd: int) -> bool:
        """Whether more may come."""
        try:
            data = os.read(fd, _CHUNK_BYTES)
        except BlockingIOError:
            return True
        except OSError:  # EIO: the other side of a terminal is closed
            data = b""
        self.left_bytes -= len(data)
        if self.left_bytes < 0:
            raise HostError(
                "command", f"it printed more than {self.limit_bytes >> 20} MiB; given up", host=self.host
            )
        is_error = fd == self.process.errors
        reply = self.dialogue.feed(b"" if is_error else data, data if is_error else b"")
        if reply:
            self.pending = memoryview(bytes(self.pending) + reply)
        return bool(data)

    def _write(self) -> None:
        try:
            written = os.write(self.process.given, self.pending[:_CHUNK_BYTES])
        except BlockingIOError:
            return
        except OSError:  # EPIPE: the command ended without reading it all
            self.pending = self.pending[:0]
        else:
            self.pending = self.pending[written:]


def _events(read: bool, write: bool) -> int:
    return (selectors.EVENT_READ if read else 0) | (selectors.EVENT_WRITE if write else 0)


def _with_pipes(line: str) -> _Process:
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    try:
        popen = subprocess.Popen(
            ["/bin/sh", "-c", line], stdin=in_read, stdout=out_write, stderr=err_write, start_new_session=True
        )
    except BaseException:
        for fd in (in_write, out_read, err_read):
            os.close(fd)
        raise
    finally:
        for fd in (in_read, out_write, err_write):
            os.close(fd)
    return _Process(popen, in_write, out_read, err_read)


def _on_terminal(line: str) -> _Process:
    """The line on a terminal of its own, which a fork in this threaded program could not set up safely."""
    ours, theirs = os.openpty()
    try:
        popen = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _ON_TERMINAL, line], stdin=theirs, stdout=theirs, stderr=theirs
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return _Process(popen, ours, ours, None)
