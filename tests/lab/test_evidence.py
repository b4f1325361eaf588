"""``path`` beside what runs and what ran: --rtt auto, --rate auto, --live and --iperf3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.measuring import ADDRESSES
from tests.lab.shape import Shape

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lab.measuring import Bench

pytestmark = [pytest.mark.lab, pytest.mark.root, pytest.mark.timeout(600)]

RATE = ("--rate", "100mbit")


def test_rtt_auto_pings_over_the_path(bench: Bench) -> None:
    bench.shape(Shape.of("100mbit", "60ms"))
    document = bench.hostcfg("path", "a", "b", *RATE, "--rtt", "auto", *ADDRESSES, "-o", "json").document
    assert 0.060 <= document["link"]["rtt_s"] < 0.063  # a guest adds half a millisecond
    # over the management links there is no way from a to b
    ran = bench.hostcfg("path", "a", "b", *RATE, "--rtt", "auto")
    assert "no answer to ping 198.18.77.6" in ran.one_line_of_trouble()
    assert "--address" in ran.stderr


def test_rate_auto_says_that_nobody_knows(bench: Bench) -> None:
    ran = bench.hostcfg("path", "a", "b", "--rate", "auto", "--rtt", "60ms", *ADDRESSES)
    assert "no interface speed is known of a and b" in ran.one_line_of_trouble()
    assert "give --rate" in ran.stderr


def test_a_running_transfer_shows_what_it_waits_for(bench: Bench) -> None:
    bench.shape(Shape.of("100mbit", "60ms"))
    link = (*RATE, "--rtt", "60ms", *ADDRESSES)
    with bench.set("b", "net.ipv4.tcp_rmem", "4096 131072 262144"):
        idle = bench.hostcfg("path", "a", "b", *link, "--live", "-o", "json").document["live"]
        assert (idle["sockets"], idle["rwnd_limited"]) == (0, None)
        assert idle["sentences"] == ["No socket to the peer was sending: start the transfer first."]
        with bench.transfer(60):
            bench.lab.on("a", "sleep", "6")
            document = bench.hostcfg("path", "a", "b", *link, "--live", "-o", "json", code=1).document
    live, there = document["live"], document["directions"][0]
    assert there["limited_by"]["kind"] == "receive_window"
    assert live["sockets"] == 1
    assert live["rwnd_limited"] > 0.9
    assert live["sndbuf_limited"] + live["cwnd_limited"] < 0.1
    assert 0.060 <= live["min_rtt_s"] < 0.063
    limit = there["limits"][0]
    # what the peer advertises is the predicted window, but for what lies in its buffer when ss looks
    assert live["peer_window_bytes"] == pytest.approx(limit["window_bytes"], rel=0.25)
    print(f"\n{bench.backend}: {live['rwnd_limited']:.1%} of the time limited by the receive window")


def test_a_finished_run_stands_beside_the_prediction(bench: Bench, tmp_path: Path) -> None:
    bench.shape(Shape.of("100mbit", "60ms"))
    link = (*RATE, "--rtt", "60ms", *ADDRESSES)
    with bench.set("b", "net.ipv4.tcp_rmem", "4096 131072 262144"):
        flow = bench.iperf3(8, 3)
        result = tmp_path / "run.json"
        result.write_text(flow.text)
        document = bench.hostcfg("path", "a", "b", *link, "--iperf3", result, "-o", "json", code=1).document
        table = bench.hostcfg("path", "a", "b", *link, "--iperf3", result, code=1).stdout
    (measured,) = document["measured"]
    assert measured["verdict"] == "as_predicted"
    assert measured["measured_bps"] == pytest.approx(flow.received_bps, rel=0.001)
    assert measured["predicted_bps"] == pytest.approx(document["directions"][0]["predicted_bps"], rel=1e-6)
    assert measured["explained"] == pytest.approx(
        flow.received_bps / document["directions"][0]["predicted_bps"], rel=0.001
    )
    assert "Measured beside predicted" in table
