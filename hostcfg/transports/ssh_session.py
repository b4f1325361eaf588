"""One SSH connection: paramiko's Transport, used so that a command costs no avoidable round trip."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import paramiko
from paramiko.auth_handler import AuthOnlyHandler
from paramiko.common import (
    cMSG_CHANNEL_DATA,
    cMSG_CHANNEL_REQUEST,
    cMSG_SERVICE_REQUEST,
    cMSG_USERAUTH_REQUEST,
)
from paramiko.packet import Packetizer
from paramiko.transport import ServiceRequestingTransport

from hostcfg.errors import HostError
from hostcfg.transports.host_keys import OfferedKey, algorithm_order
from hostcfg.transports.ssh_errors import Attempt, Phase, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.transports.become import Dialogue
    from hostcfg.transports.known_hosts import KnownKey
    from hostcfg.transports.ssh_options import HostOptions
    from hostcfg.transports.wire import Wire

_CHUNK_BYTES = 1 << 20
_AHEAD_BYTES = 1 << 17  # well below the window that OpenSSH grants
_IDLE_S = 0.5  # between two looks at a quiet channel; data and its end wake at once
_PIECES = 32  # of at most 32 KiB each, half the 2 MiB that paramiko lets a host send unread
_BLOCKED_S = 0.02  # while input waits for the host's window
_LINGER_S = 2.0  # of silence after the status, where a process in the background holds the output open


class ClientTransport(ServiceRequestingTransport):
    """paramiko's Transport with its waits taken out.

    ``known`` are the host's keys on record, which it is asked to prove first.  Measured against
    OpenSSH 9.2: 6.0 round trips from SYN to login (one more elsewhere, or with an RSA key), and 2.0
    for each command, its input included.
    """

    def __init__(self, wire: Wire, known: Sequence[KnownKey]) -> None:
        self._known = known
        self._service_accepted = threading.Event()
        super().__init__(wire, packetizer_class=_Packetizer)  # type: ignore[arg-type]  # all it uses of a socket

    @property
    def preferred_keys(self) -> tuple[str, ...]:
        plain = [name for name in super().preferred_keys if not name.endswith("-cert-v01@openssh.com")]
        return algorithm_order(self._known, plain)

    @property
    def preferred_ciphers(self) -> tuple[str, ...]:
        """AES-GCM first: paramiko compares the MAC of other ciphers byte by byte, in Python."""
        known = super().preferred_ciphers
        return tuple(sorted(known, key=lambda name: "-gcm@" not in name))

    @property
    def is_openssh(self) -> bool:
        """Whether the other side reads messages strictly one after the other, as is known of OpenSSH."""
        return "OpenSSH" in self.remote_version

    def ensure_session(self) -> None:
        """Ask for the login service.  OpenSSH gets the login with it; others are waited for."""
        if not (self.is_active() and self.initial_kex_done):
            raise paramiko.SSHException("the connection is closed")
        if self.auth_handler is not None:
            return
        message = paramiko.Message()
        message.add_byte(cMSG_SERVICE_REQUEST)
        message.add_string("ssh-userauth")
        self._send_message(message)  # type: ignore[attr-defined]
        self.auth_handler = self.get_auth_handler()
        if not self.is_openssh:
            self.await_service()

    def await_service(self) -> None:
        """Wait for the login service: the server names its signature algorithms before (RFC 8308)."""
        self.ensure_session()
        while not self._service_accepted.wait(0.1):
            if not self.is_active():  # the wire's limit ends it, at the latest
                raise self.get_exception() or EOFError()

    def _parse_service_accept(self, message: paramiko.Message) -> None:
        super()._parse_service_accept(message)  # type: ignore[misc]
        self._service_accepted.set()

    def get_auth_handler(self) -> LoginHandler:
        return LoginHandler(self)

    def request_exec(self, channel: paramiko.Channel, line: str) -> None:
        """Ask for ``line`` to be executed; the answer is not waited for, so that input can follow at once."""
        message = paramiko.Message()
        message.add_byte(cMSG_CHANNEL_REQUEST)
        message.add_int(channel.remote_chanid)
        message.add_string("exec")
        message.add_boolean(True)
        message.add_string(line)
        self._send_user_message(message)  # type: ignore[attr-defined]

    def send_ahead(self, channel: paramiko.Channel, data: bytes) -> bool:
        """Send input together with the exec request, if the server is known to take it; whether it was sent.

        OpenSSH opens a session with a window of nothing and grants 2 MiB when it executes the
        command, that is, before it reads the next message (session.c, channel_set_fds()): waiting
        for its grant would cost a round trip for each command.
        """
        if channel.out_window_size != 0 or len(data) > _AHEAD_BYTES or not self.is_openssh:
            return False
        step = channel.out_max_packet_size - 64
        for start in range(0, len(data), step):
            part = data[start : start + step]
            message = paramiko.Message()
            message.add_byte(cMSG_CHANNEL_DATA)
            message.add_int(channel.remote_chanid)
            message.add_string(part)
            with channel.lock:
                channel.out_window_size -= len(part)
            self._send_user_message(message)  # type: ignore[attr-defined]
        return True


class _Packetizer(Packetizer):
    def start_handshake(self, timeout: float) -> None:
        """No timer thread for each connection: the wire has the time limit."""


class LoginHandler(AuthOnlyHandler):
    """Keeps the methods that the server names, and can't miss an answer.

    paramiko makes the event that it waits for after it has sent the request: on a busy machine the
    answer comes first, and the login hangs until it times out.
    """

    methods: tuple[str, ...] = ()

    def send_auth_request(
        self,
        username: str,
        method: str,
        finish_message: Callable[[paramiko.Message], object] | None = None,
    ) -> list[str]:
        self.auth_method = method
        self.username = username
        message = paramiko.Message()
        message.add_byte(cMSG_USERAUTH_REQUEST)
        message.add_string(username)
        message.add_string("ssh-connection")
        message.add_string(method)
        if finish_message is not None:
            finish_message(message)
        self.auth_event = threading.Event()
        with self.transport.lock:
            self.transport._send_message(message)  # type: ignore[attr-defined]  # noqa: SLF001  # as the base class
        return self.wait_for_response(self.auth_event)

    def _parse_userauth_failure(self, message: paramiko.Message) -> None:
        self.methods = tuple(message.get_list())
        message.rewind()
        super()._parse_userauth_failure(message)  # type: ignore[misc]


class Session:
    """One open connection to one host, logged in or about to be."""

    def __init__(self, transport: ClientTransport, wire: Wire, options: HostOptions, host: str) -> None:
        self.transport = transport
        self.wire = wire
        self.options = options
        self.host = host
        self.host_key_blob = b""  # once known

    def attempt(self, phase: Phase, limit_s: float) -> Attempt:
        """What :func:`translated` needs to know."""
        return Attempt(self.host, self.options.host_name, self.options.port, phase, limit_s, self.wire)

    def offered_key(self) -> OfferedKey:
        """The host key that the server has proved to hold."""
        key = self.transport.get_remote_server_key()
        certificate = getattr(key, "public_blob", None)
        plain = self.host_key_blob = key.asbytes()
        return OfferedKey(
            key_type=plain[4 : 4 + int.from_bytes(plain[:4], "big")].decode(),
            blob=plain,
            certificate_type=certificate.key_type if certificate is not None else None,
            certificate=certificate.key_blob if certificate is not None else None,
        )

    def run(self, dialogue: Dialogue, timeout_s: float, limit_bytes: int) -> int | None:
        """Execute the dialogue's line and hold the dialogue; the exit status, None if there was none."""
        self.wire.limit(timeout_s, limit_bytes + limit_bytes // 8 + _CHUNK_BYTES)
        try:
            with translated(self.attempt("command", timeout_s)):
                channel = self.transport.open_session(timeout=timeout_s + 5)
                try:
                    if dialogue.pty:
                        channel.get_pty(term="dumb")
                    self.transport.request_exec(channel, dialogue.line)
                    return self._converse(channel, dialogue, limit_bytes)
                finally:
                    with suppress(OSError, EOFError, paramiko.SSHException):
                        channel.close()
        except HostError as error:
            if error.kind == "timeout" and (missing := dialogue.waiting_for()):
                raise HostError("timeout", f"{missing} within {timeout_s:g} s", host=self.host) from error
            raise
        finally:
            self.wire.limit(None, None)

    def _converse(self, channel: paramiko.Channel, dialogue: Dialogue, limit_bytes: int) -> int | None:
        wake = _Wake(channel, eager=dialogue.listens)
        channel.in_buffer.set_event(wake)
        channel.in_stderr_buffer.set_event(wake)
        first = dialogue.start()
        pending = memoryview(b"" if self.transport.send_ahead(channel, first) else first)
        received = 0
        last_s = time.monotonic()  # when something came, or the command had not ended
        while True:
            wake.rearm()
            over = channel.closed or (bool(channel.eof_received) and channel.exit_status_ready())
            over = over or time.monotonic() - last_s > _LINGER_S
            stdout = channel.recv(_CHUNK_BYTES) if channel.recv_ready() else b""
            stderr = channel.recv_stderr(_CHUNK_BYTES) if channel.recv_stderr_ready() else b""
            received += len(stdout) + len(stderr)
            if received > limit_bytes:
                raise HostError(
                    "command", f"it printed more than {limit_bytes >> 20} MiB; given up", host=self.host
                )
            if stdout or stderr:
                if reply := dialogue.feed(stdout, stderr):
                    pending = memoryview(bytes(pending) + reply)
            elif over:
                return self._status(channel)
            pending = _send(channel, pending)
            if not pending and dialogue.input_ended and not channel.eof_sent and not channel.closed:
                channel.shutdown_write()
            if stdout or stderr or not channel.exit_status_ready():
                last_s = time.monotonic()
            if not stdout and not stderr:
                wake.wait(_BLOCKED_S if pending else _IDLE_S)

    def _status(self, channel: paramiko.Channel) -> int | None:
        if channel.exit_status_ready() and channel.exit_status >= 0:
            return channel.exit_status
        if not self.transport.is_active():
            raise self.transport.get_exception() or EOFError()
        if not channel.event_ready:
            raise HostError("command", "the host refuses to execute a command", host=self.host)
        return None

    def close(self) -> None:
        """End the connection; wakes threads that wait for it, and never raises."""
        self.wire.close()
        self.transport.close()


class _Wake(threading.Event):
    """Set by either of a channel's two buffers; only its reader rearms it, not one buffer's emptiness.

    Unless ``eager``, output is not looked at before there are many pieces of it or its end: a probe's
    comes in some fifty, and nobody waits for the first.
    """

    def __init__(self, channel: paramiko.Channel, *, eager: bool) -> None:
        super().__init__()
        self._channel = channel
        self._eager = eager
        self._pieces = 0

    def set(self) -> None:
        self._pieces += 1
        if self._eager or self._pieces >= _PIECES or self._channel.eof_received or self._channel.closed:
            super().set()

    def clear(self) -> None:
        """What a buffer calls when it has run empty."""

    def rearm(self) -> None:
        self._pieces = 0
        super().clear()


def _send(channel: paramiko.Channel, pending: memoryview) -> memoryview:
    """Send what the host's window takes without waiting; the rest."""
    while pending and channel.send_ready():
        try:
            sent = channel.send(bytes(pending[: 1 << 15]))
        except OSError:
            if not channel.transport or not channel.transport.is_active():
                raise
            return pending[:0]  # the command ended without reading it all
        if sent == 0:
            return pending[:0]
        pending = pending[sent:]
    return pending
