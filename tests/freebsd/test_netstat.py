"""``netstat -m`` of every release, by the formats of usr.bin/netstat/mbuf.c."""

from __future__ import annotations

from typing import Any

import pytest

from hostcfg.pasted import parse_pasted
from hostcfg.platforms.freebsd.netstat import GROUPS, parse_netstat_m, recognize_netstat_m
from tests.freebsd.samples import PARSERS, sample

FREEBSD_4 = """\
129/352/25600 mbufs in use (current/peak/max):
\t127 mbufs allocated to data
\t2 mbufs allocated to packet headers
128/284/6400 mbuf clusters in use (current/peak/max)
656 Kbytes allocated to network (3% of mb_map in use)
0 requests for memory denied
1 requests for memory delayed
0 calls to protocol drain routines
"""
FREEBSD_5_0 = """\
mbuf usage:
\tGEN list:\t0/0 (in use/in pool)
\tCPU #0 list:\t144/176 (in use/in pool)
\tCPU #1 list:\t70/128 (in use/in pool)
\tTotal:\t\t214/304 (in use/in pool)
\tMaximum number allowed on each CPU list: 512
\tMaximum possible: 34432
\tAllocated mbuf types:
\t  214 mbufs allocated to data
\t0% of mbuf map consumed
mbuf cluster usage:
\tGEN list:\t0/0 (in use/in pool)
\tCPU #0 list:\t128/136 (in use/in pool)
\tTotal:\t\t128/136 (in use/in pool)
\tMaximum number allowed on each CPU list: 128
\tMaximum possible: 17216
\t0% of cluster map consumed
348 KBytes of wired memory reserved (77% in use)
0 requests for memory denied
0 requests for memory delayed
0 calls to protocol drain routines
"""
FREEBSD_5_3 = """\
273 mbufs in use
256/25600 mbuf clusters in use (current/max)
0/4/6656 sfbufs in use (current/peak/max)
580 KBytes allocated to network
0 requests for sfbufs denied
0 requests for sfbufs delayed
7 requests for I/O initiated by sendfile
0 calls to protocol drain routines
"""
FREEBSD_11 = """\
1026/1104/2130 mbufs in use (current/cache/total)
1024/748/1772/1020370 mbuf clusters in use (current/cache/total/max)
1024/748 mbuf+clusters out of packet secondary zone in use (current/cache)
0/13/13/510185 8k (page size) jumbo clusters in use (current/cache/total/max)
0/0/0/151166 9k jumbo clusters in use (current/cache/total/max)
0/0/0/85030 16k jumbo clusters in use (current/cache/total/max)
2304K/1824K/4128K bytes allocated to network (current/cache/total)
0/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)
0/0/0 requests for mbufs delayed (mbufs/clusters/mbuf+clusters)
0/0/0 requests for jumbo clusters delayed (8k/9k/16k)
0/0/0 requests for jumbo clusters denied (8k/9k/16k)
3 sendfile syscalls
2 sendfile syscalls completed without I/O request
1 requests for I/O initiated by sendfile
4 pages read by sendfile as part of a request
5 pages were valid at time of a sendfile request
6 pages were requested for read ahead by applications
7 pages were read ahead by sendfile
8 times sendfile encountered an already busy page
0 requests for sfbufs denied
0 requests for sfbufs delayed
"""


def values(text: str) -> dict[str, Any]:
    parsed = parse_pasted(text, PARSERS)
    assert parsed is not None
    assert (parsed.os, parsed.kind) == ("freebsd", "netstat-m")
    return dict(parsed.values)


def test_release_4() -> None:
    found = values(FREEBSD_4)
    assert found["mbufs"] == {"current": 129, "peak": 352, "max": 25600}
    assert found["clusters"] == {"current": 128, "peak": 284, "max": 6400}
    assert found["kbytes"] == 656
    assert (found["requests_denied"], found["requests_delayed"], found["protocol_drains"]) == (0, 1, 0)
    assert found["types"] == {"data": 127, "packet headers": 2}
    assert found["jumbo_page"] is None


def test_release_5_0_with_a_list_for_each_cpu() -> None:
    found = values(FREEBSD_5_0)
    assert found["mbufs"] == {"current": 214, "total": 304, "max": 34432}
    assert found["clusters"] == {"current": 128, "total": 136, "max": 17216}
    assert found["requests_denied"] == 0


def test_release_5_3() -> None:
    found = values(FREEBSD_5_3)
    assert found["mbufs"] == {"current": 273}
    assert found["clusters"] == {"current": 256, "max": 25600}
    assert found["kbytes"] == 580
    assert found["sfbufs"] == {"current": 0, "peak": 4, "max": 6656}
    assert found["sendfile_io"] == 7


def test_release_11_with_pages_of_8k() -> None:
    found = values(FREEBSD_11)
    assert found["jumbo_page"] == {"current": 0, "cache": 13, "total": 13, "max": 510185}
    assert found["jumbo_denied"] == {"page": 0, "9k": 0, "16k": 0}
    sendfile = ("sendfile_syscalls", "sendfile_no_io", "sendfile_io", "pages_sent", "pages_valid")
    assert [found[name] for name in sendfile] == [3, 2, 1, 4, 5]
    assert (found["pages_bogus"], found["protocol_drains"]) == (None, None)


def test_every_group_is_there_whatever_the_release_prints() -> None:
    for text in (FREEBSD_4, FREEBSD_5_0, FREEBSD_5_3, FREEBSD_11):
        assert set(GROUPS) == set(values(text))


ROW = "0/84/84/63496 4k (page size) jumbo clusters in use (current/cache/total/max)"


@pytest.mark.parametrize(
    "text",
    [
        ROW.replace(" in use", "\nin use"),
        ROW.replace(" (current", "\n   (current"),
        ROW.replace(" (page", "\n(page"),
        ROW.replace(" 4k", "\n4k"),
        ROW.replace("cache/total", "cache/\ntotal"),
        ROW.replace("use (", "use("),
        "    " + ROW,
        "> " + ROW,
        "| " + ROW,
        "# " + ROW,
        ROW.replace(" ", "\u00a0"),
        f"Nov 30 14:35:01 fbsd root: {ROW}",
        f"2024-05-01T12:00:00Z {ROW}",
        f"[12:00:01] {ROW}",
        f"1. {ROW}\n2. 0/0/0/5 9k jumbo clusters in use (current/cache/total/max)\n3. 0 sendfile syscalls",
        f"root@host:~ # netstat -m\n{ROW}\nroot@host:~ #",
        f"$netstat -m\r\n{ROW}\r\n",
        f"\ufeff{ROW}",
        f"netstat: kvm not available: /dev/mem: Permission denied\n{ROW}",
    ],
)
def test_what_stands_around_a_row_changes_nothing(text: str) -> None:
    assert values(text)["jumbo_page"] == {"current": 0, "cache": 84, "total": 84, "max": 63496}


@pytest.mark.parametrize(
    "row",
    [
        "0/84/84 4k (page size) jumbo clusters in use (current/cache/total/max)",
        "0/84/84/63496 4k (page size) jumbo clusters in use (current/cache/tot",
        "0/84/84/63496 4k (page size) jumbo clusters in use",
        "0/84/84/x 4k (page size) jumbo clusters in use (current/cache/total/max)",
        "576K/3298/3874K bytes allocated to network (current/cache/total)",
        "576/3298/3874 bytes allocated to network (current/cache/total)",
        "0/0/0 requests for mbufs denied (clusters/mbufs/mbuf+clusters)",
        "0/0 requests for jumbo clusters denied (4k/9k/16k)",
        "5 5 requests for sfbufs denied",
        "123456789012345678901 sendfile syscalls",
    ],
)
def test_a_row_that_is_not_whole_gives_nothing(row: str) -> None:
    parsed = parse_netstat_m(row)
    assert all(value is None for value in parsed.values.values())
    assert parsed.unrecognized == (row,) or list(parsed.unrecognized) == [row]


def test_a_wrapped_counter_is_not_taken_for_a_shorter_one() -> None:
    found = parse_netstat_m("4 sendfile syscalls\ncompleted without I/O request\n")
    assert (found.values["sendfile_syscalls"], found.values["sendfile_no_io"]) == (None, 4)


def test_cut_json_gives_no_values() -> None:
    whole = '{"mbuf-statistics": {"mbuf-current":258,"cluster-max":1000000}}'
    assert parse_netstat_m(whole).values["clusters"] == {"max": 1000000}
    for end in range(len('{"mbuf-statistics"'), len(whole)):
        cut = parse_netstat_m(whole[:end])
        assert all(value is None for value in cut.values.values())
        assert cut.notes


def test_a_second_reading_counts_and_is_said() -> None:
    parsed = parse_netstat_m("1 sendfile syscalls\n2 sendfile syscalls\n")
    assert parsed.values["sendfile_syscalls"] == 2
    assert parsed.notes


def test_other_statistics_are_no_mbuf_rows() -> None:
    text = sample("netstat-m__freebsd-10__01.txt").text.partition("netstat -sp tcp")[2]
    assert recognize_netstat_m(text) == 0
