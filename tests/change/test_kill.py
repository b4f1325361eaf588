"""Killed at any moment, on either side, nothing is lost: every kill point, one after the other."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions, confirm_change
from hostcfg.changes import UNFINISHED
from hostcfg.rollback import rollback_change, rollback_unfinished
from tests.change.conftest import Lab, read
from tests.change.controller import WANTED
from tests.change.test_apply import wait_until

if TYPE_CHECKING:
    from hostcfg.changes import Change, HostChange

pytestmark = [pytest.mark.root, pytest.mark.slow, pytest.mark.timeout(600)]

APPLY_EVENTS = [
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
KEPT_FROM = "confirmed"
"""From here on the host has been confirmed: it stays as it was changed (spec 7.10)."""


def controller(lab: Lab, action: str, kill_at: int, revert_in_s: int = 30) -> list[str]:
    """The events that a controller had behind it when it was killed."""
    argv = [sys.executable, "-m", "tests.change.controller", str(lab.host.pid), str(lab.state), action]
    done = subprocess.run(
        [*argv, str(kill_at), str(revert_in_s)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == (-9 if kill_at else 0), done.stderr
    return done.stdout.split("\n")[:-1]


def settle(lab: Lab) -> None:
    for one in rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    ):
        assert [(h.host, h.error) for h in one.hosts] == [("host1", None)] or one.hosts[0].error is not None


def newest(lab: Lab) -> Change:
    return lab.journal.changes(limit=1)[0]


def test_apply_killed_after_each_step_and_settled(lab: Lab) -> None:
    start = lab.host.snapshot()
    for number, event in enumerate(APPLY_EVENTS, 1):
        assert controller(lab, "apply", number)[-1] == event
        changes = lab.journal.changes(limit=1)
        if number < APPLY_EVENTS.index("journalled") + 1:
            assert changes == []
            assert lab.host.snapshot() == start
            continue
        change = changes[0]
        if event != "ended":
            assert change.ended is None
            assert {h.status for h in change.hosts} <= UNFINISHED
        settle(lab)
        change = newest(lab)
        assert change.ended is not None
        kept = number >= APPLY_EVENTS.index(KEPT_FROM) + 1
        assert [h.status for h in change.hosts] == ["applied" if kept else "reverted"], event
        if kept:
            assert lab.host.get("net.ipv4.tcp_ecn") == "1"
            controller(lab, "rollback", 0)
        assert lab.host.snapshot() == start, event
        assert lab.journal.unfinished() == []
    print(f"kill points of an apply, settled by hand: {len(APPLY_EVENTS)}")


def test_apply_killed_after_each_step_and_left_to_the_timer(lab: Lab) -> None:
    start = lab.host.snapshot()
    points = APPLY_EVENTS[APPLY_EVENTS.index("journalled") : APPLY_EVENTS.index(KEPT_FROM)]
    for event in points:
        assert controller(lab, "apply", APPLY_EVENTS.index(event) + 1, revert_in_s=5)[-1] == event
        wait_until(lambda: not lab.host.processes(), 12)
        assert lab.host.snapshot() == start, event
        settle(lab)
        assert [h.status for h in newest(lab).hosts] == ["reverted"]
        assert any(what == "reverted" for _, _, what in lab.journal.events(newest(lab).id))
    print(f"kill points of an apply, reverted by the timer: {len(points)}")


def test_rollback_killed_after_each_step(lab: Lab) -> None:
    start = lab.host.snapshot()
    controller(lab, "apply", 0)
    changed = lab.host.snapshot()
    for number, event in enumerate(APPLY_EVENTS, 1):
        assert controller(lab, "rollback", number)[-1] == event
        settle(lab)
        assert lab.journal.unfinished() == []
        if number >= APPLY_EVENTS.index(KEPT_FROM) + 1:
            assert lab.host.snapshot() == start
            controller(lab, "apply", 0)
        else:
            assert lab.host.snapshot() == changed, event
    print(f"kill points of a rollback: {len(APPLY_EVENTS)}")


CONFIRM_EVENTS = ["reconnected", "confirmed", "ended"]


def test_confirm_killed_after_each_step(lab: Lab) -> None:
    """Of a change that was held: before the host has the word it can still be taken back, then it stays."""
    start = lab.host.snapshot()
    for number, event in enumerate(CONFIRM_EVENTS, 1):
        lab.apply(WANTED, persist=True, hold=True, revert_in_s=60)
        assert controller(lab, "confirm", number)[-1] == event
        assert (newest(lab).ended is None) is (event != "ended")
        settle(lab)
        kept = event != "reconnected"
        assert [h.status for h in newest(lab).hosts] == ["applied" if kept else "reverted"]
        assert lab.journal.unfinished() == []
        if kept:
            controller(lab, "rollback", 0)
        assert lab.host.snapshot() == start, event
    print(f"kill points of a confirmation: {len(CONFIRM_EVENTS)}")


SETTLE_EVENTS = ["connected", "asked", "ended"]


def test_settling_killed_after_each_step(lab: Lab) -> None:
    """``rollback --unfinished`` that is itself cut short: the next one ends it."""
    start = lab.host.snapshot()
    for number, event in enumerate(SETTLE_EVENTS, 1):
        controller(lab, "hold", 0, revert_in_s=60)  # by a process that is not there any more
        assert controller(lab, "settle", number)[-1] == event
        settle(lab)
        assert [h.status for h in newest(lab).hosts] == ["reverted"]
        assert lab.journal.unfinished() == []
        assert lab.host.snapshot() == start, event
    print(f"kill points of a rollback --unfinished: {len(SETTLE_EVENTS)}")


@pytest.mark.parametrize("lost", ["before", "after"])
@pytest.mark.parametrize("command", [1, 2, 3, 4])
def test_the_connection_is_cut_at_each_command_of_a_rollback(lab: Lab, command: int, lost: str) -> None:
    start = lab.host.snapshot()
    change_id, _ = lab.apply(WANTED, persist=True)
    changed = lab.host.snapshot()
    lab.commands, lab.cut_at = 0, (command, lost)
    back = rollback_change(
        change_id, journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    (host,) = back.hosts
    if (command, lost) == (4, "after"):
        assert (host.status, host.error) == ("reverted", None)
        assert lab.host.snapshot() == start
    else:
        assert host.status in ("failed", "unknown")
        assert host.error is not None
        assert lab.host.snapshot() == changed
    lab.cut_at = None
    settle(lab)
    assert lab.journal.unfinished() == []
    if host.status != "reverted":
        rollback_change(
            change_id, journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
        )
    assert lab.host.snapshot() == start


@pytest.mark.parametrize("lost", ["before", "after"])
def test_the_connection_is_cut_at_a_confirmation(lab: Lab, lost: str) -> None:
    """The confirmation of a held change: what the host did not hear of is taken back."""
    start = lab.host.snapshot()
    change_id, _ = lab.apply(WANTED, persist=True, hold=True)
    lab.commands, lab.cut_at = 0, (1, lost)
    (host,) = confirm_change(change_id, journal=lab.journal, connect=lab.connect)
    assert host.status == ("applied" if lost == "after" else "reverted")
    assert (lab.host.snapshot() == start) is (lost == "before")
    assert lab.journal.unfinished() == []


@pytest.mark.parametrize("lost", ["before", "after"])
@pytest.mark.parametrize("command", [1, 2, 3, 4])
def test_the_connection_is_cut_at_each_command(lab: Lab, command: int, lost: str) -> None:
    """Before the host got the command, and after it ran it and before the answer came."""
    start = lab.host.snapshot()
    lab.cut_at = (command, lost)
    _, result = lab.apply(WANTED, persist=True, revert_in_s=20)
    if (command, lost) == (4, "after"):
        assert (result.status, result.error) == ("applied", None)  # it was confirmed, and says so when asked
        return
    assert result.status in ("failed", "reverted")
    assert result.error is not None
    assert lab.host.snapshot() == start
    assert lab.journal.unfinished() == []


KILLS = {"begin": 2, "write": 3, "confirm": 4}


@pytest.mark.parametrize("calls", ["vfork", "clone", "openat"])
@pytest.mark.parametrize("script", list(KILLS))
def test_the_shell_on_the_host_is_killed_at_each_of_its_calls(lab: Lab, script: str, calls: str) -> None:
    """SIGKILL to the script at its first fork, at its second, and so on until it is through.

    strace counts each system call by itself; dash forks with vfork and with clone.
    """
    start = lab.host.snapshot()
    points = 0
    while True:
        points += 1
        lab.kill_shell = (KILLS[script], points, calls, "KILL")
        lab.transports.clear()
        _, result = lab.apply(WANTED, persist=True, revert_in_s=20)
        if lab.killed:
            settle(lab)
            assert result.status in ("failed", "reverted", "applied")
        else:
            assert result.status == "applied"
        lab.kill_shell = None
        if result.status == "applied":
            controller(lab, "rollback", 0)
        assert lab.host.snapshot() == start, points
        assert lab.journal.unfinished() == []
        if not lab.killed:
            break
    print(f"kill points on the host in {script}, {calls}: {points - 1}")
    assert points > 2


@pytest.mark.parametrize("script", list(KILLS))
def test_the_disk_is_full_at_each_file_that_the_shell_opens(lab: Lab, script: str) -> None:
    """ENOSPC at its first open, at its second, and so on: the host is changed as a whole or not at all."""
    start = lab.host.snapshot()
    lab.trace = str(lab.state / "trace")
    points = 0
    while True:
        points += 1
        lab.kill_shell = (KILLS[script], points, "openat", "error=ENOSPC")
        _, result = lab.apply(WANTED, persist=True, revert_in_s=20)
        lab.kill_shell = None
        settle(lab)
        (host,) = newest(lab).hosts
        assert host.status in ("failed", "reverted", "applied"), (points, result.error)
        if host.status == "applied":
            controller(lab, "rollback", 0)
        assert lab.host.snapshot() == start, points
        assert lab.journal.unfinished() == []
        if "INJECTED" not in (lab.state / "trace").read_text():
            break
    print(f"full disks on the host in {script}: {points - 1}")
    assert points > 3


@pytest.mark.parametrize("calls", ["vfork", "clone", "openat"])
def test_a_restore_is_killed_at_each_of_its_calls(lab: Lab, calls: str) -> None:
    """The host's own restore is cut short anywhere: the next one completes it."""
    start = lab.host.snapshot()
    points = 0
    while True:
        points += 1
        change_id, held = lab.apply(WANTED, persist=True, hold=True, revert_in_s=60)
        assert held.status == "pending"
        trace = f"strace -o /dev/null -e inject={calls}:signal=KILL:when={points}"
        done = subprocess.run(
            lab.host.argv(*trace.split(), "/bin/sh", f"/var/lib/hostcfg/{change_id}/restore"),
            capture_output=True,
        )
        settle(lab)
        assert lab.host.snapshot() == start, points
        assert [h.status for h in newest(lab).hosts] == ["reverted"]
        if done.returncode == 0:
            break
    print(f"kill points in a restore, {calls}: {points - 1}")
    assert points > 5


@pytest.mark.parametrize("point", [6, 8, 9, 10, 11, 12, 14, 16, 18, 20])
def test_a_write_that_hangs_past_its_time_does_not_undo_the_restore(lab: Lab, point: int) -> None:
    """The shell stands still in the middle of a write, the timer restores, and then the write goes on."""
    start = lab.host.snapshot()
    lab.kill_shell = (KILLS["write"], point, "openat", "STOP")
    results: list[HostChange] = []
    thread = threading.Thread(target=lambda: results.append(lab.apply(WANTED, revert_in_s=4)[1]))
    thread.start()
    wait_until(lambda: "state.restored" in lab.host.sh("ls /var/lib/hostcfg/*/ 2>/dev/null; true"), 20)
    assert lab.host.snapshot() == start
    stopped = (
        "for p in /proc/[0-9]*; do grep -q '^State:.[Tt]' $p/status && kill -CONT ${p#/proc/}; done; true"
    )
    lab.host.sh(stopped)
    thread.join(30)
    assert [r.status for r in results] == ["reverted"]
    assert lab.host.snapshot() == start
    assert lab.journal.unfinished() == []
