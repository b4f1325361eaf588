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
    Line = Callable[["Block", str], Row | None]

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
_COALESCE = regex(r"(?P<name>[a-z][\w-]{1,60}):[ \t]*(?P<value>-?(?:0|[1-9][0-9]{0,9})|n/a|on|off)")
_PAUSE = regex(r"(?P<name>Autonegotiate|RX|TX|RX negotiated|TX negotiated):[ \t]*(?P<value>on|off)")
_DRIVER = regex(r"(?P<name>[a-z][a-z-]{1,40}):(?: (?P<value>.*))?")
_DRIVER_NAMES = frozenset(
    {"driver", "version", "firmware-version", "expansion-rom-version", "bus-info"}
    | {f"supports-{what}" for what in ("statistics", "test", "eeprom-access", "register-dump", "priv-flags")}
)


# The rows of -g in the order in which every release prints them; which of them have a maximum.
_RINGS = (
    *("rx", "rx_mini", "rx_jumbo", "tx", "rx_buf_len", "cqe_size", "tx_push", "rx_push"),
    *("tx_push_buff_len", "tcp_data_split", "hds_thresh"),
)
_WITH_MAXIMUM = frozenset({"rx", "rx_mini", "rx_jumbo", "tx", "tx_push_buff_len", "hds_thresh"})
_RING_HEADINGS = {"Pre-set maximums:": "_max", "Current hardware settings:": "_now"}


@dataclass(slots=True)
class Block:
    """What was printed about one interface.

    ``section`` is the heading that a line stands under, ``rows`` what stands under it so far, ``line``
    the last line.  Once ``is_over``, a heading or a title is lost: what follows is nobody's.
    """

    name: str | None
    values: Row = field(default_factory=dict)
    section: str = ""
    sections: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    last: str = ""
    line: str = ""
    is_over: bool = False


def _takes(line: Line, block: Block, stripped: str) -> bool:
    """Takes one line into ``block``; a name that it holds already is that of the next interface."""
    if block.is_over or stripped == block.line:
        return False
    new = line(block, stripped)
    if new is None:
        return False
    if not new.keys().isdisjoint(block.values):
        block.is_over = True
        return False
    block.values |= new
    block.line = stripped
    return True


def _feature(block: Block, stripped: str) -> Row | None:
    del block
    found = _FEATURE.fullmatch(stripped)
    return None if found is None else {found["name"]: found["value"]}


def _ring(block: Block, stripped: str) -> Row | None:
    heading = _RING_HEADINGS.get(stripped)
    if heading is not None:
        block.is_over = heading in block.sections
        block.section, block.rows = heading, []
        block.sections.append(heading)
        return None if block.is_over else {}
    found = _RING.fullmatch(stripped)
    if found is None or not block.section:
        return None
    name = re.sub(r"[ /-]", "_", found["name"]).lower()
    if not _follows(name, block):
        block.section = ""
        return None
    block.rows.append(name)
    return {name + ("_max" if block.section == "_max" else ""): _scalar(found["value"])}


def _follows(name: str, block: Block) -> bool:
    """Whether a row can stand where it does; where it can't, the next heading is lost above it."""
    if block.section == "_max" and name not in _WITH_MAXIMUM:
        for row in block.rows[4:]:  # below the four there may be others of either
            del block.values[f"{row}_max"]
        return False
    if name not in _RINGS:
        return True
    known = [row for row in block.rows if row in _RINGS]
    return not known or _RINGS.index(name) > _RINGS.index(known[-1])


def _pause(block: Block, stripped: str) -> Row | None:
    del block
    found = _PAUSE.fullmatch(stripped)
    return None if found is None else {found["name"].lower().replace(" ", "_"): found["value"]}


def _coalesce(block: Block, stripped: str) -> Row | None:
    del block
    pair, found = _PAIR.fullmatch(stripped), _COALESCE.fullmatch(stripped)
    if pair is not None:
        first = pair["first"].lower().replace(" ", "-")
        return {f"{first}-rx": _scalar(pair["rx"]), f"{first}-tx": _scalar(pair["tx"])}
    return None if found is None else {found["name"]: _scalar(found["value"])}


def _driver(block: Block, stripped: str) -> Row | None:
    del block
    found = _DRIVER.fullmatch(stripped)
    if found is None or found["name"] not in _DRIVER_NAMES:
        return None
    return {found["name"]: (found["value"] or "").strip(BLANKS)}


def _settings(block: Block, stripped: str) -> Row | None:
    row, block.last = settings_line(block.values, block.last, stripped)
    return row


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
        elif block is None or not _takes(form.line, block, stripped):
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
    matched = sum(_takes(form.line, block, line) for line in lines)
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
