"""``ip link``, ``ip addr`` and ``ip route``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.linux.parsers.samples import parsed, sample

if TYPE_CHECKING:
    from hostcfg.model import Json


def _rows(kind: str, text: str) -> list[dict[str, Json]]:
    rows = parsed(kind, text).values["links" if kind == "ip-link" else "routes"]
    assert isinstance(rows, list)
    return [row for row in rows if isinstance(row, dict)]


@pytest.mark.parametrize("system", ["debian-sid-7.2", "debian11-5.10", "debian12-6.1"])
def test_text_and_json_of_one_system_agree(system: str) -> None:
    text = parsed("ip-link", sample(f"ip-link__{system}__01.txt").text)
    exact = parsed("ip-link", sample(f"ip-j-link__{system}__01.json").text)
    assert text.extra["links"] == exact.extra["links"]
    for one, other in zip(
        _rows("ip-link", sample(f"ip-link__{system}__01.txt").text),
        _rows("ip-link", sample(f"ip-j-link__{system}__01.json").text),
        strict=True,
    ):
        common = one.keys() & other.keys()
        assert common >= {
            "ifindex",
            "ifname",
            "flags",
            "mtu",
            "qdisc",
            "operstate",
            "group",
            "txqlen",
            "address",
        }
        assert {k: one[k] for k in common} == {k: other[k] for k in common}


def test_details_have_the_names_of_json() -> None:
    rows = _rows("ip-link", sample("ip-d-s-link__debian12-6.18__01.txt").text)
    v0 = rows[2]
    assert v0["link"] == "v1"
    assert v0["min_mtu"] == 68
    assert v0["max_mtu"] == 65535
    assert v0["gso_max_size"] == 65536
    assert v0["num_tx_queues"] == 2


def test_addresses_of_ip_addr() -> None:
    rows = _rows("ip-link", sample("ip-addr__debian12-6.18__01.txt").text)
    assert rows[0]["addresses"] == ["127.0.0.1/8", "::1/128"]
    assert rows[2]["addresses"] == ["10.9.0.1/24", "fe80::ff:fe00:1/64"]


def test_an_old_release_prints_no_queue_length_for_lo() -> None:
    text = (
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN \n"
        "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
        "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq master br0 state UP qlen 1000\n"
        "    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
        "3: tun0: <POINTOPOINT,NOARP> mtu 1500 qdisc noop state DOWN group default qlen 500\n"
        "    link/none \n"
        "4: gre0@NONE: <NOARP> mtu 1476 qdisc noop state DOWN mode DEFAULT group default qlen 1000\n"
        "    link/gre 0.0.0.0 brd 0.0.0.0\n"
    )
    got = parsed("ip-link", text)
    assert got.extra["links"] == [
        ["lo", 65536, None, "noqueue", "UNKNOWN"],
        ["eth0", 9000, 1000, "mq", "UP"],
        ["tun0", 1500, 500, "noop", "DOWN"],
        ["gre0", 1476, 1000, "noop", "DOWN"],
    ]
    assert _rows("ip-link", text)[1]["master"] == "br0"
    assert not got.unrecognized


def test_a_cut_header_is_no_interface() -> None:
    got = parsed("ip-link", "2: eth0: <BROADCAST,UP> mtu 150")
    assert got.extra["links"] == []
    assert got.unrecognized == ["2: eth0: <BROADCAST,UP> mtu 150"]


def test_details_of_a_lost_header_belong_to_nobody() -> None:
    text = sample("ip-link__debian12-6.1__01.txt").text
    lines = text.split("\n")
    del lines[2]  # the header of eth0
    got = parsed("ip-link", "\n".join(lines))
    assert got.unrecognized == ["link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff"]


def test_routes_with_metrics_next_hops_and_without_a_way() -> None:
    assert _rows("ip-route", sample("ip-route__debian12-6.18__01.txt").text) == [
        {
            "dst": "10.6.0.0/16",
            "nexthops": [
                {"gateway": "10.9.0.3", "dev": "v0", "weight": 1},
                {"gateway": "10.9.0.4", "dev": "v0", "weight": 2},
            ],
        },
        {"dst": "10.7.0.0/16", "type": "blackhole"},
        {
            "dst": "10.8.0.0/16",
            "gateway": "10.9.0.2",
            "dev": "v0",
            "mtu_lock": True,
            "mtu": 1400,
            "window": 65535,
            "initcwnd": 30,
            "initrwnd": 40,
            "congctl": "reno",
        },
        {"dst": "10.9.0.0/24", "dev": "v0", "protocol": "kernel", "scope": "link", "prefsrc": "10.9.0.1"},
    ]


def test_routes_as_json_have_the_same_names() -> None:
    row = _rows("ip-route", sample("ip-j-route__debian12-6.18__01.json").text)[2]
    assert row["congctl"] == "reno"
    assert row["initcwnd"] == 30
    assert row["window"] == 65535


def test_the_route_to_one_peer() -> None:
    assert _rows("ip-route", sample("ip-route-get__debian12-6.18__01.txt").text) == [
        {
            "dst": "10.8.1.1",
            "gateway": "10.9.0.2",
            "dev": "v0",
            "prefsrc": "10.9.0.1",
            "uid": 0,
            "mtu_lock": True,
            "mtu": 1400,
            "window": 65535,
            "initcwnd": 30,
            "initrwnd": 40,
            "congctl": "reno",
        }
    ]


def test_default_routes_of_both_families() -> None:
    text = (
        "default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.7 metric 100 \n"
        "default via fe80::1 dev eth0 proto ra metric 1024 expires 1799sec hoplimit 64 pref medium\n"
        "default via inet6 fe80::2 dev eth1 \n"
        "198.51.100.0/24 via 192.0.2.9 dev eth0 onlink \n"
        "10 cows\n"
    )
    got = parsed("ip-route", text)
    rows = _rows("ip-route", text)
    assert [(row["dst"], row["gateway"], row["dev"]) for row in rows] == [
        ("default", "192.0.2.1", "eth0"),
        ("default", "fe80::1", "eth0"),
        ("default", "fe80::2", "eth1"),
        ("198.51.100.0/24", "192.0.2.9", "eth0"),
    ]
    assert rows[0]["metric"] == 100
    assert got.unrecognized == ["10 cows"]


def test_lines_of_another_interface_are_left_over() -> None:
    text = sample("ip-addr__debian12-6.18__01.txt").text
    lines = text.splitlines(keepends=True)
    without = parsed("ip-link", "".join(line for line in lines if not line.startswith("3: v0@v1")))
    lost = ["link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff", "inet 10.9.0.1/24 scope global v0"]
    assert [line for line in lost if line in without.unrecognized] == lost
    moved = [*lines[:1], *lines[7:8], *lines[2:7], *lines[1:2], lines[12], *lines[8:]]
    lo, v1 = _rows("ip-link", "".join(moved))[:2]
    assert "link_type" not in lo
    assert "link_type" not in v1
    assert "addresses" not in v1


def test_words_of_a_bond_are_not_those_of_the_interface() -> None:
    text = (
        "4: bond0: <BROADCAST,UP> mtu 1500 qdisc noqueue state UP group default qlen 1000\n"
        "    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535\n"
        "    bond mode 802.3ad miimon 100 numtxqueues 16 numrxqueues 16\n"
        "    bond mode 802.3ad miimon 100 numtxqueues 8 numrxqueues 8\n"
    )
    (row,) = _rows("ip-link", text)
    assert "linkmode" not in row
    assert (row["num_tx_queues"], row["num_rx_queues"]) == (16, 16)


def test_next_hops_of_a_lost_route_are_left_over() -> None:
    got = parsed("ip-route", "blackhole 10.7.0.0/16\n\tnexthop via 10.9.0.2 dev v0 weight 1\n")
    assert got.values["routes"] == [{"dst": "10.7.0.0/16", "type": "blackhole"}]
    assert got.unrecognized == ["nexthop via 10.9.0.2 dev v0 weight 1"]
