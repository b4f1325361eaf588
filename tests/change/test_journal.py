"""The journal: several users at once, every kind of bad file, and a kill in the middle of its writes."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from hostcfg.changes import FileState, change_document, history_document
from hostcfg.errors import ChangeRefused, JournalError
from hostcfg.journal import Journal
from hostcfg.journal.database import FILE_NAME, state_directory
from hostcfg.journal.store import who
from hostcfg.model import Plan, Step
from hostcfg.platforms.changer import StepReport

if TYPE_CHECKING:
    from pathlib import Path

    from hostcfg.changes import Change

PLAN = Plan(
    "web1",
    "linux",
    (
        Step(
            "net.ipv4.tcp_rmem",
            "4096\t131072\t6291456",
            "4096\t131072\t12582912",
            "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 12582912'",
            "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'",
            ("recv_buffer_max",),
            "/etc/sysctl.d/90-hostcfg.conf",
        ),
        Step("qdisc/eth0", "mq", "fq", "tc qdisc replace dev eth0 root fq", None),
    ),
    ("new connections only",),
)
BEFORE = FileState("/etc/sysctl.d/90-hostcfg.conf", None)
AFTER = FileState("/etc/sysctl.d/90-hostcfg.conf", b"\x00\xff bytes\r\n", 0o640, 3, 4)


def pending(journal: Journal, left_s: int | None) -> Change:
    """A change that waits for its confirmation on web1, with so many seconds left."""
    draft = journal.draft("apply", profile={"name": "wan"})
    journal.planned(draft, PLAN, revert_in_s=60)
    journal.begun(draft.id, "web1", identity={}, details={}, files=[], new_files=[], left_s=left_s)
    journal.ended(draft.id, "web1", "pending")
    return journal.change(draft.id)


def fill(journal: Journal) -> str:
    draft = journal.draft("apply", profile={"name": "wan", "rate_bps": 1e8, "rtt_s": 0.08})
    journal.planned(draft, PLAN, revert_in_s=60, modules=["sch_fq"])
    journal.begun(
        draft.id,
        "web1",
        identity={"machine-id": "abc"},
        details={"qdisc/eth0": "qdisc mq 0: root"},
        files=[BEFORE],
        new_files=[AFTER],
        left_s=59,
    )
    steps = [
        StepReport("net.ipv4.tcp_rmem", "set", "4096\t131072\t12582912"),
        StepReport("qdisc/eth0", "rejected", "mq", "No such file or directory"),
    ]
    journal.wrote(draft.id, "web1", steps, modules=["sch_fq"])
    return draft.id


def test_what_goes_in_comes_out(journal: Journal) -> None:
    change_id = fill(journal)
    change = journal.change(change_id)
    (host,) = change.hosts
    assert (change.kind, change.of, change.ended, host.status) == ("apply", None, None, "applying")
    assert change.profile == {"name": "wan", "rate_bps": 1e8, "rtt_s": 0.08}
    assert host.files[0].before == BEFORE
    assert host.files[0].after == AFTER
    assert host.identity == {"machine-id": "abc"}
    assert host.modules == ("sch_fq",)
    assert [(s.outcome, s.read_back, s.error, s.detail) for s in host.steps] == [
        ("set", "4096\t131072\t12582912", "", None),
        ("rejected", "mq", "No such file or directory", "qdisc mq 0: root"),
    ]
    assert host.steps[0].settings == ("recv_buffer_max",)
    journal.ended(change_id, "web1", "pending")
    left = journal.host(change_id, "web1").left_s
    assert left is not None
    assert 50 <= left <= 59
    journal.event(change_id, None, "a word")
    journal.ended(change_id, "web1", "applied", notes=["later"])
    done = journal.change(change_id)
    assert done.ended is not None
    assert done.hosts[0].notes == ("later",)
    assert [what for _, _, what in journal.events(change_id)] == [
        "planned",
        "begun",
        "wrote",
        "pending",
        "a word",
        "applied",
    ]


def test_ids_sort_by_time_and_are_short(journal: Journal) -> None:
    first, second = journal.draft("apply").id, journal.draft("apply").id
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}", first)
    assert first[:15] <= second[:15]


def test_documents_have_the_contracts_fields(journal: Journal) -> None:
    change_id = fill(journal)
    journal.ended(change_id, "web1", "applied")
    document = json.loads(json.dumps(history_document(journal.changes())))
    assert document["schema"] == "hostcfg.history/1"
    (change,) = document["changes"]
    assert set(change) >= {"id", "started", "ended", "by", "from_host", "profile", "kind", "of", "hosts"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", change["started"])
    (host,) = change["hosts"]
    assert set(host) >= {"host", "status", "steps", "error"}
    assert set(host["steps"][0]) >= {"key", "from", "to", "read_back", "outcome"}
    again = change_document(change_id, journal.change(change_id).hosts)
    assert (again["schema"], again["id"]) == ("hostcfg.change/1", change_id)


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    os.umask(0o022)
    journal = Journal.open(tmp_path / "a" / "b")
    fill(journal)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b" / FILE_NAME).stat().st_mode) == 0o600
    journal.close()


@pytest.mark.root
def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME", "HOSTCFG_STATE"):
        monkeypatch.delenv(name, raising=False)
    os.setresuid(54321, 0, 0)  # nobody has this number, and the way back stays open
    try:
        with pytest.raises(JournalError, match="no home directory is known: set HOME, or HOSTCFG_STATE to a"):
            state_directory()
    finally:
        os.setresuid(0, 0, 0)


def test_the_state_directory_is_the_users_or_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOSTCFG_STATE", str(tmp_path / "here"))
    assert state_directory() == tmp_path / "here"
    journal = Journal.open()
    journal.close()
    assert (tmp_path / "here" / FILE_NAME).exists()
    monkeypatch.delenv("HOSTCFG_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert state_directory() == tmp_path / "xdg" / "hostcfg"


def test_who_names_the_user_behind_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "root")
    monkeypatch.setenv("SUDO_USER", "alice")
    assert who() == "alice as root"
    monkeypatch.delenv("SUDO_USER")
    monkeypatch.delenv("DOAS_USER", raising=False)
    assert who() == "root"


def test_who_of_a_user_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.delenv("SUDO_USER", raising=False)
    monkeypatch.delenv("DOAS_USER", raising=False)
    assert who(unknown) == str(os.getuid())

    def no_pwd() -> str:
        raise ImportError("No module named 'pwd'")  # Windows, where no variable names the user

    assert who(no_pwd) == str(os.getuid())


def test_who_of_a_uid_without_a_name() -> None:
    program = "import os; from hostcfg.journal.store import who; os.setuid(54321); print(who())"
    env = {
        k: v for k, v in os.environ.items() if k not in ("LOGNAME", "USER", "LNAME", "USERNAME", "SUDO_USER")
    }
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    if os.getuid() == 0:
        assert done.stdout == "54321\n"


def test_unknown_things_are_refused(journal: Journal) -> None:
    change_id = fill(journal)
    with pytest.raises(ChangeRefused, match="no change 'x'"):
        journal.change("x")
    with pytest.raises(ChangeRefused, match=r"web2: change .* has no such host"):
        journal.host(change_id, "web2")


def damaged(tmp_path: Path, make: object) -> str:
    directory = tmp_path / "state"
    directory.mkdir(mode=0o700)
    make(directory / FILE_NAME)  # type: ignore[operator]
    with pytest.raises(JournalError) as raised:
        Journal.open(directory)
    text = str(raised.value)
    assert "\n" not in text
    assert str(directory) in text
    return text


def test_a_journal_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    def newer(path: Path) -> None:
        Journal.open(path.parent).close()
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()

    text = damaged(tmp_path, newer)
    assert "was written by a newer hostcfg (version 99" in text


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    def other(path: Path) -> None:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE cookies (a)")
            db.execute("PRAGMA user_version = 1")
        db.close()

    assert "database of another program" in damaged(tmp_path, other)


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    assert "is not a database" in damaged(tmp_path, lambda path: path.write_bytes(b"hello, world\n" * 100))


def test_a_damaged_database_says_so(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    for _ in range(20):
        fill(journal)
    journal.close()
    path = tmp_path / FILE_NAME
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 4096] = os.urandom(4096)
    path.write_bytes(data)
    with pytest.raises(JournalError, match="damaged"):
        Journal.open(tmp_path).changes()


@pytest.mark.root
def test_a_directory_that_is_not_writable(tmp_path: Path) -> None:
    """In a read-only mount, since root may write anywhere else."""
    text = in_a_mount(tmp_path, "ro,size=1m", "Journal.open(Path(sys.argv[1]) / 'state')")
    assert "Read-only file system" in text
    assert "HOSTCFG_STATE" in text


@pytest.mark.root
def test_a_journal_that_can_only_be_read_is_read(tmp_path: Path) -> None:
    fill(Journal.open(tmp_path / "state"))
    program = (
        "j = Journal.open(Path(sys.argv[1]) / 'state'); print(len(j.changes()));"
        "j.event(j.changes()[0].id, None, 'x')"
    )
    text = in_a_mount(tmp_path, None, program)
    assert text.startswith("1\n")
    assert "the journal can't be written" in text


@pytest.mark.root
def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    program = (
        "j = Journal.open(Path(sys.argv[1]))\n"
        "d = Path(sys.argv[1]) / 'fill'\n"
        "try: d.write_bytes(bytes(400000))\n"
        "except OSError: pass\n"
        "from tests.change.test_journal import fill\n"
        "try:\n"
        "  for n in range(400): fill(j)\n"
        "except Exception as e: print(type(e).__name__, e)\n"
        "d.unlink()\n"
        "check = j._database._connection.execute('PRAGMA integrity_check').fetchone()[0]\n"
        "print(len(j.changes()) == n, check)\n"
    )
    text = in_a_mount(tmp_path, "size=300k", program)
    assert text.startswith("JournalError no room for the journal on this disk")
    assert text.endswith("True ok\n")


def in_a_mount(where: Path, options: str | None, program: str) -> str:
    """What ``program`` prints where ``where`` is a mount with ``options`` (None: itself, read-only)."""
    source = (
        "import sys; from pathlib import Path\nfrom hostcfg.journal import Journal\n"
        "from hostcfg.errors import JournalError\n"
        f"try:\n{''.join('  ' + line + chr(10) for line in program.splitlines())}"
        "except JournalError as e: print(e)\n"
    )
    if options is None:
        mount = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
    else:
        mount = f'mount -t tmpfs -o {options} tmpfs "$1"'
    script = f'{mount} && exec "$2" -c "$3" "$1"'
    argv = ["unshare", "-m", "sh", "-c", script, "sh", str(where), sys.executable, source]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


def test_text_that_is_no_text_is_refused_in_one_line(journal: Journal) -> None:
    draft = journal.draft("apply")
    with pytest.raises(JournalError, match="is no text"):
        journal.planned(draft, Plan("caf\udce9", "linux", ()), revert_in_s=0)
    assert journal.changes() == []


def test_a_lock_that_is_held_for_too_long_is_named(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    journal._database._connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(JournalError, match="another hostcfg holds the journal"):
        fill(journal)
    other.execute("ROLLBACK")
    other.close()
    fill(journal)
    journal.close()


def test_threads_and_processes_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from hostcfg.journal import Journal\n"
        "from tests.change.test_journal import fill\n"
        "j = Journal.open(Path(sys.argv[1])); [fill(j) for _ in range(10)]\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(3)]
    journal = Journal.open(tmp_path)
    threads = [threading.Thread(target=fill, args=(journal,)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [p.wait(60) for p in processes] == [0, 0, 0]
    assert len(journal.changes()) == 40
    journal.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_kill_in_the_middle_of_its_writes_leaves_a_whole_journal(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """SIGKILL at a random moment, many times over; what was reported as stored is stored."""
    program = (
        "import sys; from pathlib import Path; from hostcfg.journal import Journal\n"
        "from tests.change.test_journal import fill\n"
        "j = Journal.open(Path(sys.argv[1]))\n"
        "while True: sys.stdout.write(fill(j) + '\\n'); sys.stdout.flush()\n"
    )
    chance = random.Random(20261130)
    told: list[str] = []
    rounds = 300 if pytestconfig.getoption("--long") else 30
    for _ in range(rounds):
        with subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            told.append(process.stdout.readline().strip())
            subprocess.run(["sleep", f"{chance.uniform(0, 0.1):.4f}"])
            process.send_signal(signal.SIGKILL)
            told += [line.strip() for line in process.stdout if line.endswith("\n")]
        journal = Journal.open(tmp_path)
        with journal._database.reading() as db:
            assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        stored = {change.id: change for change in journal.changes()}
        assert set(told) <= set(stored)
        assert all(len(change.hosts) == 1 and len(change.hosts[0].steps) == 2 for change in stored.values())
        journal.close()
    print(f"kills during the journal's writes: {rounds}, changes told as stored: {len(told)}")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE changes SET profile = '{bad'",
        "UPDATE changes SET profile = '5'",
        "UPDATE changes SET kind = 'zzz'",
        "UPDATE changes SET run = '{}', run_state = 'running'",
        "UPDATE hosts SET status = 'zzz'",
        "UPDATE hosts SET notes = '7'",
        "UPDATE steps SET outcome = 'zzz'",
    ],
)
def test_a_damaged_row_says_which_journal_it_is(tmp_path: Path, statement: str) -> None:
    journal = Journal.open(tmp_path)
    fill(journal)
    journal.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        db.execute(statement)
    db.close()
    again = Journal.open(tmp_path)
    with pytest.raises(JournalError, match="the journal is damaged: move it away") as raised:
        again.changes()
    again.close()
    assert str(tmp_path / FILE_NAME) in str(raised.value)
    assert "\n" not in str(raised.value)
