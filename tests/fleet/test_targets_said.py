"""What is said of targets: a password in one is never shown, and --limit may choose without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostcfgError
from hostcfg.inventory import load_inventory
from tests.e2e.program import hostcfg

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter2"
HINT = "log in with a key or the agent, or give --ask-pass"
WAN = ("-p", "wan", "--rate", "1gbit", "--rtt", "80ms")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    for name in ("lon-1", "sin-1", "nyc-1"):
        (tmp_path / f"{name}.txt").write_text("net.ipv4.tcp_rmem = 4096 131072 6291456\n")
    hosts = "".join(f"  {name}: {{address: file:{name}.txt}}\n" for name in ("lon-1", "sin-1", "nyc-1"))
    path = tmp_path / "fleet.yaml"
    path.write_text(f"hosts:\n{hosts}groups:\n  edge: [lon-1, sin-1]\n  all3: [edge, nyc-1]\n")
    return path


@pytest.mark.parametrize(
    "target",
    [
        f"root:{SECRET}@h",
        f"root:{SECRET}@h:2222",
        f"ssh://root:{SECRET}@h",
        f"root:{SECRET}*@h",
        f"root:{SECRET}@x@h",
        f"root:{SECRET},[]@h",
    ],
)
def test_a_password_in_a_target_is_refused_and_not_shown(target: str, fleet: Path) -> None:
    for call in (["show", target], ["show", target, "-i", fleet], ["path", "local", target, *WAN[2:]]):
        said = hostcfg(*call).one_line_of_trouble()
        assert SECRET not in said
        assert HINT in said


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fleet.yaml", f"hosts: ['root:{SECRET}@h']"),
        ("fleet.yaml", f"hosts:\n  root:{SECRET}@h: {{port: 22}}"),
        ("fleet.yaml", f"hosts:\n  h: {{address: 'root:{SECRET}@h'}}"),
        ("fleet.yaml", f"hosts:\n  h: {{user: 'root:{SECRET}'}}"),
        ("fleet.yaml", f"hosts:\n  h: {{jump: 'root:{SECRET}@j'}}"),
        ("hosts.txt", f"root:{SECRET}@h\n"),
        ("hosts.ini", f"[web]\nroot:{SECRET}@h ansible_port=22\n"),
    ],
)
def test_nor_is_one_in_an_inventory(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(HostcfgError) as failed:
        load_inventory(tmp_path / name)
    assert SECRET not in str(failed.value)
    assert HINT in str(failed.value)


def test_limit_alone_chooses_of_the_inventory(fleet: Path) -> None:
    shown = hostcfg("show", "-i", fleet, "--limit", "@edge", "-o", "json").document
    assert [host["host"] for host in shown["hosts"]] == ["lon-1", "sin-1"]
    plans = hostcfg("plan", "-i", fleet, "--limit", "nyc-1", *WAN, "-o", "json").document
    assert [host["host"] for host in plans["hosts"]] == ["nyc-1"]


@pytest.mark.parametrize("command", [["show"], ["diff", *WAN], ["plan", *WAN], ["snapshot"], ["apply", *WAN]])
def test_an_inventory_alone_does_not_choose(command: list[str], fleet: Path) -> None:
    said = hostcfg(*command, "-i", fleet).one_line_of_trouble()
    assert said.endswith("fleet.yaml? give names, globs, @group or all, or --limit PATTERN")


def test_without_both_a_target_is_missing() -> None:
    ran = hostcfg("show", "--limit", "x")
    assert ran.code == 2
    assert "Missing argument 'TARGET...'" in ran.stderr
    assert "Usage: hostcfg show" in ran.stderr


def test_groups_hold_groups_by_their_names(fleet: Path) -> None:
    assert load_inventory(fleet).match_names("@all3") == ["lon-1", "sin-1", "nyc-1"]


def test_a_host_comes_before_a_group_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("hosts: [edge, lon-1]\ngroups:\n  edge: [edge, lon-1]\n  one: [edge]\n  two: ['@edge']\n")
    found = load_inventory(path).groups
    assert (found["edge"], found["one"], found["two"]) == (["edge", "lon-1"], ["edge"], ["edge", "lon-1"])


def test_a_loop_of_groups_is_one_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("hosts: [a]\ngroups:\n  g: [a, h]\n  h: [g]\n")
    with pytest.raises(HostcfgError, match=r"f.yaml:3: @g: is within itself: g -> h -> g"):
        load_inventory(path)


def test_many_ways_to_one_group_are_gone_once(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    rows = "".join(f"  g{n}: [g{n - 1}, '@g{n - 1}']\n" for n in range(60, 0, -1))
    path.write_text(f"hosts: [a]\ngroups:\n{rows}  g0: [a]\n")
    assert load_inventory(path).match_names("@g60") == ["a"]
