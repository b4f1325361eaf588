"""Multi-line values of sysctl(8) that are tables: the congestion controls and TCP stacks there are.

::

    net.inet.tcp.cc.available:
    CCmod           D PCB count
    cubic           * 21
    htcp              0

``*`` marks the default.  Up to FreeBSD 13.0 the value is one line, ``newreno, cubic``.
Sources: sys/netinet/cc/cc.c, sys/netinet/tcp_subr.c (sysctl_net_inet_list_available).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Json

_HEADERS = {
    "CCmod": regex(r"\s{0,64}CCmod\s+D\s+PCB count\s*"),
    "Stack": regex(r"\s{0,64}Stack\s+D\s+Alias\s+PCB count\s*"),
}
_ROWS = {
    "CCmod": regex(r"\s{0,64}(?P<name>[A-Za-z0-9_]+)\s+(?P<mark>\*\s+)?(?P<count>[0-9]{1,19})\s*"),
    "Stack": regex(
        r"\s{0,64}(?P<name>[A-Za-z0-9_]+)\s+(?P<mark>\*\s+)?[A-Za-z_]\w*\s+(?P<count>[0-9]{1,19})\s*"
    ),
}
"""A list of stacks has a column more: a row of one can't be taken for one of the other."""


@dataclass(frozen=True, slots=True)
class AvailableTable:
    """Names in the order printed, the default, PCBs per name, and the rows that are damaged."""

    names: tuple[str, ...]
    default: str | None
    pcb_count: dict[str, int]
    damaged: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        """As ``hostcfg parse`` prints it under ``tables``."""
        return {"names": list(self.names), "default": self.default, "pcb_count": dict(self.pcb_count)}


def table_kind(line: str) -> str | None:
    """Which table ``line`` heads; None if it is no header."""
    return next((kind for kind, header in _HEADERS.items() if header.fullmatch(line)), None)


def is_table_row(line: str) -> bool:
    """Whether ``line`` can be a whole row of a table."""
    return any(row.fullmatch(line) for row in _ROWS.values())


def parse_available(lines: Sequence[str]) -> AvailableTable | None:
    """The table in ``lines``; None without its header.  A row that is cut names nothing."""
    head = next(((index, kind) for index, line in enumerate(lines) if (kind := table_kind(line))), None)
    if head is None:
        return None
    counts: dict[str, int] = {}
    damaged: list[str] = []
    default: str | None = None
    for line in lines[head[0] + 1 :]:
        if not line.strip():
            continue
        row = _ROWS[head[1]].fullmatch(line)
        if row is None:
            damaged.append(line.strip())
            continue
        counts[row["name"]] = int(row["count"])
        default = row["name"] if row["mark"] else default
    return AvailableTable(tuple(counts), default, counts, tuple(damaged))
