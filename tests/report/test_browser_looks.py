"""How the page looks: pictures, contrast, keyboard; and that a hostile host changes nothing of it."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError
from hostcfg.outputs.report.diff import diff_page
from hostcfg.reader import Outcome
from hostcfg.targets import HostSpec
from tests.report.fleet import audit, tuned
from tests.report.screen import IN_BROWSER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.report.screen import Screen

pytestmark = IN_BROWSER


def png_colours(png: bytes) -> int:
    """How many different pixels the picture's raw lines hold, at least: a blank page has a handful."""
    data = b"".join(
        png[at + 8 : at + 8 + int.from_bytes(png[at : at + 4])]
        for at in (m.start() - 4 for m in re.finditer(b"IDAT", png))
    )
    return len(set(re.findall(rb"(?s)...", zlib.decompress(data))))


@pytest.mark.parametrize("width", [1280, 400])
def test_a_picture_of_it_is_not_blank(fleet: Screen, tmp_path: Path, width: int) -> None:
    fleet.size(width)
    picture = tmp_path / f"report-{width}.png"
    assert fleet.driver.save_screenshot(str(picture))
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert (int.from_bytes(data[16:20]), int.from_bytes(data[20:24])) == (width, 900)
    assert 20_000 < len(data) < 2_000_000
    assert png_colours(data) > 200
    assert fleet.js("document.documentElement.scrollWidth") <= width  # tables scroll, the page does not


CONTRAST = """(() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = c => { const [r, g, b] = c.map(v => { v /= 255;
    return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const says = e => Array.from(e.childNodes).some(n => n.nodeType === 3 && n.data.trim());
  let worst = [99, ''];
  for (const e of document.querySelectorAll('body *')) {
    if (!e.getClientRects().length || !says(e)) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 120)];
  }
  return worst; })()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(fleet: Screen, scheme: str) -> None:
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    fleet.cdp("Emulation.setEmulatedMedia", features=wanted)
    dark = fleet.js("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    ratio, where = fleet.js(CONTRAST)
    assert ratio >= 4.5, where  # WCAG 2.2, success criterion 1.4.3, level AA


def test_tables_have_headers_and_controls_have_labels(fleet: Screen) -> None:
    assert fleet.js("document.documentElement.lang") == "en"
    assert fleet.js("document.querySelectorAll('table').length") >= 4
    bare = (
        "Array.from(document.querySelectorAll('table')).filter(t => !t.querySelector('thead th[scope=col]'))"
    )
    assert fleet.js(f"{bare}.length") == 0
    rows = "Array.from(document.querySelectorAll('.matrix tbody tr, .failures tbody tr'))"
    assert fleet.js(f"{rows}.every(r => r.cells[0].matches('th[scope=row]'))")
    assert fleet.js(
        "Array.from(document.querySelectorAll('select, input')).every(c => c.labels.length === 1)"
    )
    scrolled = "Array.from(document.querySelectorAll('.scroll')).every(s => s.tabIndex === 0 && s.ariaLabel)"
    assert fleet.js(scrolled)


def test_keys_alone_reach_the_filter(fleet: Screen) -> None:
    from selenium.webdriver import ActionChains, Keys

    ActionChains(fleet.driver).send_keys(Keys.TAB).perform()
    assert fleet.js("document.activeElement.name") == "group"
    ActionChains(fleet.driver).send_keys("nyc").perform()
    assert {name[:3] for name in fleet.rows()} == {"nyc"}


EVIL = "<script>document.title='owned'</script>"
WORSE = "\"'><img src=x onerror=\"document.title='owned'\"></title></style></script><!--"


def test_what_a_host_calls_itself_is_inert(screen: Screen) -> None:
    hosts = [
        tuned(EVIL, tcp_congestion_control=WORSE.replace(" ", "")),
        tuned(WORSE, tcp_congestion_control="javascript:alert(1)"),
        tuned("\x1b]0;owned\x07\u202egpj"),
        tuned("{{ 7 * 7 }}{% raw %}"),
    ]
    found = [Outcome(HostSpec(facts.host, "ssh", facts.host), facts) for facts in hosts]
    found.append(Outcome(HostSpec("f", "ssh", "f"), None, HostError("command", WORSE, host="f")))
    screen.open(diff_page(audit(found), lambda _: [WORSE], details=True))
    assert screen.driver.title == "5 hosts against the profile wan"
    assert screen.log("browser") == []
    assert screen.requested() == [screen.driver.current_url]
    assert screen.js("document.querySelectorAll('img, iframe, object, [onerror], [href], [src]').length") == 0
    assert screen.js("document.scripts.length") == 1
    shown = screen.rows()
    assert EVIL in shown
    assert WORSE in shown
    assert "{{ 7 * 7 }}{% raw %}" in shown
    assert "\\x1b]0;owned\\x07\\x202egpj" in shown
    options = "Array.from(document.querySelector('[name=group]').options).map(o => o.text)"
    assert screen.js(options) == ["all", WORSE]
