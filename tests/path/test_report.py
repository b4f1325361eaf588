"""The contract of the report: its JSON, what is needed, what is not known, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.errors import InputError, UsageError
from hostcfg.model import Finding, Interface, Link, Reading, State
from hostcfg.outputs.blocks import Paragraph
from hostcfg.outputs.path_views import path_blocks
from hostcfg.path import analyse_path, to_json
from tests.path.hosts import freebsd, linux, macos, pasted, windows

if TYPE_CHECKING:
    from hostcfg.model import Facts

WAN = Link(100e6, 0.080)
SMALL = {"rmem": "4096 131072 262144", "wmem": "4096 16384 262144"}


def test_the_document_has_the_fields_of_the_contract() -> None:
    document = cast("dict[str, Any]", to_json(analyse_path(linux("a"), linux("b", **SMALL), WAN)))
    assert json.loads(json.dumps(document)) == document
    assert document["link"]["rate_bps"] == 100_000_000
    assert (document["link"]["rtt_s"], document["link"]["bdp_bytes"]) == (0.08, 1_000_000)
    there, back = document["directions"]
    assert (there["from"], there["to"], back["from"], back["to"]) == ("a", "b", "b", "a")
    assert there["window_bytes"] == 131072
    assert there["predicted_bps"] == 90 * 1448 * 8 / 0.08
    limited_by = {k: there["limited_by"][k] for k in ("kind", "host", "setting", "key", "value")}
    assert limited_by == {
        "kind": "receive_window",
        "host": "b",
        "setting": "recv_buffer_max",
        "key": "net.ipv4.tcp_rmem",
        "value": 262144,
    }
    (need,) = there["needs"]
    assert {k: need[k] for k in ("host", "setting", "key", "current", "target")} == {
        "host": "b",
        "setting": "recv_buffer_max",
        "key": "net.ipv4.tcp_rmem",
        "current": 262144,
        "target": 2_500_000,
    }
    assert need["target_native"].split() == ["4096", "131072", "2500000"]
    assert "tcp_rmem" in need["command"]
    assert back["limited_by"]["kind"] == "send_buffer"
    assert back["low_bps"] <= back["predicted_bps"] <= back["high_bps"]


def test_limits_are_in_the_order_of_what_they_leave() -> None:
    direction = analyse_path(linux("a", **SMALL), linux("b", **SMALL), WAN).directions[0]
    assert [limit.kind for limit in direction.limits] == ["receive_window", "send_buffer", "link_rate"]
    rates = [limit.rate_bps for limit in direction.limits]
    assert rates == sorted(rates)
    assert "Next comes a's net.ipv4.tcp_wmem[2] = 262,144, at 17.5 Mbit/s" in " ".join(direction.sentences)


def test_every_window_below_the_bdp_is_needed_whatever_limits_first() -> None:
    direction = analyse_path(linux("a", **SMALL), linux("b", **SMALL), WAN, loss=0.05).directions[0]
    assert direction.limited_by.kind == "loss"
    assert [(n.host, n.need.key) for n in direction.needs] == [
        ("b", "net.ipv4.tcp_rmem"),
        ("a", "net.ipv4.tcp_wmem"),
    ]
    many = analyse_path(linux("a", **SMALL), linux("b", **SMALL), WAN, streams=16).directions[0]
    assert many.limited_by.kind == "link_rate"
    assert len(many.needs) == 2


def test_needs_that_are_met_leave_none() -> None:
    """What `needs` asks for makes the path limited by its link, on each system."""
    tuned = {"rmem": "4096 131072 2500000", "wmem": "4096 16384 2500000"}
    for facts in (
        linux("x", **tuned),
        freebsd("x", maxsockbuf=4_500_000, recvbuf_max=4_000_000, sendbuf_max=4_000_000),
    ):
        report = analyse_path(facts, linux("y", **tuned), WAN)
        for direction in report.directions:
            assert direction.limited_by.kind == "link_rate"
            assert direction.needs == []


def test_scaling_is_named_only_where_the_buffers_allow_more() -> None:
    off = linux("b", tcp_window_scaling="0")
    direction = analyse_path(linux("a"), off, WAN).directions[0]
    limit = direction.limited_by
    assert (limit.kind, limit.host, limit.key, limit.value) == (
        "window_scaling",
        "b",
        "net.ipv4.tcp_window_scaling",
        False,
    )
    assert direction.window_bytes == 65535
    assert direction.predicted_bps == pytest.approx(65160 * 8 / 0.08)
    assert [(n.host, n.need.setting, n.need.target) for n in direction.needs] == [
        ("b", "window_scaling", True)
    ]
    tiny = linux("b", tcp_window_scaling="0", rmem="4096 65536 65536")
    direction = analyse_path(linux("a"), tiny, WAN).directions[0]
    assert direction.limited_by.kind == "receive_window"
    assert {n.need.setting for n in direction.needs} == {"window_scaling", "recv_buffer_max"}


def test_scaling_off_at_the_sender_limits_as_well_and_both_ends_need_it() -> None:
    a, b = (linux(host, tcp_window_scaling="0") for host in "ab")
    direction = analyse_path(a, b, WAN).directions[0]
    assert direction.limited_by.kind == "window_scaling"
    assert [n.host for n in direction.needs] == ["b", "a"]
    assert {n.need.setting for n in direction.needs} == {"window_scaling"}
    assert analyse_path(a, linux("b"), WAN).directions[0].limited_by.host == "a"
    assert direction.receive_shift is None


def test_a_link_below_the_unscaled_window_needs_no_scaling() -> None:
    slow = Link(1e6, 0.1)  # BDP 12,500
    direction = analyse_path(linux("a"), linux("b", tcp_window_scaling="0"), slow).directions[0]
    assert direction.limited_by.kind == "link_rate"
    assert direction.needs == []


def test_loss_by_algorithm() -> None:
    def rate(name: str) -> float:
        sender = linux("a", tcp_congestion_control=name)
        return analyse_path(sender, linux("b"), WAN, loss=0.001).directions[0].predicted_bps

    assert rate("cubic") == pytest.approx(38.73 * 1448 * 8 / 0.08, rel=0.001)
    assert rate("bbr") == pytest.approx(95.64e6, rel=0.001)
    direction = analyse_path(linux("a"), linux("b"), WAN, loss=0.001).directions[0]
    limit = direction.limited_by
    assert (limit.kind, limit.host, limit.setting, limit.value) == (
        "loss",
        "a",
        "congestion_control",
        "cubic",
    )
    assert any("bbr" in sentence for sentence in direction.sentences)
    assert analyse_path(linux("a"), linux("b"), WAN, loss=0.0).directions[0].limited_by.kind == "link_rate"


def test_a_file_that_holds_only_some_keys_works_and_says_what_is_missing() -> None:
    far = pasted("far", "net.ipv4.tcp_rmem = 4096 87380 262144")
    there, back = analyse_path(linux("near"), far, WAN).directions
    assert there.limited_by.host == "far"
    assert there.unknown == []
    assert any("net.ipv4.tcp_window_scaling was not read: assumed on" in note for note in there.assumed)
    assert back.unknown == ["far: net.ipv4.tcp_wmem was not read"]
    assert "at most" in back.sentences[0]
    assert back.sentences[-1] == "Not known: far: net.ipv4.tcp_wmem was not read."


def test_nothing_of_an_end_is_an_error_that_names_host_and_keys() -> None:
    with pytest.raises(InputError) as caught:
        analyse_path(linux("near"), pasted("far", "net.ipv4.tcp_sack = 1"), WAN)
    text = str(caught.value)
    assert text.startswith("far: net.ipv4.tcp_rmem: nothing can be said of this end")
    assert "net.ipv4.tcp_wmem" in text
    assert "(absent)" in text


def test_a_denied_reading_is_no_default() -> None:
    facts = linux("far")
    denied = {
        name: Reading(name, None, State.DENIED, reading.key, reading.element)
        for name, reading in facts.readings.items()
        if reading.key in {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
    }
    report = analyse_path(linux("near"), replace(facts, readings={**facts.readings, **denied}), WAN)
    assert report.directions[0].unknown == ["far: net.ipv4.tcp_rmem was denied"]


def test_streams_share_the_memory_of_all_sockets() -> None:
    far = pasted(
        "far",
        "kernel.osrelease = 6.1.0\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n"
        "net.ipv4.tcp_wmem = 4096 16384 4194304\nnet.ipv4.tcp_mem = 1000 1500 2000",
    )
    report = analyse_path(linux("near"), far, Link(10e9, 0.08), streams=10)
    direction = report.directions[0]
    limit = direction.limited_by
    # 2000 pages of 4 KiB are 8,192,000 bytes: a tenth for each buffer, half of that is window
    assert limit.window_bytes == pytest.approx(409_600, abs=200)
    assert (limit.kind, limit.setting, limit.key) == ("receive_window", "tcp_memory_max", "net.ipv4.tcp_mem")
    assert any(n.need.setting == "tcp_memory_max" for n in direction.needs)
    assert any("pages are assumed to have 4 KiB" in note for note in direction.assumed)


def test_the_mtu_is_the_smaller_of_the_two_interfaces() -> None:
    jumbo = replace(linux("a"), interfaces=(Interface("eth0", 9000, routes=("default", "peer")),))
    plain = replace(
        linux("b"), interfaces=(Interface("eth0", 1500), Interface("eth1", 4000, routes=("default",)))
    )
    report = analyse_path(jumbo, plain, WAN)
    assert report.mtu_bytes == 4000
    assert not any("MTU" in note for d in report.directions for note in d.assumed)
    assert analyse_path(jumbo, linux("b"), WAN).mtu_bytes == 1500
    given_mtu = analyse_path(jumbo, plain, WAN, mtu_bytes=9000)
    assert given_mtu.link_goodput_bps == pytest.approx(100e6 * 8948 / 9014)


def test_timestamps_off_at_one_end_leave_more_of_each_frame() -> None:
    report = analyse_path(linux("a", tcp_timestamps="0"), linux("b"), WAN)
    assert report.directions[0].predicted_bps == pytest.approx(96.43e6, rel=0.001)


def test_warnings_of_the_hosts_are_passed_on() -> None:
    warning = Finding(
        "boot_override", "warning", "b: /etc/sysctl.d/99.conf will win at boot", ("net.ipv4.tcp_rmem",)
    )
    note = Finding("partial", "info", "not passed on")
    report = analyse_path(linux("a"), replace(linux("b"), findings=(warning, note)), WAN)
    assert [(f.host, f.finding.kind) for f in report.findings if f.host == "b"] == [("b", "boot_override")]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"window_bytes": 0}, "a window is above zero"),
        ({"window_bytes": 2 << 30}, "at most 1 GiB"),
        ({"streams": 0}, "1 to 10000 streams"),
        ({"loss": 1.0}, "below 100%"),
        ({"loss": -0.1}, "at least 0"),
        ({"mtu_bytes": 20}, "68 to 65535"),
    ],
)
def test_numbers_out_of_range(change: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        analyse_path(linux("a"), linux("b"), WAN, **change)


def test_a_link_without_rate_or_rtt() -> None:
    for link in (Link(0, 0.1), Link(1e6, 0)):
        with pytest.raises(UsageError, match="above zero"):
            analyse_path(linux("a"), linux("b"), link)


ENDS: list[Facts] = [
    linux("lin61"),
    linux("lin612", release="6.12.1"),
    linux("small", **SMALL),
    linux("off", tcp_window_scaling="0"),
    freebsd("bsd"),
    freebsd("bsd9", release="9.3-RELEASE"),
    macos("mac"),
    windows("win"),
    windows("win0", level="disabled"),
]


@given(
    a=st.sampled_from(ENDS),
    b=st.sampled_from(ENDS),
    rate_bps=st.floats(1e4, 1e11),
    rtt_s=st.floats(1e-4, 2),
    window=st.none() | st.integers(1, 1 << 30),
    streams=st.integers(1, 200),
    loss=st.none() | st.floats(1e-6, 0.5),
)
def test_every_report_is_consistent(
    a: Facts, b: Facts, rate_bps: float, rtt_s: float, window: int | None, streams: int, loss: float | None
) -> None:
    report = analyse_path(a, b, Link(rate_bps, rtt_s), window_bytes=window, streams=streams, loss=loss)
    for direction in report.directions:
        assert 0 < direction.low_bps <= direction.predicted_bps <= direction.high_bps * (1 + 1e-9)
        assert direction.predicted_bps <= report.link_goodput_bps * (1 + 1e-9)
        assert direction.slow_start_s >= 0
        assert direction.test.seconds >= 10
        for item in direction.needs:
            current = item.need.current
            if isinstance(current, int) and isinstance(item.need.target, int):
                assert item.need.target > current or item.need.target is True
    json.dumps(to_json(report), allow_nan=False)


def test_streams_that_fill_the_link_need_nothing_mended() -> None:
    a, b = linux("a"), linux("b", rmem="4096 131072 1048576")
    report = analyse_path(a, b, Link(100e6, 0.08), streams=4)
    there = report.directions[0]
    assert there.limited_by.kind == "link_rate"
    assert there.needs  # one stream's 524,288 bytes are below the BDP of 1,000,000
    wanted = [s for s in there.sentences if "set net.ipv4.tcp_rmem[2]" in s]
    assert wanted[0].startswith("4 streams fill the link as it is; for one alone to fill it: on b set")
    text = [block.text for block in path_blocks(report, a, b) if isinstance(block, Paragraph)]
    assert "So that one stream alone fills it:" in text
    assert "To mend it:" not in text
    (one, _) = analyse_path(a, b, Link(100e6, 0.08)).directions
    assert any(s.startswith("To fill the link with one stream: on b set") for s in one.sentences)


def test_the_queue_of_several_streams_is_said_to_be_theirs() -> None:
    texts = [
        next(
            f.finding.message
            for f in analyse_path(linux("a"), linux("b"), Link(100e6, 0.012), streams=streams).findings
            if f.finding.kind == "standing_queue"
        )
        for streams in (1, 4)
    ]
    # 2,810,183 bytes x 1514/1448 x 8 / 100 Mbit/s - 12 ms, and four times as much less 12 ms
    assert "one such flow can hold 223 ms of queue" in texts[0]
    assert "4 such flows together can hold 928 ms of queue" in texts[1]
