"""Fleets on the command line, without any host: inventories, selections, and calls that are wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.program import Ran, hostcfg

if TYPE_CHECKING:
    from pathlib import Path

FLEET = """
hosts:
  lon-1: {address: "file:lon-1.txt", rate: 1gbit}
  lon-2: {address: "file:lon-2.txt"}
  sin-1: {address: "file:sin-1.txt"}
  sin-2: {address: "file:sin-2.txt"}
groups:
  london: ["lon-[1:2]"]
  asia: [sin-1, sin-2]
paths:
  - {from: lon-1, to: sin-1, rate: 1gbit, rtt: 170ms}
  - {from: lon-2, to: missing-end, rtt: 170ms}
"""
WAN = ("--profile", "wan", "--rate", "1gbit", "--rtt", "80ms")
LINK = ("--rate", "1gbit", "--rtt", "80ms")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    for number, name in enumerate(("lon-1", "lon-2", "sin-1", "sin-2"), 1):
        rmem = 6291456 if number < 4 else 67108864
        (tmp_path / f"{name}.txt").write_text(
            f"net.ipv4.tcp_rmem = 4096 131072 {rmem}\nnet.ipv4.tcp_wmem = 4096 16384 4194304\n"
        )
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET.replace("missing-end", "sin-2"))
    return path


def run(fleet: Path, *words: str | Path) -> Ran:
    return hostcfg(*words, "-i", fleet, home=fleet.parent, HOSTCFG_STATE=str(fleet.parent / "state"))


def names(ran: Ran) -> list[str]:
    return [host["host"] for host in ran.document["hosts"]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["all"], ["lon-1", "lon-2", "sin-1", "sin-2"]),
        (["@asia"], ["sin-1", "sin-2"]),
        (["asia", "lon-2"], ["sin-1", "sin-2", "lon-2"]),
        (["*-1"], ["lon-1", "sin-1"]),
        (["all", "--limit", "@london"], ["lon-1", "lon-2"]),
        (["all", "--exclude", "lon-*,sin-2"], ["sin-1"]),
        (["all", "--limit", "sin-1", "--limit", "lon-1"], ["lon-1", "sin-1"]),
    ],
)
def test_targets_of_an_inventory(fleet: Path, words: list[str], expected: list[str]) -> None:
    ran = run(fleet, "show", *words, "-o", "json")
    assert (ran.code, ran.stderr) == (0, "")
    assert names(ran) == expected


def test_a_fleet_is_a_row_each_the_most_differences_first(fleet: Path) -> None:
    ran = run(fleet, "diff", "all", *WAN)
    assert ran.code == 1
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("4 hosts  4 differ from wan at 1 Gbit/s x 80 ms")
    rows = [line.split()[0] for line in lines[2:] if line.startswith("  ") and not line.startswith("   ")]
    assert rows[-1] == "sin-2"
    assert sorted(rows) == ["lon-1", "lon-2", "sin-1", "sin-2"]
    assert "recv_buffer_max" not in ran.stdout.split("sin-2")[1]
    whole = run(fleet, "diff", "all", *WAN, "-v")
    assert whole.stdout.startswith(ran.stdout.rstrip("\n"))
    assert whole.stdout.count("6291456") >= 3


def test_become_takes_its_way_and_says_so(fleet: Path) -> None:
    ran = run(fleet, "show", "--become", "lon-1")
    assert ran.code == 2
    said = "'lon-1' is no way to become root: give --become sudo or --become doas."
    assert said in " ".join(ran.stderr.split())
    assert "--become [sudo|doas]" in " ".join(run(fleet, "show", "--help").stdout.split())


def test_every_path_of_the_inventory(fleet: Path) -> None:
    ran = run(fleet, "path", "--all", "-o", "json")
    ends = [(p["directions"][0]["from"], p["directions"][0]["to"]) for p in ran.document["paths"]]
    assert ends == [("lon-1", "sin-1")]
    assert ran.code == 2  # the second one has no rate
    assert "--rate 100mbit" in ran.stderr


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["show", "@nobody"], "'@nobody' matches nothing: the inventory has no such host or group"),
        (["show", "nob*"], "'nob*' matches nothing"),
        (["show", "all", "--limit", "lno-1"], "--limit 'lno-1' names no host"),
        (["show", "@asia", "--limit", "lon-1"], "--limit and --exclude leave no host"),
        (["apply", "all", *WAN, "--yes"], "lon-1 is a file, and can't be changed: plan prints the commands"),
        (["apply", "all", *WAN, "--yes", "--batch", "0"], "--batch '0': give sizes as in 1,10%,100%"),
        (["apply", "all", *WAN, "--yes", "--check", "'x"], '--check "\'x": /bin/sh: '),
        (["apply", "all", *WAN, "--yes", "--check", " "], "--check takes a command"),
        (["apply", "all", *WAN, "--dry-run", "--batch", "0"], "--batch '0': give sizes as in 1,10%,100%"),
        (["apply", "all", *WAN, "--dry-run", "--check", " "], "--check takes a command"),
        (["apply", *WAN, "--yes"], "give names, globs, @group or all, or --limit PATTERN"),
        (["apply", "all", "--yes"], "give hosts and --profile NAME, or --resume ID"),
        (["apply", "--resume", "x"], "no change 'x' in"),
        (
            ["apply", "all", "--resume", "x", "--batch", "2", "--persist", *WAN],
            "leave out TARGET, -p, --rate, --rtt, --persist, --batch",
        ),
    ],
)
def test_calls_that_are_wrong(fleet: Path, words: list[str], fault: str) -> None:
    assert fault in run(fleet, *words).one_line_of_trouble()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["lon*x"], "'lon*x' matches nothing: the inventory has no such host or group; did you mean 'lon-"),
        (["@londn"], "no such host or group; did you mean '@london'?"),
        (["all", "--limit", "lon*x"], "--limit 'lon*x' names no host; did you mean 'lon-"),
        (["all", "--limit", "asja"], "--limit 'asja' names no host; did you mean 'asia'?"),
        (["all", "--exclude", "sin-3"], "--exclude 'sin-3' names no host; did you mean 'sin-"),
        (["all", "--exclude", "all"], "--limit and --exclude leave no host"),
        (["all", "--timeout", "0.5", "--limit", "zzz"], "--limit 'zzz' names no host"),
    ],
)
def test_a_slip_is_told_with_the_nearest_name(fleet: Path, words: list[str], fault: str) -> None:
    assert fault in run(fleet, "show", *words).one_line_of_trouble()


def test_a_name_that_nobody_knows_may_be_a_slip_of_one_that_is_known(fleet: Path) -> None:
    (fleet.parent / ".ssh").mkdir()
    (fleet.parent / ".ssh/config").write_text("Host *\n  CanonicalizeHostname no\n")
    for slip, meant in (
        ("locl", "local"),
        ("londn", "london"),
        ("lon-9", "lon-"),
    ):
        ran = run(fleet, "show", slip, "--timeout", "20")
        assert ran.code == 2
        assert f"did you mean '{meant}" in ran.stderr
    alone = hostcfg("show", "all", "--timeout", "20", home=fleet.parent)
    assert "all hosts of an inventory need one: give -i FILE" in alone.stderr


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("hosts: {}\n", "all"),
        ("hosts: {a: {}}\ngroups: {g: []}\n", "@g"),
        ("hosts: {a: {}}\ngroups: {g: []}\n", "g"),
    ],
)
def test_nothing_to_do_is_said(text: str, target: str, tmp_path: Path) -> None:
    (tmp_path / "i.yaml").write_text(text)
    ran = run(tmp_path / "i.yaml", "show", target)
    assert ran.one_line_of_trouble() == f"hostcfg: {target!r} has no hosts in this inventory"


def test_a_plan_tells_which_hosts_have_none(fleet: Path) -> None:
    (fleet.parent / "lon-2.txt").unlink()
    ran = run(fleet, "plan", "@london", *WAN, "-o", "json")
    assert ran.code == 2
    one, two = ran.document["hosts"]
    assert (one["host"], one["os"], one["status"], one["error"], len(one["steps"]) > 0) == (
        *("lon-1", "linux", "ok", None),
        True,
    )
    assert (two["host"], two["os"], two["status"], two["steps"]) == ("lon-2", None, "error", [])
    assert two["error"]["kind"] == "input"


def test_snapshots_are_refused_before_any_host_is_asked(fleet: Path) -> None:
    fleet.write_text("hosts:\n  A: {address: 'file:lon-1.txt'}\n  a: {address: 'file:lon-1.txt'}\n")
    line = run(fleet, "snapshot", "all", "-d", fleet.parent / "out").one_line_of_trouble()
    assert line == "hostcfg: A and a would both write a.json: take them into two directories"
    line = run(fleet, "snapshot", "a", "-d", fleet).one_line_of_trouble()
    assert line == f"hostcfg: {fleet}: can't be written: File exists"


def test_nan_is_no_time(fleet: Path) -> None:
    ran = run(fleet, "show", "all", "--timeout", "nan")
    assert (ran.code, "nan is no number of seconds" in ran.stderr) == (2, True)


def test_one_host_under_two_names_is_not_changed_twice(tmp_path: Path) -> None:
    path = tmp_path / "i.yaml"
    path.write_text(
        "hosts:\n  a: {address: 192.0.2.1}\n  b: {address: root@192.0.2.1}\n"
        "  c: {address: 192.0.2.1, port: 2222}\n"
    )
    ran = run(path, "apply", "all", *WAN, "--yes", "--timeout", "1")
    assert ran.one_line_of_trouble() == ("hostcfg: a and b are one host: leave one of them out (--exclude)")


def test_a_dry_run_refuses_two_names_of_one_host_as_apply_does(tmp_path: Path) -> None:
    (tmp_path / "i.yaml").write_text("hosts:\n  a: {address: 192.0.2.7}\n  b: {address: 192.0.2.7}\n")
    for words in (("--yes",), ("--dry-run",)):
        ran = run(tmp_path / "i.yaml", "apply", "all", *WAN, *words)
        assert "a and b are one host: leave one of them out" in ran.one_line_of_trouble()


def test_names_that_resolve_nowhere_are_a_line_each(tmp_path: Path) -> None:
    """And the look-ups go side by side: a hundred of them must not take a hundred time-outs."""
    path = tmp_path / "many.txt"
    path.write_text("".join(f"n{number}.invalid\n" for number in range(120)))
    ran = run(path, "show", "all", "-o", "json", "--timeout", "15")
    assert ran.code == 2
    assert {host["error"]["kind"] for host in ran.document["hosts"]} <= {"unreachable", "timeout"}
    assert sum(line.startswith("hostcfg: n") for line in ran.stderr.splitlines()) == 120


def test_a_low_limit_on_open_files_is_said_since_it_makes_a_fleet_slow(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("[all]\nn[01:20] ansible_host=127.0.0.1 ansible_port=1\n")
    call = f"{sys.executable} -m hostcfg show all -i {tmp_path}/hosts -o json"
    env = {**os.environ, "HOME": str(tmp_path)}
    said = {}
    for limit in (64, 1024):
        shell = f"ulimit -n {limit}; {call}"
        done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, env=env, check=False)
        said[limit] = [line for line in done.stderr.splitlines() if "closed" not in line]
    note = "hostcfg: note: only 10 hosts at once: raise the limit on open files (ulimit -n)"
    assert said == {64: [note], 1024: []}


def test_descriptors_threads_and_closed_streams(fleet: Path) -> None:
    """What a shell may have narrowed or closed does not decide about the result."""
    call = f"{sys.executable} -m hostcfg show all -i {fleet} -o json"
    env = {**os.environ, "HOME": str(fleet.parent)}
    for shell, code in (
        (f"ulimit -n 20; {call}", 0),
        (f"{call} 2>&-", 0),
        (f"{call} >&-", 2),
        (f"{call} >/dev/full", 2),
        (f"{call} <&-", 0),
        (f"{call} -v 2>/dev/full", 0),
        (f"{call} <&- >&- 2>&-", 2),
        (f"{sys.executable} -m hostcfg show no-such-host.invalid <&-", 2),
        (f"{sys.executable} -m hostcfg show file:/no/such/file 2>/dev/full", 2),
        (f"{sys.executable} -m hostcfg nonsense 2>/dev/full", 2),
    ):
        done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, text=True, env=env, check=False)
        assert (shell, done.returncode) == (shell, code)
        assert "Traceback" not in done.stderr
    piped = f"{{ {call} -v; echo code $? >&2; }} | head -1"
    done = subprocess.run(["/bin/sh", "-c", piped], capture_output=True, text=True, env=env, check=False)
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


def test_an_inventory_that_is_wrong_is_named_with_its_line(fleet: Path) -> None:
    fleet.write_text(FLEET)
    ran = run(fleet, "show", "lon-1")
    assert ran.one_line_of_trouble() == (
        f"hostcfg: {fleet}:12: to: 'missing-end' is not among the hosts; known are lon-1, lon-2, sin-1, sin-2"
    )


def test_one_faulty_entry_is_the_fault_of_its_host_alone(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("here ansible_connection=local\nfar ansible_host='{{ x }}'\n")
    ran = run(tmp_path / "hosts", "show", "all", "-o", "json")
    assert ran.code == 2
    assert [(h["host"], h["status"]) for h in ran.document["hosts"]] == [("here", "ok"), ("far", "error")]
    assert ran.document["hosts"][1]["error"]["kind"] == "inventory"
    assert ran.stderr == (
        f"hostcfg: {tmp_path}/hosts:2: far: ansible_host: is a template ({{{{ x }}}}), which Ansible alone"
        " can fill in: write the value itself, or put it into ~/.ssh/config\n"
    )


def test_notes_on_an_inventory_come_with_verbose(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("here ansible_connection=local ansible_become_pass=hunter2\n")
    assert run(tmp_path / "hosts", "show", "all", "-o", "json").stderr == ""
    told = run(tmp_path / "hosts", "show", "all", "-o", "json", "-v").stderr
    assert "hostcfg: note: " in told
    assert "ansible_become_pass is not read" in told
    assert "hunter2" not in told


def test_nothing_is_unfinished_in_a_new_journal(fleet: Path) -> None:
    ran = run(fleet, "rollback", "--unfinished", "--yes")
    assert (ran.code, ran.stderr) == (0, "hostcfg: nothing is unfinished\n")
