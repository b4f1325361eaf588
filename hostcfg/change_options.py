"""How a change is asked for and watched: what apply, confirm and rollback take alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hostcfg.changes import HostChange
from hostcfg.lean import dataclass
from hostcfg.model import Plan
from hostcfg.transports.base import Transport

Connect = Callable[[str], Transport]
OnEvent = Callable[[str], None]
Agreed = Callable[[Plan], None]
"""Raises ChangeRefused for a plan that nobody has agreed to."""

Each = Callable[[Callable[[HostChange], HostChange], Sequence[HostChange]], Sequence[HostChange]]
"""Does something to each host, in whatever order, and returns what came of it in the order given."""


def in_turn(work: Callable[[HostChange], HostChange], hosts: Sequence[HostChange]) -> Sequence[HostChange]:
    """One host after the other."""
    return [work(host) for host in hosts]


def nothing(_: str) -> None:
    """Hears an event and does nothing."""


def to_anything(_: Plan) -> None:
    """Agrees to any plan: nobody was to be asked."""


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """How a change is protected.

    ``revert_in_s`` 0 arms no timer.  ``hold`` leaves the confirmation to ``confirm_change``.
    ``force`` writes over values that changed since they were read, keeps a value that comes out
    other than wanted, and goes to a machine that is not the one of the journal.
    """

    revert_in_s: int = 60
    hold: bool = False
    force: bool = False
