"""Commands over a real OpenSSH server: what comes back, and at what price."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError
from hostcfg.transports.base import Command, CommandResult
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.ssh import SshTransport
from tests.sshd import SshServer, fingerprint_of, system_user, wait_for
from tests.transports.relay import Relay

if TYPE_CHECKING:
    from tests.transports.conftest import MakeContext


def test_output_errors_and_status_stay_apart(server: SshServer, make_context: MakeContext) -> None:
    with SshTransport(parse_destination(server.destination), make_context(server)) as host:
        result = host.run(Command.sh("echo out; echo err >&2; exit 3"))
    assert (result.stdout, result.stderr, result.status) == (b"out\n", b"err\n", 3)


def test_one_connection_and_one_exec_for_one_command(make_context: MakeContext) -> None:
    with SshServer() as server:
        with SshTransport(parse_destination(server.destination), make_context(server)) as host:
            host.run(Command.sh("echo once"))
            assert (host.connections_made, host.commands_run) == (1, 1)
        wait_for(lambda: "Disconnected" in server.log or "Connection closed" in server.log, "the end")
        assert (server.connections, server.commands) == (1, 1)


def test_several_commands_share_the_connection(make_context: MakeContext) -> None:
    with SshServer() as server:
        with SshTransport(parse_destination(server.destination), make_context(server)) as host:
            assert [host.run(Command.sh(f"echo {n}")).stdout for n in range(3)] == [b"0\n", b"1\n", b"2\n"]
        assert (server.connections, server.commands) == (1, 3)


def test_commands_of_a_script_can_not_eat_the_rest_of_it(
    server: SshServer, make_context: MakeContext
) -> None:
    with SshTransport(parse_destination(server.destination), make_context(server)) as host:
        assert host.run(Command.sh("cat; echo still here")).stdout == b"still here\n"


@pytest.mark.parametrize("size", [0, 1, 40_000, 5_000_000])
def test_bytes_go_through_unchanged(server: SshServer, make_context: MakeContext, size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    with SshTransport(parse_destination(server.destination), make_context(server)) as host:
        result = host.run(Command("cat", data[:size]))
    assert result.stdout == data[:size]
    assert result.status == 0


def test_a_command_may_leave_its_input_unread(server: SshServer, make_context: MakeContext) -> None:
    with SshTransport(parse_destination(server.destination), make_context(server)) as host:
        result = host.run(Command("echo done", b"x" * 6_000_000))
    assert (result.stdout, result.status) == (b"done\n", 0)


def test_a_command_ended_by_a_signal_has_no_status(server: SshServer, make_context: MakeContext) -> None:
    with SshTransport(parse_destination(server.destination), make_context(server)) as host:
        assert host.run(Command("sh -c 'kill -9 $$'")).status in (None, 137)


def test_banner_and_fingerprint_once_open(server: SshServer, make_context: MakeContext) -> None:
    host = SshTransport(parse_destination(server.destination), make_context(server))
    before = (host.banner, host.host_key_fingerprint)
    with host:
        banner, fingerprint = host.banner, host.host_key_fingerprint
    assert before == (None, None)
    assert banner is not None
    assert banner.startswith("SSH-2.0-OpenSSH")
    assert fingerprint == fingerprint_of(server.host_key_files[0])


def test_a_closed_transport_says_so(server: SshServer, make_context: MakeContext) -> None:
    host = SshTransport(parse_destination(server.destination), make_context(server))
    with pytest.raises(HostError, match="connection is closed") as caught:
        host.run(Command.sh("true"))
    assert caught.value.kind == "command"
    host.close()  # never raises


def test_ipv6_and_several_ports(make_context: MakeContext) -> None:
    if not has_ipv6():
        pytest.skip("no IPv6 on loopback")
    with SshServer(address="::1", extra_ports=1) as server:
        context = make_context(server)
        for port in server.ports:
            with SshTransport(parse_destination(f"{server.user}@[::1]:{port}"), context) as host:
                assert host.run(Command.sh("echo $SSH_CONNECTION")).stdout.endswith(b" ::1 %d\n" % port)


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_what_ssh_costs_is_paid_only_for_ssh() -> None:
    code = (
        "import sys, hostcfg.transports.local, hostcfg.transports.destination;"
        "print([m for m in ('paramiko', 'cryptography', 'psutil') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_round_trips(server: SshServer, make_context: MakeContext) -> None:
    """Turns of who speaks, behind a relay: a login and a command, then a further command.

    A turn is at most a round trip; measured with a delay line it is 8 for the first command and 2
    for each further one.  Nagle's algorithm at the server adds none here, so bounds are upper ones.
    """
    with Relay(server.address, server.port) as relay:
        context = make_context(
            config=f"Host relay\nHostName 127.0.0.1\nPort {relay.port}\nHostKeyAlias relay\n"
            f"User {server.user}\nIdentityFile {server.client_key}\n",
            known=server.known_hosts("relay"),
        )
        with SshTransport(parse_destination("relay"), context) as host:
            host.run(Command.sh("true"))
            first = relay.turns
            host.run(Command.sh("true"))
            second = relay.turns - first
    assert first <= 8
    assert second <= 2 + 1  # the end of the first command may still be under way


def test_fifty_threads_share_one_context(server: SshServer, make_context: MakeContext) -> None:
    context = make_context(server, timeout_s=60)
    outputs: list[bytes] = []

    def work(number: int) -> None:
        with SshTransport(parse_destination(server.destination), context) as host:
            outputs.append(host.run(Command.sh(f"echo {number}")).stdout)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outputs) == sorted(b"%d\n" % number for number in range(50))


@pytest.mark.root
@pytest.mark.parametrize("shell", ["/bin/csh", "/bin/bash", "/bin/dash"])
def test_any_login_shell(shell: str, make_context: MakeContext) -> None:
    with SshServer() as server, system_user(shell=shell) as user:
        script = "x='a b'; echo \"$x\"; echo $0; false || echo err >&2"
        destination = parse_destination(server.destination.replace(server.user, user, 1))
        with SshTransport(destination, make_context(server)) as host:
            result = host.run(Command.sh(script))
    assert result.stdout == b"a b\n/bin/sh\n"
    assert result.stderr == b"err\n"


def test_a_process_left_in_the_background_does_not_cost_the_time_limit(
    server: SshServer, make_context: MakeContext
) -> None:
    """What a login script starts holds the output open; the command has ended all the same."""
    began = time.monotonic()
    with SshTransport(parse_destination(server.destination), make_context(server, timeout_s=25)) as host:
        result = host.run(Command("sleep 30 & echo all; echo errors >&2; exit 3"))
    assert result == CommandResult(b"all\n", b"errors\n", 3)
    assert time.monotonic() - began < 15


def test_what_is_done_on_a_host_is_told(server: SshServer, make_context: MakeContext) -> None:
    said: list[tuple[str, str]] = []
    context = make_context(server, config=f"Host far\nHostName 127.0.0.1\nPort {server.port}\n")
    context.tell = lambda host, text: said.append((host, text))
    with SshTransport(parse_destination(f"{server.user}@far"), context) as host:
        host.run(Command.sh("echo secret; exit 3"))
    assert {who for who, _ in said} == {f"{server.user}@far"}
    (way, met, login, ran) = (text for _, text in said)
    assert way == f"connecting to 127.0.0.1 port {server.port}"
    assert re.fullmatch(r"SSH-2\.0-OpenSSH_\S+.*, with the host key SHA256:\S+ that it should have", met)
    assert login == f"logged in as {server.user} with {server.client_key}"
    assert re.fullmatch(r"ran /bin/sh, 43 bytes of script: status 3, 7 bytes in \d\.\d s", ran)
