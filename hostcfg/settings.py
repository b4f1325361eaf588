"""The neutral settings: what each one means, its type, its unit and where that is defined.

A platform maps these names to its own keys (``Platform.keys``); nothing here knows any OS.  A new
OS edits nothing here; a new setting is one row here and one key per platform that has it.
"""

from __future__ import annotations

from typing import Literal

from hostcfg.lean import dataclass

Type = Literal["int", "flag", "text", "texts"]
Unit = Literal["bytes", "packets", "pages", "segments", "ms", "count", ""]

INT32_MAX = 2**31 - 1
"""Largest value of the C int in which the systems keep buffer sizes (Linux sysctl_tcp_rmem, FreeBSD
tcp_autorcvbuf_max); FreeBSD truncates a larger one in silence."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One OS-neutral setting.

    ``type``: ``int``; ``flag`` (bool); ``text`` (one word, one of ``choices`` where given);
    ``texts`` (a tuple of words).  ``largest`` is the largest int that the systems can keep.
    """

    name: str
    type: Type
    unit: Unit
    meaning: str
    source: str
    choices: tuple[str, ...] = ()
    largest: int = INT32_MAX


_ROWS = (
    # receive side
    Setting(
        "recv_buffer_min",
        "int",
        "bytes",
        "receive buffer that a socket keeps under memory pressure",
        "tcp(7)",
    ),
    Setting(
        "recv_buffer_default",
        "int",
        "bytes",
        "receive buffer that a socket starts with",
        "tcp(7), RFC 9293 3.8",
    ),
    Setting(
        "recv_buffer_max",
        "int",
        "bytes",
        "largest receive buffer that autotuning reaches; on Windows the largest window of the level",
        "tcp(7), RFC 7323 2",
    ),
    Setting("recv_autotuning", "flag", "", "the receive buffer grows with the flow", "tcp(7)"),
    Setting(
        "recv_explicit_max",
        "int",
        "bytes",
        "largest receive buffer that a program may ask for (SO_RCVBUF, iperf -w)",
        "socket(7)",
    ),
    Setting(
        "recv_window_scale_overhead",
        "int",
        "",
        "share of the receive buffer kept from the window, as a power of two (no effect from Linux 6.6)",
        "Documentation/networking/ip-sysctl.rst",
    ),
    # send side
    Setting(
        "send_buffer_min", "int", "bytes", "send buffer that a socket keeps under memory pressure", "tcp(7)"
    ),
    Setting("send_buffer_default", "int", "bytes", "send buffer that a socket starts with", "tcp(7)"),
    Setting("send_buffer_max", "int", "bytes", "largest send buffer that autotuning reaches", "tcp(7)"),
    Setting("send_autotuning", "flag", "", "the send buffer grows with the flow", "tcp(7)"),
    Setting(
        "send_explicit_max",
        "int",
        "bytes",
        "largest send buffer that a program may ask for (SO_SNDBUF, iperf -w)",
        "socket(7)",
    ),
    Setting(
        "send_not_sent_lowat",
        "int",
        "bytes",
        "unsent bytes above which a socket is not writable",
        "tcp(7) TCP_NOTSENT_LOWAT",
        largest=2**32 - 1,
    ),
    # both
    Setting(
        "socket_buffer_max",
        "int",
        "bytes",
        "one cap over every socket buffer of the system, overhead included",
        "FreeBSD tuning(7), sys/kern/uipc_sockbuf.c",
    ),
    Setting(
        "tcp_memory_max",
        "int",
        "pages",
        "memory of all TCP sockets above which buffers shrink",
        "tcp(7) tcp_mem",
    ),
    Setting(
        "mbuf_clusters_max",
        "int",
        "count",
        "2 KiB network buffers that the kernel may allocate",
        "FreeBSD tuning(7)",
    ),
    # options and behaviour
    Setting(
        "window_scaling",
        "flag",
        "",
        "window scale option: without it a window ends at 65,535 bytes",
        "RFC 7323 2",
    ),
    Setting("timestamps", "flag", "", "timestamps option", "RFC 7323 3"),
    Setting("sack", "flag", "", "selective acknowledgement", "RFC 2018"),
    Setting(
        "ecn",
        "text",
        "",
        "explicit congestion notification: ask for it and accept it, only accept it, or neither",
        "RFC 3168",
        ("off", "accept", "on"),
    ),
    Setting("congestion_control", "text", "", "algorithm of new connections", "RFC 5681, RFC 9438"),
    Setting("congestion_control_available", "texts", "", "algorithms that the kernel can use now", "tcp(7)"),
    Setting("queue_discipline", "text", "", "queueing discipline of new interfaces", "tc(8)"),
    Setting(
        "queue_discipline_available",
        "texts",
        "",
        "queueing disciplines that the kernel has or can load",
        "modules.builtin, /lib/modules",
    ),
    Setting("mtu_probing", "flag", "", "packetization-layer path MTU discovery", "RFC 4821"),
    Setting(
        "slow_start_after_idle",
        "flag",
        "",
        "an idle connection falls back to its initial window",
        "RFC 5681 4.1",
    ),
    Setting(
        "metrics_cache", "flag", "", "results of earlier connections to a peer start the next one", "RFC 9040"
    ),
    Setting("initial_window", "int", "segments", "initial congestion window", "RFC 6928"),
    Setting("initial_rto", "int", "ms", "initial retransmission time-out", "RFC 6298"),
    Setting(
        "pacing", "text", "", "when the sender spreads its segments over the round trip", "netsh-interface"
    ),
    Setting(
        "window_scaling_heuristics",
        "flag",
        "",
        "the OS may override the window level by itself",
        "netsh-interface",
    ),
    Setting(
        "segmentation_offload", "flag", "", "the interface cuts large segments (TSO)", "ethtool(8), tcp(4)"
    ),
    Setting("fast_open", "text", "", "TCP Fast Open", "RFC 7413", ("off", "client", "server", "on")),
    # queues
    Setting(
        "input_backlog",
        "int",
        "packets",
        "received packets waiting for one CPU",
        "ip-sysctl, netdev_max_backlog",
    ),
    Setting("listen_backlog_max", "int", "count", "connections waiting for accept()", "listen(2)"),
)

SETTINGS: dict[str, Setting] = {row.name: row for row in _ROWS}
"""All neutral settings by name, in the order in which tables show them."""
