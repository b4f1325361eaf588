"""What is known of iperf3's text so far: its tests, each before it is known how it ends."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.platforms.iperf.measure import MOST_RECORDS, TOO_MANY

if TYPE_CHECKING:
    import re

    from hostcfg.model import Json


@dataclass(slots=True)
class Test:
    """One test of the output: rows as they were matched, the ends of each connection."""

    scalars: dict[str, Json] = field(default_factory=dict)
    ends: dict[str, tuple[str, int, str, int]] = field(default_factory=dict)
    rows: list[re.Match[str]] = field(default_factory=list)
    done: bool = False

    @property
    def used(self) -> bool:
        """It holds more than what the server says while it waits."""
        return bool(self.ends or self.rows or self.scalars.get("error") or self.scalars.get("remote_host"))


@dataclass(slots=True)
class State:
    """All tests, and what belongs to none; ``window`` is what ``-d`` says was asked for."""

    tests: list[Test] = field(default_factory=list)
    unrecognized: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    window: int | None = None

    def test(self) -> Test:
        """The test that lines belong to now."""
        if not self.tests or self.tests[-1].done:
            self._add()
        return self.tests[-1]

    def _add(self) -> None:
        """A new test; beyond ``MOST_RECORDS`` the last one is thrown away for it."""
        if len(self.tests) >= MOST_RECORDS:
            self.tests.pop()
            if TOO_MANY not in self.notes:
                self.notes.append(TOO_MANY)
        self.tests.append(Test())

    def begin(self, role: str) -> Test:
        """A new test, unless the present one has only been waiting."""
        if self.tests and (self.tests[-1].used or self.tests[-1].done):
            self._add()
        test = self.test()
        test.scalars["role"] = role
        return test
