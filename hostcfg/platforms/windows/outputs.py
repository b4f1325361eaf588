"""The sections of one host, parsed: which output carries which native key, and what the host is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostcfg.model import Native, State
from hostcfg.platforms.windows import (
    host,
    netsh_ip,
    netsh_set,
    netsh_tcp,
    powershell,
    powershell_errors,
    release,
)
from hostcfg.platforms.windows.fields import GLOBAL, HEURISTICS, SUPPLEMENTAL
from hostcfg.platforms.windows.keys import BUILD_8, Situation, settings_keys
from hostcfg.platforms.windows.messages import DENIED_KINDS, error_kind
from hostcfg.platforms.windows.usage import is_usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Json, Parsed, Section
    from hostcfg.platforms.windows.fields import Table

PARSERS = (
    *netsh_tcp.PARSERS,
    *netsh_ip.PARSERS,
    *netsh_set.PARSERS,
    *powershell.PARSERS,
    *powershell_errors.PARSERS,
    *release.PARSERS,
    *host.PARSERS,
)
MISSING_KINDS = frozenset({"command_not_found", "invalid_argument", "invalid_syntax"})
"""Answers of a release that has no such command: its keys are absent, and not unreadable."""

_BY_KIND = {parser.kind: parser for parser in PARSERS}

_ERA_BUILDS = (6000, 7600, 9200, 9600, 14393, 15063, 16299, 17763, 19041)
"""First build of each era of ``show global``, in the order of GLOBAL.eras."""

_TEMPLATE_PARAMETERS = {
    "min_rto_ms": "minrto",
    "initial_congestion_window_mss": "icw",
    "congestion_provider": "congestionprovider",
    "cwnd_restart": "enablecwndrestart",
    "delayed_ack_timeout_ms": "delayedacktimeout",
    "delayed_ack_frequency": "delayedackfrequency",
}
"""Properties of Get-NetTCPSetting by netsh's parameter in ``set supplemental``."""

_GLOBAL_PARAMETERS = {
    "auto_tuning_level_local": "global.autotuninglevel",
    "ecn_capability": "global.ecncapability",
    "timestamps": "global.timestamps",
    "initial_rto_ms": "global.initialrto",
    "non_sack_rtt_resiliency": "global.nonsackrttresiliency",
    "max_syn_retransmissions": "global.maxsynretransmissions",
    "scaling_heuristics": "heuristics.wsh",
    "force_ws": "heuristics.forcews",
}
"""Properties that are the same in all templates: netsh has them once."""


@dataclass
class Outputs:
    """All sections of one host, parsed; the last one of a kind that holds values wins."""

    parsed: dict[str, Parsed] = field(default_factory=dict)
    failed: dict[str, State] = field(default_factory=dict)  # kinds that gave no values, and why

    def values(self, kind: str) -> Mapping[str, Json]:
        """Values of a kind, empty where there are none."""
        found = self.parsed.get(kind)
        return found.values if found is not None else {}

    def rows(self, kind: str, name: str) -> list[dict[str, Json]]:
        """The rows of a table of a kind."""
        rows = self.values(kind).get(name)
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def parse_sections(sections: Sequence[Section]) -> Outputs:
    """Every section by its kind's parser; a kind without values is remembered with its reason."""
    outputs = Outputs()
    for section in sections:
        parser = _BY_KIND.get(section.kind)
        if parser is None:
            continue
        parsed = parser.parse(section.text)
        if parsed.values:
            outputs.parsed[section.kind] = parsed
        elif section.text.strip() and not is_usage(section.text):
            kind = error_kind(f"{section.text[:4096]} {section.errors[:4096]}")
            if kind not in MISSING_KINDS:
                outputs.failed[section.kind] = State.DENIED if kind in DENIED_KINDS else State.UNPARSED
    return outputs


# -- what this host is ------------------------------------------------------------------------------


def situation_of(outputs: Outputs) -> Situation:
    """Build, edition and template in use, as far as the outputs say them."""
    build = outputs.values("windows-release").get("build")
    if not isinstance(build, int):
        rows = tuple(key for key in outputs.values("netsh-tcp-global") if key in GLOBAL.by_key)
        build = next(
            (b for b, era in zip(_ERA_BUILDS, GLOBAL.eras, strict=True) if set(rows) == set(era)), None
        )
    old = build < BUILD_8 if build is not None else False
    return Situation(build, _server(outputs), _template(outputs), old)


def _server(outputs: Outputs) -> bool | None:
    for kind in ("windows-product-type", "windows-release"):
        server = outputs.values(kind).get("server")
        if isinstance(server, bool):
            return server
    build = outputs.values("windows-release").get("build")
    return release.is_server_build(build) if isinstance(build, int) else None


def _template(outputs: Outputs) -> str:
    """The template of connections over a WAN: ``automatic`` takes internet above 10 ms of RTT."""
    shown = outputs.values("netsh-tcp-supplemental").get("default_template")
    return str(shown) if shown not in (None, "automatic") else "internet"


def situation_of_details(details: Mapping[str, Json]) -> Situation:
    """The situation that :func:`assemble` stored in a host's details."""
    build, server, template = details.get("build"), details.get("server"), details.get("template")
    return Situation(
        build if isinstance(build, int) else None,
        server if isinstance(server, bool) else None,
        template if isinstance(template, str) else "internet",
        details.get("global_provider") is True,
    )


# -- native keys ------------------------------------------------------------------------------------


def native_keys(outputs: Outputs, situation: Situation) -> dict[str, Native]:
    """Every native key that the outputs hold, under netsh's names."""
    native = _from_powershell(outputs)
    native |= _from_table(outputs, "netsh-tcp-global", GLOBAL, "global")
    native |= _from_table(outputs, "netsh-tcp-heuristics", HEURISTICS, "heuristics")
    native |= _supplemental(outputs)
    ports = outputs.values("netsh-dynamicport")
    if "start_port" in ports and "number_of_ports" in ports:
        raw = f"start={ports['start_port']} num={ports['number_of_ports']}"
        key = f"dynamicport.{ports.get('protocol') or 'tcp'}"
        native[key] = Native(key, raw, source="netsh interface ipv4 show dynamicport")
    for row in outputs.rows("netsh-subinterfaces", "subinterfaces"):
        key = f"subinterface/{row['interface']}.mtu"
        native[key] = Native(key, str(row["mtu"]), source=outputs.parsed["netsh-subinterfaces"].command)
    return _with_failures(native, outputs, situation)


def _supplemental(outputs: Outputs) -> dict[str, Native]:
    """Rows belong to the template that was asked for, else to the one in use; automatic has none."""
    kind = "netsh-tcp-supplemental"
    internet = f"{kind}-internet"
    found = _from_table(outputs, internet, SUPPLEMENTAL, "supplemental.internet")
    if kind not in outputs.parsed:
        return found
    shown, command = outputs.values(kind).get("default_template"), outputs.parsed[kind].command
    template = command.partition("template=")[2] or shown
    if isinstance(template, str) and template != "automatic":
        found |= _from_table(outputs, kind, SUPPLEMENTAL, f"supplemental.{template}")
    if isinstance(shown, str):
        found["supplemental.template"] = Native("supplemental.template", shown, source=command)
    return found


def _from_table(outputs: Outputs, kind: str, table: Table, prefix: str) -> dict[str, Native]:
    found: dict[str, Native] = {}
    for key, value in outputs.values(kind).items():
        known = table.by_key.get(key)
        if known is not None:
            name = f"{prefix}.{known.parameter}"
            found[name] = Native(name, str(value), source=outputs.parsed[kind].command)
    return found


def _from_powershell(outputs: Outputs) -> dict[str, Native]:
    found: dict[str, Native] = {}
    source = "Get-NetTCPSetting"
    for full, value in outputs.values("get-nettcpsetting").items():
        template, _, name = full.rpartition(".")
        if value is None or not template:
            continue
        raw = ("enabled" if value else "disabled") if isinstance(value, bool) else str(value)
        if name in _TEMPLATE_PARAMETERS:
            key = f"supplemental.{template}.{_TEMPLATE_PARAMETERS[name]}"
            found[key] = Native(key, raw, source=source)
        elif name in _GLOBAL_PARAMETERS:
            key = _GLOBAL_PARAMETERS[name]
            found.setdefault(key, Native(key, raw, source=source))
    return found


def _with_failures(native: dict[str, Native], outputs: Outputs, situation: Situation) -> dict[str, Native]:
    """Keys whose output was there and held no table: denied or unparsed, never just missing."""
    wanted = {
        "netsh-tcp-global": ("global.", "netsh interface tcp show global"),
        "netsh-tcp-heuristics": ("heuristics.", "netsh interface tcp show heuristics"),
        "netsh-tcp-supplemental": ("supplemental.", "netsh interface tcp show supplemental"),
    }
    for key in settings_keys(situation).values():
        for kind, (prefix, source) in wanted.items():
            if key.name.startswith(prefix) and kind in outputs.failed and key.name not in native:
                native[key.name] = Native(key.name, None, outputs.failed[kind], source)
    return native
