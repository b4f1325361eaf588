"""Results to the page's plain values, and those to HTML: what is marked, counted, named and escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError
from hostcfg.model import Link
from hostcfg.outputs.html import _digits, _parts, to_html
from hostcfg.outputs.report.bars import bar_svg
from hostcfg.outputs.report.diff import diff_page
from hostcfg.outputs.report.page import Cell, Page
from hostcfg.outputs.report.rows import hosts_text
from hostcfg.outputs.report.show import show_page
from hostcfg.reader import Outcome
from hostcfg.targets import HostSpec
from tests.report.fleet import audit, groups_of, outcomes, recorded, tuned
from tests.report.screen import MADE

if TYPE_CHECKING:
    from hostcfg.model import Facts


def read(*facts: Facts) -> list[Outcome]:
    return [Outcome(HostSpec(f.host, "ssh", f.host), f) for f in facts]


def cells(page: Page, setting: str) -> dict[str, Cell]:
    assert page.matrix is not None
    at = [column.name for column in page.matrix.columns].index(setting)
    return {row.name: row.cells[at] for row in page.matrix.rows}


def no_groups(name: str) -> list[str]:
    del name
    return []


def test_show_marks_what_most_hosts_of_a_system_do_not_have() -> None:
    hosts = [tuned(name) for name in ("a", "b", "c")]
    hosts.append(tuned("odd", tcp_rmem="4096 131072 6291456"))
    page = show_page(read(*hosts, recorded("fileserver.txt")), no_groups, details=False)
    found = cells(page, "recv_buffer_max")
    said = "net.ipv4.tcp_rmem[2]: 6291456, 3 of 4 Linux hosts have 67108864"
    assert found["odd"] == Cell("6291456", "drift", "most 67108864", said)
    assert found["a"] == Cell("67108864", said="net.ipv4.tcp_rmem[2]")
    assert found["any"] == Cell("262144", said="net.inet.tcp.recvbuf_max")  # alone of its system
    assert page.matrix is not None
    assert {c.name: c.drifts for c in page.matrix.columns if c.drifts} == {"recv_buffer_max": 1}


@pytest.mark.parametrize("values", [("1", "2"), ("1", "1", "2", "2")])
def test_no_majority_marks_nobody(values: tuple[str, ...]) -> None:
    hosts = [tuned(f"h{i}", tcp_mtu_probing=value) for i, value in enumerate(values)]
    page = show_page(read(*hosts), no_groups, details=False)
    assert page.matrix is not None
    assert all(cell.mark != "drift" for row in page.matrix.rows for cell in row.cells)


def test_zero_is_a_value() -> None:
    page = show_page(read(tuned("a", tcp_sack="0", rmem_max="0")), no_groups, details=False)
    assert cells(page, "recv_explicit_max")["a"].text == "0"
    assert cells(page, "sack")["a"].text == "off"


def test_what_to_change_stands_once_with_all_its_hosts() -> None:
    page = diff_page(audit(outcomes(40, 3)), groups_of, details=False)
    rows = {(row.key, row.target): row for row in page.drifts}
    receive = rows["net.ipv4.tcp_rmem[2]", ">= 25000000"]
    # ten of the recorded Linux hosts and the six tuned ones whose number 3 divides
    assert (receive.count, len(receive.items)) == ("16 of 37 hosts", 16)
    assert list(receive.bar.parts) == [16, 21]
    bsd = rows["net.inet.tcp.recvbuf_max", ">= 20000000"]
    assert bsd.count == ", ".join(f"lon-{n:02d}.example.net" for n in (4, 12, 20, 28, 36))
    assert [len(row.items) for row in page.drifts] == sorted(
        (len(r.items) for r in page.drifts), reverse=True
    )


def test_every_target_is_in_the_table_of_settings() -> None:
    page = diff_page(audit(outcomes(4)), groups_of, details=False)
    table = {row.name: row for row in page.settings}
    assert page.matrix is not None
    assert list(table) == [column.name for column in page.matrix.columns]
    row = table["recv_buffer_max"]
    assert set(row.keys) == {"Linux: net.ipv4.tcp_rmem[2]"}
    assert set(row.said) == {"Linux: >= 25000000"}


def test_when_no_host_could_be_read_there_is_no_matrix() -> None:
    page = diff_page(audit(outcomes(5, 5)), groups_of, details=True)
    assert page.matrix is None
    assert [failure.kind for failure in page.failures] == [
        "timeout",
        "host_key",
        "auth",
        "unreachable",
        "timeout",
    ]
    assert "Hosts and settings" not in to_html(page, MADE)
    assert "<b>5</b> could not be read" in to_html(page, MADE)


def test_details_of_many_hosts_on_request() -> None:
    found = audit(outcomes(6, 1))
    without = diff_page(found, groups_of, details=False)
    page = diff_page(found, groups_of, details=True)
    assert without.details == ()
    assert len(page.details) == 5
    assert page.drifts == without.drifts != ()
    assert to_html(page, MADE).count('<section class="detail" data-i=') == 5


def test_a_profile_without_a_link() -> None:
    page = diff_page(audit(outcomes(4), "default", None), groups_of, details=False)
    assert page.aside == ""
    assert "4 hosts against the profile default" in to_html(page, MADE)


def test_bars_are_as_their_values_to_each_other() -> None:
    widths = [float(width) for width in re.findall(r'width="([\d.]+)"', bar_svg((20.3e6, 75.3e6, 4.4e6)))]
    assert [width / sum(widths) for width in widths] == pytest.approx([0.203, 0.753, 0.044], abs=1e-3)
    assert re.findall(r'class="part (part-\d)"', bar_svg((3, 0, 1))) == ["part-0", "part-2"]
    assert bar_svg((1, 1)) == bar_svg((2e9, 2e9))
    assert "script" not in bar_svg((1, 1))


@pytest.mark.parametrize(
    ("count", "widths"), [(0, []), (1, [1]), (9, [9]), (10, [5, 5]), (16, [8, 8]), (29, [8, 8, 8, 5])]
)
def test_a_matrix_is_cut_into_parts_that_fit_a_page(count: int, widths: list[int]) -> None:
    assert [len(range(count)[part]) for part in _parts(count)] == widths


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("4096", "4096"),
        ("65536", "65<i>536</i>"),
        (">= 25000000", "&gt;= 25<i>000</i><i>000</i>"),
        ("4096 131072 6291456", "4096 131<i>072</i> 6<i>291</i><i>456</i>"),
        ("10.0.19045.4529", "10.0.19045.4529"),
        ("<b>12345</b>", "&lt;b&gt;12<i>345</i>&lt;/b&gt;"),
        ("\x1b12345", "\\x1b12345"),
    ],
)
def test_long_numbers_are_grouped_for_the_eye(text: str, marked: str) -> None:
    assert str(_digits(text)) == marked
    if text.isprintable():
        shown = re.sub("</?i>", "", str(_digits(text)))
        assert shown.replace("&lt;", "<").replace("&gt;", ">") == text


def test_hosts_are_named_while_they_are_few() -> None:
    assert hosts_text(["a", "b"], 40) == "a, b"
    assert hosts_text([str(i) for i in range(9)], 40) == "9 of 40 hosts"
    assert hosts_text(["a", "b"], 2) == "all 2 hosts"
    assert hosts_text(["a"], 1) == "a"


def one_page(facts: Facts, said: str) -> str:
    """A host, one that could not be read, and ``said`` in every other place that takes text from outside."""
    found = [*read(facts), Outcome(HostSpec("f", "ssh"), None, HostError("command", said, host=said))]
    return to_html(diff_page(audit(found), lambda _: [said], details=True), MADE)


def tags(page: str) -> set[str]:
    """All tags, with what their attributes are but not what they hold."""
    return set(re.findall(r"<[^>]*>", re.sub(r'"[^"]*"', '""', page)))


@pytest.mark.parametrize(
    "evil",
    [
        "<script>alert(1)</script>",
        '" onmouseover="alert(1)',
        "'><img src=x>",
        "</style><b>",
        "-->",
        "{{ 1 }}",
        "é\x00",
    ],
)
def test_nothing_from_outside_becomes_markup(evil: str) -> None:
    facts = tuned(evil, tcp_congestion_control=evil.replace(" ", "") or "x")
    hostile = one_page(facts, evil)
    assert hostile.isascii()
    assert tags(hostile) - tags(one_page(tuned("plain"), "plain")) <= {"<wbr>", "<i>", "</i>", "<br>"}


def test_the_policy_allows_the_page_s_own_script_alone() -> None:
    import base64
    import hashlib

    page = to_html(show_page(read(tuned("a")), no_groups, details=True), MADE)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page
    assert "on 2026-11-30 20:00 UTC" in page


def test_rank_follows_the_summary_of_the_other_outputs() -> None:
    from hostcfg.outputs.fleet_views import rank_audits

    found = audit(outcomes(12), link=Link(1e8, 0.012))
    page = diff_page(found, groups_of, details=False)
    assert page.matrix is not None
    assert [row.name for row in page.matrix.rows] == [host.name for host in rank_audits(found.hosts)]
