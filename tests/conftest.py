"""Tests that need root say so when they are skipped."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.sshd import IS_ROOT

settings.register_profile("hostcfg", deadline=None)  # speed is measured under benchmarks/, never asserted
settings.load_profile("hostcfg")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="more kills; with -m lab: both kinds of lab, more paths, longer tests",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if IS_ROOT:
        return
    for item in items:
        if item.get_closest_marker("root") is not None:
            item.add_marker(pytest.mark.skip(reason="needs root"))
