"""Small outputs that a probe needs besides netsh's: code page, elevation, edition, adapters, routes.

::

    Active code page: 850
    Mandatory Label\\High Mandatory Level  Label  S-1-16-12288
        ProductType    REG_SZ    ServerNT
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.windows.text import plain_text
from hostcfg.platforms.windows.usage import HEAD_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.model import Json

_PAGES = r"\d{3}|1[0-3]\d\d|100\d\d|2[0-9]\d{3}|3859\d|5\d{4}|65\d{3}"
_CODE_PAGE = regex(rf"(?!\w{{1,40}}\.\w)[^\d\n]{{3,80}}:\s*(?P<page>{_PAGES})\.?\s*")
_INTEGRITY = regex(r"S-1-16-(?P<rid>\d{1,6})")
_PRODUCT_TYPE = regex(r"ProductType\s+REG_SZ\s+(?P<type>WinNT|ServerNT|LanmanNT)", re.IGNORECASE)
HIGH_INTEGRITY = 12288
"""SECURITY_MANDATORY_HIGH_RID (winnt.h): what an elevated process has; System has 16384."""


def parse_chcp(raw: str) -> Parsed:
    """``code_page``, whatever the language of the words before it."""
    return _search(raw, "chcp", "chcp", _CODE_PAGE, lambda m: {"code_page": int(m["page"])})


def parse_whoami(raw: str) -> Parsed:
    """``elevated``: whether the integrity level is high or above."""
    return _search(
        raw,
        "whoami-groups",
        "whoami /groups",
        _INTEGRITY,
        lambda m: {"integrity": int(m["rid"]), "elevated": int(m["rid"]) >= HIGH_INTEGRITY},
    )


def parse_product_type(raw: str) -> Parsed:
    """``server``: WinNT is a client, ServerNT and LanmanNT (a domain controller) are servers."""
    return _search(
        raw,
        "windows-product-type",
        r"reg query HKLM\SYSTEM\CurrentControlSet\Control\ProductOptions /v ProductType",
        _PRODUCT_TYPE,
        lambda m: {"server": m["type"].lower() != "winnt"},
    )


def _search(
    raw: str,
    kind: str,
    command: str,
    pattern: re.Pattern[str],
    read: Callable[[re.Match[str]], dict[str, Json]],
) -> Parsed:
    found = pattern.search(raw[:HEAD_CHARS])
    rest = [] if found else [line.strip() for line in raw.splitlines() if line.strip()]
    return Parsed("windows", kind, command, read(found) if found else {}, (), rest)


def parse_adapters(raw: str) -> Parsed:
    """``adapters``: name, index, speed in bit/s and MTU in bytes of each adapter that is up."""

    def read(row: dict[str, str]) -> Json:
        name, index = row.get("Name") or "", row.get("InterfaceIndex") or ""
        if not name or _digits(index) is None:
            return None
        return {
            "name": name,
            "index": int(index),
            "speed_bps": _digits(row.get("ReceiveLinkSpeed")),
            "mtu": _digits(row.get("MtuSize")),
            "description": row.get("InterfaceDescription") or None,
        }

    return _csv(raw, "get-netadapter", "Get-NetAdapter", "adapters", read)


def parse_routes(raw: str) -> Parsed:
    """``routes``: interface name and index, destination and metric of the default routes."""

    def read(row: dict[str, str]) -> Json:
        name, index = row.get("InterfaceAlias") or "", row.get("InterfaceIndex") or ""
        if not name or _digits(index) is None:
            return None
        return {
            "name": name,
            "index": int(index),
            "destination": row.get("DestinationPrefix") or None,
            "metric": _digits(row.get("RouteMetric")),
        }

    return _csv(raw, "get-netroute", "Get-NetRoute", "routes", read)


def parse_peer_route(raw: str) -> Parsed:
    """As :func:`parse_routes`: the route that Find-NetRoute chose for one address."""
    return replace(parse_routes(raw), kind="find-netroute", command="Find-NetRoute")


def _digits(cell: str | None) -> int | None:
    return int(cell) if cell and cell.isascii() and cell.isdigit() and len(cell) < 20 else None


def _csv(raw: str, kind: str, command: str, name: str, read: Callable[[dict[str, str]], Json]) -> Parsed:
    lines = [line for line in plain_text(raw).lines if line.strip()]
    rows: list[Json] = []
    bad: list[str] = []
    heading = next((i for i, line in enumerate(lines) if line.startswith('"') and "Interface" in line), None)
    if heading is None:
        return Parsed("windows", kind, command, {}, (), lines)
    bad += lines[:heading]
    columns = _cells(lines[heading])
    for line in lines[heading + 1 :]:
        cells = _cells(line)
        row = read(dict(zip(columns, cells, strict=True))) if len(cells) == len(columns) else None
        if row is None:
            bad.append(line)
        else:
            rows.append(row)
    return Parsed("windows", kind, command, {name: rows}, (), bad)


def _cells(line: str) -> Sequence[str]:
    try:
        return next(csv.reader(io.StringIO(line)), [])
    except csv.Error:
        return []


def _recognize_csv(*names: str) -> Callable[[str], int]:
    quoted = [f'"{name}"' for name in names]
    return lambda raw: 90 if all(name in raw[:2000] for name in quoted) else 0


def _short(pattern: re.Pattern[str], score: int) -> Callable[[str], int]:
    return lambda raw: score if len(raw) < HEAD_CHARS and pattern.search(raw) else 0


def _recognize_chcp(raw: str) -> int:
    return 70 if len(raw) < 200 and _CODE_PAGE.fullmatch(raw.strip()) else 0


PARSERS = (
    Parser("chcp", "windows", "chcp", _recognize_chcp, parse_chcp),
    Parser("whoami-groups", "windows", "whoami /groups", _short(_INTEGRITY, 80), parse_whoami),
    Parser(
        "windows-product-type",
        "windows",
        r"reg query HKLM\SYSTEM\CurrentControlSet\Control\ProductOptions /v ProductType",
        _short(_PRODUCT_TYPE, 80),
        parse_product_type,
    ),
    Parser(
        "get-netadapter",
        "windows",
        "Get-NetAdapter",
        _recognize_csv("Name", "InterfaceIndex", "ReceiveLinkSpeed"),
        parse_adapters,
    ),
    Parser(
        "get-netroute",
        "windows",
        "Get-NetRoute",
        _recognize_csv("InterfaceAlias", "DestinationPrefix"),
        parse_routes,
    ),
    Parser("find-netroute", "windows", "Find-NetRoute", lambda _raw: 0, parse_peer_route),
)
