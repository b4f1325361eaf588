"""Reports with something around them, cut, joined, or hostile."""

from __future__ import annotations

import json

import pytest

from hostcfg.platforms.iperf import PARSERS
from hostcfg.platforms.iperf.measure import amount_bytes, rate_bps
from tests.iperf.samples import parse, records, text_of

REPORT = text_of("linux", "iperf3-json__debian12-6.1-w64k-json__01.json")
TEXT = text_of("linux", "iperf3__debian12-6.1-P4-w64k__01.txt")


def test_amounts_are_powers_of_1024_and_rates_of_1000() -> None:
    assert amount_bytes("5.13 MBytes") == 5379195  # 5.13 x 1024 x 1024 = 5379194.88
    assert amount_bytes("64.0 KByte") == 65536
    assert amount_bytes("0.00 Bytes") == 0
    assert rate_bps("8.23 Mbits/sec") == 8230000
    assert rate_bps("64.0 KBytes/sec") == 64 * 1024 * 8
    assert rate_bps("0.00 bits/sec") == 0
    assert amount_bytes("many") is None
    assert rate_bps("8.23 Mbits") is None


def test_text_before_and_after_a_report_is_kept_apart() -> None:
    parsed = parse(f"+ iperf3 -c b -J\n{REPORT}\niperf3: error - control socket has closed unexpectedly\n")
    assert parsed.kind == "iperf3-json"
    assert parsed.extra["sent_bps"] == 4472203
    assert parsed.unrecognized == [
        "+ iperf3 -c b -J",
        "iperf3: error - control socket has closed unexpectedly",
    ]


def test_joined_reports_are_one_record_each() -> None:
    other = text_of("linux", "iperf3-json__debian12-6.1-def-json__01.json")
    parsed = parse(REPORT + other)
    assert [r["sent_bps"] for r in records(parsed)] == [4472203, 11418140]
    assert parsed.extra["sent_bps"] == 4472203


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_cut_report_keeps_what_was_whole(share: float) -> None:
    parsed = parse(REPORT[: int(len(REPORT) * share)])
    (record,) = records(parsed)
    assert parsed.notes == ["the report is cut: what was whole was read"]
    assert record["complete"] is False
    assert record["local_host"] == "10.0.0.1"
    intervals = record["intervals"]
    whole = json.loads(REPORT)["intervals"]
    assert isinstance(intervals, list)
    for interval, expected in zip(intervals, whole, strict=False):
        assert isinstance(interval, dict)
        if interval["bps"] is not None:
            assert interval["bps"] == round(expected["sum"]["bits_per_second"])


def test_events_of_a_json_stream_make_one_report() -> None:
    document = json.loads(REPORT)
    lines = [{"event": "start", "data": document["start"]}]
    lines += [{"event": "interval", "data": interval} for interval in document["intervals"]]
    lines.append({"event": "end", "data": document["end"]})
    parsed = parse("\n".join(json.dumps(line) for line in lines))
    (record,) = records(parsed)
    (same,) = records(parse(REPORT))
    assert {k: v for k, v in record.items() if k != "started"} == {
        k: v for k, v in same.items() if k != "started"
    }


def test_not_a_number_is_null_and_the_rest_stands() -> None:
    parsed = parse(REPORT.replace('"host_total":\t', '"host_total":\t-nan, "x":\t'))
    assert parsed.extra["sent_bps"] == 4472203


def test_carriage_returns_quotes_of_a_mail_and_no_break_spaces() -> None:
    plain = records(parse(TEXT))
    assert records(parse(TEXT.replace("\n", "\r\n"))) == plain
    assert records(parse("".join(f"> {line}\n" for line in TEXT.splitlines()))) == plain
    assert records(parse(TEXT.replace("   sec", "\u00a0  sec"))) == plain


def test_a_cut_text_report_has_intervals_and_no_totals() -> None:
    (record,) = records(
        parse(TEXT[: TEXT.index("[ ID] Interval           Transfer     Bitrate         Retr\n")])
    )
    assert (record["sent_bps"], record["received_bps"], record["complete"]) == (None, None, False)
    intervals = record["intervals"]
    assert isinstance(intervals, list)
    assert len(intervals) == 5


def test_several_tests_in_one_text() -> None:
    one = text_of("linux", "iperf3__debian12-6.1-w64k__01.txt")
    two = text_of("linux", "iperf3__debian12-6.1-w256k__01.txt")
    refused = text_of("linux", "iperf3__debian12-6.1-w4m__01.txt")
    found = records(parse(one + two + refused))
    assert [(r["sent_bps"], r["error"]) for r in found] == [
        (4230000, None),
        (14700000, None),
        (None, "socket buffer size not set correctly"),
    ]


def test_unknown_lines_are_reported_and_change_nothing() -> None:
    lines = TEXT.splitlines()
    parsed = parse("\n".join([*lines[:3], "client_loop: send disconnect: Broken pipe", *lines[3:]]))
    assert parsed.unrecognized == ["client_loop: send disconnect: Broken pipe"]
    assert records(parsed) == records(parse(TEXT))


def test_csv_of_tests_that_follow_each_other() -> None:
    text = (
        "20261130141950,10.0.0.1,38650,10.0.0.2,5002,1,0.0-5.2,5636160,8669058\n"
        "20261130142010,10.0.0.1,38660,10.0.0.2,5002,1,0.0-1.0,100,800\n"
        "20261130142011,10.0.0.1,38660,10.0.0.2,5002,1,1.0-2.0,100,800\n"
        "20261130142011,10.0.0.1,38660,10.0.0.2,5002,1,0.0-2.0,200,800\n"
        "20261130142030,10.0.0.1,38670,10.0.0.2,5002,2,0.0-1.0,125000,1000000\n"
        "20261130142030,10.0.0.1,38672,10.0.0.2,5002,1,0.0-1.0,125000,1000000\n"
        "20261130142030,10.0.0.1,0,10.0.0.2,5002,-1,0.0-1.0,250000,2000000\n"
    )
    found = records(parse(text))
    assert [(r["streams"], r["sent_bps"], r["sent_bytes"]) for r in found] == [
        (1, 8669058, 5636160),
        (1, 800, 200),
        (2, 2000000, 250000),
    ]
    assert [len(r["intervals"]) for r in found if isinstance(r["intervals"], list)] == [1, 2, 1]


def test_udp_csv_has_jitter_and_loss() -> None:
    line = "20261130142010,10.0.0.1,38660,10.0.0.2,5002,3,0.0-10.0,1250000,1000000,0.031,4,850,0.471,1"
    (record,) = records(parse(line))
    assert (record["protocol"], record["jitter_ms"]) == ("UDP", 0.031)
    assert (record["lost_packets"], record["packets"]) == (4, 850)


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        '{"a":',
        "[  5]",
        "[  5]   0.00-1.00   sec  ",
        "iperf3: error - ",
        "1" * 64,
        '"',
        "\\",
        '{"a":[',
        "get_parameters:\n{\n",
        "> > > ",
        "[ ID] Aa x 1",
        "20261130142010,",
        "}",
        '{"a":1}',
    ],
)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    """1 MB of each: a quadratic parser would take longer than the two minutes that a test may."""
    text = piece * (1_000_000 // len(piece))
    for parser in PARSERS:
        parser.recognize(text)
        parser.parse(text)
    for parser in PARSERS:
        parser.parse(f"[  5] local a port 1 connected to b port 2\n{text}")


def test_a_number_of_thousands_of_digits_is_no_number() -> None:
    digits = "9" * 5_000
    text = (
        '{"start": {"connected": [{"socket": 5}], "version": "iperf 3.12", "test_start": {"protocol": "TCP", '
        f'"num_streams": {digits}}}}}, "intervals": [], "end": {{"sum_received": {{"bits_per_second": 8e6, '
        '"seconds": 10}}}'
    )
    (record,) = records(parse(text))
    assert (record["streams"], record["received_bps"]) == (1, 8_000_000)  # of what is connected
    assert len(records(parse(text[:-40]))) == 1  # a cut report is closed and read the same way


UDP = text_of("iperf", "iperf2-client-udp__debian12-6.18__01.txt")
STREAMS = text_of("iperf", "iperf2-client-P2-intervals__debian12-6.18__01.txt")


def _without(text: str, *marks: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not any(m in line for m in marks))


def test_an_old_udp_report_says_what_was_sent_and_not_what_arrived() -> None:
    document = json.loads(text_of("iperf", "iperf3-json-udp__debian12-6.18__01.json"))
    document["start"]["version"] = "iperf 3.1.3"
    document["end"] = {"sum": {"bits_per_second": 5111567.76, "bytes": 1277952, "lost_packets": 9}}
    (record,) = records(parse(json.dumps(document)))
    assert (record["sent_bps"], record["received_bps"], record["lost_packets"]) == (5111568, None, 9)


def test_rates_without_their_header_are_of_no_protocol() -> None:
    rows = "".join(line for line in UDP.splitlines(keepends=True) if "sec " in line)
    (record,) = records(parse(rows[: rows.index("\n") + 1]))
    assert record["protocol"] is None
    (record,) = records(parse(rows))
    assert record["protocol"] == "UDP"  # its jitter says so
    (record,) = records(parse(STREAMS[STREAMS.index("[  2] local") :]))
    assert record["protocol"] == "TCP"  # a segment size says so


def test_of_several_streams_one_lost_line_leaves_what_is_the_same_for_all() -> None:
    (record,) = records(parse(_without(STREAMS, "[  2] local")))
    assert (record["streams"], record["local_port"], record["remote_port"]) == (2, None, 5502)
    (record,) = records(parse(_without(STREAMS, "[  2]")))
    assert (record["streams"], record["local_port"], record["seconds"]) == (None, None, None)
    (record,) = records(parse(_without(STREAMS, "[SUM]")))
    assert (record["sent_bps"], record["seconds"]) == (None, None)
    lines = TEXT.splitlines(keepends=True)
    (record,) = records(parse("".join(line for line in lines if not line.startswith("[SUM]   0.00-5"))))
    assert (record["sent_bps"], record["received_bps"]) == (None, None)


def test_a_total_is_known_by_its_times_wherever_it_stands() -> None:
    lines = STREAMS.splitlines(keepends=True)
    rows = [i for i, line in enumerate(lines) if "sec " in line]
    moved = [*lines[: rows[0]], *(lines[i] for i in reversed(rows)), *lines[rows[-1] + 1 :]]
    one, two = records(parse(STREAMS))[0], records(parse("".join(moved)))[0]
    names = ("sent_bps", "sent_bytes", "seconds", "streams", "local_port")
    assert {name: one[name] for name in names} == {name: two[name] for name in names}


def test_repeated_intervals_count_once_and_a_sum_over_lost_ones_is_none() -> None:
    text = text_of("linux", "iperf2__debian12-6.1-enh__01.txt")
    whole = records(parse(text))[0]
    doubled = "".join(line * (1 + ("-3.0000" in line)) for line in text.splitlines(keepends=True))
    assert records(parse(doubled))[0]["stream_intervals"] == whole["stream_intervals"]
    assert whole["retransmits"] == 0
    assert records(parse(_without(text, "-3.0000")))[0]["retransmits"] is None


def test_the_time_of_a_test_is_the_senders() -> None:
    text = text_of("linux", "iperf3__debian12-6.1-w64k__01.txt")
    assert records(parse(text))[0]["seconds"] == 5.0
    assert records(parse(_without(text, "sender")))[0]["seconds"] is None


def test_two_objects_that_a_lost_line_joins_are_neither() -> None:
    intervals = json.loads(REPORT)["intervals"]
    one, two = (json.dumps(interval["streams"][0]) for interval in intervals[:2])
    apart = records(parse(f'{{"streams": [{one}, {two}]}}'))[0]["stream_intervals"]
    assert isinstance(apart, list)
    assert len(apart) == 2
    assert records(parse(f'{{"streams": [{one[:-1]}, {two[1:]}]}}'))[0]["stream_intervals"] == []


def test_a_summary_of_a_report_that_lost_its_head_is_no_interval() -> None:
    parsed = parse(REPORT[REPORT.index('"sum_sent"') :])
    assert all(record["intervals"] == [] for record in records(parsed))
    assert any("sum_sent" in line for line in parsed.unrecognized)


def test_a_port_or_a_size_that_was_read_by_eye_is_none() -> None:
    text = text_of("linux", "iperf2__debian12-6.1-w4m__01.txt")
    (record,) = records(parse(text.replace("port 5002", "port 5OO2")))
    assert (record["remote_port"], record["local_port"]) == (None, None)
    debug = text_of("iperf", "iperf3-server-debug-reverse-w1m__debian12-6.18__01.txt")
    (record,) = records(parse(debug.replace("2097152", "2O97l52")))
    assert (record["sndbuf_bytes"], record["rcvbuf_bytes"], record["window_bytes"]) == (None, None, None)


def test_every_line_twice_says_the_same() -> None:
    for folder, name in (
        ("iperf", "iperf2-client-P2-intervals__debian12-6.18__01.txt"),
        ("iperf", "iperf2-client-udp__debian12-6.18__01.txt"),
        ("linux", "iperf2__debian11-5.10-P2__01.txt"),
        ("linux", "iperf3__debian12-6.1-P4-w64k__01.txt"),
    ):
        text = text_of(folder, name)
        doubled = "".join(line * 2 for line in text.splitlines(keepends=True))
        assert records(parse(doubled)) == records(parse(text)), name


def test_a_report_that_lost_a_line_does_not_say_what_stood_there() -> None:
    lines = REPORT.splitlines(keepends=True)
    whole = records(parse(REPORT))[0]
    without = records(parse("".join(line for line in lines if '"reverse"' not in line)))[0]
    assert (whole["window_bytes"], without["window_bytes"]) == (131072, None)
    without = records(parse("".join(line for line in lines if '"duration"' not in line)))[0]
    assert (whole["seconds"], without["seconds"]) == (5.0, None)
    intervals = records(parse("".join(line for line in lines if '"start":\t0,' not in line)))[0][
        "stream_intervals"
    ]
    assert isinstance(intervals, list)
    assert 0.0 not in [row["start"] for row in intervals if isinstance(row, dict)]
