"""One change over many hosts, batch by batch: the first ones prove that the next ones may follow.

Which hosts fail, and how many may, decides after each host whether another one is begun.  Nothing
here knows what is done to a host: ``apply_one`` does, and says what became of it.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from hostcfg.errors import UsageError
from hostcfg.fleet import SideBySide
from hostcfg.lean import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.changes import HostChange

OnFailure = Literal["stop", "rollback", "continue"]

DEFAULT_BATCHES = "1,10%,100%"
"""One host alone, then a tenth of all, then the rest."""

_INTERRUPTED = "interrupted"
_SIZE = regex(r"([0-9]{1,9})(%?)")


def parse_sizes(text: str) -> list[tuple[int, bool]]:
    """``1,10%,100%`` as ``(number, whether it is a percentage)``; UsageError for what is none."""
    sizes = []
    for part in (part.strip() for part in text.split(",")):
        found = _SIZE.fullmatch(part)
        number = int(found[1]) if found else 0
        if found is None or number < 1 or (found[2] and number > 100):
            raise UsageError(f"--batch {text[:60]!r}: give sizes as in {DEFAULT_BATCHES} or 5 or 25%")
        sizes.append((number, found[2] == "%"))
    return sizes


def cut(names: Sequence[str], sizes: Sequence[tuple[int, bool]]) -> list[list[str]]:
    """``names`` in batches of these sizes, the last one again and again until all have one.

    A percentage is of all names, rounded down, and at least one.
    """
    batches: list[list[str]] = []
    start = 0
    while start < len(names):
        number, percent = sizes[min(len(batches), len(sizes) - 1)]
        size = max(1, math.floor(len(names) * number / 100)) if percent else number
        batches.append(list(names[start : start + size]))
        start += size
    return batches


def stopped_line(run: BatchRun, resumed: str | None) -> str:
    """Why a run ended early and what it did not come to; ``resumed``: the change that can go on."""
    count = len(run.not_reached)
    if not count:
        return f"stopped: {run.why}"
    rest = f"; hostcfg apply --resume {resumed} goes on" if resumed is not None else ""
    return f"stopped: {run.why}; {count} host{'s' if count != 1 else ''} not reached{rest}"


def batch_line(run: BatchRun) -> str:
    """``batch 2 of 3: 4 applied, 1 failed``, of the batch that is over."""
    batch = run.batches[run.number]
    statuses = [run.results[name].status for name in batch if name in run.results]
    counts = [f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses)]
    left = len(batch) - len(statuses)
    counts += [f"{left} not reached"] if left else []
    return f"batch {run.number + 1} of {len(run.batches)}: {', '.join(counts)}"


@dataclass(frozen=True, slots=True)
class Rules:
    """When a run goes on.

    It stops once more than ``max_failures`` hosts have failed or ``check`` says what is wrong after a
    batch (it gets the batch's hosts), unless ``on_failure`` is ``continue``.  ``jobs`` as for
    :class:`hostcfg.fleet.SideBySide`.
    """

    max_failures: int = 0
    on_failure: OnFailure = "stop"
    check: Callable[[Sequence[str]], str | None] | None = None
    jobs: int | None = None

    def too_many(self, failures: int) -> bool:
        """Whether no further host may be begun once so many have failed."""
        return self.on_failure != "continue" and failures > self.max_failures


@dataclass
class BatchRun:
    """A run over ``batches``; :attr:`results` and :attr:`why` tell how it went.

    ``on_batch`` is called before each batch with its number from 0, ``on_done`` for each host and
    ``after_batch`` once a batch is over, all in the caller's thread.  ``why`` says what ended the
    run early, None if nothing did; ``number`` is that of the batch in hand.  Hosts that have a result
    before the run are not begun.
    """

    batches: Sequence[Sequence[str]]
    apply_one: Callable[[str], HostChange]
    rules: Rules
    failures: int = 0
    on_batch: Callable[[int], None] = lambda _: None
    on_done: Callable[[HostChange], None] = lambda _: None
    after_batch: Callable[[], None] = lambda: None
    results: dict[str, HostChange] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    why: str | None = None
    number: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _halted: str | None = None
    _side: SideBySide[str, HostChange] | None = None

    def run(self) -> None:
        """Batch after batch, until all are done or something says stop."""
        self._judge()
        for number, names in enumerate(self.batches):
            if self.why is not None:
                return
            self.number = number
            self.on_batch(number)
            self._batch(names)
            self.after_batch()
            self._judge()
            if self.why is None:
                self._check(names)

    def interrupt(self) -> None:
        """Begin no further host and end once those in hand are done; safe in a signal handler."""
        self.halt(_INTERRUPTED)

    def halt(self, why: str) -> None:
        """As :meth:`interrupt`, for another reason: whatever the rules say, nothing more can be done."""
        self._halted = self._halted or why
        if self._side is not None:
            self._side.nudge()

    @property
    def halted(self) -> bool:
        """Whether something other than the rules has ended it."""
        return self._halted is not None

    @property
    def not_reached(self) -> list[str]:
        """Hosts that were not begun."""
        return [name for batch in self.batches for name in batch if name not in self.results]

    @property
    def ended_badly(self) -> bool:
        """Whether a failure (and not the user) is why the run stopped."""
        return self.why is not None and self.why != _INTERRUPTED

    def _batch(self, names: Sequence[str]) -> None:
        todo = [name for name in names if name not in self.results]
        self._side = SideBySide(todo, self._one, self.rules.jobs, stopping=self._stopping)
        for index, change in self._side:
            self.results[todo[index]] = change
            self.on_done(change)
        self._judge()

    def _one(self, name: str) -> HostChange:
        """In a thread of its own; the failure counts before the thread takes another host."""
        change = self.apply_one(name)
        with self._lock:
            self.failures += change.trouble
        return change

    def _stopping(self) -> bool:
        return self._halted is not None or self.rules.too_many(self.failures)

    def _judge(self) -> None:
        if self._halted is not None and self._halted != _INTERRUPTED:
            self.why = self.why or self._halted
        if self.rules.too_many(self.failures):
            count = f"{self.failures} host{'s' if self.failures != 1 else ''} failed"
            self.why = self.why or f"{count}, and --max-failures is {self.rules.max_failures}"
        self.why = self.why or self._halted

    def _check(self, names: Sequence[str]) -> None:
        if self.rules.check is None:
            return
        fault = self.rules.check(names)
        if fault is not None:
            self.faults.append(fault)
            if self.rules.on_failure != "continue":
                self.why = fault
