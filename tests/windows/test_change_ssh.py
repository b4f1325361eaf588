"""Apply and rollback on the emulated Windows through a real sshd; controllers that are killed."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.sshd import SSHD, wait_for
from tests.windows.change_lab import KILL_WANTED, outcomes, ssh_config

if TYPE_CHECKING:
    from hostcfg.changes import HostChange
    from tests.hosts.windows.host import WindowsHost
    from tests.windows.conftest import Start

pytestmark = [pytest.mark.skipif(SSHD is None, reason="no sshd"), pytest.mark.timeout(600)]

LEVEL = {"global.autotuninglevel": "restricted"}
EVENTS = [
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


@pytest.mark.parametrize(
    ("release", "language", "changes"),
    [
        ("11-24H2", "en", {}),
        ("11-24H2", "de", {"shell": "powershell"}),  # netsh stays German in code page 437
        ("7", "en", {}),  # no supplemental, no PowerShell 3
        ("2012", "ja", {"shell": "powershell", "banner": "Welcome"}),
        ("2022", "zh-CN", {"powershell": False}),
    ],
)
def test_three_profiles_and_back_leave_the_host_as_it_began(
    start_ssh: Start, release: str, language: str, changes: dict[str, Any]
) -> None:
    host, lab = start_ssh(release, language, **changes)
    began = host.settings()
    ids = []
    for name in ("wan", "lan", "rfc1323-off"):
        change_id, done = lab.apply_profile(name)
        assert (done.status, done.error) == ("applied", None), name
        assert set(outcomes(done).values()) <= {"set"}
        if done.steps:
            ids.append(change_id)
    assert host.state["global"]["autotuninglevel"] == "disabled"
    assert host.state["global"]["timestamps"] == "disabled"
    assert len(ids) >= 2
    for change_id in reversed(ids):
        back = lab.back(change_id)
        assert (back.status, back.error) == ("reverted", None)
    assert host.settings() == began
    assert host.state["tasks"] == {}
    assert set(host.states().values()) == {"confirmed"}


def test_an_apply_is_five_commands_over_two_connections(start_ssh: Start) -> None:
    host, lab = start_ssh()
    _, done = lab.apply({**LEVEL, "supplemental.internet.congestionprovider": "ctcp"})
    assert done.error is None
    assert host.server.commands == len(lab.lines) == 5
    assert host.server.connections == 2
    assert max(map(len, lab.lines)) < 8000
    assert any("with seconds" in note for note in done.notes)
    assert any("netsh keeps what it sets" in note for note in done.notes)


def test_two_controllers_at_once(start_ssh: Start) -> None:
    host, lab = start_ssh()
    labs = [lab, lab.another(host.folder / "other")]
    results: list[HostChange] = []
    threads = [
        threading.Thread(target=lambda one=one: results.append(one.apply(LEVEL, hold=True)[1]))
        for one in labs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.status for result in results) == ["failed", "pending"]
    assert list(host.states().values()) == ["pending"]


def killed_at(host: WindowsHost, number: int, revert_in_s: int = 60) -> list[str]:
    """The events that a controller had behind it when it was killed."""
    argv = [sys.executable, "-m", "tests.windows.change_lab", host.server.destination]
    argv += [str(ssh_config(host)), str(host.folder / "journal"), str(number), str(revert_in_s)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == -9, done.stderr
    return done.stdout.split("\n")[:-1]


def test_a_controller_killed_after_each_step_and_settled(start_ssh: Start) -> None:
    host, lab = start_ssh()
    began = host.settings()
    for number, event in enumerate(EVENTS, 1):
        assert killed_at(host, number)[-1] == event
        if event in ("connected", "planned"):
            assert lab.journal.changes(limit=1) == []
            continue
        lab.settle()
        change = lab.journal.changes(limit=1)[0]
        kept = event in ("confirmed", "ended")
        assert [h.status for h in change.hosts] == ["applied" if kept else "reverted"], event
        if kept:
            assert host.state["global"]["autotuninglevel"] == KILL_WANTED["global.autotuninglevel"]
            assert lab.back(change.id).status == "reverted"
        assert host.settings() == began, event
        assert host.state["tasks"] == {}, event
        assert lab.journal.unfinished() == []
    print(f"kill points of an apply, settled by hand: {len(EVENTS)}")


def test_a_controller_killed_after_each_step_and_left_to_the_timer(start_ssh: Start) -> None:
    host, lab = start_ssh()
    began = host.settings()
    points = EVENTS[EVENTS.index("begun") : EVENTS.index("confirmed")]
    for event in points:
        killed_at(host, EVENTS.index(event) + 1, revert_in_s=5)
        wait_for(lambda: host.state["tasks"] == {}, f"the timer after {event}", 60)
        assert host.settings() == began, event
        lab.settle()
        assert [h.status for h in lab.journal.changes(limit=1)[0].hosts] == ["reverted"]
    print(f"kill points of an apply, reverted by the timer: {len(points)}")
