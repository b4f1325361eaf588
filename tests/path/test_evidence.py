"""A test that was run, or runs, beside the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.model import Link
from hostcfg.path import analyse_path, compare_measured, live_evidence
from hostcfg.platforms.linux.parsers.ss import SS
from tests.iperf.samples import parse, text_of
from tests.path.hosts import linux

if TYPE_CHECKING:
    from hostcfg.path import PathReport

# what the recorded hosts had: netem with 100 ms, a link that no test filled
PATH = Link(1e9, 0.1)
SMALL = {"rmem": "4096 131072 262144"}


def test_a_named_limit_explains_what_was_measured() -> None:
    report = analyse_path(linux("a"), linux("b", **SMALL), PATH)
    (found,) = compare_measured(
        report, parse(text_of("linux", "iperf3-json__debian12-6.1-rmem256k-json__01.json"))
    )
    assert (found.from_host, found.to_host) == ("a", "b")
    assert found.measured_bps == 8668268
    assert found.predicted_bps == pytest.approx(90 * 1448 * 8 / 0.1)
    assert found.explained == pytest.approx(8668268 / 10_425_600)
    # five seconds with slow start in them: the steady part is close to the limit
    assert found.steady_bps is not None
    assert found.steady_bps > found.measured_bps
    assert found.sentences[0] == (
        "Measured 8.67 Mbit/s of the 10.4 Mbit/s that b's net.ipv4.tcp_rmem[2] = 262,144 leaves: 83.1%."
    )


def test_a_reverse_test_measures_the_other_direction() -> None:
    report = analyse_path(linux("a", **SMALL), linux("b"), PATH, window_bytes=131072)
    text = text_of("linux", "iperf3-json__debian12-6.1-rev-w128k-json__01.json")
    (found,) = compare_measured(report, parse(text))
    assert (found.from_host, found.to_host) == ("b", "a")
    (other,) = compare_measured(report, parse(text), reverse=True)
    assert (other.from_host, other.to_host) == ("a", "b")


def test_another_run_than_the_predicted_one_is_said() -> None:
    report = analyse_path(linux("a"), linux("b"), PATH)
    (found,) = compare_measured(
        report, parse(text_of("linux", "iperf3-json__debian12-6.1-w64k-json__01.json"))
    )
    assert any("asked for 65,536 bytes (-w)" in sentence for sentence in found.sentences)
    (found,) = compare_measured(report, parse(text_of("linux", "iperf3__debian12-6.1-P4-w64k__01.txt")))
    assert "The run had 4 streams, the prediction 1." in found.sentences


def test_a_run_with_its_own_streams_and_size_is_held_against_that() -> None:
    """-w 64K on 6.1: a window of 65,536 less a segment, so 44 segments of 1,448 bytes in 100 ms."""
    a, b = linux("a"), linux("b")

    def as_run(streams: int, window_bytes: int | None) -> PathReport:
        return analyse_path(a, b, PATH, streams=streams, window_bytes=window_bytes)

    text = text_of("linux", "iperf3-json__debian12-6.1-w64k-json__01.json")
    (found,) = compare_measured(as_run(4, None), parse(text), as_run=as_run)
    assert found.predicted_bps == pytest.approx(44 * 1448 * 8 / 0.1)
    assert found.verdict == "as_predicted"
    assert found.sentences[-1] == (
        "Predicted for the run as it was: with its own 1 stream and its own size of 64 KiB (-w)."
    )
    (plain,) = compare_measured(as_run(4, None), parse(text))
    assert plain.predicted_bps > 10 * found.predicted_bps


def test_udp_is_no_measure_of_a_window() -> None:
    report = analyse_path(linux("a"), linux("b"), PATH)
    name = "iperf3-client-udp__debian12-6.18__01.txt"
    (found,) = compare_measured(report, parse(text_of("iperf", name)))
    assert (found.verdict, found.explained) == ("not_tcp", None)
    assert found.sentences[0].startswith("A UDP test: it knows no window")
    assert not any("Reno" in sentence for sentence in found.sentences)


def test_more_than_the_settings_allow() -> None:
    report = analyse_path(linux("a"), linux("b", rmem="4096 65536 65536"), PATH)
    (found,) = compare_measured(report, parse(text_of("linux", "iperf3__debian12-6.1-w256k__01.txt")))
    assert found.verdict == "above"
    assert "more than the settings allow" in found.sentences[1]


def test_a_test_that_failed_has_no_result() -> None:
    report = analyse_path(linux("a"), linux("b"), PATH)
    (found,) = compare_measured(report, parse(text_of("linux", "iperf3-error__debian12-6.1-json__01.json")))
    assert (found.verdict, found.measured_bps, found.explained) == ("no_result", None, None)
    assert found.sentences == ["the test has no result: unable to connect to server: Connection refused"]


def test_a_report_without_its_end_is_judged_by_its_intervals() -> None:
    """esnet/iperf#249: 28.8 Mbit/s, cwnd 512 KB, but the receiver's window is 32 KB."""
    report = analyse_path(linux("a"), linux("b", rmem="4096 65536 65536"), Link(1e9, 0.0085))
    (found,) = compare_measured(report, parse(text_of("linux", "iperf3__rwnd-limited-swnd__04.txt")))
    assert found.measured_bps == pytest.approx(28.8e6, rel=0.01)
    assert found.in_flight_bytes == pytest.approx(30_600, rel=0.01)
    assert found.verdict == "as_predicted"


def test_retransmissions_that_are_missing_speak_for_a_window() -> None:
    report = analyse_path(linux("a"), linux("b", **SMALL), PATH)
    (found,) = compare_measured(report, parse(text_of("linux", "iperf3__debian12-6.1-rmem256k__01.txt")))
    assert any("Nothing was retransmitted" in sentence for sentence in found.sentences)


@pytest.mark.parametrize(
    ("sample", "sockets", "rwnd", "sndbuf"),
    [
        ("ss-tin__debian-sid-7.2-P4-w64k__01.txt", 4, 0.743, 0.036),
        ("ss-tin__debian12-6.1-aws3__01.txt", 1, 0.871, 0.0),
        ("ss-tin__debian11-5.10-nowscale__01.txt", 1, 0.911, 0.0),
    ],
)
def test_shares_of_time_of_a_running_test(sample: str, sockets: int, rwnd: float, sndbuf: float) -> None:
    found = live_evidence(SS.parse(text_of("linux", sample)))
    assert found.sockets == sockets  # the control connection is left out
    assert found.rwnd_limited == pytest.approx(rwnd, abs=0.001)
    assert found.sndbuf_limited == pytest.approx(sndbuf, abs=0.001)
    assert found.rwnd_limited is not None
    assert found.cwnd_limited == pytest.approx(1 - rwnd - sndbuf, abs=0.002)
    assert found.min_rtt_s == pytest.approx(0.1005, abs=0.0005)


def test_live_evidence_beside_the_prediction() -> None:
    report = analyse_path(linux("a"), linux("b", tcp_window_scaling="0"), PATH)
    running = SS.parse(text_of("linux", "ss-tin__debian12-6.1-nowscale__01.txt"))
    found = live_evidence(running, report.directions[0])
    assert found.peer_window_bytes == 65535
    (sentence,) = found.sentences
    assert "waited 74% for the receiver's window, 0% for its own send buffer and 26% for" in sentence
    full = analyse_path(linux("a"), linux("b"), Link(10e6, 0.1))
    assert "no contradiction" in live_evidence(running, full.directions[0]).sentences[1]
    other = analyse_path(linux("a", wmem="4096 16384 65536"), linux("b"), PATH)
    assert "does not always count the send buffer" in live_evidence(running, other.directions[0]).sentences[1]


def test_no_transfer_is_no_evidence() -> None:
    found = live_evidence(SS.parse("State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"))
    assert (found.sockets, found.rwnd_limited) == (0, None)
    assert "start the transfer first" in found.sentences[0]
