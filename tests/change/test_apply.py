"""Apply on a real Linux: values, queues and files, the order of things, and what is left behind."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions, confirm_change, plan_host
from hostcfg.errors import ChangeRefused
from hostcfg.model import Facts, Plan
from hostcfg.rollback import rollback_change, rollback_last
from tests.change.conftest import LAN, RFC1323_OFF, WAN, Lab, read
from tests.change.namespace import Namespace
from tests.change.test_journal import pending

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.root

SHELLS = [
    "/usr/bin/dash",
    "/usr/bin/bash",
    "/usr/bin/busybox",
    "/usr/bin/mksh",
    "/usr/bin/yash",
    "/usr/bin/ksh93",
]


def wait_until(what: object, timeout_s: float = 60.0) -> float:
    """Seconds until ``what()`` is true; AssertionError after ``timeout_s``."""
    start = time.monotonic()
    while time.monotonic() - start < timeout_s:
        if what():  # type: ignore[operator]
            return time.monotonic() - start
        _pause(0.05)
    raise AssertionError("it did not happen in time")


def _pause(seconds: float) -> None:
    subprocess.run(["sleep", str(seconds)])


def test_three_profiles_and_back_leave_the_host_byte_for_byte(lab: Lab) -> None:
    start = lab.host.snapshot()
    ids = []
    for wanted in (WAN, LAN, RFC1323_OFF):
        change_id, result = lab.apply(wanted, persist=True)
        assert (result.status, result.error) == ("applied", None)
        assert {step.outcome for step in result.steps} <= {"set", "unchanged"}
        ids.append(change_id)
    assert lab.host.get("net.ipv4.tcp_rmem") == "4096\t65535\t65535"
    persisted = lab.host.sh("cat /etc/sysctl.d/90-hostcfg.conf").splitlines()
    assert "net.ipv4.tcp_rmem = 4096 65535 65535" in persisted
    assert "net.ipv4.tcp_mtu_probing = 1" in persisted
    for change_id in reversed(ids):
        back = rollback_change(
            change_id, journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
        )
        assert [(h.status, h.error) for h in back.hosts] == [("reverted", None)]
    assert lab.host.snapshot() == start


def test_an_apply_is_two_connections_and_four_commands(lab: Lab) -> None:
    lab.apply(WAN, persist=True)
    assert len(lab.transports) == 2
    assert sum(t.connections_made for t in lab.transports) == 2
    assert [t.commands_run for t in lab.transports] == [3, 1]
    assert lab.events == [
        "connected",
        "planned",
        "journalled",
        "begun",
        "begin journalled",
        "written",
        "write journalled",
        "reconnected",
        "confirmed",
        "ended",
    ]


def test_a_second_apply_has_no_step_and_writes_nothing(lab: Lab) -> None:
    lab.apply(WAN)
    start, before = lab.host.snapshot(), len(lab.journal.changes())
    _, again = lab.apply(WAN)
    assert (again.status, again.steps, again.error) == ("applied", (), None)
    assert lab.host.snapshot() == start
    assert len(lab.journal.changes()) == before
    assert lab.transports[-1].commands_run == 1


def test_a_plan_touches_nothing(lab: Lab) -> None:
    start = lab.host.snapshot()

    def planner(facts: Facts) -> Plan:
        return Plan(facts.host, facts.os, ())

    assert plan_host("host1", connect=lab.connect, read=read, planner=planner).steps == ()
    assert lab.host.snapshot() == start
    assert lab.host.sh("ls /var/lib") == ""


def test_nothing_of_the_timer_is_left_after_a_confirmation(lab: Lab) -> None:
    lab.apply(WAN)
    wait_until(lambda: not lab.host.processes(), 3)


def test_each_shell_applies_and_restores(lab: Lab) -> None:
    for shell in SHELLS:
        with Namespace(shell) as other:
            mine = Lab(other, lab.journal, lab.state)
            start = other.snapshot()
            change_id, result = mine.apply(WAN, persist=True)
            assert (shell, result.status, result.error) == (shell, "applied", None)
            other.sh(f"sh /var/lib/hostcfg/{change_id}/restore")
            assert other.snapshot() == start


def test_the_console_gets_a_line_how_to_restore_by_hand(lab: Lab) -> None:
    start = lab.host.snapshot()
    change_id, _ = lab.apply(LAN)
    note = lab.host.sh(f"cat /var/lib/hostcfg/{change_id}/NOTE")
    assert (
        note
        == f"To undo hostcfg change {change_id} by hand, as root: sh /var/lib/hostcfg/{change_id}/restore\n"
    )
    said = lab.host.sh(f"sh /var/lib/hostcfg/{change_id}/restore")
    assert said.splitlines()[-1] == f"hostcfg change {change_id} is now: restored"
    assert lab.host.snapshot() == start


def test_the_backup_is_for_root_alone_and_five_of_them_stay(lab: Lab) -> None:
    for number in range(7):
        lab.apply({"txqueuelen/eth0": str(500 + number)})
    assert lab.host.sh("stat -c %a /var/lib/hostcfg").strip() == "700"
    modes = lab.host.sh("find /var/lib/hostcfg -type f -perm /077; find /var/lib/hostcfg -type d -perm /077")
    assert modes == ""
    kept = lab.host.sh("ls -d /var/lib/hostcfg/2*").split()
    newest = [c.id for c in lab.journal.changes(limit=5)]
    assert sorted(kept) == sorted(f"/var/lib/hostcfg/{name}" for name in newest)


def test_a_held_change_waits_for_its_confirmation(lab: Lab) -> None:
    change_id, held = lab.apply(LAN, hold=True, persist=True, revert_in_s=30)
    assert held.status == "pending"
    assert held.left_s is not None
    assert 20 <= held.left_s <= 30
    assert lab.host.sh("ls /etc/sysctl.d") == ""  # no boot can bring what is not confirmed
    stored = lab.journal.change(change_id)
    assert (stored.ended, stored.hosts[0].status) == (None, "pending")
    done = confirm_change(change_id, journal=lab.journal, connect=lab.connect)
    assert [(h.status, h.error) for h in done] == [("applied", None)]
    assert {s.outcome for s in done[0].steps} == {"set"}
    assert lab.host.sh("ls /etc/sysctl.d") == "90-hostcfg.conf\n"
    with pytest.raises(ChangeRefused, match=r"nothing of change .* waits"):
        confirm_change(change_id, journal=lab.journal, connect=lab.connect)


def test_a_held_change_reverts_within_its_time(lab: Lab) -> None:
    start = lab.host.snapshot()
    change_id, _ = lab.apply(LAN, hold=True, revert_in_s=6)
    here = f"/var/lib/hostcfg/{change_id}"
    wait_until(lambda: lab.host.sh(f"ls {here}/state.*", check=False) == f"{here}/state.restored\n")
    assert lab.host.snapshot() == start
    armed, restored = lab.host.sh(f"stat -c %.Y {here}/deadline; stat -c %.Z {here}/state.restored").split()
    took_s = float(restored) - float(armed)
    print(f"reverted {took_s:.2f} s after it was armed, of 6 s")
    assert 3.9 < took_s <= 6.0
    (late,) = confirm_change(change_id, journal=lab.journal, connect=lab.connect)
    assert late.status == "reverted"
    assert late.error is not None
    assert "already restored on the host" in late.error.message


def test_a_held_change_keeps_another_from_being_called_done(lab: Lab) -> None:
    """All is as wanted, but only until the timer takes it back."""
    pending(lab.journal, 60)  # on another host: it is of no account here
    change_id, _ = lab.apply(LAN, hold=True)
    _, second = lab.apply(LAN)
    assert (second.status, second.steps) == ("failed", ())
    assert second.error is not None
    assert second.error.message == (
        f"host1: change {change_id} waits on it: hostcfg confirm {change_id} or hostcfg rollback {change_id}"
    )
    confirm_change(change_id, journal=lab.journal, connect=lab.connect)
    _, third = lab.apply(LAN)
    assert (third.status, third.error) == ("applied", None)


def test_without_a_timer_nothing_restores_and_the_plan_says_so(lab: Lab) -> None:
    _, held = lab.apply(LAN, hold=True, revert_in_s=0)
    assert held.left_s is None
    assert any("--revert-in 0" in note for note in held.notes)
    assert lab.host.processes() == []
    back = rollback_last(journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
    assert [h.status for h in back.hosts] == ["reverted"]


@pytest.fixture
def listener(lab: Lab) -> Iterator[int]:
    program = "import socket; s = socket.create_server(('127.0.0.1', 5201)); print('up', flush=True); input()"
    with subprocess.Popen(
        lab.host.argv("python3", "-c", program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        yield 5201
        process.kill()


def test_servers_that_listen_already_are_named_by_port(lab: Lab, listener: int) -> None:
    _, result = lab.apply({"net.ipv4.tcp_rmem": "4096\t65536\t65536"})
    assert (
        "servers that listen already keep their first receive buffer until they restart: "
        f"TCP port {listener}" in result.notes
    )


def test_the_permissions_of_a_file_stay(lab: Lab) -> None:
    lab.host.sh(
        "printf '# mine\\nnet.ipv4.tcp_sack = 1\\n' >/etc/sysctl.d/90-hostcfg.conf;"
        "chown 33:44 /etc/sysctl.d/90-hostcfg.conf; chmod 640 /etc/sysctl.d/90-hostcfg.conf"
    )
    start = lab.host.snapshot()
    change_id, _ = lab.apply({"net.ipv4.tcp_ecn": "1"}, persist=True)
    assert lab.host.sh("stat -c '%a %u:%g' /etc/sysctl.d/90-hostcfg.conf") == "640 33:44\n"
    contents = lab.host.sh("cat /etc/sysctl.d/90-hostcfg.conf")
    assert contents.startswith("# mine\nnet.ipv4.tcp_sack = 1\n# BEGIN hostcfg")
    rollback_change(change_id, journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
    assert lab.host.snapshot() == start


def test_a_directory_that_was_made_goes_again(lab: Lab) -> None:
    lab.host.sh("rmdir /etc/sysctl.d")
    start = lab.host.snapshot()
    change_id, result = lab.apply({"net.ipv4.tcp_ecn": "1"}, persist=True)
    assert result.status == "applied"
    assert lab.host.sh("stat -c %a /etc/sysctl.d") == "755\n"
    lab.host.sh(f"sh /var/lib/hostcfg/{change_id}/restore")
    assert lab.host.snapshot() == start


def test_a_queue_with_options_comes_back_with_them(lab: Lab) -> None:
    lab.host.sh("tc qdisc replace dev eth0 root handle 77: pfifo limit 123")
    start = lab.host.snapshot()
    change_id, result = lab.apply({"qdisc/eth0": "bfifo"})
    assert result.status == "applied"
    rollback_change(change_id, journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
    assert lab.host.snapshot() == start


def test_a_tree_of_classes_is_refused_since_it_could_not_come_back(lab: Lab) -> None:
    lab.host.sh(
        "tc qdisc replace dev eth0 root handle 1: htb default 1;"
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit"
    )
    start = lab.host.snapshot()
    _, result = lab.apply({"qdisc/eth0": "bfifo"})
    assert result.status == "failed"
    assert result.error is not None
    assert "htb on eth0 was made by hand" in result.error.message
    assert lab.host.snapshot() == start
