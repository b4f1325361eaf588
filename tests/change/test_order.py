"""Changes of one host on top of each other: the newest of a setting goes back first, and ids may be short."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions
from hostcfg.changes import Change, Fault, FileChange, FileState, HostChange, StepResult
from hostcfg.errors import ChangeRefused
from hostcfg.model import Plan, Step
from hostcfg.rollback import rollback_unfinished, set_since
from tests.change.conftest import Lab, read
from tests.change.test_rollback import OURS, SACK, SCALING, back, only, status

if TYPE_CHECKING:
    from hostcfg.changes import ChangeKind, HostStatus
    from hostcfg.journal import Journal

ECN, WMEM = "net.ipv4.tcp_ecn", "net.ipv4.tcp_wmem"


@pytest.mark.root
def test_an_older_change_waits_for_the_newer_one_of_the_same_setting(lab: Lab) -> None:
    start = lab.host.snapshot()
    older, _ = lab.apply({ECN: "1", WMEM: "4096\t16384\t65536"})
    newer, _ = lab.apply({WMEM: "4096\t16384\t131072"})
    before, connections = lab.host.snapshot(), len(lab.transports)
    refused = back(lab, older)
    assert (refused.id, only(refused).status) == (None, "failed")
    assert only(refused).error == Fault(
        "changed",
        f"host1: change {newer} set {WMEM} since: roll that back first (or --force)",
    )
    assert lab.host.snapshot() == before
    assert len(lab.transports) == connections
    assert only(back(lab, newer)).status == "reverted"
    assert only(back(lab, older)).status == "reverted"
    assert lab.host.snapshot() == start


@pytest.mark.root
def test_by_force_an_older_change_goes_back_under_a_newer_one(lab: Lab) -> None:
    older, _ = lab.apply({SACK: "0", SCALING: "0"})
    lab.apply({SACK: "7"})
    assert only(back(lab, older, force=True)).status == "reverted"
    assert (lab.host.get(SACK), lab.host.get(SCALING)) == ("1", "1")


@pytest.mark.root
def test_changes_of_other_settings_go_back_in_any_order_but_for_a_file_of_both(lab: Lab) -> None:
    start = lab.host.snapshot()
    older, _ = lab.apply({SACK: "0"})
    newer, _ = lab.apply({SCALING: "0"})
    assert only(back(lab, older)).status == "reverted"
    assert only(back(lab, newer)).status == "reverted"
    older, _ = lab.apply({SACK: "0"}, persist=True)
    newer, _ = lab.apply({SCALING: "0"}, persist=True)
    refused = only(back(lab, older)).error
    assert refused is not None
    assert f"change {newer} set {OURS} since" in refused.message
    assert only(back(lab, newer)).error is None
    assert only(back(lab, older)).error is None
    assert lab.host.snapshot() == start


@pytest.mark.root
def test_what_takes_back_a_newer_change_is_in_nobodys_way(lab: Lab) -> None:
    older, _ = lab.apply({SACK: "0"})
    newer, _ = lab.apply({SACK: "7"})
    away = back(lab, newer)
    assert away.id is not None
    again = back(lab, away.id)  # the newer one stands again
    refused = only(back(lab, older)).error
    assert refused is not None
    assert f"change {newer} set {SACK} since" in refused.message
    assert again.id is not None
    assert only(back(lab, again.id)).status == "reverted"
    assert only(back(lab, older)).status == "reverted"
    assert status(lab, older)[0] == "reverted"
    assert (
        rollback_unfinished(journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
        == []
    )


def change(
    change_id: str, host: HostStatus, *steps: StepResult, kind: ChangeKind = "apply", of: str | None = None
) -> Change:
    hosts = (HostChange("h", "linux", host, steps),)
    return Change(change_id, kind, change_id, None, "me", "here", of=of, hosts=hosts)


def test_which_newer_changes_are_in_the_way() -> None:
    wrote = StepResult("a", "1", "2", outcome="set")
    old = change("1", "applied", wrote)
    assert set(set_since(old, [change("2", "applied", wrote)])) == {"h"}
    assert set(set_since(old, [change("2", "unknown", StepResult("a", "1", "2"))])) == {"h"}
    for harmless in (
        change("2", "planned", StepResult("a", "1", "2")),
        change("2", "reverted", wrote),
        change("2", "failed", wrote),
        change("2", "applied", StepResult("b", "1", "2", outcome="set")),
        change("2", "applied", StepResult("a", "2", "2", outcome="unchanged")),
        Change("2", "apply", "2", None, "me", "here", hosts=(HostChange("x", "linux", "applied", (wrote,)),)),
        change("2", "reverted", wrote, kind="rollback", of="1"),
    ):
        assert set_since(old, [harmless]) == {}
    forced = change("3", "reverted", wrote, kind="rollback", of="0")  # of an even older one, under this one
    assert "change 3 set a since" in set_since(old, [forced])["h"].message
    keys = tuple(StepResult(f"k{n}", "1", "2", outcome="set") for n in range(7))
    many = set_since(change("1", "applied", *keys), [change("2", "applied", *keys)])["h"]
    assert "change 2 set k0, k1, k2, k3, k4 and 2 more since" in many.message
    file = FileChange(FileState("/f", None), FileState("/f", b"x"))
    both = [
        Change(n, "apply", n, None, "me", "here", hosts=(HostChange("h", "linux", "applied", files=(file,)),))
        for n in "12"
    ]
    assert "change 2 set /f since" in set_since(both[0], both[1:])["h"].message


def test_an_id_may_be_as_short_as_it_is_the_only_one(journal: Journal) -> None:
    plan = Plan("h", "linux", [Step("a", "0", "1", "do", "undo")])
    ids = ["20261130-100000-aaaa", "20261130-100000-aabb", "20261130-120000-aaaa", "20261201-100000-aaaa"]
    for name in ids:
        draft = replace(journal.draft("apply"), id=name, started=name)
        journal.planned(draft, plan, revert_in_s=60)
    assert journal.find(ids[0]).id == ids[0]
    assert journal.find("202612").id == ids[3]
    assert journal.find("20261130-100000-aab").id == ids[1]
    with pytest.raises(ChangeRefused) as two:
        journal.find("20261130-10")
    assert (
        str(two.value) == f"'20261130-10' begins the ids of 2 changes ({ids[0]}, {ids[1]}): give more of it"
    )
    with pytest.raises(
        ChangeRefused, match=r"^'2' begins the ids of 4 changes \(.*, .*, .* \.\.\.\): give more"
    ):
        journal.find("2")
    for none in ("", "x", f"{ids[0]}0", "%", "_" * len(ids[0])):
        with pytest.raises(ChangeRefused, match="no change"):
            journal.find(none)
    assert [change.id for change in journal.newer(journal.change(ids[1]))] == [ids[3], ids[2]]
