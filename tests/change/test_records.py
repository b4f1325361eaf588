"""Corners of the journal's tables, and of runs that several processes may see."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from hostcfg.apply import ChangeOptions, confirm_change, new_files
from hostcfg.changes import FileState, Run
from hostcfg.errors import ChangeRefused, JournalError
from hostcfg.hostrun import HostRun
from hostcfg.journal import Journal, rows
from hostcfg.journal.database import Database
from hostcfg.journal.process import _since_epoch, _started, lives_elsewhere, this_process
from hostcfg.model import Facts, Step
from hostcfg.platforms.linux.change import CHANGER, LinuxChanger
from hostcfg.rollback import rollback_change, rollback_unfinished
from tests.change.conftest import Lab, read
from tests.change.test_journal import BEFORE, PLAN, fill

if TYPE_CHECKING:
    from hostcfg.platforms.changer import Job, WriteReport
    from hostcfg.transports.base import CommandResult

SACK = "net.ipv4.tcp_sack"


def test_an_id_that_another_change_has_is_an_error(journal: Journal) -> None:
    draft = journal.draft("apply")
    journal.planned(draft, PLAN, revert_in_s=60)
    other = replace(draft, started="2020-01-01T00:00:00.000Z")
    with pytest.raises(JournalError, match="is taken by another change"):
        journal.planned(other, replace(PLAN, host="web2"), revert_in_s=60)
    journal.planned(draft, replace(PLAN, host="web2"), revert_in_s=60)
    assert [h.host for h in journal.change(draft.id).hosts] == ["web1", "web2"]


@pytest.mark.root
def test_a_second_attempt_at_a_host_has_a_backup_of_its_own(lab: Lab) -> None:
    """A run that is resumed comes back to a host that was put back, and to no other."""
    draft = lab.journal.draft("apply")
    lab.drafts = [draft, draft]
    _, first = lab.apply({SACK: "0", "net.ipv4.tcp_rmem": "1 1 2147483648"})
    assert (first.status, first.attempt) == ("reverted", 1)
    _, second = lab.apply({SACK: "0"})
    assert (second.status, second.attempt) == ("applied", 2)
    stored = lab.journal.host(draft.id, "host1")
    assert ([s.key for s in stored.steps], stored.attempt) == ([SACK], 2)
    assert lab.host.sh("ls -d /var/lib/hostcfg/2*").split() == [
        f"/var/lib/hostcfg/{draft.id}",
        f"/var/lib/hostcfg/{draft.id}.2",
    ]
    lab.drafts = [draft]
    with pytest.raises(JournalError, match="has the host host1 already"):
        lab.apply({"net.ipv4.tcp_ecn": "1"})
    assert lab.host.get("net.ipv4.tcp_ecn") == "2"


def test_a_column_that_is_none_is_refused(journal: Journal) -> None:
    with pytest.raises(ValueError, match="no such columns"), journal._database.transaction() as db:
        rows.update_host(db, "x", "y", nonsense="z")


def test_a_change_that_takes_back_one_that_is_not_there(journal: Journal) -> None:
    with journal._database.transaction() as db:
        rows.set_undone(db, "gone", "web1", "me")
    assert journal.changes() == []


def test_a_transaction_that_is_over_before_it_fails(journal: Journal) -> None:
    def fails() -> None:
        with journal._database.transaction() as db:
            db.execute("ROLLBACK")
            raise KeyError("x")

    with pytest.raises(KeyError):
        fails()
    fill(journal)


def test_a_file_that_the_change_did_not_come_to_write(journal: Journal) -> None:
    draft = journal.draft("apply")
    journal.planned(draft, PLAN, revert_in_s=0)
    journal.begun(draft.id, "web1", identity={}, details={}, files=[BEFORE], new_files=[], left_s=None)
    (host,) = journal.change(draft.id).hosts
    assert (host.files[0].before, host.files[0].after) == (BEFORE, None)
    journal.ended(draft.id, "web1", "pending")
    assert journal.host(draft.id, "web1").left_s is None


def test_a_journal_of_a_version_that_never_was(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    journal._database._connection.execute("PRAGMA user_version = -3")
    journal.close()
    with pytest.raises(JournalError, match="newer hostcfg"):
        Journal.open(tmp_path)


def test_two_that_make_the_journal_at_once(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    fill(journal)
    journal._database._connection.execute("PRAGMA user_version = 0")
    again = Journal.open(tmp_path)
    assert len(again.changes()) == 1
    again.close()
    journal.close()


@pytest.mark.parametrize("name", [socket.gethostname(), "as-it-was-called-before"])
def test_a_change_that_another_process_works_on_is_left_to_it(journal: Journal, name: str) -> None:
    with subprocess.Popen(["sleep", "100"]) as other:
        draft = replace(journal.draft("apply"), process=f"{other.pid}@{_started(other.pid)}", from_host=name)
        journal.planned(draft, PLAN, revert_in_s=60)
        with pytest.raises(ChangeRefused, match=f"process {other.pid} is working on change"):
            rollback_change(
                draft.id,
                journal=journal,
                connect=lambda _: pytest.fail("no host is asked"),
                read=lambda *_: pytest.fail("no host is read"),
                options=ChangeOptions(),
            )
        other.kill()


def test_which_process_is_which() -> None:
    here = socket.gethostname()
    with subprocess.Popen(["sleep", "100"]) as other:
        mark = f"{other.pid}@{_started(other.pid)}"
        boot, _, ticks = mark.partition("@")[2].partition("/")
        assert boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        assert lives_elsewhere(mark, here) == other.pid
        assert lives_elsewhere(f"{other.pid}@{boot}/{int(ticks) + 1}", here) is None  # the pid was used again
        assert lives_elsewhere(f"{other.pid}@another-boot/{ticks}", here) is None
        # what systems other than Linux keep: seconds, which say nothing of the machine
        assert _since_epoch(other.pid) == f"{psutil.Process(other.pid).create_time():.2f}"
        other.kill()
        while psutil.Process(other.pid).status() != psutil.STATUS_ZOMBIE:
            pass
        assert lives_elsewhere(mark, here) is None  # nobody has fetched its end yet
    assert _started(other.pid) == ""
    assert lives_elsewhere(f"{other.pid}@", here) is None
    assert lives_elsewhere(this_process(), here) is None
    assert lives_elsewhere("no process", here) is None


@pytest.mark.root
def test_a_run_that_was_cut_is_over_once_its_hosts_are_settled(lab: Lab) -> None:
    run = Run(batches=[["host1"], ["host2"]], reach={"host2": {"address": "x"}}, options={"hold": True})
    draft = lab.journal.draft("apply", run=run)
    lab.drafts = [draft]
    change_id, held = lab.apply({SACK: "0"}, hold=True)
    assert held.status == "pending"
    lab.journal.run_is(change_id, replace(run, unchanged=["host2"]))
    stored = lab.journal.change(change_id)
    assert stored.run is not None
    assert (stored.run.state, stored.run.names) == ("running", ["host1", "host2"])
    assert [(h.host, h.status) for h in stored.everyone] == [("host1", "pending"), ("host2", "applied")]
    (settled,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    assert [h.status for h in settled.hosts] == ["reverted"]
    after = lab.journal.change(change_id)
    assert after.run is not None
    assert after.run.state == "stopped"
    assert lab.journal.unfinished() == []


def test_a_file_that_is_right_already_is_not_written() -> None:
    path = "/etc/sysctl.d/90-hostcfg.conf"
    step = Step(SACK, "1", "0", "do", "back", persist=path)
    facts = Facts("web1", "linux", "Debian 12", (6, 1), {}, {})
    (written,) = new_files(CHANGER, facts, [step], [FileState(path, None)])
    assert new_files(CHANGER, facts, [step], [written]) == []


class TakenOver(LinuxChanger):
    """A host whose timer has begun to restore when the write ends."""

    def read_write(self, job: Job, nonce: str, result: CommandResult) -> WriteReport:
        report = super().read_write(job, nonce, result)
        return replace(report, stopped=self.stopped, state="restoring")

    stopped = "taken"


@pytest.mark.root
@pytest.mark.parametrize(
    ("stopped", "said"),
    [
        ("taken", "the time ran out before everything was written"),
        ("space", "no room for its own notes on the host"),
        ("odd", "it stopped (odd)"),
    ],
)
def test_a_host_that_is_at_it_still_is_asked_until_it_is_done(lab: Lab, stopped: str, said: str) -> None:
    from hostcfg.plan import Wanted, plan_writes
    from hostcfg.platforms import get_platform

    start = lab.host.snapshot()
    changer = TakenOver()
    changer.stopped = stopped
    with lab.connect("host1") as first:
        plan = plan_writes(read(first, "host1"), get_platform("linux"), [Wanted(SACK, "0")])
        run = HostRun(
            host="host1",
            plan=plan,
            draft=lab.journal.draft("apply"),
            journal=lab.journal,
            connect=lab.connect,
            changer=changer,
            options=ChangeOptions(20),
            on_event=lambda _: None,
        )
        result = run.over(first)
    assert result.status == "reverted"
    assert result.error is not None
    assert said in result.error.message
    assert lab.host.snapshot() == start


@pytest.mark.root
def test_a_rollback_that_can_not_be_recorded_is_not_begun(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0"})

    def hear(event: str) -> None:
        if event == "planned":
            lab.journal.close()

    with pytest.raises(JournalError):
        rollback_change(
            change_id,
            journal=lab.journal,
            connect=lab.connect,
            read=read,
            options=ChangeOptions(20),
            on_event=hear,
        )
    assert lab.host.get(SACK) == "0"


@pytest.mark.root
def test_what_can_not_be_recorded_is_neither_confirmed_nor_settled(lab: Lab) -> None:
    """The message says that nothing may be changed without the journal, and nothing is."""
    change_id, _ = lab.apply({SACK: "0"}, hold=True, revert_in_s=300)
    lab.journal.close()
    with sqlite3.connect(f"file:{lab.state}/journal.sqlite3?mode=ro", uri=True) as connection:
        journal = Journal(Database(lab.state / "journal.sqlite3", connection))
        connection.row_factory = sqlite3.Row
        connection.isolation_level = None
        options = ChangeOptions(20)
        with pytest.raises(JournalError, match="read-only"):
            confirm_change(change_id, journal=journal, connect=lab.connect)
        with pytest.raises(JournalError, match="read-only"):
            rollback_change(change_id, journal=journal, connect=lab.connect, read=read, options=options)
        with pytest.raises(JournalError, match="read-only"):
            rollback_unfinished(journal=journal, connect=lab.connect, read=read, options=options)
    connection.close()
    assert lab.host.get(SACK) == "0"
    assert "state.pending" in lab.host.sh(f"ls /var/lib/hostcfg/{change_id}")


@pytest.mark.root
def test_a_confirmation_that_finds_nobody_waits_for_the_timer(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0"}, hold=True, revert_in_s=5)
    lab.refuse = True
    lab.let_in_after(1.0)
    (late,) = confirm_change(change_id, journal=lab.journal, connect=lab.connect)
    assert late.status == "reverted"
    assert lab.host.get(SACK) == "1"
