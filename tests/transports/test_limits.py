"""Whatever a host does or leaves undone: one error of the right kind, in no more than the limit."""

from __future__ import annotations

import gc
import getpass
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError
from hostcfg.transports.base import Command
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.ssh import SshTransport
from hostcfg.transports.wire import Wire
from tests.sshd import SshServer, free_port, make_key, wait_for
from tests.transports import bad_server
from tests.transports.relay import Relay

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostcfg.transports.ssh_context import SshContext
    from tests.transports.conftest import MakeContext

LIMIT_S = 1.5
SLACK_S = 2.0  # a busy machine


def open_fails(context: SshContext, destination: str, kind: str, *words: str) -> None:
    began = time.monotonic()
    with pytest.raises(HostError) as caught:
        SshTransport(parse_destination(destination), context).open()
    assert time.monotonic() - began < LIMIT_S + SLACK_S
    message = str(caught.value)
    assert caught.value.kind == kind, message
    assert caught.value.host == destination
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("behave", "kind", "words"),
    [
        (bad_server.silent, "timeout", "no SSH answer within 1.5 s"),
        (bad_server.drip, "timeout", "no SSH answer within 1.5 s"),
        (
            bad_server.banner_only,
            "timeout",
            "is there (SSH-2.0-OpenSSH_9.9), but the key exchange did not end",
        ),
        (bad_server.too_many, "unreachable", "takes no login now ('Exceeded MaxStartups')"),
        (bad_server.penalty, "unreachable", "takes no login now ('Not allowed at this time')"),
        (bad_server.closes, "unreachable", "closed the connection before the login"),
        (bad_server.web, "unreachable", "does not speak SSH (it says 'HTTP/1.0 400 Bad Request')"),
        (bad_server.old_protocol, "unreachable", "no algorithm in common"),
        (bad_server.endless_line, "unreachable", "sends without end"),
        (bad_server.endless_lines, "unreachable", ""),
        (bad_server.banner_and_garbage, "unreachable", "does not speak SSH"),
    ],
)
def test_servers_that_are_none(
    make_context: MakeContext, behave: Callable[[socket.socket], None], kind: str, words: str
) -> None:
    with bad_server.BadServer(behave) as bad:
        open_fails(make_context(timeout_s=LIMIT_S), f"root@127.0.0.1:{bad.port}", kind, words)


def test_packets_that_mean_nothing(make_context: MakeContext) -> None:
    """Whatever it makes paramiko raise, it is a fault of that host."""
    context = make_context(timeout_s=5)
    for seed in range(60):
        with bad_server.BadServer(partial(bad_server.random_packets, seed)) as bad:
            with pytest.raises(HostError) as caught:
                SshTransport(parse_destination(f"root@127.0.0.1:{bad.port}"), context).open()
            assert caught.value.kind == "unreachable", f"seed {seed}: {caught.value}"


def test_closed_port(make_context: MakeContext) -> None:
    port = free_port()
    open_fails(
        make_context(timeout_s=LIMIT_S),
        f"127.0.0.1:{port}",
        "unreachable",
        f"127.0.0.1 port {port} is closed",
    )


def test_name_that_resolves_nowhere(make_context: MakeContext) -> None:
    open_fails(make_context(timeout_s=LIMIT_S), "no-such-host.invalid", "unreachable")
    open_fails(make_context(timeout_s=LIMIT_S), "x" * 70 + ".invalid", "unreachable")


def test_a_backlog_that_is_full(make_context: MakeContext) -> None:
    """No answer to SYN, as behind a firewall that drops."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        fill = [socket.socket() for _ in range(4)]
        for sock in fill:
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.1", port))
        try:
            open_fails(make_context(timeout_s=LIMIT_S), f"127.0.0.1:{port}", "timeout", "firewall")
        finally:
            for sock in fill:
                sock.close()


def test_connect_timeout_of_the_configuration(make_context: MakeContext) -> None:
    with bad_server.BadServer(bad_server.silent) as bad:
        context = make_context(timeout_s=60, config="ConnectTimeout 1")
        open_fails(context, f"127.0.0.1:{bad.port}", "timeout", "within 1 s")


def run_fails(host: SshTransport, command: Command, kind: str, *words: str, limit_s: float = LIMIT_S) -> None:
    began = time.monotonic()
    with pytest.raises(HostError) as caught:
        host.run(command, timeout_s=limit_s)
    assert time.monotonic() - began < limit_s + SLACK_S
    assert caught.value.kind == kind, str(caught.value)
    assert caught.value.host == host.host
    for word in words:
        assert word in str(caught.value)


def test_a_command_that_never_ends(server: SshServer, make_context: MakeContext) -> None:
    with SshTransport(parse_destination(server.destination), make_context(server)) as host:
        run_fails(host, Command.sh("echo begun; sleep 20"), "timeout", "did not end within 1.5 s")
        run_fails(host, Command.sh("true"), "command", "connection is closed")


def test_hang_after_login(make_context: MakeContext) -> None:
    with SshServer(options=["ForceCommand sleep 20"]) as server:
        with SshTransport(parse_destination(server.destination), make_context(server)) as host:
            run_fails(host, Command.sh("true"), "timeout")
        assert (server.connections, server.commands) == (1, 1)


def test_a_command_that_reads_nothing_and_never_ends(server: SshServer, make_context: MakeContext) -> None:
    """More input than the window and the pipes take."""
    with SshTransport(parse_destination(server.destination), make_context(server)) as host:
        run_fails(host, Command("sleep 20", b"x" * 20_000_000), "timeout")


def test_a_host_that_stops_in_the_middle(make_context: MakeContext) -> None:
    """The connection is there, nobody answers; also with much to send."""
    with SshServer() as server:
        for command in (Command.sh("echo x"), Command("cat", b"x" * 9_000_000)):
            with (
                SshTransport(parse_destination(server.destination), make_context(server)) as host,
                server.paused(),
            ):
                run_fails(host, command, "timeout")


def test_endless_output_is_cut(server: SshServer, make_context: MakeContext) -> None:
    context = make_context(server, limit_bytes=4 << 20)
    for script in ("yes", "yes >&2"):
        with SshTransport(parse_destination(server.destination), context) as host:
            run_fails(host, Command.sh(script), "command", "more than 4 MiB", limit_s=30)


def test_output_up_to_the_limit_is_whole(server: SshServer, make_context: MakeContext) -> None:
    context = make_context(server, limit_bytes=4 << 20)
    with SshTransport(parse_destination(server.destination), context) as host:
        assert len(host.run(Command.sh("head -c 4194304 /dev/zero")).stdout) == 4 << 20


def test_disconnect_in_the_middle_of_a_command(server: SshServer, make_context: MakeContext) -> None:
    with Relay(server.address, server.port) as relay:
        context = through(relay, server, make_context)
        with SshTransport(parse_destination("relay"), context) as host:
            commands = server.commands

            def cut_when_it_runs() -> None:
                wait_for(lambda: server.commands > commands, "the command")
                relay.cut()

            cut = threading.Thread(target=cut_when_it_runs)
            cut.start()
            run_fails(host, Command.sh("echo begun; sleep 20"), "command", "connection broke", limit_s=10)
            cut.join()


@pytest.mark.parametrize("cut_after", [10, 400, 1500, 2200, 2600])
def test_disconnect_at_any_byte(server: SshServer, make_context: MakeContext, cut_after: int) -> None:
    """In the banner, the key exchange, the login, the command: an error of one of four kinds, and at once."""
    with Relay(server.address, server.port, cut_after=cut_after) as relay:
        context = through(relay, server, make_context)
        with pytest.raises(HostError) as caught, SshTransport(parse_destination("relay"), context) as host:
            host.run(Command.sh("head -c 100000 /dev/zero"))
    assert caught.value.kind in ("unreachable", "auth", "command"), str(caught.value)


def test_killed_server_process(make_context: MakeContext) -> None:
    script = "p=$PPID; until grep -q sshd /proc/$p/comm; do p=$(ps -o ppid= -p $p); done; kill -9 $p"
    with (
        SshServer() as server,
        SshTransport(parse_destination(server.destination), make_context(server)) as host,
    ):
        run_fails(host, Command.sh(script), "command", "connection broke", limit_s=10)


def through(relay: Relay, server: SshServer, make_context: MakeContext) -> SshContext:
    return make_context(
        config=f"Host relay 127.0.0.1\nHostName 127.0.0.1\nPort {relay.port}\nHostKeyAlias relay\n"
        f"User {server.user}\nIdentityFile {server.client_key}\n",
        known=server.known_hosts("relay"),
    )


def test_a_login_that_hangs(make_context: MakeContext, tmp_path: Path) -> None:
    """The server asks a program that does not answer whether the key is right."""
    other = make_key(tmp_path / "other")
    options = ["AuthorizedKeysCommand /bin/sleep 20", f"AuthorizedKeysCommandUser {getpass.getuser()}"]
    with SshServer(options=options, authorized=[other]) as server:
        key = make_key(tmp_path / "key")
        context = make_context(server, config=f"IdentityFile {key}", timeout_s=LIMIT_S)
        open_fails(context, server.destination, "timeout", "login did not end within 1.5 s")


def test_a_send_that_stalls_ends_without_a_deadline() -> None:
    """A jump host's connection has none, and paramiko would try again for ever."""
    ours, theirs = socket.socketpair()
    with theirs:
        wire = Wire(ours, stall_s=0.3)
        wire.settimeout(0.05)

        def fill() -> None:
            began = time.monotonic()
            while time.monotonic() - began < 10:
                with suppress(TimeoutError):
                    wire.send(b"x" * 65536)

        with pytest.raises(ConnectionAbortedError):
            fill()
        assert wire.spent == "time"
        wire.close()


def test_close_from_another_thread_ends_a_command(server: SshServer, make_context: MakeContext) -> None:
    """An interrupted run closes what is under way."""
    host = SshTransport(parse_destination(server.destination), make_context(server))
    host.open()
    caught: list[HostError] = []

    def work() -> None:
        try:
            host.run(Command.sh("sleep 20"))
        except HostError as error:
            caught.append(error)

    commands = server.commands
    thread = threading.Thread(target=work)
    thread.start()
    wait_for(lambda: server.commands > commands, "the command")
    host.close()
    thread.join(5)
    assert [error.kind for error in caught] == ["command"]


def test_nothing_is_left_behind(server: SshServer, make_context: MakeContext) -> None:
    """Threads and descriptors after failures of every kind."""
    with bad_server.BadServer(bad_server.silent) as silent:
        context = make_context(server, timeout_s=0.3)

        def fail() -> None:
            for destination in (f"127.0.0.1:{silent.port}", f"nobody-here@127.0.0.1:{server.port}"):
                with pytest.raises(HostError):
                    SshTransport(parse_destination(destination), context).open()

        fail()
        wait_for(lambda: not ssh_threads(), "threads")
        gc.collect()
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(3):
            fail()
        wait_for(lambda: not ssh_threads(), "threads")
        gc.collect()
        silent_sockets = 3  # the server's own ends
        assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors + silent_sockets


def ssh_threads() -> list[threading.Thread]:
    import paramiko

    return [thread for thread in threading.enumerate() if isinstance(thread, paramiko.Transport)]
