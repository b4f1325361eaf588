"""The page of paths in a real browser: bars, numbers, filters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError
from hostcfg.model import Link
from hostcfg.outputs.report.paths import Audited, Unread, path_page
from hostcfg.path import analyse_path
from tests.report.fleet import recorded, tuned
from tests.report.screen import IN_BROWSER

if TYPE_CHECKING:
    from hostcfg.outputs.report.page import Page
    from tests.report.screen import Screen

pytestmark = IN_BROWSER


def paths() -> Page:
    """The two ends of the README's example, and a path that could not be read."""
    link = Link(1e8, 0.012)
    a, b = (
        replace(recorded(file), host=host) for file, host in (("lon-1.txt", "lon-1"), ("bri-1.txt", "bri-1"))
    )
    whole = Link(1e9, 0.080)
    c, d = (tuned(name, tcp_rmem="4096 131072 67108864") for name in ("sin-1", "sin-2"))
    error = HostError("timeout", "no answer within 30 s", host="nyc-1")
    return path_page(
        [Audited(analyse_path(a, b, link), ["london"]), Audited(analyse_path(c, d, whole), ["singapore"])],
        [Unread("lon-1", "nyc-1", error, ["london"])],
    )


def test_bars_are_as_long_as_the_predicted_share_of_the_link(screen: Screen) -> None:
    screen.open(paths())
    found = screen.js(
        """Object.fromEntries(Array.from(document.querySelectorAll('.paths tbody tr')).map(r => [
          r.cells[0].innerText, Array.from(r.querySelectorAll('rect')).map(
            b => [b.getAttribute('class'), b.getBoundingClientRect().width])]))"""
    )
    shares = {name: bars[0][1] / sum(width for _, width in bars) for name, bars in found.items()}
    # a window of 31,320 bytes leaves 20.3 Mbit/s of 100; a full link 1448 of each 1514 bytes
    assert shares["lon-1 -> bri-1"] == pytest.approx(0.203, abs=0.001)
    assert shares["bri-1 -> lon-1"] == pytest.approx(1448 / 1514, abs=0.001)
    assert screen.rows(".paths")[0] == "lon-1 -> bri-1"  # the worst first
    assert [kind for kind, _ in found["lon-1 -> bri-1"]] == ["part part-0", "part part-1", "part part-2"]
    assert all(50 < sum(width for _, width in bars) < 400 for bars in found.values())


def test_paths_say_their_numbers_and_filter_by_group(screen: Screen) -> None:
    screen.open(paths())
    first = screen.js("document.querySelector('.paths tbody tr').innerText")
    for said in (
        "100 Mbit/s x 12 ms",
        "20.3 Mbit/s",
        "21.2%",
        "bri-1's net.ipv4.tcp_rmem[2] = 65,536",
        "375,000",
    ):
        assert said in first
    label = screen.js("document.querySelector('.paths .bar').getAttribute('aria-label')")
    assert label == "20.3 Mbit/s of the link's 100 Mbit/s"
    assert screen.rows(".failures") == ["lon-1 and nyc-1"]
    screen.choose("group", "singapore")
    assert screen.rows(".paths") == ["sin-1 -> sin-2", "sin-2 -> sin-1"]
    assert screen.rows(".failures") == []
    screen.choose("group", "all")
    screen.choose("state", "limited by a setting")
    assert screen.rows(".paths") == ["lon-1 -> bri-1"]
