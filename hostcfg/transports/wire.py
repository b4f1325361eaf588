"""The byte stream under an SSH session: a socket with limits on time and bytes, and how it is opened."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import threading
import time
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from hostcfg.transports.ssh_options import HostOptions

_HEAD_BYTES = 60
_RECV_BYTES = 1 << 15
_QUICKACK: int | None = getattr(socket, "TCP_QUICKACK", None)


class Stream(Protocol):
    """What paramiko wants of a socket; a channel of another session is one too."""

    def send(self, data: bytes, /) -> int: ...
    def recv(self, size: int, /) -> bytes: ...
    def settimeout(self, timeout: float | None, /) -> None: ...
    def close(self) -> None: ...


class Wire:
    """A stream that ends by itself at ``deadline`` (time.monotonic) or after ``budget_bytes`` more bytes.

    paramiko polls its socket every 0.1 s in a thread of its own, which is where the limits act: the
    session ends and every waiter with it, so that no host can hold a thread, whatever it does or
    leaves undone.  ``spent`` then says which limit it was.  ``head`` is how the stream began.
    """

    def __init__(self, stream: Stream, stall_s: float) -> None:
        """``stall_s``: how long one send may wait, even where no deadline is set."""
        self._stream = stream
        self._stall_s = stall_s
        self._stalled_since: float | None = None
        self._tcp = isinstance(stream, socket.socket) and stream.family in (socket.AF_INET, socket.AF_INET6)
        self._closed = False  # paramiko asks sockets for it
        self.deadline: float | None = None
        self.budget_bytes: int | None = None
        self.spent: Literal["time", "bytes"] | None = None
        self.head = b""
        self._ahead = memoryview(b"")  # received and not asked for yet

    def limit(self, seconds: float | None, budget_bytes: int | None) -> None:
        """New limits from now on; None lifts one."""
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.budget_bytes = budget_bytes

    def send(self, data: bytes) -> int:
        self._check()
        try:
            sent = self._stream.send(data)
        except TimeoutError:
            now = time.monotonic()
            self._stalled_since = self._stalled_since or now
            if now - self._stalled_since > self._stall_s:
                self.spent = self.spent or "time"
            raise
        self._stalled_since = None
        return sent

    def recv(self, size: int) -> bytes:
        if self._ahead:
            return self._next(size)
        self._check()
        data = self._stream.recv(max(size, _RECV_BYTES))
        if len(self.head) < _HEAD_BYTES:
            self.head += data[:_HEAD_BYTES]
        budget_bytes = self.budget_bytes
        if budget_bytes is not None:
            self.budget_bytes = budget_bytes - len(data)
        if self._tcp and _QUICKACK is not None and isinstance(self._stream, socket.socket):
            # Linux falls back to delayed ACKs after some packets; sshd's next small packet waits for ours.
            self._stream.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
        self._ahead = memoryview(data)
        return self._next(size)

    def _next(self, size: int) -> bytes:
        """paramiko asks twice for each packet: one system call serves many of them."""
        data = bytes(self._ahead[:size])
        self._ahead = self._ahead[size:]
        return data

    def settimeout(self, timeout: float | None) -> None:
        self._stream.settimeout(timeout)

    def close(self) -> None:
        """Close it, and wake whoever reads from it."""
        self._closed = True
        if isinstance(self._stream, socket.socket):
            with contextlib.suppress(OSError):  # not connected any more
                self._stream.shutdown(socket.SHUT_RDWR)
        self._stream.close()

    def _check(self) -> None:
        deadline, budget_bytes = self.deadline, self.budget_bytes  # another thread may lift them meanwhile
        if deadline is not None and time.monotonic() > deadline:
            self.spent = self.spent or "time"
        if budget_bytes is not None and budget_bytes < 0:
            self.spent = self.spent or "bytes"
        if self.spent is not None:
            raise ConnectionAbortedError(errno.ECONNABORTED, f"limit of {self.spent} reached")


def dial(options: HostOptions, timeout_s: float) -> socket.socket:
    """A TCP connection to the host, the name's addresses one after the other, in ``timeout_s`` in all.

    socket.gaierror: the name is unknown; TimeoutError; OSError of the last address.
    """
    deadline = time.monotonic() + timeout_s
    addresses = _resolve(options, timeout_s)
    failure: OSError = OSError(errno.EADDRNOTAVAIL, "the name has no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(
                left_s / (len(addresses) - number)
            )  # a dead first address leaves time for the next
            if options.bind_address is not None:
                sock.bind((options.bind_address, 0))
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError as error:
            sock.close()
            failure = error
        else:
            return sock
    raise failure


_Address = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]


def _resolve(options: HostOptions, timeout_s: float) -> list[_Address]:
    """getaddrinfo() within ``timeout_s``: it can't be interrupted, so names are looked up in a thread."""
    host, port, family = options.host_name, options.port, options.address_family
    if _is_address(host):
        return list(socket.getaddrinfo(host, port, family, socket.SOCK_STREAM))
    answer: list[list[_Address] | OSError] = []

    def look_up() -> None:
        try:
            answer.append(list(socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)))
        except OSError as error:
            answer.append(error)
        except UnicodeError:  # an empty or overlong label
            answer.append(socket.gaierror(socket.EAI_NONAME, "no host name"))

    thread = threading.Thread(target=look_up, name=f"resolve {host}", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if not answer:
        raise TimeoutError(f"the name server did not answer for {host}")
    found = answer[0]
    if isinstance(found, OSError):
        raise found
    return found


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
