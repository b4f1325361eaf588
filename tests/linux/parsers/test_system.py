"""meminfo, os-release and uname."""

from __future__ import annotations

import pytest

from tests.linux.parsers.samples import best, parsed


def test_memory_in_bytes() -> None:
    text = "MemTotal:     2038304 kB\nMemFree:      1000 kB\nActive(anon):  4 kB\nHugePages_Total:     3\n"
    assert best(text).kind == "meminfo"
    assert parsed("meminfo", text).values == {
        "MemTotal": 2038304 * 1024,
        "MemFree": 1024000,
        "Active(anon)": 4096,
        "HugePages_Total": 3,
    }


def test_memory_without_a_number_is_left_over() -> None:
    got = parsed("meminfo", "MemTotal:        20x8304 kB\nMemTotal: 1 MB\n")
    assert got.values == {}
    assert len(got.unrecognized) == 2


def test_release_of_the_distribution() -> None:
    text = 'NAME=\'Alpine Linux\'\nID=alpine\nVERSION_ID=3.19.1\n# c\nPRETTY_NAME="Alpine v3.19"\nX="open\n'
    got = parsed("os-release", text)
    assert best(text).kind == "os-release"
    assert got.values == {
        "NAME": "Alpine Linux",
        "ID": "alpine",
        "VERSION_ID": "3.19.1",
        "PRETTY_NAME": "Alpine v3.19",
    }
    assert got.unrecognized == ['X="open']


def test_freebsds_os_release_is_not_linux() -> None:
    assert best("NAME=FreeBSD\nID=freebsd\nVERSION_ID=14.2\n").recognize("NAME=FreeBSD\nID=freebsd\n") == 0


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("Linux 6.1.0-13-amd64", {"sysname": "Linux", "release": "6.1.0-13-amd64"}),
        (
            "Linux host1 6.1.0-13-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29) x86_64 GNU/Linux",
            {
                "sysname": "Linux",
                "nodename": "host1",
                "release": "6.1.0-13-amd64",
                "operating_system": "GNU/Linux",
                "machine": "x86_64",
                "version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29)",
            },
        ),
        (
            "Linux r1 2.6.32-431.el6.x86_64 #1 SMP Fri Nov 22 03:15:09 UTC 2013 x86_64 x86_64 GNU/Linux",
            {
                "sysname": "Linux",
                "nodename": "r1",
                "release": "2.6.32-431.el6.x86_64",
                "operating_system": "GNU/Linux",
                "machine": "x86_64",
                "version": "#1 SMP Fri Nov 22 03:15:09 UTC 2013",
            },
        ),
        ("5.4.0-97-generic", {"release": "5.4.0-97-generic"}),
        ("Linux 6.1.0 aarch64", {"sysname": "Linux", "release": "6.1.0", "machine": "aarch64"}),
    ],
)
def test_uname(line: str, values: dict[str, str]) -> None:
    assert best(f"{line}\n").kind == "uname"
    assert parsed("uname", f"{line}\n").values == values


@pytest.mark.parametrize(
    "line",
    [
        "FreeBSD h 14.2-RELEASE FreeBSD 14.2-RELEASE amd64",
        "Linux",
        "Linux is great",
        "14.2-RELEASE",
        "22.6.0",
    ],
)
def test_no_uname_of_linux(line: str) -> None:
    assert parsed("uname", line).values == {}
    assert best(line).recognize(line) == 0
