"""FreeBSD: how it is read, what its values mean, and the commands that set them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from hostcfg.lean import regex
from hostcfg.platforms.base import ProfileContext
from hostcfg.platforms.bsd.commands import comments, conf_line, conf_lines
from hostcfg.platforms.bsd.hostinfo import (
    KLDSTAT_PARSER,
    host_parsers,
    osreldate_release,
    parse_kldstat,
    release_of,
)
from hostcfg.platforms.bsd.parsers import sysctl_conf_parser, sysctl_parser
from hostcfg.platforms.bsd.platform import BsdPlatform
from hostcfg.platforms.freebsd.conf import CONF_PARSERS
from hostcfg.platforms.freebsd.findings import findings_of
from hostcfg.platforms.freebsd.keys import keys_for
from hostcfg.platforms.freebsd.native import (
    BUILT_IN_CC,
    CC_ALGORITHM,
    CC_AVAILABLE,
    KEYS,
    RECVBUF_MAX,
    SENDBUF_MAX,
)
from hostcfg.platforms.freebsd.netstat import NETSTAT_PARSER, parse_netstat_m
from hostcfg.platforms.freebsd.probe import probe_body
from hostcfg.platforms.freebsd.stock import CURRENT, SOURCE, stock_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Finding, Json, Section
    from hostcfg.platforms.base import Key, Parser, ProbeRequest, RenderStyle, Stays
    from hostcfg.platforms.bsd.assembly import BootFiles
    from hostcfg.platforms.bsd.conf import Loader
    from hostcfg.platforms.bsd.values import NativeKey

SYSCTL_CONF, LOADER_CONF = "/etc/sysctl.conf", "/boot/loader.conf"
TYPICAL_MEMORY_BYTES = 8 * 1024**3
"""What profiles assume of a host that nobody has read."""

_ALGORITHM_RANK = 40
_LOAD = regex(r"\w+_load")
_ALGORITHM = regex(r"[a-z0-9_]{1,32}")


class FreeBsd(BsdPlatform):
    """FreeBSD 4 to 15 and systems built on it (OPNsense, pfSense, TrueNAS Core)."""

    name: ClassVar[str] = "freebsd"
    title: ClassVar[str] = "FreeBSD"
    uname: ClassVar[str | None] = "FreeBSD"
    banner_marks: ClassVar[tuple[str, ...]] = ("FreeBSD",)
    native_keys: ClassVar[Mapping[str, NativeKey]] = KEYS
    boot_kinds: ClassVar[Mapping[str, tuple[Loader, str, str]]] = {
        "sysctl-conf": ("sysctl", "rc.d/sysctl", SYSCTL_CONF),
        "loader-conf": ("loader", "loader", LOADER_CONF),
        "rc-conf": ("rc", "rc.conf", "/etc/rc.conf"),
    }
    memory_key: ClassVar[str] = "hw.physmem"
    maxima: ClassVar[frozenset[str]] = frozenset({SENDBUF_MAX, RECVBUF_MAX})

    @property
    def parsers(self) -> Sequence[Parser]:
        return (
            sysctl_parser(self.name, KEYS),
            NETSTAT_PARSER,
            sysctl_conf_parser(self.name, KEYS),
            *CONF_PARSERS,
            *host_parsers(self.name, "FreeBSD"),
            KLDSTAT_PARSER,
        )

    def keys(self, facts: Facts | None) -> Mapping[str, Key]:
        return keys_for(facts)

    def probe_script(self, request: ProbeRequest) -> str:
        return probe_body(request.nonce, request.peer)

    def find(self, facts: Facts, boot: BootFiles) -> tuple[Finding, ...]:
        return findings_of(facts, boot)

    def release(self, numbers: Mapping[str, int], text: str) -> tuple[int, ...] | None:
        if "kern.osreldate" in numbers:
            return osreldate_release(numbers["kern.osreldate"])
        return release_of(text)

    def confined(self, numbers: Mapping[str, int]) -> str | None:
        if numbers.get("security.jail.jailed") != 1:
            return None
        return "vnet jail" if numbers.get("security.jail.vnet") == 1 else "jail"

    def details(self, sections: Sequence[Section]) -> dict[str, Json]:
        """``netstat_m``: the groups; ``netstat_m_error``: why there are none; ``modules``: kldstat."""
        found: dict[str, Json] = {}
        for section in sections:
            if section.kind == "netstat-m":
                parsed = parse_netstat_m(section.text)
                if any(value is not None for value in parsed.values.values()):
                    found["netstat_m"] = dict(parsed.values)
                else:
                    found["netstat_m_error"] = _first_line(section.errors, section.text)
            elif section.kind == "kldstat":
                found["modules"] = list(parse_kldstat(section.text).values)
        return found

    def profile_context(self, facts: Facts | None) -> ProfileContext:
        memory = facts.memory_bytes if facts is not None else TYPICAL_MEMORY_BYTES
        return ProfileContext(
            inputs={
                **({} if memory is None else {"memory_bytes": memory}),
                "overhead": 1.0,  # a socket buffer counts payload: all of it is window
                "socket_buffer_ratio": 1.125,  # kern.ipc.maxsockbuf for a buffer of 1
                "page_bytes": 4096,
            },
            stock=stock_values(facts.release if facts is not None else CURRENT),
            stock_source=SOURCE,
            assumed_release="" if facts is not None else f"FreeBSD {'.'.join(map(str, CURRENT))}",
        )

    def set_command(self, key: str, raw: str) -> str:
        """An algorithm is loaded before it is chosen where it is not there yet: which one is a module
        and which one the kernel holds differs by release.
        """
        command = super().set_command(key, raw)
        if key != CC_ALGORITHM or not _ALGORITHM.fullmatch(raw):
            return command
        return f"sysctl -n {CC_AVAILABLE} | grep -qw {raw} || kldload cc_{raw}; {command}"

    def persist_target(self, key: str) -> str | None:
        known = KEYS.get(key)
        if _LOAD.fullmatch(key) or (known is not None and known.when == "loader"):
            return LOADER_CONF
        return None if known is not None and known.when == "read" else SYSCTL_CONF

    def write_order(self, key: str) -> int:
        return _ALGORITHM_RANK if key == CC_ALGORITHM else super().write_order(key)

    def render(
        self,
        values: Mapping[str, str],
        style: RenderStyle,
        header: Sequence[str],
        stays: Mapping[str, Stays] = MappingProxyType({}),
    ) -> str:
        """A script, or lines for sysctl.conf; what only the loader can set stands below as comments."""
        ordered = self.in_write_order(values)
        loader = {key: raw for key, raw in ordered if self.persist_target(key) == LOADER_CONF}
        algorithm = values.get(CC_ALGORITHM)
        if algorithm is not None and algorithm not in BUILT_IN_CC and _ALGORITHM.fullmatch(algorithm):
            loader[f"cc_{algorithm}_load"] = "YES"
        running = [(key, raw) for key, raw in ordered if key not in loader]
        if style == "script":
            lines = ["#!/bin/sh", *comments(header), *self.careful_commands(running, stays)]
        else:
            lines = [*comments([*header, SYSCTL_CONF]), *conf_lines(running, stays)]
        if loader:
            lines += comments([f"{LOADER_CONF}, read at boot, must have:", *_loader_lines(loader)])
        return "\n".join(lines) + "\n"


def _loader_lines(loader: Mapping[str, str]) -> list[str]:
    lines = [conf_line(key, raw).partition("=") for key, raw in loader.items()]
    return [f'{key}="{value}"' for key, _, value in lines]


def _first_line(*texts: str) -> str:
    lines = (line.strip() for text in texts for line in text.splitlines())
    return next((line[:200] for line in lines if line), "netstat printed nothing")
