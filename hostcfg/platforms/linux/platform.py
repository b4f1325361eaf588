"""Linux as a platform: the contract's methods, each of which is a file of this folder.

The files are imported where they are used: a text to recognise needs none of them, a profile to render few.
"""

from __future__ import annotations

from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from hostcfg.platforms.base import Platform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Finding, Section
    from hostcfg.platforms.base import Key, Parser, ProbeRequest, ProfileContext, RenderStyle, Stays
    from hostcfg.transports.base import Command

_ENVIRONMENT = (
    "LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin; export PATH\n"
)


class LinuxPlatform(Platform):
    """Any Linux from 2.6.32 on, with procps, busybox or no sysctl at all."""

    name: ClassVar[str] = "linux"
    title: ClassVar[str] = "Linux"
    uname: ClassVar[str | None] = "Linux"
    unused: ClassVar[frozenset[str]] = frozenset(
        {"ethtool-a", "ethtool-c", "ethtool-g", "ethtool-i", "ss", "proc-read"}
    )

    @property
    def parsers(self) -> Sequence[Parser]:
        from hostcfg.platforms.linux.parsers import PARSERS

        return PARSERS

    def keys(self, facts: Facts | None) -> Mapping[str, Key]:
        from hostcfg.platforms.linux.keys import linux_keys

        return linux_keys(facts)

    def probe(self, request: ProbeRequest) -> Command:
        from hostcfg.platforms.framing import sh_probe
        from hostcfg.platforms.linux.probe import probe_body
        from hostcfg.transports.base import Command

        return Command.sh(_ENVIRONMENT + sh_probe(request.nonce, probe_body(request)))

    def probe_script(self, request: ProbeRequest) -> str | None:
        from hostcfg.platforms.linux.probe import probe_body

        return probe_body(request)

    def assemble(self, host: str, sections: Sequence[Section]) -> Facts:
        from hostcfg.platforms.linux.assemble import assemble

        return assemble(host, sections)

    def findings(self, facts: Facts) -> Sequence[Finding]:
        from hostcfg.platforms.linux.findings import findings_of
        from hostcfg.platforms.linux.view import view_of

        return findings_of(facts, view_of(facts.host, facts.sections))

    def profile_context(self, facts: Facts | None) -> ProfileContext:
        from hostcfg.platforms.linux.stock import linux_context

        return linux_context(facts)

    def socket_statistics_command(self, address: str) -> Command:
        from hostcfg.transports.base import Command

        return Command.sh(f"LC_ALL=C ss -tin dst {quote(address)}")

    def set_command(self, key: str, raw: str) -> str:
        from hostcfg.platforms.linux import write

        return write.set_command(key, raw)

    def persist_target(self, key: str) -> str | None:
        from hostcfg.platforms.linux import write

        return write.persist_target(key)

    def write_order(self, key: str) -> int:
        from hostcfg.platforms.linux import write

        return write.write_order(key)

    def render(
        self,
        values: Mapping[str, str],
        style: RenderStyle,
        header: Sequence[str],
        stays: Mapping[str, Stays] = MappingProxyType({}),
    ) -> str:
        from hostcfg.platforms.linux import write

        return write.render(values, style, header, stays)
