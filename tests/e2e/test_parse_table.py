"""Rows of one output are rows of a table, in a pipe of 80 columns too."""

from __future__ import annotations

import json

from tests.e2e.program import hostcfg

QDISCS = (
    "qdisc noqueue 0: dev lo root refcnt 2 \n"
    "qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n"
)
LINKS = json.dumps(
    [
        {"ifindex": index, "ifname": name, "flags": ["UP", "LOWER_UP"], "mtu": mtu, "qdisc": qdisc}
        | {"operstate": "UP", "linkmode": "DEFAULT", "group": "default", "txqlen": 1000, "address": address}
        for index, name, mtu, qdisc, address in (
            (1, "lo", 65536, "noqueue", "00:00:00:00:00:00"),
            (4, "eth0", 1400, "pfifo_fast", "02:fc:00:00:00:01"),
        )
    ]
)


def test_qdiscs_are_a_table() -> None:
    lines = [line.split() for line in hostcfg("parse", "-", stdin=QDISCS).stdout.splitlines()]
    assert ["dev", "kind", "handle", "place", "options"] in lines
    assert ["lo", "noqueue", "0:", "root", "-"] in lines
    assert any(line[:4] == ["eth0", "pfifo_fast", "0:", "root"] for line in lines)


def test_more_columns_than_a_page_has_are_tables_of_the_same_rows() -> None:
    out = hostcfg("parse", "-", stdin=LINKS).stdout
    lines = [line.split() for line in out.splitlines()]
    assert ["eth0", "4", "UP", "LOWER_UP", "1400", "pfifo_fast", "UP"] in lines
    assert ["eth0", "DEFAULT", "default", "1000", "02:fc:00:00:00:01"] in lines
    assert "[[" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_markdown_has_the_same_tables() -> None:
    out = hostcfg("parse", "-", "-o", "markdown", stdin=LINKS).stdout
    assert "| ifname | linkmode | group | txqlen | address |" in out


def test_nothing_in_a_list_is_a_dash() -> None:
    out = hostcfg(
        "parse", "-", stdin="State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
    ).stdout
    assert ["sockets", "-"] in [line.split() for line in out.splitlines()]


def test_the_number_of_history_says_that_it_is_none_of_hosts() -> None:
    said = " ".join(hostcfg("history", "--help").stdout.split())
    assert "Only the newest N (a number; elsewhere --limit is a pattern)." in said
