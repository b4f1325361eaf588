"""macOS: reading, comparing and rendering.

Its keys beside FreeBSD's: autorcvbufmax and autosndbufmax are what autotuning reaches, and a set of
kern.ipc.maxsockbuf out of range fails with "Result too large".  Sources: xnu bsd/netinet/tcp_subr.c,
tcp_usrreq.c, bsd/kern/uipc_socket2.c, network_cmds/netstat.tproj/mbuf.c, sysctl(8) of macOS.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from hostcfg.lean import regex
from hostcfg.model import Finding, Parsed
from hostcfg.platforms.base import Parser, ProfileContext
from hostcfg.platforms.bsd.assembly import integer_values
from hostcfg.platforms.bsd.bootcheck import boot_differences, duplicate_assignments
from hostcfg.platforms.bsd.commands import comments, conf_lines, read_names
from hostcfg.platforms.bsd.hostinfo import host_parsers, release_of
from hostcfg.platforms.bsd.keys import explicit_key, flag_key, int_key
from hostcfg.platforms.bsd.lockout import lockout_risk
from hostcfg.platforms.bsd.mbufs import MBUFS_BEGIN
from hostcfg.platforms.bsd.old_mbufs import read_old_mbufs
from hostcfg.platforms.bsd.parsers import sysctl_conf_parser, sysctl_parser
from hostcfg.platforms.bsd.platform import BsdPlatform
from hostcfg.platforms.bsd.sockbuf import maxsockbuf_for, usable
from hostcfg.platforms.bsd.values import NativeKey, When, table
from hostcfg.platforms.framing import sh_section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostcfg.model import Facts, Json, Section
    from hostcfg.platforms.base import Key, ProbeRequest, RenderStyle, Stays
    from hostcfg.platforms.bsd.assembly import BootFiles
    from hostcfg.platforms.bsd.conf import Loader

MAXSOCKBUF = "kern.ipc.maxsockbuf"
SENDSPACE, RECVSPACE = "net.inet.tcp.sendspace", "net.inet.tcp.recvspace"
AUTOSND, AUTORCV = "net.inet.tcp.autosndbufmax", "net.inet.tcp.autorcvbufmax"
SYSCTL_CONF = "/etc/sysctl.conf"


def _rows(when: When, *names: str) -> list[NativeKey]:
    return [NativeKey(name, "int", "", when) for name in names]


def _tcp(*names: str) -> list[NativeKey]:
    return _rows("runtime", *(f"net.inet.tcp.{name}" for name in names))


KEYS = table(
    [
        *_rows("runtime", MAXSOCKBUF, "kern.ipc.somaxconn", "kern.maxfiles", "kern.maxfilesperproc"),
        *_rows(
            "read", "kern.ipc.nmbclusters", "kern.ipc.njcl", "kern.ipc.sbmb_cnt_peak", "hw.memsize", "hw.ncpu"
        ),
        *_rows("read", "hw.physicalcpu", "hw.logicalcpu", "hw.pagesize"),
        *_tcp("sendspace", "recvspace", "autorcvbufmax", "autosndbufmax", "autosndbufinc", "doautorcvbuf"),
        *_tcp("doautosndbuf", "win_scale_factor", "rfc1323", "sack", "ecn_initiate_out", "ecn_negotiate_in"),
        *_tcp(
            "mssdflt",
            "minmss",
            "delayed_ack",
            "rfc3465",
            "rfc3465_lim2",
            "rfc3390",
            "tso",
            "path_mtu_discovery",
        ),
        *_tcp(
            "pmtud_blackhole_detection", "slowstart_flightsize", "local_slowstart_flightsize", "use_newreno"
        ),
        *_tcp(
            "sockthreshold",
            "keepidle",
            "keepintvl",
            "keepinit",
            "msl",
            "blackhole",
            "fastopen",
            "tcbhashsize",
        ),
        *_rows("runtime", "net.inet.ip.maxfragpackets", "net.inet6.ip6.maxfragpackets"),
        NativeKey("kern.ostype", "word", "Darwin", "read"),
        NativeKey("kern.osrelease", "text", "Darwin's release", "read"),
        NativeKey("kern.osproductversion", "text", "release of macOS", "read"),
    ]
)
"""The keys that decide or explain TCP throughput, by name."""

NEUTRAL = {
    "recv_buffer_default": int_key(RECVSPACE),
    "recv_buffer_max": int_key(AUTORCV),
    "recv_autotuning": flag_key("net.inet.tcp.doautorcvbuf"),
    "recv_explicit_max": explicit_key(MAXSOCKBUF),
    "send_buffer_default": int_key(SENDSPACE),
    "send_buffer_max": int_key(AUTOSND),
    "send_autotuning": flag_key("net.inet.tcp.doautosndbuf"),
    "send_explicit_max": explicit_key(MAXSOCKBUF),
    "socket_buffer_max": int_key(MAXSOCKBUF),
    "mbuf_clusters_max": int_key("kern.ipc.nmbclusters", writable=False),  # a boot argument (ncl)
    "window_scaling": flag_key("net.inet.tcp.rfc1323"),
    "timestamps": flag_key("net.inet.tcp.rfc1323"),
    "sack": flag_key("net.inet.tcp.sack"),
    "mtu_probing": flag_key("net.inet.tcp.pmtud_blackhole_detection"),
    "initial_window": int_key("net.inet.tcp.slowstart_flightsize"),
    "segmentation_offload": flag_key("net.inet.tcp.tso"),
    "listen_backlog_max": int_key("kern.ipc.somaxconn"),
}
"""Neutral setting -> native key; rfc1323 is one switch for both options, and newer systems lack it."""

_MBUFS = regex(
    r"mbuf [0-9]{1,5}KB clusters in use|KB returned to the system|mbufs allocated to (?:caches|packet tags)"
)


def recognize_netstat_m(text: str) -> int:
    """How surely ``text`` is ``netstat -m`` of macOS, or the same rows in a panic log."""
    return 96 if _MBUFS.search(text[: 1 << 20]) else 0


def parse_netstat_m(text: str) -> Parsed:
    """``format``, ``mbufs`` (active, total), ``clusters_2k`` and so on as [in use, total], ``kbytes`` ..."""
    found, rest = read_old_mbufs(text)
    names = (
        *("mbufs", "clusters_2k", "clusters_4k", "clusters_16k", "kbytes", "percent_in_use"),
        *("requests_denied", "requests_delayed", "drains"),
    )
    values: dict[str, Json] = {"format": "macos"} | dict.fromkeys(names) | found
    return Parsed("macos", "netstat-m", "netstat -m", values, (), rest)


class MacOs(BsdPlatform):
    """macOS and OS X."""

    name: ClassVar[str] = "macos"
    title: ClassVar[str] = "macOS"
    kernel: ClassVar[str] = "Darwin"
    uname: ClassVar[str | None] = "Darwin"
    native_keys: ClassVar[Mapping[str, NativeKey]] = KEYS
    boot_kinds: ClassVar[Mapping[str, tuple[Loader, str, str]]] = {
        "sysctl-conf": ("sysctl", "rc.d/sysctl", SYSCTL_CONF)
    }
    memory_key: ClassVar[str] = "hw.memsize"
    maxima: ClassVar[frozenset[str]] = frozenset({AUTOSND, AUTORCV})

    @property
    def parsers(self) -> Sequence[Parser]:
        return (
            sysctl_parser(self.name, KEYS),
            Parser(
                "netstat-m", self.name, "netstat -m", recognize_netstat_m, parse_netstat_m, begins=MBUFS_BEGIN
            ),
            sysctl_conf_parser(self.name, KEYS),
            *host_parsers(self.name, "Darwin"),
        )

    def keys(self, facts: Facts | None) -> Mapping[str, Key]:
        del facts
        return NEUTRAL

    def probe_script(self, request: ProbeRequest) -> str:
        sections = {
            "sysctl": read_names(KEYS),
            "netstat-m": "netstat -m",
            "uname": "uname -a",
            "route-get": "route -n get default",
            "ifconfig": "ifconfig -a",
            "sysctl-conf": f"[ -f {SYSCTL_CONF} ] && cat {SYSCTL_CONF}",
        }
        return "".join(sh_section(request.nonce, kind, body) for kind, body in sections.items())

    def release(self, numbers: Mapping[str, int], text: str) -> tuple[int, ...] | None:
        """Darwin's version: 21.4 is macOS 12.3."""
        del numbers
        return release_of(text)

    def details(self, sections: Sequence[Section]) -> dict[str, Json]:
        found = [parse_netstat_m(s.text).values for s in sections if s.kind == "netstat-m"]
        return {"netstat_m": dict(found[-1])} if found else {}

    def find(self, facts: Facts, boot: BootFiles) -> tuple[Finding, ...]:
        return (
            *_buffers(facts),
            *_denied(facts),
            *duplicate_assignments(boot),
            *boot_differences(facts, boot, ()),
        )

    def profile_context(self, facts: Facts | None) -> ProfileContext:
        """No stock values: they differ by release and memory, and none is recorded for certain."""
        memory = facts.memory_bytes if facts is not None else 8 * 1024**3
        inputs = {
            **({} if memory is None else {"memory_bytes": memory}),
            "overhead": 1.0,
            "socket_buffer_ratio": 1.125,
            "page_bytes": 16384,
        }
        return ProfileContext(inputs=inputs)

    def set_command(self, key: str, raw: str) -> str:
        """``-w`` is needed up to Mac OS X 10.9 and accepted since."""
        return super().set_command(key, raw).replace("sysctl ", "sysctl -w ", 1)

    def persist_target(self, key: str) -> str | None:
        known = KEYS.get(key)
        return None if known is not None and known.when == "read" else SYSCTL_CONF

    def render(
        self,
        values: Mapping[str, str],
        style: RenderStyle,
        header: Sequence[str],
        stays: Mapping[str, Stays] = MappingProxyType({}),
    ) -> str:
        ordered = self.in_write_order(values)
        if style == "script":
            lines = ["#!/bin/sh", *comments(header), *self.careful_commands(ordered, stays)]
        else:
            lines = [*comments([*header, SYSCTL_CONF]), *conf_lines(ordered, stays)]
        return "\n".join(lines) + "\n"


def _buffers(facts: Facts) -> Iterator[Finding]:
    values = integer_values(facts.native, (MAXSOCKBUF, SENDSPACE, RECVSPACE, AUTOSND, AUTORCV))
    risk = lockout_risk(values)
    if risk is not None:
        yield Finding("sockets_fail", "error", risk, (MAXSOCKBUF, SENDSPACE, RECVSPACE))
    for name in (AUTOSND, AUTORCV):
        cap, size = values.get(MAXSOCKBUF), values.get(name)
        if cap is not None and size is not None and size > usable(cap):
            message = (
                f"{name} = {size} is above 8/9 of {MAXSOCKBUF} = {cap}: a buffer ends at {usable(cap)} "
                f"bytes; {MAXSOCKBUF} must be at least {maxsockbuf_for(size)} for it"
            )
            yield Finding("buffer_max_above_cap", "warning", message, (name, MAXSOCKBUF))


def _denied(facts: Facts) -> Iterator[Finding]:
    groups = facts.details.get("netstat_m")
    denied = groups.get("requests_denied") if isinstance(groups, dict) else None
    if isinstance(denied, int) and denied > 0:
        yield Finding(
            "mbufs_denied",
            "warning",
            f"the kernel denied {denied} requests for mbufs since boot",
            ("kern.ipc.nmbclusters",),
        )


PLATFORM = MacOs()
