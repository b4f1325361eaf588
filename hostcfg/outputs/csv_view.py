"""Parsed outputs as CSV: one row a measurement where there are some, else one row a value."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Json, Parsed


def parse_csv(found: Sequence[tuple[str, Parsed]]) -> str:
    """All files in one table (RFC 4180, ``\\n`` line ends); ``file`` is the first column.

    Records of iperf in their own columns if any file holds one, else ``file,name,value``.
    """
    from hostcfg.platforms.iperf.csv_text import cell
    from hostcfg.platforms.iperf.measure import RECORD_FIELDS

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    records = [(file, record) for file, parsed in found for record in _records(parsed)]
    if records:
        writer.writerow(["file", *RECORD_FIELDS])
        writer.writerows(
            [[file, *(cell(record.get(name)) for name in RECORD_FIELDS)] for file, record in records]
        )
        return out.getvalue()
    writer.writerow(["file", "name", "value"])
    for file, parsed in found:
        writer.writerows([[file, name, _text(value)] for name, value in parsed.values.items()])
    return out.getvalue()


def _records(parsed: Parsed) -> list[dict[str, Json]]:
    records = parsed.values.get("records")
    return [r for r in records if isinstance(r, dict)] if isinstance(records, list) else []


def _text(value: Json) -> str:
    if isinstance(value, list) and all(not isinstance(v, (list, dict)) for v in value):
        return " ".join(str(v) for v in value)
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
