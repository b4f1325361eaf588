"""--limit and --exclude at confirm, rollback --unfinished and apply --resume: nobody else is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet.lab import Fleet, statuses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fleet.lab import Ran

pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]

WAN = ("--profile", "wan", "--rate", "1gbit", "--rtt", "80ms")
HOLD = ("--hold", "--revert-in", "300", "--batch", "100%")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("some")
    folder.chmod(0o755)
    with Fleet(folder, 3) as running:
        yield running


def known(fleet: Fleet, change_id: str) -> dict[str, str]:
    return {host["host"]: host["status"] for host in fleet.history(change_id)["hosts"]}


def confirm(fleet: Fleet, *words: str) -> Ran:
    return fleet.run("confirm", *words, "-i", str(fleet.inventory), "-o", "json")


def test_a_host_that_is_left_out_keeps_its_timer(fleet: Fleet) -> None:
    change_id = fleet.change("apply", "@fleet", *WAN, *HOLD).document["id"]
    assert set(known(fleet, change_id).values()) == {"pending"}

    first = confirm(fleet, change_id, "--limit", "h01")
    assert (first.code, statuses(first)) == (0, {"h01": "applied"})
    assert known(fleet, change_id) == {"h01": "applied", "h02": "pending", "h03": "pending"}
    assert f"hostcfg: h02, h03 still wait: hostcfg confirm {change_id}" in first.stderr

    again = confirm(fleet, change_id, "--limit", "h01")
    assert (again.code, again.stdout) == (2, "")
    assert f"nothing of change {change_id} waits for a confirmation (h01 applied)" in again.stderr
    none = confirm(fleet, change_id, "--limit", "h0x")
    assert (none.code, "'h0x' names no host" in none.stderr) == (2, True)

    second = confirm(fleet, change_id, "--exclude", "h03")
    assert statuses(second) == {"h02": "applied"}
    assert f"hostcfg: h03 still waits: hostcfg confirm {change_id}" in second.stderr

    resumed = fleet.change("apply", "--resume", change_id, "--limit", "h01")
    assert "leave out --limit" in resumed.stderr

    spared = fleet.change("rollback", "--unfinished", "--exclude", "h03")
    assert (spared.code, statuses(spared)) == (0, {})
    assert known(fleet, change_id)["h03"] == "pending"
    settled = fleet.change("rollback", "--unfinished", "--limit", "h03")
    assert statuses(settled) == {"h03": "reverted"}
    assert fleet.change("rollback", change_id).code == 0


def test_each_batch_is_told_as_it_ends_and_a_finished_run_is_not_resumed(fleet: Fleet) -> None:
    ran = fleet.change("apply", "@fleet", *WAN, "--batch", "1,100%", "-v")
    assert ran.code == 0, ran.stderr
    change_id = ran.document["id"]
    lines = ran.stderr.splitlines()
    assert f"{change_id}: batch 1 of 2: 1 applied" in lines
    assert f"{change_id}: batch 2 of 2: 2 applied" in lines
    again = fleet.change("apply", "--resume", change_id)
    assert (again.code, again.document["hosts"]) == (0, [])
    assert again.stderr == f"hostcfg: nothing is left to resume: change {change_id} came to every host\n"
    assert fleet.change("rollback", change_id).code == 0


def test_a_run_goes_on_with_the_profile_that_it_began_with(fleet: Fleet, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    text = (
        "name: mine\nsummary: one switch\nwhen: in tests\nsettings:\n"
        "  mtu_probing: {rule: exact, value: true, reason: black holes, source: RFC 4821}\n"
    )
    mine.write_text(text)
    words = ("--profile", str(mine), "--batch", "1,100%")
    ran = fleet.change("apply", "@fleet", *words, "--check", "false")
    change_id = ran.document["id"]
    assert (ran.code, statuses(ran)) == (2, {"h01": "applied"})
    mine.write_text(text.replace("true", "false"))
    refused = fleet.change("apply", "--resume", change_id, "--check", "true")
    assert (refused.code, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"hostcfg: {mine} has changed since change {change_id} began: put it back, or begin a new apply\n"
    )
    mine.write_text(text)
    rest = fleet.change("apply", "--resume", change_id, "--check", "true")
    assert (rest.code, statuses(rest)) == (0, {"h02": "applied", "h03": "applied"})
    assert fleet.change("rollback", change_id).code == 0


def test_the_reason_comes_before_the_way_back(fleet: Fleet) -> None:
    ran = fleet.change(
        "apply", "@fleet", *WAN, "--batch", "1", "--check", "false", "--on-failure", "rollback"
    )
    assert ran.code == 2
    assert ran.stderr.splitlines()[0] == (
        "hostcfg: --check 'false' ended with 1 after h01: taking the change back on the hosts that have it"
    )
    assert ran.stderr.count("--check 'false' ended with 1") == 2  # and at the end, with what was not reached
    assert "--resume" not in ran.stderr
    assert statuses(ran) == {"h01": "reverted"}
