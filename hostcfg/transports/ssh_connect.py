"""Opening a connection: through which hops, with which host key, as whom."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING

import paramiko

from hostcfg.errors import HostError, UsageError
from hostcfg.lean import dataclass
from hostcfg.transports.destination import Destination, parse_destination
from hostcfg.transports.known_hosts import fingerprint
from hostcfg.transports.login import log_in
from hostcfg.transports.proxy_command import ProxyCommand
from hostcfg.transports.ssh_errors import Attempt, translated
from hostcfg.transports.ssh_session import ClientTransport, Session
from hostcfg.transports.wire import Stream, Wire, dial
from hostcfg.transports.words import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.transports.ssh_context import SshContext
    from hostcfg.transports.ssh_options import HostOptions

_HANDSHAKE_BYTES = 1 << 18
"""Far more than a banner and a key exchange take; a host that sends more is no SSH server."""


@dataclass(frozen=True, slots=True)
class Connection:
    """An open session, and what lets go of the one through which it goes."""

    session: Session
    release: Callable[[], None]

    def close(self) -> None:
        """Close the session; a jump host's stays open while others use it.  Never raises."""
        with suppress(OSError, EOFError, paramiko.SSHException):
            self.session.close()
        self.release()


def connect(
    context: SshContext,
    destination: Destination,
    *,
    hops: Sequence[str] | None = None,
    trail: tuple[str, ...] = (),
) -> Connection:
    """A connection to ``destination``, logged in; every HostError names it.

    ``hops`` None: as the configuration says.  ``trail`` are the destinations that lead here.
    """
    options = context.options(destination)
    limit_s = min(context.timeout_s, options.connect_timeout_s or context.timeout_s)
    began = time.monotonic()
    known = context.host_keys.on_record(options)
    context.tell(destination.name, _way(options, hops))
    stream, release = _stream(context, destination, options, hops, trail, limit_s)
    left_s = max(0.1, limit_s - (time.monotonic() - began)) if release is _nothing else limit_s
    wire = Wire(stream, context.timeout_s)
    transport = ClientTransport(wire, known)
    connection = Connection(Session(transport, wire, options, destination.name), release)
    try:
        _handshake(connection.session, left_s, limit_s)
        context.host_keys.verify(
            destination.name, options, connection.session.offered_key(), accept_new=context.accept_new
        )
        context.tell(destination.name, _met(connection.session))
        accepted = log_in(connection.session, context.keys, context.prompts, context.timeout_s)
        context.tell(destination.name, f"logged in as {options.user} with {accepted}")
    except HostError as error:
        connection.close()
        if isinstance(stream, ProxyCommand) and error.kind in ("unreachable", "timeout"):
            message = _of_proxy_command(stream, error, wire.head)
            raise HostError(error.kind, message, host=destination.name) from error
        raise
    except BaseException:
        connection.close()
        raise
    return connection


def _way(options: HostOptions, hops: Sequence[str] | None) -> str:
    """How the host is reached, in words."""
    through = options.proxy_jump if hops is None else hops
    way = f" through {', '.join(through)}" if through else ""
    if not through and hops is None and options.proxy_command is not None:
        way = " by its ProxyCommand"  # which may hold what is nobody's business
    return f"connecting to {options.host_name} port {options.port}{way}"


def _met(session: Session) -> str:
    """Who answered, after its key was verified."""
    server = printable(session.transport.remote_version)
    return f"{server}, with the host key {fingerprint(session.host_key_blob)} that it should have"


def _handshake(session: Session, left_s: float, limit_s: float) -> None:
    """Banner and key exchange in what is ``left_s`` of ``limit_s``."""
    transport = session.transport
    transport.banner_timeout = left_s + 5  # the wire ends it first
    session.wire.limit(left_s, _HANDSHAKE_BYTES)
    ready = threading.Event()
    with translated(session.attempt("connect", limit_s)):
        transport.start_client(event=ready)
        ready.wait(left_s + 5)
        if not transport.is_active():
            raise transport.get_exception() or EOFError()
        if not ready.is_set():
            raise TimeoutError
    session.wire.limit(None, None)


def _of_proxy_command(program: ProxyCommand, error: HostError, head: bytes) -> str:
    """What ``error`` is if the program is to blame, as it is where it ended without a byte from the host."""
    said = f"ProxyCommand says: {program.last_words}" if program.last_words else ""
    if error.kind == "unreachable" and not head:
        status = f" (status {program.status})" if program.status is not None else ""
        return f"{said or 'ProxyCommand says nothing'}; it ended{status} without a connection"
    return f"{said} ({error.message})" if said else error.message


def _nothing() -> None:
    """There is no jump host to let go."""


def _stream(
    context: SshContext,
    destination: Destination,
    options: HostOptions,
    hops: Sequence[str] | None,
    trail: tuple[str, ...],
    limit_s: float,
) -> tuple[Stream, Callable[[], None]]:
    """The byte stream to the host, and what to call when it is no longer needed."""
    through = options.proxy_jump if hops is None else hops
    if through:
        return _through(context, destination, options, through, trail, limit_s)
    if options.proxy_command is not None and hops is None:
        return ProxyCommand(options.proxy_command, destination.name), _nothing
    with translated(Attempt(destination.name, options.host_name, options.port, "connect", limit_s)):
        return dial(options, limit_s), _nothing


def _through(
    context: SshContext,
    destination: Destination,
    options: HostOptions,
    hops: Sequence[str],
    trail: tuple[str, ...],
    limit_s: float,
) -> tuple[Stream, Callable[[], None]]:
    """A channel of the last hop's session, which all hosts behind it share."""
    trail = (*trail, f"{options.user}@{options.known_as}")
    gate = _hop(hops[-1], destination)
    gate_options = context.options(gate)
    if f"{gate_options.user}@{gate_options.known_as}" in trail:
        raise HostError(
            "unreachable",
            f"ProxyJump leads through {hops[-1]} to itself: give that host 'ProxyJump none'",
            host=destination.name,
        )
    before = tuple(hops[:-1])

    def open_gate() -> Connection:
        return connect(context, gate, hops=before or None, trail=trail)

    try:
        session, release = context.jumps.acquire((*before, hops[-1]), open_gate, context.timeout_s)
    except HostError as error:
        raise HostError(
            error.kind, f"jump host {gate.name}: {error.message}", host=destination.name
        ) from error
    try:
        with translated(Attempt(destination.name, options.host_name, options.port, "connect", limit_s)):
            return _channel(session, options, limit_s), release
    except BaseException:
        release()
        raise


def _channel(session: Session, options: HostOptions, limit_s: float) -> paramiko.Channel:
    try:
        return session.transport.open_channel(
            "direct-tcpip", (options.host_name, options.port), ("127.0.0.1", 0), timeout=limit_s
        )
    except paramiko.ChannelException:
        raise
    except paramiko.SSHException as error:
        if session.transport.is_active():
            raise TimeoutError from error
        raise EOFError from error


def _hop(text: str, destination: Destination) -> Destination:
    try:
        return parse_destination(text)
    except UsageError as error:
        raise HostError("unreachable", f"ProxyJump: {error.message}", host=destination.name) from error


class JumpPool:
    """Sessions to jump hosts, one for all hosts behind each: a bastion counts logins (MaxStartups)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[str, ...], _Shared] = {}

    def acquire(
        self, key: tuple[str, ...], open_gate: Callable[[], Connection], keep_failure_s: float
    ) -> tuple[Session, Callable[[], None]]:
        """The session of ``key``, opened by the first who asks; and what to call when done with it.

        A failure holds for ``keep_failure_s``, so that a dead jump host costs its time limit once
        and not once for each host behind it.
        """
        with self._lock:
            shared = self._open.get(key)
            mine = shared is None or shared.stale(keep_failure_s)
            if shared is None or mine:
                shared = self._open[key] = _Shared(Future())
            shared.users += 1
        if mine:
            try:
                shared.connection.set_result(open_gate())
            except BaseException as error:
                shared.failed_at = time.monotonic()
                shared.connection.set_exception(error)
        connection = shared.connection.result()
        return connection.session, lambda: self._release(key, shared)

    def _release(self, key: tuple[str, ...], shared: _Shared) -> None:
        with self._lock:
            shared.users -= 1
            if shared.users > 0:
                return
            if self._open.get(key) is shared:
                del self._open[key]
        shared.connection.result().close()


@dataclass(slots=True)
class _Shared:
    connection: Future[Connection]
    users: int = 0
    failed_at: float | None = None

    def stale(self, keep_failure_s: float) -> bool:
        """Whether a new session is needed: this one failed some time ago, or has ended."""
        if self.failed_at is not None:
            return time.monotonic() - self.failed_at > keep_failure_s
        if not self.connection.done():
            return False
        return not self.connection.result().session.transport.is_active()
