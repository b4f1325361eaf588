"""The values that lock everyone out: a first buffer above 8/9 of kern.ipc.maxsockbuf.

The kernel checks neither; from then on every TCP socket() fails with ENOBUFS, and no new connection
is accepted (seen on FreeBSD 14.2: "soreserve() failed").  Source: sys/kern/uipc_sockbuf.c
(soreserve, sbreserve_locked); xnu bsd/kern/uipc_socket2.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms.bsd.sockbuf import maxsockbuf_for, usable
from hostcfg.platforms.bsd.values import parse_int

if TYPE_CHECKING:
    from collections.abc import Mapping

MAXSOCKBUF = "kern.ipc.maxsockbuf"
FIRST_BUFFERS = ("net.inet.tcp.sendspace", "net.inet.tcp.recvspace")


def lockout_risk(values: Mapping[str, int]) -> str | None:
    """Why no new TCP connection can be made with these values (native key -> bytes); None: it can.

    A key that is not in ``values`` decides nothing: give the whole of what will be in force.
    """
    cap = values.get(MAXSOCKBUF)
    if cap is None:
        return None
    limit = usable(cap)
    for name in FIRST_BUFFERS:
        size = values.get(name)
        if size is not None and (size > limit or size < 0):
            needed = "" if size < 0 else f"; it needs {MAXSOCKBUF} of at least {maxsockbuf_for(size)}"
            return (
                f"{name} = {size} is above 8/9 of {MAXSOCKBUF} = {cap} ({limit} bytes): every new TCP socket "
                f"fails with ENOBUFS and nobody can connect any more{needed}"
            )
    return None


def lockout_risk_of_texts(values: Mapping[str, str]) -> str | None:
    """:func:`lockout_risk` of raw values; a text that is no integer decides nothing."""
    numbers = {name: parse_int(values[name]) for name in (MAXSOCKBUF, *FIRST_BUFFERS) if name in values}
    return lockout_risk({name: number for name, number in numbers.items() if number is not None})
