"""Applies over forty real hosts: stop, take back, go on, be killed and resume; nothing is lost."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.fleet.lab import Fleet, statuses
from tests.sshd import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


pytestmark = [pytest.mark.root, pytest.mark.slow, pytest.mark.timeout(900)]

HOSTS = 40
WAN = ("--profile", "wan", "--rate", "1gbit", "--rtt", "80ms")
PROBING = "net.ipv4.tcp_mtu_probing"  # 0 before, 1 with the profile wan
BATCHES = ("--batch", "1,10%,100%")  # 1, 4 and 35 hosts
EIGHT_AT_ONCE = ("-j", "8")  # so that who looks a little late still finds hosts that are not begun


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    folder.chmod(0o755)
    with Fleet(folder, HOSTS) as running:
        yield running


@contextmanager
def contrary(fleet: Fleet, name: str) -> Iterator[None]:
    """A host on which something sets the value back whenever it is set: verify fails there."""
    path = f"/proc/sys/{PROBING.replace('.', '/')}"
    host = fleet.hosts[name]
    host.sh("touch /run/contrary")
    loop = f"while [ -e /run/contrary ]; do echo 0 >{path}; sleep 0.005; done"
    with subprocess.Popen(host.argv("/bin/sh", "-c", loop)):
        try:
            yield
        finally:
            host.sh("rm /run/contrary")


def changed(fleet: Fleet) -> set[str]:
    """The hosts that have the profile's value."""
    return {name for name, value in fleet.values(PROBING).items() if value == "1"}


def in_journal(fleet: Fleet, question: str) -> list[tuple[str, str]]:
    """Rows of the journal, read beside the process that writes it."""
    if not (fleet.folder / "state/journal.sqlite3").exists():
        return []  # the hosts are read first
    with sqlite3.connect(f"file:{fleet.folder}/state/journal.sqlite3?mode=ro", uri=True) as db:
        return db.execute(question).fetchall()


def journal_statuses(fleet: Fleet) -> dict[str, str]:
    """What the journal says of the newest change."""
    newest = "(SELECT id FROM changes ORDER BY started DESC LIMIT 1)"
    return dict(in_journal(fleet, f"SELECT host, status FROM hosts WHERE change = {newest}"))


def begun(fleet: Fleet) -> int:
    """The hosts of the apply under way that are past ``planned``: it only grows, so no poll misses it."""
    under_way = "(SELECT id FROM changes WHERE kind = 'apply' AND ended IS NULL)"
    return len(
        in_journal(
            fleet, f"SELECT host, status FROM hosts WHERE change IN {under_way} AND status <> 'planned'"
        )
    )


def newest(fleet: Fleet) -> str:
    change_id: str = fleet.run("history", "--limit", "1", "-o", "json").document["changes"][0]["id"]
    return change_id


def killed_in_the_middle(fleet: Fleet, *, revert_in_s: int) -> str:
    """The ID of a run that was killed while some hosts were done, some in hand and some not begun."""
    words = (*WAN, *BATCHES, *EIGHT_AT_ONCE, "-i", str(fleet.inventory), "--yes")
    process = fleet.start("apply", "@fleet", *words, "--revert-in", str(revert_in_s))
    fleet.kill_when(process, lambda: begun(fleet) >= 8)
    return newest(fleet)


def test_stop_leaves_who_is_done_and_tells_who_is_where(fleet: Fleet, start: dict[str, str]) -> None:
    with contrary(fleet, "h20"):
        ran = fleet.change("apply", "@fleet", *WAN, *BATCHES, "-j", "8")
    assert ran.code == 2
    change_id, told = ran.document["id"], statuses(ran)
    not_reached = set(ran.document["not_reached"])
    assert told["h20"] in ("reverted", "failed")
    assert {told[name] for name in ("h01", "h02", "h03", "h04", "h05")} == {"applied"}
    assert not_reached >= {"h39", "h40"}
    assert changed(fleet) == {name for name, status in told.items() if status == "applied"}
    assert told.keys() | not_reached == set(fleet.names)
    assert f"hostcfg apply --resume {change_id} goes on" in ran.stderr

    history = fleet.history(change_id)
    known = {host["host"]: host["status"] for host in history["hosts"]}
    assert known == {**told, **dict.fromkeys(not_reached, "planned")}
    assert (history["run"], history["ended"] is not None) == ("stopped", True)

    nothing = fleet.change("rollback", "--unfinished")
    assert (nothing.code, nothing.stderr) == (0, "hostcfg: nothing is unfinished\n")

    rest = fleet.change("apply", "--resume", change_id)
    assert rest.code == 0, rest.stderr
    assert rest.document["id"] == change_id
    assert set(statuses(rest)) == {"h20"} | not_reached
    assert changed(fleet) == set(fleet.names)
    assert {host["status"] for host in fleet.history(change_id)["hosts"]} == {"applied"}

    back = fleet.run("rollback", change_id, "--yes", "-o", "json")  # without the inventory
    assert back.code == 0, back.stderr
    assert statuses(back) == dict.fromkeys(fleet.names, "reverted")


def test_rollback_puts_all_back_as_before(fleet: Fleet, start: dict[str, str]) -> None:
    with contrary(fleet, "h20"):
        ran = fleet.change("apply", "@fleet", *WAN, *BATCHES, "--on-failure", "rollback")
    assert ran.code == 2
    assert set(statuses(ran).values()) <= {"reverted", "failed"}
    assert changed(fleet) == set()
    assert "taking the change back" in ran.stderr
    history = fleet.history(ran.document["id"])
    assert {host["status"] for host in history["hosts"]} <= {"reverted", "failed", "planned"}
    refused = fleet.change("apply", "--resume", ran.document["id"])
    assert refused.code == 2
    assert "was taken back by" in refused.stderr


def test_continue_and_a_limit_on_failures(fleet: Fleet, start: dict[str, str]) -> None:
    with contrary(fleet, "h02"), contrary(fleet, "h03"):
        stopped = fleet.change("apply", "@fleet", *WAN, *BATCHES, "--max-failures", "1")
        assert stopped.code == 2
        assert "2 hosts failed, and --max-failures is 1" in stopped.stderr
        assert set(stopped.document["not_reached"]) >= {f"h{n:02}" for n in range(6, 41)}
        through = fleet.change("apply", "--resume", stopped.document["id"], "--on-failure", "continue")
    assert through.code == 2
    assert through.document["not_reached"] == []
    assert changed(fleet) == set(fleet.names) - {"h02", "h03"}
    back = fleet.change("rollback", "--last")
    assert back.code == 0, back.stderr


def test_a_check_of_the_user_decides_after_each_batch(
    fleet: Fleet, start: dict[str, str], tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    check = f"echo $HOSTCFG_HOSTS >>{heard}; echo on stdout; test $(wc -l <{heard}) -lt 2"
    ran = fleet.change("apply", "@fleet", *WAN, *BATCHES, "--check", check)
    assert ran.code == 2
    assert heard.read_text() == "h01\nh02 h03 h04 h05\n"
    assert f"hostcfg: --check {check!r} ended with 1 after h02, h03, h04, h05" in ran.stderr
    assert len(ran.document["not_reached"]) == 35
    assert changed(fleet) == {"h01", "h02", "h03", "h04", "h05"}
    without = fleet.change("apply", "--resume", ran.document["id"])
    assert without.code == 2
    assert "give --check again" in without.stderr
    assert fleet.change("rollback", ran.document["id"]).code == 0


def test_killed_in_the_middle_and_resumed(fleet: Fleet, start: dict[str, str]) -> None:
    change_id = killed_in_the_middle(fleet, revert_in_s=20)
    history = fleet.history(change_id)
    assert (history["run"], history["ended"]) == ("running", None)
    known = {host["host"]: host["status"] for host in history["hosts"]}
    assert set(known) == set(fleet.names)
    assert "planned" in known.values()

    ran = fleet.change("apply", "--resume", change_id)
    assert ran.code == 0, ran.stderr
    assert changed(fleet) == set(fleet.names)
    whole = fleet.history(change_id)
    assert {host["status"] for host in whole["hosts"]} == {"applied"}
    assert (whole["run"], whole["ended"] is not None) == ("ended", True)
    back = fleet.run("rollback", change_id, "--yes", "-o", "json")
    assert back.code == 0, back.stderr
    assert statuses(back) == dict.fromkeys(fleet.names, "reverted")


def test_killed_in_the_middle_and_settled(fleet: Fleet, start: dict[str, str]) -> None:
    change_id = killed_in_the_middle(fleet, revert_in_s=60)
    settled = fleet.run("rollback", "--unfinished", "--yes", "-o", "json")
    assert settled.code == 0, settled.stderr
    assert set(statuses(settled).values()) <= {"reverted", "applied"}
    known = {host["host"]: host["status"] for host in fleet.history(change_id)["hosts"]}
    assert changed(fleet) == {name for name, status in known.items() if status == "applied"}
    assert fleet.run("rollback", "--unfinished", "--yes").code == 0
    assert fleet.history(change_id)["ended"] is not None
    assert fleet.change("rollback", change_id).code == 0


def test_an_interrupt_lets_the_hosts_in_hand_come_to_an_end(fleet: Fleet, start: dict[str, str]) -> None:
    process = fleet.start(
        "apply", "@fleet", *WAN, *BATCHES, "-i", str(fleet.inventory), "--yes", "-j", "4", "-o", "json"
    )
    wait_for(lambda: list(journal_statuses(fleet).values()).count("applied") >= 6, "some hosts", 120)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "no further host is begun" in stderr
    known = journal_statuses(fleet)
    assert set(known.values()) == {"applied"}
    assert changed(fleet) == set(known)
    assert json.loads(stdout)["not_reached"]
    assert fleet.history(newest(fleet))["run"] == "stopped"
    assert fleet.change("rollback", "--last").code == 0


def test_a_disk_that_fills_up_ends_the_run_with_its_report(
    fleet: Fleet, start: dict[str, str], tmp_path: Path
) -> None:
    """The journal is on a disk that the user's own check fills; later there is room again."""
    fill = f"sh -c 'head -c 9000000 /dev/zero >{tmp_path}/fill 2>/dev/null; true'"
    state = f'export HOSTCFG_STATE={tmp_path}/state; hostcfg() {{ {sys.executable} -m hostcfg "$@"; }}\n'
    apply = f"hostcfg apply @fleet -i {fleet.inventory} {shlex.join(WAN)} --batch 2,100% --yes -o json"
    script = (
        f"mount -t tmpfs -o size=400k tmpfs {tmp_path}\n{state}"
        f"{apply} --check {shlex.quote(fill)} >&3; echo code $?\nrm {tmp_path}/fill\n"
        "hostcfg rollback --unfinished --yes >&2; echo settled $?\n"
        "hostcfg rollback --last --yes >&2; echo back $?\n"
    )
    report = tmp_path.parent / "report.json"
    command = [*fleet.prefix, "unshare", "-m", "sh", "-c", f"exec 3>{report}\n{script}"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "HOME": str(fleet.folder)},
    )
    assert done.stdout.split() == ["code", "2", "settled", "0", "back", "0"], done.stderr
    told = {host["host"]: host["status"] for host in json.loads(report.read_text())["hosts"]}
    assert {told["h01"], told["h02"]} == {"applied"}
    assert set(told.values()) <= {"applied", "failed", "unknown"}
    assert "hostcfg: stopped: no room for the journal on this disk" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_process_keeps_its_hands_off(fleet: Fleet, start: dict[str, str]) -> None:
    process = fleet.start("apply", "@fleet", *WAN, *BATCHES, "-i", str(fleet.inventory), "--yes", "-j", "2")
    wait_for(lambda: "applied" in journal_statuses(fleet).values(), "the first host", 120)
    change_id = newest(fleet)
    for words in (("rollback", change_id), ("rollback", "--unfinished"), ("apply", "--resume", change_id)):
        refused = fleet.run(*words, "--yes")
        assert refused.code == 2
        assert f"process {process.pid} is working on change {change_id} right now" in refused.stderr
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert fleet.run("rollback", change_id, "--yes").code == 0
