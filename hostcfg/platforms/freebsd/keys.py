"""Neutral settings and the FreeBSD keys that carry them, by release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import State
from hostcfg.platforms.base import Key
from hostcfg.platforms.bsd.keys import explicit_key, flag_key, int_key, integer, word_key, words_key
from hostcfg.platforms.freebsd.native import (
    CC_ALGORITHM,
    CC_AVAILABLE,
    MAXSOCKBUF,
    RECVBUF_MAX,
    RECVSPACE,
    SENDBUF_MAX,
    SENDSPACE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostcfg.model import Facts, Value

RFC1323 = "net.inet.tcp.rfc1323"
SEPARATE_OPTIONS_RELEASE = (14,)
"""From here on rfc1323 can switch scaling and timestamps one by one (tcp_newtcpcb in tcp_subr.c)."""

_RFC1323_BITS = {0: (False, False), 2: (True, False), 3: (False, True)}
"""Value -> (window scaling, timestamps); anything else is both."""
_ECN = {0: "off", 1: "on", 2: "accept", 3: "on", 4: "accept"}
"""3 and 4 are 1 and 2 with accurate ECN (sys/netinet/tcp_ecn.c)."""
_ECN_VALUES = {"off": "0", "on": "1", "accept": "2"}

_PLAIN = {
    "recv_buffer_default": int_key(RECVSPACE),
    "recv_buffer_max": int_key(RECVBUF_MAX),
    "recv_autotuning": flag_key("net.inet.tcp.recvbuf_auto"),
    "recv_explicit_max": explicit_key(MAXSOCKBUF),
    "send_buffer_default": int_key(SENDSPACE),
    "send_buffer_max": int_key(SENDBUF_MAX),
    "send_autotuning": flag_key("net.inet.tcp.sendbuf_auto"),
    "send_explicit_max": explicit_key(MAXSOCKBUF),
    "socket_buffer_max": int_key(MAXSOCKBUF),
    "mbuf_clusters_max": int_key("kern.ipc.nmbclusters"),
    "sack": flag_key("net.inet.tcp.sack.enable"),
    "congestion_control": word_key(CC_ALGORITHM),
    "congestion_control_available": words_key(CC_AVAILABLE),
    "mtu_probing": flag_key("net.inet.tcp.pmtud_blackhole_detection"),
    "metrics_cache": flag_key("net.inet.tcp.hostcache.enable"),
    "initial_rto": int_key("net.inet.tcp.rexmit_initial"),
    "segmentation_offload": flag_key("net.inet.tcp.tso"),
    "input_backlog": int_key("net.inet.ip.intr_queue_maxlen"),
}


def keys_for(facts: Facts | None) -> Mapping[str, Key]:
    """The keys of this host's release; those of the current release without facts."""
    release = facts.release if facts is not None else None
    separate = release is None or release >= SEPARATE_OPTIONS_RELEASE
    return {
        **_PLAIN,
        "window_scaling": _option_key(0, separate=separate),
        "timestamps": _option_key(1, separate=separate),
        "ecn": Key("net.inet.tcp.ecn.enable", _decode_ecn, lambda _raw, value: _ECN_VALUES[str(value)]),
        "listen_backlog_max": int_key(
            _present(facts, "kern.ipc.soacceptqueue", "kern.ipc.somaxconn"),
        ),
        "initial_window": int_key(
            _present(facts, "net.inet.tcp.initcwnd_segments", "net.inet.tcp.slowstart_flightsize"),
        ),
    }


def _present(facts: Facts | None, now: str, before: str) -> str:
    """``before`` only where the host has it and not its successor ``now``."""

    def there(name: str) -> bool:
        read = facts.native.get(name) if facts is not None else None
        return read is not None and read.state is not State.ABSENT

    return before if there(before) and not there(now) else now


def _option_key(bit: int, *, separate: bool) -> Key:
    """One of the two options in rfc1323; the other one stays as it is where the release can do that."""
    return Key(RFC1323, _decode_option(bit, separate=separate), _encode_option(bit, separate=separate))


def options_of(value: int, *, separate: bool) -> tuple[bool, bool]:
    """(window scaling, timestamps) of a value of rfc1323."""
    if not separate:
        return (value != 0, value != 0)
    return _RFC1323_BITS.get(value, (True, True))


def _decode_option(bit: int, *, separate: bool) -> Callable[[str], Value]:
    return lambda raw: options_of(integer(raw), separate=separate)[bit]


def _encode_option(bit: int, *, separate: bool) -> Callable[[str, Value], str]:
    def encode(raw: str, value: Value) -> str:
        if not separate:
            return "1" if value else "0"
        bits = list(options_of(integer(raw), separate=True))
        bits[bit] = bool(value)
        return {(False, False): "0", (True, True): "1", (True, False): "2", (False, True): "3"}[
            (bits[0], bits[1])
        ]

    return encode


def _decode_ecn(raw: str) -> str:
    value = integer(raw)
    if value not in _ECN:
        raise ValueError(f"{value} is no value of net.inet.tcp.ecn.enable")
    return _ECN[value]
