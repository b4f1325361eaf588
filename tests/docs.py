"""The README's examples: run them, compare, or (``python -m tests.docs --write``) write what they print.

A block of ``console`` holds commands after ``$ `` and what they print.  All are run in
``tests/fixtures/docs`` by a shell with a HOME of their own.  A block of ``console root`` runs in a
network and mount namespace of its own, so that its writes reach nothing of the machine.  Change ids
and times are shown as they were when the README was written.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures" / "docs"
README = ROOT / "README.md"

_BLOCK = re.compile(r"^```console(?P<kind>[ a-z]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"\b\d{8}-\d{6}-[0-9a-z]+\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?")

_PRIVATE = """
mount --make-rprivate /
mkdir -p /var/lib/hostcfg
mount -t tmpfs none /var/lib/hostcfg
copy=$(mktemp -d)
cp -a /etc/sysctl.d/. "$copy"
mount -t tmpfs none /etc/sysctl.d
cp -a "$copy"/. /etc/sysctl.d/
rm -rf "$copy"
mount -t sysfs none /sys
ip link set lo up
hostname lon-1
sysctl -qw 'net.ipv4.tcp_rmem=4096 131072 6291456' 'net.ipv4.tcp_wmem=4096 16384 4194304'
sysctl -qw net.ipv4.tcp_window_scaling=1 net.ipv4.tcp_timestamps=1
"""
_NEWEST = "$(hostcfg history --limit 1 -o json | grep -m1 '\"id\"' | cut -d'\"' -f4)"


@dataclass(frozen=True)
class Example:
    """One block: its commands and what the README says they print."""

    kind: str
    commands: tuple[str, ...]
    said: tuple[str, ...]
    start: int
    end: int


def examples(text: str) -> list[Example]:
    """All console blocks of ``text``."""
    found = []
    for match in _BLOCK.finditer(text):
        parts = re.split(r"^\$ ", match["body"], flags=re.MULTILINE)[1:]
        commands, said = zip(*(part.split("\n", 1) for part in parts), strict=True)
        found.append(Example(match["kind"].strip(), commands, said, match.start("body"), match.end("body")))
    return found


def run(example: Example) -> list[str]:
    """What each command prints, standard error in its place; change ids of earlier ones are followed."""
    with tempfile.TemporaryDirectory(prefix="hostcfg-docs-") as home:
        script = "\n".join(
            f"( {command} ) 2>&1; printf '\\n@@next\\n'" for command in _with_live_ids(example)
        )
        env = os.environ | {
            "HOME": home,
            "HOSTCFG_STATE": f"{home}/state",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "COLUMNS": "80",
        }
        command = ["bash", "-c", script]
        if example.kind == "root":
            command = ["unshare", "--net", "--mount", "--uts", "bash", "-c", _PRIVATE + script]
        done = subprocess.run(
            command, cwd=FIXTURES, env=env, capture_output=True, text=True, timeout=300, check=False
        )
    return [text.removesuffix("\n") for text in done.stdout.split("\n@@next\n")[:-1]]


def _with_live_ids(example: Example) -> list[str]:
    """An id that the README names stands for the newest change of this run."""
    return [_ID.sub(_NEWEST, command) for command in example.commands]


def normal(text: str) -> str:
    """``text`` without what differs from run to run."""
    return _TIME.sub("TIME", _ID.sub("ID", text)).strip("\n")


def write(text: str) -> str:
    """``text`` with every example's output as it is now."""
    for example in reversed(examples(text)):
        pairs = zip(example.commands, run(example), strict=True)
        body = "".join(
            f"$ {command}\n{printed}\n" if printed else f"$ {command}\n" for command, printed in pairs
        )
        text = text[: example.start] + body + text[example.end :]
    return text


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        README.write_text(write(README.read_text()))
    else:
        sys.exit(__doc__)
