"""What a BSD says of itself beside sysctl: uname, ifconfig, route, kldstat.

::

    FreeBSD fbsd142 14.2-RELEASE FreeBSD 14.2-RELEASE #0: ... amd64
    vtnet0: flags=1008843<UP,BROADCAST> metric 0 mtu 1500
            options=80028<VLAN_MTU,TSO4>
            media: Ethernet autoselect (10Gbase-T <full-duplex>)
      interface: vtnet0
     2    1 0xffffffff81410000     22b0 cc_newreno.ko
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Interface, Parsed
from hostcfg.platforms.base import Parser

if TYPE_CHECKING:
    from hostcfg.model import Json

_UNAME = regex(
    r"(?P<os>FreeBSD|Darwin|NetBSD|OpenBSD|DragonFly) (?P<node>\S{1,255}) "
    r"(?P<release>[0-9][\w.~+-]{0,63})(?: .*)?"
)
_FREEBSD_RELEASE = regex(
    r"[0-9]{1,2}\.[0-9]{1,2}(?:\.[0-9])?-(?:RELEASE|STABLE|CURRENT|PRERELEASE|BETA[0-9]*|RC[0-9]*|ALPHA[0-9]*)"
    r"(?:-p[0-9]{1,3})?"
)
_INTERFACE = regex(r"(?P<name>[A-Za-z][\w.-]{0,31}): flags=[0-9a-f]{1,16}<(?P<flags>[^>]*)>(?P<rest>.*)")
_MTU = regex(r"\bmtu ([0-9]{1,9})\b")
_OPTIONS = regex(r"options=[0-9a-f]{1,16}<([^>]*)>")
_MEDIA = regex(r"media: (.*)")
_SPEED = regex(r"\b([0-9]{1,4})(G?)(?:base|BASE|Base)[-_]?(?:[A-Z0-9]|<|$)")
_ROUTE_INTERFACE = regex(r"interface: (\S{1,32})")
_ROUTE_TO = regex(r"route to: (\S{1,255})")
_KLD = regex(
    r"[0-9]{1,5}\s{1,8}[0-9]{1,5}\s{1,8}0x[0-9a-f]{1,16}\s{1,16}[0-9a-f]{1,16}\s{1,8}(?P<name>\S{1,128})"
)
_MEBI = 1_000_000
_SCAN = 1 << 20


def release_of(text: str) -> tuple[int, ...] | None:
    """``14.2-RELEASE-p1`` as (14, 2); None where no number leads."""
    match = re.match(r"\s{0,8}([0-9]{1,4}(?:\.[0-9]{1,4}){0,3})", text)
    return tuple(int(part) for part in match[1].split(".")) if match is not None else None


def osreldate_release(osreldate: int) -> tuple[int, int] | None:
    """__FreeBSD_version as (major, minor): 1402000 is 14.2; before 5.0 it counts differently.

    Source: sys/sys/param.h, "Porters Handbook" table of __FreeBSD_version values.
    """
    if osreldate >= 500000:
        return osreldate // 100000, osreldate // 1000 % 100
    return (osreldate // 100000, osreldate // 10000 % 10) if osreldate >= 200000 else None


def parse_uname(os: str, text: str) -> Parsed:
    """``uname -a``: system, host name and release; ``uname -r`` of FreeBSD: the release."""
    values: dict[str, Json] = {}
    rest: list[str] = []
    for raw in text.splitlines():
        line = raw[:8192].strip()
        match = _UNAME.fullmatch(line)
        if match is not None and not values:
            values = {"system": match["os"], "nodename": match["node"], "release": match["release"]}
        elif _FREEBSD_RELEASE.fullmatch(line):
            values.setdefault("system", "FreeBSD")
            values.setdefault("release", line)
        elif line and not line.startswith("$ ") and line not in ("FreeBSD", "Darwin"):
            rest.append(line)
    return Parsed(os, "uname", "uname -a", values, (), rest)


def _recognize_uname(system: str, text: str) -> int:
    lines = [line.strip() for line in text[:8192].splitlines() if line.strip() and not line.startswith("$ ")]
    if not lines or len(lines) > 8:
        return 0
    if any(_FREEBSD_RELEASE.fullmatch(line) for line in lines):
        return 90 if system == "FreeBSD" else 0
    match = _UNAME.fullmatch(lines[0])
    return 95 if match is not None and match["os"] == system else 0


def parse_ifconfig(os: str, text: str) -> Parsed:
    """``values``: the interfaces by name, each with mtu, media, flags and options."""
    values: dict[str, Json] = {}
    rest: list[str] = []
    current: dict[str, Json] | None = None
    for raw in text.splitlines():
        line = raw[:8192].strip()
        head = _INTERFACE.fullmatch(line)
        if head is not None:
            mtu = _MTU.search(head["rest"])
            current = {
                "mtu": int(mtu[1]) if mtu else None,
                "flags": list(head["flags"].split(",")),
                "media": None,
            }
            current["options"] = []
            values[head["name"]] = current
        elif current is not None and line:
            media, options = _MEDIA.fullmatch(line), _OPTIONS.fullmatch(line)
            if media is not None:
                current["media"] = media[1]
            elif options is not None:
                current["options"] = [name for name in options[1].split(",") if name]
        elif line:
            rest.append(line)
    return Parsed(os, "ifconfig", "ifconfig -a", values, (), rest)


def _recognize_ifconfig(os: str, text: str) -> int:
    head = text[: 1 << 16]
    if not re.search(r"^[A-Za-z][\w.-]{0,31}: flags=[0-9a-f]{1,16}<", head, re.MULTILINE):
        return 0
    if re.search(r"\bmetric [0-9]+ mtu [0-9]+", head):
        return 90 if os == "freebsd" else 30
    if re.search(r">  mtu [0-9]+|\bRX packets", head):
        return 0  # Linux's net-tools
    return 80 if os == "macos" else 40


def speed_of_media(media: str) -> int | None:
    """Bits a second of ``1000baseT <full-duplex>`` or ``10Gbase-T``; None where it names none.

    The active word, in parentheses after ``autoselect``, comes last.
    """
    found = _SPEED.findall(media[:512])
    if not found:
        return None
    number, giga = found[-1]
    return int(number) * (1000 * _MEBI if giga else _MEBI)


def interfaces_of(parsed: Parsed, routes: dict[str, str]) -> tuple[Interface, ...]:
    """The interfaces that ``routes`` (interface -> what goes there) names, or all that are no loopback."""
    found = []
    for name, value in parsed.values.items():
        if not isinstance(value, dict) or (routes and name not in routes):
            continue
        flags, options = value.get("flags"), value.get("options")
        if not routes and isinstance(flags, list) and "LOOPBACK" in flags:
            continue
        mtu, media = value.get("mtu"), value.get("media")
        found.append(
            Interface(
                name=name,
                mtu_bytes=mtu if isinstance(mtu, int) else None,
                speed_bps=speed_of_media(media) if isinstance(media, str) else None,
                offloads={str(o).lower(): True for o in options} if isinstance(options, list) else {},
                routes=tuple(routes[name].split()) if name in routes else (),
            )
        )
    return tuple(found)


def parse_route_get(os: str, text: str) -> Parsed:
    """``route -n get``: each destination and its interface, as ``{"default": "em0"}``."""
    values: dict[str, Json] = {}
    rest: list[str] = []
    target = "default"
    for raw in text.splitlines():
        line = raw[:8192].strip()
        to, interface = _ROUTE_TO.fullmatch(line), _ROUTE_INTERFACE.fullmatch(line)
        if to is not None:
            target = to[1]
        elif interface is not None:
            values["default" if target in ("default", "0.0.0.0", "::") else target] = interface[1]  # noqa: S104
        elif line.startswith("route: "):
            rest.append(line)
    return Parsed(os, "route-get", "route -n get default", values, (), rest)


def _recognize_route_get(os: str, text: str) -> int:
    head = text[: 1 << 16]
    if not re.search(r"^[ \t]{0,16}route to: \S", head, re.MULTILINE):
        return 0
    likely = "freebsd" if re.search(r"^[ \t]{0,16}fib: ", head, re.MULTILINE) else "macos"
    return 85 if os == likely else 40


def parse_kldstat(text: str) -> Parsed:
    """Kernel modules by name, each true."""
    values: dict[str, Json] = {}
    rest: list[str] = []
    for raw in text.splitlines():
        line = raw[:8192].strip()
        match = _KLD.fullmatch(line)
        if match is not None:
            values[match["name"].removesuffix(".ko")] = True
        elif line and not line.startswith("Id Refs"):
            rest.append(line)
    return Parsed("freebsd", "kldstat", "kldstat", values, (), rest)


def _recognize_kldstat(text: str) -> int:
    return 95 if re.search(r"^[ \t]{0,16}Id Refs Address", text[:_SCAN], re.MULTILINE) else 0


def host_parsers(os: str, system: str) -> tuple[Parser, ...]:
    """Parsers of ``uname -a``, ``ifconfig`` and ``route -n get`` of one system."""
    return (
        Parser(
            "uname",
            os,
            "uname",
            lambda t: _recognize_uname(system, t),
            lambda t: parse_uname(os, t),
            transcript=True,
            begins=r"(?:FreeBSD|Darwin) \S{1,64} [0-9]{1,3}\.[0-9]",
        ),
        Parser(
            "ifconfig",
            os,
            "ifconfig -a",
            lambda t: _recognize_ifconfig(os, t),
            lambda t: parse_ifconfig(os, t),
            begins=r"[A-Za-z][\w.-]{0,31}: flags=[0-9a-f]{1,16}<",
        ),
        Parser(
            "route-get",
            os,
            "route -n get default",
            lambda t: _recognize_route_get(os, t),
            lambda t: parse_route_get(os, t),
            begins=r"route to: \S",
        ),
    )


KLDSTAT_PARSER = Parser(
    "kldstat", "freebsd", "kldstat", _recognize_kldstat, parse_kldstat, begins=r"Id Refs Address"
)
