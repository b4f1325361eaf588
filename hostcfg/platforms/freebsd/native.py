"""FreeBSD's native keys: type, scope, when each can be changed, and its stock value by release.

Types as ``sysctl -t`` prints them on 14.2.  Sources: sys/netinet/tcp_subr.c, tcp_input.c,
tcp_output.c, tcp_usrreq.c, tcp_syncache.c, tcp_hostcache.c, sys/kern/uipc_sockbuf.c, kern_mbuf.c,
uipc_socket.c, sys/net/netisr.c.
"""

from __future__ import annotations

from hostcfg.platforms.bsd.values import NativeKey, When, table

MAXSOCKBUF = "kern.ipc.maxsockbuf"
SENDSPACE, RECVSPACE = "net.inet.tcp.sendspace", "net.inet.tcp.recvspace"
SENDBUF_MAX, RECVBUF_MAX = "net.inet.tcp.sendbuf_max", "net.inet.tcp.recvbuf_max"
CC_ALGORITHM, CC_AVAILABLE = "net.inet.tcp.cc.algorithm", "net.inet.tcp.cc.available"


def _tcp(name: str, meaning: str, when: When = "runtime") -> NativeKey:
    return NativeKey(f"net.inet.tcp.{name}", "int", meaning, when)


def _global(name: str, meaning: str, when: When = "runtime") -> NativeKey:
    return NativeKey(name, "int", meaning, when, "global")


KEYS = table(
    (
        # buffers
        _global(MAXSOCKBUF, "cap over a socket buffer and its bookkeeping, bytes"),
        _tcp("sendspace", "first send buffer, bytes"),
        _tcp("recvspace", "first receive buffer, bytes"),
        _tcp("sendbuf_auto", "the send buffer grows"),
        _tcp("sendbuf_inc", "step of its growth, bytes"),
        _tcp("sendbuf_max", "its maximum, bytes"),
        _tcp("sendbuf_auto_lowat", "growth respects SO_SNDLOWAT"),
        _tcp("recvbuf_auto", "the receive buffer grows"),
        _tcp("recvbuf_inc", "step of its growth, bytes (gone in 13)"),
        _tcp("recvbuf_max", "its maximum, bytes"),
        # options and behaviour
        _tcp("rfc1323", "window scaling and timestamps: 0 none, 1 both, 2 scaling, 3 timestamps"),
        _tcp("sack.enable", "selective acknowledgement"),
        _tcp("ecn.enable", "0 off, 1 on, 2 accepted, 3 and 4 the same with accurate ECN"),
        _tcp("ecn.maxretries", "SYNs that ask for ECN"),
        _tcp("tso", "segmentation offload"),
        _tcp("path_mtu_discovery", "path MTU discovery"),
        _tcp("pmtud_blackhole_detection", "lowers the MSS of a path that swallows large segments"),
        _tcp("mssdflt", "MSS where nothing else is known, bytes"),
        _tcp("v6mssdflt", "the same for IPv6, bytes"),
        _tcp("minmss", "smallest MSS, bytes"),
        _tcp("delayed_ack", "delayed acknowledgements"),
        _tcp("delacktime", "delay of an acknowledgement, ms"),
        _tcp("abc_l_var", "growth per acknowledgement in slow start, segments"),
        _tcp("rfc3390", "initial window of RFC 3390"),
        _tcp("rfc3465", "appropriate byte counting"),
        _tcp("rfc3042", "limited transmit"),
        _tcp("rfc6675_pipe", "pipe of RFC 6675"),
        _tcp("initcwnd_segments", "initial window, segments"),
        _tcp("rexmit_initial", "first retransmission time-out, ms"),
        _tcp("rexmit_min", "smallest retransmission time-out, ms"),
        _tcp("rexmit_slop", "its slack, ms"),
        _tcp("newreno", "NewReno (gone in 9)"),
        _tcp("inflight.enable", "bandwidth-delay limiting (gone in 9)"),
        _tcp("inflight.max", "its largest window, bytes"),
        _tcp("inflight.min", "its smallest window, bytes"),
        _tcp("slowstart_flightsize", "initial window, segments (gone in 9)"),
        _tcp("local_slowstart_flightsize", "the same on the own network"),
        _tcp("fastopen.client_enable", "TCP Fast Open, client"),
        _tcp("fastopen.server_enable", "TCP Fast Open, server"),
        _tcp("hostcache.enable", "metrics of earlier connections start the next"),
        _tcp("hostcache.expire", "their lifetime, s"),
        _tcp("hostcache.hashsize", "buckets of that cache", "loader"),
        _tcp("hostcache.bucketlimit", "entries of a bucket", "loader"),
        _tcp("hostcache.cachelimit", "entries of the cache", "loader"),
        _tcp("syncookies", "SYN cookies"),
        _tcp("syncache.hashsize", "buckets of the SYN cache", "loader"),
        _tcp("syncache.bucketlimit", "entries of a bucket", "loader"),
        _tcp("syncache.cachelimit", "entries of the SYN cache", "loader"),
        _tcp("soreceive_stream", "shorter receive path", "loader"),
        _tcp("tcbhashsize", "buckets of the connection table", "loader"),
        _tcp("reass.maxsegments", "segments in reassembly", "loader"),
        _tcp("keepidle", "idle time before a keepalive, ms"),
        _tcp("keepintvl", "time between keepalives, ms"),
        _tcp("keepinit", "time to connect, ms"),
        _tcp("msl", "maximum segment lifetime, ms"),
        _tcp("maxtcptw", "connections in TIME_WAIT"),
        _tcp("nolocaltimewait", "no TIME_WAIT for local connections"),
        _tcp("fast_finwait2_recycle", "short FIN_WAIT_2"),
        _tcp("always_keepalive", "keepalives for every connection"),
        _tcp("blackhole", "no RST for closed ports"),
        _tcp("drop_synfin", "drops SYN+FIN"),
        NativeKey("net.inet.tcp.states", "ints", "connections in each state", "read"),
        NativeKey(CC_ALGORITHM, "word", "congestion control of new connections"),
        NativeKey(CC_AVAILABLE, "words", "congestion controls that are loaded", "read", "global"),
        NativeKey(
            "net.inet.tcp.functions_available", "words", "TCP stacks that are loaded", "read", "global"
        ),
        NativeKey("net.inet.tcp.functions_default", "word", "TCP stack of new connections", scope="global"),
        # mbufs
        _global("kern.ipc.nmbclusters", "2 KiB mbuf clusters there can be", "increase"),
        _global("kern.ipc.nmbufs", "mbufs there can be", "increase"),
        _global("kern.ipc.nmbjumbop", "page-size clusters there can be", "increase"),
        _global("kern.ipc.nmbjumbo9", "9 KiB clusters there can be", "increase"),
        _global("kern.ipc.nmbjumbo16", "16 KiB clusters there can be", "increase"),
        _global("kern.ipc.maxmbufmem", "memory for all of them, bytes", "loader"),
        _global("kern.ipc.maxsockets", "sockets there can be", "increase"),
        _global("kern.ipc.sockbuf_waste_factor", "bookkeeping a buffer may have, as a factor"),
        # queues
        NativeKey("kern.ipc.soacceptqueue", "int", "connections waiting for accept()"),
        NativeKey("kern.ipc.somaxconn", "int", "older name of soacceptqueue"),
        _global("net.inet.ip.intr_queue_maxlen", "received IP packets in a queue"),
        _global("net.isr.maxqlimit", "most packets in any netisr queue", "loader"),
        _global("net.isr.defaultqlimit", "packets in a netisr queue", "loader"),
        _global("net.link.ifqmaxlen", "packets in a send queue", "loader"),
        # about the host
        _global("kern.osreldate", "__FreeBSD_version", "read"),
        _global("kern.hz", "ticks a second", "loader"),
        _global("kern.securelevel", "securelevel"),
        _global("kern.maxfiles", "open files there can be"),
        _global("hw.physmem", "RAM that the kernel uses, bytes", "read"),
        _global("hw.realmem", "RAM, bytes", "read"),
        _global("hw.ncpu", "CPUs", "read"),
        _global("hw.pagesize", "page size, bytes", "read"),
        _global("security.jail.jailed", "1 in a jail", "read"),
        _global("security.jail.vnet", "1 in a jail with a network stack of its own", "read"),
        NativeKey("kern.ostype", "word", "FreeBSD", "read", "global"),
        NativeKey("kern.osrelease", "text", "release", "read", "global"),
    )
)
"""The keys that decide or explain TCP throughput, by name."""

NO_EFFECT_IN_LOADER = frozenset(
    {
        MAXSOCKBUF,
        SENDSPACE,
        RECVSPACE,
        SENDBUF_MAX,
        RECVBUF_MAX,
        "net.inet.tcp.sendbuf_auto",
        "net.inet.tcp.sendbuf_inc",
        "net.inet.tcp.recvbuf_auto",
        "net.inet.tcp.recvbuf_inc",
        "net.inet.tcp.rfc1323",
    }
)
"""Run-time keys that the loader sets in vain: they are no tunables (seen on 14.2)."""

BUILT_IN_CC = frozenset({"newreno", "cubic"})
"""Algorithms that some GENERIC kernel holds without a module."""


def built_in_cc(release: tuple[int, ...] | None) -> frozenset[str]:
    """What the GENERIC kernel of ``release`` holds: newreno to 13, cubic from 14 on; both where unknown."""
    if release is None:
        return BUILT_IN_CC
    return frozenset({"cubic" if release >= (14,) else "newreno"})


COUNTERS = frozenset({"net.inet.tcp.states"})
"""What changes by itself: it says nothing about how a host is set."""

PROBED = (
    *(
        name
        for name, key in KEYS.items()
        if name not in COUNTERS and (key.scope == "vnet" or name.startswith("kern.ipc."))
    ),
    "net.inet.ip.intr_queue_maxlen",
    "net.isr.maxqlimit",
    "net.link.ifqmaxlen",
    "kern.ostype",
    "kern.osrelease",
    "kern.osreldate",
    "kern.hz",
    "kern.securelevel",
    "hw.physmem",
    "hw.ncpu",
    "hw.pagesize",
    "security.jail.jailed",
    "security.jail.vnet",
    "net.inet.tcp.functions_default",
    "net.inet.tcp.functions_available",
    CC_AVAILABLE,
)
"""What a probe reads, each by its name."""
