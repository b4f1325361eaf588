"""Results to the documents of the contract (spec section 5): plain dicts, ready for JSON or YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import HostcfgError
from hostcfg.model import Plan, Reading, State
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.audit import DescribedProfile, ProfileAudit
    from hostcfg.compare import HostDifference
    from hostcfg.model import Difference, Facts, Finding, Interface, Json, Parsed, Value
    from hostcfg.profiles import Profile
    from hostcfg.reader import Outcome


def number(value: float) -> int | float:
    """``value`` without a fraction that is none: 187500.0 is 187500."""
    return int(value) if value == int(value) else value


def plain(value: Value | None) -> Json:
    """A typed value as JSON has it: a tuple is a list."""
    if isinstance(value, tuple):
        return list(value)
    return number(value) if isinstance(value, float) else value


def parse_document(parsed: Parsed, file: str | None = None) -> dict[str, Json]:
    """``hostcfg.parse/1``."""
    document: dict[str, Json] = {"schema": "hostcfg.parse/1"}
    if file is not None:
        document["file"] = file
    document |= {
        "os": parsed.os,
        "kind": parsed.kind,
        "command": parsed.command,
        "values": dict(parsed.values),
    }
    document |= {"notes": list(parsed.notes), "unrecognized": list(parsed.unrecognized)}
    return document | {k: v for k, v in parsed.extra.items() if k not in document}


def error_document(error: HostcfgError) -> dict[str, Json]:
    """``{"kind", "message"}`` as the contract has it for a host."""
    return {"kind": error.kind, "message": str(error)}


def show_document(outcomes: Sequence[Outcome]) -> dict[str, Json]:
    """``hostcfg.show/1``."""
    return {"schema": "hostcfg.show/1", "hosts": [_show_host(outcome) for outcome in outcomes]}


def _show_host(outcome: Outcome) -> dict[str, Json]:
    facts = outcome.facts
    if facts is None:
        return {
            "host": outcome.spec.name,
            "os": None,
            "os_version": None,
            "status": "error",
            "error": error_document(outcome.error or HostcfgError("no facts")),
            "settings": {},
            "native": {},
            "findings": [],
        }
    return {
        "host": facts.host,
        "os": facts.os,
        "os_version": facts.os_version or None,
        "status": "ok",
        "error": None,
        "settings": {name: _reading(facts, name) for name in SETTINGS},
        "native": {key: native.raw for key, native in facts.native.items() if native.raw is not None},
        "findings": [finding_document(f) for f in facts.findings],
        "interfaces": [_interface(i) for i in facts.interfaces],
        "memory_bytes": facts.memory_bytes,
        "confined": facts.confined,
        "boot": [
            {"key": b.key, "value": b.raw, "file": b.path, "line": b.line, "loader": b.loader}
            for b in facts.boot
        ],
    }


def _reading(facts: Facts, name: str) -> dict[str, Json]:
    reading = facts.readings.get(name, Reading(name, None, State.UNSUPPORTED))
    return {
        "value": plain(reading.value),
        "unit": SETTINGS[name].unit,
        "state": reading.state.value,
        "source": reading.source,
        "key": reading.key,
    }


def _interface(interface: Interface) -> dict[str, Json]:
    return {
        "name": interface.name,
        "mtu_bytes": interface.mtu_bytes,
        "speed_bps": interface.speed_bps,
        "qdisc": interface.qdisc,
        "txqueuelen_packets": interface.txqueuelen_packets,
        "driver": interface.driver,
        "offloads": dict(interface.offloads),
        "routes": list(interface.routes),
    }


def finding_document(finding: Finding) -> dict[str, Json]:
    """One finding."""
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "message": finding.message,
        "keys": list(finding.keys),
    }


def diff_document(audit: ProfileAudit) -> dict[str, Json]:
    """``hostcfg.diff/1``."""
    link = audit.link
    return {
        "schema": "hostcfg.diff/1",
        "profile": {
            "name": audit.profile_name,
            "rate_bps": number(link.rate_bps) if link else None,
            "rtt_s": number(link.rtt_s) if link else None,
            "bdp_bytes": number(link.bdp_bytes) if link else None,
        },
        "hosts": [
            {
                "host": host.name,
                "os": host.facts.os if host.facts else None,
                "status": host.status,
                "error": error_document(host.error) if host.error else None,
                "differences": [_difference(d) for d in host.differences],
                "findings": [finding_document(f) for f in host.findings],
                "notes": list(host.notes),
                "meaning": host.meaning,
            }
            for host in audit.hosts
        ],
    }


def named_values(difference: Difference) -> tuple[Json, Json]:
    """Current and target; by the OS's own names where it has levels with names and no numbers.

    A Windows level's name says more than the bytes of its largest window, and is what netsh takes.
    """
    current, target = plain(difference.current), plain(difference.target)
    raw, wanted = difference.current_native, difference.target_native
    counted = isinstance(target, int) and not isinstance(target, bool)
    if counted and raw is not None and wanted is not None and wanted.strip().isalpha():
        return raw.strip(), wanted.strip()
    return current, target


def _difference(difference: Difference) -> dict[str, Json]:
    current, target = named_values(difference)
    return {
        "setting": difference.setting,
        "key": difference.key,
        "current": current,
        "target": target,
        "rule": difference.rule,
        "reason": difference.reason,
        "element": difference.element,
        "current_value": plain(difference.current),
        "target_value": plain(difference.target),
        "current_native": difference.current_native,
        "target_native": difference.target_native,
    }


def host_diff_document(a: Facts, b: Facts, difference: HostDifference) -> dict[str, Json]:
    """``hostcfg.hostdiff/1``."""
    return {
        "schema": "hostcfg.hostdiff/1",
        "a": a.host,
        "b": b.host,
        "settings": [
            {
                "setting": pair.setting,
                "a": plain(pair.a.value),
                "b": plain(pair.b.value),
                "unit": SETTINGS[pair.setting].unit,
                "a_state": pair.a.state.value,
                "b_state": pair.b.state.value,
                "a_key": pair.a.key,
                "b_key": pair.b.key,
            }
            for pair in difference.settings
        ],
        "native": [{"key": pair.key, "a": pair.a, "b": pair.b} for pair in difference.native],
        "findings": [{"host": one.host, **finding_document(f)} for one in (a, b) for f in on_texts(one)],
    }


def on_texts(facts: Facts) -> list[Finding]:
    """What a comparison of hosts has to tell of their texts: parts that nobody understood or used."""
    return [finding for finding in facts.findings if finding.kind in ("left_out", "twice", "unrecognized")]


def plan_document(plans: Sequence[Plan | Outcome]) -> dict[str, Json]:
    """``hostcfg.plan/1``; an outcome stands for a host without a plan, since it could not be read."""
    return {"schema": "hostcfg.plan/1", "hosts": [_plan_host(plan) for plan in plans]}


def _plan_host(plan: Plan | Outcome) -> dict[str, Json]:
    if not isinstance(plan, Plan):
        error = error_document(plan.error) if plan.error is not None else None
        return {"host": plan.spec.name, "os": None, "status": "error", "error": error, "steps": []}
    return {
        "host": plan.host,
        "os": plan.os,
        "status": "ok",
        "error": None,
        "steps": [
            {
                "key": step.key,
                "from": step.from_raw,
                "to": step.to_raw,
                "command": step.command,
                "inverse": step.inverse,
                "persist": step.persist,
                "settings": list(step.settings),
                "reason": step.reason,
            }
            for step in plan.steps
        ],
        "files": dict(plan.files),
        "notes": list(plan.notes),
        "warnings": list(plan.warnings),
    }


def profile_list_document(profiles: Sequence[Profile]) -> dict[str, Json]:
    """``hostcfg.profiles/1``: the profiles by name."""
    return {
        "schema": "hostcfg.profiles/1",
        "profiles": [
            {"name": p.name, "summary": p.summary, "when": p.when, "file": p.path, "inputs": list(p.inputs)}
            for p in profiles
        ],
    }


def profile_document(described: DescribedProfile) -> dict[str, Json]:
    """``hostcfg.profile/1``: what one profile wants of each system."""
    profile, link = described.profile, described.link
    return {
        "schema": "hostcfg.profile/1",
        "name": profile.name,
        "summary": profile.summary,
        "when": profile.when,
        "file": profile.path,
        "inputs": [
            {"name": i.name, "type": i.type, "default": i.default, "meaning": i.meaning}
            for i in profile.inputs.values()
        ],
        "rate_bps": number(link.rate_bps) if link else None,
        "rtt_s": number(link.rtt_s) if link else None,
        "bdp_bytes": number(link.bdp_bytes) if link else None,
        "systems": [
            {
                "os": system.os,
                "targets": [
                    {
                        "setting": t.setting,
                        "rule": t.rule,
                        "value": plain(t.value),
                        "unit": SETTINGS[t.setting].unit if t.setting in SETTINGS else "",
                        "reason": t.reason,
                        "source": t.source,
                        "capped": t.capped,
                    }
                    for t in system.wanted.targets
                ],
                "notes": list(system.wanted.notes),
            }
            for system in described.systems
        ],
    }
