"""The guard against bufferbloat: latency under load before, with, and after the profile lan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.shape import Shape

if TYPE_CHECKING:
    from tests.lab.measuring import Bench

pytestmark = [pytest.mark.lab, pytest.mark.root, pytest.mark.timeout(900)]

RATE, RTT, RTT_MS = "50mbit", "30ms", 30.0
LINK = ("--rate", RATE, "--rtt", RTT)


def test_latency_under_load_falls_with_lan_and_comes_back_without(bench: Bench) -> None:
    """A queue of 10 BDP holds 300 ms.  Buffers of 2 BDP make a window of 1 to 1.8 BDP, so the queue
    holds less than one of them.
    """
    bench.shape(Shape.of(RATE, RTT, "10bdp"))
    with bench.set_loss_based():
        untouched = bench.state()
        before = bench.loaded_ping_ms()
        assert before > 4 * RTT_MS

        wanted = ("--profile", "lan", "--set", "guard=both", *LINK)
        bench.hostcfg("apply", "a", "b", *wanted, "--yes", code=0)
        guarded = bench.settled(bench.loaded_ping_ms, lambda ms: ms < 2 * RTT_MS)
        assert guarded < 2 * RTT_MS
        flow = bench.iperf3(8, 2, at_least_bps=0.8 * 50e6)
        assert flow.received_bps > 0.8 * 50e6

        bench.hostcfg("rollback", "--last", "--yes", code=0)
        again = bench.loaded_ping_ms()
        assert again > 4 * RTT_MS
        assert bench.state() == untouched
    print(
        f"\n{bench.backend}: ping under load {before:.0f} ms, with lan {guarded:.0f} ms at "
        f"{flow.received_bps / 1e6:.1f} Mbit/s, after rollback {again:.0f} ms"
    )
