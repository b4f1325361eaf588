"""What a person is told of a change that went wrong: of each step, of the host, and of its timer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from hostcfg.apply import ChangeOptions
from hostcfg.changes import (
    UNTIL_BOOT,
    Change,
    Fault,
    FileState,
    HostChange,
    Run,
    StepResult,
    change_document,
)
from hostcfg.errors import HostError
from hostcfg.hostrun_words import UNHEARD, ended_notes, not_confirmed, unheard, why_unasked
from hostcfg.model import Plan
from hostcfg.outputs.blocks import Heading, Paragraph, Table
from hostcfg.outputs.change_views import change_blocks, history_blocks, plan_blocks
from hostcfg.platforms.changer import StepReport
from hostcfg.rollback import rollback_unfinished
from tests.change.conftest import read
from tests.change.test_edges import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.outputs.blocks import Block
    from hostcfg.rollback import Rollback
    from tests.change.conftest import Lab

ID = "20261130-162700-4f2a"
SACK, SCALING = "net.ipv4.tcp_sack", "net.ipv4.tcp_window_scaling"
STEPS = (
    StepResult("a.set", "1", "0", read_back="0", outcome="set"),
    StepResult("a.same", "0", "0", read_back="0", outcome="unchanged"),
    StepResult("a.clamped", "1", "9", read_back="5", outcome="clamped"),
    StepResult("a.unheard", "1", "0", error=UNHEARD),
    StepResult("a.untried", "1", "0"),
)


def settle(lab: Lab) -> Sequence[Rollback]:
    return rollback_unfinished(journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))


def outcomes(blocks: Sequence[Block]) -> list[str]:
    (table,) = [block for block in blocks if isinstance(block, Table)]
    return [row.cells[2] for row in table.rows]


def heading(blocks: Sequence[Block]) -> str:
    return [block.aside for block in blocks if isinstance(block, Heading)][-1]


def texts(blocks: Sequence[Block]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, Paragraph)]


def test_the_steps_of_a_host_that_was_put_back_were_taken_back() -> None:
    host = HostChange("h", "linux", "reverted", STEPS, Fault("refused", "h: no"), (UNTIL_BOOT, "another"))
    told = change_blocks(ID, [host])
    assert outcomes(told) == [
        "set, then taken back",
        "unchanged",
        "clamped, then taken back",
        "unknown, then taken back",
        "not tried",
    ]
    assert heading(told) == "reverted: it has its before-values, 5 steps"
    assert texts(told) == ["h: no", "another", f"Change {ID}. All of it: hostcfg history {ID}"]
    stands = change_blocks(ID, [replace(host, status="unknown")])
    assert outcomes(stands) == ["set", "unchanged", "clamped", "unknown", "not tried"]
    assert UNTIL_BOOT in texts(stands)
    kept = history_blocks([Change(ID, "apply", "now", None, "me", "here", hosts=(host,))])
    assert outcomes(kept) == outcomes(told)


def test_the_steps_of_a_rollback_are_the_way_back() -> None:
    host = HostChange("h", "linux", "reverted", STEPS[:1])
    told = change_blocks(ID, [host], rolled_back=True, of="X")
    assert (outcomes(told), heading(told)) == (
        ["set"],
        "reverted: it has the values from before change X, 1 step",
    )
    kept = history_blocks([Change(ID, "rollback", "now", "then", "me", "here", of="X", hosts=(host,))])
    assert (outcomes(kept), heading(kept)) == (outcomes(told), heading(told))
    settled = change_blocks(ID, [host], way_back=True)
    assert (outcomes(settled), heading(settled)) == (["set"], "reverted: it has its before-values, 1 step")
    assert texts(settled) == []  # there is nothing that could be taken back again


def test_what_is_not_kept_is_not_said_of_what_was_taken_back() -> None:
    kept, lost = "kept over a boot by /f: a", "not kept over a boot: b: nobody loads it"
    notes = (UNTIL_BOOT, kept, lost, "/f is written", "more")
    host = HostChange("h", "linux", "applied", STEPS[:1], notes=notes)
    stands = [b for b in change_blocks(ID, [host]) if isinstance(b, Paragraph)]
    assert [(b.text, b.label) for b in stands[:-1]] == [
        (UNTIL_BOOT, "note"),
        (kept, "note"),
        (lost, "warning"),
        ("/f is written", "note"),
        ("more", "note"),
    ]
    for gone in (replace(host, status="reverted"), replace(host, status="failed")):
        told: list[list[Block]] = [
            change_blocks(None, [gone]),
            change_blocks(None, [gone], way_back=True),
            history_blocks([Change(ID, "apply", "now", None, "me", "here", hosts=(gone,))])[1:],
        ]
        assert [texts(blocks)[-1:] for blocks in told] == [["more"]] * 3
        document: Any = change_document(ID, [gone])
        assert document["hosts"][0]["notes"] == ["more"]


def test_what_a_boot_takes_back_is_told_of_many_hosts_too() -> None:
    lost = "not kept over a boot: b: nobody loads it"
    hosts = [HostChange(f"h{n}", "linux", "applied", STEPS[:1], notes=(lost, "more")) for n in range(4)]
    hosts.append(replace(hosts[0], host="gone", status="reverted"))
    plans = [Plan(host.host, "linux", (), host.notes, warnings=("slow",)) for host in hosts[:2]]
    for blocks, told in (
        (change_blocks(ID, hosts, details=False)[:-1], [f"4 hosts: {lost}"]),
        (plan_blocks(plans, details=False), ["h0, h1: slow", f"h0, h1: {lost}"]),
    ):
        said = [block for block in blocks if isinstance(block, Paragraph)]
        assert [(one.text, one.label) for one in said] == [(text, "warning") for text in told]


def test_a_host_with_nothing_to_do_is_said_to_be_as_wanted() -> None:
    same = HostChange("h", "linux", "applied")
    assert heading(change_blocks(None, [same])) == "already as the profile wants: nothing to do"
    noted = replace(same, notes=("left out, since nobody can write x here: why",))
    assert heading(change_blocks(None, [noted])) == (
        "already as the profile wants, but for what is noted: nothing to do"
    )
    run = Run([["h"]], {"h": {}}, {}, unchanged=["h"], state="ended")
    told = history_blocks([Change(ID, "apply", "now", None, "me", "here", run=run)])
    assert (heading(told), texts(told)[1:]) == ("already as the profile wants: nothing to do", [])


def test_a_rollback_that_fails_names_both_changes() -> None:
    failed = [HostChange(f"h{n}", "linux", "failed", error=Fault("changed", f"h{n}: no")) for n in range(5)]
    told = texts(change_blocks(ID, failed[:1], rolled_back=True, of="X"))
    assert told == [
        "h0: no",
        f"Change {ID}. All of it: hostcfg history {ID}",
        "Change X still stands on h0: hostcfg rollback X tries again",
    ]
    assert texts(change_blocks(None, failed, rolled_back=True, of="X"))[-1:] == [
        "Change X still stands on h0, h1, h2 and 2 more: hostcfg rollback X tries again"
    ]


def test_a_step_of_a_host_that_is_being_written_is_unknown() -> None:
    host = HostChange("h", "linux", "applying", STEPS[4:])
    assert outcomes(history_blocks([Change(ID, "apply", "now", None, "me", "here", hosts=(host,))])) == [
        "unknown"
    ]


def test_what_a_host_does_that_can_not_be_asked() -> None:
    assert why_unasked(30, began_writing=False) == "nothing was written there yet"
    assert why_unasked(None, began_writing=True) == "no timer runs there"
    assert re.fullmatch(
        r"its timer was due at \d{4}-\d\d-\d\dT[0-9:.]+Z and restores it, unless it was down",
        why_unasked(0, began_writing=True),
    )
    assert [(s.key, s.outcome, s.error) for s in unheard(["a", "b"], {"a": unheard(["a"], {})[0]})] == [
        ("b", None, UNHEARD)
    ]
    lost = HostError("unreachable", "connection refused", host="h")
    assert not_confirmed("h", lost) == Fault(
        "unreachable", "h: the confirming connection failed (connection refused)"
    )


@pytest.mark.root
def test_a_connection_that_breaks_in_the_write_and_what_became_of_it(lab: Lab) -> None:
    """The host is written and nobody hears of it; the journal says so, and later what became of it."""

    def hear(event: str) -> None:
        if event == "begin journalled":
            lab.cut_at, lab.refuse = (lab.commands + 1, "for good"), True

    result = run(lab, {SACK: "0", SCALING: "0"}, hear, revert_in_s=0)
    assert result.status == "unknown"
    assert [(s.outcome, s.error) for s in result.steps] == [(None, UNHEARD)] * 2
    assert result.error is not None
    assert "the host can't be asked now (no timer runs there)" in result.error.message
    assert outcomes(history_blocks(lab.journal.changes())) == ["unknown", "unknown"]
    lab.journal.wrote(lab.journal.changes()[0].id, "host1", [StepReport(SACK, None, None)])  # as if killed
    lab.journal.ended(lab.journal.changes()[0].id, "host1", "applying")
    assert [h.status for one in settle(lab) for h in one.hosts] == ["unknown"]
    assert [s.error for s in lab.journal.changes()[0].hosts[0].steps] == [UNHEARD] * 2
    lab.refuse, lab.cut, lab.cut_at = False, False, None
    (one,) = settle(lab)
    assert [(s.from_raw, s.to_raw, s.outcome) for s in one.hosts[0].steps] == [("0", "1", "set")] * 2
    assert outcomes(history_blocks(lab.journal.changes())) == ["unknown, then taken back"] * 2


@pytest.mark.root
def test_a_host_that_lets_nobody_in_after_the_change_says_so(lab: Lab) -> None:
    def hear(event: str) -> None:
        if event == "write journalled":
            lab.refuse = True

    result = run(lab, {SACK: "0"}, hear)
    assert result.status == "reverted"
    assert result.error == Fault(
        "unreachable",
        "host1: the confirming connection failed (connection refused), so the change was taken back",
    )
    assert outcomes(change_blocks(ID, [result])) == ["set, then taken back"]


def test_where_the_values_are_kept_for_the_next_boot() -> None:
    files = [FileState("/a", b"x"), FileState("/b", None)]
    held = ended_notes(["n"], files[:1], "pending", done="applied")
    assert held == ["n", "/a is written once the change is confirmed"]
    assert ended_notes(held, files[:1], "applied", done="applied") == [
        "n",
        "/a is written",
    ]
    assert ended_notes(held, files[:1], "reverted", done="applied") == ["n"]
    assert ended_notes([], files, "reverted", done="reverted") == ["/a is put back", "/b is removed"]
    host = HostChange("h", "linux", "pending", notes=tuple(held))
    assert held[1] in texts(change_blocks(None, [host]))
    assert held[1] not in texts(change_blocks(None, [replace(host, status="reverted")]))
