"""iperf records as CSV, one row a measurement or one an interval."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from hostcfg.platforms.iperf.measure import RECORD_FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Json, Parsed

INTERVAL_FIELDS = (
    "record",
    "start",
    "end",
    "bytes",
    "bps",
    "retransmits",
    "cwnd_bytes",
    "peer_window_bytes",
    "rtt_us",
    "omitted",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t")


def records_csv(parsed: Parsed, *, intervals: bool = False) -> str:
    """The records of an iperf result as CSV with a header line (RFC 4180, ``\\n`` line ends).

    ``intervals``: one row for each interval of all streams together, with the number of its record
    (from 1) in front.  Unknown values are empty.
    """
    found = parsed.values.get("records")
    records = [r for r in found if isinstance(r, dict)] if isinstance(found, list) else []
    if not intervals:
        return _written(RECORD_FIELDS, records)
    rows: list[Mapping[str, Json]] = []
    for number, record in enumerate(records, 1):
        inner = record.get("intervals")
        rows += (
            [{"record": number} | i for i in inner if isinstance(i, dict)] if isinstance(inner, list) else []
        )
    return _written(INTERVAL_FIELDS, rows)


def _written(fields: Sequence[str], rows: Sequence[Mapping[str, Json]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows([[cell(row.get(name)) for name in fields] for row in rows])
    return out.getvalue()


def cell(value: Json) -> str | int | float:
    """A value as CSV has it; text that a spreadsheet would run as a formula gets a quote in front."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
