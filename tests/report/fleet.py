"""A fleet as values: what real systems printed, read as ``file:`` targets are, under the names of hosts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.audit import audit_fleet
from hostcfg.errors import HostError
from hostcfg.model import Link
from hostcfg.path import analyse_path
from hostcfg.profiles import find_profile
from hostcfg.reader import Outcome, read_file, read_pasted
from hostcfg.targets import HostSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.audit import ProfileAudit
    from hostcfg.errors import HostErrorKind
    from hostcfg.model import Facts
    from hostcfg.path import PathReport

DOCS = Path(__file__).parents[1] / "fixtures" / "docs"
LINK = Link(rate_bps=1e9, rtt_s=0.080)

TUNED = """\
net.core.rmem_max = 67108864
net.core.wmem_max = 67108864
net.core.default_qdisc = fq
net.ipv4.tcp_rmem = 4096 131072 67108864
net.ipv4.tcp_wmem = 4096 65536 67108864
net.ipv4.tcp_congestion_control = bbr
net.ipv4.tcp_available_congestion_control = reno cubic bbr
net.ipv4.tcp_mtu_probing = 1
net.ipv4.tcp_sack = 1
net.ipv4.tcp_slow_start_after_idle = 0
net.ipv4.tcp_timestamps = 1
net.ipv4.tcp_window_scaling = 1
"""
"""Nothing in it differs from the profile wan at 1 Gbit/s x 80 ms."""

FAILURES: tuple[tuple[HostErrorKind, str], ...] = (
    ("timeout", "no answer within 30 s while connecting to port 22"),
    ("host_key", "its host key is not the one in known_hosts"),
    ("auth", "no key was accepted"),
    ("unreachable", "connection refused on port 22"),
)

PLACES = ("lon", "sin", "nyc", "fra")


@cache
def recorded(file: str) -> Facts:
    """Facts of one of the texts that the README's examples use."""
    return read_file("any", DOCS / file)


def tuned(name: str, **changed: str) -> Facts:
    """A Linux host with :data:`TUNED`; ``changed``: the end of a key -> another value."""
    lines = [line.partition(" = ") for line in TUNED.splitlines()]
    text = "".join(f"{key} = {changed.get(key.rpartition('.')[2], value)}\n" for key, _, value in lines)
    return read_pasted(name, text, name)


def facts_of(number: int, name: str) -> Facts:
    """The facts of the host of that number: every second one is tuned, the others are as recorded."""
    kinds = ("lon-1.txt", "bri-1.txt", "fileserver.txt", "office-pc.txt")
    if number % 2:
        small = {"tcp_rmem": "4096 131072 6291456"} if number % 3 == 0 else {}
        return tuned(name, **small)
    return replace(recorded(kinds[number // 2 % 4]), host=name)


def host_name(number: int) -> str:
    """``lon-01.example.net``, ``sin-02.example.net`` ..."""
    return f"{PLACES[number % 4]}-{number:02d}.example.net"


def groups_of(name: str) -> list[str]:
    """The place, and one group of odd numbers."""
    odd = int(name[4:].partition(".")[0]) % 2
    return [name[:3], *(["backup servers"] if odd else [])]


def outcomes(count: int, failing: int = 0) -> list[Outcome]:
    """``count`` hosts, of which the last ``failing`` could not be read."""
    found = []
    for number in range(count):
        name = host_name(number)
        spec = HostSpec(name, "ssh", name)
        if number < count - failing:
            found.append(Outcome(spec, facts_of(number, name)))
        else:
            kind, message = FAILURES[number % len(FAILURES)]
            found.append(Outcome(spec, None, HostError(kind, message, host=name)))
    return found


def audit(found: Sequence[Outcome], profile: str = "wan", link: Link | None = LINK) -> ProfileAudit:
    """The outcomes against a profile."""
    return audit_fleet(found, find_profile(profile), link, {})


def path_reports(count: int) -> list[PathReport]:
    """Paths between neighbours, over links of 100 Mbit/s to 10 Gbit/s."""
    rates, rtts = (1e8, 1e9, 1e10), (0.012, 0.080, 0.170)
    reports = []
    for number in range(count):
        names = (host_name(2 * number), host_name(2 * number + 1))
        a, b = (facts_of(2 * number + side, name) for side, name in enumerate(names))
        reports.append(analyse_path(a, b, Link(rates[number % 3], rtts[number // 3 % 3])))
    return reports
