"""The host's port: a connection gets an ``sshd -i`` inside, or a reset while no socket can be made."""

from __future__ import annotations

import contextlib
import socket
import struct
import subprocess
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.sshd import SSHD, SshServer, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER with no time: close() sends RST


@dataclass
class Door(SshServer):
    """An :class:`SshServer` whose sshd is started for each connection with ``enter`` in front.

    ``accepts`` is asked before each: while it says no, connections are reset, those that exist live on.
    """

    enter: Sequence[str] = ()
    accepts: Callable[[], bool] = lambda: True
    reset: int = field(default=0, init=False)

    def _start(self) -> None:
        self.port = self.port or free_port(self.address)
        self.ports = [self.port]
        (self.directory / "sshd_config").write_text(self._config())
        self._closed = threading.Event()
        self._sessions: list[subprocess.Popen[bytes]] = []
        self._socket = socket.create_server((self.address, self.port), backlog=64)
        self._thread = threading.Thread(target=self._serve, name="inetd", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                if self._closed.is_set():
                    return
                if self.accepts():
                    self._session(connection)
                else:
                    self.reset += 1
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def _session(self, connection: socket.socket) -> None:
        command = [
            "/emu" + str(SSHD),
            "-i",
            "-f",
            f"{self.directory}/sshd_config",
            "-E",
            f"{self.directory}/log",
        ]
        socket_fd = connection.fileno()
        with (self.directory / "inetd.log").open("ab") as log:
            words = [*self.enter, *command]
            process = subprocess.Popen(words, stdin=socket_fd, stdout=socket_fd, stderr=log)
        self._sessions = [p for p in self._sessions if p.poll() is None] + [process]

    def close(self) -> None:
        """Take no more connections, end those that exist, remove the files."""
        if getattr(self, "_thread", None) is not None:
            self._closed.set()
            with contextlib.suppress(OSError), socket.create_connection((self.address, self.port), 1):
                pass
            self._thread.join(5)
            self._socket.close()
            for process in self._sessions:
                process.kill()
                process.wait()
        super().close()
