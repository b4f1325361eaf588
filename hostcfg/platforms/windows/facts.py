"""From sections, probed or pasted, to facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import BootValue, Facts, Interface, Native, Reading, State
from hostcfg.platforms.windows import netsh_ip, netsh_tcp, release
from hostcfg.platforms.windows.fields import GLOBAL
from hostcfg.platforms.windows.keys import (
    LEVEL_KEY,
    LEVEL_WINDOW_BYTES,
    Situation,
    available_algorithms,
    settings_keys,
)
from hostcfg.platforms.windows.outputs import native_keys, parse_sections, situation_of
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Json, Section
    from hostcfg.platforms.base import Key
    from hostcfg.platforms.windows.outputs import Outputs


def assemble(host_name: str, sections: Sequence[Section]) -> Facts:
    """Facts without findings (the platform adds them)."""
    outputs = parse_sections(sections)
    situation = situation_of(outputs)
    native = native_keys(outputs, situation)
    details = _details(outputs, situation)
    level = _policy_level(details)
    return Facts(
        host=host_name,
        os="windows",
        os_version=_version(outputs, situation),
        release=_release(outputs),
        readings=_readings(settings_keys(situation), native, situation, level),
        native=native,
        interfaces=_interfaces(outputs),
        boot=_boot(outputs),
        details=details,
        sections=tuple(sections),
    )


def _release(outputs: Outputs) -> tuple[int, ...] | None:
    version = outputs.values("windows-release").get("version")
    return release.version_tuple(version) if isinstance(version, str) else None


def _version(outputs: Outputs, situation: Situation) -> str:
    values = outputs.values("windows-release")
    version, product, build = values.get("version"), values.get("product"), values.get("build")
    if not isinstance(product, str) and isinstance(build, int):
        product = release.product_name(build, server=situation.server)
    if isinstance(product, str):
        product = product.removeprefix("Microsoft ")
        return f"{product} ({version})" if isinstance(version, str) else product
    return ""


# -- readings ---------------------------------------------------------------------------------------


def _readings(
    keys: Mapping[str, Key], native: Mapping[str, Native], situation: Situation, policy_level: str | None
) -> dict[str, Reading]:
    readings = {name: _reading(name, keys[name], native) for name in SETTINGS if name in keys}
    if policy_level is not None:
        source = "Get-NetTCPSetting AutoTuningLevelGroupPolicy"
        for name, key in keys.items():
            if key.name == LEVEL_KEY:
                readings[name] = Reading(
                    name, key.decode(policy_level), State.VALUE, key.name, key.element, source
                )
    algorithms = available_algorithms(situation)
    name = "congestion_control_available"
    if algorithms is not None:
        source = f"netsh's providers in build {situation.build}"
        readings[name] = Reading(name, algorithms, State.VALUE, source=source)
    return readings


def _reading(name: str, key: Key, native: Mapping[str, Native]) -> Reading:
    found = native.get(key.name, Native(key.name, None, State.ABSENT))
    if found.raw is None:
        return Reading(name, None, found.state, key.name, key.element, found.source)
    try:
        value = key.decode(found.raw)
    except ValueError:
        return Reading(name, None, State.UNPARSED, key.name, key.element, found.source)
    return Reading(name, value, State.VALUE, key.name, key.element, found.source)


def _policy_level(details: Mapping[str, Json]) -> str | None:
    """The level that group policy enforces, where it does."""
    level = details.get("autotuning_level_group_policy")
    enforced = details.get("autotuning_level_effective") == "grouppolicy"
    return level if enforced and isinstance(level, str) and level in LEVEL_WINDOW_BYTES else None


# -- the rest ---------------------------------------------------------------------------------------


def _details(outputs: Outputs, situation: Situation) -> dict[str, Json]:
    """What only this platform understands; findings and keys read it."""
    tcp = outputs.values("get-nettcpsetting")
    policy = tcp.get(f"{situation.template}.auto_tuning_level_group_policy")
    effective = tcp.get(f"{situation.template}.auto_tuning_level_effective")
    positions = [
        note.removeprefix(netsh_tcp.POSITION_NOTE)
        for parsed in outputs.parsed.values()
        for note in parsed.notes
        if note.startswith(netsh_tcp.POSITION_NOTE)
    ]
    details: dict[str, Json] = {
        "build": situation.build,
        "server": situation.server,
        "template": situation.template,
        "default_template": outputs.values("netsh-tcp-supplemental").get("default_template"),
        "global_provider": situation.global_provider,
        "heuristics_override": outputs.values("netsh-tcp-global").get("heuristics_override_note") is True,
        "autotuning_level_group_policy": policy,
        "autotuning_level_effective": effective,
        "elevated": outputs.values("whoami-groups").get("elevated"),
        "code_page": outputs.values("chcp").get("code_page"),
        "offload": dict(outputs.values("get-netoffloadglobalsetting")),
        "by_position": [*positions],
    }
    return details


def _boot(outputs: Outputs) -> tuple[BootValue, ...]:
    """What the next boot will bring: the persistent store's own table."""
    return tuple(
        BootValue(f"global.{GLOBAL.by_key[key].parameter}", str(value), "netsh persistent store", 0, "tcpip")
        for key, value in outputs.values("netsh-tcp-global-persistent").items()
        if key in GLOBAL.by_key
    )


def _interfaces(outputs: Outputs) -> tuple[Interface, ...]:
    """Interfaces with the default route or the route to the peer; without routes, all that are up."""
    connected = (r for r in outputs.rows("netsh-interfaces", "interfaces") if r["state"] == "connected")
    mtus = {str(r["name"]): r["mtu"] for r in connected}
    mtus |= {str(r["interface"]): r["mtu"] for r in outputs.rows("netsh-subinterfaces", "subinterfaces")}
    adapters = {str(r["name"]): r for r in outputs.rows("get-netadapter", "adapters")}
    routes: dict[str, list[str]] = {}
    for kind, word in (("get-netroute", "default"), ("find-netroute", "peer")):
        for row in outputs.rows(kind, "routes"):
            routes.setdefault(str(row["name"]), [])
            if word not in routes[str(row["name"])]:
                routes[str(row["name"])].append(word)
    up = dict.fromkeys([*(name for name, mtu in mtus.items() if mtu != netsh_ip.NO_MTU), *adapters])
    names = list(routes) or list(up)
    return tuple(_interface(name, mtus, adapters, routes.get(name, [])) for name in names)


def _interface(
    name: str, mtus: Mapping[str, Json], adapters: Mapping[str, Mapping[str, Json]], routes: Sequence[str]
) -> Interface:
    adapter = adapters.get(name, {})
    mtu, speed = mtus.get(name, adapter.get("mtu")), adapter.get("speed_bps")
    driver = adapter.get("description")
    return Interface(
        name,
        mtu_bytes=mtu if isinstance(mtu, int) else None,
        speed_bps=speed if isinstance(speed, int) else None,
        driver=driver if isinstance(driver, str) else None,
        routes=tuple(routes),
    )
