"""``ss -ti`` with any of ``-nmpeoO``: what each TCP socket is limited by.

Sample::

    State Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
    ESTAB 0      127424      10.0.0.1:33348     10.0.0.2:5201
             cubic wscale:1,1 rto:320 rtt:116.997/21.532 mss:1448 cwnd:115 bytes_acked:1741622
             rwnd_limited:2288ms(63.8%) sndbuf_limited:612ms(17.1%) notsent:63712 snd_wnd:64088

(In the real output the last two lines are one.)  ``wscale`` is the peer's shift and our own, ``rtt``
the smoothed time and its deviation in ms.  ``rwnd_limited`` is the time in which the receiver's
window held the sender up, ``sndbuf_limited`` that of its own buffer: misc/ss.c of iproute2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.parsers.ss_info import info_of
from hostcfg.platforms.linux.parsers.text import BLANKS, clean, head, prompted, share, whole

if TYPE_CHECKING:
    import re

    from hostcfg.model import Json

    Row = dict[str, Json]

_STATES = (
    "ESTAB|LISTEN|SYN-SENT|SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|UNCONN|CLOSED"
)
_ZONE = r"(?:%[\w.-]{1,20})?"
_HOST = rf"(?:\[[0-9a-fA-F:.]{{2,45}}\]{_ZONE}|[\w.*-]{{1,255}}{_ZONE}|[0-9a-fA-F:]{{2,45}})"
_PORT = r"[\w*-]{1,32}"
_SOCKET = regex(
    rf"(?:(?P<netid>tcp|mptcp|udp|sctp|dccp)[ \t]+)?(?:(?P<state>{_STATES})[ \t]+)?"
    r"(?P<recv_q>[0-9]{1,15})[ \t]+(?P<send_q>[0-9]{1,15})[ \t]+"
    rf"(?P<local>{_HOST}:{_PORT})[ \t]+(?P<peer>{_HOST}:{_PORT})(?P<rest>(?:[ \t].*)?)"
)
_TITLE = regex(r"(?:Netid[ \t]+)?(?:State[ \t]+)?Recv-Q[ \t]+Send-Q[ \t].*")
_A_MOMENT = 1 << 18
"""Bytes that may be sent or acknowledged between two readings of the kernel's."""
# The fields of a row in `rows`, as text: what decides how fast a sender is.
FIELDS = (
    "wscale",
    "rtt",
    "minrtt",
    "mss",
    "cwnd",
    "snd_wnd",
    "bytes_acked",
    "rwnd_limited",
    "sndbuf_limited",
    "notsent",
    "unacked",
    "retrans",
)


def parse(text: str) -> Parsed:
    """``values.sockets``: typed rows; ``rows``: what limits each socket, as printed (null: not printed)."""
    sockets: list[Json] = []
    rows: list[Json] = []
    unrecognized: list[str] = []
    current: tuple[Row, Row] | None = None
    for line in clean(text).split("\n"):
        stripped = line.strip(BLANKS)
        if not stripped or _TITLE.fullmatch(stripped) or prompted(stripped) is not None:
            continue
        found = _SOCKET.fullmatch(stripped)
        if found is not None:
            current = _socket(found)
            sockets.append(current[0])
            rows.append(current[1])
            details = found["rest"]
        elif current is not None and line[0] in BLANKS:
            details = stripped
        else:
            current, details = None, ""
        if current is None or not _take(details, *current, own_line=found is None):
            unrecognized.append(stripped)
    return Parsed("linux", "ss", "ss -tin", {"sockets": sockets}, (), unrecognized, {"rows": rows})


def _socket(found: re.Match[str]) -> tuple[Row, Row]:
    send_q = int(found["send_q"])
    socket: Row = {
        "state": found["state"],
        "recv_q": int(found["recv_q"]),
        "send_q": send_q,
        "local": found["local"],
        "peer": found["peer"],
    }
    row: Row = {"peer": found["peer"], "send_q": send_q} | dict.fromkeys(FIELDS)
    return socket, row


def _take(details: str, socket: Row, row: Row, *, own_line: bool) -> bool:
    """Adds what the kernel says about the socket; False for a line that says nothing about one."""
    info, texts = info_of(details)
    if own_line and (not info or not info.keys().isdisjoint(socket)):
        return False  # nothing of ss, or of a socket whose own line is lost
    if own_line and _is_anothers(socket, info):
        return False
    socket |= {name: value for name, value in info.items() if name not in socket}
    row |= {name: text for name, text in texts.items() if name in FIELDS}
    return True


def _is_anothers(socket: Row, info: Row) -> bool:
    """Whether what the kernel says can't be of the socket above it.

    Send-Q is what was written and is not acknowledged: what is in flight and what is not sent yet
    (net/ipv4/tcp_diag.c, tcp_get_info()).  It is read a moment before the rest.
    """
    if socket["state"] not in ("ESTAB", None) or "rtt_ms" not in info:
        return False
    queued, waiting = whole(socket["send_q"]) or 0, whole(info.get("notsent")) or 0
    if (queued == 0) != (waiting == 0 and not info.get("unacked")):
        return True
    sent, acked = whole(info.get("bytes_sent")), whole(info.get("bytes_acked"))
    if sent is None or acked is None:
        return False
    again = whole(info.get("bytes_retrans")) or 0
    return abs(sent - again - acked + waiting - queued) > _A_MOMENT


def recognize(text: str) -> int:
    """High for the title line of ss, or for lines with queues, addresses and ports."""
    lines = head(text)
    sockets = sum(_SOCKET.fullmatch(line.strip(BLANKS)) is not None for line in lines)
    titles = sum(_TITLE.fullmatch(line.strip(BLANKS)) is not None for line in lines)
    details = sum(line[0] in BLANKS and bool(info_of(line)[1]) for line in lines)
    if not sockets and not titles:
        return 0
    return share(sockets + titles + details, lines, 96 if titles or details else 80)


SS = Parser("ss", "linux", "ss -tin", recognize, parse)
