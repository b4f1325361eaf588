"""A fleet of real Linux hosts: each a namespace with its own sshd, on one bridge with the controller.

Needs root.  Nothing of it can reach, or be reached from, any other network.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from tests.change.namespace import Namespace
from tests.sshd import SSHD, make_key, public_line, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PORT = 22
NET = "10.99"


@dataclass(frozen=True)
class Ran:
    """What one call of hostcfg left."""

    stdout: str
    stderr: str
    code: int

    @property
    def document(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.stdout)


class Fleet:
    """``count`` hosts, ``h01`` and so on; a context manager, at whose end all are gone."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.hosts: dict[str, Namespace] = {}
        self._count = count
        self._servers: list[subprocess.Popen[bytes]] = []
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._undo.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    @property
    def names(self) -> list[str]:
        """Every host, in the inventory's order."""
        return list(self.hosts)

    @property
    def inventory(self) -> Path:
        """All of them, in a group ``fleet``."""
        return self.folder / "fleet.yaml"

    def _wait_for_servers(self) -> None:
        """They have ended with their namespaces."""
        for server in self._servers:
            server.wait()

    def _start(self) -> None:
        self._undo.callback(self._wait_for_servers)
        self._controller = self._holder()
        self._in("ip", "link", "set", "lo", "up")
        self._in("ip", "link", "add", "br0", "type", "bridge")
        self._in("ip", "addr", "add", f"{NET}.255.1/16", "dev", "br0")
        self._in("ip", "link", "set", "br0", "up")
        ssh = self.folder / ".ssh"
        ssh.mkdir(mode=0o700)
        key, host_key = make_key(ssh / "id_ed25519"), make_key(self.folder / "host_key")
        rows = ["defaults: {user: root}", "hosts:"]
        known = []
        for number in range(1, self._count + 1):
            name, address = f"h{number:02}", f"{NET}.1.{number}"
            rows.append(f"  {name}: {{address: {address}}}")
            known.append(f"{address} {public_line(host_key)}\n")
            self.hosts[name] = self._host(number, address, key, host_key)
        rows.append(f"groups: {{fleet: [{', '.join(self.hosts)}]}}")
        self.inventory.write_text("\n".join(rows) + "\n")
        (ssh / "known_hosts").write_text("".join(known))

    def _holder(self) -> int:
        """A network namespace for the controller; the pid of the process that keeps it."""
        process = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo ready; exec sleep 100000"], stdout=subprocess.PIPE
        )
        self._undo.callback(process.wait)
        self._undo.callback(process.kill)
        assert process.stdout is not None
        self._undo.callback(process.stdout.close)
        assert process.stdout.readline() == b"ready\n"
        return process.pid

    def _in(self, *command: str) -> None:
        subprocess.run([*self.prefix, *command], check=True)

    @property
    def prefix(self) -> list[str]:
        """What runs a command in the controller's network."""
        return ["nsenter", "-t", str(self._controller), "-n", "--"]

    def _host(self, number: int, address: str, key: Path, host_key: Path) -> Namespace:
        unlocked = "printf 'root:*:19000:0:99999:7:::\\n' >/etc/shadow; mkdir -p /run/sshd"
        host = self._undo.enter_context(Namespace(extra=unlocked))
        near = f"m{number}"
        self._in("ip", "link", "add", near, "type", "veth", "peer", "name", "mgmt0", "netns", str(host.pid))
        self._in("ip", "link", "set", near, "master", "br0", "up")
        home = self.folder / "remote"
        home.mkdir(exist_ok=True)
        config = self.folder / f"sshd-{number}"
        config.write_text(
            f"ListenAddress {address}\nPort {PORT}\nHostKey {host_key}\n"
            f"AuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n"
            f"SetEnv HOME={home}\nUseDNS no\nLogLevel VERBOSE\n"
        )
        log = self.folder / f"log-{number}"
        host.sh(f"ip addr add {address}/16 dev mgmt0; ip link set mgmt0 up")
        command = host.argv(str(SSHD), "-D", "-f", str(config), "-E", str(log))
        self._servers.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
        wait_for(lambda: log.exists() and "Server listening" in log.read_text(), f"sshd of host {number}")
        return host

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A call of hostcfg on the controller, under way."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SSH_", "HOSTCFG_"))}
        state = {"HOME": str(self.folder), "HOSTCFG_STATE": str(self.folder / "state")}
        return subprocess.Popen(
            [*self.prefix, sys.executable, "-m", "hostcfg", *words],
            env={**kept, **state},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, timeout_s: float = 300) -> Ran:
        """A whole call of hostcfg on the controller."""
        with self.start(*words) as process:
            stdout, stderr = process.communicate(timeout=timeout_s)
        return Ran(stdout, stderr, process.returncode)

    def change(self, command: str, *words: str) -> Ran:
        """``apply``, ``rollback`` or ``confirm`` without questions, with the inventory, as JSON."""
        return self.run(command, *words, "-i", str(self.inventory), "-o", "json", "--yes")

    def history(self, change_id: str) -> Any:
        """A change as ``history -o json`` tells it."""
        (change,) = self.run("history", change_id, "-o", "json").document["changes"]
        return change

    def values(self, key: str) -> dict[str, str]:
        """A sysctl of every host."""
        return {name: host.get(key) for name, host in self.hosts.items()}

    def snapshots(self) -> dict[str, str]:
        """Everything that a change may touch, on every host."""
        return {name: host.snapshot() for name, host in self.hosts.items()}

    def kill_when(self, process: subprocess.Popen[str], condition: Callable[[], bool]) -> None:
        """SIGKILL at the moment when ``condition`` first holds."""
        wait_for(condition, "the moment to kill", 120)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGKILL)
        process.communicate()


def statuses(ran: Ran) -> dict[str, str]:
    """Host -> what became of it."""
    return {host["host"]: host["status"] for host in ran.document["hosts"]}
