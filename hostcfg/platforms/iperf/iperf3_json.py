"""iperf3 ``-J`` reports, client and server, whole, cut or in pieces, one or several in a text.

Sample (shortened)::

    {"start": {"connected": [{"socket": 5, "local_host": "10.0.0.1", ...}], "version": "iperf 3.12",
               "sock_bufsize": 131072, "sndbuf_actual": 262144, "test_start": {"reverse": 1, ...}},
     "intervals": [{"streams": [...], "sum": {"start": 0, "end": 1.0, "bits_per_second": 7905571.4}}],
     "end": {"streams": [...], "sum_sent": {...}, "sum_received": {...}, "sender_tcp_congestion": "reno"}}

``--json-stream`` prints the same as one event a line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.model import Parsed
from hostcfg.platforms.iperf.json_text import decimal, inner, objects, pieces, text_at
from hostcfg.platforms.iperf.measure import MOST_RECORDS, TOO_MANY, Interval, Record, integer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Json

    Object = Mapping[str, Json]

KIND, COMMAND = "iperf3-json", "iperf3 -c HOST -J"
_HEAD = 65536  # a report names itself in its first lines
_OS = {"linux": "linux", "freebsd": "freebsd", "darwin": "macos", "windows": "windows", "cygwin": "windows"}
FLAT = (
    "sock_bufsize",
    "sndbuf_actual",
    "rcvbuf_actual",
    "sent_bps",
    "received_bps",
    "retransmits",
    "mean_rtt_us",
    "max_snd_cwnd",
    "max_snd_wnd",
    "sender_congestion",
)


def recognize(text: str) -> int:
    """97 for a report, 70 for a piece of one."""
    head = text[:_HEAD]
    if "{" not in head:
        return 0
    if re.search(r'"version"\s*:\s*"iperf 3|"test_start"\s*:|"event"\s*:\s*"(?:start|interval|end)"', head):
        return 97
    return 70 if '"bits_per_second"' in head else 0


_PIECES = (None, "sum", "start", "end", "data")
"""A piece of another name is a summary, or of one stream: no interval."""


def parse(text: str) -> Parsed:
    """``values``: ``records`` and, of the first report, the fields of ``FLAT`` and ``error``."""
    documents: list[dict[str, Json]] = []
    unrecognized: list[str] = []
    notes: list[str] = []
    for piece in pieces(text):
        if piece.value is None or piece.name not in _PIECES:
            unrecognized += [line.strip() for line in piece.text.splitlines() if line.strip(" ,[]\t")]
            continue
        if piece.cut:
            notes.append("the report is cut: what was whole was read")
        if len(documents) >= MOST_RECORDS:
            notes.append(TOO_MANY)
            break
        _collect(documents, piece.value, cut=piece.cut)
    records = [record for document in documents for record in _records(document)]
    flat: dict[str, Json] = {}
    if documents:
        flat = _flat(documents[0]) | {"error": text_at(documents[0], "error")}
    values: dict[str, Json] = {"records": [record.document() for record in records], **flat}
    return Parsed(_os(documents), KIND, COMMAND, values, notes, unrecognized, flat)


def _collect(documents: list[dict[str, Json]], value: dict[str, Json], *, cut: bool) -> None:
    """Add ``value`` as a report; events and pieces (an interval, a stream's line) join one report."""
    if isinstance(value.get("start"), dict) or isinstance(value.get("end"), dict) or set(value) == {"error"}:
        documents.append({**value, "cut": cut})
        return
    event, data = value.get("event"), value.get("data")
    if event == "start" or not documents or not documents[-1].get("pieces"):
        documents.append({"pieces": True})
    last = documents[-1]
    if event in {"start", "end", "error"}:
        last[str(event)] = data
    elif "sum_sent" in value:
        last["end"] = value
    else:
        _add_interval(last, data if event == "interval" else value)


def _add_interval(document: dict[str, Json], value: Json) -> None:
    if not isinstance(value, dict):
        return
    if "streams" not in value and "sum" not in value:
        if "bits_per_second" not in value:
            return
        value = {"streams": [value]}
    there = document.setdefault("intervals", [])
    if isinstance(there, list):
        there.append(value)


def _records(document: Object) -> list[Record]:
    """One record a test and direction; one more for the server's own output where the client got it."""
    forward = _record(document, "", reverse=_is_reverse(document))
    found = [forward]
    if "sum_sent_bidir_reverse" in inner(document, "end"):
        found.append(_record(document, "_bidir_reverse", reverse=True))
    server = document.get("server_output_json")
    if isinstance(server, dict):
        found += _records(server)
    return found


def _is_reverse(document: Object) -> bool | None:
    flag = integer(inner(document, "start", "test_start").get("reverse"))
    return None if flag is None else flag != 0


def _record(document: Object, suffix: str, *, reverse: bool | None) -> Record:
    start, end = inner(document, "start"), inner(document, "end")
    test = inner(start, "test_start")
    sent, received = _sum(end, f"sum_sent{suffix}"), _sum(end, f"sum_received{suffix}")
    role = "server" if "accepted_connection" in start else "client" if "connecting_to" in start else None
    sends = None if reverse is None or role is None else reverse == (role == "server")
    sure = "duration" in test or "pieces" in document  # else its line is lost: that of -n says 0
    record = Record("iperf3")
    record.scalars = {
        "version": text_at(start, "version", strip="iperf "),
        "role": role,
        "protocol": text_at(test, "protocol"),
        "reverse": reverse,
        "started": text_at(inner(start, "timestamp"), "time"),
        "seconds": decimal(test.get("duration"))
        or (decimal((sent or received).get("seconds")) if sure else None),
        "omit_s": decimal(test.get("omit")),
        "window_bytes": None
        if sends is None
        else integer(start.get("sndbuf_actual" if sends else "rcvbuf_actual")),
        "requested_bytes": integer(start.get("sock_bufsize")) or None,
        "target_bps": integer(test.get("target_bitrate")) or None,
        "sndbuf_bytes": integer(start.get("sndbuf_actual")),
        "rcvbuf_bytes": integer(start.get("rcvbuf_actual")),
        "mss_bytes": integer(start.get("tcp_mss")) or integer(start.get("tcp_mss_default")) or None,
        "congestion": text_at(end, "sender_tcp_congestion"),
        "complete": bool(end) and document.get("cut") is not True,
        "error": text_at(document, "error"),
    }
    # A server does not know what its client sent, and prints 0 (and the other way round).
    record.scalars |= _rates("sent", sent, known=sends is True or integer(sent.get("bytes")) != 0)
    record.scalars |= _rates(
        "received", received, known=sends is False or integer(received.get("bytes")) != 0
    )
    _add_udp(record, end)
    _add_streams(record, start, end, reverse=suffix != "")
    _add_intervals(record, document, suffix)
    return record


def _rates(name: str, row: Object, *, known: bool) -> dict[str, Json]:
    if not known or not row:
        return {}
    found: dict[str, Json] = {
        f"{name}_bytes": integer(row.get("bytes")),
        f"{name}_bps": integer(row.get("bits_per_second")),
    }
    return found | ({"retransmits": integer(row.get("retransmits"))} if name == "sent" else {})


def _add_udp(record: Record, end: Object) -> None:
    if record.scalars.get("protocol") != "UDP":
        return
    row = inner(end, "sum")
    record.scalars |= {
        "jitter_ms": decimal(row.get("jitter_ms")),
        "lost_packets": integer(row.get("lost_packets")),
        "packets": integer(row.get("packets")),
    }


def _add_streams(record: Record, start: Object, end: Object, *, reverse: bool) -> None:
    """Ends of each connection, and what its two summaries say; of a two-way test only one way's."""
    ends = objects(start.get("connected"))
    results = objects(end.get("streams"))
    own = inner(end, "sum_sent_bidir_reverse" if reverse else "sum_sent").get("sender")
    two_way = "sum_sent_bidir_reverse" in end
    is_two_way = bool(inner(start, "test_start").get("bidir"))
    others: set[str] = set()
    for row in results:
        sender = inner(row, "sender") or inner(row, "udp")
        receiver = inner(row, "receiver")
        name = str(integer(sender.get("socket")))
        if name == "None":
            continue
        if two_way and sender.get("sender") != own:
            others.add(name)
            continue
        stream = record.stream(name)
        stream.sent_bps, stream.sent_bytes = (integer(sender.get(n)) for n in ("bits_per_second", "bytes"))
        stream.received_bps, stream.received_bytes = (
            integer(receiver.get(n)) for n in ("bits_per_second", "bytes")
        )
        stream.retransmits = integer(sender.get("retransmits"))
        if record.scalars.get("role") != "client" and 0 in (stream.sent_bytes, stream.sent_bps):
            stream.sent_bps = stream.sent_bytes = None  # a server does not know what its client sent
        stream.max_cwnd_bytes = integer(sender.get("max_snd_cwnd")) or None
        _keep_largest(record, sender)
    for row in ends:
        name = str(integer(row.get("socket")))
        if name in others or name == "None" or (is_two_way and not results):
            continue
        stream = record.stream(name)
        stream.local_host, stream.remote_host = text_at(row, "local_host"), text_at(row, "remote_host")
        stream.local_port, stream.remote_port = (integer(row.get(n)) for n in ("local_port", "remote_port"))


def _keep_largest(record: Record, sender: Object) -> None:
    """Windows and round trips over all streams; iperf3 prints 0 where it does not know them."""
    for name, source, least in (
        ("max_cwnd_bytes", "max_snd_cwnd", False),
        ("max_peer_window_bytes", "max_snd_wnd", False),
        ("mean_rtt_us", "mean_rtt", False),
        ("min_rtt_us", "min_rtt", True),
    ):
        value, there = integer(sender.get(source)), integer(record.scalars.get(name))
        if value:
            choose = min if least else max
            record.scalars[name] = value if there is None else choose(there, value)


def _add_intervals(record: Record, document: Object, suffix: str) -> None:
    wanted = set(record.streams)
    is_two_way = bool(inner(document, "start", "test_start").get("bidir"))
    alone = "pieces" in document
    ended = bool(objects(inner(document, "end").get("streams")))
    pmtu = []
    for row in objects(document.get("intervals")):
        total = row.get(f"sum{suffix}")
        if isinstance(total, dict) and (interval := _interval(total, None, alone=alone)) is not None:
            record.sums.append(interval)
        parts = objects(row.get("streams"))
        if not ended and (is_two_way or len({str(part.get("sender")) for part in parts}) > 1):
            continue  # a two-way test, cut before it says which stream runs which way
        for part in parts:
            name = str(integer(part.get("socket")))
            if wanted and name not in wanted and name != "None":
                continue
            if (interval := _interval(part, None if name == "None" else name, alone=alone)) is not None:
                record.parts.append(interval)
            pmtu.append(integer(part.get("pmtu")) or 0)
    record.scalars["mtu_bytes"] = max(pmtu, default=0) or None


def _interval(row: Object, stream: str | None, *, alone: bool) -> Interval | None:
    """None where a line is lost that says when it was; a piece that stands ``alone`` need not say it."""
    start, end, seconds = (decimal(row.get(name)) for name in ("start", "end", "seconds"))
    timeless = end is None and seconds is None
    if (start is None) != timeless or (timeless and not (alone and "bits_per_second" in row)):
        return None
    return Interval(
        start or 0.0,
        end if end is not None else round((start or 0.0) + (seconds or 0.0), 6),
        integer(row.get("bytes")),
        integer(row.get("bits_per_second")),
        stream,
        integer(row.get("retransmits")),
        integer(row.get("snd_cwnd")),
        integer(row.get("snd_wnd")),
        integer(row.get("rtt")),
        row.get("omitted") is True,
    )


def _flat(document: Object) -> dict[str, Json]:
    """The fields of ``FLAT``; of several streams the first one's. A piece of a report has none."""
    start, end = inner(document, "start"), inner(document, "end")
    if "test_start" not in start and "sum_sent" not in end:
        return {}
    first = next(iter(objects(end.get("streams"))), {})
    sender = inner(first, "sender") or inner(first, "udp")
    sent = _sum(end, "sum_sent")
    found: tuple[Json, ...] = (
        *(integer(start.get(name)) for name in FLAT[:3]),
        integer(sent.get("bits_per_second")),
        integer(_sum(end, "sum_received").get("bits_per_second")),
        integer(sent.get("retransmits")),
        *(integer(sender.get(name)) for name in ("mean_rtt", "max_snd_cwnd", "max_snd_wnd")),
        text_at(end, "sender_tcp_congestion"),
    )
    return dict(zip(FLAT, found, strict=True))


def _sum(end: Object, name: str) -> Object:
    """``end.sum_sent``; UDP of older versions has one ``end.sum``, whose bytes are the sent ones.

    Neither it nor a report that is cut behind ``sum_sent`` says what was received.
    """
    old = name == "sum_sent" and "sum_received" not in end
    return inner(end, name) or (inner(end, "sum") if old else {})


def _os(documents: Sequence[Object]) -> str:
    for document in documents:
        info = text_at(inner(document, "start"), "system_info") or ""
        word = re.match(r"[A-Za-z]*", info)
        if word and word[0].lower() in _OS:
            return _OS[word[0].lower()]
    return "any"
