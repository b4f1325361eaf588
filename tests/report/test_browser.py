"""The page of a fleet in a real browser: from a file, without a network, with and without JavaScript."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from hostcfg.outputs.html import to_html
from hostcfg.outputs.report.diff import diff_page
from hostcfg.outputs.report.show import show_page
from tests.report.fleet import audit, groups_of, outcomes
from tests.report.screen import HOSTS, IN_BROWSER, MADE, UNREAD

if TYPE_CHECKING:
    from tests.report.screen import Screen

pytestmark = IN_BROWSER


def test_it_opens_from_a_file_and_asks_for_nothing_else(fleet: Screen) -> None:
    assert fleet.driver.title == "40 hosts against the profile wan"
    assert fleet.log("browser") == []
    assert fleet.requested() == [fleet.driver.current_url]
    assert fleet.driver.current_url.startswith("file://")


def test_the_summary_counts(fleet: Screen) -> None:
    # every second of 37 hosts is as recorded (19, all differ); of the 18 tuned ones every third is not quite
    tallies = fleet.js("Array.from(document.querySelectorAll('.tallies li')).map(t => t.innerText)")
    assert tallies == ["3\ncould not be read", "25\ndiffer from wan", "12\nhave no difference"]
    failed = fleet.js("Array.from(document.querySelectorAll('.failures td')).map(t => t.innerText)")
    assert failed == [
        "host_key", "its host key is not the one in known_hosts",
        "auth", "no key was accepted",
        "unreachable", "connection refused on port 22",
    ]  # fmt: skip


def test_cells_have_the_hosts_own_values_and_drift_is_marked(fleet: Screen) -> None:
    # 1 Gbit/s x 80 ms are 10,000,000 bytes; Linux 6.1 wants 2.5 times that
    drift = fleet.cell("nyc-02.example.net", "recv_buffer_max")
    assert drift["text"].split() == ["≠", "65536", ">=", "25000000"]
    assert "d" in drift["kind"].split()
    assert drift["title"] == "net.ipv4.tcp_rmem[2]: 65536, target >= 25000000"
    good = fleet.cell("sin-01.example.net", "recv_buffer_max")
    assert (good["text"], good["kind"]) == ("67108864", "n")
    assert good["title"].startswith("net.ipv4.tcp_rmem[2], target >= ")
    assert fleet.cell("nyc-02.example.net", "mtu_probing")["text"].split() == ["≠", "off", "=", "on"]
    assert fleet.cell("lon-04.example.net", "congestion_control")["text"] == "absent"
    assert fleet.cell("nyc-06.example.net", "sack")["text"] == "–"


def test_a_mark_is_more_than_a_colour(fleet: Screen) -> None:
    marked = fleet.js("Array.from(document.querySelectorAll('td.d')).map(c => c.innerText[0])")
    assert set(marked) == {"≠"}
    assert len(marked) == sum(len(host.differences) for host in audit(outcomes(HOSTS, UNREAD)).hosts)


def test_the_worst_come_first(fleet: Screen) -> None:
    counts = fleet.js(
        "Array.from(document.querySelector('.matrix').tBodies[0].rows)"
        ".map(r => parseInt(r.cells[1].innerText) || 0)"
    )
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 7
    assert len(counts) == HOSTS - UNREAD


def test_a_group_hides_the_others(fleet: Screen) -> None:
    assert len(fleet.rows()) == 37
    fleet.choose("group", "nyc")
    assert set(fleet.rows()) == {f"nyc-{n:02d}.example.net" for n in range(2, 37, 4)}
    assert fleet.rows(".failures") == ["nyc-38.example.net"]
    assert fleet.driver.find_element("css selector", "#filter output").text == "10 of 40 shown"
    fleet.choose("group", "backup servers")
    assert {name[:3] for name in fleet.rows()} == {"sin", "fra"}


def test_state_and_text_narrow_further_and_reset_shows_all(fleet: Screen) -> None:
    fleet.choose("group", "sin")
    fleet.choose("state", "differs")
    assert fleet.rows() == [f"sin-{n:02d}.example.net" for n in (9, 21, 33)]
    fleet.driver.find_element("css selector", "#filter [name=text]").send_keys("SIN-2")
    assert fleet.rows() == ["sin-21.example.net"]
    assert fleet.rows(".failures") == []
    fleet.driver.find_element("css selector", "#filter button").click()
    assert len(fleet.rows()) == 37
    assert fleet.driver.find_element("css selector", "#filter output").text == "40 of 40 shown"


def test_sentences_stay_while_one_of_their_hosts_does(fleet: Screen) -> None:
    warnings = (
        "Array.from(document.querySelectorAll('td.warning'))"
        ".filter(c => c.innerText === 'warning' && c.getClientRects().length).length"
    )
    assert fleet.js(warnings) == 2  # the denied requests of the five FreeBSD hosts in London
    fleet.choose("group", "fra")
    assert fleet.js(warnings) == 0
    fleet.choose("group", "lon")
    assert fleet.js(warnings) == 2


def test_paper_shows_all_and_no_filter(fleet: Screen) -> None:
    fleet.choose("group", "nyc")
    fleet.cdp("Emulation.setEmulatedMedia", media="print")
    assert len(fleet.rows()) == 37
    assert len(fleet.rows(".failures")) == 3
    assert not fleet.driver.find_element("css selector", "#filter").is_displayed()
    assert fleet.js("getComputedStyle(document.querySelector('td.d b')).textDecorationLine") == "underline"
    printed = base64.b64decode(fleet.driver.print_page())
    assert printed.startswith(b"%PDF-")
    pages = max(int(count) for count in re.findall(rb"/Count (\d+)", printed))
    assert 3 <= pages <= 20


def test_without_javascript_all_is_shown(screen: Screen) -> None:
    screen.cdp("Emulation.setScriptExecutionDisabled", value=True)
    screen.open(diff_page(audit(outcomes(HOSTS, UNREAD)), groups_of, details=False))
    screen.cdp("Emulation.setScriptExecutionDisabled", value=False)  # for the questions below
    assert not screen.driver.find_element("css selector", "#filter").is_displayed()
    assert len(screen.rows()) == 37
    assert len(screen.rows(".failures")) == 3


def test_two_hundred_hosts(screen: Screen) -> None:
    for page in (
        diff_page(audit(outcomes(200, 20)), groups_of, details=False),
        show_page(outcomes(200, 20), groups_of, details=False),
    ):
        assert len(to_html(page, MADE)) < 600_000  # measured: 318 and 451 KiB
        screen.open(page)
        assert len(screen.rows()) == 180
        assert screen.log("browser") == []
        screen.choose("group", "sin")
        assert len(screen.rows()) == 45
