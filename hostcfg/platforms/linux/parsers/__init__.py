"""Parsers of Linux's native outputs and files; ``PARSERS`` is all of them, each imported when it is used."""

from __future__ import annotations

from hostcfg.platforms.base import SETTINGS_BEGIN, Parser, lazy_parser

_FOLDER = __name__


def _row(kind: str, command: str, module: str, begins: str = "", *, transcript: bool = False) -> Parser:
    where = f"{_FOLDER}.{module}"
    return lazy_parser(kind, "linux", command, where, transcript=transcript, begins=begins)


PARSERS: tuple[Parser, ...] = (
    _row("sysctl", "sysctl -a", "sysctl", SETTINGS_BEGIN, transcript=True),
    _row("sysctl-set", "sysctl --system", "sysctl", SETTINGS_BEGIN, transcript=True),
    _row("sysctl-conf", "sysctl.conf", "conf_file", SETTINGS_BEGIN, transcript=True),
    _row("proc-sys", "grep -H '' /proc/sys/...", "procsys", r"/proc/sys/\S{1,200}:"),
    _row("proc-read", "cat /proc/sys/...", "procsys"),
    _row("tuned-conf", "tuned.conf", "tuned"),
    _row("tc-qdisc", "tc qdisc show", "tc", r"qdisc \S{1,40} [0-9a-f]{1,4}: "),
    _row("ip-link", "ip link show", "link", r"[0-9]{1,6}: \S{1,64}: <[A-Z0-9_,-]{0,200}> mtu [0-9]"),
    _row(
        "ip-route", "ip route show", "route", r"(?:default|[0-9a-f.:]{2,39}(?:/[0-9]{1,3})?) (?:via|dev) \S"
    ),
    _row("ethtool-k", "ethtool -k", "ethtool", r"Features for \S{1,64}:"),
    _row("ethtool-g", "ethtool -g", "ethtool", r"Ring parameters for \S{1,64}:"),
    _row("ethtool-a", "ethtool -a", "ethtool", r"Pause parameters for \S{1,64}:"),
    _row("ethtool-c", "ethtool -c", "ethtool", r"Coalesce parameters for \S{1,64}:"),
    _row("ethtool-i", "ethtool -i", "ethtool", r"driver: \S"),
    _row("ethtool", "ethtool", "ethtool", r"Settings for \S{1,64}:"),
    _row("ss", "ss -tin", "ss", r"(?:Netid +)?State +Recv-Q +Send-Q|(?:ESTAB|LISTEN) +[0-9]{1,9} +[0-9]"),
    _row("meminfo", "cat /proc/meminfo", "system", r"MemTotal: {1,40}[0-9]{1,16} kB"),
    _row("os-release", "cat /etc/os-release", "system", r"(?:PRETTY_)?NAME=\S"),
    _row("uname", "uname -a", "system", r"Linux \S{1,64} [0-9]{1,3}\.[0-9]"),
)
