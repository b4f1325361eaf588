"""A TCP relay on loopback that counts how often the speaker changes, and can cut the line."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class Relay:
    """Forwards connections to ``host:port``; ``turns`` counts answers of the server to the client.

    ``cut_after`` bytes from the server it closes the connection in the middle.
    """

    def __init__(self, host: str, port: int, *, cut_after: int | None = None) -> None:
        self._target = (host, port)
        self._cut_after = cut_after
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._last = ""
        self.turns = 0
        self.connections = 0
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self._spawn(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def cut(self) -> None:
        """Close every connection."""
        for sock in self._sockets:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            for sock in (client, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets += [client, server]
            self.connections += 1
            self._spawn(partial(self._pump, client, server, "client"))
            self._spawn(partial(self._pump, server, client, "server"))

    def _pump(self, source: socket.socket, target: socket.socket, speaker: str) -> None:
        left = self._cut_after
        with source:
            while True:
                try:
                    data = source.recv(1 << 16)
                    if left is not None and speaker == "server":
                        data, left = data[:left], left - len(data)
                    self._count(speaker)
                    target.sendall(data)
                except OSError:
                    data = b""
                if not data or (left is not None and left <= 0):
                    with suppress(OSError):
                        target.shutdown(socket.SHUT_RDWR)
                    return

    def _count(self, speaker: str) -> None:
        with self._lock:
            if speaker == "server" and self._last == "client":
                self.turns += 1
            self._last = speaker

    def _spawn(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()
