"""One page of a report in a browser, and what the tests ask of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import pytest

from hostcfg.outputs.html import to_html
from tests.report.browser import CHROMIUM, DRIVER, knows_localhost

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selenium.webdriver import Chrome

    from hostcfg.outputs.report.page import Page

MADE = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
HOSTS, UNREAD = 40, 3
"""The fleet of most tests."""

IN_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="install chromium and chromium-driver"),
    pytest.mark.skipif(
        not knows_localhost(),
        reason="localhost has no address: put `127.0.0.1 localhost` into /etc/hosts",
    ),
]


class Screen:
    """One page in the browser."""

    def __init__(self, driver: Chrome, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def open(self, page: Page) -> None:
        self.open_text(to_html(page, MADE))

    def open_text(self, document: str) -> None:
        file = self.folder / "report.html"
        file.write_text(document, "ascii")
        self.log("browser")
        self.log("performance")
        self.driver.get(file.as_uri())

    def js(self, code: str, *arguments: object) -> Any:
        return self.driver.execute_script(f"return {code}", *arguments)

    def rows(self, table: str = ".matrix") -> list[str]:
        """What the browser shows of the first column of the first such table."""
        shown = (
            f"Array.from(document.querySelector('{table}').tBodies[0].rows)"
            ".filter(r => r.getClientRects().length).map(r => r.cells[0].innerText.split('\\n')[0])"
        )
        found: list[str] = self.js(shown)
        return found

    def cell(self, host: str, setting: str) -> dict[str, str]:
        """Text, class and title of a cell of the matrix, found by its headers."""
        found: dict[str, str] = self.js(
            """(() => { for (const table of document.querySelectorAll('.matrix')) {
              const at = Array.from(table.tHead.rows[0].cells).findIndex(
                c => c.innerText.split('\\n')[0].trim() === arguments[1]
                  || c.textContent.split(' ')[0] === arguments[1]);
              const row = Array.from(table.tBodies[0].rows).find(
                r => r.cells[0].innerText.split('\\n')[0] === arguments[0]);
              if (at > 0) { const c = row.cells[at];
                return {text: c.innerText, kind: c.className, title: c.title}; } } })()""",
            host,
            setting,
        )
        return found

    def choose(self, name: str, text: str) -> None:
        from selenium.webdriver.support.select import Select

        Select(self.driver.find_element("css selector", f"#filter [name={name}]")).select_by_visible_text(
            text
        )

    def size(self, width: int, height: int = 900) -> None:
        """The window, in pixels."""
        wanted = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.cdp("Emulation.setDeviceMetricsOverride", **wanted)

    def cdp(self, method: str, **parameters: object) -> Any:
        """One command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(method, parameters)

    def log(self, kind: str) -> list[dict[str, Any]]:
        """Entries of a log since the last call: ``browser`` (the console) or ``performance``."""
        get_log = cast(
            "Callable[[str], list[dict[str, Any]]]", self.driver.get_log
        )  # selenium 4.51 has no types for it
        return get_log(kind)

    def requested(self) -> list[str]:
        """What the browser has asked for since the page was opened: the URLs of all requests."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
