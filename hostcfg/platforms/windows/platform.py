"""The Windows platform: see the other files of this folder for each part.

They are imported where they are used: a command that reads other systems does not pay for them.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from hostcfg.platforms.base import Platform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Finding, Section
    from hostcfg.platforms.base import Key, Parser, ProbeRequest, ProfileContext, RenderStyle, Stays
    from hostcfg.platforms.windows.keys import Situation
    from hostcfg.transports.base import Command


class Windows(Platform):
    """Vista and Server 2008 to Windows 11 and Server 2025, over cmd.exe or PowerShell."""

    name = "windows"
    title = "Windows"
    banner_marks = ("OpenSSH_for_Windows",)
    unused = frozenset({"netsh-chimneystats", "netsh-set", "set-nettcpsetting"})

    @property
    def parsers(self) -> Sequence[Parser]:
        from hostcfg.platforms.windows.outputs import PARSERS

        return PARSERS

    def keys(self, facts: Facts | None) -> Mapping[str, Key]:
        from hostcfg.platforms.windows.keys import settings_keys

        return settings_keys(_situation(facts))

    def probe(self, request: ProbeRequest) -> Command:
        from hostcfg.platforms.windows import probe

        return probe.probe(request)

    def decode(self, data: bytes) -> str:
        from hostcfg.platforms.windows import probe

        return probe.decode(data)

    def assemble(self, host: str, sections: Sequence[Section]) -> Facts:
        from hostcfg.platforms.windows import facts as windows_facts

        facts = windows_facts.assemble(host, sections)
        return replace(facts, findings=tuple(self.findings(facts)))

    def findings(self, facts: Facts) -> Sequence[Finding]:
        from hostcfg.platforms.windows import findings

        return findings.findings(facts)

    def profile_context(self, facts: Facts | None) -> ProfileContext:
        from hostcfg.platforms.windows import stock

        context = stock.profile_context(_situation(facts), facts.memory_bytes if facts else None)
        if facts is not None:
            return context
        return replace(context, assumed_release=f"Windows build {stock.CURRENT_BUILD}")

    def ping_command(self, address: str) -> Command:
        from hostcfg.transports.base import Command

        return Command(f"ping -n 4 {address}")

    def set_command(self, key: str, raw: str) -> str:
        from hostcfg.platforms.windows import write

        return write.set_command(key, raw)

    def persist_target(self, key: str) -> str | None:
        from hostcfg.platforms.windows import write

        return write.persist_target(key)

    def write_order(self, key: str) -> int:
        from hostcfg.platforms.windows import write

        return write.write_order(key)

    def render(
        self,
        values: Mapping[str, str],
        style: RenderStyle,
        header: Sequence[str],
        stays: Mapping[str, Stays] = MappingProxyType({}),
    ) -> str:
        from hostcfg.platforms.windows import write

        return write.render(values, style, header, stays)


def _situation(facts: Facts | None) -> Situation:
    from hostcfg.platforms.windows import stock
    from hostcfg.platforms.windows.keys import Situation
    from hostcfg.platforms.windows.outputs import situation_of_details

    if facts is None:
        return Situation(stock.CURRENT_BUILD, server=False)
    return situation_of_details(facts.details)


PLATFORM = Windows()
