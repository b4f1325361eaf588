"""Sections and facts of FreeBSD hosts, made from recorded text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Facts, Section
from hostcfg.platforms.freebsd import PLATFORM
from tests.freebsd.sessions import record

if TYPE_CHECKING:
    from collections.abc import Mapping

STOCK = {
    "kern.osreldate": "1402000",
    "kern.osrelease": "14.2-RELEASE",
    "hw.physmem": "2068140032",
    "security.jail.jailed": "0",
    "security.jail.vnet": "0",
    "kern.ipc.maxsockbuf": "2097152",
    "net.inet.tcp.sendspace": "32768",
    "net.inet.tcp.recvspace": "65536",
    "net.inet.tcp.sendbuf_max": "2097152",
    "net.inet.tcp.recvbuf_max": "2097152",
    "net.inet.tcp.rfc1323": "1",
    "net.inet.tcp.cc.algorithm": "cubic",
}
"""What 14.2 has as installed."""


def host(
    values: Mapping[str, str] | None = None,
    *,
    errors: str = "",
    netstat: str | None = None,
    sysctl_conf: str | None = None,
    loader_conf: str | None = None,
    rc_conf: str | None = None,
) -> Facts:
    """A 14.2 host with some values and files of its own."""
    text = "".join(f"{key}: {value}\n" for key, value in (STOCK | dict(values or {})).items())
    sections = [Section("sysctl", text, errors, 0)]
    for kind, content in (
        ("netstat-m", netstat),
        ("sysctl-conf", sysctl_conf),
        ("loader-conf", loader_conf),
        ("rc-conf", rc_conf),
    ):
        if content is not None:
            sections.append(Section(kind, content))
    return PLATFORM.assemble("files", sections)


def recorded_host() -> Facts:
    """The 14.2 host of the recorded sessions."""
    return PLATFORM.assemble(
        "fbsd142",
        [
            Section("sysctl", record("main", 15).stdout),
            Section("netstat-m", record("main", 175).stdout),
            Section("uname", record("main", 1).stdout),
            Section("route-get", record("main", 198).stdout),
            Section("ifconfig", record("main", 195).stdout),
            Section("kldstat", record("rack", 1).stdout),
        ],
    )


def kinds(facts: Facts) -> list[str]:
    return [finding.kind for finding in facts.findings]


def message(facts: Facts, kind: str) -> str:
    return next(finding.message for finding in facts.findings if finding.kind == kind)
