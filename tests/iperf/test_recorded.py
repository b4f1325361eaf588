"""Real outputs, byte for byte, against what their index says."""

from __future__ import annotations

from typing import Any

import pytest

from hostcfg.platforms.iperf import PARSERS
from hostcfg.platforms.iperf.measure import RECORD_FIELDS
from tests.iperf.samples import entries, parse, parser_for, records, text_of

POSTED = entries("linux", "iperf")
OWN = entries("iperf")


@pytest.mark.parametrize("entry", POSTED, ids=lambda e: e["file"])
def test_posted_outputs_give_what_the_index_expects(entry: dict[str, Any]) -> None:
    parsed = parse(text_of("linux", entry["file"]))
    for name, expected in entry["expect"].items():
        assert parsed.extra[name] == expected, name
        assert parsed.values[name] == expected, name
    assert parsed.unrecognized == []


@pytest.mark.parametrize("entry", POSTED, ids=lambda e: e["file"])
def test_the_kind_is_recognised_by_its_content(entry: dict[str, Any]) -> None:
    name = str(entry["file"])
    wanted = "iperf2" if name.startswith("iperf2") else "iperf3"
    wanted += "-csv" if "-csv__" in name else "-json" if name.endswith(".json") else ""
    assert parser_for(text_of("linux", name)).kind == wanted


@pytest.mark.parametrize("entry", OWN, ids=lambda e: e["file"])
def test_own_recordings_give_one_record_a_measurement(entry: dict[str, Any]) -> None:
    parsed = parse(text_of("iperf", entry["file"]))
    found = records(parsed)
    assert len(found) == len(entry["records"])
    for record, expected in zip(found, entry["records"], strict=True):
        assert {name: record[name] for name in expected} == expected
    for name, value in entry.get("extra", {}).items():
        assert parsed.extra[name] == value
    assert parsed.unrecognized == []


def test_no_other_output_of_a_system_is_taken_for_iperf() -> None:
    others = [
        e for folder in ("linux", "windows") for e in entries(folder) if not e["file"].startswith("iperf")
    ]
    folders = {e["file"]: folder for folder in ("linux", "windows") for e in entries(folder)}
    assert len(others) > 150
    for entry in others:
        text = text_of(folders[entry["file"]], entry["file"])
        assert [p.kind for p in PARSERS if p.recognize(text) > 0] == [], entry["file"]


def test_a_record_has_every_field_whatever_the_format() -> None:
    for folder, found in (("linux", POSTED), ("iperf", OWN)):
        for entry in found:
            for record in records(parse(text_of(folder, entry["file"]))):
                assert set(RECORD_FIELDS) <= set(record), entry["file"]
                assert {"intervals", "stream_intervals", "per_stream"} <= set(record)


def test_interval_rates_of_a_text_report() -> None:
    parsed = parse(text_of("linux", "iperf3__debian12-6.1-w64k__01.txt"))
    (record,) = records(parsed)
    intervals = record["intervals"]
    assert isinstance(intervals, list)
    rates = [i["bps"] for i in intervals if isinstance(i, dict)]
    assert rates == [4260000, 4190000, 4540000, 4570000, 3580000]
    assert intervals[0] == {
        "start": 0.0,
        "end": 1.0,
        "bytes": 520 * 1024,
        "bps": 4260000,
        "retransmits": 0,
        "cwnd_bytes": 163 * 1024,
        "peer_window_bytes": None,
        "rtt_us": None,
        "omitted": False,
    }
    assert (record["sent_bps"], record["received_bps"]) == (4230000, 4140000)
    assert (record["local_host"], record["local_port"]) == ("10.0.0.1", 51796)
    assert (record["remote_host"], record["remote_port"]) == ("10.0.0.2", 5201)


def test_intervals_of_a_json_report_carry_the_peers_window_and_the_mtu() -> None:
    (record,) = records(parse(text_of("linux", "iperf3-json__debian12-6.1-w64k-json__01.json")))
    intervals = record["intervals"]
    parts = record["stream_intervals"]
    assert isinstance(intervals, list)
    assert isinstance(parts, list)
    assert len(intervals) == len(parts) == 5
    last = parts[-1]
    assert isinstance(last, dict)
    assert last["peer_window_bytes"] == 64088  # what ss shows on the same host: one segment is kept back
    assert record["mtu_bytes"] == 1500
    assert (record["window_bytes"], record["requested_bytes"]) == (131072, 65536)


def test_streams_have_rates_of_their_own() -> None:
    (record,) = records(parse(text_of("linux", "iperf3__debian-sid-7.2-P4-w64k__01.txt")))
    streams = record["per_stream"]
    assert isinstance(streams, list)
    rates = [(s["id"], s["sent_bps"], s["received_bps"]) for s in streams if isinstance(s, dict)]
    assert rates == [
        ("4", 5370000, 5250000),
        ("6", 5580000, 5460000),
        ("8", 5580000, 5460000),
        ("10", 5370000, 5250000),
    ]
    assert (record["sent_bps"], record["received_bps"]) == (21900000, 21400000)


def test_a_fragment_of_a_json_report_is_an_interval() -> None:
    (record,) = records(parse(text_of("linux", "iperf3-json-part__aws-rwnd__01.json")))
    intervals = record["intervals"]
    assert isinstance(intervals, list)
    (interval,) = intervals
    assert isinstance(interval, dict)
    assert (interval["bps"], interval["cwnd_bytes"]) == (1001783870, 536940)
    assert (interval["peer_window_bytes"], interval["rtt_us"]) == (3145728, 4053)
    assert (record["complete"], record["sent_bps"]) == (False, None)
