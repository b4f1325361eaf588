"""Over real OpenSSH, and on this machine itself: the timer outlives connection, sshd and controller."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions, apply_host
from hostcfg.plan import Wanted, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.rollback import rollback_change, rollback_unfinished
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.ssh import SshTransport
from hostcfg.transports.ssh_context import SshContext
from tests.change.conftest import LAN, read
from tests.change.test_apply import wait_until
from tests.hosts.freebsd.door import Door
from tests.sshd import SSHD

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

    from hostcfg.changes import HostChange
    from hostcfg.journal import Journal
    from hostcfg.model import Facts, Plan
    from tests.change.namespace import Namespace

pytestmark = pytest.mark.root


class NamespaceDoor(Door):
    """This machine's own sshd, inside the namespaces."""

    def _session(self, connection: socket.socket) -> None:
        options = f"-i -f {self.directory}/sshd_config -E /run/sshd.log"
        with (self.directory / "inetd.log").open("ab") as log:
            argv, end = [*self.enter, str(SSHD), *options.split()], connection.fileno()
            self._sessions.append(subprocess.Popen(argv, stdin=end, stdout=end, stderr=log))


class Ssh:
    """A controller that reaches the host through a real sshd in its namespaces."""

    def __init__(self, host: Namespace, journal: Journal, door: Door, context: SshContext) -> None:
        self.host, self.journal, self.door, self.context = host, journal, door, context
        self.transports: list[SshTransport] = []
        self.accepting = True

    def connect(self, _: str) -> SshTransport:
        destination = parse_destination(f"root@127.0.0.1:{self.door.port}")
        self.transports.append(SshTransport(destination, self.context))
        return self.transports[-1]

    def cut(self) -> None:
        """Nobody gets in any more, and the sessions that exist are killed with all that they started."""
        self.accepting = False
        self.host.sh("for p in /proc/[0-9]*; do grep -q '^sshd' $p/comm && kill -9 ${p#/proc/}; done; true")

    def apply(self, hear: object = None, *, revert_in_s: int = 30) -> tuple[str, HostChange]:
        draft = self.journal.draft("apply")

        def plan(facts: Facts) -> Plan:
            return plan_writes(facts, get_platform("linux"), [Wanted(k, v) for k, v in LAN.items()])

        result = apply_host(
            "host1",
            draft=draft,
            journal=self.journal,
            connect=self.connect,
            read=read,
            planner=plan,
            options=ChangeOptions(revert_in_s=revert_in_s),
            on_event=hear or (lambda _: None),  # type: ignore[arg-type]
        )
        return draft.id, result


@pytest.fixture
def ssh(host: Namespace, journal: Journal, tmp_path: Path) -> Iterator[Ssh]:
    host.sh("mkdir -p /run/sshd; echo 'root:*:19000:0:99999:7:::' >/etc/shadow")
    here: list[Ssh] = []
    door = NamespaceDoor(user="root", accepts=lambda: not here or here[0].accepting, enter=host.argv())
    with door:
        known, config = tmp_path / "known_hosts", tmp_path / "ssh_config"
        known.write_text(door.known_hosts())
        config.write_text(
            f"Host *\nUserKnownHostsFile {known}\nIdentityFile {door.client_key}\nIdentitiesOnly yes\n"
        )
        here.append(Ssh(host, journal, door, SshContext(config_files=[config], timeout_s=10)))
        yield here[0]


def test_apply_and_rollback_over_ssh(ssh: Ssh) -> None:
    start = ssh.host.snapshot()
    change_id, result = ssh.apply()
    assert (result.status, result.error) == ("applied", None)
    assert [t.commands_run for t in ssh.transports] == [3, 1]
    assert [t.connections_made for t in ssh.transports] == [1, 1]
    back = rollback_change(
        change_id, journal=ssh.journal, connect=ssh.connect, read=read, options=ChangeOptions(30)
    )
    assert [(h.status, h.error) for h in back.hosts] == [("reverted", None)]
    assert ssh.host.snapshot() == start
    wait_until(lambda: not ssh.host.processes(), 10)


def test_a_host_that_lets_nobody_in_any_more_reverts_by_itself_in_time(ssh: Ssh) -> None:
    """sshd and every session are killed after the write: only what runs on the host can help."""
    start = ssh.host.snapshot()
    seen: list[str] = []

    def hear(event: str) -> None:
        if event == "write journalled":
            seen.append(ssh.host.snapshot())
            ssh.cut()

    here = "/var/lib/hostcfg/*"
    change_id, result = ssh.apply(hear, revert_in_s=10)
    assert seen[0] != start
    assert ssh.host.snapshot() == start
    armed, restored = ssh.host.sh(f"stat -c %.Y {here}/deadline; stat -c %.Z {here}/state.restored").split()
    took_s = float(restored) - float(armed)
    print(f"reverted {took_s:.2f} s after it was armed, of 10 s; no connection was possible")
    assert took_s <= 10.0
    assert result.status == "unknown"  # nobody could ask
    ssh.accepting = True
    (settled,) = rollback_unfinished(
        journal=ssh.journal, connect=ssh.connect, read=read, options=ChangeOptions(30)
    )
    assert [h.status for h in settled.hosts] == ["reverted"]
    assert ssh.journal.change(change_id).ended is not None


LOCAL = """
import sys
from pathlib import Path
from hostcfg.apply import ChangeOptions, apply_host
from hostcfg.journal import Journal
from hostcfg.plan import Wanted, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.reader import probe
from hostcfg.rollback import rollback_last
from hostcfg.targets import HostSpec
from hostcfg.transports.local import LocalTransport

def read(transport, host):
    return probe(transport, HostSpec(name=host, kind="local", address=""))

def plan(facts):
    return plan_writes(facts, get_platform("linux"), [Wanted("net.ipv4.tcp_sack", "0")], persist=True)

journal = Journal.open(Path(sys.argv[1]))
if sys.argv[2] == "back":
    back = rollback_last(journal=journal, connect=LocalTransport, read=read, options=ChangeOptions(30))
    print(back.hosts[0].status, back.hosts[0].error)
else:
    result = apply_host(
        "local", draft=journal.draft("apply"), journal=journal, connect=LocalTransport, read=read,
        planner=plan, options=ChangeOptions(revert_in_s=int(sys.argv[3]), hold=sys.argv[2] == "hold"),
    )
    print(result.status, result.error)
"""


def local(host: Namespace, state: Path, *arguments: str) -> str:
    """A controller that runs on the host itself."""
    argv = host.argv(sys.executable, "-c", LOCAL, str(state), *arguments)
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_a_change_of_this_machine_has_the_same_protection(host: Namespace, tmp_path: Path) -> None:
    start = host.snapshot()
    assert local(host, tmp_path, "hold", "6") == "pending None"
    assert host.get("net.ipv4.tcp_sack") == "0"  # its controller is gone by now
    wait_until(lambda: host.snapshot() == start, 30)
    assert local(host, tmp_path, "apply", "30") == "applied None"
    assert host.sh("ls /etc/sysctl.d") == "90-hostcfg.conf\n"
    assert local(host, tmp_path, "back") == "reverted None"
    assert host.snapshot() == start


def test_no_secret_is_in_argv_journal_or_files(ssh: Ssh, tmp_path: Path) -> None:
    """The only secret here is the key that opens the door: nothing of it is anywhere."""
    private = ssh.door.client_key.read_text().splitlines()[2]
    said: list[str] = []

    def hear(_: str) -> None:
        said.append(ssh.host.sh("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; true"))

    ssh.apply(hear)
    journal = (tmp_path / "state" / "journal.sqlite3").read_bytes()
    left = ssh.host.sh("cat /var/lib/hostcfg/*/* 2>/dev/null; true")
    assert private not in "".join(said) + left + journal.decode("latin-1")
