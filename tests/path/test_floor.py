"""A send buffer's figure is a floor, and is told as one wherever it stands."""

from __future__ import annotations

import pytest

from benchmarks.truth_table import rows
from hostcfg.audit import audit_host
from hostcfg.model import Link
from hostcfg.outputs.blocks import Heading, Table
from hostcfg.outputs.path_views import path_blocks, path_summary_blocks
from hostcfg.outputs.report.paths import Audited, path_page
from hostcfg.path import analyse_path, compare_measured, to_json
from hostcfg.profiles import find_profile
from tests.docs import README
from tests.iperf.samples import parse, text_of
from tests.path.hosts import linux, pasted, windows

WAN = Link(1e9, 0.080)
# 4,194,304 x 0.67 = 2,810,183 bytes, 1,940 whole segments of 1,448: 280.9 Mbit/s of 956.4, which is 29.4%
FLOOR = analyse_path(linux("a"), linux("b"), WAN)
SMALL = analyse_path(linux("a"), linux("b", rmem="4096 65536 65536"), WAN)


def test_the_headline_and_the_sentence_say_or_more() -> None:
    headings = [b for b in path_blocks(FLOOR, linux("a"), linux("b")) if isinstance(b, Heading)]
    assert headings[1].aside == "281 Mbit/s or more, 29.4% or more of what the link carries"
    assert "so 281 Mbit/s or more, 29.4% or more of the 956 Mbit/s" in FLOOR.directions[0].sentences[0]


def test_what_is_no_floor_does_not() -> None:
    """A window of 32,768 bytes less a segment, 21 whole ones: 3.04 Mbit/s, and no more."""
    headings = [b for b in path_blocks(SMALL, linux("a"), linux("b")) if isinstance(b, Heading)]
    assert headings[1].aside == "3.04 Mbit/s, 0.318% of what the link carries"
    first, second = SMALL.directions[0].sentences[0], SMALL.directions[0].sentences[1]
    assert "or more" not in first
    assert second.startswith("Next comes a's net.ipv4.tcp_wmem[2] = 4,194,304, at 281 Mbit/s or more with a")


def test_many_paths_and_their_page_say_so_too() -> None:
    (table,) = path_summary_blocks([FLOOR, SMALL])
    assert isinstance(table, Table)
    cells = {row.cells[0]: row.cells[1:3] for row in table.rows[::-1]}  # the worst of each name
    assert cells["a -> b"] == ("3.04 Mbit/s", "0.318%")
    assert [row.cells[1:3] for row in table.rows[1:]] == [("281 Mbit/s or more", "29.4% or more")] * 3
    row = path_page([Audited(FLOOR)]).paths[0]
    assert (row.predicted, row.share) == ("281 Mbit/s or more", "29.4% or more")
    assert row.bar.said == "281 Mbit/s or more of the link's 1 Gbit/s"


def test_the_document_keeps_its_numbers() -> None:
    directions = to_json(FLOOR)["directions"]
    assert isinstance(directions, list)
    first = directions[0]
    assert isinstance(first, dict)
    assert first["predicted_bps"] == 1940 * 1448 * 8 / 0.080


def test_with_one_end_unknown_it_is_neither_a_floor_nor_the_most() -> None:
    half = pasted("b", "kernel.osrelease = 6.1.0\nnet.ipv4.tcp_window_scaling = 1")
    direction = analyse_path(linux("a"), half, WAN).directions[0]
    assert direction.unknown
    assert "so about 281 Mbit/s, 29.4% of the" in direction.sentences[0]
    # the other way it is b's send buffer that was not read: a's window bounds, 2,172 segments
    back = path_summary_blocks([analyse_path(linux("a"), half, WAN)])[0]
    assert isinstance(back, Table)
    assert {row.cells[1] for row in back.rows} == {"about 281 Mbit/s", "at most 315 Mbit/s"}


def test_a_measured_flow_is_held_against_a_floor() -> None:
    sample = parse(text_of("linux", "iperf3-json__debian12-6.1-rmem256k-json__01.json"))
    (found,) = compare_measured(FLOOR, sample)
    assert found.predicted_is_floor
    assert "of the 281 Mbit/s or more that a's net.ipv4.tcp_wmem[2]" in found.sentences[0]
    (other,) = compare_measured(SMALL, sample)
    assert not other.predicted_is_floor


def test_a_size_asked_of_windows_is_soft_when_it_sends() -> None:
    direction = analyse_path(windows("a"), linux("b"), WAN, window_bytes=65536).directions[0]
    limit = next(x for x in direction.limits if x.host == "a")
    assert limit.is_floor


def test_no_window_that_flows_exceed_never_carries_more() -> None:
    """BDP 2,500,000, below the 2,810,183 of the send buffer and above half of them."""
    report = analyse_path(linux("a", rmem="4096 131072 33554432"), linux("b"), Link(250e6, 0.080))
    found = [f.finding.message for f in report.findings if f.finding.kind == "window_headroom"]
    assert "a's window of 2,810,183 bytes carries about 281 Mbit/s" in found[0]
    assert found[0].endswith("once queues double the RTT the window limits to 140 Mbit/s or more")


def test_what_a_host_s_buffers_allow() -> None:
    audit = audit_host(linux("a"), find_profile("wan"), WAN, {})
    # 6,291,456 / 2 and 2,810,183 bytes in 80 ms
    assert audit.meaning == (
        "One connection: the receive buffer allows 315 Mbit/s, the send buffer allows 281 Mbit/s or more of "
        "the 1 Gbit/s at 80 ms."
    )


def test_the_readme_says_how_far_floors_were() -> None:
    ratios = sorted(r.ratio for r in rows() if r.direction.limited_by.kind == "send_buffer" and r.ratio)
    below = [ratio for ratio in ratios if ratio > 1]
    assert (len(ratios), len(ratios) - len(below)) == (43, 31)
    assert ratios[len(ratios) // 2] == pytest.approx(0.70, abs=0.005)
    assert below[-2] == pytest.approx(1.51, abs=0.005)  # the last one was in loss recovery all the time
    assert (
        'a send buffer\'s figure ("or more") was reached or exceeded by 31 of 43 flows, with a median of '
        "predicted over measured of 0.70; 11 stayed up to a third below it, and one that lost packets all "
        "the time far below"
    ) in README.read_text(encoding="utf-8")
