"""Commands import what they need: no SSH for a file, no tables for JSON, no comparison for a profile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = {
    "paramiko", "cryptography", "deepdiff", "rich", "ruamel", "simpleeval", "psutil", "sqlite3",
    "platformdirs", "jinja2", "pygal", "yaml", "subprocess", "socket", "ssl", "asyncio", "unittest",
}  # fmt: skip
"""Top-level modules that a command pays for only if it needs them."""

PROGRAM = """
import json, sys
from hostcfg.cli import main
try:
    main()
except SystemExit:
    pass
own = sorted({".".join(m.split(".")[:3]) for m in sys.modules if m.startswith("hostcfg.platforms.")})
print(json.dumps([sorted({m.split(".")[0] for m in sys.modules}), own]), file=sys.stderr)
"""

FACTS = "net.ipv4.tcp_rmem = 4096 131072 6291456\n"


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    (tmp_path / "far.txt").write_text(FACTS)
    call = [sys.executable, "-m", "hostcfg", "snapshot", "file:far.txt", "-d", "."]
    taken = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()
    return f"file:{tmp_path / taken}"


def imported(*args: str) -> tuple[set[str], set[str]]:
    """Heavy top-level modules, and modules of platforms, that a call of hostcfg leaves imported."""
    # a measurement of coverage would import for itself
    alone = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    call = [sys.executable, "-c", PROGRAM, *args]
    done = subprocess.run(call, capture_output=True, text=True, check=True, env=alone)
    top, own = json.loads(done.stderr.splitlines()[-1])
    return set(top) & HEAVY, set(own)


def test_version_needs_click_alone() -> None:
    heavy, platforms = imported("--version")
    assert heavy == set()
    assert platforms == set()


def test_help_imports_no_command() -> None:
    assert imported("--help")[0] == set()


LINK = ("--rate", "1gbit", "--rtt", "80ms")


def test_a_snapshot_against_a_profile_as_json(snapshot: str) -> None:
    heavy, platforms = imported("diff", snapshot, "-p", "wan", *LINK, "-o", "json")
    assert heavy == {"ruamel", "simpleeval"}
    assert {
        p for p in platforms if p.split(".")[2] in {"freebsd", "windows", "macos", "bsd", "iperf"}
    } == set()


def test_the_same_as_a_table_needs_rich_too(snapshot: str) -> None:
    assert imported("diff", snapshot, "-p", "wan", *LINK)[0] == {"ruamel", "simpleeval", "rich"}


def test_host_against_host_needs_the_comparison_library_and_no_profile(snapshot: str) -> None:
    heavy, _ = imported("diff", snapshot, snapshot, "-o", "json")
    assert "deepdiff" in heavy
    assert not heavy & {"paramiko", "rich", "ruamel", "simpleeval"}


def test_show_of_a_file_as_json_needs_no_library(snapshot: str) -> None:
    assert imported("show", snapshot, "-o", "json")[0] == set()


def test_a_page_needs_the_libraries_of_its_extra(snapshot: str) -> None:
    heavy, platforms = imported("show", snapshot, "-o", "html")
    assert heavy == {"jinja2", "pygal"}
    assert {p for p in platforms if p.split(".")[2] in {"freebsd", "windows", "macos", "bsd"}} == set()
