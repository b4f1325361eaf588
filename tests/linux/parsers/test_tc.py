"""``tc qdisc show``: text and JSON, with and without statistics."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.linux.parsers.samples import best, parsed, sample

if TYPE_CHECKING:
    from hostcfg.model import Json


def _rows(text: str) -> list[dict[str, Json]]:
    rows = parsed("tc-qdisc", text).values["qdiscs"]
    assert isinstance(rows, list)
    return [row for row in rows if isinstance(row, dict)]


def test_statistics_are_numbers() -> None:
    rows = _rows(sample("tc-s-qdisc__raspberry-htb-fqcodel__01.txt").text)
    assert [row["stats"] for row in rows][1] == {
        "bytes": 13233828,
        "packets": 27281,
        "drops": 0,
        "overlimits": 0,
        "requeues": 0,
        "backlog": 0,
        "qlen": 0,
        "maxpacket": 942,
        "drop_overlimit": 0,
        "new_flow_count": 14417,
        "ecn_mark": 0,
        "new_flows_len": 1,
        "old_flows_len": 1,
    }
    assert [row["stats"]["drops"] for row in rows if isinstance(row["stats"], dict)] == [213, 0, 213]


def test_options_of_fq_codel_and_fq() -> None:
    rows = _rows(sample("tc-qdisc__debian-sid-7.2__01.txt").text)
    assert rows[2]["options"] == {
        "limit": "10240p",
        "flows": 1024,
        "quantum": 1514,
        "target": "5ms",
        "interval": "100ms",
        "memory_limit": "32Mb",
        "ecn": True,
        "drop_batch": 64,
    }
    fq = rows[1]["options"]
    assert isinstance(fq, dict)
    assert fq["priomap"] == [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert fq["weights"] == [589824, 196608, 65536]
    assert fq["horizon_drop"] is True


def test_text_and_json_of_one_system_agree() -> None:
    for system in ("debian-sid-7.2", "debian11-5.10", "debian12-6.1"):
        text = _rows(sample(f"tc-s-qdisc__{system}__01.txt").text)
        exact = _rows(sample(f"tc-sj-qdisc__{system}__01.json").text)
        for name in ("kind", "handle", "dev", "place"):
            assert [row[name] for row in text] == [row[name] for row in exact]
        for one, other in zip(text, exact, strict=True):
            assert isinstance(other["options"], dict)
            assert isinstance(one["options"], dict)
            flags = {k for k, v in one["options"].items() if v is True}
            assert flags <= {k for k, v in other["options"].items() if v is True}


def test_effective_discipline_under_mq_is_the_childrens() -> None:
    got = parsed("tc-qdisc", sample("tc-s-qdisc__mq-fq_codel__03.txt").text)
    assert got.extra["qdiscs"] == [
        ["mq", "0:", "eth1", "root"],
        ["fq_codel", "0:", "eth1", "parent :10"],
        ["fq_codel", "0:", "eth1", "parent :f"],
    ]


def test_cake_pfifo_fast_and_ingress() -> None:
    text = (
        "qdisc cake 8005: dev eth0 root refcnt 2 bandwidth 50Mbit diffserv3 nonat rtt 100ms raw overhead 0\n"
        "qdisc pfifo_fast 0: dev eth1 root refcnt 2 bands 3 priomap  1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n"
        "qdisc ingress ffff: dev eth0 parent ffff:fff1 ---------------- \n"
        "qdisc mqprio 8001: [offloaded] dev eth2 root tc 8\n"
    )
    got = parsed("tc-qdisc", text)
    assert got.extra["qdiscs"] == [
        ["cake", "8005:", "eth0", "root"],
        ["pfifo_fast", "0:", "eth1", "root"],
        ["ingress", "ffff:", "eth0", "parent ffff:fff1"],
        ["mqprio", "8001:", "eth2", "root"],
    ]
    cake = _rows(text)[0]["options"]
    assert isinstance(cake, dict)
    assert cake["bandwidth"] == "50Mbit"
    assert cake["rtt"] == "100ms"
    assert cake["nonat"] is True
    assert not got.unrecognized


def test_counters_of_a_lost_header_belong_to_nobody() -> None:
    text = (
        "qdisc noqueue 0: dev lo root refcnt 2 \n"
        " Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) \n"
        "qdxsc fq_codel 0: dev eth0 root refcnt 2\n"
        " Sent 1 bytes 2 pkt (dropped 3, overlimits 4 requeues 5) \n"
        " backlog 7b 6p requeues 0\n"
    )
    got = parsed("tc-qdisc", text)
    assert len(got.unrecognized) == 3
    assert _rows(text)[0]["stats"] == {
        "bytes": 0,
        "packets": 0,
        "drops": 0,
        "overlimits": 0,
        "requeues": 0,
    }
    without = text.replace("qdxsc fq_codel 0: dev eth0 root refcnt 2\n", "")
    assert _rows(without)[0]["stats"] == _rows(text)[0]["stats"]


def test_a_rounded_backlog_stays_text() -> None:
    rows = _rows("qdisc fq 1: dev a root\n backlog 123Kb 80p requeues 0\n")
    assert rows[0]["stats"] == {"backlog": "123Kb", "qlen": 80}


def test_damaged_json_rows_are_left_over() -> None:
    text = json.dumps([{"kind": "fq", "handle": "1:", "dev": "a", "root": True, "options": {}}, {"kind": 1}])
    got = parsed("tc-qdisc", text)
    assert got.extra["qdiscs"] == [["fq", "1:", "a", "root"]]
    assert got.unrecognized == ['{"kind": 1}']


def test_cut_json_gives_nothing() -> None:
    text = sample("tc-j-qdisc__debian12-6.1__01.json").text
    got = parsed("tc-qdisc", text[:-40])
    assert got.values == {"qdiscs": []}
    assert got.unrecognized


def test_json_behind_a_prompt() -> None:
    text = "$ tc -j qdisc show\n" + sample("tc-j-qdisc__debian12-6.1__01.json").text
    assert best(text).kind == "tc-qdisc"
    assert len(_rows(text)) == 4
    assert not parsed("tc-qdisc", text).unrecognized


def test_the_table_of_cake_is_kept_as_it_is() -> None:
    text = (
        "qdisc cake 800d: root refcnt 2 bandwidth 20Mbit besteffort nat rtt 100ms noatm overhead 18 \n"
        " Sent 19 bytes 2 pkt (dropped 3, overlimits 4 requeues 0) \n"
        " backlog 0b 0p requeues 0\n"
        " memory used: 1Mb of 4Mb\n"
        "                  Tin 0\n"
        "  pkts            1234\n"
        "  drops             99\n"
        "qdisc ingress ffff: parent ffff:fff1 ---------------- \n"
    )
    got = parsed("tc-qdisc", text)
    assert got.extra["qdiscs"] == [
        ["cake", "800d:", None, "root"],
        ["ingress", "ffff:", None, "parent ffff:fff1"],
    ]
    cake = _rows(text)[0]
    assert cake["details"] == [
        "memory used: 1Mb of 4Mb",
        "Tin 0",
        "pkts            1234",
        "drops             99",
    ]
    assert isinstance(cake["stats"], dict)
    assert cake["stats"]["drops"] == 3
    assert not got.unrecognized


def test_counters_with_a_unit_stay_text() -> None:
    rows = _rows("qdisc codel 1: dev a root\n  count 2 lastcount 1 ldelay 1.2ms drop_next 0us\n")
    assert rows[0]["stats"] == {"count": 2, "lastcount": 1, "ldelay": "1.2ms", "drop_next": "0us"}


def test_counters_of_a_lost_discipline_are_not_those_of_one_that_counts_nothing() -> None:
    text = (
        "qdisc noqueue 0: dev lo root refcnt 2\n"
        " Sent 15480 bytes 108 pkt (dropped 0, overlimits 0 requeues 0)\n"
    )
    got = parsed("tc-qdisc", text)
    rows = got.values["qdiscs"]
    assert isinstance(rows, list)
    assert [row.get("stats") for row in rows if isinstance(row, dict)] == [None]
    assert got.unrecognized == [text.splitlines()[1].strip()]
