"""Many hosts side by side: each gets a thread of its own, none waits for another.

Threads are daemons, so that an interrupted run ends at once and not when the slowest host gives up.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from hostcfg.errors import HostcfgError, HostError, InternalError
from hostcfg.reader import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hostcfg.model import Facts
    from hostcfg.targets import HostSpec

DEFAULT_JOBS = 100
"""Hosts at once; 200 cost some 8 MiB more and help only where the round trip is long."""

MOST_JOBS = 500
"""Hosts at once while some of them hang."""

SLOW_S = 2.0
"""A host that takes longer has no place among the DEFAULT_JOBS any more: another one is begun."""

_LOOK_S = 0.5
_DESCRIPTORS = 3  # of one host, at most
_OWN_DESCRIPTORS = 32  # standard streams, journal, agent, name servers
_THREAD_NAME = "host-"

Item = TypeVar("Item")
Result = TypeVar("Result")


def read_fleet(
    specs: Sequence[HostSpec],
    read: Callable[[HostSpec], Facts],
    *,
    jobs: int | None = None,
    on_done: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """One outcome for each host, in the order of ``specs``; one host's failure never stops another.

    ``on_done`` is called in the caller's thread, in the order in which hosts finish.  After an
    interrupt (Ctrl-C) the hosts that have not answered are errors of the kind ``interrupted``, and
    the rest is returned.  A fault of ours is the error of the host that it befell.
    """
    if len(specs) == 1:  # no thread for the commonest case
        only = _read_one(specs[0], read)
        on_done(only)
        return [only]
    done: dict[int, Outcome] = {}
    try:
        for index, outcome in SideBySide(specs, lambda spec: _read_one(spec, read), jobs):
            done[index] = outcome
            on_done(outcome)
    except KeyboardInterrupt:
        pass
    return [done.get(index) or _interrupted(spec) for index, spec in enumerate(specs)]


class _Fault(NamedTuple):
    number: int
    error: BaseException


class SideBySide(Generic[Item, Result]):
    """``work`` for each of ``items`` in threads; iterating gives ``(index, result)`` as each is done.

    ``jobs`` is how many at once: never more, if it is given; None: DEFAULT_JOBS that make progress,
    and more beside those that hang.  A fault of ``work`` stops the run: once those in hand are done, it
    is raised in the caller's thread.  Once ``stopping`` says so nothing more is begun: each thread asks
    it before it takes an item, so what ``work`` finds out counts at once; :meth:`nudge` has it asked from
    anywhere, a signal handler included.
    """

    def __init__(
        self,
        items: Sequence[Item],
        work: Callable[[Item], Result],
        jobs: int | None = None,
        *,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._todo = deque(enumerate(items))
        self._work = work
        self._most = min(MOST_JOBS if jobs is None else jobs, hosts_at_once())
        self._jobs = min(DEFAULT_JOBS if jobs is None else jobs, self._most)
        self._may_grow = jobs is None
        self._stopping = stopping
        self._lock = threading.Lock()
        self._since: dict[int, float] = {}  # index -> when it was begun, of those in hand
        self._threads = 0
        self._results: SimpleQueue[tuple[int, Result] | _Fault | None] = SimpleQueue()

    def stop(self) -> None:
        """Begin no further item."""
        with self._lock:
            self._todo.clear()

    def nudge(self) -> None:
        """Ask ``stopping`` now."""
        self._results.put(None)

    @property
    def waiting(self) -> int:
        """How many have not been begun."""
        with self._lock:
            return len(self._todo)

    @property
    def in_hand(self) -> int:
        """How many have been begun and are not done."""
        with self._lock:
            return len(self._since)

    def __iter__(self) -> Iterator[tuple[int, Result]]:
        fault: BaseException | None = None
        self._hire()
        while True:
            if fault is not None or self._stopping():
                self.stop()
            with self._lock:
                waiting, in_hand = len(self._todo), len(self._since)
            if not waiting and not in_hand:
                break
            try:
                result = self._results.get(timeout=_LOOK_S if waiting and self._may_grow else None)
            except Empty:
                self._hire()
                continue
            if result is None:
                continue
            with self._lock:
                del self._since[result[0]]
            if isinstance(result, _Fault):
                fault = fault or result.error
            else:
                yield result
        if fault is not None:
            raise fault

    def _hire(self) -> None:
        """As many threads as there is work for, within the limits."""
        with self._lock:
            limit = self._jobs
            if self._may_grow:
                late = time.monotonic() - SLOW_S
                limit = min(self._most, limit + sum(begun < late for begun in self._since.values()))
            new = min(limit - self._threads, len(self._todo))
            self._threads += max(0, new)
        for started in range(new):
            try:
                threading.Thread(target=self._thread, name=_THREAD_NAME, daemon=True).start()
            except RuntimeError:  # a limit on processes: those that there are do all the work
                with self._lock:
                    self._threads -= new - started
                    self._most = self._jobs = self._threads
                if not self._threads:
                    raise HostcfgError(
                        "this system starts no thread: is a limit on processes reached?"
                    ) from None
                return

    def _thread(self) -> None:
        while True:
            stopping = self._stopping()
            with self._lock:
                if stopping or not self._todo:
                    self._threads -= 1
                    return
                index, item = self._todo.popleft()
                self._since[index] = time.monotonic()
            try:
                self._results.put((index, self._work(item)))
            except BaseException as error:  # a fault of ours ends the run, in the caller's thread
                self.stop()
                self._results.put(_Fault(index, error))
                return


def hosts_at_once() -> int:
    """How many hosts the descriptors of this process are enough for; the soft limit is raised for it.

    A host takes a socket, and one behind a ProxyCommand three pipes.
    """
    wanted = MOST_JOBS * 2 * _DESCRIPTORS + _OWN_DESCRIPTORS
    return min(MOST_JOBS * 2, max(1, (_raise_descriptors(wanted) - _OWN_DESCRIPTORS) // _DESCRIPTORS))


def _raise_descriptors(wanted: int) -> int:
    """How many files and sockets this process may have open: ``wanted``, or what the hard limit leaves."""
    if sys.platform != "win32":  # which counts sockets by memory
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            more = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
            return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted


def threads_left() -> bool:
    """Whether hosts are still in hand somewhere: the process then has to end without waiting for them."""
    return any(thread.name == _THREAD_NAME for thread in threading.enumerate())


def _read_one(spec: HostSpec, read: Callable[[HostSpec], Facts]) -> Outcome:
    try:
        return Outcome(spec, read(spec))
    except HostcfgError as error:
        return Outcome(spec, None, error)
    except MemoryError:
        return Outcome(
            spec, None, HostError("command", "not enough memory for what it printed", host=spec.name)
        )
    except Exception as error:
        return Outcome(spec, None, InternalError.of(error, spec.name))


def _interrupted(spec: HostSpec) -> Outcome:
    return Outcome(spec, None, HostError("interrupted", "interrupted before it answered", host=spec.name))
