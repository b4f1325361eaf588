"""Fleets on the command line, without any host: inventories, selections, and calls that are wrong."""

from __future__ import annotations

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


def run(fleet: Path, *words: str) -> Ran:
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
        (["apply", "all", *WAN, "--yes"], "lon-1 is a file: it can be planned with render, and not changed"),
        (["apply", "all", *WAN, "--yes", "--batch", "0"], "--batch '0': give sizes as in 1,10%,100%"),
        (["apply", "all", *WAN, "--yes", "--check", "'x"], '--check "\'x": No closing quotation'),
        (["apply", "all", *WAN, "--yes", "--check", " "], "--check takes a command"),
        (["apply", *WAN, "--yes"], "give hosts and --profile NAME, or --resume ID"),
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
