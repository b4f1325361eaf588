"""Records as CSV."""

from __future__ import annotations

import csv
import io

from hostcfg.platforms.iperf import records_csv
from hostcfg.platforms.iperf.measure import RECORD_FIELDS
from tests.iperf.samples import parse, text_of


def test_one_row_a_record_with_a_header() -> None:
    one = text_of("linux", "iperf3__debian12-6.1-w64k__01.txt")
    two = text_of("linux", "iperf3__debian12-6.1-w256k__01.txt")
    rows = list(csv.DictReader(io.StringIO(records_csv(parse(one + two)))))
    assert [row["sent_bps"] for row in rows] == ["4230000", "14700000"]
    assert list(rows[0]) == list(RECORD_FIELDS)
    assert (rows[0]["role"], rows[0]["reverse"], rows[0]["version"]) == ("client", "false", "")


def test_one_row_an_interval() -> None:
    text = text_of("linux", "iperf3__debian-sid-7.2-P4-w64k__01.txt")
    rows = list(csv.DictReader(io.StringIO(records_csv(parse(text), intervals=True))))
    assert [(row["record"], row["start"], row["bps"]) for row in rows] == [
        ("1", "0.0", "16700000"),
        ("1", "1.0", "25200000"),
        ("1", "2.0", "17500000"),
        ("1", "3.02", "24500000"),
        ("1", "4.0", "25400000"),
    ]


def test_text_that_a_spreadsheet_would_run_is_quoted() -> None:
    text = "iperf3: error - =cmd|' /C calc'!A0\nConnecting to host =HYPERLINK(1), port 5201\n"
    rows = list(csv.DictReader(io.StringIO(records_csv(parse(text)))))
    assert rows[0]["error"] == "'=cmd|' /C calc'!A0"
    assert rows[1]["remote_host"] == "'=HYPERLINK(1)"


def test_no_record_is_a_header_alone() -> None:
    assert records_csv(parse("iperf 3.12\n")).splitlines() == [",".join(RECORD_FIELDS)]
