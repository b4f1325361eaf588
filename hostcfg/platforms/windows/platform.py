"""The Windows platform: see the other files of this folder for each part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.platforms.base import Platform
from hostcfg.platforms.windows import facts as windows_facts
from hostcfg.platforms.windows import findings as windows_findings
from hostcfg.platforms.windows import probe as windows_probe
from hostcfg.platforms.windows import stock, write
from hostcfg.platforms.windows.keys import Situation, settings_keys
from hostcfg.platforms.windows.outputs import PARSERS, situation_of_details

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Finding, Section
    from hostcfg.platforms.base import Key, Parser, ProbeRequest, ProfileContext, RenderStyle
    from hostcfg.transports.base import Command


class Windows(Platform):
    """Vista and Server 2008 to Windows 11 and Server 2025, over cmd.exe or PowerShell."""

    name = "windows"
    title = "Windows"
    banner_marks = ("OpenSSH_for_Windows",)

    @property
    def parsers(self) -> Sequence[Parser]:
        return PARSERS

    def keys(self, facts: Facts | None) -> Mapping[str, Key]:
        return settings_keys(_situation(facts))

    def probe(self, request: ProbeRequest) -> Command:
        return windows_probe.probe(request)

    def decode(self, data: bytes) -> str:
        return windows_probe.decode(data)

    def assemble(self, host: str, sections: Sequence[Section]) -> Facts:
        facts = windows_facts.assemble(host, sections)
        return replace(facts, findings=tuple(self.findings(facts)))

    def findings(self, facts: Facts) -> Sequence[Finding]:
        return windows_findings.findings(facts)

    def profile_context(self, facts: Facts | None) -> ProfileContext:
        return stock.profile_context(_situation(facts), facts.memory_bytes if facts else None)

    def set_command(self, key: str, raw: str) -> str:
        return write.set_command(key, raw)

    def persist_target(self, key: str) -> str | None:
        return write.persist_target(key)

    def write_order(self, key: str) -> int:
        return write.write_order(key)

    def render(self, values: Mapping[str, str], style: RenderStyle, header: Sequence[str]) -> str:
        return write.render(values, style, header)


def _situation(facts: Facts | None) -> Situation:
    if facts is None:
        return Situation(stock.CURRENT_BUILD, server=False)
    return situation_of_details(facts.details)


PLATFORM = Windows()
