"""Through other hosts and programs: ProxyJump over real servers, ProxyCommand."""

from __future__ import annotations

import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from hostcfg.errors import HostError
from hostcfg.transports.base import Command
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.proxy_command import ProxyCommand, start_pumped
from hostcfg.transports.ssh import SshTransport
from tests.sshd import SshServer, free_port, wait_for
from tests.transports import bad_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hostcfg.transports.ssh_context import SshContext
    from tests.transports.conftest import MakeContext


@pytest.fixture(scope="module")
def bastion() -> Iterator[SshServer]:
    with SshServer() as running:
        yield running


def running(word: str) -> list[list[str]]:
    """Command lines of our own children that hold ``word``."""
    lines: list[list[str]] = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            lines.append(process.cmdline())
    return [line for line in lines if word in line]


def echo(context: SshContext, text: str) -> bytes:
    with SshTransport(parse_destination(text), context) as host:
        return host.run(Command.sh("echo there")).stdout


def fails(context: SshContext, text: str, kind: str, *words: str) -> None:
    with pytest.raises(HostError) as caught:
        echo(context, text)
    assert caught.value.kind == kind, str(caught.value)
    assert caught.value.host == text
    for word in words:
        assert word in str(caught.value)


def hosts(server: SshServer, bastion: SshServer, *, jump: str = "gate") -> str:
    return (
        f"Host gate\nHostName {bastion.address}\nPort {bastion.port}\nUser {bastion.user}\nProxyJump none\n"
        f"Host far far2\nHostName {server.address}\nPort {server.port}\nUser {server.user}\n"
        f"ProxyJump {jump}\n"
    )


def test_one_hop(server: SshServer, bastion: SshServer, make_context: MakeContext) -> None:
    connections = bastion.connections
    context = make_context(server, bastion, config=hosts(server, bastion))
    assert echo(context, "far") == b"there\n"
    assert bastion.connections == connections + 1


def test_hop_given_in_full(server: SshServer, bastion: SshServer, make_context: MakeContext) -> None:
    for hop in (bastion.destination, f"ssh://{bastion.destination}"):
        context = make_context(server, bastion, config=hosts(server, bastion, jump=hop))
        assert echo(context, "far") == b"there\n"


def test_two_hops(server: SshServer, bastion: SshServer, make_context: MakeContext) -> None:
    with SshServer() as second:
        config = f"Host second\nHostName 127.0.0.1\nPort {second.port}\n" + hosts(
            server, bastion, jump="gate,second"
        )
        context = make_context(server, bastion, second, config=config)
        assert echo(context, "far") == b"there\n"
        assert second.connections == 1
        # the last hop's own ProxyJump leads the same way
        config = f"Host second\nHostName 127.0.0.1\nPort {second.port}\nProxyJump gate\n" + hosts(
            server, bastion, jump="second"
        )
        assert echo(make_context(server, bastion, second, config=config), "far") == b"there\n"
        assert second.connections == 2


def test_hosts_behind_a_jump_host_share_its_login(
    server: SshServer, bastion: SshServer, make_context: MakeContext
) -> None:
    connections = bastion.connections
    context = make_context(server, bastion, config=hosts(server, bastion), timeout_s=30)
    together = threading.Barrier(6)
    outputs: list[bytes] = []

    def work() -> None:
        with SshTransport(parse_destination("far"), context) as host:
            outputs.append(host.run(Command.sh("echo there")).stdout)
            together.wait(30)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == [b"there\n"] * 6
    assert bastion.connections == connections + 1
    assert echo(context, "far2") == b"there\n"  # after the last has left, it is opened again
    assert bastion.connections == connections + 2


def test_bulk_through_a_hop(server: SshServer, bastion: SshServer, make_context: MakeContext) -> None:
    data = bytes(range(256)) * 20_000
    context = make_context(server, bastion, config=hosts(server, bastion))
    with SshTransport(parse_destination("far"), context) as host:
        assert host.run(Command("cat", data)).stdout == data


def test_a_jump_host_that_leads_to_itself(
    server: SshServer, bastion: SshServer, make_context: MakeContext
) -> None:
    config = f"Host gate\nHostName 127.0.0.1\nPort {bastion.port}\nHost *\nProxyJump gate\n"
    fails(
        make_context(server, bastion, config=config), "far", "unreachable", "gate to itself", "ProxyJump none"
    )


def test_faults_of_the_jump_host_name_both(
    server: SshServer, bastion: SshServer, make_context: MakeContext
) -> None:
    config = hosts(server, bastion)
    fails(make_context(server, config=config), "far", "host_key", "jump host gate: unknown host key")
    only = f"Host gate\nHostName 127.0.0.1\nPort {bastion.port}\nUser nobody-here\nProxyJump none\n" + config
    fails(
        make_context(server, bastion, config=only), "far", "auth", "jump host gate: no login as nobody-here"
    )
    closed = f"Host gate\nHostName 127.0.0.1\nPort {free_port()}\n" + config
    fails(
        make_context(server, bastion, config=closed), "far", "unreachable", "jump host gate: 127.0.0.1 port"
    )
    bad = hosts(server, bastion, jump="gate:0")
    fails(make_context(server, bastion, config=bad), "far", "unreachable", "ProxyJump")


def test_closed_port_behind_a_jump_host(bastion: SshServer, make_context: MakeContext) -> None:
    config = f"Host far\nHostName 127.0.0.1\nPort {free_port()}\nProxyJump {bastion.destination}\n"
    fails(
        make_context(bastion, config=config), "far", "unreachable", "the jump host can't or may not connect"
    )


def test_a_jump_host_that_forbids_forwarding(server: SshServer, make_context: MakeContext) -> None:
    with SshServer(options=["AllowTcpForwarding no"]) as strict:
        context = make_context(server, strict, config=hosts(server, strict))
        fails(context, "far", "unreachable", "can't or may not connect", "rohibited")


def test_a_silent_host_behind_a_jump_host(bastion: SshServer, make_context: MakeContext) -> None:
    with bad_server.BadServer(bad_server.silent) as silent:
        config = f"Host far\nHostName 127.0.0.1\nPort {silent.port}\nProxyJump {bastion.destination}\n"
        began = time.monotonic()
        fails(make_context(bastion, config=config, timeout_s=1.5), "far", "timeout", "no SSH answer")
        assert time.monotonic() - began < 5


def test_a_dead_jump_host_costs_its_time_once(server: SshServer, make_context: MakeContext) -> None:
    with bad_server.BadServer(bad_server.silent) as silent:
        config = f"Host gate\nHostName 127.0.0.1\nPort {silent.port}\nHost far\nProxyJump gate\n"
        context = make_context(server, config=config, timeout_s=1.5)
        began = time.monotonic()
        for _ in range(4):
            fails(context, "far", "timeout", "jump host gate: no SSH answer")
        assert time.monotonic() - began < 4


def test_a_jump_host_that_dies(server: SshServer, make_context: MakeContext) -> None:
    with SshServer() as mortal:
        context = make_context(server, mortal, config=hosts(server, mortal))
        with SshTransport(parse_destination("far"), context) as host:
            commands = server.commands
            caught: list[HostError] = []

            def work() -> None:
                try:
                    host.run(Command.sh("sleep 20"))
                except HostError as error:
                    caught.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            wait_for(lambda: server.commands > commands, "the command")
            mortal.close()
            thread.join(8)
        assert [error.kind for error in caught] == ["command"]


def test_a_jump_host_that_stops_reading(server: SshServer, make_context: MakeContext) -> None:
    """More to send than its buffers hold: neither the command's limit nor the jump's own is forgotten."""
    with SshServer() as gate:
        context = make_context(server, gate, config=hosts(server, gate), timeout_s=1.5)
        with SshTransport(parse_destination("far"), context) as host:
            began = time.monotonic()
            with gate.paused(), pytest.raises(HostError) as caught:
                host.run(Command("cat", b"x" * 30_000_000))
            assert caught.value.kind in ("timeout", "command")
            assert time.monotonic() - began < 6


def test_proxy_command(
    server: SshServer, bastion: SshServer, make_context: MakeContext, tmp_path: Path
) -> None:
    """ssh itself as the program, and its end with the connection."""
    make_context(server, bastion, config=hosts(server, bastion))
    config = (tmp_path / "ssh_config").rename(tmp_path / "for_ssh")
    command = f"ssh -F {config} -W %h:%p gate"
    context = make_context(
        server,
        bastion,
        config=f"Host far\nHostName 127.0.0.1\nPort {server.port}\nProxyCommand {command}\n",
    )
    assert echo(context, "far") == b"there\n"
    assert not running("-W")


@pytest.mark.parametrize(
    ("command", "kind", "words"),
    [
        (
            "sh -c 'echo no way to %h >&2; exit 3'",
            "unreachable",
            "ProxyCommand says: no way to far; it ended (status 3) without a connection",
        ),
        ("sleep 20", "timeout", "no SSH answer within 1.5 s"),
        (
            "sh -c 'trap \"\" TERM; echo stubborn >&2; exec sleep 20'",
            "timeout",
            "ProxyCommand says: stubborn",
        ),
        ("/no/such/program", "unreachable", "ProxyCommand"),
        ("true", "unreachable", "ProxyCommand says nothing; it ended"),
    ],
)
def test_proxy_commands_that_fail(make_context: MakeContext, command: str, kind: str, words: str) -> None:
    began = time.monotonic()
    context = make_context(config=f"ProxyCommand {command}", timeout_s=1.5)
    fails(context, "far", kind, words)
    assert time.monotonic() - began < 6
    assert not running("sleep")


COPY = "import shutil, sys; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"


def test_proxy_command_with_pumps(tmp_path: Path) -> None:
    """The way of systems where a program's input can be no socket."""
    ours, theirs = socket.socketpair()
    data = b"x" * 1_000_000

    def send() -> None:
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)

    with ours, tempfile.TemporaryFile(dir=tmp_path) as errors:
        process = start_pumped(f"{sys.executable} -c '{COPY}'", theirs, errors)
        sender = threading.Thread(target=send)
        sender.start()
        received = b""
        while part := ours.recv(1 << 16):
            received += part
        sender.join()
        assert process.wait(10) == 0
    assert received == data


def test_proxy_command_is_a_stream(tmp_path: Path) -> None:
    stream = ProxyCommand("cat", "far")
    stream.settimeout(5)
    assert stream.send(b"hello") == 5
    assert stream.recv(100) == b"hello"
    stream.close()
