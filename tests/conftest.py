"""Tests that need root say so when they are skipped."""

from __future__ import annotations

import signal
import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from tests.sshd import IS_ROOT

settings.register_profile("hostcfg", deadline=None)  # speed is measured under benchmarks/, never asserted
settings.load_profile("hostcfg")


def pytest_configure() -> None:
    """Ctrl-C is tested: a runner in a shell's background has it ignored, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long",
        action="store_true",
        help="more kills; with -m lab: both kinds of lab, more paths, longer tests",
    )


LONGEST_FIRST = ("change", "freebsd_e2e", "fleet", "windows", "pasted", "e2e", "report")
"""Folders whose files take minutes: one that begins last would run alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    why = _why_not_root()
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    here = Path(__file__).parent
    items.sort(key=lambda item: places.get(item.path.relative_to(here).parts[0], len(places)))
    for item in items:
        if why and item.get_closest_marker("root") is not None:
            item.add_marker(pytest.mark.skip(reason=why))


@cache
def _why_not_root() -> str:
    """Why tests that need root can't run here; empty if they can."""
    if not IS_ROOT:
        return "needs root"
    root = Path("/").stat()
    ask = ["unshare", "--mount", "sh", "-c", "exec nsenter -t $$ -m stat -c %d:%i /"]
    try:
        done = subprocess.run(ask, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"needs unshare(1): {error}"
    if done.returncode:
        return f"no mount namespaces here ({done.stderr.strip()}); a chroot has none, pivot_root(8) does"
    if done.stdout.strip() != f"{root.st_dev}:{root.st_ino}":
        return "this is a chroot, which nsenter(1) would leave; enter it by pivot_root(8)"
    return ""
