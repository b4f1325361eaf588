"""TCP servers on loopback that are no good SSH servers."""

from __future__ import annotations

import random
import socket
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class BadServer:
    """Hands each connection to ``behave`` in a thread; all are cut when the ``with`` block ends."""

    def __init__(self, behave: Callable[[socket.socket], None]) -> None:
        self._behave = behave
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self._spawn(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sock in (*self._sockets, self._listener):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            self._spawn(partial(self._serve, client))

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            self._behave(client)

    def _spawn(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()


def silent(client: socket.socket) -> None:
    """Takes the connection and says nothing."""
    while client.recv(1 << 16):
        pass


def closes(client: socket.socket) -> None:
    """Hangs up at once."""
    client.shutdown(socket.SHUT_RDWR)


def web(client: socket.socket) -> None:
    """Speaks another protocol."""
    client.recv(1 << 16)
    client.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
    client.shutdown(socket.SHUT_WR)
    silent(client)


def endless_line(client: socket.socket) -> None:
    """A banner that never ends."""
    while True:
        client.sendall(b"x" * (1 << 16))


def endless_lines(client: socket.socket) -> None:
    """Lines before the banner, for ever."""
    while True:
        client.sendall(b"welcome\r\n" * 1000)


def drip(client: socket.socket) -> None:
    """A byte now and then, so that no single wait is long."""
    client.settimeout(0.05)
    while True:
        client.sendall(b"S")
        with suppress(TimeoutError):
            client.recv(1 << 16)


def too_many(client: socket.socket) -> None:
    """An OpenSSH whose MaxStartups is reached."""
    client.sendall(b"Exceeded MaxStartups\r\n")
    client.shutdown(socket.SHUT_WR)


def penalty(client: socket.socket) -> None:
    """An OpenSSH from 9.8 on that has had enough of this address (PerSourcePenalties)."""
    client.sendall(b"Not allowed at this time\r\n")
    client.shutdown(socket.SHUT_WR)


def banner_only(client: socket.socket) -> None:
    """A banner, then nothing."""
    client.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")
    silent(client)


def banner_and_garbage(client: socket.socket) -> None:
    """A banner, then bytes that are no packet."""
    client.sendall(b"SSH-2.0-OpenSSH_9.9\r\n" + b"\xff" * 4096)
    silent(client)


def random_packets(seed: int, client: socket.socket) -> None:
    """A banner, and packets whose frame is right and whose content is not."""
    source = random.Random(seed)
    client.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")
    for _ in range(4):
        body = bytes([source.choice([20, 20, 21, 31, 1, 2, 4, 7, 52, 91, source.randrange(256)])])
        body += source.randbytes(source.randrange(200))
        padding = 4 + (-(len(body) + 9)) % 8
        packet = bytes([padding]) + body + bytes(padding)
        client.sendall(len(packet).to_bytes(4, "big") + packet)
    client.shutdown(socket.SHUT_WR)
    silent(client)


def old_protocol(client: socket.socket) -> None:
    """SSH 1."""
    client.sendall(b"SSH-1.5-Cisco-1.25\r\n")
    silent(client)
