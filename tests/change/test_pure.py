"""What needs no host: FreeBSD's changer, what a rollback would do, how a report ends a change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hostcfg.changes import Change, FileChange, FileState, HostChange, StepResult
from hostcfg.errors import ChangeRefused
from hostcfg.model import BootValue, Facts, Native, State
from hostcfg.plan import Wanted, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.platforms.changer import BeginReport, Changer, StatusReport
from hostcfg.platforms.freebsd.change import CHANGER as FREEBSD
from hostcfg.platforms.linux.change import CHANGER as LINUX
from hostcfg.rollback import RollbackPlan, plan_rollback
from hostcfg.rollback_one import _settled
from hostcfg.rollback_plan import RollbackFiles

MAXSOCKBUF, RECVSPACE = "kern.ipc.maxsockbuf", "net.inet.tcp.recvspace"
NATIVE = {
    MAXSOCKBUF: "2097152",
    RECVSPACE: "65536",
    "net.inet.tcp.sendspace": "32768",
    "kern.ipc.nmbclusters": "30876",
    "net.inet.tcp.cc.algorithm": "cubic",
}


def freebsd(**changes: object) -> Facts:
    native = {key: Native(key, raw) for key, raw in NATIVE.items()}
    base = Facts("fbsd", "freebsd", "14.2", (14, 2), {}, native)
    return replace(base, **changes)  # type: ignore[arg-type]


def test_what_freebsd_can_take_back() -> None:
    facts = freebsd()
    assert FREEBSD.inverse(facts, MAXSOCKBUF, "1") == ("sysctl kern.ipc.maxsockbuf=2097152", "")
    assert FREEBSD.inverse(facts, "kern.ipc.nmbclusters", "40000")[0] is None
    assert FREEBSD.inverse(facts, "kern.ipc.nmbclusters", "30876")[0] == "sysctl kern.ipc.nmbclusters=30876"
    assert FREEBSD.inverse(facts, "net.inet.tcp.sack.enable", "1") == (
        None,
        "its value could not be read (absent)",
    )
    denied = freebsd(native={RECVSPACE: Native(RECVSPACE, None, State.DENIED)})
    assert FREEBSD.inverse(denied, RECVSPACE, "1") == (None, "its value could not be read (denied)")
    for key, why in (("net.inet.tcp.syncache.hashsize", "boot/loader.conf"), ("hw.ncpu", "it is a fact")):
        with pytest.raises(ChangeRefused, match=why):
            FREEBSD.inverse(facts, key, "1")


def test_where_freebsd_keeps_what_it_persists() -> None:
    assert FREEBSD.persisted(freebsd(), {}) == {}
    sysctl_conf, loader_conf = "/etc/sysctl.conf", "/boot/loader.conf"
    for release, algorithm, module in (
        ((14, 2), "cubic", False),
        ((14, 2), "newreno", True),
        ((14, 2), "htcp", True),
        ((13, 0), "newreno", False),
        ((13, 0), "cubic", True),
        ((9, 3), "cubic", True),
        (None, "htcp", True),
    ):
        values = {"net.inet.tcp.cc.algorithm": algorithm}
        files = {loader_conf: {f"cc_{algorithm}_load": "YES"}} if module else {}
        assert FREEBSD.persisted(freebsd(release=release), values) == {sysctl_conf: values, **files}
    assert FREEBSD.file_contents("/boot/loader.conf", b"a=1", {"cc_htcp_load": "YES"}).endswith(
        b'cc_htcp_load="YES"\n# END hostcfg\n'
    )
    assert FREEBSD.modules_for("net.inet.tcp.cc.algorithm", "htcp") == ("cc_htcp",)
    assert FREEBSD.modules_for("net.inet.tcp.cc.algorithm", "x;y") == ()


@pytest.mark.parametrize(
    ("key", "raw", "why"),
    [
        (MAXSOCKBUF, "2303", "below 2304"),
        (MAXSOCKBUF, "2304", None),
        (MAXSOCKBUF, "4294967296", None),  # a u_long
        (MAXSOCKBUF, "9223372036854775808", "type"),
        (MAXSOCKBUF, "-1", "below 2304"),
        (RECVSPACE, "-1", "below 0"),
        ("net.inet.tcp.sendbuf_max", "5000000000", "beyond the key"),
        ("net.inet.tcp.sendbuf_max", "2147483647", None),
        ("net.inet.tcp.sendbuf_max", "lots", "no integer"),
        ("net.inet.tcp.mssdflt", "100", "below 216"),
        ("net.inet.tcp.cc.algorithm", "htcp", None),
        ("dev.em.0.fc", "-7", None),  # not in the table: only the host can tell
    ],
)
def test_what_no_freebsd_takes(key: str, raw: str, why: str | None) -> None:
    said = FREEBSD.impossible(key, raw)
    assert (said is None) if why is None else (said is not None and why in said)


@pytest.mark.parametrize(
    ("key", "raw", "why"),
    [
        ("net.core.wmem_max", "-1", "no Linux kernel takes that"),
        ("net.core.wmem_max", "4607", "no Linux kernel takes that"),
        ("net.core.wmem_max", "2147483648", "no Linux kernel takes that"),
        ("net.core.wmem_max", "2147483647", None),
        ("net.ipv4.tcp_rmem", "8192 4096 1024", "its minimum of 8192 is above"),
        ("net.ipv4.tcp_rmem", "8192 131072 4096", "its minimum of 8192 is above"),
        ("net.ipv4.tcp_rmem", "4096\t131072\t65536", None),
        ("net.ipv4.tcp_wmem", "4096 16384 9223372036854775808", "no Linux kernel takes that"),
        ("net.ipv4.tcp_mem", "9 8 7", "its minimum of 9 is above"),
        ("qdisc/eth0", "fq", None),
    ],
)
def test_what_no_linux_takes(key: str, raw: str, why: str | None) -> None:
    said = LINUX.impossible(key, raw)
    assert (said is None) if why is None else (said is not None and why in said)


def test_a_plan_names_each_file_that_it_writes() -> None:
    platform, wanted = get_platform("freebsd"), [Wanted("net.inet.tcp.cc.algorithm", "htcp")]
    plan = plan_writes(freebsd(), platform, wanted, persist=True)
    assert [s.persist for s in plan.steps] == ["/etc/sysctl.conf"]
    assert (
        "net.inet.tcp.cc.algorithm: /boot/loader.conf is written too, for the module that it needs at boot"
        in plan.notes
    )
    assert not any("loader.conf" in note for note in plan_writes(freebsd(), platform, wanted).notes)


def test_what_wins_over_us_on_freebsd() -> None:
    boot = (
        BootValue(MAXSOCKBUF, "1", "/etc/sysctl.conf", 3, "rc.d/sysctl"),
        BootValue(RECVSPACE, "1", "/etc/sysctl.conf.local", 7, "rc.d/sysctl"),
    )
    facts = freebsd(boot=boot)
    assert FREEBSD.outranked_by(facts, MAXSOCKBUF) is None
    assert FREEBSD.outranked_by(facts, RECVSPACE) == "/etc/sysctl.conf.local:7"


def test_what_a_change_of_freebsd_does_not_reach() -> None:
    assert FREEBSD.unreached(["kern.hz"], None) == []
    assert FREEBSD.unreached([MAXSOCKBUF], [22]) == [
        "connections that exist keep what they have; new ones get the new values"
    ]
    assert FREEBSD.unreached([RECVSPACE], [22])[1] == (
        "servers that listen already keep their first buffers until they restart: TCP port 22"
    )


def test_a_lock_out_is_refused_and_noted_when_forced() -> None:
    platform = get_platform("freebsd")
    wanted = [Wanted(MAXSOCKBUF, "65536")]
    with pytest.raises(ChangeRefused, match=r"fbsd: net.inet.tcp.recvspace = 65536 is above 8/9 .*--force"):
        plan_writes(freebsd(), platform, wanted)
    plan = plan_writes(freebsd(), platform, wanted, force=True)
    assert plan.notes[0].startswith("forced: net.inet.tcp.recvspace = 65536 is above 8/9")


def test_what_every_changer_has() -> None:
    assert Changer.shown(FREEBSD, "k", "v") == "v"
    assert Changer.companions(FREEBSD, freebsd(), "k", "v") == {}
    assert Changer.modules_for(FREEBSD, "k", "v") == ()
    assert Changer.impossible(FREEBSD, "k", "v") is None
    assert Changer.unreached(FREEBSD, ["k"], None) == ()
    assert LINUX.modules_for("net.ipv4.tcp_congestion_control", "a b") == ()
    assert LINUX.modules_for("net.ipv4.tcp_congestion_control", "bbr") == ("tcp_bbr",)
    assert LINUX.modules_for("qdisc/eth0", "fq") == ("sch_fq",)
    assert LINUX.modules_for("net.ipv4.tcp_sack", "1") == ()
    assert LINUX.modules_for("net.ipv4.tcp_sack", "one") == ()


def step(
    key: str, before: str | None, after: str, outcome: str = "set", inverse: str | None = "back"
) -> StepResult:
    return StepResult(key, before, after, "do", inverse, read_back=after, outcome=outcome)  # type: ignore[arg-type]


def rollback_of(*steps: StepResult, force: bool = False) -> RollbackPlan:
    return plan_rollback(freebsd(), HostChange("fbsd", "freebsd", "applied", steps), force=force)


def test_a_rollback_goes_the_exact_way_back() -> None:
    found = rollback_of(
        step(MAXSOCKBUF, "1000000", "2097152"),
        step("net.inet.tcp.sendspace", "32768", "40000"),  # is back already
        step(RECVSPACE, "70000", "65536"),
        step("net.inet.tcp.cc.algorithm", "newreno", "cubic", "unchanged"),
    )
    assert [(s.key, s.from_raw, s.to_raw) for s in found.plan.steps] == [
        (RECVSPACE, "65536", "70000"),
        (MAXSOCKBUF, "2097152", "1000000"),
    ]
    assert found.left == ()


def test_a_rollback_leaves_what_is_not_ours_any_more() -> None:
    steps = (
        step(RECVSPACE, "70000", "80000"),
        step("net.inet.tcp.nosuch", "1", "2"),
        step("kern.ipc.nmbclusters", "20000", "30876", inverse=None),
    )
    found = rollback_of(*steps)
    assert found.plan.steps == ()
    assert found.left == (
        "kern.ipc.nmbclusters: it was written by force and nothing can take it back",
        "net.inet.tcp.nosuch: it can't be read now",
        (
            "net.inet.tcp.recvspace: someone changed it to '65536' since, so it is left alone; "
            "--force restores it all the same"
        ),
    )
    assert [s.key for s in rollback_of(*steps, force=True).plan.steps] == [RECVSPACE]


def test_a_rollback_that_would_lock_people_out_is_refused() -> None:
    """Someone has raised a first buffer since, above the cap that would come back; it is not ours."""
    steps = (step(MAXSOCKBUF, "73728", "2097152"), step(RECVSPACE, "32768", "65000"))
    with pytest.raises(
        ChangeRefused,
        match=r"fbsd: taken back as things are now, net.inet.tcp.recvspace = 65536 is above 8/9 of .*--force",
    ):
        rollback_of(replace(steps[0], from_raw="65536"), steps[1])
    found = rollback_of(*steps)  # 8/9 of 73728 is 65536 to the byte
    assert [(s.key, s.to_raw) for s in found.plan.steps] == [(MAXSOCKBUF, "73728")]
    forced = rollback_of(replace(steps[0], from_raw="65536"), steps[1], force=True)
    assert [(s.key, s.to_raw) for s in forced.plan.steps] == [(RECVSPACE, "32768"), (MAXSOCKBUF, "65536")]


def test_danger_between_two_steps_is_seen() -> None:
    platform = get_platform("freebsd")
    rows = [Wanted(MAXSOCKBUF, "65536"), Wanted(RECVSPACE, "32768")]
    with pytest.raises(ChangeRefused, match="recvspace = 65536 is above 8/9"):
        plan_writes(freebsd(), platform, rows, ordered=True)
    assert [s.key for s in plan_writes(freebsd(), platform, rows).steps] == [RECVSPACE, MAXSOCKBUF]
    # the way out of a danger that is there already leads through it
    native = {key: Native(key, raw) for key, raw in (NATIVE | {MAXSOCKBUF: "30000"}).items()}
    out = [Wanted(RECVSPACE, "20000"), Wanted("net.inet.tcp.sendspace", "20000")]
    assert len(plan_writes(freebsd(native=native), platform, out, ordered=True).steps) == 2


def test_an_interrupted_step_counts_as_written_if_its_value_is_there() -> None:
    unknown = StepResult(RECVSPACE, "70000", "65536", "do", "back")
    assert [s.to_raw for s in rollback_of(unknown).plan.steps] == ["70000"]


def test_files_of_a_rollback() -> None:
    before, after = FileState("/a", b"1"), FileState("/a", b"2")
    other = FileChange(FileState("/b", b"1"), FileState("/b", b"2"))
    files = (FileChange(before, after), FileChange(FileState("/c", None)), other)
    done = HostChange("h", "linux", "applied", files=files)

    def report(contents: bytes) -> BeginReport:
        return BeginReport(None, "pending", {}, {}, (FileState("/a", contents), FileState("/c", b"x")), {})

    chosen = RollbackFiles(done, LINUX, force=False)
    assert chosen(report(b"2")) == [before]
    assert chosen(report(b"1")) == []
    assert chosen.left == []
    assert chosen(report(b"other")) == []
    assert chosen.left == ["/a: someone changed it since, so it is left alone"]
    assert RollbackFiles(done, LINUX, force=True)(report(b"other")) == [before]


@pytest.mark.parametrize(
    ("kind", "state", "status", "said"),
    [
        ("apply", "confirmed", "applied", None),
        ("apply", "restored", "reverted", None),
        ("apply", "gone", "reverted", None),
        ("rollback", "confirmed", "reverted", None),
        ("rollback", "restored", "failed", "the rollback did not end; X is still in force"),
        ("apply", "failed", "failed", "not put back: net.a, /etc/f, 9"),
        ("apply", "restoring", "unknown", "the host says restoring"),
    ],
)
def test_how_an_unfinished_host_ends(kind: str, state: str, status: str, said: str | None) -> None:
    steps = (StepResult("net.a", "1", "2"),)
    host = HostChange("h", "linux", "pending", steps, files=(FileChange(FileState("/etc/f", None)),))
    change = Change("Y", kind, "now", None, "me", "here", "X")  # type: ignore[arg-type]
    report = StatusReport(state, "pending", {}, ("1", "f.1", "9"))  # type: ignore[arg-type]
    found, fault = _settled(change, host, report)
    assert found == status
    assert (fault.message if fault else None) == (None if said is None else f"h: {said}")
