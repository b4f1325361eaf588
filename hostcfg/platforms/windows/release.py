"""Which Windows this is: ``ver``, ``systeminfo``, ``Get-ComputerInfo``, and what a build is called.

::

    Microsoft Windows [Version 10.0.20348.2113]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.windows.text import plain_text
from hostcfg.platforms.windows.usage import HEAD_CHARS

if TYPE_CHECKING:
    from hostcfg.model import Json

KIND = "windows-release"

_VER = regex(r"Microsoft Windows \[[^\]\d]{0,40}(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,6}){1,2})\]")
_NT = regex(r"(?P<version>(?:5|6|10)\.\d{1,2}\.\d{4,6})(?![.\d])")
_BUILD_VALUE = regex(r"\d{4,6}")
_PRODUCT = regex(r"(?:Microsoft )?Windows .{0,80}")
_SERVER_TYPES = {"workstation": False, "winnt": False, "server": True, "servernt": True, "lanmannt": True}
_TYPE_NAMES = frozenset({"osproducttype", "producttype"})

CLIENTS = (
    (6000, "Windows Vista"),
    (7600, "Windows 7"),
    (9200, "Windows 8"),
    (9600, "Windows 8.1"),
    (10240, "Windows 10"),
    (22000, "Windows 11"),
)
SERVERS = (
    (6001, "Windows Server 2008"),
    (7600, "Windows Server 2008 R2"),
    (9200, "Windows Server 2012"),
    (9600, "Windows Server 2012 R2"),
    (14393, "Windows Server 2016"),
    (17763, "Windows Server 2019"),
    (20348, "Windows Server 2022"),
    (26100, "Windows Server 2025"),
)
"""First build of each name (Microsoft's release information pages)."""

SERVER_BUILDS = frozenset({6001, 6002, 6003, 7600, 7601, 9200, 9600, 14393, 17763, 20348, 25398, 26100})
SERVER_ONLY_BUILDS = frozenset({20348, 25398})


def is_server_build(build: int) -> bool | None:
    """Whether the build alone tells a server (True) or a client (False); None: both have it."""
    if build in SERVER_ONLY_BUILDS:
        return True
    return None if build in SERVER_BUILDS else False


def product_name(build: int, *, server: bool | None) -> str:
    """What Windows with this build is called; both names where the edition is not known.

    >>> product_name(20348, server=True), product_name(22631, server=False)
    ('Windows Server 2022', 'Windows 11')
    """
    client_name, server_name = _named(CLIENTS, build), _named(SERVERS, build)
    if server is None:
        server = is_server_build(build)
    if server is None:
        return f"{client_name} or {server_name}"
    return server_name if server else client_name


def _named(names: tuple[tuple[int, str], ...], build: int) -> str:
    return next((name for first, name in reversed(names) if build >= first), "Windows")


def version_tuple(version: str) -> tuple[int, ...]:
    """``"10.0.20348.2113"`` as the three numbers that models ask for: ``(10, 0, 20348)``."""
    return tuple(int(part) for part in version.split(".")[:3])


def parse_release(raw: str) -> Parsed:
    """``version``, ``build``, ``product`` and ``server`` (bool), as far as the text says them."""
    text = plain_text(raw[:HEAD_CHARS])
    values: dict[str, Json] = {}
    rest = [line.strip() for line in text.lines if line.strip() and not _read_line(line, values)]
    beyond = raw[HEAD_CHARS:].splitlines()
    return Parsed("windows", KIND, "ver", values, (), (*rest, *beyond))


def _read_line(line: str, values: dict[str, Json]) -> bool:
    """Take what ``line`` says about the release; systeminfo's other lines say nothing and are known."""
    shown = _VER.search(line)
    if shown is not None:
        _set_version(values, shown["version"])
        return True
    label, colon, cell = line.partition(":")
    if not colon:
        return line.lstrip().startswith(("(c)", "Copyright"))
    name, cell = label.strip().lower().replace(" ", ""), cell.strip()
    version = _NT.match(cell)
    if version is not None and "bios" not in name and "hyper" not in name:
        _set_version(values, version["version"])
    elif name in _TYPE_NAMES and cell.lower() in _SERVER_TYPES:
        values["server"] = _SERVER_TYPES[cell.lower()]
    elif name.endswith("osbuildnumber") and _BUILD_VALUE.fullmatch(cell):
        values.setdefault("build", int(cell))
    elif _PRODUCT.fullmatch(cell) and "product" not in values:
        values["product"] = cell
        values.setdefault("server", "server" in cell.lower())
    return True


def _set_version(values: dict[str, Json], version: str) -> None:
    values.setdefault("version", version)
    parts = version_tuple(version)
    if len(parts) > 2:
        values.setdefault("build", parts[2])


def _recognize(raw: str) -> int:
    head = raw[:HEAD_CHARS]
    if _VER.search(head[:4096]):
        return 60  # a cmd window's greeting stands above other output, too
    lines = plain_text(head).lines[:400]
    labels = {line.partition(":")[0].strip().lower() for line in lines if ":" in line}
    if labels & {"osbuildnumber", "windowsproductname", "osname", "oshardwareabstractionlayer"}:
        return 90
    cells = [line.partition(":")[2].strip() for line in lines if ":" in line]
    systeminfo = any(_NT.match(cell) and cell.rstrip()[-1:] in "0123456789" for cell in cells)
    return 85 if systeminfo and any(cell.startswith("Microsoft Windows ") for cell in cells) else 0


PARSERS = (Parser(KIND, "windows", "ver", _recognize, parse_release),)
