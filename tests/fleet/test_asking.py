"""The question before a change, at a terminal: the plan comes first, and no is an answer."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hostcfg.changes import HostChange, StepResult
from hostcfg.cli.change_preview import Shown, backwards
from hostcfg.errors import ChangeRefused
from hostcfg.model import Facts, Plan, Step
from tests.fleet.lab import Fleet, Ran

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAN = ("--profile", "wan", "--rate", "1gbit", "--rtt", "80ms")
PROBING, RMEM = "net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_rmem"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("asking")
    folder.chmod(0o755)
    with Fleet(folder, 1) as running:
        yield running


def at_terminal(fleet: Fleet, answer: bytes, *words: str) -> Ran:
    """hostcfg with a terminal to ask at, where ``answer`` has been typed ahead; its stderr is the screen."""
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SSH_", "HOSTCFG_"))}
    state = {"HOME": str(fleet.folder), "HOSTCFG_STATE": str(fleet.folder / "state"), "TERM": "dumb"}
    done = subprocess.run(
        [*fleet.prefix, sys.executable, "-m", "hostcfg", *words, "-i", str(fleet.inventory), "-o", "json"],
        env={**kept, **state},
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=120,
    )
    os.close(theirs)
    os.close(ours)
    return Ran(done.stdout, done.stderr, done.returncode)


def meanwhile(fleet: Fleet, action: Callable[[], object], *words: str) -> Ran:
    """A yes that comes after ``action``, which comes after the question."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SSH_", "HOSTCFG_"))}
    state = {"HOME": str(fleet.folder), "HOSTCFG_STATE": str(fleet.folder / "state"), "TERM": "dumb"}
    command = [*fleet.prefix, sys.executable, "-m", "hostcfg", *words, "-i", str(fleet.inventory)]
    with subprocess.Popen(
        [*command, "-o", "json"],
        env={**kept, **state},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        said = ""
        while "[y/N]" not in said:
            more = process.stderr.read(1)
            assert more, said
            said += more
        action()
        os.write(ours, b"y\n")
        stdout, rest = process.communicate(timeout=120)
    os.close(theirs)
    os.close(ours)
    return Ran(stdout, said + rest, process.returncode)


@pytest.mark.root
def test_a_host_that_changes_between_the_question_and_the_yes_is_left_alone(fleet: Fleet) -> None:
    start = fleet.snapshots()
    host = fleet.hosts["h01"]
    before = host.get(RMEM)
    late = meanwhile(fleet, lambda: host.set(RMEM, "4096 131072 6000000"), "apply", "h01", *WAN)
    assert late.code == 2
    said = "h01: it is not as it was shown any more, so nothing is written ({}): run it again"
    assert said.format(RMEM) in late.stderr
    host.set(RMEM, before)
    assert fleet.snapshots() == start

    change_id = fleet.change("apply", "h01", *WAN).document["id"]
    wanted = host.get(PROBING)
    host.set(PROBING, "2")
    stays = at_terminal(fleet, b"n\n", "rollback", change_id)
    assert f"{PROBING}: someone changed it to '2' since, so it is left alone" in " ".join(
        stays.stderr.split()
    )
    later = meanwhile(fleet, lambda: host.set(PROBING, wanted), "rollback", change_id)
    assert (later.code, said.format(PROBING) in later.stderr) == (2, True)
    back = at_terminal(fleet, b"y\n", "rollback", change_id)
    assert back.code == 0, back.stderr
    assert fleet.snapshots() == start


@pytest.mark.root
def test_the_way_back_with_nothing_left_to_write_asks_nothing(fleet: Fleet) -> None:
    start = fleet.snapshots()
    host = fleet.hosts["h01"]
    done = fleet.change("apply", "h01", *WAN).document
    for step in done["hosts"][0]["steps"]:
        host.set(step["key"], step["from"])
    back = at_terminal(fleet, b"", "rollback", done["id"])
    assert (back.code, "[y/N]" in back.stderr, "nothing to do" in back.stderr) == (0, False, True), (
        back.stderr
    )
    assert fleet.snapshots() == start


@pytest.mark.root
def test_a_file_that_goes_back_is_shown_and_what_hangs_is_too(fleet: Fleet) -> None:
    start = fleet.snapshots()
    held = fleet.change("apply", "h01", *WAN, "--persist", "--hold", "--revert-in", "300").document["id"]
    hangs = at_terminal(fleet, b"n\n", "rollback", "--unfinished")
    text = " ".join(hangs.stderr.split())
    assert text.index(PROBING) < text.index("the host is asked first") < text.index("[y/N]")
    assert fleet.run("confirm", held, "-i", str(fleet.inventory)).code == 0
    stays = at_terminal(fleet, b"n\n", "rollback", held)
    text = " ".join(stays.stderr.split())
    assert "/etc/sysctl.d/90-hostcfg.conf would be put back once it is confirmed" in text
    back = at_terminal(fleet, b"y\n", "rollback", held)
    assert back.code == 0, back.stderr
    assert fleet.snapshots() == start


@pytest.mark.root
def test_the_plan_is_shown_before_it_is_asked_about(fleet: Fleet) -> None:
    start = fleet.snapshots()
    no = at_terminal(fleet, b"n\n", "apply", "h01", *WAN)
    assert (no.code, no.stdout) == (2, "")
    question = no.stderr.index("apply wan to h01? [y/N]")
    assert no.stderr.index("net.ipv4.tcp_mtu_probing") < question
    assert "hostcfg: not applied; nothing was changed" in no.stderr
    assert "interrupted" not in no.stderr
    end = at_terminal(fleet, b"\x04", "apply", "h01", *WAN)
    assert (end.code, "interrupted" in end.stderr) == (2, False)
    assert end.stderr.endswith("\nhostcfg: not applied; nothing was changed\n")
    assert fleet.snapshots() == start

    yes = at_terminal(fleet, b"y\n", "apply", "h01", *WAN)
    assert yes.code == 0, yes.stderr
    assert yes.document["hosts"][0]["status"] == "applied"

    again = at_terminal(fleet, b"", "apply", "h01", *WAN)
    assert (again.code, "[y/N]" in again.stderr, "nothing to do" in again.stderr) == (0, False, True)

    stays = at_terminal(fleet, b"n\n", "rollback", "--last")
    assert (stays.code, stays.stdout) == (2, "")
    assert stays.stderr.index(PROBING) < stays.stderr.index(f"take back {yes.document['id']}")
    assert "hostcfg: not taken back; nothing was changed" in stays.stderr
    back = at_terminal(fleet, b"y\n", "rollback", "--last")
    assert back.code == 0, back.stderr
    gone = at_terminal(fleet, b"", "rollback", yes.document["id"])
    assert (gone.code, "[y/N]" in gone.stderr, "was rolled back already" in gone.stderr) == (2, False, True)
    assert fleet.snapshots() == start


def test_nothing_is_written_that_was_not_shown() -> None:
    facts = Facts("h", "linux", "", (6, 1), {}, {})
    steps = [Step("a", "0", "1", "do", "undo"), Step("b", "0", "1", "do", "undo")]
    plan = Plan("h", "linux", steps)
    assert Shown([plan]).only(lambda _: plan)(facts) is plan
    assert Shown([]).only(lambda _: Plan("h", "linux", ()))(facts).steps == ()
    said = r"^h: it is not as it was shown any more, so nothing is written \(b\): run it again$"
    with pytest.raises(ChangeRefused, match=said):
        Shown([Plan("h", "linux", steps[:1])]).only(lambda _: plan)(facts)
    with pytest.raises(ChangeRefused, match=r"\(a, b\)"):
        Shown([]).only(lambda _: plan)(facts)
    others = [Step("a", "7", "1", "do", "undo"), steps[1]]  # somebody changed it: there is another way back
    with pytest.raises(ChangeRefused, match=r"\(a\)"):
        Shown([Plan("h", "linux", others)]).refuse_others(plan)


def test_the_way_back_as_the_journal_knows_it() -> None:
    steps = (
        StepResult("a", "1", "2", "do", "undo", read_back="3", outcome="clamped"),
        StepResult("same", "1", "1", outcome="unchanged"),
        StepResult("forced", None, "1", outcome="set"),
        StepResult("cut", "1", "2"),
    )
    plan = backwards(HostChange("h", "linux", "applied", steps))
    assert [(s.key, s.from_raw, s.to_raw) for s in plan.steps] == [("cut", "2", "1"), ("a", "3", "1")]
    assert (plan.steps[1].command, plan.steps[1].inverse) == ("undo", "do")


def test_many_hosts_are_asked_about_in_one_table() -> None:
    from hostcfg.outputs.blocks import Heading, Paragraph, Table
    from hostcfg.outputs.change_views import question_blocks

    step = Step("a", "0", "1", "do", "undo")
    plans = [Plan(name, "linux", [step], ("a note",)) for name in "abc"] + [Plan("d", "linux", ())]
    short = question_blocks(plans, details=False)
    assert [type(block) for block in short] == [Heading, Table]
    assert isinstance(short[0], Heading)
    assert (short[0].text, short[0].aside) == ("4 hosts", "3 would be changed, 1 need nothing")
    whole = question_blocks(plans[3:] + plans[:1])
    assert [type(block) for block in whole] == [Heading, Heading, Table, Paragraph]
    table = whole[2]
    assert isinstance(table, Table)
    assert [row.cells for row in table.rows] == [("a", "0", "1")]
