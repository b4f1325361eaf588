"""One browser for all tests of a page, and a window of 1280 pixels for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.outputs.report.diff import diff_page
from tests.report.browser import browser
from tests.report.fleet import audit, groups_of, outcomes
from tests.report.screen import HOSTS, UNREAD, Screen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with browser(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def screen(chromium: Chrome, tmp_path: Path) -> Iterator[Screen]:
    shown = Screen(chromium, tmp_path)
    shown.size(1280)
    yield shown
    shown.cdp("Emulation.setEmulatedMedia", media="", features=[])
    shown.cdp("Emulation.setScriptExecutionDisabled", value=False)


@pytest.fixture
def fleet(screen: Screen) -> Screen:
    """Forty hosts against wan, of which three could not be read."""
    screen.open(diff_page(audit(outcomes(HOSTS, UNREAD)), groups_of, details=False))
    return screen
