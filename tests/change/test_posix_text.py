"""Text for /bin/sh and for config files: exactly the bytes that were meant, under every shell here."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostcfg.changes import FileChange, FileState
from hostcfg.errors import ChangeRefused, HostError
from hostcfg.platforms.changer import Job, JobStep, get_changer
from hostcfg.platforms.linux.change import CHANGER, address, qdisc_kinds
from hostcfg.platforms.posix import scripts
from hostcfg.platforms.posix.changer import PosixChanger, canonical, number
from hostcfg.platforms.posix.config import BEGIN, END, Style, merge, without
from hostcfg.platforms.posix.sh import print_bytes, quote
from hostcfg.transports.base import Command, CommandResult

SHELLS = [["dash"], ["bash", "--posix"], ["busybox", "sh"], ["mksh"], ["yash"], ["ksh93"]]
HOSTILE = [
    "$(touch /tmp/hc-owned)",
    "`reboot`",
    "a'b\"c",
    "x; rm -rf /",
    "a\nb",
    "& echo %PATH%",
    "-n",
    "\\",
    "%s%n",
    "é…\u2028",
    "*",
    "~root",
    "a\tb  c",
    "'",
    "hostcfg-end",
    "",
]


def run(shell: list[str], script: str) -> bytes:
    done = subprocess.run([*shell, "-s"], input=Command.sh(script).stdin, capture_output=True)
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_hostile_text_is_one_word_in_each_shell(shell: list[str]) -> None:
    for text in HOSTILE:
        assert run(shell, f"printf '%s' {quote(text)}") == text.encode()


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_every_byte_is_printed_as_it_is(shell: list[str]) -> None:
    data = bytes(range(256)) + b"-1\n%d\\\n'\"\r\n007" + bytes(range(255, -1, -1))
    assert run(shell, print_bytes(data)) == data
    assert run(shell, print_bytes(b"")) == b""


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_printed_as_they_are(data: bytes) -> None:
    assert run(["dash"], print_bytes(data)) == data
    assert run(["busybox", "sh"], print_bytes(data)) == data


def test_what_no_shell_can_hold_is_refused() -> None:
    with pytest.raises(ChangeRefused, match="NUL"):
        quote("a\0b")
    with pytest.raises(ChangeRefused, match="no text"):
        quote("a\udce9")


LINES = {"net.ipv4.tcp_rmem": "4096\t131072\t12582912", "net.ipv4.tcp_sack": "1"}
BLOCK = BEGIN + b"\nnet.ipv4.tcp_rmem = 4096 131072 12582912\nnet.ipv4.tcp_sack = 1\n" + END + b"\n"


def test_a_new_file_is_the_block() -> None:
    assert merge(None, LINES, Style()) == BLOCK
    assert merge(b"", LINES, Style()) == BLOCK


def test_other_lines_stay_and_the_block_goes_to_the_end() -> None:
    mine = b"# mine\r\nnet.ipv4.ip_forward=1\xff\n"
    assert merge(mine, LINES, Style()) == mine + BLOCK
    assert merge(mine.rstrip(b"\n"), LINES, Style()) == mine + BLOCK
    assert merge(BLOCK + b"later = 1\n", {}, Style()) == b"later = 1\n" + BLOCK


def test_keys_that_are_there_get_the_new_value_and_others_stay() -> None:
    again = merge(BLOCK, {"net.ipv4.tcp_sack": "0", "net.core.somaxconn": "9"}, Style())
    assert again == BLOCK.replace(b"sack = 1\n", b"sack = 0\nnet.core.somaxconn = 9\n")
    assert merge(again, {"net.ipv4.tcp_sack": "0"}, Style()) == again


def test_a_comment_in_the_block_stays() -> None:
    noted = BLOCK.replace(END, b"# why: ticket 7\n" + END)
    assert merge(noted, LINES, Style()) == noted


def test_a_block_without_end_is_not_taken_for_one() -> None:
    cut = BLOCK.replace(END, b"net.ipv4.ip_forward = 1")
    assert merge(cut, {"net.ipv4.tcp_sack": "0"}, Style()).startswith(cut)


def test_the_quotes_of_a_loader_conf() -> None:
    assert b'\ncc_htcp_load="YES"\n' in merge(None, {"cc_htcp_load": "YES"}, Style("=", '"'))


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("a", "1\nb = 2"),
        ("a", "1 # c"),
        ("a", '"'),
        ("a", "`x`"),
        ("a b", "1"),
        ("a=b", "1"),
        ("#a", "1"),
        ("a\n", "1"),
        ("a$b", "1"),
        ("a", "x\u2028y"),
        ("a", "1\\"),
    ],
)
def test_what_would_be_read_otherwise_is_refused(key: str, raw: str) -> None:
    with pytest.raises(ChangeRefused, match="config file"):
        merge(None, {key: raw}, Style())


@given(
    st.binary(max_size=80),
    st.dictionaries(st.sampled_from(["a.b", "c", "d.e/f"]), st.sampled_from(["1", "x y", "7 8 9"])),
)
def test_a_merge_is_stable_and_keeps_what_is_not_its_own(now: bytes, values: dict[str, str]) -> None:
    once = merge(now, values, Style())
    assert merge(once, values, Style()) == once
    assert not values or without(once, once, once) == once


def test_our_block_is_taken_out_of_a_file_that_others_changed() -> None:
    after = merge(b"old\n", LINES, Style())
    assert without(b"new\n" + BLOCK + b"tail\n", after, b"old\n") == b"new\ntail\n"
    before = merge(b"old\n", {"net.ipv4.tcp_sack": "0"}, Style())
    assert without(b"new\n" + BLOCK, after, before) == b"new\n" + merge(
        None, {"net.ipv4.tcp_sack": "0"}, Style()
    )
    assert without(b"new\n", after, b"old\n") is None
    assert without(BLOCK.replace(b"12582912", b"1"), after, b"old\n") is None


def test_a_file_goes_back_as_far_as_it_is_ours() -> None:
    before, after = FileState("/f", b"old\n", 0o600, 1, 2), FileState("/f", b"old\n" + BLOCK, 0o600, 1, 2)
    change = FileChange(before, after)

    def restored(contents: bytes | None) -> FileState | None:
        return CHANGER.file_restored(change, FileState("/f", contents, 0o644))

    assert restored(b"old\n" + BLOCK) == before
    assert restored(b"old\n") == FileState("/f", b"old\n", 0o644)
    assert restored(b"more\n" + BLOCK) == FileState("/f", b"more\n", 0o644)
    assert restored(None) is None
    assert restored(b"nothing of ours") is None
    fresh = FileChange(FileState("/f", None), FileState("/f", BLOCK))
    assert CHANGER.file_restored(fresh, FileState("/f", BLOCK)) == FileState("/f", None)
    assert CHANGER.file_restored(fresh, FileState("/f", b"x\n" + BLOCK)) == FileState("/f", b"x\n")
    moved = FileChange(FileState("/f", None), FileState("/f", b"x\n" + BLOCK))
    assert CHANGER.file_restored(moved, FileState("/f", BLOCK)) == FileState("/f", None)
    unwritten = FileChange(before)
    assert CHANGER.file_restored(unwritten, FileState("/f", b"x")) == FileState("/f", b"x")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("0", 0),
        ("010", 8),
        ("0x1F", 31),
        ("0X1f", 31),
        ("-1", -1),
        ("-0x10", -16),
        ("12", 12),
        ("", None),
        ("-", None),
        ("09", None),
        ("1_000", None),
        ("0x", None),
        ("fq", None),
        ("٣", None),
        ("+1", None),
        ("0b1", None),
    ],
)
def test_numbers_as_the_kernel_takes_them(word: str, value: int | None) -> None:
    assert number(word) == value


def test_values_are_compared_by_type() -> None:
    assert CHANGER.same("k", "4096\t131072\t12582912", " 0x1000 0400000  12582912\n")
    assert not CHANGER.same("k", "4096 131072", "4096 131072 12582912")
    assert not CHANGER.same("k", "fq", "fq_codel")
    assert canonical("0x10\t010 fq") == "16 8 fq"
    assert CHANGER.same("qdisc/eth0", "qdisc fq 8001: root refcnt 2 limit 10000p", "fq")
    assert not CHANGER.same("qdisc/eth0", "qdisc fq 8001: root", "fq_codel")


def test_queues_under_mq() -> None:
    same = "qdisc mq 0: root\nqdisc fq_codel 0: parent :2 limit 1\nqdisc fq_codel 0: parent :1 limit 1"
    assert qdisc_kinds(same) == ("fq_codel",)
    mixed = same.replace("fq_codel 0: parent :1", "fq 0: parent :1")
    assert qdisc_kinds(mixed) == ("mq",)
    assert qdisc_kinds(
        "qdisc htb 1: root r2q 10\nqdisc fq 2: parent 1:1\nqdisc clsact ffff: parent ffff:fff1"
    ) == ("htb",)
    assert CHANGER.shown("qdisc/eth0", same) == "fq_codel"
    assert CHANGER.shown("net.ipv4.tcp_sack", "1") == "1"
    assert CHANGER.shown("qdisc/eth0", None) is None


def test_where_a_key_is() -> None:
    assert address("net.ipv4.tcp_rmem") == ("sysctl", "/proc/sys/net/ipv4/tcp_rmem")
    assert address("net.ipv4.conf.eth0/100.mtu") == ("sysctl", "/proc/sys/net/ipv4/conf/eth0.100/mtu")
    assert address("qdisc/eth0.100") == ("qdisc", "eth0.100")
    assert address("tso/eth0") == ("tso", "eth0")


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("os", ["linux", "freebsd"])
def test_shellcheck_finds_no_fault_in_what_runs_on_a_host(os: str) -> None:
    """Unused variables are no fault: a part of the text serves several scripts."""
    changer = get_changer(os)
    assert isinstance(changer, PosixChanger)
    job = Job("ID", "me", "h", "now", 60, (JobStep(1, "net.x", "1", "0"),), paths=("/etc/f",), modules=("m",))
    family, files = changer.family, [FileState("/etc/f", b"'x\n")]
    for text in (
        scripts.saved_script(family, job),
        scripts.begin(family, job, "00"),
        scripts.write(family, job, "00"),
        scripts.confirm(family, job, "00", files),
        scripts.status(family, "ID", "00", restore=True),
    ):
        argv = ["shellcheck", "-s", "sh", "-S", "warning", "-e", "SC2034", "-"]
        done = subprocess.run(argv, input=text, capture_output=True, text=True)
        assert done.stdout == ""


_SPECIAL = re.compile(
    r"(?:^|[;&|({]|\b(?:if|then|else|do))\s*(?::|\.|eval|export|readonly|set|shift|trap|unset)\s[^#;&|]*[<>]"
)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_a_file_that_can_not_be_made_does_not_end_the_shell(shell: list[str], tmp_path: Path) -> None:
    script = f"true 2>/dev/null >{quote(str(tmp_path / 'no' / 'x'))} || echo refused"
    assert run(shell, script) == b"refused\n"


def test_no_special_builtin_is_redirected_in_what_runs_on_a_host() -> None:
    """POSIX 2.8.1: where its redirection fails the shell ends (dash does), and no `||` is reached."""
    assert _SPECIAL.search("\t: >x || refuse")
    assert _SPECIAL.search("a && : >x")
    assert not _SPECIAL.search("true >x; : && cat <x")
    texts = sorted(Path(scripts.__file__).parents[1].glob("*/*.sh"))
    assert len(texts) >= 8
    found = [
        f"{text.name}: {line}"
        for text in texts
        for line in text.read_text(encoding="utf-8").splitlines()
        if _SPECIAL.search(line)
    ]
    assert found == []


def test_a_report_that_is_cut_names_its_host() -> None:
    result = CommandResult(b"\n@@hostcfg 00 begin identity\n", b"", 2, "lon-1")
    job = Job("ID", "me", "h", "now", 60, ())
    for read in (CHANGER.read_begin, CHANGER.read_write, CHANGER.read_confirm):
        with pytest.raises(HostError, match=r"^lon-1: the output ends"):
            read(job, "00", result)
    with pytest.raises(HostError, match=r"^lon-1: the output ends"):
        CHANGER.read_status("00", result)
