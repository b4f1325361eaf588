"""Recorded sessions on a running FreeBSD: each command with what it printed and its status.

::

    === 148 [root]$ sysctl kern.ipc.maxsockbuf=1
    --- stdout
    kern.ipc.maxsockbuf: 2097152
    --- stderr
    sysctl: kern.ipc.maxsockbuf=1: Invalid argument
    --- rc 1
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "fixtures" / "freebsd" / "freebsd-14.2"
_HEAD = re.compile(r"=== (?P<number>\d{3}) \[(?P<user>\w+)\]\$ (?P<command>.*)")
_NO_NEWLINE = "<no newline at end>"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One command of session ``file``; ``stdout`` and ``stderr`` with their last newline."""

    file: str
    number: str
    user: str
    command: str
    stdout: str
    stderr: str
    status: int

    @property
    def id(self) -> str:
        """``main-148``."""
        return f"{self.file}-{self.number}"


@cache
def session(name: str) -> tuple[Recorded, ...]:
    """The commands of ``main``, ``extra``, ``boot2``, ``rack`` or ``lockout``, in order."""
    found: list[Recorded] = []
    parts: dict[str, list[str]] = {}
    head: re.Match[str] | None = None
    into: list[str] = []
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n"):
        started = _HEAD.fullmatch(line)
        if started is not None:
            head, parts, into = started, {"stdout": [], "stderr": []}, []
        elif line in ("--- stdout", "--- stderr"):
            into = parts[line[4:]]
        elif head is not None and (ended := re.fullmatch(r"--- rc (\d+)", line)):
            texts = {kind: _text(lines) for kind, lines in parts.items()}
            whole = (head["number"], head["user"], head["command"], texts["stdout"], texts["stderr"])
            found.append(Recorded(name, *whole, int(ended[1])))
            head = None
        else:
            into.append(line)
    return tuple(found)


def _text(lines: list[str]) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return text.removesuffix(f"{_NO_NEWLINE}\n") if text.endswith(f"{_NO_NEWLINE}\n") else text


def recorded(identity: str) -> Recorded:
    """One command by its :attr:`Recorded.id`."""
    return next(found for found in session(identity.rpartition("-")[0]) if found.id == identity)
