"""Many at once: who hangs holds nobody up, limits are kept, faults and stops reach the caller."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError, InternalError
from hostcfg.fleet import MOST_JOBS, SideBySide, read_fleet
from hostcfg.model import Facts
from hostcfg.targets import HostSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostcfg.reader import Outcome


def facts(name: str) -> Facts:
    return Facts(name, "linux", "Linux", None, {}, {})


def specs(count: int) -> list[HostSpec]:
    return [HostSpec(f"h{number}", "ssh", f"h{number}") for number in range(count)]


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What hanging hosts wait for; opened at the end, so that no thread is left."""
    event = threading.Event()
    yield event
    event.set()


class Counter:
    """How many are at work, and the most that ever were."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1


def test_outcomes_come_in_the_order_of_the_hosts() -> None:
    last = threading.Event()

    def read(spec: HostSpec) -> Facts:
        if spec.name == "h0":
            assert last.wait(10)
        if spec.name == "h9":
            last.set()
        if spec.name == "h5":
            raise HostError("auth", "no", host=spec.name)
        return facts(spec.name)

    heard: list[Outcome] = []
    outcomes = read_fleet(specs(10), read, on_done=heard.append)
    assert [o.spec.name for o in outcomes] == [f"h{n}" for n in range(10)]
    assert [o.spec.name for o in outcomes if o.error is not None] == ["h5"]
    assert heard[-1].spec.name == "h0"
    assert len(heard) == 10


def test_never_more_than_asked_for(gate: threading.Event) -> None:
    at_work = Counter()
    together = threading.Barrier(4)

    def work(number: int) -> int:
        with at_work:
            together.wait(10)
        return number

    assert sorted(SideBySide(range(40), work, 4)) == [(n, n) for n in range(40)]
    assert at_work.most == 4


def test_hosts_that_hang_do_not_keep_others_waiting(gate: threading.Event) -> None:
    """More hang than are begun at once by default; all others are done long before those give up."""
    hanging = 150

    def work(number: int) -> int:
        if number < hanging:
            gate.wait(60)
        return number

    side = SideBySide(range(400), work)
    done = set()
    began = time.monotonic()
    for index, _ in side:
        done.add(index)
        if len(done) == 400 - hanging:
            break
    assert done == set(range(hanging, 400))
    assert time.monotonic() - began < 30
    assert side.in_hand == hanging <= MOST_JOBS


def test_a_fault_of_ours_ends_the_run_in_the_callers_thread() -> None:
    def work(number: int) -> int:
        return 1 // (number - 5)

    with pytest.raises(ZeroDivisionError):
        list(SideBySide(range(10), work))


def test_those_in_hand_are_done_before_a_fault_is_raised() -> None:
    """A host that is being changed is not left in the middle for what befell another one."""
    both, failed = threading.Barrier(2), threading.Event()

    def work(number: int) -> int:
        if number < 2:
            both.wait(10)
        if number == 0:
            failed.set()
            raise KeyError(number)
        assert failed.wait(10)
        return number

    done: list[int] = []

    def run() -> None:
        for index, _ in SideBySide(range(50), work, 2):
            done.append(index)  # what came before the fault counts

    with pytest.raises(KeyError):
        run()
    assert 1 in done
    assert len(done) < 10


def test_a_fault_of_ours_is_the_error_of_its_host_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOSTCFG_TRACEBACK", raising=False)

    def read(spec: HostSpec) -> Facts:
        if spec.name == "h1":
            raise KeyError(spec.name)
        return facts(spec.name)

    outcomes = read_fleet(specs(3), read)
    assert [outcome.facts is not None for outcome in outcomes] == [True, False, True]
    assert isinstance(outcomes[1].error, InternalError)
    assert str(outcomes[1].error) == (
        "h1: a fault in hostcfg itself: KeyError: 'h1'; please report it with what HOSTCFG_TRACEBACK=1 prints"
    )
    monkeypatch.setenv("HOSTCFG_TRACEBACK", "1")
    with pytest.raises(KeyError):
        read_fleet(specs(3), read)


def test_no_more_at_once_than_there_are_descriptors() -> None:
    """A shell with ``ulimit -n 64`` reads a fleet as well, only fewer of it at once."""
    script = (
        "import threading, time\n"
        "from hostcfg.fleet import SideBySide, hosts_at_once\n"
        "at_work, most = set(), 0\n"
        "def work(n):\n"
        "    global most\n"
        "    at_work.add(n); most = max(most, len(at_work)); at_work.discard(n)\n"
        "    return threading.active_count()\n"
        "threads = max(t for _, t in SideBySide(range(300), work, 200))\n"
        "print(hosts_at_once(), threads)\n"
    )
    command = f"ulimit -n 64; exec {sys.executable} -c '{script}'"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    at_once, threads = map(int, done.stdout.split())
    assert at_once == 10  # three descriptors a host, thirty-two of our own
    assert threads <= 11


def test_nothing_is_begun_after_a_stop() -> None:
    """What a host's own work finds out counts before the next one is begun."""
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        return number

    side = SideBySide(range(100), work, 1, stopping=lambda: len(begun) >= 5)
    assert [index for index, _ in side] == begun == [0, 1, 2, 3, 4]


def test_a_nudge_stops_while_everyone_is_at_work(gate: threading.Event) -> None:
    """As a signal handler does it: nobody is done yet, and those that wait must not be begun."""
    asked = threading.Event()
    started = threading.Barrier(3)

    def work(number: int) -> int:
        if number < 2:
            started.wait(10)
            gate.wait(10)
        return number

    side = SideBySide(range(50), work, 2, stopping=asked.is_set)

    def interrupt() -> None:
        started.wait(10)
        asked.set()
        side.nudge()
        while side.waiting:
            pass
        gate.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert sorted(index for index, _ in side) == [0, 1]
    thread.join()


def test_one_host_needs_no_thread() -> None:
    threads = threading.active_count()
    read_fleet(specs(1), lambda spec: facts(spec.name), on_done=lambda _: None)
    assert threading.active_count() == threads
