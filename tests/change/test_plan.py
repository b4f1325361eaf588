"""Plans: order, inverses, refusals and notes, on hand-made facts of Linux and FreeBSD."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.errors import ChangeRefused, HostcfgError
from hostcfg.model import BootValue, Difference, Facts, Interface, Native, Reading, Section, State
from hostcfg.outputs.blocks import Code, Paragraph
from hostcfg.outputs.change_views import plan_blocks, question_blocks
from hostcfg.outputs.documents import plan_document
from hostcfg.plan import Wanted, make_plan, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.platforms.changer import get_changer

LINUX = get_platform("linux")
RMEM, WMEM = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
RMEM_MAX = "net.core.rmem_max"
QDISC = "net.core.default_qdisc"
NATIVE = {
    RMEM: "4096\t131072\t6291456",
    WMEM: "4096\t16384\t4194304",
    RMEM_MAX: "212992",
    QDISC: "fq_codel",
    "net.ipv4.tcp_congestion_control": "cubic",
    "net.ipv4.tcp_sack": "1",
    "qdisc/eth0": "fq_codel",
    "qdisc/docker0": "noqueue",
    "txqueuelen/eth0": "1000",
}


def facts(**changes: object) -> Facts:
    native = {key: Native(key, raw) for key, raw in NATIVE.items()}
    readings = {
        "sack": Reading("sack", True, State.VALUE, "net.ipv4.tcp_sack"),
        "recv_buffer_max": Reading("recv_buffer_max", 6291456, State.VALUE, RMEM, 2),
    }
    interfaces = (
        Interface("eth0", qdisc="fq_codel", routes=("default",)),
        Interface("docker0", qdisc="noqueue", routes=("lower",)),
        Interface("eth1", qdisc="pfifo_fast"),
    )
    base = Facts("web1", "linux", "Debian 12", (6, 1), readings, native, interfaces)
    return replace(base, **changes)  # type: ignore[arg-type]


def difference(
    setting: str, key: str, target: int | str | bool, raw: str | None, element: int | None = None
) -> Difference:
    return Difference(
        setting=setting,
        key=key,
        current=None,
        target=target,
        rule="at_least",
        reason=f"why {setting}",
        element=element,
        current_native=NATIVE.get(key),
        target_native=raw,
    )


def test_a_plan_says_what_would_be_written_where() -> None:
    plan = plan_writes(facts(), LINUX, [Wanted(RMEM, "1 2 3")], persist=True)
    assert list(plan.files) == ["/etc/sysctl.d/90-hostcfg.conf"]
    assert "net.ipv4.tcp_rmem = 1 2 3" in plan.files["/etc/sysctl.d/90-hostcfg.conf"].splitlines()
    hosts: Any = plan_document([plan])["hosts"]
    assert [host["files"] for host in hosts] == [plan.files]
    asked = [block.text for block in question_blocks([plan]) if isinstance(block, Paragraph)]
    assert "/etc/sysctl.d/90-hostcfg.conf would be written once it is confirmed" in asked
    texts = [block.text for block in plan_blocks([plan]) if isinstance(block, Paragraph | Code)]
    at = texts.index("Would be persisted in /etc/sysctl.d/90-hostcfg.conf, hostcfg's part of it:")
    assert texts[at + 1] == plan.files["/etc/sysctl.d/90-hostcfg.conf"].rstrip()
    store = replace(plan, files={}, steps=[replace(plan.steps[0], persist="active store")])
    said = [block.text for block in plan_blocks([store]) if isinstance(block, Paragraph)]
    assert "would be persisted in active store" in said
    assert plan_writes(facts(), LINUX, [Wanted(RMEM, "1 2 3")]).files == {}


BOOTS = {
    "systemd": "=exists /run/systemd/system\n=systemd-sysctl /lib/systemd/systemd-sysctl\n",
    "procps": "=sysctl sysctl from procps-ng 4.0.2\n/proc/1/comm:init\n",
    "busybox": "=sysctl BusyBox v1.36.1 multi-call binary.\n/proc/1/comm:init\n",
    "nobody": "=sysctl sysctl from procps-ng 4.0.2\n/proc/1/comm:nginx\n",
}
OURS = "/etc/sysctl.d/90-hostcfg.conf"
SACK = "net.ipv4.tcp_sack"
DO = "change or remove that line"
NOBODY = (
    "nothing is seen here that loads sysctl files at boot (process 1 is nginx): "
    f"{OURS} takes effect by `sysctl --system` alone"
)


def at_boot(how: str, files: str, *wanted: Wanted, persist: bool = True) -> list[str]:
    sections = (Section("linux-host", BOOTS[how]), Section("linux-conf", files))
    plan = plan_writes(replace(facts(), sections=sections), LINUX, wanted, persist=persist)
    return [note for note in plan.notes if note.startswith(("kept over", "not kept over"))]


def conf(path: str, *lines: str) -> str:
    return "\n".join([f"F l {path}", *(f"{path}:{n}:{line}" for n, line in enumerate(lines, 1)), ""])


def test_the_next_boot_is_replayed_with_the_new_file_in_it() -> None:
    rows = [Wanted(RMEM, "4096 131072 8388608"), Wanted(SACK, "0"), Wanted("txqueuelen/eth0", "500")]
    no_file = "not kept over a boot: txqueuelen/eth0: nothing on this system keeps it"
    kept = f"kept over a boot by {OURS}: {RMEM}, {SACK}"
    assert at_boot("systemd", "", *rows) == [no_file, kept]
    assert at_boot("systemd", "", *rows, persist=False) == []
    # what stands before ours, a pattern, and what sets the same take nothing away
    before = conf("/etc/sysctl.d/10-x.conf", f"{SACK} = 1", f"{RMEM}=1 2 3")
    after = conf("/etc/sysctl.d/zz.conf", "net.ipv4.tcp_s* = 1", f"{RMEM} = 4096\t131072\t8388608")
    harmless = before + after
    assert at_boot("systemd", harmless, *rows) == [no_file, kept]
    # ours as it was does not count, and systemd does not read /etc/sysctl.conf
    old = conf(OURS, f"{SACK} = 1") + conf("/etc/sysctl.conf", f"{RMEM} = 1 2 3")
    assert at_boot("systemd", old, *rows) == [no_file, kept]
    assert at_boot("procps", old, *rows) == [
        no_file,
        f"not kept over a boot: {RMEM}: /etc/sysctl.conf:1 wins over {OURS} at boot; {DO}",
        f"kept over a boot by {OURS}: {SACK}",
    ]
    later = conf("/etc/sysctl.d/zz-site.conf", "#", f"{SACK} = 1", f"-{RMEM}")
    assert at_boot("systemd", later, *rows)[1:] == [
        f"not kept over a boot: {RMEM}: systemd-sysctl takes it from no file: a line excludes it ({OURS})",
        f"not kept over a boot: {SACK}: /etc/sysctl.d/zz-site.conf:2 wins over {OURS} at boot; {DO}",
    ]


def test_a_file_that_no_boot_reads_keeps_nothing() -> None:
    sack = Wanted(SACK, "0")
    assert at_boot("busybox", "", sack) == [
        f"not kept over a boot: {SACK}: busybox does not read it at boot ({OURS})"
    ]
    assert at_boot("nobody", "", sack, Wanted(RMEM, "1 2 3")) == [
        f"not kept over a boot: {SACK}, {RMEM}: {NOBODY}"
    ]
    site = conf("/etc/sysctl.conf", f"{RMEM} = 1 2 4")
    assert at_boot("nobody", site, sack, Wanted(RMEM, "1 2 3")) == [
        f"not kept over a boot: {SACK}: {NOBODY}",
        f"not kept over a boot: {RMEM}: {NOBODY}, where /etc/sysctl.conf:1 wins over it; {DO}",
    ]


def test_a_congestion_control_that_the_host_does_not_have_is_said() -> None:
    key = "net.ipv4.tcp_congestion_control"
    readings = {
        "congestion_control": Reading("congestion_control", "cubic", State.VALUE, key),
        "congestion_control_available": Reading(
            "congestion_control_available", ("reno", "cubic"), State.VALUE, "x"
        ),
    }
    wanted = [Wanted(RMEM, "1 2 3"), Wanted(key, "bbr")]
    notes = plan_writes(facts(readings=readings), LINUX, wanted).notes
    (said,) = [note for note in notes if "does not have" in note]
    assert said.startswith(f"{key}: the host does not have 'bbr' now (it has reno, cubic)")
    for known in (readings, {"congestion_control": readings["congestion_control"]}):
        plan = plan_writes(facts(readings=known), LINUX, [Wanted(key, "reno")])
        assert not any("does not have" in note for note in plan.notes)


def test_nothing_differs_nothing_is_planned() -> None:
    plan = make_plan(facts(), [], LINUX, persist=True)
    assert (plan.steps, plan.notes) == ((), ())


def test_a_triple_is_one_write() -> None:
    rows = [
        difference("recv_buffer_default", RMEM, 262144, "4096\t262144\t6291456", 1),
        difference("recv_buffer_max", RMEM, 12582912, "4096\t131072\t12582912", 2),
    ]
    (step,) = make_plan(facts(), rows, LINUX).steps
    assert step.to_raw == "4096\t262144\t12582912"
    assert step.from_raw == "4096\t131072\t6291456"
    assert step.command == "sysctl -w 'net.ipv4.tcp_rmem=4096 262144 12582912'"
    assert step.inverse == "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'"
    assert step.settings == ("recv_buffer_default", "recv_buffer_max")
    assert step.reason == "why recv_buffer_default; why recv_buffer_max"
    assert step.persist is None


@pytest.mark.parametrize("force", [False, True])
def test_a_value_that_no_kernel_takes_is_refused_with_file_and_key(force: bool) -> None:
    rows = [difference("net.core.rmem_max", RMEM_MAX, 2**31, str(2**31))]
    with pytest.raises(ChangeRefused) as refused:
        make_plan(facts(), rows, LINUX, wanted_by="profile ours.yaml", force=force)
    assert str(refused.value) == (
        "web1: net.core.rmem_max: profile ours.yaml wants '2147483648': no Linux kernel takes that: "
        "it is not of the key's form, or outside its type or floor"
    )


def test_a_native_key_of_a_profile_is_taken_whole() -> None:
    rows = [
        difference("net.ipv4.tcp_sack", "net.ipv4.tcp_sack", 1, "1"),
        difference("net.ipv4.tcp_sack", "net.ipv4.tcp_sack", 0, "0"),
    ]
    (step,) = make_plan(facts(), rows, LINUX).steps
    assert step.to_raw == "0"


def test_caps_rise_first_and_fall_last() -> None:
    rise = [
        Wanted(WMEM, "4096 16384 8388608"),
        Wanted(RMEM_MAX, "8388608"),
        Wanted(RMEM, "4096 131072 8388608"),
    ]
    assert [s.key for s in plan_writes(facts(), LINUX, rise).steps] == [RMEM_MAX, RMEM, WMEM]
    fall = [Wanted(RMEM_MAX, "100000"), Wanted(RMEM, "4096 65536 65536"), Wanted(WMEM, "4096 16384 65536")]
    assert [s.key for s in plan_writes(facts(), LINUX, fall).steps] == [WMEM, RMEM, RMEM_MAX]
    both = [Wanted(RMEM, "4096 65536 65536"), Wanted(RMEM_MAX, "8388608"), Wanted(WMEM, "4096 16384 65536")]
    assert [s.key for s in plan_writes(facts(), LINUX, both).steps] == [RMEM_MAX, WMEM, RMEM]


@given(
    st.permutations([Wanted(RMEM_MAX, "300000"), Wanted(RMEM, "1 2 3"), Wanted(WMEM, "4096 16384 5000000")])
)
def test_the_order_does_not_depend_on_the_order_of_the_profile(rows: list[Wanted]) -> None:
    assert [s.key for s in plan_writes(facts(), LINUX, rows).steps] == [RMEM_MAX, WMEM, RMEM]


def test_an_interface_that_is_there_follows_the_default_for_new_ones() -> None:
    plan = make_plan(facts(), [difference("queue_discipline", QDISC, "fq", "fq")], LINUX)
    assert [(s.key, s.to_raw) for s in plan.steps] == [(QDISC, "fq"), ("qdisc/eth0", "fq")]
    # the default is right already and the interface is not
    plan = make_plan(facts(), [], LINUX, also={QDISC: "fq"})
    assert [(s.key, s.to_raw) for s in plan.steps] == [("qdisc/eth0", "fq")]


def test_a_step_without_inverse_is_refused_and_can_be_forced() -> None:
    denied = {**facts().native, RMEM_MAX: Native(RMEM_MAX, None, State.DENIED)}
    host = facts(native=denied)
    with pytest.raises(
        ChangeRefused, match=r"^web1: net.core.rmem_max: can't be taken back.*denied.*--force"
    ):
        plan_writes(host, LINUX, [Wanted(RMEM_MAX, "1")])
    (step,) = plan_writes(host, LINUX, [Wanted(RMEM_MAX, "300000")], force=True).steps
    assert (step.from_raw, step.inverse) == (None, None)
    plan = plan_writes(facts(native={}), LINUX, [Wanted(RMEM_MAX, "300000")], force=True)
    assert "net.core.rmem_max: nothing can take it back" in plan.notes


def test_a_queue_of_the_kernels_own_choice_comes_back_by_deleting_ours() -> None:
    tc = "qdisc noqueue 0: dev lo root refcnt 2\nqdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p\n"
    (step,) = plan_writes(
        facts(sections=(Section("tc-qdisc", tc),)), LINUX, [Wanted("qdisc/eth0", "fq")]
    ).steps
    assert step.command == "tc qdisc replace dev eth0 root fq"
    assert step.inverse == "tc qdisc del dev eth0 root"


def test_a_queue_that_was_set_comes_back_by_its_name() -> None:
    tc = "qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 10240p\n"
    (step,) = plan_writes(
        facts(sections=(Section("tc-qdisc", tc),)), LINUX, [Wanted("qdisc/eth0", "fq")]
    ).steps
    assert step.inverse == "tc qdisc replace dev eth0 root fq_codel"


def test_a_tree_of_classes_has_no_inverse() -> None:
    tc = "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x1\n"
    with pytest.raises(ChangeRefused, match="htb on eth0 was made by hand"):
        plan_writes(facts(sections=(Section("tc-qdisc", tc),)), LINUX, [Wanted("qdisc/eth0", "fq")])


def test_what_can_not_be_written_is_refused() -> None:
    with pytest.raises(ChangeRefused, match="can be read and not written"):
        make_plan(facts(), [difference("sack", "net.ipv4.tcp_sack", 0, None)], LINUX)
    with pytest.raises(ChangeRefused, match="could not be read"):
        make_plan(facts(), [difference("x", "net.ipv4.tcp_x", 0, None)], LINUX)


def test_what_nobody_can_write_here_is_left_out_and_said() -> None:
    why = "/proc/sys is mounted read-only here"
    native = {**facts().native, RMEM: replace(facts().native[RMEM], fixed=why)}
    rows = [
        difference("recv_buffer_max", RMEM, 12582912, "4096\t131072\t12582912", 2),
        difference("sack", "net.ipv4.tcp_sack", 0, "0"),
    ]
    plan = make_plan(facts(native=native), rows, LINUX)
    assert [s.key for s in plan.steps] == ["net.ipv4.tcp_sack"]
    assert plan.notes[0] == f"left out, since nobody can write {RMEM} here: {why}"
    with pytest.raises(ChangeRefused, match=f"nobody can write anything that is wanted here: {why}"):
        make_plan(facts(native=native), rows[:1], LINUX)


CC = "net.ipv4.tcp_congestion_control"


@pytest.mark.parametrize(
    ("confined", "now", "wanted", "allowed", "refused"),
    [
        ("docker container, network namespace", "bbr", "cubic", "reno bbr", True),
        ("network namespace", "bbr", "reno", "reno bbr", False),
        ("network namespace", "bbr", "htcp", "reno bbr", False),  # a module, which may allow itself
        ("network namespace", "bbr", "cubic", "", False),  # nobody could read what is allowed
        (None, "bbr", "cubic", "reno bbr", False),
    ],
)
def test_what_the_kernel_refuses_to_a_namespace_is_left_out(
    confined: str | None, now: str, wanted: str, allowed: str, refused: bool
) -> None:
    lists = {"net.ipv4.tcp_available_congestion_control": "reno bbr cubic"}
    lists |= {"net.ipv4.tcp_allowed_congestion_control": allowed} if allowed else {}
    native = {**facts().native, **{key: Native(key, raw) for key, raw in {CC: now, **lists}.items()}}
    host = facts(native=native, confined=confined)
    to_wanted = replace(difference("congestion_control", CC, wanted, wanted), current_native=now)
    rows = [difference("sack", SACK, 0, "0"), to_wanted]
    plan = make_plan(host, rows, LINUX)
    assert [s.key for s in plan.steps] == ([SACK] if refused else [CC, SACK])
    why = (
        f"left out, since nobody can write {CC} here: a network namespace may not choose cubic, which is not "
        "in net.ipv4.tcp_allowed_congestion_control (reno bbr); only the host of the namespace sets that"
    )
    assert (why in plan.notes) is refused
    if refused:
        with pytest.raises(ChangeRefused, match="nobody can write anything that is wanted here: a net"):
            make_plan(host, rows[1:], LINUX)
        # nor could it be taken back, once it is another
        back = replace(host, native={**native, CC: Native(CC, "cubic")})
        with pytest.raises(ChangeRefused, match=r"can't be taken back.*may not choose cubic"):
            make_plan(back, [difference("congestion_control", CC, "bbr", "bbr")], LINUX)


def test_an_interface_that_was_not_read_does_not_follow() -> None:
    native = {key: value for key, value in facts().native.items() if key != "qdisc/eth0"}
    plan = make_plan(facts(native=native), [difference("queue_discipline", QDISC, "fq", "fq")], LINUX)
    assert [s.key for s in plan.steps] == [QDISC]


def test_persisting_names_the_file_and_what_wins_over_it() -> None:
    boot = (
        BootValue(RMEM, "1 2 3", "/etc/sysctl.conf", 7, "procps"),
        BootValue(WMEM, "1 2 3", "/usr/lib/sysctl.d/99-vendor.conf", 2, "systemd-sysctl"),
        BootValue("net.ipv4.tcp_sack", "1", "/etc/sysctl.d/10-x.conf", 1, "systemd-sysctl"),
    )
    rows = [
        Wanted(RMEM, "4096 131072 8388608"),
        Wanted(WMEM, "4096 16384 8388608"),
        Wanted("net.ipv4.tcp_sack", "0"),
        Wanted("txqueuelen/eth0", "500"),
    ]
    plan = plan_writes(facts(boot=boot), LINUX, rows, persist=True)
    ours = "/etc/sysctl.d/90-hostcfg.conf"
    assert {s.key: s.persist for s in plan.steps} == {
        RMEM: ours,
        WMEM: ours,
        "net.ipv4.tcp_sack": ours,
        "txqueuelen/eth0": None,
    }
    lost, do = "not kept over a boot: ", "at boot; change or remove that line"
    assert f"{lost}{RMEM}: /etc/sysctl.conf:7 wins over {ours} {do}" in plan.notes
    assert f"{lost}{WMEM}: /usr/lib/sysctl.d/99-vendor.conf:2 wins over {ours} {do}" in plan.notes
    assert f"{lost}txqueuelen/eth0: nothing on this system keeps it" in plan.notes
    assert f"kept over a boot by {ours}: net.ipv4.tcp_sack" in plan.notes


def test_without_persist_the_plan_says_how_long_it_lasts() -> None:
    plan = plan_writes(facts(), LINUX, [Wanted("net.ipv4.tcp_sack", "0")])
    assert "these values last until the next boot; --persist keeps them" in plan.notes
    plan = plan_writes(facts(), LINUX, [Wanted("txqueuelen/eth0", "500")])
    assert plan.notes == ()


def test_targets_that_hold_and_would_be_lost_at_boot_are_persisted() -> None:
    also = {RMEM: NATIVE[RMEM], "net.ipv4.tcp_sack": "1", "txqueuelen/eth0": "1000"}
    plan = make_plan(facts(), [], LINUX, persist=True, also=also)
    # tcp_sack is the kernel's own value, which a boot brings; the queue length has no file
    assert [(s.key, s.from_raw, s.to_raw) for s in plan.steps] == [(RMEM, NATIVE[RMEM], NATIVE[RMEM])]
    assert plan.steps[0].reason == "it would be lost at the next boot"
    kept = (BootValue(RMEM, "4096 131072 6291456", "/etc/sysctl.d/90-hostcfg.conf", 2, "systemd-sysctl"),)
    assert make_plan(facts(boot=kept), [], LINUX, persist=True, also=also).steps == ()
    lost = (BootValue("net.ipv4.tcp_sack", "0", "/etc/sysctl.d/50-x.conf", 2, "systemd-sysctl"),)
    plan = make_plan(facts(boot=(*kept, *lost)), [], LINUX, persist=True, also=also)
    assert [s.key for s in plan.steps] == ["net.ipv4.tcp_sack"]
    assert make_plan(facts(), [], LINUX, also=also).steps == ()


HOSTILE_KEYS = [
    "net.//.//.//.etc.passwd",
    "../../etc/passwd",
    ".",
    "",
    "net..ipv4",
    "qdisc/../../x",
    "qdisc/-x",
    "qdisc/a b",
    "qdisc/",
    "qdisc/..",
    "txqueuelen/$(reboot)" + "x" * 20,
    "net.ipv4.x\ny",
]


@pytest.mark.parametrize("key", HOSTILE_KEYS)
def test_a_key_that_leads_elsewhere_is_refused(key: str) -> None:
    host = facts(native={key: Native(key, "1")})
    with pytest.raises(HostcfgError):
        plan_writes(host, LINUX, [Wanted(key, "2")], force=True)


@pytest.mark.parametrize("raw", ["1\n2", "1\r", "\x1b[2J", "1\x7f", "1\0"])
def test_a_value_with_control_characters_is_refused(raw: str) -> None:
    with pytest.raises(HostcfgError, match="control character"):
        plan_writes(facts(), LINUX, [Wanted("net.ipv4.tcp_sack", raw)])


def test_a_value_that_no_file_can_hold_is_refused_before_anything_is_begun() -> None:
    host = facts(native={"kernel.core_pattern": Native("kernel.core_pattern", "core")})
    rows = [Wanted("kernel.core_pattern", "a # b")]
    assert plan_writes(host, LINUX, rows).steps[0].to_raw == "a # b"
    with pytest.raises(ChangeRefused, match=r"kernel.core_pattern: can't be written to a config file"):
        plan_writes(host, LINUX, rows, persist=True)


def test_an_os_that_is_only_read_is_not_changed() -> None:
    with pytest.raises(ChangeRefused, match="hostcfg reads plan9 and does not change it"):
        get_changer("plan9")
    with pytest.raises(ChangeRefused):
        get_changer("../linux")
