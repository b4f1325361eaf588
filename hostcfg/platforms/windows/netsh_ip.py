"""``netsh interface ipv4|ipv6 show subinterfaces``, ``show interfaces`` and ``show dynamicport``.

::

       MTU  MediaSenseState   Bytes In  Bytes Out  Interface
    ------  ---------------  ---------  ---------  -------------
    4294967295                1          0      27509  Loopback Pseudo-Interface 1

Columns overflow, so rows are read from the left: numbers, then the rest is the name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.windows.domains import number
from hostcfg.platforms.windows.mapping import Row, rows_of, split_row
from hostcfg.platforms.windows.netsh_tcp import POSITION_NOTE
from hostcfg.platforms.windows.text import is_rule, plain_text
from hostcfg.platforms.windows.usage import HEAD_CHARS, is_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostcfg.model import Json
    from hostcfg.platforms.windows.text import Text

NO_MTU = 4294967295
"""What the loopback shows: no limit (0xffffffff)."""

_SUBINTERFACE = regex(
    r"\s*(?P<mtu>\d{1,10})\s+(?P<media>\d)\s+(?P<into>\d{1,20})\s+(?P<out>\d{1,20})\s+(?P<name>\S.*)"
)
_INTERFACE = regex(
    r"\s*(?P<idx>\d{1,10})\s+(?P<metric>\d{1,10})\s+(?P<mtu>\d{1,10})\s+(?P<state>\S+)\s+(?P<name>\S.*)"
)
_HEADING = regex(r"MediaSenseState|^\s*Idx\b")
_STATES = frozenset({"connected", "disconnected"})
_NAME_END = regex(r"(?:Pseudo-Interface|(?:Network )?Connection|Adapter)\*?(?: \d{1,3})?")
_MAIL_WIDTH = 71
"""Mail programs break lines between 72 and 80 columns."""

_PROTOCOL = regex(r"(?<![a-z])(tcp|udp)(?![a-z])")
_SYSCTL = regex(r"\s{0,16}[a-z]\w{0,40}\.\w")  # "net.inet.tcp.keepidle: 7200": ports have titles of words
_START = regex(
    r"start|début|démarrage|inici|inizi|начал|启动|起始|啟動|開始|开始|시작|począt|begin|başla|počát|první"
)
_COUNT = regex(r"number|anzahl|nombre|número|numero|nº|числ|колич|数|數|수|liczba|aantal|sayısı|počet|antal")
_port = number(1, 65535)
_TUNNELS = ("isatap", "6to4", "teredo")


def parse_subinterfaces(raw: str) -> Parsed:
    """``subinterfaces``: MTU in bytes, media sense state, bytes in and out, and the interface's name."""
    text = plain_text(raw)
    rows, rest, notes = _rows(text, raw, _subinterface)
    values: dict[str, Json] = {"subinterfaces": rows} if rows else {}
    command = _command(
        text, "subinterfaces", [str(row["interface"]) for row in rows if isinstance(row, dict)]
    )
    return Parsed("windows", "netsh-subinterfaces", command, values, notes, rest)


def _subinterface(line: str) -> Json:
    found = _SUBINTERFACE.fullmatch(line)
    if found is None or int(found["mtu"]) > NO_MTU:
        return None
    return {
        "mtu": int(found["mtu"]),
        "media_sense_state": int(found["media"]),
        "bytes_in": int(found["into"]),
        "bytes_out": int(found["out"]),
        "interface": found["name"].strip(),
    }


def parse_interfaces(raw: str) -> Parsed:
    """``interfaces``: index, metric, MTU in bytes, state and name."""
    text = plain_text(raw)
    rows, rest, notes = _rows(text, raw, _interface)
    values: dict[str, Json] = {"interfaces": rows} if rows else {}
    command = _command(text, "interfaces", [str(row["name"]) for row in rows if isinstance(row, dict)])
    return Parsed("windows", "netsh-interfaces", command, values, notes, rest)


def _interface(line: str) -> Json:
    found = _INTERFACE.fullmatch(line)
    if found is None or found["state"].lower() not in _STATES or int(found["mtu"]) > NO_MTU:
        return None
    return {
        "idx": int(found["idx"]),
        "metric": int(found["metric"]),
        "mtu": int(found["mtu"]),
        "state": found["state"].lower(),
        "name": found["name"].strip(),
    }


def _command(text: Text, what: str, names: Sequence[str]) -> str:
    """The command as typed where a prompt shows it; tunnel interfaces are of IPv6 only."""
    typed = (text.command or "").lower()
    tunnels = any(word in name.lower() for name in names for word in _TUNNELS)
    family = "ipv6" if "ipv6" in typed or ("ipv4" not in typed and tunnels) else "ipv4"
    return f"netsh interface {family} show {what}"


def _rows(text: Text, raw: str, read: Callable[[str], Json]) -> tuple[list[Json], list[str], list[str]]:
    """Rows, the lines that are neither rows nor headings, and notes; usage text has no rows."""
    rows: list[Json] = []
    rest: list[str] = []
    notes: list[str] = []
    lines = list(text.lines)
    usage = is_usage(raw)
    rule = next((i for i, line in enumerate(lines) if is_rule(line)), -1)
    heading = next((i for i in range(rule - 1, -1, -1) if lines[i].strip()), -1)
    at = 0
    while at < len(lines):
        line, start = lines[at], at
        at += 1
        if not line.strip() or is_rule(line) or start == heading:
            continue
        row = None if usage else read(line)
        if row is not None and at < len(lines) and _may_be_broken(line, lines[at], read):
            row = read(f"{line} {lines[at].strip()}") if _ends_a_name(line, lines[at]) else None
            if row is not None:
                notes.append(f"a line break inside the row of {lines[at].strip()!r} was undone")
                at += 1
        if row is None:
            rest.append(line.strip())
        else:
            rows.append(row)
    return rows, rest, notes


def _may_be_broken(line: str, following: str, read: Callable[[str], Json]) -> bool:
    """Whether a mail program may have broken the row before ``following``: nobody knows its name then."""
    if not following.strip() or is_rule(following) or read(following) is not None:
        return False
    if not following[0].isalpha() or _HEADING.search(following):
        return False
    first = following.split(maxsplit=1)[0]
    return len(line) + 1 + len(first) >= _MAIL_WIDTH and len(line) <= 80 and len(following) < 60


def _ends_a_name(line: str, following: str) -> bool:
    """Whether ``following`` is how Windows' own names end, or closes the parenthesis of this one."""
    open_parenthesis = line.count("(") > line.count(")") and following.rstrip().endswith(")")
    return open_parenthesis or bool(_NAME_END.fullmatch(following.strip()))


def parse_dynamicport(raw: str) -> Parsed:
    """``protocol``, ``start_port`` and ``number_of_ports``.  Two rows, whose order is fixed.

    ::

        Protocol tcp Dynamic Port Range
        ---------------------------------
        Start Port      : 49152
        Number of Ports : 16384
    """
    text = plain_text(raw)
    rows: list[Row] = []
    others = [line.strip() for line in text.lines if line.strip()]
    if not is_usage(raw):
        rows, others = rows_of(text)
    values: dict[str, Json] = {}
    heading = next((line for line in others if _PROTOCOL.search(line.lower())), None)
    if heading is not None and rows:
        found = _PROTOCOL.search(heading.lower())
        values["protocol"] = found[1] if found else None
    placed, bad = _port_rows(rows, values)
    notes = [POSITION_NOTE + ", ".join(placed)] if placed else []
    rest = bad + [line for line in others if line != heading]
    return Parsed(
        "windows", "netsh-dynamicport", "netsh interface ipv4 show dynamicport tcp", values, notes, rest
    )


def _port_rows(rows: Sequence[Row], values: dict[str, Json]) -> tuple[list[str], list[str]]:
    """Fill ``values``; return the labels told by their place and the lines that say nothing."""
    named = [_port_key(row) for row in rows]
    placed: list[str] = []
    order = ["start_port", "number_of_ports"]
    if len(rows) == 2 and all(name in (None, key) for name, key in zip(named, order, strict=True)):
        placed = [row.label for row, name in zip(rows, named, strict=True) if name is None]
        named = list(order)
    bad = []
    for row, name in zip(rows, named, strict=True):
        port = _port(row.word) if row.word is not None else None
        cut = row.cut and len(rows) != 2
        if name is None or port is None or cut or name in values:
            bad.append(row.line)
        else:
            values[name] = port
    if not set(order) & values.keys():
        values.pop("protocol", None)
    return placed, bad


def _port_key(row: Row) -> str | None:
    start, count = bool(_START.search(row.label)), bool(_COUNT.search(row.label))
    if start == count:
        return None
    return "start_port" if start else "number_of_ports"


def _recognize_subinterfaces(raw: str) -> int:
    return _recognize_rows(raw, _subinterface, "mediasensestate")


def _recognize_interfaces(raw: str) -> int:
    return _recognize_rows(raw, _interface, "idx")


def _recognize_rows(raw: str, read: Callable[[str], Json], heading: str) -> int:
    if is_usage(raw):
        return 0
    lines = plain_text(raw[:HEAD_CHARS]).lines[:2000]
    rows = sum(read(line) is not None for line in lines)
    titled = any(heading in line.lower().split() for line in lines[:60])
    if rows and titled:
        return 95
    return 85 if rows and any(is_rule(line) for line in lines[:60]) else 0


_LEAST = 255
"""netsh refuses a range of fewer ports, and one that starts below 1025."""


def _is_plausible(port: int | str | None) -> bool:
    return isinstance(port, int) and port >= _LEAST


def _recognize_dynamicport(raw: str) -> int:
    if is_usage(raw):
        return 0
    lines = [line for line in plain_text(raw[:8192]).lines if line.strip()][:12]
    if any(_SYSCTL.match(line) for line in lines):
        return 0
    titled = any(":" not in line and _PROTOCOL.search(line.lower()) for line in lines)
    rows = [row for row in map(split_row, lines) if row is not None]
    ports = [row for row in rows if row.word is not None and _is_plausible(_port(row.word))]
    if not ports or len(rows) > 2:
        return 0
    known = sum(_port_key(row) is not None for row in ports)
    if titled and len(ports) == 2:
        return 80 + 5 * known
    return 40 * (titled or known == 2)


PARSERS = (
    Parser(
        "netsh-subinterfaces",
        "windows",
        "netsh interface ipv4 show subinterfaces",
        _recognize_subinterfaces,
        parse_subinterfaces,
        transcript=True,
    ),
    Parser(
        "netsh-interfaces",
        "windows",
        "netsh interface ipv4 show interfaces",
        _recognize_interfaces,
        parse_interfaces,
        transcript=True,
    ),
    Parser(
        "netsh-dynamicport",
        "windows",
        "netsh interface ipv4 show dynamicport tcp",
        _recognize_dynamicport,
        parse_dynamicport,
    ),
)
