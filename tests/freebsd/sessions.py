"""The sessions recorded on a running FreeBSD 14.2: command, stdout, stderr and exit status apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from tests.freebsd.samples import FOLDER

_RECORD = re.compile(
    r"^=== (?P<number>\d+) \[(?P<user>\w+)\]\$ (?P<command>[^\n]*)\n"
    r"(?:--- stdout\n(?P<stdout>.*?))??(?:--- stderr\n(?P<stderr>.*?))??--- rc (?P<status>\d+)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Record:
    """One command of a session and what came of it."""

    session: str
    number: int
    user: str
    command: str
    stdout: str
    stderr: str
    status: int

    def __str__(self) -> str:
        return f"{self.session}-{self.number:03}"

    @property
    def pasted(self) -> str:
        """As a person would paste it from a terminal."""
        prompt = "root@fbsd142:~ #" if self.user == "root" else "ops@fbsd142:~ $"
        return f"{prompt} {self.command}\n{self.stdout}{self.stderr}{prompt}\n"


@cache
def records() -> tuple[Record, ...]:
    return tuple(
        Record(
            path.stem,
            int(found["number"]),
            found["user"],
            found["command"],
            found["stdout"] or "",
            found["stderr"] or "",
            int(found["status"]),
        )
        for path in sorted((FOLDER / "freebsd-14.2").glob("*.txt"))
        for found in _RECORD.finditer(path.read_text(encoding="utf-8"))
    )


def record(session: str, number: int) -> Record:
    return next(r for r in records() if (r.session, r.number) == (session, number))
