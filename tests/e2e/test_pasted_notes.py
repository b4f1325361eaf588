"""What nobody understood of a pasted text is told by every command that used the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.program import hostcfg

if TYPE_CHECKING:
    from pathlib import Path

LINK = ("--rate", "1gbit", "--rtt", "10ms")
SAID = "1 line was not understood, the first is 'hello world'"


@pytest.fixture
def far(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("a", "hello world\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n"), ("b", "")):
        (tmp_path / f"{name}.txt").write_text(f"{text}net.ipv4.tcp_wmem = 4096 16384 4194304\n")
    return f"file:{tmp_path}/a.txt", f"file:{tmp_path}/b.txt"


@pytest.mark.parametrize("command", ["show", "diff to a profile", "diff", "path"])
def test_in_the_table_and_in_json(command: str, far: tuple[str, str]) -> None:
    a, b = far
    call = {
        "show": ["show", a],
        "diff to a profile": ["diff", a, "-p", "wan", *LINK],
        "diff": ["diff", a, b],
        "path": ["path", a, b, *LINK],
    }[command]
    table = hostcfg(*call)
    assert SAID in " ".join(table.stdout.split())
    document = hostcfg(*call, "-o", "json").document
    hosts = document.get("hosts", [document])
    assert [f for host in hosts for f in host["findings"] if f["message"].endswith(SAID)]
