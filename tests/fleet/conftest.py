"""What every test on a fleet of its module has to leave behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fleet.lab import Fleet


@pytest.fixture
def start(fleet: Fleet) -> Iterator[dict[str, str]]:
    """Every host as it is at first, which each test has to leave behind."""
    before = fleet.snapshots()
    yield before
    after = fleet.snapshots()
    assert {name: _unlike(before[name], after[name]) for name in before if after[name] != before[name]} == {}


def _unlike(before: str, after: str) -> list[str]:
    """The lines that only one of two snapshots has, so that a failure can be read."""
    return sorted(set(before.splitlines()) ^ set(after.splitlines()))
