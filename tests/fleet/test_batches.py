"""Which hosts are begun, and when a run ends: batches, failures, checks and interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.batches import BatchRun, Rules, batch_line, cut, parse_sizes, stopped_line
from hostcfg.changes import Fault, HostChange
from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.batches import OnFailure

FORTY = [f"h{number:02}" for number in range(1, 41)]


@pytest.mark.parametrize(
    ("text", "count", "sizes"),
    [
        ("1,10%,100%", 40, [1, 4, 35]),
        ("1,10%,100%", 400, [1, 40, 359]),
        ("1,10%,100%", 3, [1, 1, 1]),
        ("1,10%,100%", 1, [1]),
        ("100%", 40, [40]),
        ("10", 35, [10, 10, 10, 5]),
        ("1, 2, 3", 12, [1, 2, 3, 3, 3]),
        ("25%", 10, [2, 2, 2, 2, 2]),
        ("1%", 40, [1] * 40),
        ("99999", 5, [5]),
    ],
)
def test_sizes(text: str, count: int, sizes: list[int]) -> None:
    assert [len(batch) for batch in cut([str(n) for n in range(count)], parse_sizes(text))] == sizes


@pytest.mark.parametrize("text", ["", "0", "0%", "101%", "-1", "1,,2", "ten", "1;2", "1.5", "5 %", "٣"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="give sizes as in 1,10%,100%"):
        parse_sizes(text)


@given(st.lists(st.tuples(st.integers(1, 100), st.booleans()), min_size=1), st.integers(1, 300))
def test_every_host_is_in_one_batch(sizes: list[tuple[int, bool]], count: int) -> None:
    names = [str(number) for number in range(count)]
    batches = cut(names, sizes)
    assert [name for batch in batches for name in batch] == names
    assert all(batches)


class Lab:
    """Hosts of which some fail, in the order in which they were begun."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.begun: list[str] = []
        self.checked: list[Sequence[str]] = []

    def apply(self, name: str) -> HostChange:
        self.begun.append(name)
        if name in self.failing:
            return HostChange(name, "linux", "reverted", error=Fault("command", f"{name}: rejected"))
        return HostChange(name, "linux", "applied")

    def run(self, *, jobs: int = 1, failures: int = 0, on_failure: OnFailure = "stop") -> BatchRun:
        rules = Rules(failures, on_failure, self.check, jobs)
        run = BatchRun(cut(FORTY, parse_sizes("1,10%,100%")), self.apply, rules)
        run.run()
        return run

    def check(self, names: Sequence[str]) -> str | None:
        self.checked.append(names)
        return None


def test_all_goes_well() -> None:
    lab = Lab()
    run = lab.run(jobs=10)
    assert (run.why, run.not_reached, run.failures) == (None, [], 0)
    assert sorted(lab.begun) == FORTY
    assert lab.checked == [FORTY[:1], FORTY[1:5], FORTY[5:]]


def test_a_failure_ends_the_run_within_its_batch() -> None:
    lab = Lab("h10")
    run = lab.run()
    assert run.why == "1 host failed, and --max-failures is 0"
    assert run.ended_badly
    assert lab.begun == FORTY[:10]
    assert run.not_reached == FORTY[10:]
    assert lab.checked == [FORTY[:1], FORTY[1:5]]


def test_the_canary_saves_the_others() -> None:
    lab = Lab("h01")
    assert lab.run().not_reached == FORTY[1:]
    assert lab.begun == ["h01"]
    assert lab.checked == []


def test_some_failures_may_be_allowed() -> None:
    lab = Lab("h02", "h20", "h30")
    assert lab.run(failures=3).not_reached == []
    assert lab.run(failures=2).why == "3 hosts failed, and --max-failures is 2"


def test_continue_goes_on_whatever_happens() -> None:
    lab = Lab("h01", "h20", "h40")
    run = lab.run(on_failure="continue")
    assert (run.why, run.failures, run.not_reached) == (None, 3, [])


@pytest.mark.parametrize("on_failure", ["stop", "rollback", "continue"])
def test_a_check_that_fails(on_failure: OnFailure) -> None:
    lab = Lab()
    rules = Rules(5, on_failure, lambda names: "no answer" if len(names) == 4 else None)
    run = BatchRun(cut(FORTY, parse_sizes("1,10%,100%")), lab.apply, rules)
    run.run()
    assert run.faults == ["no answer"]
    if on_failure == "continue":
        assert (run.why, run.not_reached) == (None, [])
    else:
        assert (run.why, run.not_reached) == ("no answer", FORTY[5:])


def test_an_interrupt_begins_no_further_host() -> None:
    lab = Lab()
    run = BatchRun(cut(FORTY, parse_sizes("40")), lab.apply, Rules(jobs=1))

    def apply(name: str) -> HostChange:
        if name == "h07":
            run.interrupt()
        return lab.apply(name)

    run.apply_one = apply
    run.run()
    assert run.why == "interrupted"
    assert not run.ended_badly
    assert list(run.results) == lab.begun == FORTY[:7]


def test_failures_from_before_count() -> None:
    lab = Lab()
    run = BatchRun([FORTY], lab.apply, Rules(), failures=1)
    run.run()
    assert (lab.begun, run.not_reached) == ([], FORTY)


def test_how_a_run_that_ended_early_is_told() -> None:
    run = Lab("h10").run()
    assert batch_line(run) == "batch 3 of 3: 4 applied, 1 reverted, 30 not reached"
    why = "stopped: 1 host failed, and --max-failures is 0; 30 hosts not reached"
    assert stopped_line(run, None) == why
    assert stopped_line(run, "ID") == f"{why}; hostcfg apply --resume ID goes on"
    assert stopped_line(Lab("h39").run(), None).endswith("; 1 host not reached")
    whole = Lab().run()
    assert batch_line(whole) == "batch 3 of 3: 35 applied"
    whole.why = "interrupted"
    assert stopped_line(whole, "ID") == "stopped: interrupted"
