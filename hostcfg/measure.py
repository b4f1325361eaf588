"""What is measured on the way: the round-trip time by ping, the rate by interface speed, running flows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.errors import HostError, UsageError
from hostcfg.lean import regex
from hostcfg.platforms import get_platform
from hostcfg.targets import checked_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Facts, Parsed
    from hostcfg.transports.base import Transport

_REPLY_MS = regex(r"[=<](\d{1,7}(?:[.,]\d{1,6})?) ?(?:ms|мс)", re.IGNORECASE)
_SUMMARY = regex(r"min/avg|= ?[\d.]+/|^\s*\S+ = \d+ ?ms", re.IGNORECASE)


def ping_rtt_s(transport: Transport, facts: Facts, address: str) -> float:
    """The least round-trip time in seconds of four pings from the host of ``facts`` to ``address``.

    HostError ``command`` if no reply came, or one that took no time.
    """
    from hostcfg.pasted import decode_bytes

    platform = get_platform(facts.os)
    result = transport.run(platform.ping_command(checked_address(address)))
    text = decode_bytes(result.stdout)  # Windows answers in its own language and code page
    times = ping_times_s(text)
    if not times:
        said = " ".join((text + decode_bytes(result.stderr)).split())[-120:]
        raise HostError(
            "command",
            f"no answer to ping {address} ({said or 'no output'}); give --rtt, or --address if the path "
            "reaches the other end elsewhere",
            host=facts.host,
        )
    least = min(times)
    if least <= 0:
        raise HostError(
            "command", f"ping {address} took no time that it could measure; give --rtt", host=facts.host
        )
    return least


def ping_times_s(text: str) -> list[float]:
    """Seconds of each reply in what ping printed, on any system and in any language.

    ``64 bytes from 192.0.2.3: icmp_seq=1 ttl=64 time=80.2 ms`` (Linux, BSD, busybox) or
    ``Antwort von 192.0.2.3: Bytes=32 Zeit=80ms TTL=64`` (Windows; ``Zeit<1ms`` is at most 1 ms, and a
    Russian one says ``мс``).
    """
    found = []
    for line in text.splitlines():
        match = _REPLY_MS.search(line)
        if match is not None and not _SUMMARY.search(line):
            found.append(float(match[1].replace(",", ".")) / 1000)
    return found


def slowest_interface_bps(facts: Sequence[Facts]) -> float:
    """The lower interface speed of the ends, in bit/s; UsageError where no host tells one."""
    speeds = [speed for one in facts if (speed := _speed_bps(one)) is not None]
    if not speeds:
        names = " and ".join(one.host for one in facts)
        raise UsageError(
            f"no interface speed is known of {names} (virtual interfaces have none, and of several in a "
            "pasted text `ip route` tells which); give --rate"
        )
    return float(min(speeds))


def _speed_bps(facts: Facts) -> int | None:
    """Of the interface towards the peer, else of the default route; of a text without routes the only one."""
    for wanted in ("peer", "default"):
        for interface in facts.interfaces:
            if wanted in interface.routes and interface.speed_bps:
                return interface.speed_bps
    speeds = {interface.speed_bps for interface in facts.interfaces if interface.speed_bps}
    routed = any(interface.routes for interface in facts.interfaces)
    return speeds.pop() if len(speeds) == 1 and not routed else None


def read_sockets(transport: Transport, facts: Facts, address: str) -> Parsed:
    """The TCP connections from the host of ``facts`` to ``address``; UsageError where the OS can't say."""
    platform = get_platform(facts.os)
    command = platform.socket_statistics_command(checked_address(address))
    if command is None:
        raise UsageError(
            f"{platform.title} does not tell what limits a running connection; --live needs a Linux sender",
            host=facts.host,
        )
    result = transport.run(command)
    parser = next(p for p in platform.parsers if p.kind == "ss")
    return parser.parse(platform.decode(result.stdout))
