"""Every wrong call is one line on stderr that says what to do, exit 2, and nothing half-written."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.program import hostcfg

if TYPE_CHECKING:
    from pathlib import Path

FACTS = "net.ipv4.tcp_rmem = 4096 131072 6291456\nnet.core.rmem_max = 212992\n"
WAN = ("--profile", "wan")
LINK = ("--rate", "1gbit", "--rtt", "80ms")


@pytest.fixture
def far_end(tmp_path: Path) -> str:
    path = tmp_path / "far.txt"
    path.write_text(FACTS)
    return f"file:{path}"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--profile", "wam", *LINK], ("wam", "wan")),
        ([*WAN, "--rate", "0mbit", "--rtt", "80ms"], ("rate", "0mbit")),
        ([*WAN, "--rate", "1gbit", "--rtt=-5ms"], ("-5ms",)),
        ([*WAN, "--rate", "1gbit", "--rtt", "80"], ("80", "80ms")),
        ([*WAN, "--rate", "100", "--rtt", "80ms"], ("100", "100mbit")),
        ([*WAN, "--rate", "nan", "--rtt", "80ms"], ("nan",)),
        ([*WAN, "--rate", "1gbit"], ("--rtt 80ms",)),
        ([*WAN], ("rate", "RTT")),
        ([*WAN, *LINK, "--set", "streams"], ("streams", "INPUT=VALUE")),
        ([*WAN, *LINK, "--set", "streems=4"], ("streems", "streams")),
        ([*WAN, *LINK, "--set", "streams=0"], ("streams",)),
        ([*LINK], ("--profile",)),
        ([], ("--profile",)),
    ],
)
def test_a_wrong_call_of_diff(far_end: str, arguments: list[str], says: tuple[str, ...]) -> None:
    line = hostcfg("diff", far_end, *arguments).one_line_of_trouble()
    assert all(word in line for word in says), line


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        ("name: p\n\tsummary: x\n", ("p.yaml:2", "tab")),
        ("name: p\nname: q\n", ("p.yaml:2", "name")),
        (
            (
                "name: p\nsummary: s\nwhen: w\nsettings:\n  recv_buffer_max:\n    rule: at_least\n"
                "    value: bdb * 2\n    reason: r\n    source: s\n"
            ),
            ("p.yaml:7", "bdb", "bdp"),
        ),
        (
            (
                "name: p\nsummary: s\nwhen: w\nsettings:\n  recv_buffer_max:\n    rule: at_least\n"
                "    value: bdp / 0\n    reason: r\n    source: s\n"
            ),
            ("p.yaml:7", "zero"),
        ),
        (
            (
                "name: p\nsummary: s\nwhen: w\nsettings:\n  recv_bufer_max:\n    rule: at_least\n"
                "    value: bdp\n    reason: r\n    source: s\n"
            ),
            ("p.yaml:5", "recv_buffer_max"),
        ),
        ("", ("p.yaml", "empty")),
    ],
)
def test_a_wrong_profile_names_file_line_and_key(
    tmp_path: Path, far_end: str, profile: str, says: tuple[str, ...]
) -> None:
    (tmp_path / "p.yaml").write_text(profile)
    line = hostcfg("diff", far_end, "--profile", tmp_path / "p.yaml", *LINK).one_line_of_trouble()
    assert all(word in line for word in says), line


def test_profiles_check_lists_every_fault(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("name: P!\nsummary: s\nwhen: w\nsettings:\n  nonsense: 1\n")
    ran = hostcfg("profiles", "check", tmp_path / "p.yaml")
    assert ran.code == 2
    assert len(ran.stderr.splitlines()) >= 2
    assert all("p.yaml:" in line for line in ran.stderr.splitlines())


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("no-such-host.invalid", ("no-such-host.invalid",)),
        ("127.0.0.1:1", ("127.0.0.1:1", "port")),
        ("file:/no/such/file", ("/no/such/file", "No such file")),
        ("file:", ("path",)),
        ("file:/proc/sys", ("/proc/sys", "no files")),
        ("file:/proc/sys/*", ("/proc/sys/*", "no file")),
        ("@lon", ("@lon", "inventory")),
        ("lon-*", ("lon-*", "inventory")),
        ("-oProxyCommand=id", ("ProxyCommand",)),
        ("", ("''",)),
        ("a b", ("a b",)),
        ("root@", ("root@",)),
        ("host:99999", ("99999",)),
    ],
)
def test_a_target_that_can_t_be_read(tmp_path: Path, target: str, says: tuple[str, ...]) -> None:
    ran = hostcfg("show", "--timeout", "5", "--", target, home=tmp_path)
    line = ran.one_line_of_trouble()
    assert all(word in line for word in says), line


def test_one_bad_host_does_not_hide_the_others(tmp_path: Path, far_end: str) -> None:
    ran = hostcfg("diff", far_end, "file:/no/such/file", *WAN, *LINK, "-o", "json")
    assert ran.code == 2
    first, second = ran.document["hosts"]
    assert first["status"] == "differs"
    assert first["error"] is None
    assert (second["status"], second["error"]["kind"], second["differences"]) == ("error", "input", [])
    assert "/no/such/file" in ran.stderr


@pytest.mark.parametrize("seed", range(3))
def test_ten_megabytes_of_garbage(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "garbage"
    path.write_bytes(random.Random(seed).randbytes(10_000_000))
    line = hostcfg("show", f"file:{path}").one_line_of_trouble()
    assert "garbage" in line
    assert hostcfg("parse", path).one_line_of_trouble()


def test_every_command_refuses_what_is_no_text_in_the_same_words(tmp_path: Path, far_end: str) -> None:
    path = tmp_path / "program"
    path.write_bytes(random.Random(1).randbytes(1000))
    for call in (
        ("show", f"file:{path}"),
        ("snapshot", f"file:{path}"),
        ("diff", f"file:{path}", *WAN, *LINK),
        ("diff", f"file:{path}", far_end),
        ("path", far_end, f"file:{path}", *LINK),
        ("path", far_end, "local", *LINK, "--iperf3", path),
        ("parse", path),
        ("parse", "--as", "sysctl", path),
    ):
        line = hostcfg(*call, cwd=tmp_path).one_line_of_trouble()
        assert "program: is no text" in line, call


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_and_one_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "far.txt").write_text(FACTS)
    line = hostcfg("show", "file:fifo", cwd=tmp_path).one_line_of_trouble()
    assert "fifo: is a named pipe" in line
    call = f"{sys.executable} -m hostcfg parse -o json"
    for shell in (
        f"{call} <(cat far.txt)",
        f"cat far.txt | {call} /dev/stdin",
        f"cat far.txt > fifo & {call} fifo; wait",
    ):
        done = subprocess.run(
            ["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        )
        assert '"net.core.rmem_max": 212992' in done.stdout, shell


def test_a_text_cut_in_the_middle_of_a_triple_is_not_read_as_another_value(tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_text("net.core.rmem_max = 212992\nnet.ipv4.tcp_rmem = 4096 1310")
    reading = hostcfg("show", f"file:{path}", "-o", "json").document["hosts"][0]["settings"][
        "recv_buffer_max"
    ]
    assert reading["value"] is None
    assert reading["state"] in {"unparsed", "absent"}


def test_a_damaged_snapshot_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"schema": "hostcfg.snapshot/1", "host": "a", "os": "linux", "tak')
    assert "s.json:1" in hostcfg("show", f"file:{path}").one_line_of_trouble()
    path.write_text('{"schema": "hostcfg.snapshot/9", "host": "a"}')
    assert "hostcfg.snapshot/9" in hostcfg("show", f"file:{path}").one_line_of_trouble()


def test_a_snapshot_of_a_system_that_this_release_does_not_know_is_named(tmp_path: Path) -> None:
    (tmp_path / "far.txt").write_text(FACTS)
    path = tmp_path / hostcfg("snapshot", "file:far.txt", "-d", ".", cwd=tmp_path).stdout.strip()
    path.write_text(path.read_text().replace('"linux"', '"beos"'))
    line = hostcfg("show", f"file:{path}").one_line_of_trouble()
    assert f"{path}: unknown operating system 'beos'" in line


def test_a_text_of_two_keys_says_how_little_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "far.txt"
    path.write_text(
        "FreeBSD 14.2\nkern.ostype: FreeBSD\nnet.inet.tcp.sendspace: 32768\nnet.inet.tcp.recvspace: 65536\n"
    )
    shown = hostcfg("show", f"file:{path}", "-o", "json").document["hosts"][0]
    said = {finding["kind"]: finding["message"] for finding in shown["findings"]}
    # of 34 neutral settings a FreeBSD has 23, as the README's table of settings says
    assert said["partial"] == "the text holds 2 of 23 settings; the others are absent"


def test_a_snapshot_that_can_t_be_written_leaves_nothing(tmp_path: Path, far_end: str) -> None:
    (tmp_path / "taken").write_text("a file where a directory is wanted")
    assert "taken" in hostcfg("snapshot", far_end, "-d", tmp_path / "taken").one_line_of_trouble()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["far.txt", "taken"]


def test_an_unknown_command_names_the_nearest() -> None:
    ran = hostcfg("dif", "local")
    assert ran.code == 2
    assert "diff" in ran.stderr


def test_nobody_to_ask_is_no_yes(far_end: str, tmp_path: Path) -> None:
    line = hostcfg("apply", "local", *WAN, *LINK, home=tmp_path).one_line_of_trouble()
    assert "--yes" in line


def test_a_reader_that_goes_away_is_no_difference_and_no_traceback(far_end: str) -> None:
    shell = f"{sys.executable} -m hostcfg show {far_end} -o json | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, check=False)
    assert (done.returncode, done.stderr) in ((141, b""), (0, b""))  # 0: it was faster than true


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_output_that_can_t_be_written_is_trouble(far_end: str, redirection: str) -> None:
    shell = f"{sys.executable} -m hostcfg show {far_end} {redirection}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "fault in hostcfg" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize("arguments", [("parse", "/dev/zero"), ("show", "file:/dev/zero")])
def test_a_file_without_end(arguments: tuple[str, ...]) -> None:
    assert "64 MiB" in hostcfg(*arguments).one_line_of_trouble()


def test_a_directory_that_can_t_be_one(far_end: str) -> None:
    assert "/dev/null/x" in hostcfg("snapshot", far_end, "-d", "/dev/null/x").one_line_of_trouble()


def test_a_wrong_kind_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "far.txt").write_text(FACTS)
    line = hostcfg("parse", "--as", "netstat-m", tmp_path / "far.txt").one_line_of_trouble()
    assert "netstat-m" in line


def test_a_file_that_was_meant_as_one(tmp_path: Path) -> None:
    (tmp_path / "far.txt").write_text(FACTS)
    assert "file:far.txt" in hostcfg("show", "far.txt", cwd=tmp_path).one_line_of_trouble()


def test_a_path_without_rate_and_rtt_names_both(far_end: str) -> None:
    line = hostcfg("path", "local", far_end).one_line_of_trouble()
    assert "--rate" in line
    assert "--rtt" in line
