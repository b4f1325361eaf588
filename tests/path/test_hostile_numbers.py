"""What no test and no kernel can have counted says nothing of a path."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from hostcfg.model import Link, Parsed
from hostcfg.path import analyse_path, compare_measured, live_evidence
from tests.path.hosts import linux

if TYPE_CHECKING:
    from hostcfg.model import Json

REPORT = analyse_path(linux("a"), linux("b"), Link(100e6, 0.08))


@pytest.mark.parametrize("number", [10**30, 1e300, float("inf"), float("nan"), -1, True, "12"])
def test_a_rate_that_can_not_be_is_no_result(number: float) -> None:
    interval: Json = {"start": 0, "end": number, "bps": number}
    record: Json = {"received_bps": number, "retransmits": number, "intervals": [interval]}
    parsed = Parsed("any", "iperf3-json", "", {"records": [record]})
    (evidence,) = compare_measured(REPORT, parsed)
    assert (evidence.verdict, evidence.measured_bps, evidence.steady_bps) == ("no_result", None, None)
    json.dumps(asdict(evidence), allow_nan=False)


@pytest.mark.parametrize("number", [1e300, float("nan"), -5])
def test_a_time_that_can_not_be_is_no_share(number: float) -> None:
    socket: Json = {"bytes_acked": 1000, "busy_ms": number, "rwnd_limited_ms": 10, "snd_wnd": number}
    parsed = Parsed("linux", "ss", "", {"sockets": [socket]})
    live = live_evidence(parsed, REPORT.directions[0])
    assert (live.rwnd_limited, live.peer_window_bytes) in {(None, None), (0.0, None)}
    json.dumps(asdict(live), allow_nan=False)
