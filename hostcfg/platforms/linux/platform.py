"""Linux as a platform: the contract's methods, each of which is a file of this folder."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, ClassVar

from hostcfg.platforms.base import Platform
from hostcfg.platforms.framing import sh_done
from hostcfg.platforms.linux import write
from hostcfg.platforms.linux.assemble import assemble
from hostcfg.platforms.linux.findings import findings_of
from hostcfg.platforms.linux.keys import linux_keys
from hostcfg.platforms.linux.probe import probe_body
from hostcfg.platforms.linux.stock import linux_context
from hostcfg.platforms.linux.view import linux_parsers, view_of
from hostcfg.transports.base import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Finding, Section
    from hostcfg.platforms.base import Key, Parser, ProbeRequest, ProfileContext, RenderStyle

_ENVIRONMENT = (
    "LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin; export PATH\n"
)


class LinuxPlatform(Platform):
    """Any Linux from 2.6.32 on, with procps, busybox or no sysctl at all."""

    name: ClassVar[str] = "linux"
    title: ClassVar[str] = "Linux"
    uname: ClassVar[str | None] = "Linux"

    @property
    def parsers(self) -> Sequence[Parser]:
        return tuple(linux_parsers().values())

    def keys(self, facts: Facts | None) -> Mapping[str, Key]:
        return linux_keys(facts)

    def probe(self, request: ProbeRequest) -> Command:
        return Command.sh(_ENVIRONMENT + probe_body(request) + sh_done(request.nonce))

    def probe_script(self, request: ProbeRequest) -> str | None:
        return probe_body(request)

    def assemble(self, host: str, sections: Sequence[Section]) -> Facts:
        return assemble(host, sections)

    def findings(self, facts: Facts) -> Sequence[Finding]:
        return findings_of(facts, view_of(facts.host, facts.sections))

    def profile_context(self, facts: Facts | None) -> ProfileContext:
        return linux_context(facts)

    def socket_statistics_command(self, address: str) -> Command:
        return Command.sh(f"LC_ALL=C ss -tin dst {quote(address)}")

    def set_command(self, key: str, raw: str) -> str:
        return write.set_command(key, raw)

    def persist_target(self, key: str) -> str | None:
        return write.persist_target(key)

    def write_order(self, key: str) -> int:
        return write.write_order(key)

    def render(self, values: Mapping[str, str], style: RenderStyle, header: Sequence[str]) -> str:
        return write.render(values, style, header)
