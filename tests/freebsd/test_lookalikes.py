"""Systems that look like FreeBSD are recognised as what they are."""

from __future__ import annotations

from typing import Any

import pytest

from hostcfg.pasted import parse_pasted
from tests.freebsd.samples import PARSERS

OPENBSD = """\
136 mbufs in use:
\t129 mbufs allocated to data
\t3 mbufs allocated to packet headers
\t1 mbuf allocated to socket names and addresses
36/112/6144 mbuf 2048 byte clusters in use (current/peak/max)
0/8/6144 mbuf 4096 byte clusters in use (current/peak/max)
576 Kbytes allocated to network (50% in use)
0 requests for memory denied
0 requests for memory delayed
0 calls to protocol drain routines
"""
OPENBSD_3 = OPENBSD.replace(
    "36/112/6144 mbuf 2048 byte clusters in use (current/peak/max)\n"
    "0/8/6144 mbuf 4096 byte clusters in use (current/peak/max)\n",
    "33/56/256 mbuf cluster pages in use (current/peak/max)\n",
).replace("1 mbuf allocated", "4 mbufs allocated")
NETBSD = """\
515 mbufs in use:
\t513 mbufs allocated to data
\t2 mbufs allocated to packet headers
64/1280 mapped pages in use
2688 Kbytes allocated to network (5% in use)
0 calls to protocol drain routines
"""
NETBSD_BY_SYSCTL = "515 mbufs in use:\n\t515 mbufs allocated to data\n0 calls to protocol drain routines\n"
DRAGONFLY = """\
1305/69632 mbufs in use (current/max):
1186/34816 mbuf clusters in use (current/max)
12/17408 mbuf jumbo clusters in use (current/max)
\t1245 mbufs and mbuf clusters allocated to data
2698 Kbytes allocated to network (2% of mb_map in use)
0 requests for memory denied
0 requests for memory delayed
0 calls to protocol drain routines
"""
JUNOS = """\
user@mx1> show system buffers
588/2142/2730 mbufs in use (current/cache/total)
516/714/1230/124756 mbuf clusters in use (current/cache/total/max)
513/499 mbuf+clusters out of packet secondary zone in use (current/cache)
0/2/2/62377 4k (page size) jumbo clusters in use (current/cache/total/max)
0/0/0/18482 9k (page size) jumbo clusters in use (current/cache/total/max)
0/0/0/10396 16k (page size) jumbo clusters in use (current/cache/total/max)
1179K/1971K/3150K bytes allocated to network (current/cache/total)
0/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)
"""
JUNOS_OLD = """\
712/9824/120000 mbufs in use (current/peak/max):
\t150 mbufs allocated to ancillary data
\t4 mbufs allocated to pfe data
\t397 mbufs allocated to fxp data (rx)
408/11432/30000 mbuf clusters in use (current/peak/max)
25320 Kbytes allocated to network (28% of mb_map in use)
0 requests for memory denied
"""
RTEMS = """\
************ MBUF STATISTICS ************
mbufs:4096    clusters: 256    free: 241
drops:   3       waits:   0  drains:   0
      free:4080          data:16          header:0           socket:0
"""


def parse(text: str) -> tuple[str, dict[str, Any]]:
    parsed = parse_pasted(text, PARSERS)
    assert parsed is not None
    assert parsed.kind == "netstat-m"
    return parsed.os, dict(parsed.values)


@pytest.mark.parametrize(
    ("text", "os", "expected"),
    [
        (OPENBSD, "openbsd", {"mbufs": {"active": 136}, "kbytes": 576, "percent_in_use": 50, "drains": 0}),
        (OPENBSD, "openbsd", {"clusters_4096": {"current": 0, "peak": 8, "max": 6144}}),
        (OPENBSD_3, "openbsd", {"pages": {"current": 33, "peak": 56, "max": 256}}),
        (NETBSD, "netbsd", {"mbufs": {"active": 515}, "pages": {"current": 64, "total": 1280}}),
        (NETBSD_BY_SYSCTL, "netbsd", {"mbufs": {"active": 515}, "drains": 0}),
        (DRAGONFLY, "dragonfly", {"clusters": {"current": 1186, "max": 34816}, "kbytes": 2698}),
        (JUNOS, "junos", {"jumbo_9k": {"current": 0, "cache": 0, "total": 0, "max": 18482}}),
        (JUNOS, "junos", {"format": "junos", "kbytes": {"current": 1179, "cache": 1971, "total": 3150}}),
        (JUNOS_OLD, "junos", {"mbufs": {"current": 712, "peak": 9824, "max": 120000}}),
        (RTEMS, "rtems", {"mbufs": {"total": 4096}, "clusters": {"total": 256, "free": 241}}),
        (
            RTEMS,
            "rtems",
            {"requests_denied": 3, "types": {"free": 4080, "data": 16, "header": 0, "socket": 0}},
        ),
    ],
)
def test_mbuf_statistics_of_other_systems(text: str, os: str, expected: dict[str, Any]) -> None:
    found, values = parse(text)
    assert found == os
    assert {name: values.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "os", "name", "value"),
    [
        ("net.inet.tcp.sendspace = 32768\nkern.sbmax = 262144\n", "netbsd", "kern.sbmax", 262144),
        ("kern.ostype = NetBSD\nkern.somaxkva = 16777216\n", "netbsd", "kern.somaxkva", 16777216),
        ("kern.ostype=OpenBSD\nnet.inet.tcp.rfc3390=2\n", "openbsd", "net.inet.tcp.rfc3390", 2),
        ("kern.maxclusters=262144\nnet.inet.tcp.ecn=0\n", "openbsd", "kern.maxclusters", 262144),
        (
            "kern.ostype: DragonFly\nkern.ipc.nmbjclusters: 17408\n",
            "dragonfly",
            "kern.ipc.nmbjclusters",
            17408,
        ),
        ("kern.ostype: Darwin\nnet.inet.tcp.sendspace: 131072\n", "macos", "net.inet.tcp.sendspace", 131072),
    ],
)
def test_sysctl_of_other_systems(text: str, os: str, name: str, value: int) -> None:
    parsed = parse_pasted(text, PARSERS)
    assert parsed is not None
    assert (parsed.os, parsed.values[name]) == (os, value)


def test_a_complaint_of_an_older_macos() -> None:
    parsed = parse_pasted("second level name foo in kern.ipc.foo is invalid\n", PARSERS, "sysctl")
    assert parsed is not None
    assert parsed.extra["errors"] == [{"name": "kern.ipc.foo", "kind": "unknown_oid"}]


def test_linux_is_none_of_them() -> None:
    text = "net.ipv4.tcp_rmem = 4096 131072 6291456\nkernel.osrelease = 6.1.0\nnet.core.rmem_max = 212992\n"
    assert parse_pasted(text, PARSERS) is None


def test_solaris_properties_after_a_set() -> None:
    text = """\
root@sol:~# ipadm set-prop -p max_buf=4194304 tcp
root@sol:~# ipadm show-prop -p max_buf,send_buf tcp
PROTO PROPERTY              PERM CURRENT      PERSISTENT   DEFAULT      POSSIBLE
tcp   max_buf               rw   4194304      4194304      1048576      128000-1073741824
tcp   send_buf              rw   49152        --           49152        4096-4194304
"""
    parsed = parse_pasted(text, PARSERS)
    assert parsed is not None
    assert parsed.extra["after_set"] == [
        {"property": "max_buf", "current": "4194304", "persistent": "4194304"},
        {"property": "send_buf", "current": "49152", "persistent": None},
    ]
    assert parsed.extra["asked"] == [{"name": "max_buf", "value": "4194304"}]


def test_a_row_that_lost_its_end_takes_no_line_of_another_form() -> None:
    text = (
        "484/1238 mbufs in use:\n\t244 mbufs allocated to data\n\t6 mbufs allocated to packet headers\n"
        "vm allocation failures: contiguous 0, normal 0, one page 0\n"
        "7549 KB allocated to network (8.1% in use)\n"
        "240/1004 mbuf 2KB clusters in use\n"
    )
    parsed = parse_pasted(text, PARSERS)
    assert parsed is not None
    assert parsed.values["types"] == {"data": 244, "packet headers": 6}
    assert parsed.unrecognized == ("vm allocation failures: contiguous 0, normal 0, one page 0",)
