"""The arithmetic of a flow, by hand."""

from __future__ import annotations

import pytest

from hostcfg.path.tcp import (
    BBR,
    CUBIC,
    RENO,
    Segment,
    algorithm,
    cubic_recovery_s,
    cubic_window_segments,
    loaded_rtt_s,
    loss_that_explains,
    reno_window_segments,
    slow_start_rtts,
    window_rate_bps,
)


def test_a_full_segment_and_its_share_of_the_link() -> None:
    assert Segment.of(1500, timestamps=True) == Segment(1448, 1514)
    assert Segment.of(1500, timestamps=True).efficiency == pytest.approx(0.956, abs=0.0005)
    assert Segment.of(1500, timestamps=False).efficiency == pytest.approx(0.9643, abs=0.0005)
    assert Segment.of(9000, timestamps=True) == Segment(8948, 9014)


def test_a_window_is_used_in_whole_segments() -> None:
    # 45 x 1448 = 65,160 bytes every 80 ms
    assert window_rate_bps(65535, 1448, 0.08) == pytest.approx(65160 * 8 / 0.08)
    assert window_rate_bps(1000, 1448, 0.1) == 80_000
    assert window_rate_bps(1448, 1448, 0.1) == pytest.approx(115_840)


def test_the_loaded_round_trip_is_the_windows_time_on_the_wire() -> None:
    # measured: 230,232 bytes in flight at 50 Mbit/s showed 38.2 ms
    assert loaded_rtt_s(230_232, Segment(1448, 1514), 50e6) == pytest.approx(0.0385, abs=0.0005)


def test_response_functions_at_the_losses_of_their_papers() -> None:
    assert reno_window_segments(1e-3) == pytest.approx(38.7, abs=0.1)
    assert reno_window_segments(1e-2) == pytest.approx(12.2, abs=0.1)
    # RFC 9438 table 2 (RTT 100 ms) and table 3 (10 ms): segments
    assert cubic_window_segments(1e-4, 0.1) == pytest.approx(187, abs=1)
    assert cubic_window_segments(1e-5, 0.1) == pytest.approx(1054, abs=3)
    assert cubic_window_segments(1e-6, 0.01) == pytest.approx(1225, abs=15)  # Reno-friendly: 1.22 / sqrt(p)


def test_the_loss_that_explains_a_window_is_the_inverse() -> None:
    assert loss_that_explains(reno_window_segments(0.002)) == pytest.approx(0.002)
    assert loss_that_explains(0) == 1.0


def test_algorithms_by_name() -> None:
    assert algorithm("cubic") is CUBIC
    assert algorithm("bbr") is algorithm("bbr2") is algorithm("BBR") is BBR
    assert algorithm("newreno") is algorithm("ctcp") is algorithm(None) is RENO


def test_slow_start_doubles_from_the_initial_window() -> None:
    # 14,480 -> 1,000,000 bytes: 69 times as much, 7 doublings
    assert slow_start_rtts(1_000_000, 1448, 10) == 7
    assert slow_start_rtts(14_480, 1448, 10) == 0
    assert slow_start_rtts(14_481, 1448, 10) == 1


def test_cubic_needs_seconds_to_be_back() -> None:
    # cbrt(690 x 0.3 / 0.4) = 8.03 s for 100 Mbit/s x 80 ms
    assert cubic_recovery_s(690 * 1448, 1448) == pytest.approx(8.03, abs=0.01)
