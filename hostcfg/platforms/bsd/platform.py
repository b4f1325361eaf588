"""What FreeBSD and macOS do alike as platforms: facts from sections, commands from values."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from hostcfg.model import Facts
from hostcfg.platforms.base import Platform
from hostcfg.platforms.bsd.assembly import boot_files, integer_values, natives_of, readings_of
from hostcfg.platforms.bsd.commands import sysctl_command
from hostcfg.platforms.bsd.hostinfo import interfaces_of, parse_ifconfig, parse_route_get, parse_uname
from hostcfg.platforms.bsd.lockout import FIRST_BUFFERS, MAXSOCKBUF, lockout_risk_of_texts
from hostcfg.platforms.framing import sh_probe
from hostcfg.platforms.posix.stays import unless_it_stays
from hostcfg.transports.base import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hostcfg.model import Finding, Interface, Json, Native, Section
    from hostcfg.platforms.base import ProbeRequest, Stays
    from hostcfg.platforms.bsd.assembly import BootFiles
    from hostcfg.platforms.bsd.conf import Loader
    from hostcfg.platforms.bsd.values import NativeKey

CAP_RANK, MAXIMUM_RANK, FIRST_BUFFER_RANK, OTHER_RANK = 0, 20, 30, 10
"""Order of writes that raise: the cap before the maxima, and the first buffers last."""


class BsdPlatform(Platform):
    """A platform whose values are sysctl(8)'s and whose boot files are sysctl.conf(5)'s."""

    kernel: ClassVar[str] = ""  # what its release counts, where that is not the system itself
    native_keys: ClassVar[Mapping[str, NativeKey]]
    boot_kinds: ClassVar[Mapping[str, tuple[Loader, str, str]]]  # section kind -> syntax, loader, path
    memory_key: ClassVar[str]
    maxima: ClassVar[frozenset[str]]  # keys that kern.ipc.maxsockbuf caps

    @abstractmethod
    def find(self, facts: Facts, boot: BootFiles) -> tuple[Finding, ...]:
        """Findings, most serious first."""

    @abstractmethod
    def release(self, numbers: Mapping[str, int], text: str) -> tuple[int, ...] | None:
        """The version tuple, from integers that were read or from the text of the release."""

    @abstractmethod
    def probe_script(self, request: ProbeRequest) -> str:
        """The sections of this OS as sh text."""

    def confined(self, numbers: Mapping[str, int]) -> str | None:
        """What limits our view of the host; None: nothing known."""
        del numbers
        return None

    def details(self, sections: Sequence[Section]) -> dict[str, Json]:
        """What only this platform understands."""
        del sections
        return {}

    def probe(self, request: ProbeRequest) -> Command:
        sections = sh_probe(request.nonce, self.probe_script(request) or "")
        return Command.sh(f"LC_ALL=C; export LC_ALL\n{sections}")

    def assemble(self, host: str, sections: Sequence[Section]) -> Facts:
        native = natives_of(self.native_keys, sections)
        numbers = integer_values(native, self.native_keys)
        release = self._release_text(sections, native)
        boot = boot_files(sections, self.boot_kinds)
        facts = Facts(
            host=host,
            os=self.name,
            os_version=f"{self.kernel or self.title} {release}" if release else "",
            release=self.release(numbers, release),
            readings={},
            native=native,
            interfaces=self._interfaces(sections),
            memory_bytes=numbers.get(self.memory_key),
            confined=self.confined(numbers),
            boot=boot.values,
            details=self.details(sections),
            sections=tuple(sections),
        )
        facts = replace(facts, readings=readings_of(self.keys(facts), native))
        return replace(facts, findings=self.find(facts, boot))

    def findings(self, facts: Facts) -> Sequence[Finding]:
        return self.find(facts, boot_files(facts.sections, self.boot_kinds))

    def set_command(self, key: str, raw: str) -> str:
        return sysctl_command(key, raw)

    def write_order(self, key: str) -> int:
        if key == MAXSOCKBUF:
            return CAP_RANK
        if key in FIRST_BUFFERS:
            return FIRST_BUFFER_RANK
        return MAXIMUM_RANK if key in self.maxima else OTHER_RANK

    def lockout_risk(self, values: Mapping[str, str]) -> str | None:
        return lockout_risk_of_texts(values)

    def plan_hazards(self, facts: Facts, native_after: Mapping[str, str]) -> Sequence[str]:
        del facts
        risk = self.lockout_risk(native_after)
        return () if risk is None else (risk,)

    def in_write_order(self, values: Mapping[str, str]) -> list[tuple[str, str]]:
        """Pairs in the order in which they may be written when they raise values."""
        return sorted(values.items(), key=lambda item: self.write_order(item[0]))

    def careful_commands(
        self, ordered: Iterable[tuple[str, str]], stays: Mapping[str, Stays]
    ) -> Iterator[str]:
        """The commands that set ``ordered``, each behind a look at what may stay."""
        for key, raw in ordered:
            yield unless_it_stays(f"sysctl -n {key}", self.set_command(key, raw), stays.get(key))

    def _release_text(self, sections: Sequence[Section], native: Mapping[str, Native]) -> str:
        """``14.2-RELEASE`` as uname or the kernel says it; "" where neither was asked."""
        for section in sections:
            if section.kind == "uname":
                found = parse_uname(self.name, section.text).values.get("release")
                if isinstance(found, str):
                    return found
        kernel = native.get("kern.osrelease")
        return kernel.raw.strip() if kernel is not None and kernel.raw is not None else ""

    def _interfaces(self, sections: Sequence[Section]) -> tuple[Interface, ...]:
        """Those with a route that was asked for; without one all but the loopback."""
        routes: dict[str, str] = {}
        for section in sections:
            if section.kind == "route-get":
                for target, name in parse_route_get(self.name, section.text).values.items():
                    word = "default" if target == "default" else "peer"
                    routes[str(name)] = " ".join(dict.fromkeys([*routes.get(str(name), "").split(), word]))
        found: dict[str, Interface] = {}
        for section in sections:
            if section.kind == "ifconfig":
                parsed = parse_ifconfig(self.name, section.text)
                found |= {interface.name: interface for interface in interfaces_of(parsed, routes)}
        return tuple(found.values())
