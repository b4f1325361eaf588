"""A name that someone else chose is never more than a name, whatever form it is printed in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .program import hostcfg

MAILS = Path(__file__).resolve().parent.parent / "fixtures" / "docs"


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_no_name_becomes_a_line_among_the_commands_to_copy(form: str, tmp_path: Path) -> None:
    shutil.copy(MAILS / "bri-1.txt", tmp_path / "far\nrm -rf x.txt")
    ran = hostcfg(
        *("path", "file:far\nrm -rf x.txt", f"file:{MAILS / 'lon-1.txt'}", "--rate", "100mbit"),
        *("--rtt", "12ms", "-o", form),
        cwd=tmp_path,
    )
    lines = ran.stdout.splitlines()
    assert "sysctl -w 'net.ipv4.tcp_rmem=4096 65536 375000'   # on far\\x0arm -rf x" in lines
    assert not [line for line in lines if line.startswith("rm ")]
