"""The interfaces that matter, from ``ip``, ``tc``, ``ethtool`` and /sys/class/net.  Pure.

What netlink says (``ip``, ``tc``) counts before /sys/class/net: in a network namespace that was
entered without a new mount of /sys, that directory still shows the interfaces of another one.
"""

from __future__ import annotations

import re
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.model import Interface, Native, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hostcfg.model import Json, Parsed, Section

MULTIQUEUE = frozenset({"mq", "mqprio", "taprio"})
"""Roots that only hand packets to one queueing discipline per hardware queue (tc-mq(8))."""

MOST_PASTED = 16
"""A pasted ``ip link`` of a container host has hundreds of pairs; more than these are left out."""

_TSO = "tcp-segmentation-offload"


@dataclass(slots=True)
class _Found:
    links: dict[str, Mapping[str, Json]] = field(default_factory=dict)
    sysfs: dict[str, dict[str, str]] = field(default_factory=dict)
    qdiscs: dict[str, str] = field(default_factory=dict)
    features: dict[str, dict[str, str]] = field(default_factory=dict)
    speeds: dict[str, int] = field(default_factory=dict)
    routes: dict[str, list[str]] = field(default_factory=dict)
    asked_ip: bool = False
    probed: bool = False


def interfaces_of(
    sections: Sequence[Section], parsed: Mapping[int, Parsed]
) -> tuple[list[Interface], list[Native]]:
    """Interfaces, that of the peer's route first and then the default's, and their native keys.

    ``parsed`` has what the parsers made of each section, by its index.
    """
    found = _Found()
    for index, section in enumerate(sections):
        _take(found, section, parsed.get(index))
    natives: list[Native] = []
    interfaces = []
    for name in _names(found):
        interface, own = _interface(found, name)
        interfaces.append(interface)
        natives += own
    return interfaces, natives


def _take(found: _Found, section: Section, parsed: Parsed | None) -> None:
    if section.kind == "linux-net-class":
        found.probed = True
        _take_sysfs(found, section.text)
    elif section.kind == "linux-peer-route":
        for name in _devices(section.text.split("\n")):
            found.routes.setdefault(name, []).append("peer")
    elif parsed is None:
        return
    elif section.kind == "ip-route":
        rows = [row for row in _rows(parsed.values.get("routes")) if row.get("dst") == "default"]
        for name in [*_devices(_default_lines(section.text)), *_route_devices(rows)]:
            found.routes.setdefault(name, []).append("default")
    elif section.kind == "ip-link":
        found.asked_ip = True
        found.links.update((str(row.get("ifname")), row) for row in _rows(parsed.values.get("links")))
    elif section.kind == "tc-qdisc":
        found.qdiscs.update(_acting(_rows(parsed.values.get("qdiscs"))))
    elif section.kind == "ethtool-k":
        found.features.update((name, _features(values)) for name, values in _by_device(parsed))
    elif section.kind == "ethtool":
        speeds = ((name, values.get("speed_bps")) for name, values in _by_device(parsed))
        found.speeds.update((name, speed) for name, speed in speeds if isinstance(speed, int))


def _by_device(parsed: Parsed) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """What ethtool's parser found, of one interface or of several."""
    groups = parsed.values.get("interfaces")
    device = parsed.extra.get("interface")
    if isinstance(device, str):
        yield device, parsed.values
    elif isinstance(groups, dict):
        yield from ((name, values) for name, values in groups.items() if isinstance(values, dict))


def _rows(value: Json) -> list[dict[str, Json]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _take_sysfs(found: _Found, text: str) -> None:
    for line in text.split("\n"):
        row = re.fullmatch(r"/sys/class/net/([^/:]{1,15})/([a-z_/]{1,30}):(.*)", line)
        if row is None:
            continue
        fields = found.sysfs.setdefault(row[1], {})
        if row[2] not in ("uevent", "device/uevent"):
            fields[row[2]] = row[3].strip()
            continue
        fields[row[2]] = "read"
        name, _, value = row[3].partition("=")
        if name in ("DRIVER", "DEVTYPE"):
            fields[name.lower()] = value.strip()


def _default_lines(text: str) -> Iterable[str]:
    """The default routes and the next hops under them, of which each has a line of its own."""
    within = False
    for line in text.split("\n"):
        if not line[:1].isspace():
            within = line.split(" ", 1)[0] in ("default", "0.0.0.0/0", "::/0")
        if within:
            yield line


def _devices(lines: Iterable[str]) -> list[str]:
    names: dict[str, None] = {}
    for line in lines:
        words = line.split()
        for before, name in pairwise(words):
            if before == "dev" and name != "lo":
                names[name] = None
    return list(names)


def _route_devices(rows: Sequence[Mapping[str, Json]]) -> list[str]:
    """Devices of routes that ``ip -j`` printed, their next hops included."""
    hops = [hop for row in rows for hop in (row, *_rows(row.get("nexthops", [])))]
    return [str(hop["dev"]) for hop in hops if hop.get("dev") not in (None, "lo")]


def _acting(rows: Sequence[Mapping[str, Json]]) -> dict[str, str]:
    """Device -> the queueing discipline that decides: the leaves' where the root is ``mq``."""
    roots: dict[str, str] = {}
    leaves: dict[str, set[str]] = {}
    for row in rows:
        device, kind = str(row.get("dev")), str(row.get("kind"))
        if row.get("place") == "root":
            roots[device] = kind
        elif kind not in ("ingress", "clsact"):
            leaves.setdefault(device, set()).add(kind)
    for device, kind in roots.items():
        below = leaves.get(device, set())
        if kind in MULTIQUEUE and len(below) == 1:
            roots[device] = next(iter(below))
    return roots


def _features(values: Mapping[str, Json]) -> dict[str, str]:
    """Feature -> ``on`` or ``off`` (with ``[fixed]``); ethtool --json says it in an object."""
    found: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, dict) and isinstance(value.get("active"), bool):
            found[name] = ("on" if value["active"] else "off") + (" [fixed]" if value.get("fixed") else "")
        elif isinstance(value, str) and value.split()[:1] in (["on"], ["off"]):
            found[name] = value
    return found


def _names(found: _Found) -> list[str]:
    """Names in order of weight.  Of a probe only what ``ip`` confirms, where it was asked."""
    routed = sorted(found.routes, key=lambda name: "peer" not in found.routes[name])
    named = (*found.links, *found.sysfs, *found.features, *found.speeds, *found.qdiscs)
    others = [n for n in named if n != "lo"]
    if found.probed:
        others = [n for n in others if n in found.sysfs or n in found.links]
    else:
        up = [n for n in others if found.links.get(n, {}).get("operstate") != "DOWN"]
        others = up or others  # a link that is down carries no path
    if not found.probed and len(set(others)) > MOST_PASTED:
        others = [n for n in others if found.qdiscs.get(n) != "noqueue"][:MOST_PASTED]
    names = dict.fromkeys([*routed, *others])
    return [n for n in names if not (found.probed and found.asked_ip) or n in found.links]


def _interface(found: _Found, name: str) -> tuple[Interface, list[Native]]:
    link = found.links.get(name, {})
    sysfs = _trusted(found.sysfs.get(name, {}), link)
    qdisc = found.qdiscs.get(name) or _text(link.get("qdisc"))
    queue = _int(link.get("txqlen"), sysfs.get("tx_queue_len"))
    features = found.features.get(name, {})
    routes = found.routes.get(name, ["lower"] if found.probed else [])
    natives = []
    if qdisc is not None:
        natives.append(Native(f"qdisc/{name}", qdisc, State.VALUE, "tc qdisc show"))
    if queue is not None:
        natives.append(Native(f"txqueuelen/{name}", str(queue), State.VALUE, "ip link show"))
    if _TSO in features:
        natives.append(Native(f"tso/{name}", features[_TSO], State.VALUE, f"ethtool -k {name}"))
    interface = Interface(
        name=name,
        mtu_bytes=_int(link.get("mtu"), sysfs.get("mtu")),
        speed_bps=_speed_bps(sysfs) or _real(name, found.speeds.get(name)),
        qdisc=qdisc,
        txqueuelen_packets=queue,
        driver=sysfs.get("driver"),
        offloads={feature: state.split()[0] == "on" for feature, state in features.items()},
        routes=tuple(dict.fromkeys(routes)),
    )
    return interface, natives


def _speed_bps(sysfs: Mapping[str, str]) -> int | None:
    """What the interface carries.  tun and veth say 10 Gbit/s of themselves, which means nothing
    (drivers/net/tun.c, veth.c): they have neither a device nor, as VLAN, bond and bridge do, a DEVTYPE.
    """
    invented = "uevent" in sysfs and "device/uevent" not in sysfs and "devtype" not in sysfs
    speed = None if invented else _int(None, sysfs.get("speed"))
    return speed * 1_000_000 if speed is not None and speed > 0 else None


def _real(name: str, speed_bps: int | None) -> int | None:
    """What ``ethtool NAME`` says, but of what makes its speed up (see :func:`_speed_bps`)."""
    return None if name.startswith(("veth", "tun", "tap")) else speed_bps


def _trusted(sysfs: Mapping[str, str], link: Mapping[str, Json]) -> Mapping[str, str]:
    """/sys/class/net's fields, unless ``ip`` shows that they belong to another interface."""
    index = link.get("ifindex")
    return {} if index is not None and sysfs.get("ifindex") not in (None, str(index)) else sysfs


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


def _int(first: Json, text: str | None) -> int | None:
    if isinstance(first, int) and not isinstance(first, bool):
        return first
    return int(text) if text is not None and re.fullmatch(r"-?[0-9]{1,10}", text) else None
