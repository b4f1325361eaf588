"""Keys that nobody can write on a host are planned around, and said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hostcfg.compare import compare_with_targets
from hostcfg.model import Section, Target
from hostcfg.plan import make_plan
from hostcfg.platforms import get_platform

if TYPE_CHECKING:
    from pathlib import Path

LINUX = get_platform("linux")
PROC = "/proc/sys/net/core/rmem_max:212992\n/proc/sys/net/ipv4/tcp_rmem:4096\t131072\t6291456\n"
MODES = "-r--r--r-- 1 root root 0 Nov 30 17:00 /proc/sys/net/core/rmem_max\n"
WANTED = [
    Target("recv_buffer_max", "at_least", 33554432, "because", "tcp(7)"),
    Target("recv_explicit_max", "at_least", 33554432, "because", "socket(7)"),
]


def test_a_key_that_nobody_can_write_is_left_out_with_its_reason() -> None:
    sections = [Section("proc-sys", PROC), Section("linux-modes", MODES)]
    facts = LINUX.assemble("h", sections)
    differences = compare_with_targets(facts, WANTED, LINUX).differences
    assert [d.key for d in differences] == ["net.ipv4.tcp_rmem", "net.core.rmem_max"]
    plan = make_plan(facts, differences, LINUX)
    assert [step.key for step in plan.steps] == ["net.ipv4.tcp_rmem"]
    assert any("net.core.rmem_max" in note and "nobody can write" in note for note in plan.notes)


def test_without_that_mark_both_are_planned() -> None:
    facts = LINUX.assemble("h", [Section("proc-sys", PROC)])
    plan = make_plan(facts, compare_with_targets(facts, WANTED, LINUX).differences, LINUX)
    assert {step.key for step in plan.steps} == {"net.ipv4.tcp_rmem", "net.core.rmem_max"}


PROFILE = """\
name: mine
summary: what can't be compared
when: in tests
settings:
  send_buffer_max: {rule: at_least, value: 64MiB, reason: long paths, source: tcp(7)}
  mtu_probing: {rule: exact, value: true, reason: black holes, source: RFC 4821}
  recv_autotuning: {rule: exact, value: true, reason: windows grow, source: tcp(7)}
os:
  linux:
    settings:
      net.ipv4.ip_forward: {rule: exact, value: 1, reason: a router, source: ip-sysctl}
"""
PASTED = """\
net.ipv4.tcp_rmem = 4096 131072 6291456
sysctl: permission denied on key 'net.ipv4.tcp_wmem'
net.ipv4.tcp_mtu_probing = zzz
"""


def test_a_plan_without_steps_says_what_it_could_not_compare(tmp_path: Path) -> None:
    """Denied, of no known form, absent, and named by the profile alone: each is told, with its reason."""
    (tmp_path / "mine.yaml").write_text(PROFILE)
    (tmp_path / "far.txt").write_text(PASTED)
    call = [sys.executable, "-m", "hostcfg", "plan", "file:far.txt", "-p", "./mine.yaml"]
    told = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert "nothing to do, but for what is noted" in told.stdout
    done = subprocess.run([*call, "-o", "json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["hosts"][0]["notes"] == [
        "not compared, since it may not be read: run as root or with --become: net.ipv4.tcp_wmem",
        "not compared, since it is not in a known form: net.ipv4.tcp_mtu_probing",
        "not compared, since it is not there: net.ipv4.tcp_moderate_rcvbuf",
        "not compared, since it is not among the keys that were read: net.ipv4.ip_forward",
    ]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a network namespace")
def test_a_real_network_namespace() -> None:
    """Since Linux 6.11 a child namespace shows rmem_max and lets nobody write it; before, it has none."""
    call = [
        sys.executable,
        "-m",
        "hostcfg",
        "plan",
        "local",
        "-p",
        "wan",
        "--rate",
        "10gbit",
        "--rtt",
        "80ms",
    ]
    done = subprocess.run(["unshare", "-n", *call, "-o", "json"], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    (host,) = json.loads(done.stdout)["hosts"]
    keys = {step["key"] for step in host["steps"]}
    assert "net.ipv4.tcp_wmem" in keys
    assert "net.core.rmem_max" not in keys
