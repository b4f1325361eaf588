"""Whose fault an error is: the host's becomes a HostError, our own stays what it is."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import paramiko
import pytest

from hostcfg.errors import HostError
from hostcfg.transports.base import Command
from hostcfg.transports.become import Plain
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.ssh import SshTransport
from hostcfg.transports.ssh_errors import Attempt, Phase, translated

if TYPE_CHECKING:
    from tests.sshd import SshServer
    from tests.transports.conftest import MakeContext


def attempt(phase: Phase = "command") -> Attempt:
    return Attempt("far", "192.0.2.1", 22, phase, 30)


def test_what_our_own_code_raises_is_no_broken_connection() -> None:
    with pytest.raises(AttributeError), translated(attempt()):
        parse_destination(None)  # type: ignore[arg-type]  # a fault of ours, as a test can make one


@pytest.mark.parametrize("phase", ["connect", "login", "command"])
def test_what_a_host_sends_is_the_hosts_fault_whatever_it_makes_paramiko_raise(phase: Phase) -> None:
    with pytest.raises(HostError) as caught, translated(attempt(phase)):
        paramiko.Message(b"\0\0\0\x04\xff\xff\xff\xff").get_text()
    assert "what it sent is not SSH: UnicodeDecodeError" in caught.value.message


def test_a_fault_within_a_command_comes_through(server: SshServer, make_context: MakeContext) -> None:
    """As the reader of a real session meets it; and the connection is closed."""

    class Faulty(Plain):
        listens = True

        def feed(self, stdout: bytes, stderr: bytes) -> bytes:
            del stderr
            return parse_destination(stdout)  # type: ignore[arg-type, return-value]  # as above

    host = SshTransport(parse_destination(server.destination), make_context(server))
    with host:
        connection = host._connection  # no command of hostcfg's is faulty
        assert connection is not None
        dialogue = Faulty(Command.sh("echo in"), "far")
        with pytest.raises(TypeError):
            connection.session.run(dialogue, 10, 1 << 20)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's /proc")
def test_a_limit_of_this_machine_is_no_fault_of_the_host() -> None:
    program = (
        "import resource, threading\n"
        "from hostcfg.errors import HostError\n"
        "from hostcfg.transports.ssh_errors import Attempt, translated\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20), size + (1 << 20)))\n"
        "try:\n"
        " with translated(Attempt('far', '192.0.2.1', 22, 'connect', 30)):\n"
        "  threading.Thread(target=print).start()\n"
        "except HostError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("far: this machine starts no further thread")
    with pytest.raises(MemoryError), translated(attempt()):
        raise MemoryError
