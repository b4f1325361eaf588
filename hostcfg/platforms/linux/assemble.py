"""Facts of a Linux host from raw sections, whether the probe printed them or a person pasted them.

A config file that is pasted alone says what is set at boot and not what runs.  It is taken as the
host's settings all the same (it is what the far end has to show), each reading says so in its
source, and a finding says it once.  Where the text also has the running value, that one counts and
the file is held against it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.model import Facts, Native, Reading, State
from hostcfg.platforms.linux.findings import findings_of
from hostcfg.platforms.linux.interfaces import interfaces_of
from hostcfg.platforms.linux.keys import DEFAULT_QDISC, OWN_NETWORK, QDISCS, linux_keys, release_tuple
from hostcfg.platforms.linux.view import BY_HAND, config_natives, view_of
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import BootValue, Json, Section
    from hostcfg.platforms.base import Key
    from hostcfg.platforms.linux.view import View


def assemble(host: str, sections: Sequence[Section]) -> Facts:
    """All that the sections hold; a key that none of them holds is absent."""
    view = view_of(host, sections)
    interfaces, own = interfaces_of(sections, view.parsed)
    native = {**view.native, **config_natives(view), **{n.key: n for n in own}}
    native |= _queue_disciplines(view, native)
    facts = Facts(
        host=host,
        os="linux",
        os_version=_version_text(view),
        release=release_tuple(view.kernel),
        readings={},
        native=native,
        interfaces=tuple(interfaces),
        memory_bytes=view.memory_bytes,
        confined=_confined(view),
        boot=_boot_values(view),
        details=_details(view),
        sections=tuple(sections),
    )
    keys = linux_keys(facts)
    readings = {name: _reading(name, keys.get(name), native) for name in SETTINGS}
    facts = replace(facts, readings=readings)
    return replace(facts, findings=tuple(findings_of(facts, view)))


def _queue_disciplines(view: View, native: Mapping[str, Native]) -> dict[str, Native]:
    """What the kernel can queue with, where its modules or its configuration say so, and what is in use."""
    if view.host is None or view.host.qdiscs is None:
        return {}
    used = [n.raw for key, n in native.items() if key == DEFAULT_QDISC or key.startswith("qdisc/")]
    names = sorted({*view.host.qdiscs, *(raw.strip() for raw in used if raw)})
    return {QDISCS: Native(QDISCS, " ".join(names), State.VALUE, "/lib/modules or /proc/config.gz")}


def _reading(name: str, key: Key | None, native: Mapping[str, Native]) -> Reading:
    if key is None:
        return Reading(name, None, State.UNSUPPORTED)
    found = native.get(key.name)
    if found is None:
        return Reading(name, None, State.ABSENT, key.name, key.element)
    if found.state is not State.VALUE or found.raw is None:
        return Reading(name, None, found.state, key.name, key.element, found.source)
    try:
        value = key.decode(found.raw)
    except ValueError:
        return Reading(name, None, State.UNPARSED, key.name, key.element, found.source)
    return Reading(name, value, State.VALUE, key.name, key.element, found.source)


def _version_text(view: View) -> str:
    kernel = f"Linux {view.kernel}" if view.kernel else None
    return ", ".join(part for part in (view.title, kernel) if part)


def _confined(view: View) -> str | None:
    """What limits the view: a container, a network namespace of its own, a read-only /proc/sys."""
    parts = []
    if view.host is not None and view.host.container is not None:
        parts.append(f"{view.host.container} container")
    if view.child_namespace:
        parts.append(OWN_NETWORK)
    if view.host is not None and view.host.read_only_sys:
        parts.append("read-only /proc/sys")
    return ", ".join(parts) or None


def _boot_values(view: View) -> tuple[BootValue, ...]:
    if view.boot is not None:
        return tuple(view.boot.values[key] for key in sorted(view.boot.values))
    if view.by_hand is not None:
        values = view.by_hand.values
        return tuple(replace(values[key], loader=BY_HAND) for key in sorted(values))
    last = {value.key: value for value in view.config}
    return tuple(last[key] for key in sorted(last))


def _details(view: View) -> dict[str, Json]:
    """What only Linux knows; keys that nothing is known of are left out."""
    host = view.host
    routes: list[Json] = list(view.routes)
    found: dict[str, Json] = {"kernel": view.kernel, "machine": view.machine, "routes": routes or None}
    if view.boot is not None and view.boot.ignored:
        found["boot_files_ignored"] = [f"{path}: {why}" for path, why in view.boot.ignored]
    if host is not None:
        loader = host.loader
        found |= {
            "init": host.init,
            "boot_loader": None if loader is None else loader.name,
            "boot_loader_version": None if loader is None else _dotted(loader.version),
            "procps_version": _dotted(host.procps),
            "machine_id": host.machine_id,
            "page_bytes": host.page_bytes,
            "memory_limit_bytes": host.memory_limit_bytes,
            "root": host.root,
            "net_admin": host.net_admin,
            "container": host.container,
            "writers": list(host.writers) or None,
            "tuned_profile": host.tuned_profile,
        }
    return {key: value for key, value in found.items() if value is not None}


def _dotted(version: tuple[int, ...] | None) -> str | None:
    return None if version is None else ".".join(map(str, version))
