"""Every host of a run is read before the first one is written: who can't be read has failed by then."""

from __future__ import annotations

import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.fleet.lab import NET, Fleet, statuses
from tests.fleet.test_asking import at_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator


pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]

WAN = ("--profile", "wan", "--rate", "1gbit", "--rtt", "80ms", "--timeout", "5")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("look")
    folder.chmod(0o755)
    with Fleet(folder, 3) as running:
        yield running


@contextmanager
def silent(fleet: Fleet, name: str) -> Iterator[None]:
    """A host that does not answer."""
    fleet.hosts[name].sh("ip link set mgmt0 down")
    try:
        yield
    finally:
        fleet.hosts[name].sh("ip link set mgmt0 up")


@contextmanager
def away(fleet: Fleet, name: str) -> Iterator[None]:
    """A host to which there is no route."""
    place = f"{NET}.1.{int(name[1:])}"
    route = [*fleet.prefix, "ip", "route", "VERB", "unreachable", f"{place}/32"]
    subprocess.run([word.replace("VERB", "add") for word in route], check=True)
    try:
        yield
    finally:
        subprocess.run([word.replace("VERB", "del") for word in route], check=True)


WHY = "1 host can't be read or planned, so nothing was begun (--max-failures, --on-failure)"


@pytest.mark.parametrize("on_failure", ["stop", "rollback"])
def test_nothing_is_written_where_a_host_can_not_be_read(
    fleet: Fleet, start: dict[str, str], on_failure: str
) -> None:
    with away(fleet, "h03"):
        ran = fleet.change("apply", "@fleet", *WAN, "--batch", "1", "--on-failure", on_failure)
        assert fleet.snapshots() == start
    assert (ran.code, ran.document["id"], statuses(ran)) == (2, None, {"h03": "failed"})
    assert ran.document["not_reached"] == ["h01", "h02"]
    assert ran.stderr.count("hostcfg: h03: ") == 1
    assert ran.stderr.splitlines()[-1] == f"hostcfg: stopped: {WHY}; 2 hosts not reached"
    assert fleet.run("history", "-o", "json").document["changes"] == []


@pytest.mark.parametrize("words", [("--on-failure", "continue"), ("--max-failures", "1")])
def test_a_run_that_may_go_on_does_so_without_that_host(
    fleet: Fleet, start: dict[str, str], words: tuple[str, ...]
) -> None:
    with away(fleet, "h01"):
        ran = fleet.change("apply", "@fleet", *WAN, "--batch", "1", *words)
    assert ran.code == 2
    assert statuses(ran) == {"h01": "failed", "h02": "applied", "h03": "applied"}
    change_id = ran.document["id"]
    assert fleet.history(change_id)["hosts"][0]["status"] == "failed"
    with away(fleet, "h01"):  # one host that is left is its own first look
        again = fleet.change("apply", "--resume", change_id)
    assert (again.code, statuses(again)) == (2, {"h01": "failed"})
    rest = fleet.change("apply", "--resume", change_id)
    assert (rest.code, statuses(rest)) == (0, {"h01": "applied"})
    assert fleet.change("rollback", change_id).code == 0


def test_what_is_resumed_is_looked_at_first(fleet: Fleet, start: dict[str, str]) -> None:
    ran = fleet.change("apply", "@fleet", *WAN, "--batch", "1", "--check", "false")
    assert statuses(ran) == {"h01": "applied"}
    with away(fleet, "h03"):
        again = fleet.change("apply", "--resume", ran.document["id"], "--check", "true")
    assert (again.code, statuses(again), again.document["not_reached"]) == (2, {"h03": "failed"}, ["h02"])
    assert WHY in again.stderr
    assert fleet.change("rollback", ran.document["id"]).code == 0


def test_the_question_says_who_is_left_out(fleet: Fleet, start: dict[str, str]) -> None:
    with away(fleet, "h02"):
        stopped = at_terminal(fleet, b"y\n", "apply", "@fleet", *WAN)
        assert (stopped.code, "[y/N]" in stopped.stderr, WHY in stopped.stderr) == (2, False, True)
        asked = at_terminal(fleet, b"n\n", "apply", "@fleet", *WAN, "--max-failures", "1")
    assert asked.code == 2
    assert asked.stderr.count("hostcfg: h02: ") == 1
    assert "apply wan to h01, h03, 1 then 1, without h02? [y/N]" in asked.stderr


def test_an_interrupt_of_the_first_look_ends_it(fleet: Fleet, start: dict[str, str]) -> None:
    with silent(fleet, "h02"):
        process = fleet.start("apply", "@fleet", *WAN, "-i", str(fleet.inventory), "--yes", "-v")
        assert process.stderr is not None
        assert "h0" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
