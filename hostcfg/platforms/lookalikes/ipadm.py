"""TCP properties of illumos and Solaris: ``ipadm show-prop`` and ``ndd -get``.

::

    PROTO PROPERTY              PERM CURRENT      PERSISTENT   DEFAULT      POSSIBLE
    tcp   send_buf              rw   128000       --           128000       4096-1048576

``--`` means "not persistent".  Source: ipadm(8), ndd(8).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser

if TYPE_CHECKING:
    from hostcfg.model import Json

_HEADER = regex(r"\s*PROTO\s+PROPERTY\s+PERM\s+CURRENT\s+PERSISTENT\s+DEFAULT\s+POSSIBLE\s*")
_COLUMNS = ("proto", "property", "perm", "current", "persistent", "default", "possible")
_PROTO = regex(r"tcp|udp|sctp|ip|ipv4|ipv6|icmp|rawip")
_PERM = regex(r"[r-][w-]|ro")
_NDD = regex(r"\$ .*\bndd (?:-get )?/?(?:dev/)?\w+ (?P<name>\w+)")
_NDD_VALUE = regex(r"-?[\w.]{1,64}")
_SET = regex(r"\$ .*\bipadm (?:re)?set-prop\b")
_SETTING = regex(r"-p\s{1,8}(?P<name>[\w-]+)(?:\+|-)?=(?P<value>\S+)")
_ERROR = regex(r"ipadm: .*")


def _fields(line: str) -> dict[str, Json] | None:
    """One row; values of a property may be lists with commas, never with blanks."""
    parts = line.split()
    if len(parts) != len(_COLUMNS) or not _PROTO.fullmatch(parts[0]) or not _PERM.fullmatch(parts[2]):
        return None
    return {name: None if part == "--" else part for name, part in zip(_COLUMNS, parts, strict=True)}


def recognize_ipadm(text: str) -> int:
    """100 with the header of ``ipadm show-prop``, less with rows or calls alone."""
    head = text[: 1 << 20]
    if re.search(r"^[ \t]{0,64}PROTO\s{1,8}PROPERTY\s{1,64}PERM\s", head, re.MULTILINE):
        return 100
    if re.search(r"^\$ .*\b(?:ipadm (?:show|set)-prop\b|ndd (?:-[gs]et |/dev/))", head, re.MULTILINE):
        return 90
    rows = sum(1 for line in head[:65536].splitlines() if _fields(line[:512]) is not None)
    return 70 if rows else 0


def parse_ipadm(text: str) -> Parsed:
    """``props`` as read first, ``after_set`` as read after a set, ``asked`` for by it, ``ndd`` values.

    Solaris 11.2 and later print hyphens in names, illumos underscores: that tells them apart.
    """
    props: list[Json] = []
    after: list[Json] = []
    asked: list[Json] = []
    ndd: dict[str, Json] = {}
    rest: list[str] = []
    pending: str | None = None
    was_set = False
    for raw in text.splitlines():
        line = raw[:8192].strip()
        fields = _fields(line)
        call = _NDD.fullmatch(line)
        if call is not None:
            pending = call["name"]
        elif line.startswith("$ "):
            pending = None
            if _SET.match(line):
                was_set = True
                asked += [{"name": m["name"], "value": m["value"]} for m in _SETTING.finditer(line)]
        elif fields is not None:
            if was_set:
                after.append({key: fields[key] for key in ("property", "current", "persistent")})
            else:
                props.append(dict(fields))
        elif pending is not None and _NDD_VALUE.fullmatch(line):
            ndd[pending] = line
            pending = None
        elif line and not _HEADER.fullmatch(line):
            rest.append(line)
    values: dict[str, Json] = {
        str(p["property"]): p["current"] for p in [*props, *after] if isinstance(p, dict)
    }
    extra: dict[str, Json] = {"props": props}
    optional: dict[str, Json] = {"ndd": ndd, "after_set": after, "asked": asked}
    extra |= {name: value for name, value in optional.items() if value}
    os = "solaris" if any("-" in name for name in values) else "illumos"
    return Parsed(os, "ipadm", "ipadm show-prop", values | ndd, (), rest, extra)


IPADM_PARSERS = (
    Parser("ipadm", "illumos", "ipadm show-prop", recognize_ipadm, parse_ipadm, transcript=True),
)
