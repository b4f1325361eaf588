"""``Get-NetTCPSetting`` and ``Get-NetOffloadGlobalSetting`` as list, table or JSON.

::

    SettingName                   : Internet
    MinRto(ms)                    : 300
    CongestionProvider            : CTCP

Property names and values are English on every system.  Numbers in JSON are the enums of
MSFT_NetTCPSetting and MSFT_NetOffloadGlobalSetting (Microsoft's class documentation).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.windows.domains import PROVIDERS, TEMPLATES, first_word
from hostcfg.platforms.windows.enums import ENUMS
from hostcfg.platforms.windows.powershell_errors import says_error
from hostcfg.platforms.windows.templates import TCP_NAMES, in_order, steps_back
from hostcfg.platforms.windows.text import MAX_LINES, is_rule, plain_text
from hostcfg.platforms.windows.usage import HEAD_CHARS, is_usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostcfg.model import Json
    from hostcfg.platforms.windows.templates import Record

_LIST_ROW = regex(r"\s*(?P<name>[A-Z]\w{1,60}(?:\((?:ms|MSS)\))?)\s*:(?:\s+(?P<cell>.*))?")
_HUMPS = regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OFFLOAD_NAMES = _words(
    """ReceiveSideScaling ReceiveSegmentCoalescing Chimney TaskOffload NetworkDirect
    NetworkDirectAcrossIPSubnets PacketCoalescingFilter"""
)
_NUMBERS = _words(
    """min_rto_ms initial_congestion_window_mss delayed_ack_timeout_ms delayed_ack_frequency initial_rto_ms
    dynamic_port_range_start_port dynamic_port_range_number_of_ports max_syn_retransmissions
    auto_reuse_port_range_start_port auto_reuse_port_range_number_of_ports"""
)


def snake_case(name: str) -> str:
    """A property's name as `hostcfg parse` prints it, the same for the list and the JSON form.

    >>> snake_case("InitialCongestionWindow(MSS)"), snake_case("NetworkDirectAcrossIPSubnets")
    ('initial_congestion_window_mss', 'network_direct_across_ip_subnets')
    """
    plain = name.replace("(", " ").replace(")", "").replace("MSS", "Mss")
    return "_".join(_HUMPS.sub(" ", plain).lower().split())


def parse_tcp_setting(raw: str) -> Parsed:
    """``template.property`` for each template; null where the output holds an empty value."""
    return _parse(raw, "get-nettcpsetting", "Get-NetTCPSetting", TCP_NAMES)


def parse_offload(raw: str) -> Parsed:
    """The global offload switches."""
    return _parse(raw, "get-netoffloadglobalsetting", "Get-NetOffloadGlobalSetting", _OFFLOAD_NAMES)


def _parse(raw: str, kind: str, command: str, known: frozenset[str]) -> Parsed:
    values: dict[str, Json] = {}
    bad: list[str] = []
    twice: set[str] = set()
    records, rest = _records(raw, known)
    for record in records:
        prefix = _prefix(record)
        if prefix is None:
            bad += [line for _, line in record.values()]
            continue
        for name, (cell, line) in record.items():
            key = snake_case(name)
            if key == "setting_name":
                continue
            ok, value = _value(key, cell)
            full = f"{prefix}{key}"
            if not ok or values.get(full, value) != value:
                bad.append(line)
                twice |= {full} if ok else set()
            else:
                values[full] = value
    values = {key: value for key, value in values.items() if key not in twice}
    return Parsed("windows", kind, command, values, (), (*bad, *rest))


def _prefix(record: Mapping[str, tuple[Json, str]]) -> str | None:
    """The template's name and a dot, "" where the record has none, None where that is no name."""
    if "SettingName" not in record:
        return ""
    name = record["SettingName"][0]
    template = name.strip().lower() if isinstance(name, str) else ""
    return f"{template}." if template in TEMPLATES else None


def _records(raw: str, known: frozenset[str]) -> tuple[list[Record], list[str]]:
    """Objects as property -> (cell, its line), and the lines that belong to none."""
    if is_usage(raw):
        return [], [line for line in raw.splitlines() if line.strip()]
    document = _json(raw)
    if document is not None:
        return _json_records(document, known), []
    text = plain_text(raw)
    lines = text.lines
    if len(lines) > MAX_LINES:
        return [], [line.strip() for line in lines if line.strip()]
    if any(is_rule(line) for line in lines):
        found = _table_records(lines, known, closed=text.closed)
        if found is not None:
            return found
    return _list_records(lines, known, closed=text.closed)


def _json(raw: str) -> list[Mapping[str, Json]] | None:
    body = raw.strip().lstrip("\ufeff")
    if body[:1] not in ("[", "{"):
        return None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    items = document if isinstance(document, list) else [document]
    return items if items and all(isinstance(item, dict) for item in items) else None


def _json_records(items: Sequence[Mapping[str, Json]], known: frozenset[str]) -> list[Record]:
    return [
        {name: (cell, json.dumps({name: cell})) for name, cell in item.items() if name in known}
        for item in items
    ]


def _list_records(
    lines: Sequence[str], known: frozenset[str], *, closed: bool
) -> tuple[list[Record], list[str]]:
    records: list[Record] = []
    rest: list[str] = []
    record: Record = {}
    last = len(lines) - 1
    spread = sum(not line.strip() for line in lines) > len(lines) // 3  # a mail with doubled line ends
    for index, line in enumerate(lines):
        if not line.strip() and not spread:
            record = {}  # a blank line stands between two objects
        found = _LIST_ROW.fullmatch(line)
        name = found["name"].partition("(")[0] if found else ""
        if found is None or name not in known:
            rest += [line.strip()] if line.strip() else []
            continue
        if name == "SettingName" or found["name"] in record or steps_back(record, name):
            record = {}
        if not record:
            records.append(record)
        cell: Json = (found["cell"] or "").strip() or None
        if index == last and not closed and _may_be_cut(cell):
            rest.append(line.strip())
            continue
        record[found["name"]] = (cell, line.strip())
    return in_order(records, rest)


def _may_be_cut(cell: Json) -> bool:
    """Whether a cell at which the text ends could have been longer: words show it, these do not."""
    return cell is None or (isinstance(cell, str) and cell.isdecimal())


def _table_records(
    lines: Sequence[str], known: frozenset[str], *, closed: bool
) -> tuple[list[Record], list[str]] | None:
    """Rows of Format-Table; columns that are empty on a row can only be the last ones."""
    rule = next(i for i, line in enumerate(lines) if is_rule(line))
    heading = next((lines[i].split() for i in range(rule - 1, -1, -1) if lines[i].strip()), [])
    plain = [name.partition("(")[0] for name in heading]
    if not plain or not set(plain) & known:
        return None
    records: list[Record] = []
    rest = [line.strip() for line in lines[:rule] if line.strip() and line.split() != heading]
    for index, line in enumerate(lines[rule + 1 :], rule + 1):
        cells = line.split()
        if not cells or is_rule(line):
            continue
        cut = index == len(lines) - 1 and not closed and (len(cells) == 1 or _may_be_cut(cells[-1]))
        if cut or len(cells) > len(heading) or (1 < len(cells) < len(heading)):
            rest.append(line.strip())
            continue
        padded: list[Json] = [*cells, *[None] * (len(heading) - len(cells))]
        pairs = zip(heading, plain, padded, strict=True)
        records.append({name: (cell, line.strip()) for name, bare, cell in pairs if bare in known})
    return records, rest


def _value(key: str, cell: Json) -> tuple[bool, Json]:
    """Whether ``cell`` is a value that ``key`` can have, and that value."""
    if cell is None or cell == "":
        return True, None
    if isinstance(cell, bool):
        return True, cell
    if isinstance(cell, str):
        word = first_word(cell)
        if word is None:
            return False, None
        cell = int(word) if word.isascii() and word.isdigit() and len(word) < 12 else word
    if isinstance(cell, int):
        if key in _NUMBERS:
            return cell >= 0, cell
        meaning = ENUMS.get(key, {})
        return cell in meaning, meaning.get(cell)
    if not isinstance(cell, str) or key in _NUMBERS or not cell.isalnum():
        return False, None
    return _word(key, cell.lower())


def _word(key: str, word: str) -> tuple[bool, Json]:
    if key == "cwnd_restart":
        return word in {"true", "false"}, word == "true"
    allowed = {str(v) for v in ENUMS.get(key, {}).values()} | {"default"}
    if key == "congestion_provider":
        allowed |= set(PROVIDERS)
    if key == "timestamps":
        allowed.add("allowed")
    if key == "auto_tuning_level_group_policy":
        allowed.add("notconfigured")
    return word in allowed, word


# -- recognition ------------------------------------------------------------------------------------


def _names_in(raw: str) -> Iterator[str]:
    head = raw[:HEAD_CHARS]
    for line in plain_text(head).lines[:2000]:
        found = _LIST_ROW.fullmatch(line)
        if found is not None:
            yield found["name"].partition("(")[0]
    if head.lstrip("\ufeff \r\n")[:1] in ("[", "{"):
        yield from re.findall(r'"([A-Z]\w{1,60})"\s*:', head)
    yield from head.split(None, 40)[:40]  # the heading of a table


def _recognize_tcp_setting(raw: str) -> int:
    return _recognize(raw, TCP_NAMES, "SettingName")


def _recognize_offload(raw: str) -> int:
    return _recognize(raw, _OFFLOAD_NAMES, "NetworkDirectAcrossIPSubnets")


def _recognize(raw: str, known: frozenset[str], telling: str) -> int:
    if is_usage(raw) or says_error(raw):
        return 0
    names = {name.partition("(")[0] for name in _names_in(raw)} & known
    if telling in names and len(names) > 1:
        return 96
    return min(90, 30 + 20 * len(names)) if len(names) > 1 else 0


PARSERS = (
    Parser("get-nettcpsetting", "windows", "Get-NetTCPSetting", _recognize_tcp_setting, parse_tcp_setting),
    Parser(
        "get-netoffloadglobalsetting",
        "windows",
        "Get-NetOffloadGlobalSetting",
        _recognize_offload,
        parse_offload,
    ),
)
