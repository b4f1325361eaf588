"""Trouble on top of trouble: the journal fails in the middle, a restore fails, root is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions, apply_host
from hostcfg.asking import run_whole
from hostcfg.errors import ChangeRefused, HostError, JournalError
from hostcfg.hostrun import HostRun
from hostcfg.model import Section
from hostcfg.plan import Wanted, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.platforms.changer import Job, JobStep, StatusReport
from hostcfg.platforms.framing import split_frames
from hostcfg.platforms.linux.change import CHANGER, LinuxChanger
from hostcfg.platforms.posix import reports
from hostcfg.rollback import rollback_unfinished
from hostcfg.transports.base import Command, CommandResult, Transport
from tests.change.conftest import Lab, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hostcfg.changes import HostChange
    from hostcfg.model import Facts, Plan

SACK = "net.ipv4.tcp_sack"
HIGH, LOW = "net.ipv4.ipfrag_high_thresh", "net.ipv4.ipfrag_low_thresh"


def run(
    lab: Lab,
    wanted: dict[str, str],
    hear: Callable[[str], None],
    *,
    revert_in_s: int = 20,
    persist: bool = False,
    force: bool = False,
) -> HostChange:
    def plan(facts: Facts) -> Plan:
        rows = [Wanted(key, raw) for key, raw in wanted.items()]
        return plan_writes(facts, get_platform("linux"), rows, persist=persist, force=force, ordered=True)

    return apply_host(
        "host1",
        draft=lab.journal.draft("apply"),
        journal=lab.journal,
        connect=lab.connect,
        read=lab.read,
        planner=plan,
        options=ChangeOptions(revert_in_s=revert_in_s, force=force),
        on_event=hear,
    )


@pytest.mark.root
@pytest.mark.parametrize("moment", ["journalled", "begun", "written"])
def test_what_can_not_be_recorded_does_not_stay(lab: Lab, moment: str) -> None:
    start = lab.host.snapshot()

    def hear(event: str) -> None:
        if event == moment:
            lab.journal.close()

    with pytest.raises(JournalError):
        run(lab, {SACK: "0"}, hear)
    assert lab.host.snapshot() == start


@pytest.mark.root
def test_a_journal_that_fails_while_nobody_is_let_in_leaves_it_to_the_timer(lab: Lab) -> None:
    def hear(event: str) -> None:
        if event == "written":
            lab.journal.close()
            lab.cut = True

    with pytest.raises(JournalError):
        run(lab, {SACK: "0"}, hear)
    assert lab.host.get(SACK) == "0"


@pytest.mark.root
def test_without_a_timer_a_host_that_is_gone_is_unknown_at_once(lab: Lab) -> None:
    def hear(event: str) -> None:
        if event == "write journalled":
            lab.refuse = lab.cut = True

    result = run(lab, {SACK: "0"}, hear, revert_in_s=0)
    assert result.status == "unknown"
    assert result.error is not None
    assert "no timer runs there" in result.error.message
    lab.refuse = lab.cut = False
    rollback_unfinished(journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
    assert lab.host.get(SACK) == "1"


@pytest.mark.root
def test_a_host_that_is_gone_while_it_is_backed_up_has_nothing_to_restore(lab: Lab) -> None:
    """Whether it has heard the command nobody knows; its timer, if there is one, finds nothing to do."""
    start = lab.host.snapshot()

    def hear(event: str) -> None:
        if event == "journalled":
            lab.cut = lab.refuse = True

    result = run(lab, {SACK: "0"}, hear)
    assert result.status == "unknown"
    assert result.error is not None
    assert "can't be asked now (nothing was written there yet)" in result.error.message
    lab.cut = lab.refuse = False
    rollback_unfinished(journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
    assert lab.journal.changes()[0].hosts[0].status == "reverted"
    assert lab.host.snapshot() == start


@pytest.mark.root
@pytest.mark.parametrize("moment", ["begin journalled", "write journalled"])
def test_root_that_is_lost_on_the_way_is_said(lab: Lab, moment: str) -> None:
    def hear(event: str) -> None:
        if event == moment:
            lab.user = "nobody"

    result = run(lab, {SACK: "0"}, hear)
    assert result.status == "unknown"
    assert result.error is not None
    assert "root is needed to put it back" in result.error.message


@pytest.mark.root
def test_a_restore_that_fails_after_a_lost_confirmation_is_named(lab: Lab) -> None:
    """ipfrag_high_thresh may not go below ipfrag_low_thresh, which somebody raises meanwhile."""
    lab.host.set(LOW, "1000")
    lab.host.set(HIGH, "5000")
    lab.native = [HIGH]

    def hear(event: str) -> None:
        if event == "reconnected":
            lab.host.set(LOW, "8000000")
            lab.host.set(SACK, "7")

    result = run(lab, {HIGH: "9000000", SACK: "0"}, hear)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.message.endswith(f"not put back: {HIGH}")
    assert lab.host.get(SACK) == "1"


@pytest.mark.root
def test_a_restore_that_fails_after_a_lost_connection_is_named(lab: Lab) -> None:
    lab.host.set(LOW, "1000")
    lab.host.set(HIGH, "5000")
    lab.native = [HIGH]

    def hear(event: str) -> None:
        if event == "write journalled":
            lab.host.set(LOW, "8000000")
            lab.refuse = True

    result = run(lab, {HIGH: "9000000", SACK: "0"}, hear)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.message.endswith(f"failed (connection refused); not put back: {HIGH}")
    assert lab.host.get(SACK) == "1"


class LosesFiles(LinuxChanger):
    """A host that says that it could not put back the first step nor the first file."""

    def read_status(self, nonce: str, result: CommandResult) -> StatusReport:
        return replace(super().read_status(nonce, result), state="failed", unrestored=("1", "f.1"))


@pytest.mark.root
def test_a_file_that_is_not_back_is_named_by_its_path(lab: Lab) -> None:
    with lab.connect("host1") as first:
        rows = [Wanted(SACK, "0")]
        plan = plan_writes(read(first, "host1"), get_platform("linux"), rows, persist=True)
        lab.refuse = True
        result = HostRun(
            host="host1",
            plan=plan,
            draft=lab.journal.draft("apply"),
            journal=lab.journal,
            connect=lab.connect,
            changer=LosesFiles(),
            options=ChangeOptions(20),
            on_event=lambda _: None,
            paths=["/etc/sysctl.d/90-hostcfg.conf"],
        ).over(first)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.message.endswith(f"not put back: {SACK}, /etc/sysctl.d/90-hostcfg.conf")


@pytest.mark.root
def test_a_restore_that_fails_after_a_stop_is_named(lab: Lab) -> None:
    """A forced step without a way back keeps another value from coming back."""
    lab.host.set(LOW, "1000")
    lab.host.set(HIGH, "5000")
    lab.native = [HIGH]
    wanted = {HIGH: "9000000", LOW: "8000000", "net.ipv4.tcp_window_scaling": "1 2"}
    result = run(lab, wanted, lambda _: None, force=True)
    assert [s.outcome for s in result.steps] == ["set", "set", "rejected"]
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.message.endswith(f"not put back: {HIGH}")


@pytest.mark.root
def test_a_file_that_can_not_be_written_is_refused_after_the_begin(lab: Lab) -> None:
    """A block that somebody has edited so that it can't be kept: the host is put back."""
    start = lab.host.snapshot()

    def hear(event: str) -> None:
        if event == "write journalled":
            lab.host.sh("mkdir /etc/sysctl.d/90-hostcfg.conf")

    result = run(lab, {SACK: "0"}, hear, persist=True)
    assert result.status == "reverted"
    lab.host.sh("rmdir /etc/sysctl.d/90-hostcfg.conf")
    assert lab.host.snapshot() == start


class Cut(Transport):
    def open(self) -> None:
        raise AssertionError

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        assert (command.line, timeout_s) == ("/bin/sh -s", None)
        return CommandResult(b"half", b"", None)

    def close(self) -> None:
        raise AssertionError


def test_a_command_that_does_not_end_is_an_error() -> None:
    with pytest.raises(HostError, match="web1: the connection ended before the command did"):
        run_whole(Cut("web1"), Command.sh("true"))


JOB = Job("ID", "me", "here", "now", 60, (JobStep(1, SACK, "1", "0"),), paths=("/etc/x",))


def sections(*pairs: tuple[str, str] | tuple[str, str, int]) -> dict[str, Section]:
    return {kind: Section(kind, text, status=rest[0] if rest else 0) for kind, text, *rest in pairs}


def test_cut_and_odd_reports_of_a_host_are_errors() -> None:
    with pytest.raises(HostError, match="has no 'state'"):
        reports.begin_report(JOB, sections(("file.1", "absent")))
    with pytest.raises(HostError, match="can't read the owner and mode of /etc/x"):
        reports.begin_report(JOB, sections(("state", "pending"), ("file.1", "what?")))
    listing = "-rwsr-Sr-t. 1 3 4 2 Nov 30 16:27 /etc/x"
    for data in ("zz", "61"):
        with pytest.raises(HostError, match="neither od"):
            reports.begin_report(JOB, sections(("state", "pending"), ("file.1", listing), ("bytes.1", data)))
    report = reports.begin_report(
        JOB,
        sections(
            ("state", "pending"),
            ("file.1", listing),
            ("bytes.1", "61 0a"),
            ("timer", "setsid"),
            ("listeners", "0016 :5201 what"),
            ("identity", "machine-id abc\nodd"),
        ),
    )
    (file,) = report.files
    assert (file.contents, file.mode, file.uid, file.gid) == (b"a\n", 0o7745, 3, 4)
    assert (report.timer, report.left_s, report.listening_ports) == ("setsid", None, (22, 5201))
    assert report.identity == {"machine-id": "abc"}
    with pytest.raises(HostError):
        reports.sections("00", CommandResult(b"nothing", b"", 0))


@pytest.mark.parametrize(
    ("code", "text", "said"),
    [
        ("lock", "", r"another change \(unknown\) has taken the host"),
        ("exists", "it is there", "it is there"),
        ("late", "3", "only 3 s are left of 60 s"),
        ("odd", "", "odd"),
        ("odd", "words", "words"),
        ("changed", "1 9", f"no longer fits: {SACK}, 9"),
    ],
)
def test_refusals_in_words(code: str, text: str, said: str) -> None:
    found = sections(("refused", f"{code}\n{text}"))
    refusal = reports.begin_report(JOB, found).refusal
    assert refusal is not None
    with pytest.raises(ChangeRefused, match=said):
        raise ChangeRefused(refusal.message)


def test_a_holder_without_a_timer_and_one_that_nothing_is_known_of() -> None:
    found = sections(
        ("refused", "locked\nX"),
        ("holder", "X\nby=a\nfrom=b\nstarted=c\nstate=pending"),
        ("holder-timer", "none "),
    )
    refusal = reports.begin_report(JOB, found).refusal
    assert refusal is not None
    assert refusal.message == (
        "change X by a from b is pending there since c; "
        "it has no timer and waits for hostcfg confirm or rollback"
    )
    young = sections(("refused", "locked\nX"), ("holder", "X\nstate=preparing"), ("holder-timer", "dead "))
    refusal = reports.begin_report(JOB, young).refusal
    assert refusal is not None
    assert refusal.message.endswith("; it has just begun and not written anything yet")
    running = sections(("refused", "locked\nX"), ("holder", "X\nstate=pending"), ("holder-timer", "alive 7"))
    refusal = reports.begin_report(JOB, running).refusal
    assert refusal is not None
    assert refusal.message.endswith("; it reverts in 7 s unless it is confirmed")
    refusal = reports.begin_report(JOB, sections(("refused", "locked\n"))).refusal
    assert refusal is not None
    assert refusal.message.startswith("change unknown by ? from ?")


@pytest.mark.parametrize(
    ("before", "after", "status", "error", "mode", "outcome"),
    [
        ("1", "0", 0, "", "", "set"),
        ("0", "0", 0, "", "", "unchanged"),
        ("1", "0", 0, "sysctl: whatever", "", "set"),
        ("1", "", 1, "", "", "absent"),
        ("1", "1", 0, "unknown oid 'x'", "", "absent"),
        ("1", "1", 0, "Operation not permitted", "", "denied"),
        ("1", "1", 0, "oid 'x' is a read only tunable", "", "read_only"),
        ("1", "1", 0, "Permission denied", "-rw-r--r-- 1 root", "denied"),
        ("1", "1", 0, "Permission denied", "-r--r--r-- 1 root", "read_only"),
        ("1", "", 2, "", "", "rejected"),
        ("1", "1", 0, "", "", "rejected"),
        ("1", "7", 0, "", "", "clamped"),
    ],
)
def test_outcomes(before: str, after: str, status: int, error: str, mode: str, outcome: str) -> None:
    found = sections(
        ("state", "pending"),
        ("before.1", before),
        ("after.1", after, status),
        ("error.1", error),
        ("mode.1", mode),
    )
    (step,) = reports.write_report(JOB, found, CHANGER.same).steps
    assert step.outcome == outcome


def test_a_step_that_was_changed_again_before_the_end() -> None:
    base = [("state", "pending"), ("before.1", "1"), ("after.1", "0")]
    gone = reports.write_report(JOB, sections(*base, ("final.1", "", 1)), CHANGER.same)
    assert (gone.steps[0].outcome, gone.steps[0].read_back) == ("overridden", None)
    other = reports.write_report(JOB, sections(*base, ("final.1", "1")), CHANGER.same)
    assert (other.steps[0].outcome, other.steps[0].read_back) == ("overridden", "1")
    untried = reports.write_report(JOB, sections(("state", "pending")), CHANGER.same)
    assert untried.steps[0].outcome is None
    confirm = reports.confirm_report(JOB, sections(("state", "restored"), ("final.1", "", 1)), CHANGER.same)
    assert confirm.overridden == {SACK: None}


def test_a_forced_step_without_a_before_value_is_told_apart() -> None:
    job = replace(JOB, steps=(JobStep(1, SACK, None, "0"),))
    found = sections(("state", "pending"), ("before.1", "", 2), ("after.1", "7"))
    assert reports.write_report(job, found, CHANGER.same).steps[0].outcome == "clamped"


def test_many_ports_are_cut_short() -> None:
    (note,) = CHANGER.listeners("buffer", range(1, 21))
    assert note.endswith("TCP ports 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 8 more")
    assert CHANGER.listeners("buffer", ()) == ()
    assert CHANGER.listeners("buffer", None) == (
        "servers that listen already keep their first buffer until they restart",
    )


def test_frames_hold_against_noise() -> None:
    text = "motd\n@@hostcfg 11 begin state\npending\n@@hostcfg 11 end state 0\n@@hostcfg 11 done\n"
    assert [s.text for s in split_frames("11", text, "")] == ["pending"]


def test_a_journal_file_that_is_a_dead_link(tmp_path: Path) -> None:
    from hostcfg.journal import Journal

    (tmp_path / "journal.sqlite3").symlink_to(tmp_path / "no" / "where")
    with pytest.raises(JournalError, match="can't use the journal"):
        Journal.open(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "journal.sqlite3").mkdir()
    with pytest.raises(JournalError, match="can't be opened"):
        Journal.open(tmp_path / "sub")
