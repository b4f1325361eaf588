"""Headless Chromium over its driver: Debian's chromium and chromium-driver; ended with its ``with`` block."""

from __future__ import annotations

import shutil
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def knows_localhost() -> bool:
    """Whether the name has an address: a system that debootstrap made has no /etc/hosts."""
    try:
        return bool(socket.getaddrinfo("localhost", 80, proto=socket.IPPROTO_TCP))
    except OSError:
        return False


@contextmanager
def browser(folder: Path) -> Iterator[Chrome]:
    """A browser that can reach no network, with its profile in ``folder``; none of it is left at the end."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    assert CHROMIUM is not None
    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new",
        "--no-sandbox",  # root has none; the only page is our own file
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--force-color-profile=srgb",
        f"--user-data-dir={folder / 'profile'}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(executable_path=DRIVER)
    driver = Chrome(options=options, service=service)
    started = [psutil.Process(service.process.pid)]
    started += started[0].children(recursive=True)
    try:
        driver.set_page_load_timeout(60)
        yield driver
    finally:
        driver.quit()
        _, left = psutil.wait_procs(started, timeout=10)
        for process in left:
            process.kill()
        assert not left, left
