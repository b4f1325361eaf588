"""The lock-out of FreeBSD: said before it happens, refused, and when it is forced taken back by the host.

With kern.ipc.maxsockbuf below 9/8 of sendspace or recvspace every new connection is reset; the
emulated host's port really does that.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.hosts.freebsd.host import SYSCTL_CONF, FreeBsdHost
from tests.hosts.freebsd.recording import recorded
from tests.sshd import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.freebsd_e2e.client import Client

pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]

LINK = ("--rate", "1gbit", "--rtt", "80ms")
CAP = "kern.ipc.maxsockbuf"
WHY = "net.inet.tcp.recvspace = 65536 is above 8/9 of kern.ipc.maxsockbuf = 65536 (58254 bytes)"
NEEDED = "kern.ipc.maxsockbuf of at least 73728"  # 65536 * 9 / 8


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A profile of the user's own that asks for the lock-out."""
    path = tmp_path / "tiny.yaml"
    path.write_text(
        "name: tiny\nsummary: a cap that is far too small\nwhen: never\nsettings:\n  socket_buffer_max:\n"
        "    rule: exact\n    value: 64KiB\n    reason: to save memory\n    source: a rumour\n"
    )
    return path


@pytest.fixture
def greedy(tmp_path: Path) -> Path:
    """The other way into it: a first buffer above what the cap allows."""
    path = tmp_path / "greedy.yaml"
    path.write_text(
        "name: greedy\nsummary: a first buffer that no socket can have\nwhen: never\nsettings:\n"
        "  send_buffer_default:\n    rule: at_least\n    value: 4MiB\n    reason: faster\n"
        "    source: a blog\n"
    )
    return path


def connects(host: FreeBsdHost) -> bool:
    """Whether sshd greets."""
    try:
        with socket.create_connection((host.door.address, host.door.port), 5) as connection:
            connection.settimeout(5)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


@pytest.mark.slow
def test_the_recorded_session_and_what_the_port_does(host: FreeBsdHost) -> None:
    one = recorded("lockout-001")
    assert connects(host)
    started = time.monotonic()
    done = host.run(one.command)
    assert (done.stdout, done.stderr, done.returncode) == (one.stdout, one.stderr, one.status)
    assert not connects(host)
    assert host.door.reset == 1
    wait_for(lambda: host.get(CAP) == "2097152", "the job in the background", 30)
    assert time.monotonic() - started >= 12
    assert connects(host)


# before it happens


def test_in_facts_while_it_waits_for_the_next_boot(host: FreeBsdHost, client: Client) -> None:
    name = client.know("bsd", host.door)
    host.file("/etc/sysctl.conf").write_text(f"{SYSCTL_CONF}{CAP}=65536\n")
    (found,) = client("show", name, "-o", "json").document["hosts"]
    first = found["findings"][0]
    assert (first["kind"], first["severity"]) == ("sockets_fail_at_boot", "error")
    assert WHY in first["message"]
    assert CAP in first["keys"]


def test_in_facts_from_the_console_of_a_host_that_is_locked(host: FreeBsdHost, client: Client) -> None:
    host.run(f"sysctl {CAP}=65536")
    text = host.run("uname -a; sysctl kern.ipc net.inet.tcp; netstat -m").stdout
    pasted = client.home / "console.txt"
    pasted.write_text(text)
    (found,) = client("show", f"file:{pasted}", "-o", "json").document["hosts"]
    assert found["findings"][0]["kind"] == "sockets_fail"
    assert NEEDED in found["findings"][0]["message"]


def test_in_a_profile_of_the_users_own(host: FreeBsdHost, client: Client, tiny: Path, greedy: Path) -> None:
    name = client.know("bsd", host.door)
    for profile, says in ((tiny, WHY), (greedy, "net.inet.tcp.sendspace = 4194304 is above 8/9")):
        (found,) = client("diff", name, "-p", profile, *LINK, "-o", "json").document["hosts"]
        assert found["findings"][0]["kind"] == "profile_locks_out"
        assert says in found["findings"][0]["message"]
        rendered = client("render", profile, "--os", "freebsd", *LINK).stdout
        assert "WARNING" in rendered.splitlines()[2]
        assert says in " ".join(rendered.replace("#", "").split())
        described = " ".join(client("profiles", "show", profile, *LINK).stdout.split())
        assert f"WARNING: {says}" in described


def test_in_a_plan_that_is_refused_with_the_reason(host: FreeBsdHost, client: Client, tiny: Path) -> None:
    name = client.know("bsd", host.door)
    start = host.snapshot()
    for command in (("plan",), ("apply", "--yes"), ("apply", "--dry-run")):
        ran = client(*command, name, "-p", tiny, *LINK)
        assert ran.code == 2
        (line,) = ran.stderr.splitlines()
        assert all(words in line for words in (name, WHY, NEEDED, "--force")), line
    assert host.snapshot() == start
    assert not host.file("/var/lib/hostcfg").exists()
    forced = client("plan", name, "-p", tiny, *LINK, "--force")
    assert forced.code == 1
    assert "note: forced: net.inet.tcp.recvspace = 65536 is above" in forced.stdout


@pytest.mark.slow
def test_the_built_in_profiles_never_ask_for_it(client: Client) -> None:
    """A host with large first buffers gets its cap from the profile, or is refused; it is never locked."""
    values = {"net.inet.tcp.recvspace": "1800000", "net.inet.tcp.sendspace": "1800000"}
    with FreeBsdHost(values=values) as host:
        name = client.know("bsd", host.door)
        for profile in ("wan", "lan", "rfc1323-off", "default"):
            ran = client("apply", name, "-p", profile, *LINK, "--yes", "--revert-in", "30")
            assert ran.code == 0, ran.stderr
            assert connects(host), profile


# when it is forced


def test_forced_the_connection_that_lives_takes_it_back(
    host: FreeBsdHost, client: Client, tiny: Path
) -> None:
    name = client.know("bsd", host.door)
    start = host.snapshot()
    ran = client("apply", name, "-p", tiny, *LINK, "--yes", "--force", "--revert-in", "20", "-o", "json")
    assert ran.code == 2
    (row,) = ran.document["hosts"]
    assert row["status"] == "reverted"
    assert row["steps"][0]["outcome"] == "set"
    assert "closed the connection" in row["error"]["message"]
    assert host.door.reset >= 1
    assert host.snapshot() == start
    assert connects(host)


@pytest.mark.slow
def test_forced_and_every_connection_cut_the_controller_waits_for_the_hosts_timer(
    host: FreeBsdHost, client: Client, tiny: Path
) -> None:
    name = client.know("bsd", host.door)
    start = host.snapshot()
    controller = apply(client, name, tiny, 12)
    wait_for(lambda: host.get(CAP) == "65536", "the write", 60)
    locked_at = time.monotonic()
    host.run("kill -9 $(ps -axo pid,command | sed -n 's/^ *\\([0-9]*\\) sshd: .*/\\1/p')")
    wait_for(lambda: host.get(CAP) != "65536", "the timer", 20)
    locked_s = time.monotonic() - locked_at
    print(f"locked for {locked_s:.1f} s of at most 12 s")
    assert locked_s <= 12
    assert controller.wait(60) == 2
    assert host.snapshot() == start
    row = history(client)["hosts"][0]
    assert row["status"] == "reverted"


@pytest.mark.slow
@pytest.mark.parametrize("release", ["14.2", "9.3"])
def test_forced_and_the_controller_killed_the_hosts_timer_takes_it_back(
    client: Client, tiny: Path, release: str
) -> None:
    with FreeBsdHost(release=release) as host:
        name = client.know("bsd", host.door)
        start = host.snapshot()
        revert_in_s = 15
        controller = apply(client, name, tiny, revert_in_s)
        wait_for(lambda: host.get(CAP) == "65536", "the write", 60)
        controller.send_signal(signal.SIGKILL)
        controller.wait()
        locked_at = time.monotonic()
        assert not connects(host)
        before = history(client)
        assert before["ended"] is None
        assert before["hosts"][0]["status"] == "applying"
        ran = client("rollback", "--unfinished", "--yes", "--timeout", "5")
        if not connects(host):  # nobody can ask it before its time is up
            assert ran.code == 2

        wait_for(lambda: host.get(CAP) != "65536", "the timer", revert_in_s + 5)
        locked_s = time.monotonic() - locked_at
        print(f"{release}: locked for {locked_s:.1f} s of at most {revert_in_s} s")
        assert locked_s <= revert_in_s
        wait_for(lambda: not host.processes(), "the end of the timer")
        assert host.snapshot() == start
        assert connects(host)

        ran = client("rollback", "--unfinished", "--yes")
        assert ran.code == 0, ran.stderr
        after = history(client)
        assert after["hosts"][0]["status"] == "reverted"
        assert after["ended"] is not None
        assert host.snapshot() == start


def apply(client: Client, name: str, profile: Path, revert_in_s: int) -> subprocess.Popen[bytes]:
    """hostcfg apply --force, to be killed."""
    words = [sys.executable, "-m", "hostcfg", "apply", name, "-p", str(profile), *LINK, "--yes", "--force"]
    env = {**os.environ, "HOME": str(client.home), "HOSTCFG_STATE": str(client.home / "state")}
    return subprocess.Popen(
        [*words, "--revert-in", str(revert_in_s)],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def history(client: Client) -> Any:
    """The first change of all in the journal."""
    return client("history", "-o", "json").document["changes"][-1]
