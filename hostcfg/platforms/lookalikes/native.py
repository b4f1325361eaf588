"""The few native keys of NetBSD, OpenBSD and DragonFly whose types matter here.

Sources: sysctl(7) and tcp(4) of NetBSD, sysctl(2) of OpenBSD, tcp(4) of DragonFly.
"""

from __future__ import annotations

from hostcfg.platforms.bsd.values import NativeKey, table


def _ints(*names: str) -> list[NativeKey]:
    return [NativeKey(name, "int", "") for name in names]


_BUFFERS = tuple(
    f"net.inet.tcp.{name}"
    for name in (
        *("sendspace", "recvspace", "sendbuf_auto", "sendbuf_inc", "sendbuf_max"),
        *("recvbuf_auto", "recvbuf_inc", "recvbuf_max"),
    )
)

NETBSD_KEYS = table(
    [
        *_ints(
            *_BUFFERS,
            *("kern.sbmax", "kern.somaxkva", "kern.mbuf.nmbclusters", "net.inet.tcp.init_win"),
            *("net.inet.tcp.init_win_local", "net.inet.tcp.rfc1323", "net.inet.tcp.win_scale"),
            *("net.inet.tcp.timestamps", "net.inet.tcp.sack.enable", "net.inet.tcp.ecn.enable"),
            *("net.inet.tcp.delack_ticks", "net.inet.tcp.mssdflt", "net.inet.ip.ifq.maxlen"),
        ),
        NativeKey("net.inet.tcp.congctl.selected", "word", ""),
        NativeKey("net.inet.tcp.congctl.available", "names", "", "read"),
    ]
)
OPENBSD_KEYS = table(
    _ints(
        *("net.inet.tcp.recvspace", "net.inet.tcp.sendspace", "net.inet.udp.recvspace"),
        *("net.inet.udp.sendspace", "net.inet.tcp.sack", "net.inet.tcp.rfc1323", "net.inet.tcp.ecn"),
        *("net.inet.tcp.rfc3390", "net.inet.tcp.mssdflt", "net.inet.ip.ifq.maxlen", "kern.maxclusters"),
        *("kern.somaxconn", "kern.bufcachepercent"),
    )
)
DRAGONFLY_KEYS = table(
    _ints(
        *_BUFFERS,
        *("kern.ipc.maxsockbuf", "kern.ipc.nmbclusters", "kern.ipc.nmbjclusters", "kern.ipc.nmbufs"),
        *("net.inet.tcp.rfc1323", "net.inet.tcp.sack", "net.inet.tcp.mssdflt"),
    )
)
