"""What is true of a Windows host and no difference to a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Finding
from hostcfg.platforms.windows.keys import BUILD_8, LEVEL_KEY, LEVEL_WINDOW_BYTES, algorithm, provider_key
from hostcfg.platforms.windows.outputs import situation_of_details

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostcfg.model import Facts

BUILD_24H2 = 26100
BUILD_1809 = 17763
_RANK = {"error": 0, "warning": 1, "info": 2}


def findings(facts: Facts) -> Sequence[Finding]:
    """All findings, most serious first."""
    found = [
        *_level(facts),
        *_heuristics(facts),
        *_provider(facts),
        *_deprecated(facts),
        *_language(facts),
        *_rights(facts),
        *_boot(facts),
    ]
    return tuple(sorted(found, key=lambda finding: _RANK[finding.severity]))


def _raw(facts: Facts, key: str) -> str | None:
    native = facts.native.get(key)
    return native.raw if native is not None else None


def _level(facts: Facts) -> Iterator[Finding]:
    local, policy = _raw(facts, LEVEL_KEY), facts.details.get("autotuning_level_group_policy")
    if facts.details.get("autotuning_level_effective") == "grouppolicy":
        window = LEVEL_WINDOW_BYTES.get(str(policy))
        allows = f", which allows a window of {window:,} bytes" if window is not None else ""
        yield Finding(
            "group_policy_override",
            "warning",
            f"group policy sets the autotuning level to {policy}{allows}; the local level {local} and any "
            "netsh set of it have no effect until the policy goes",
            (LEVEL_KEY,),
        )
    if local == "experimental":
        yield Finding(
            "experimental_level",
            "warning",
            "autotuning level experimental offers a scale factor of 14, which some firewalls and servers "
            "do not take; Microsoft advises it for tests only, normal already allows 16 MiB",
            (LEVEL_KEY,),
        )
    if _raw(facts, "global.timestamps") == "allowed":
        yield Finding(
            "timestamps_allowed",
            "info",
            "timestamps are in use only where the other end asks for them (allowed)",
            ("global.timestamps",),
        )


def _heuristics(facts: Facts) -> Iterator[Finding]:
    if facts.details.get("heuristics_override"):
        yield Finding(
            "heuristics_override",
            "warning",
            "the window-scaling heuristics override the autotuning level on at least one network profile: "
            "the level shown is theirs; netsh interface tcp set heuristics wsh=disabled gives it back",
            (LEVEL_KEY, "heuristics.wsh"),
        )
    elif _raw(facts, "heuristics.wsh") == "enabled":
        yield Finding(
            "heuristics_enabled",
            "warning",
            "the window-scaling heuristics are on: Windows may restrict the window by itself, and on "
            "Windows 8 the level shown does not tell",
            ("heuristics.wsh", LEVEL_KEY),
        )


def _provider(facts: Facts) -> Iterator[Finding]:
    situation = situation_of_details(facts.details)
    key = provider_key(situation)
    raw = _raw(facts, key)
    if raw is None:
        return
    if raw == "bbr2" and (situation.build is None or situation.build >= BUILD_24H2):
        yield Finding(
            "bbr2_loopback",
            "warning",
            "bbr2 breaks connections over the loopback on Windows 11 24H2; use cubic",
            (key,),
        )
    try:
        name = algorithm(raw, situation=situation)
    except ValueError:
        yield Finding(
            "provider_unknown",
            "info",
            f"the provider is {raw!r}, which stands for an algorithm that depends on release and edition; "
            "add the output of ver and systeminfo",
            (key,),
        )
        return
    if situation.global_provider:
        return
    yield Finding("template_provider", "info", _template_words(facts, situation.template, name), (key,))


def _template_words(facts: Facts, template: str, name: str) -> str:
    shown = facts.details.get("default_template")
    if shown == "automatic":
        inner = _raw(facts, "supplemental.datacenter.congestionprovider")
        below = f", below that the datacenter template with {inner}" if inner is not None else ""
        return f"connections with an RTT above 10 ms use the {template} template, which runs {name}{below}"
    words = f"the template in use is {template}, which runs {name}"
    if name == "dctcp":
        words += "; DCTCP is for data centers whose switches mark with ECN and starves on a WAN"
    return words


def _deprecated(facts: Facts) -> Iterator[Finding]:
    situation = situation_of_details(facts.details)
    shown = _raw(facts, "global.congestionprovider")
    if not situation.global_provider and shown not in (None, "default", "none"):
        yield Finding(
            "deprecated_setting",
            "info",
            f"global congestionprovider={shown} has no effect from Windows 8 and Server 2012 on; the "
            "template's provider counts",
            ("global.congestionprovider",),
        )
    gone = {"global.chimney": "TCP chimney offload", "global.netdma": "NetDMA"}
    for key, name in gone.items():
        if _raw(facts, key) in {"enabled", "automatic"} and (situation.build or 0) >= BUILD_8:
            late = situation.build is not None and situation.build >= BUILD_1809
            reason = "is rejected from 1809 and Server 2019 on" if late else "is deprecated: disable it"
            yield Finding("deprecated_setting", "info", f"{name} is on; it {reason}", (key,))


def _language(facts: Facts) -> Iterator[Finding]:
    labels = facts.details.get("by_position")
    if isinstance(labels, list) and labels:
        yield Finding(
            "mapped_by_position",
            "warning",
            "netsh answered in a language that hostcfg has no words for; these rows were told by their "
            f"order and values: {', '.join(map(str, labels))}",
        )


def _rights(facts: Facts) -> Iterator[Finding]:
    if facts.details.get("elevated") is False:
        yield Finding(
            "not_elevated",
            "info",
            "this login is not elevated: it can read everything, but netsh will set nothing",
        )


def _boot(facts: Facts) -> Iterator[Finding]:
    other = [b for b in facts.boot if _raw(facts, b.key) not in (None, b.raw)]
    if other:
        shown = ", ".join(f"{b.key} {_raw(facts, b.key)} now, {b.raw} after a boot" for b in other)
        keys = tuple(b.key for b in other)
        yield Finding("boot_differs", "warning", f"the persistent store holds other values: {shown}", keys)
