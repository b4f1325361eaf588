"""A change that waits, and one that waited too long: what the journal says, and what the host says."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hostcfg.apply import ChangeOptions
from hostcfg.changes import Change, HostChange, StepResult, change_document, history_document
from hostcfg.model import Facts, Native
from hostcfg.outputs.blocks import Heading, Paragraph, Table
from hostcfg.outputs.change_views import history_blocks, status_counts
from hostcfg.platforms.changer import StatusReport
from hostcfg.rollback import rollback_unfinished
from hostcfg.rollback_plan import way_back
from tests.change.conftest import Lab, read
from tests.change.test_apply import wait_until
from tests.change.test_journal import pending

if TYPE_CHECKING:
    from hostcfg.journal import Journal

SACK, SCALING = "net.ipv4.tcp_sack", "net.ipv4.tcp_window_scaling"


def as_json(document: object) -> Any:
    return json.loads(json.dumps(document))


def stored(change: Change) -> Any:
    """The one host of a change as ``history -o json`` has it."""
    (host,) = as_json(history_document([change]))["changes"][0]["hosts"]
    return host


def texts(change: Change) -> list[str]:
    return [b.text for b in history_blocks([change]) if isinstance(b, Paragraph)]


def test_a_change_whose_timer_still_runs(journal: Journal) -> None:
    change = pending(journal, 50)
    host = stored(change)
    due = datetime.fromisoformat(host["due"])
    assert timedelta(0) < due - datetime.now(UTC) <= timedelta(seconds=50)
    assert 45 <= host["left_s"] <= 50
    assert (host["status"], host["overdue"]) == ("pending", False)
    assert any("s left: hostcfg confirm" in text for text in texts(change))


def test_a_change_whose_timer_was_due_says_that_only_the_host_can_tell(journal: Journal) -> None:
    change = pending(journal, -5)
    host = stored(change)
    assert (host["status"], host["left_s"], host["overdue"]) == ("pending", 0, True)
    assert (
        f"its timer was due at {host['due']}, so it has taken the change back by itself unless it was "
        in (" ".join(texts(change)))
    )
    headings = [b.aside for b in history_blocks([change]) if isinstance(b, Heading)]
    assert headings[-1] == "pending, overdue, 2 steps"
    assert status_counts(change) == "1 pending, overdue"
    other = pending(journal, None)
    tables = [b for b in history_blocks([change, other]) if isinstance(b, Table)]
    assert [row.cells[2] for row in tables[0].rows] == ["1 pending, overdue", "1 pending"]


def test_a_change_without_a_timer_is_never_due(journal: Journal) -> None:
    change = pending(journal, None)
    host = stored(change)
    assert (host["due"], host["left_s"], host["overdue"]) == (None, None, False)
    assert any("no timer runs" in text for text in texts(change))


@pytest.mark.root
def test_the_way_back_of_a_held_change_is_what_is_reported(lab: Lab) -> None:
    """The steps are those that were written on the way back, each read again; not those of the apply."""
    lab.apply({SACK: "0", SCALING: "0"}, hold=True)
    (one,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    (host,) = as_json(change_document(one.id, one.hosts))["hosts"]
    assert host["status"] == "reverted"
    rows = host["steps"]
    assert [(s["key"], s["from"], s["to"], s["read_back"], s["outcome"]) for s in rows] == [
        (SCALING, "0", "1", "1", "set"),
        (SACK, "0", "1", "1", "set"),
    ]
    assert rows[0]["command"] == "sysctl -w net.ipv4.tcp_window_scaling=1"
    kept = lab.journal.changes()[0].hosts[0]
    assert [s.to_raw for s in kept.steps] == ["0", "0"]  # the journal keeps what was applied


@pytest.mark.root
def test_what_the_timer_has_done_is_reported_as_it_is(lab: Lab) -> None:
    lab.apply({SACK: "0"}, hold=True, revert_in_s=4)
    wait_until(lambda: lab.host.get(SACK) == "1", 15)
    wait_until(lambda: not lab.host.processes(), 10)
    wait_until(lambda: lab.journal.unfinished()[0].hosts[0].overdue, 10)  # the timer is early by a second
    (one,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    assert [(s.from_raw, s.to_raw, s.outcome) for s in one.hosts[0].steps] == [("0", "1", "set")]


@pytest.mark.root
def test_a_host_that_can_not_be_read_again_is_reverted_all_the_same(lab: Lab) -> None:
    from hostcfg.errors import HostError

    lab.apply({SACK: "0"}, hold=True)

    def unreadable(*_: object) -> Facts:
        raise HostError("command", "the probe was cut", host="host1")

    (one,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=unreadable, options=ChangeOptions(20)
    )
    assert [(h.status, h.error) for h in one.hosts] == [("reverted", None)]
    assert [(s.read_back, s.outcome) for s in one.hosts[0].steps] == [(None, "set")]


@pytest.mark.root
def test_after_a_boot_only_what_hostcfg_wrote_comes_back(lab: Lab) -> None:
    """What a loader has set at boot since then is neither the old value nor ours: it stays, and is named."""
    change_id, _ = lab.apply({SACK: "0", SCALING: "0"}, hold=True, revert_in_s=300)
    lab.host.sh(f"cd /var/lib/hostcfg/{change_id} && kill -9 $(cat timer.pid) && echo another-boot >boot")
    lab.host.set(SACK, "7")
    (one,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    assert [h.status for h in one.hosts] == ["reverted"]
    assert {s.key: (s.read_back, s.outcome) for s in one.hosts[0].steps} == {
        SACK: ("7", "overridden"),
        SCALING: ("1", "set"),
    }


def test_each_step_of_a_way_back() -> None:
    def step(key: str, before: str | None = "1", read_back: str | None = "0") -> StepResult:
        outcome = None if read_back is None else "set"
        return StepResult(key, before, "0", "do", "undo", read_back=read_back, outcome=outcome)  # type: ignore[arg-type]

    steps = (
        step("a.set"),
        step("a.unwritten"),
        step("a.rejected"),
        step("a.theirs"),
        step("a.forced", None),
        step("a.unread"),
        step("a.nobody_knows", "1", None),
    )
    host = HostChange("h", "linux", "pending", steps)
    now = {"a.set": "1", "a.unwritten": "1", "a.rejected": "0", "a.theirs": "7", "a.nobody_knows": "1"}
    facts = Facts("h", "linux", "", (6, 1), {}, {key: Native(key, raw) for key, raw in now.items()})
    report = StatusReport("failed", "pending", {}, ("3",), written=frozenset({1, 3, 4, 5, 6, 7}))
    found = way_back(host, report, facts)
    assert [(s.key, s.from_raw, s.to_raw, s.read_back, s.outcome) for s in found] == [
        ("a.nobody_knows", "0", "1", "1", "set"),
        ("a.unread", "0", "1", None, None),
        ("a.theirs", "0", "1", "7", "overridden"),
        ("a.rejected", "0", "1", "0", "rejected"),
        ("a.unwritten", "1", "1", "1", "unchanged"),
        ("a.set", "0", "1", "1", "set"),
    ]
    assert {(s.command, s.inverse) for s in found} == {("undo", "do")}
    untold = way_back(host, replace(report, written=None, unrestored=(), state="restored"), None)
    assert {s.outcome for s in untold} == {"set"}
