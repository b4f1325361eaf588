"""A test that was run, or runs, beside the prediction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hostcfg.model import Link
from hostcfg.outputs.blocks import Heading, Paragraph, Table
from hostcfg.outputs.path_views import path_blocks
from hostcfg.path import analyse_path, compare_measured, live_evidence
from hostcfg.platforms.linux.parsers.ss import SS
from tests.iperf.samples import parse, text_of
from tests.path.hosts import linux

if TYPE_CHECKING:
    from hostcfg.model import Parsed
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


# Linux 6.18.44, iproute2 6.1, iperf3 -b 5M over lo: the kernel counts in jiffies, and no time was that long.
SLOW_PROGRAM = """\
State Recv-Q Send-Q Local Address:Port  Peer Address:Port
ESTAB 0      0          127.0.0.1:40018    127.0.0.1:5399
\t bbr wscale:10,10 rto:204 rtt:0.182/0.246 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:18 \
bytes_sent:1310757 bytes_acked:1310758 segs_out:35 segs_in:31 data_segs_out:33 send 51810725275bps \
lastsnd:108 lastrcv:2000 lastack:108 pacing_rate 1069359043824bps delivery_rate 174621333328bps delivered:34 \
rcv_space:65495 rcv_ssthresh:65495 minrtt:0.003 snd_wnd:371712
"""


def test_a_program_that_sends_little_is_not_limited_by_tcp() -> None:
    found = live_evidence(SS.parse(SLOW_PROGRAM))
    assert found.sockets == 1
    assert (found.rwnd_limited, found.sndbuf_limited, found.cwnd_limited) == (0.0, 0.0, 0.0)
    (sentence,) = found.sentences
    assert "not limited by TCP: the program sends little" in sentence


@pytest.mark.parametrize(
    ("release", "counts"), [(None, False), ((4, 9, 337), False), ((4, 10, 0), True), ((6, 18), True)]
)
def test_an_old_ss_says_nothing_unless_the_kernel_is_known_to_count(
    release: tuple[int, ...] | None, counts: bool
) -> None:
    old = SLOW_PROGRAM
    for word in ("bytes_sent:1310757 ", "delivered:34 ", " snd_wnd:371712"):
        old = old.replace(word, "")
    found = live_evidence(SS.parse(old), release=release)
    assert (found.rwnd_limited == 0.0) is counts
    assert ("do not report" in found.sentences[0]) is not counts


def test_without_a_transfer_there_is_one_sentence_and_no_table() -> None:
    report = analyse_path(linux("a"), linux("b"), PATH)
    for text, tables in (
        ("State Recv-Q Send-Q Local Address:Port Peer Address:Port\n", 0),
        (SLOW_PROGRAM, 1),
    ):
        blocks = path_blocks(report, linux("a"), linux("b"), None, live_evidence(SS.parse(text)))
        start = next(i for i, b in enumerate(blocks) if isinstance(b, Heading) and "running" in b.text)
        rest = blocks[start + 1 :]
        end = next(i for i, b in enumerate(rest) if isinstance(b, Heading))
        assert [type(b) for b in rest[:end]] == [Table] * tables + [Paragraph]


# iperf3 3.12 -b 5M -t 3 -J, cut to what is judged
TOLD = """\
{"start": {"version": "iperf 3.12", "connecting_to": {"host": "127.0.0.1", "port": 5399}, "sock_bufsize": 0,
  "target_bitrate": 5000000,
  "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "omit": 0, "duration": 3,
    "bytes": 0, "blocks": 0, "reverse": 0, "tos": 0, "target_bitrate": 5000000}},
 "intervals": [],
 "end": {"streams": [],
  "sum_sent": {"start": 0, "end": 3.000084, "seconds": 3.000084, "bytes": 1966080,
    "bits_per_second": 5242733.203470303, "retransmits": 0, "sender": true},
  "sum_received": {"start": 0, "end": 3.040114, "seconds": 3.000084, "bytes": 1966080,
    "bits_per_second": 5173700.0, "sender": true}}}
"""


def test_a_rate_that_the_test_was_told_is_named_and_no_loss_is_guessed() -> None:
    report = analyse_path(linux("a"), linux("b"), PATH)
    (found,) = compare_measured(report, parse(TOLD))
    assert found.verdict == "below"
    assert "The test was told to send no more than 5 Mbit/s (-b): it shows no limit." in found.sentences
    assert not any("loss" in s or "retransmitted" in s for s in found.sentences)
    told_less = TOLD.replace('"target_bitrate": 5000000}', '"target_bitrate": 50000000}')
    (slower,) = compare_measured(report, parse(told_less))  # a tenth of what it was told
    assert "no more than 50 Mbit/s" in slower.sentences[1]
    assert "nothing was retransmitted, so no loss does" in slower.sentences[2]


def test_a_loss_may_explain_what_was_retransmitted() -> None:
    report = analyse_path(linux("a"), linux("b"), PATH)
    text = TOLD.replace('"target_bitrate": 5000000', '"target_bitrate": 0').replace(
        '"retransmits": 0', '"retransmits": 9'
    )
    (found,) = compare_measured(report, parse(text))
    assert "would (Reno)" in found.sentences[1]
    (clean,) = compare_measured(report, parse(text.replace('"retransmits": 9', '"retransmits": 0')))
    assert "(Reno)" not in " ".join(clean.sentences)


def test_no_transfer_is_no_evidence() -> None:
    found = live_evidence(SS.parse("State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"))
    assert (found.sockets, found.rwnd_limited) == (0, None)
    assert "start the transfer first" in found.sentences[0]


def _seen(bps: float, **sender: int) -> Parsed:
    """An iperf3 -J result of ten seconds, as its sender saw it."""
    end = {"start": 0, "end": 10, "seconds": 10, "bytes": round(bps * 10 / 8), "bits_per_second": bps}
    stream = {"sender": {"socket": 5, **end, "retransmits": 0, **sender}, "receiver": {"socket": 5, **end}}
    start = {
        "connected": [
            {
                "socket": 5,
                "local_host": "192.0.2.1",
                "local_port": 4,
                "remote_host": "192.0.2.2",
                "remote_port": 5201,
            }
        ],
        "version": "iperf 3.12",
        "test_start": {
            "protocol": "TCP",
            "num_streams": 1,
            "blksize": 131072,
            "omit": 0,
            "duration": 10,
            "reverse": 0,
        },
    }
    whole = {"streams": [stream], "sum_sent": {**end, "retransmits": 0}, "sum_received": end}
    return parse(json.dumps({"start": start, "intervals": [], "end": whole}))


def test_an_rtt_that_the_test_saw_is_not_blamed_on_the_settings() -> None:
    """A window of 131,072 bytes, 90 segments: 10.4 Mbit/s at 100 ms, 104 Mbit/s at 10."""
    report = analyse_path(linux("a"), linux("b", **SMALL), PATH)
    (found,) = compare_measured(report, _seen(104e6, min_rtt=10_000, mean_rtt=11_000))
    assert (found.verdict, found.rtt_s) == ("above", 0.010)
    assert found.sentences[1] == (
        "The test itself saw an RTT of 10 ms, not 100 ms: --rtt 10ms says what the settings allow there."
    )
    assert not any("they changed since" in sentence for sentence in found.sentences)
    (mean,) = compare_measured(report, _seen(104e6, mean_rtt=11_000))
    assert "saw an RTT of 11 ms, not 100 ms" in mean.sentences[1]
    (near,) = compare_measured(report, _seen(104e6, min_rtt=90_000))
    assert near.sentences[1].startswith("That is more than the settings allow")


def test_a_longer_rtt_explains_as_much_as_it_does() -> None:
    """10.4 Mbit/s at 100 ms are 5.2 at 200: a test of 5 is explained by that, one of 1 is not."""
    report = analyse_path(linux("a"), linux("b", **SMALL), PATH)
    (whole,) = compare_measured(report, _seen(5e6, min_rtt=200_000))
    assert whole.verdict == "below"
    assert whole.sentences[1] == (
        "The test itself saw an RTT of 200 ms, not 100 ms: a queue that was full, or a longer path."
    )
    assert not any("does not explain the rest" in sentence for sentence in whole.sentences)
    (part,) = compare_measured(report, _seen(1e6, min_rtt=200_000))
    assert part.sentences[2].startswith("The limit does not explain the rest")
    (full,) = compare_measured(
        analyse_path(linux("a"), linux("b"), Link(1e6, 0.1)), _seen(0.95e6, min_rtt=200_000)
    )
    assert full.verdict == "as_predicted"  # a full link has a full queue: nothing to say
    assert not any("saw an RTT" in sentence for sentence in full.sentences)


def test_more_than_the_link_was_said_to_carry() -> None:
    report = analyse_path(linux("a"), linux("b", **SMALL), PATH)
    (found,) = compare_measured(report, _seen(22.3e9, min_rtt=16))
    assert found.sentences[1].startswith("The test itself saw an RTT of 16 us, not 100 ms: --rtt 16us says")
    assert found.sentences[2] == "That is more than a link of 1 Gbit/s carries: --rate is another."
