"""``ethtool`` and its ``-k``, ``-g``, ``-a``, ``-c`` and ``-i``, as text and as ``--json``.

Samples::

    Features for eth0:                         -k
    tcp-segmentation-offload: on
    large-receive-offload: off [fixed]

    Ring parameters for eth0:                  -g
    Pre-set maximums:
    RX:             4096

    Coalesce parameters for eth0:              -c
    Adaptive RX: on  TX: off
    rx-usecs: 50

``values`` are those of the interface; of several interfaces, ``interfaces`` holds one group each.
``on`` and ``off`` stay text where they were printed so, ``n/a`` is null.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.parsers.ethtool_settings import settings_line
from hostcfg.platforms.linux.parsers.text import (
    BLANKS,
    clean,
    find_json,
    head,
    number,
    prompted,
    rows_of,
    share,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.model import Json
    from hostcfg.platforms.linux.parsers.text import Found

    Row = dict[str, Json]
    Line = Callable[["Block", str], bool]

_TITLE = regex(
    r"(?P<title>Features|Ring parameters|Pause parameters|Coalesce parameters|Settings) for (?P<name>\S+):"
)
_ERROR = regex(
    r"(?:netlink error|ethtool|Cannot get [\w /,.-]{1,80}|Could not [\w /,.-]{1,80})(?::.*)?"
    r"|No data available|no \w+ available"
)
_ERROR_KINDS = (
    ("Operation not supported", "unsupported"),
    ("No such device", "unknown"),
    ("Operation not permitted", "denied"),
    ("Permission denied", "denied"),
    ("bad command line", "syntax"),
)
_FEATURE = regex(r"(?P<name>[a-z][\w-]{1,60}): (?P<value>(?:on|off)(?: \[[a-z ]{1,24}\])?)")
_RING = regex(r"(?P<name>[A-Z][\w /-]{0,40}):[ \t]*(?P<value>\S{1,20})")
_PAIR = regex(r"(?P<first>(?:Adaptive|CQE mode)) RX: (?P<rx>on|off|n/a)[ \t]+TX: (?P<tx>on|off|n/a)")
_COALESCE = regex(r"(?P<name>[a-z][\w-]{1,60}):[ \t]*(?P<value>-?[0-9]{1,10}|n/a|on|off)")
_PAUSE = regex(r"(?P<name>Autonegotiate|RX|TX|RX negotiated|TX negotiated):[ \t]*(?P<value>on|off)")
_DRIVER = regex(r"(?P<name>[a-z][a-z-]{1,40}):(?: (?P<value>.*))?")
_DRIVER_NAMES = frozenset(
    {"driver", "version", "firmware-version", "expansion-rom-version", "bus-info"}
    | {f"supports-{what}" for what in ("statistics", "test", "eeprom-access", "register-dump", "priv-flags")}
)


@dataclass(slots=True)
class Block:
    """What was printed about one interface; ``section`` is the heading that a line stands under."""

    name: str | None
    values: Row = field(default_factory=dict)
    section: str = ""
    last: str = ""


def _feature(block: Block, stripped: str) -> bool:
    found = _FEATURE.fullmatch(stripped)
    if found is None or found["name"] in block.values:
        return False
    block.values[found["name"]] = found["value"]
    return True


def _ring(block: Block, stripped: str) -> bool:
    if stripped in ("Pre-set maximums:", "Current hardware settings:"):
        block.section = "_max" if stripped.startswith("Pre") else "_now"
        return True
    found = _RING.fullmatch(stripped)
    if found is None or not block.section:
        return False
    name = re.sub(r"[ /-]", "_", found["name"]).lower() + ("_max" if block.section == "_max" else "")
    if name in block.values:
        return False
    block.values[name] = _scalar(found["value"])
    return True


def _pause(block: Block, stripped: str) -> bool:
    found = _PAUSE.fullmatch(stripped)
    if found is None:
        return False
    block.values[found["name"].lower().replace(" ", "_")] = found["value"]
    return True


def _coalesce(block: Block, stripped: str) -> bool:
    pair, found = _PAIR.fullmatch(stripped), _COALESCE.fullmatch(stripped)
    if pair is not None:
        first = pair["first"].lower().replace(" ", "-")
        block.values |= {f"{first}-rx": _scalar(pair["rx"]), f"{first}-tx": _scalar(pair["tx"])}
    elif found is not None and found["name"] not in block.values:
        block.values[found["name"]] = _scalar(found["value"])
    else:
        return False
    return True


def _driver(block: Block, stripped: str) -> bool:
    found = _DRIVER.fullmatch(stripped)
    if found is None or found["name"] not in _DRIVER_NAMES or found["name"] in block.values:
        return False
    block.values[found["name"]] = (found["value"] or "").strip(BLANKS)
    return True


def _settings(block: Block, stripped: str) -> bool:
    name = settings_line(block.values, block.last, stripped)
    block.last = name or ""
    return name is not None


def _scalar(text: str) -> Json:
    if text.lower() == "n/a":
        return None
    got = number(text)
    return text if got is None else got


@dataclass(frozen=True, slots=True)
class _Form:
    """One ethtool option: its heading, its lines, and a name by which its JSON is known."""

    kind: str
    command: str
    title: str | None
    line: Line
    json_names: frozenset[str]
    rename: Callable[[str], str] = str


_FORMS = (
    _Form("ethtool-k", "ethtool -k", "Features", _feature, frozenset({"tx-checksumming", "scatter-gather"})),
    _Form(
        "ethtool-g",
        "ethtool -g",
        "Ring parameters",
        _ring,
        frozenset({"rx-max", "tx-max"}),
        lambda name: name.replace("-", "_"),
    ),
    _Form("ethtool-a", "ethtool -a", "Pause parameters", _pause, frozenset({"autonegotiate"})),
    _Form(
        "ethtool-c", "ethtool -c", "Coalesce parameters", _coalesce, frozenset({"rx-usecs", "adaptive-rx"})
    ),
    _Form("ethtool-i", "ethtool -i", None, _driver, frozenset({"driver"})),
    _Form("ethtool", "ethtool", "Settings", _settings, frozenset({"link-detected", "supported-link-modes"})),
)


def _parse(form: _Form, text: str) -> Parsed:
    found = find_json(text)
    errors: list[Json] = []
    if found is not None:
        blocks, unrecognized = _from_json(form, found)
    else:
        blocks, unrecognized = _from_text(form, text, errors)
    blocks = [block for block in blocks if block.values]
    extra: Row = {"errors": errors} if errors else {}
    values: Row = {}
    if len(blocks) == 1:
        values = blocks[0].values
        if blocks[0].name is not None:
            extra["interface"] = blocks[0].name
    elif blocks:
        values = {"interfaces": {block.name or f"#{n}": block.values for n, block in enumerate(blocks, 1)}}
    return Parsed("linux", form.kind, form.command, values, (), unrecognized, extra)


def _from_text(form: _Form, text: str, errors: list[Json]) -> tuple[list[Block], list[str]]:
    blocks = [Block(None)]
    block: Block | None = blocks[0]
    unrecognized: list[str] = []
    for line in clean(text).split("\n"):
        stripped = line.strip(BLANKS)
        if not stripped or prompted(stripped) is not None:
            continue
        title = _TITLE.fullmatch(stripped)
        if title is not None and title["title"] == form.title:
            block = Block(title["name"])
            blocks.append(block)
            continue
        if title is not None:
            block = None  # of another option
        elif form.title is None and stripped.startswith("driver:"):
            block = Block(None)
            blocks.append(block)
        if _ERROR.fullmatch(stripped):
            errors.append(_error(stripped, None if block is None else block.name))
        elif block is None or not form.line(block, stripped):
            unrecognized.append(stripped)
    return blocks, unrecognized


def _error(stripped: str, name: str | None) -> Json:
    kind = next((kind for phrase, kind in _ERROR_KINDS if phrase in stripped), "other")
    return {"name": name, "kind": kind, "text": stripped}


def _from_json(form: _Form, found: Found) -> tuple[list[Block], list[str]]:
    blocks = []
    for row in rows_of(found):
        name = row.pop("ifname", None)
        values = {form.rename(key): value for key, value in row.items()}
        blocks.append(Block(name if isinstance(name, str) else None, values))
    return blocks, list(found.rest)


def _recognize(form: _Form, text: str) -> int:
    found = find_json(text[:400_000])
    if found is not None:
        rows = rows_of(found)
        known = [row for row in rows if form.json_names & row.keys() and "ifname" in row]
        return 97 if rows and len(known) == len(rows) else 0
    lines = [line.strip(BLANKS) for line in head(text)]
    titles = [title for line in lines if (title := _TITLE.fullmatch(line))]
    errors = sum(_ERROR.fullmatch(line) is not None for line in lines)
    mine = sum(title["title"] == form.title for title in titles)
    if mine:
        return 97 if mine == len(titles) else 60
    if form.kind == "ethtool" and errors:
        return share(errors, lines, 70)  # an error alone does not say which option was given
    if titles:
        return 0
    block = Block(None)
    matched = sum(form.line(block, line) for line in lines)
    return _untitled(form, block.values, matched, lines)


def _untitled(form: _Form, values: Row, matched: int, lines: Sequence[str]) -> int:
    if form.kind == "ethtool-i":
        return share(matched, list(lines), 96) if "driver" in values else 0
    if form.kind == "ethtool-k" and values.keys() & {"tcp-segmentation-offload", "generic-receive-offload"}:
        return share(matched, list(lines), 90)
    return 0


def _parser(form: _Form) -> Parser:
    return Parser(
        form.kind,
        "linux",
        form.command,
        lambda text: _recognize(form, text),
        lambda text: _parse(form, text),
    )


ETHTOOL = tuple(_parser(form) for form in _FORMS)
"""One parser for each option, plain ``ethtool`` last; it also takes errors that name no option."""
