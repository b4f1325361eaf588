"""Parsers of Linux's native outputs and files; ``PARSERS`` is all of them, each imported when it is used."""

from __future__ import annotations

from hostcfg.platforms.base import Parser, lazy_parser

_FOLDER = __name__


def _row(kind: str, command: str, module: str, *, transcript: bool = False) -> Parser:
    return lazy_parser(kind, "linux", command, f"{_FOLDER}.{module}", transcript=transcript)


PARSERS: tuple[Parser, ...] = (
    _row("sysctl", "sysctl -a", "sysctl", transcript=True),
    _row("sysctl-set", "sysctl --system", "sysctl", transcript=True),
    _row("sysctl-conf", "sysctl.conf", "conf_file", transcript=True),
    _row("proc-sys", "grep -H '' /proc/sys/...", "procsys"),
    _row("proc-read", "cat /proc/sys/...", "procsys"),
    _row("tuned-conf", "tuned.conf", "tuned"),
    _row("tc-qdisc", "tc qdisc show", "tc"),
    _row("ip-link", "ip link show", "link"),
    _row("ip-route", "ip route show", "route"),
    _row("ethtool-k", "ethtool -k", "ethtool"),
    _row("ethtool-g", "ethtool -g", "ethtool"),
    _row("ethtool-a", "ethtool -a", "ethtool"),
    _row("ethtool-c", "ethtool -c", "ethtool"),
    _row("ethtool-i", "ethtool -i", "ethtool"),
    _row("ethtool", "ethtool", "ethtool"),
    _row("ss", "ss -tin", "ss"),
    _row("meminfo", "cat /proc/meminfo", "system"),
    _row("os-release", "cat /etc/os-release", "system"),
    _row("uname", "uname -a", "system"),
)
