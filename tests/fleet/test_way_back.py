"""The way back at the command line: shown without being gone, in the right order, under a short ID."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.fleet.lab import Fleet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fleet.lab import Ran

pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]

SACK, SCALING = "net.ipv4.tcp_sack", "net.ipv4.tcp_window_scaling"
PROFILE = """name: {name}
summary: for a test
when: never
os:
  linux:
    settings:
{rows}"""
ROW = "      {key}: {{rule: exact, value: '{value}', reason: a test, source: a test}}\n"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("back")
    folder.chmod(0o755)
    with Fleet(folder, 2) as running:
        yield running


def apply(fleet: Fleet, name: str, values: dict[str, str], *words: str, target: str = "h01") -> str:
    path = fleet.folder / f"{name}.yaml"
    rows = "".join(ROW.format(key=key, value=value) for key, value in values.items())
    path.write_text(PROFILE.format(name=name, rows=rows))
    ran = fleet.change("apply", target, "--profile", str(path), *words)
    assert ran.code == 0, ran.stderr
    change_id: str = ran.document["id"]
    return change_id


def dry(fleet: Fleet, *words: str, code: int) -> Any:
    ran = fleet.run("rollback", *words, "--dry-run", "-i", str(fleet.inventory), "-o", "json")
    assert ran.code == code, ran.stderr
    return ran.document["hosts"]


def text(fleet: Fleet, *words: str) -> Ran:
    return fleet.run(*words, "-i", str(fleet.inventory))


def test_a_dry_run_shows_the_way_back_and_goes_none_of_it(fleet: Fleet) -> None:
    start = fleet.snapshots()
    change_id = apply(fleet, "one", {SACK: "0"}, "--persist", target="@fleet")
    changed, known = fleet.snapshots(), fleet.run("history", "-o", "json").stdout
    hosts = dry(fleet, "--last", code=1)
    assert [(h["host"], h["status"]) for h in hosts] == [("h01", "ok"), ("h02", "ok")]
    assert [(s["key"], s["from"], s["to"]) for s in hosts[0]["steps"]] == [(SACK, "0", "1")]
    assert list(hosts[0]["files"]) == ["/etc/sysctl.d/90-hostcfg.conf"]
    shown = text(fleet, "rollback", change_id, "--dry-run")
    assert SACK in shown.stdout
    assert "/etc/sysctl.d/90-hostcfg.conf would be put back once it is confirmed" in " ".join(
        shown.stdout.split()
    )
    fleet.hosts["h02"].set(SACK, "7")
    (left,) = dry(fleet, change_id, "--limit", "h02", code=1)
    assert (left["steps"], "someone changed it to '7' since" in left["notes"][0]) == ([], True)
    fleet.hosts["h02"].set(SACK, "0")
    assert (fleet.snapshots(), fleet.run("history", "-o", "json").stdout) == (changed, known)
    assert fleet.change("rollback", change_id).code == 0
    assert fleet.snapshots() == start
    assert text(fleet, "rollback", change_id, "--dry-run").code == 2


def test_a_dry_run_of_what_is_unfinished_asks_nobody(fleet: Fleet) -> None:
    change_id = apply(fleet, "held", {SACK: "0"}, "--hold", "--revert-in", "300")
    for words in (("--unfinished",), (change_id,)):
        (host,) = dry(fleet, *words, code=1)
        assert [(s["key"], s["to"]) for s in host["steps"]] == [(SACK, "1")]
        assert "the host is asked first" in host["notes"][0]
    assert fleet.history(change_id)["hosts"][0]["status"] == "pending"
    assert fleet.run("confirm", change_id[:-1], "-i", str(fleet.inventory)).code == 0
    assert fleet.change("rollback", change_id[:-1]).code == 0


def test_an_older_change_under_a_newer_one_is_refused_before_it_is_asked_about(fleet: Fleet) -> None:
    start = fleet.snapshots()
    older = apply(fleet, "older", {SACK: "0", SCALING: "0"})
    newer = apply(fleet, "newer", {SACK: "7"})
    changed = fleet.snapshots()
    said = f"hostcfg: h01: change {newer} set {SACK} since: roll that back first (or --force)"
    (host,) = dry(fleet, older, code=2)
    assert (host["status"], host["error"]["message"]) == ("error", said.removeprefix("hostcfg: "))
    ran = text(fleet, "rollback", older, "--yes")
    assert (ran.code, ran.stderr.splitlines()) == (2, [said])
    assert f"Change {older} still stands on h01: hostcfg rollback {older} tries again" in " ".join(
        ran.stdout.split()
    )
    assert fleet.snapshots() == changed
    for change_id in (newer, older):
        assert fleet.change("rollback", change_id).code == 0
    assert fleet.snapshots() == start


def test_the_beginning_of_an_id_will_do_where_it_is_the_only_one(fleet: Fleet) -> None:
    change_id = apply(fleet, "short", {SACK: "0"}, target="@fleet")
    found = fleet.run("history", change_id[:-1], "-o", "json")
    assert [change["id"] for change in json.loads(found.stdout)["changes"]] == [change_id]
    again = fleet.change("apply", "--resume", change_id[:-1])
    assert f"nothing is left to resume: change {change_id} came to every host" in again.stderr
    for words in (("history", "2"), ("confirm", "2"), ("rollback", "2", "--yes"), ("apply", "--resume", "2")):
        ran = fleet.run(*words)
        assert (ran.code, ran.stdout, len(ran.stderr.splitlines())) == (2, "", 1)
        assert "hostcfg: '2' begins the ids of" in ran.stderr
    assert fleet.change("rollback", change_id[:-1]).code == 0
