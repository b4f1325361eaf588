"""How to test a path so that the number means something."""

from __future__ import annotations

from hostcfg.model import Link
from hostcfg.path import analyse_path
from tests.path.hosts import freebsd, linux, pasted, windows

WAN = Link(100e6, 0.080)
SMALL = "4096 131072 262144"


def test_a_tuned_path_needs_neither_window_nor_streams() -> None:
    advice = analyse_path(linux("a"), linux("b"), WAN).directions[0].test
    # slow start: 1,000,000 / 14,480 = 69 times, 7 round trips; 5 s where a queue may be full; two of
    # CUBIC's recoveries of 8.04 s
    assert advice.commands == ["iperf3 -c b -t 17 -O 5", "iperf -c b -t 22 -i 1"]
    assert (advice.streams, advice.window_bytes, advice.on) == (1, None, "a")


def test_the_way_back_is_measured_from_the_same_end() -> None:
    advice = analyse_path(linux("a"), linux("b"), WAN).directions[1].test
    assert advice.commands[0] == "iperf3 -c b -t 17 -O 5 -R"
    assert advice.on == "a"


def test_streams_where_autotuning_and_caps_are_too_small() -> None:
    advice = analyse_path(linux("a"), linux("b", rmem=SMALL), WAN).directions[0].test
    assert "-P 8" in advice.commands[0]  # 1,000,000 / 131,072
    assert "-w" not in advice.commands[0]


def test_a_size_only_where_both_ends_grant_one_that_fills_the_link() -> None:
    caps = {"rmem_max": "16777216", "wmem_max": "16777216"}
    advice = analyse_path(linux("a", **caps), linux("b", rmem=SMALL, **caps), WAN).directions[0].test
    # on 6.1 a request is the window, less one segment: 1 MiB holds the 1,000,000 bytes, 512 KiB don't
    assert advice.window_bytes == 1 << 20
    assert "-w 1M" in advice.commands[0]
    assert "-P" not in advice.commands[0]
    assert advice.warnings[0] == (
        "-w 1 MiB is for this test alone: it switches autotuning off, which ends at 131,072 bytes here"
    )
    one_end = analyse_path(linux("a"), linux("b", rmem=SMALL, **caps), WAN).directions[0].test
    assert one_end.window_bytes is None  # a's wmem_max would cut it


def test_between_two_powers_of_two_it_is_the_bdp_with_some_room() -> None:
    """BDP 187,500: 128 KiB are too few, 256 KiB more than the 212,992 of rmem_max; 184 KiB are the BDP."""
    carrier = Link(50e6, 0.03)
    advice = analyse_path(linux("a"), linux("b", rmem="4096 65536 65536"), carrier).directions[0].test
    assert "-w 202K" in advice.commands[0]  # 1.1 x BDP: at 184 KiB the segment kept back is missing


def test_streams_rather_than_a_size_that_only_does_a_little_more() -> None:
    """The window is 31,320 bytes; 37 KiB asked for would make it 36,440 of the 150,000."""
    capped = linux("b", rmem="4096 65536 65536", rmem_max="65536", wmem_max="65536")
    advice = analyse_path(linux("a"), capped, Link(100e6, 0.012)).directions[0].test
    assert advice.commands == ["iperf3 -c b -t 10 -O 1 -P 5", "iperf -c b -t 11 -i 1 -P 5"]
    assert len(advice.warnings) == 1  # the server's restart


def test_a_size_that_was_asked_about_is_tested_and_advised_against_where_it_does_harm() -> None:
    advice = analyse_path(linux("a"), linux("b"), WAN, window_bytes=65536).directions[0].test
    assert advice.warnings[0].startswith("without -w 64 KiB autotuning reaches 2,810,183 bytes or more")
    assert advice.commands == ["iperf3 -c b -t 17 -O 5 -w 64K", "iperf -c b -t 22 -i 1 -w 64K"]
    many = analyse_path(linux("a"), linux("b"), WAN, window_bytes=262144, streams=3).directions[1].test
    assert many.commands[0] == "iperf3 -c b -t 17 -O 5 -R -P 3 -w 256K"
    assert (many.streams, many.streams_reason, many.window_bytes) == (3, None, 262144)


def test_short_paths_need_a_second_of_slow_start() -> None:
    advice = analyse_path(linux("a"), linux("b"), Link(1e9, 0.01)).directions[0].test
    assert "-O 1" in advice.commands[0]


def test_a_buffer_that_grows_slowly_makes_the_test_longer() -> None:
    # 16,384 bytes a round trip: (1,000,000 - 65,536) / 16,384 x 80 ms = 4.6 s, half as much again
    old = freebsd("bsd", release="9.3-RELEASE", maxsockbuf=8 << 20, recvbuf_max=8 << 20)
    direction = analyse_path(linux("a"), old, WAN).directions[0]
    assert round(direction.slow_start_s, 1) == 4.6
    assert "-O 7" in direction.test.commands[0]


def test_host_names_are_quoted() -> None:
    advice = analyse_path(linux("a"), linux("file:mail/far end; rm -rf.txt"), WAN).directions[0].test
    assert "-c 'far end; rm -rf' " in advice.commands[0]


def test_a_server_must_be_started_anew() -> None:
    advice = analyse_path(linux("a"), linux("b"), WAN).directions[0].test
    assert "listening socket keeps its first buffer sizes" in advice.warnings[-1]


def test_a_server_is_named_as_people_paste_it() -> None:
    far = linux("file:mails/far-end.txt")
    assert analyse_path(linux("a"), far, WAN).directions[0].test.commands[0] == "iperf3 -c far-end -t 17 -O 5"
    named = analyse_path(linux("a"), far, WAN, server="2001:db8::7")
    assert [d.test.commands[0] for d in named.directions] == [
        "iperf3 -c 2001:db8::7 -t 17 -O 5",
        "iperf3 -c 2001:db8::7 -t 17 -O 5 -R",
    ]


def test_the_reason_for_streams_is_about_the_run_that_is_advised() -> None:
    """Asked about -w 256K, which is cut; without it a window is 31,320 of the 150,000 bytes."""
    capped = linux("b", rmem="4096 65536 65536", rmem_max="65536", wmem_max="65536")
    direction = analyse_path(linux("a"), capped, Link(100e6, 0.012), window_bytes=1 << 18).directions[0]
    assert direction.window_bytes == 64_088
    assert direction.test.streams_reason == "the window of one holds 20.9% of the BDP"
    assert "-w" not in direction.test.commands[0]  # above twice rmem_max iperf3 ends with an error
    assert direction.test.warnings[0] == "-w 256 KiB is left out: iperf3 would give up, as it is not granted"
    four = analyse_path(linux("a"), linux("b"), WAN, streams=4).directions[0]
    assert four.test.streams_reason is None
    assert any("a few flows lose some" in sentence for sentence in four.sentences)


NO_CAPS = """kernel.osrelease = 6.1.0
net.ipv4.tcp_rmem = 4096 131072 6291456
net.ipv4.tcp_wmem = 4096 16384 4194304"""


def test_no_size_where_it_is_not_known_that_both_ends_grant_it() -> None:
    """rmem_max as it comes is 212,992: -w 8M would end iperf3.  10,000,000 / 2,810,183 are 4 streams."""
    a, b = (pasted(host, NO_CAPS) for host in "ab")
    for direction in analyse_path(a, b, Link(1e9, 0.080)).directions:
        assert direction.test.window_bytes is None
        assert "-P 4" in direction.test.commands[0]
        assert direction.test.streams_reason == "the window of one holds 28.1% or more of the BDP"
    caps = {"rmem_max": "16777216", "wmem_max": "16777216"}
    one_end = analyse_path(linux("a", **caps), b, Link(1e9, 0.080)).directions[0].test
    assert one_end.window_bytes is None
    both = analyse_path(linux("a", **caps), linux("b", **caps), Link(1e9, 0.080)).directions[0].test
    assert "-w 16M" in both.commands[0]


def test_a_cap_that_was_denied_is_no_grant_either() -> None:
    denied = "\nsysctl: permission denied on key 'net.core.rmem_max'\nnet.core.wmem_max = 16777216"
    a, b = (pasted(host, NO_CAPS + denied) for host in "ab")
    assert analyse_path(a, b, Link(1e9, 0.080)).directions[0].test.window_bytes is None


def test_freebsd_without_its_cap_grants_nothing_that_is_known() -> None:
    """recvbuf_max 262,144 of the 1,000,000 bytes: 4 streams; -w 1M would be ENOBUFS under a small cap."""
    text = "kern.osrelease: 14.2-RELEASE\nnet.inet.tcp.recvbuf_max: 262144\nnet.inet.tcp.sendbuf_max: 262144"
    a, b = (pasted(host, text) for host in "ab")
    advice = analyse_path(a, b, WAN).directions[0].test
    assert advice.window_bytes is None
    assert "-P 4" in advice.commands[0]


def test_a_size_that_was_asked_about_is_tested_with_what_is_not_known_of_it() -> None:
    a = linux("a", rmem_max="16777216", wmem_max="16777216")
    advice = analyse_path(a, pasted("b", NO_CAPS), WAN, window_bytes=8 << 20).directions[0].test
    assert "-w 8M" in advice.commands[0]
    assert advice.warnings[0] == (
        "-w 8 MiB may be refused, and iperf3 gives up then (socket buffer size not set correctly): how much "
        "a program may ask for was not read of b"
    )


def test_more_streams_than_iperf3_has() -> None:
    """10,000,000 / 65,535 are 153; 128 of 44 segments (1,460 bytes) in 80 ms are 822 Mbit/s."""
    advice = analyse_path(windows("a", level="disabled"), linux("b"), Link(1e9, 0.080)).directions[1].test
    assert "-P 128" in advice.commands[0]
    assert advice.streams == 128
    assert advice.streams_reason == (
        "the window of one holds 0.655% of the BDP; it takes 153, and iperf3's limit is 128: at most "
        "822 Mbit/s"
    )


def test_more_streams_asked_about_than_iperf3_has() -> None:
    """128 of 1,940 segments in 80 ms are 35.96 Gbit/s or more; the link has 95.6 of 100."""
    fast = Link(100e9, 0.080)
    advice = analyse_path(linux("a"), linux("b"), fast, streams=400).directions[0].test
    assert "-P 128" in advice.commands[0]
    assert advice.streams_reason == "400 were asked about, and iperf3's limit is 128: 36 Gbit/s or more"
    sized = analyse_path(linux("a"), linux("b"), WAN, streams=200, window_bytes=65536).directions[0].test
    assert "-P 128 -w 64K" in sized.commands[0]
