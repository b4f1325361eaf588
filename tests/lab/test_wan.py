"""The main job, end to end: a capped far end is named, mended, measured, and put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.shape import Shape

if TYPE_CHECKING:
    from tests.lab.measuring import Bench

pytestmark = [pytest.mark.lab, pytest.mark.root, pytest.mark.timeout(900)]

RATE, RTT = "200mbit", "80ms"
LINK = ("--rate", RATE, "--rtt", RTT)
CAPPED = "4096 131072 262144"
BELOW, ABOVE = 0.92, 1.03
"""Measured over predicted: a window opens in steps, and the round trip takes a little longer than 80 ms
(0.5 ms in a guest), hence up to 8 % less; nothing can be faster than the window but for rounding."""


def test_a_capped_far_end_is_named_mended_and_put_back(bench: Bench) -> None:
    bench.shape(Shape.of(RATE, RTT))
    with bench.set("b", "net.ipv4.tcp_rmem", CAPPED):
        untouched = bench.state()
        predicted = bench.predicted(*LINK)
        limit = predicted["limited_by"]
        assert (limit["kind"], limit["host"]) == ("receive_window", "b")
        assert (limit["key"], limit["element"], limit["value"]) == ("net.ipv4.tcp_rmem", 2, 262144)
        low, high = predicted["low_bps"] * BELOW, predicted["high_bps"] * ABOVE
        before = bench.iperf3(8, 5, at_least_bps=low).received_bps
        assert low < before < high

        applied = bench.hostcfg("apply", "a", "b", "--profile", "wan", *LINK, "--yes", "-o", "json", code=0)
        assert [h["status"] for h in applied.document["hosts"]] == ["applied", "applied"]
        advised = bench.predicted(*LINK)
        assert advised["limited_by"]["kind"] == "link_rate"
        seconds = advised["test"]["seconds"] if bench.long else 15
        after = bench.iperf3(seconds, advised["test"]["omit_s"], at_least_bps=0.9 * 200e6)
        assert after.received_bps > 0.9 * 200e6

        rolled_back = bench.hostcfg("rollback", "--last", "--yes", "-o", "json", code=0)
        assert [h["status"] for h in rolled_back.document["hosts"]] == ["reverted", "reverted"]
        again = bench.iperf3(8, 5, at_least_bps=low).received_bps
        assert low < again < high
        assert bench.state() == untouched
        print(
            f"\n{bench.backend}: predicted {predicted['predicted_bps'] / 1e6:.1f} Mbit/s "
            f"({predicted['low_bps'] / 1e6:.1f} to {predicted['high_bps'] / 1e6:.1f}), measured "
            f"{before / 1e6:.1f}; after wan {after.received_bps / 1e6:.1f} ({after.retransmits} "
            f"retransmits); after rollback {again / 1e6:.1f}"
        )
