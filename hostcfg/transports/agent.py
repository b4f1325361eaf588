"""Keys of an ssh-agent, for many threads (draft-ietf-sshm-ssh-agent)."""

from __future__ import annotations

import socket
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import paramiko
from paramiko.agent import AgentSSH, get_agent_connection
from paramiko.pkey import PublicBlob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paramiko.message import Message

_TIMEOUT_S = 30.0
"""A key that must be touched or confirmed waits for its user."""
LIST_S = 10.0
"""Which keys it has an agent says at once, or at most after a look into a slow card."""


class AgentKey(paramiko.AgentKey):
    """One key of the agent at ``path``; ``certificate`` is offered instead of the plain key if given.

    Each signature has a connection of its own, one at a time: no connection is left open, and an
    agent's answer reaches the thread that asked.
    """

    def __init__(
        self, path: str, blob: bytes, comment: str, lock: threading.Lock, certificate: bytes | None = None
    ) -> None:
        super().__init__(AgentSSH(), blob, comment)
        self.path = path
        self.lock = lock
        if certificate is None and self.name.endswith("-cert-v01@openssh.com"):
            certificate = blob  # paramiko would announce it as one and send the plain key
        if certificate is not None:
            self.public_blob = PublicBlob.from_message(paramiko.Message(certificate))  # type: ignore[assignment]

    def certified(self, certificate: bytes) -> AgentKey:
        """The same key with a certificate."""
        return AgentKey(self.path, self.blob, self.comment, self.lock, certificate)

    def sign_ssh_data(self, data: bytes, algorithm: str | None = None) -> Message:  # type: ignore[override]
        with self.lock, _connected(self.path) as agent:
            if agent is None:
                raise paramiko.SSHException("the agent is gone")
            return paramiko.AgentKey(agent, self.blob).sign_ssh_data(data, algorithm)


def ask_agent(path: str, timeout_s: float = LIST_S) -> tuple[AgentKey, ...]:
    """The keys of the agent at ``path``; "" stands for the platform's own (Pageant, OpenSSH on Windows).

    OSError, paramiko.SSHException: it is gone, talks nonsense or says nothing for ``timeout_s``.
    """
    with _connected(path, timeout_s) as agent:
        if agent is None:
            return ()
        lock = threading.Lock()
        return tuple(AgentKey(path, blob, comment, lock) for blob, comment in agent.list_keys())


class _Connection(Protocol):
    def close(self) -> None: ...


class _Agent(AgentSSH):
    def __init__(self, connection: _Connection) -> None:
        super().__init__()
        self._conn = connection

    def list_keys(self) -> list[tuple[bytes, str]]:
        self._connect(self._conn)  # type: ignore[attr-defined]  # which asks for the list
        return [(key.blob, key.comment) for key in self.get_keys()]


@contextmanager
def _connected(path: str, timeout_s: float = _TIMEOUT_S) -> Iterator[_Agent | None]:
    connection: _Connection | None = None
    if sys.platform == "win32":
        connection = get_agent_connection()
    elif path:
        connection = _connect_to(path, timeout_s)
    if connection is None:
        yield None
        return
    try:
        yield _Agent(connection)
    finally:
        connection.close()


if sys.platform != "win32":

    def _connect_to(path: str, timeout_s: float) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout_s)
            connection.connect(path)
        except OSError:
            connection.close()
            raise
        return connection
