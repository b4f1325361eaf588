"""apply and rollback on emulated FreeBSD hosts over a real sshd: byte for byte, boots, jails, kills."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.hosts.freebsd.host import FreeBsdHost
from tests.sshd import wait_for

if TYPE_CHECKING:
    from tests.freebsd_e2e.client import Client

pytestmark = [pytest.mark.root, pytest.mark.timeout(600)]

LINK = ("--rate", "1gbit", "--rtt", "80ms")
LAN = ("--rate", "1gbit", "--rtt", "1ms")
PROFILES = (("wan", LINK), ("lan", LAN), ("rfc1323-off", LINK))


def apply(client: Client, name: str, profile: str, *more: str, link: tuple[str, ...] = LINK) -> Any:
    """The host's row of an apply that works."""
    ran = client("apply", name, "-p", profile, *link, "--yes", *more, "-o", "json")
    assert ran.code == 0, ran.stderr
    assert ran.document["schema"] == "hostcfg.change/1"
    (row,) = ran.document["hosts"]
    return row


@pytest.mark.slow
@pytest.mark.parametrize("release", ["7.2", "9.3", "12.4", "14.2"])
def test_three_profiles_and_back_leave_the_host_byte_for_byte(client: Client, release: str) -> None:
    with FreeBsdHost(release=release) as host:
        name = client.know("bsd", host.door)
        start = host.snapshot()
        seen = [start]
        for profile, link in PROFILES:
            commands = host.door.commands
            row = apply(client, name, profile, "--persist", "--revert-in", "120", link=link)
            assert (row["status"], row["error"]) == ("applied", None)
            assert {step["outcome"] for step in row["steps"]} == {"set"}
            assert {step["persist"] for step in row["steps"]} == {"/etc/sysctl.conf"}
            assert host.door.commands - commands == 4  # read, begin, write, confirm
            seen.append(host.snapshot())
        assert len({str(s) for s in seen}) == len(seen)
        for before in reversed(seen[:-1]):
            ran = client("rollback", "--last", "--yes", "-o", "json")
            assert ran.code == 0, ran.stderr
            (row,) = ran.document["hosts"]
            assert (row["status"], row["error"]) == ("reverted", None)
            assert host.snapshot() == before
        assert host.snapshot() == start
        assert host.processes() == []


def test_a_second_apply_writes_nothing(host: FreeBsdHost, client: Client) -> None:
    name = client.know("bsd", host.door)
    apply(client, name, "wan", "--persist")
    there = host.snapshot()
    inode = (host.state / "values").stat().st_ino
    ran = client("apply", name, "-p", "wan", *LINK, "--yes", "--persist", "-o", "json")
    assert ran.code == 0
    assert ran.document["id"] is None
    assert host.snapshot() == there
    assert (host.state / "values").stat().st_ino == inode  # not even the same value again
    assert client("diff", name, "-p", "wan", *LINK).code == 0


def test_what_is_persisted_comes_back_after_a_boot_and_goes_with_the_rollback(client: Client) -> None:
    own = {
        "/etc/sysctl.conf": "# mine\nnet.inet.tcp.delayed_ack=0\n",
        "/boot/loader.conf": 'kern.hz="1000"\n',
    }
    with FreeBsdHost(release="12.4", files=own) as host:
        name = client.know("bsd", host.door)
        assert host.get("net.inet.tcp.delayed_ack") == "0"
        start = host.snapshot()
        apply(client, name, "wan", "--persist")
        values = (host.state / "values").read_text()
        host.reboot()
        assert (host.state / "values").read_text().replace(boot_line(host), "") == without_boot(values)
        assert client("diff", name, "-p", "wan", *LINK).code == 0
        ran = client("rollback", "--last", "--yes")
        assert ran.code == 0, ran.stderr
        host.reboot()
        assert {k: v for k, v in host.snapshot().items() if k != "values"} == {
            k: v for k, v in start.items() if k != "values"
        }
        assert host.get("net.inet.tcp.sendbuf_max") == "2097152"
        assert host.get("net.inet.tcp.delayed_ack") == "0"


def boot_line(host: FreeBsdHost) -> str:
    return next(row for row in (host.state / "values").read_text().splitlines(True) if "kern.boottime" in row)


def without_boot(values: str) -> str:
    return "".join(row for row in values.splitlines(True) if "kern.boottime" not in row)


def test_without_persist_a_boot_ends_it_and_the_rollback_says_so(host: FreeBsdHost, client: Client) -> None:
    name = client.know("bsd", host.door)
    start = {k: v for k, v in host.snapshot().items() if k != "values"}
    apply(client, name, "wan")
    host.reboot()
    assert host.get("kern.ipc.maxsockbuf") == "2097152"
    ran = client("rollback", "--last", "--yes")
    assert ran.code == 0, ran.stderr
    assert host.get("kern.ipc.maxsockbuf") == "2097152"
    assert {k: v for k, v in host.snapshot().items() if k != "values"} == start


@pytest.mark.parametrize("persist", [(), ("--persist",)])
def test_a_boot_while_a_change_is_held_leaves_nothing_of_it(
    host: FreeBsdHost, client: Client, persist: tuple[str, ...]
) -> None:
    """The timer is gone with the boot, and so are the values: what is left is to say so."""
    name = client.know("bsd", host.door)
    start = host.snapshot()
    row = apply(client, name, "wan", "--hold", "--revert-in", "300", *persist)
    assert row["status"] == "pending"
    host.reboot()
    ran = client("rollback", "--unfinished", "--yes", "-o", "json")
    assert ran.code == 0, ran.stderr
    assert ran.document["hosts"][0]["status"] == "reverted"
    values = without_boot(start.pop("values"))
    now = host.snapshot()
    assert without_boot(now.pop("values")) == values
    assert now == start
    assert client("apply", name, "-p", "lan", *LAN, "--yes").code == 0  # the host is free again


# jails


def test_in_a_jail_each_value_that_is_denied_is_named(client: Client) -> None:
    with FreeBsdHost(about={"jail": "jail"}) as host:
        name = client.know("jail", host.door)
        (found,) = client("show", name, "-o", "json").document["hosts"]
        (finding,) = [f for f in found["findings"] if f["kind"] == "jail_read_only"]
        assert "kern.ipc.maxsockbuf" in finding["keys"]
        start = host.snapshot()
        ran = client("apply", name, "-p", "lan", *LINK, "--set", "guard=both", "--yes", "-o", "json")
        assert ran.code == 2
        assert "net.inet.tcp." in ran.stderr
        assert "jail" in ran.stderr or "Operation not permitted" in ran.stderr
        (row,) = ran.document["hosts"]
        assert row["status"] in ("failed", "reverted")
        assert {step["outcome"] for step in row["steps"]} <= {"denied", None}
        assert host.snapshot() == start


def test_in_a_jail_with_a_stack_of_its_own_tcp_can_be_set(client: Client) -> None:
    with FreeBsdHost(about={"jail": "vnet"}) as host:
        name = client.know("vnet", host.door)
        row = apply(client, name, "lan")
        assert {step["outcome"] for step in row["steps"]} == {"set"}
        start = host.snapshot()
        ran = client("apply", name, "-p", "wan", *LINK, "--yes", "-o", "json")
        assert ran.code == 2
        assert "kern.ipc.maxsockbuf" in ran.stderr
        assert host.snapshot() == start


# bad manners


def test_a_write_that_exits_0_and_does_nothing(client: Client) -> None:
    with FreeBsdHost(about={"ignores": "net.inet.tcp.recvbuf_max"}) as host:
        name = client.know("bsd", host.door)
        start = host.snapshot()
        ran = client("apply", name, "-p", "wan", *LINK, "--yes", "-o", "json")
        assert ran.code == 2
        (row,) = ran.document["hosts"]
        assert row["status"] == "reverted"
        outcomes = {step["key"]: step["outcome"] for step in row["steps"]}
        assert outcomes["net.inet.tcp.recvbuf_max"] == "rejected"
        assert "net.inet.tcp.recvbuf_max" in ran.stderr
        assert host.snapshot() == start


# a controller that is killed


def watch(host: FreeBsdHost, controller: subprocess.Popen[bytes], until: int) -> list[str]:
    """What can be seen of a change on the host, its states and each write, until there are so many."""
    values, states, inode = host.state / "values", set[str](), (host.state / "values").stat().st_ino
    seen: list[str] = []
    pause = threading.Event()
    while len(seen) < until and controller.poll() is None:
        now = values.stat().st_ino
        if now != inode:
            seen.append("write")
        inode = now
        new = {path.name for path in host.file("/var/lib/hostcfg").glob("2*/state.*")} - states
        states |= new
        seen += sorted(new)
        pause.wait(0.003)
    return seen


LAST_KILL = 7
"""Preparing, pending, four writes, confirming."""


@pytest.mark.slow
@pytest.mark.parametrize("kill_at", range(1, LAST_KILL + 1))
def test_killed_at_any_moment_the_host_comes_back_as_it_was(client: Client, kill_at: int) -> None:
    """Four writes and the states around them; the journal or the timer restores everything."""
    with FreeBsdHost() as host:
        name = client.know("bsd", host.door)
        start = host.snapshot()
        words = [sys.executable, "-m", "hostcfg", "apply", name, "-p", "wan", *LINK, "--yes", "--persist"]
        env = {**os.environ, "HOME": str(client.home), "HOSTCFG_STATE": str(client.home / "state")}
        controller = subprocess.Popen(
            [*words, "--revert-in", "40"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        seen = watch(host, controller, kill_at)
        controller.send_signal(signal.SIGKILL)
        controller.wait()
        print(f"killed after {seen}")
        ran = client("rollback", "--unfinished", "--yes", "-o", "json")
        (change,) = client("history", "-o", "json").document["changes"][-1:]
        assert ran.code == 0, ran.stderr
        assert client("rollback", "--unfinished", "--yes").code == 0  # nothing is left to do
        wait_for(lambda: host.processes() == [], "the end of the timer", 60)
        if change["hosts"][0]["status"] == "applied":  # the host had confirmed before anyone could stop it
            assert host.get("kern.ipc.maxsockbuf") == "22500000"
            assert len(seen) == LAST_KILL or "state.confirmed" in seen
            assert client("rollback", "--last", "--yes").code == 0
        else:
            assert change["hosts"][0]["status"] == "reverted"
        assert host.snapshot() == start
