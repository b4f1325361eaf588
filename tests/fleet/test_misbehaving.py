"""A fleet of which a tenth misbehaves: the others are read in full, and each failure has its kind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.sshd import SshServer, free_port, make_key, public_line
from tests.transports import bad_server

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.root, pytest.mark.slow, pytest.mark.timeout(400)]

HOSTS = 200
TIMEOUT_S = 60
PER_SERVER = 15  # sshd listens on up to sixteen addresses

GARBAGE = "head -c 200000 /dev/urandom"
BROKEN_OFF = "head -c 300; echo '@@hostcfg begin'; kill -KILL $PPID"  # the sshd of this connection


@dataclass
class Farm:
    """Servers by what they do; ``lines`` of an inventory, ``kinds`` that a host's failure must have."""

    folder: Path
    lines: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    _undo: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        self.ssh = self.folder / ".ssh"
        self.ssh.mkdir(mode=0o700)
        self.key = make_key(self.ssh / "id_ed25519")
        self.host_key = make_key(self.folder / "host_key")
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def good(self, count: int) -> None:
        """Real hosts: real sshd, the real probe on this machine."""
        for start in range(1, count + 1, PER_SERVER):
            numbers = range(start, min(start + PER_SERVER, count + 1))
            server = self._server([f"127.3.{n // 250}.{n % 250 + 1}" for n in numbers])
            for number in numbers:
                self._add(f"good{number:03}", f"127.3.{number // 250}.{number % 250 + 1}", server.port)

    def forced(self, name: str, kind: str, command: str, count: int) -> None:
        """Real sshd that lets us in and then runs something else."""
        server = self._server(["127.0.0.1"], f"ForceCommand {command}")
        for number in range(1, count + 1):
            self._add(f"{name}{number}", "127.0.0.1", server.port, kind)

    def wrong_key(self, count: int) -> None:
        """Real sshd with another key than the one on record."""
        server = self._server(["127.0.0.1"])
        other = public_line(make_key(self.folder / "other_key"))
        self.known.append(f"[127.0.0.1]:{server.port} {other}\n")
        for number in range(1, count + 1):
            self.lines.append(f"wrong{number} ansible_host=127.0.0.1 ansible_port={server.port}")
            self.kinds[f"wrong{number}"] = "host_key"

    def closed(self, count: int) -> None:
        """A port on which nobody listens."""
        for number in range(1, count + 1):
            self._add(f"closed{number}", "127.0.0.1", free_port(), "unreachable")

    def silent(self, count: int) -> None:
        """Takes the connection and says nothing, ever."""
        server = self._undo.enter_context(bad_server.BadServer(bad_server.silent))
        for number in range(1, count + 1):
            self._add(f"silent{number}", "127.0.0.1", server.port, "timeout")

    def serving(self, name: str, kind: str, behave: Callable[[socket.socket], None]) -> None:
        """One that does ``behave`` with each connection."""
        server = self._undo.enter_context(bad_server.BadServer(behave))
        self._add(name, "127.0.0.1", server.port, kind)

    def _server(self, addresses: list[str], *options: str) -> SshServer:
        more = [f"ListenAddress {address}" for address in addresses[1:]]
        home = self.folder / "remote"  # no .bashrc of whoever runs the tests
        home.mkdir(exist_ok=True)
        return self._undo.enter_context(
            SshServer(
                address=addresses[0],
                options=[*more, f"SetEnv HOME={home}", *options],
                authorized=[self.key],
                host_key_files=[self.host_key],
                user="root",
            )
        )

    def _add(self, name: str, address: str, port: int, kind: str | None = None) -> None:
        self.lines.append(f"{name} ansible_host={address} ansible_port={port}")
        self.known.append(f"[{address}]:{port} {public_line(self.host_key)}\n")
        if kind is not None:
            self.kinds[name] = kind

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A call of hostcfg over all of them, under way."""
        inventory = self.folder / "hosts.ini"
        inventory.write_text("\n".join([*self.lines, "[all:vars]", "ansible_user=root"]) + "\n")
        (self.ssh / "known_hosts").write_text("".join(dict.fromkeys(self.known)))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SSH_", "HOSTCFG_"))}
        return subprocess.Popen(
            [sys.executable, "-m", "hostcfg", *words, "-i", str(inventory)],
            env={**kept, "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    tmp_path.chmod(0o755)
    with Farm(tmp_path) as made:
        yield made


def wait_until_done(process: subprocess.Popen[str], count: int) -> None:
    """Read what ``-v`` says until so many hosts are done."""
    assert process.stderr is not None
    while count:
        line = process.stderr.readline()
        assert line
        assert not line.endswith((": timeout\n", ": command\n", ": unreachable\n"))
        count -= line.endswith(": done\n")


def by_name(document: Any) -> dict[str, Any]:
    return {host["host"]: host for host in document["hosts"]}


def test_twenty_of_two_hundred_misbehave(farm: Farm) -> None:
    farm.good(HOSTS - 20)
    farm.closed(4)
    farm.silent(4)
    farm.forced("hangs", "timeout", "sleep 1000", 3)
    farm.forced("garbage", "command", GARBAGE, 3)
    farm.forced("cut", "command", BROKEN_OFF, 3)
    farm.wrong_key(3)
    assert len(farm.kinds) == 20
    began = time.monotonic()
    with farm.start("show", "all", "-o", "json", "--timeout", str(TIMEOUT_S)) as process:
        stdout, stderr = process.communicate(timeout=TIMEOUT_S * 4)
    took_s = time.monotonic() - began
    hosts = by_name(json.loads(stdout))
    assert process.returncode == 2
    assert len(hosts) == HOSTS
    failed = {name: host["error"]["kind"] for name, host in hosts.items() if host["status"] != "ok"}
    assert failed == farm.kinds
    whole = [host for name, host in hosts.items() if name not in failed]
    assert len(whole) == HOSTS - 20
    assert {host["settings"]["recv_buffer_max"]["state"] for host in whole} == {"value"}
    assert {len(host["native"]) for host in whole} == {len(whole[0]["native"])}
    told = [line for line in stderr.splitlines() if line.startswith("hostcfg: ")]
    assert len(told) == 20
    assert all(any(f"{name}: " in line for line in told) for name in farm.kinds)
    counts = [line for line in stderr.splitlines() if not line.startswith("hostcfg: ")]
    assert counts  # where there is no terminal
    assert all(re.fullmatch(r"\d+/200 hosts, \d+ failed", line) for line in counts)
    # those that hang use up their limits (login and command are two), the others are done by then
    assert took_s < TIMEOUT_S * 1.5


def test_other_ways_to_misbehave(farm: Farm) -> None:
    farm.good(10)
    farm.serving("many", "unreachable", bad_server.too_many)
    farm.serving("penalty", "unreachable", bad_server.penalty)
    farm.serving("mtu", "timeout", bad_server.banner_only)
    farm.serving("drip", "timeout", bad_server.drip)
    farm.serving("line", "unreachable", bad_server.endless_line)
    farm.forced("echo", "command", "cat", 1)
    farm.forced("screen", "command", "printf '\\033[2J\\033]0;x\\007\\n'", 1)
    farm.forced("slow", "timeout", "while :; do echo x; sleep 0.2; done", 1)
    farm.forced("nobody", "command", "/usr/sbin/nologin", 1)
    farm.lines += ["broken ansible_host={{x}}", "nowhere ansible_host=no-such-host.invalid"]
    farm.kinds |= {"broken": "inventory", "nowhere": "unreachable"}
    farm.forced("behind", "ok", "sleep 1000 & exec /bin/sh -s", 1)
    farm.forced("zeros", "ok", "head -c 100000 /dev/zero; exec /bin/sh -s", 1)
    began = time.monotonic()
    with farm.start("show", "all", "-o", "json", "--timeout", "15") as process:
        stdout, stderr = process.communicate(timeout=120)
    assert time.monotonic() - began < 45
    hosts = by_name(json.loads(stdout))
    assert {name: (host["error"] or {"kind": "ok"})["kind"] for name, host in hosts.items()} == {
        **{f"good{number:03}": "ok" for number in range(1, 11)},
        **farm.kinds,
    }
    assert process.returncode == 2
    assert "\x1b" not in stderr
    failed = [name for name, kind in farm.kinds.items() if kind != "ok"]
    told = [line for line in stderr.splitlines() if line.startswith(("hostcfg: ", "/"))]
    assert all(sum(f"{name}: " in line for line in told) == 1 for name in failed)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_at_once_with_what_is_known(farm: Farm, stop: signal.Signals) -> None:
    farm.good(3)
    farm.silent(1)
    farm.forced("hangs", "timeout", "sleep 1000", 1)
    with farm.start("show", "all", "-o", "json", "-v", "--timeout", "300") as process:
        wait_until_done(process, 3)
        process.send_signal(stop)
        began = time.monotonic()
        stdout, stderr = process.communicate(timeout=60)
    assert time.monotonic() - began < 5
    assert process.returncode == 130
    hosts = by_name(json.loads(stdout))
    assert {hosts[name]["error"]["kind"] for name in ("hangs1", "silent1")} == {"interrupted"}
    assert sorted(name for name, host in hosts.items() if host["status"] == "ok") == [
        "good001",
        "good002",
        "good003",
    ]
    assert "hangs1: interrupted before it answered" in stderr
    assert "silent1: interrupted before it answered" in stderr
    assert "Traceback" not in stderr


def test_more_hosts_hang_than_are_read_at_once(farm: Farm) -> None:
    """Half of three hundred: a data centre is down, and the other one is not kept waiting."""
    farm.silent(150)
    farm.good(30)
    with farm.start("show", "all", "-o", "json", "-v", "--timeout", "100") as process:
        wait_until_done(process, 30)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    hosts = by_name(json.loads(stdout))
    assert sum(host["status"] == "ok" for host in hosts.values()) == 30


def test_hosts_that_print_without_end_take_bounded_memory(farm: Farm) -> None:
    """Of a host no more than 4 MiB are kept, a few times over while they are taken apart."""
    farm.forced("endless", "command", "cat /dev/zero", 30)
    farm.good(2)
    process = farm.start("show", "all", "-o", "json", "--timeout", "60")
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        hosts, told = by_name(json.loads(process.stdout.read())), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 2
    given_up = [line for line in told.splitlines() if line.startswith("hostcfg: endless")]
    assert len(given_up) == 30
    assert all(line.endswith("; given up") for line in given_up)
    assert {hosts[name]["error"]["kind"] for name in farm.kinds} == {"command"}
    assert {name for name, host in hosts.items() if host["status"] == "ok"} == {"good001", "good002"}
    assert usage.ru_maxrss < (60 + 30 * 12) * 1024  # KiB on Linux


def test_many_hosts_are_one_row_each_the_worst_first(farm: Farm) -> None:
    farm.good(4)
    farm.closed(1)
    with farm.start("show", "all") as process:
        stdout, _ = process.communicate(timeout=60)
    lines = stdout.splitlines()
    assert lines[0] == "5 hosts  1 could not be read, 4 read"
    assert lines[1].split() == ["Host", "Status", "System", "Worst", "finding"]
    assert lines[2].split() == ["closed1", "unreachable"]
    assert [line.split()[:2] for line in lines if line.startswith("  good")] == [
        [f"good00{number}", "ok"] for number in range(1, 5)
    ]
    with farm.start("show", "all", "-v", "--limit", "good00[12]") as process:
        whole, stderr = process.communicate(timeout=60)
    assert whole.count("recv_buffer_max") == 2
    assert len([line for line in stderr.splitlines() if line.endswith(": done")]) == 2
    for name in ("good001", "good002"):  # and what is done on each
        said = [line for line in stderr.splitlines() if line.startswith(f"hostcfg: {name}: ")]
        assert [line.split(": ", 2)[2][:4] for line in said] == ["conn", "SSH-", "logg", "ran "]
