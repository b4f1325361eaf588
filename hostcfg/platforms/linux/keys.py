"""Which Linux key carries which neutral setting, and how its text becomes a value and back.

Source of every meaning: Documentation/networking/ip-sysctl.rst and
Documentation/admin-guide/sysctl/net.rst of the kernel.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.platforms.base import Key
from hostcfg.platforms.linux.native import written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostcfg.model import Facts, Json, Value

UINT_MAX = 2**32 - 1
RATIO_RELEASE = (6, 6)
"""From here on tcp_adv_win_scale is read and ignored (commit dfa2f0483360)."""

TCP_RMEM, TCP_WMEM, TCP_MEM = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mem"
RMEM_MAX, WMEM_MAX = "net.core.rmem_max", "net.core.wmem_max"
RMEM_DEFAULT, WMEM_DEFAULT = "net.core.rmem_default", "net.core.wmem_default"
DEFAULT_QDISC = "net.core.default_qdisc"
QDISCS = "available_qdiscs"
"""No sysctl: which queueing disciplines the kernel has or can load, by its modules or its configuration."""
CONGESTION_CONTROL = "net.ipv4.tcp_congestion_control"
AVAILABLE = "net.ipv4.tcp_available_congestion_control"
ALLOWED = "net.ipv4.tcp_allowed_congestion_control"
OWN_NETWORK = "network namespace"
"""Says in ``Facts.confined`` that the host is another network namespace than the first."""
WINDOW_SCALING = "net.ipv4.tcp_window_scaling"

_ECN = {0: "off", 1: "on", 2: "accept", 3: "on", 4: "on", 5: "accept"}  # 3 to 5: AccECN, from 7.0
_ECN_TEXT = {"off": "0", "accept": "2", "on": "1"}
_FAST_OPEN = {0: "off", 1: "client", 2: "server", 3: "on"}
_FAST_OPEN_BITS = {name: bits for bits, name in _FAST_OPEN.items()}
_NAME = regex(r"[A-Za-z0-9_.-]{1,15}")


def release_tuple(text: str | None) -> tuple[int, int] | None:
    """``6.1.0-50-cloud-amd64`` -> (6, 1); None if it does not begin with two numbers."""
    found = re.match(r"([0-9]{1,3})\.([0-9]{1,5})(?![0-9])", text or "")
    return (int(found[1]), int(found[2])) if found else None


def words_of(raw: str) -> list[str]:
    """The values in ``raw``, parted by ASCII white space alone: a no-break space parts nothing."""
    return [word for word in re.split(r"[ \t\r\n\v\f]+", raw) if word]


@lru_cache(maxsize=256)
def _written(key: str, raw: str) -> Json:
    """Many hosts have the same value under the same key."""
    return written(key, " ".join(words_of(raw)))


def _number(key: str, raw: str) -> int:
    """One integer in any of C's bases; ValueError unless ``raw`` is one."""
    value = _written(key, raw)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{raw[:60]!r} is not one integer")
    return value


def _numbers(key: str, raw: str) -> list[int]:
    value = _written(key, raw)
    if not isinstance(value, list):
        raise ValueError(f"{raw[:60]!r} is no list of integers")
    return [part for part in value if isinstance(part, int)]


def _as_int(wanted: Value) -> int:
    if isinstance(wanted, (str, tuple)):
        raise ValueError(f"{wanted!r} is no number")
    return int(wanted)


def _int_key(key: str) -> Key:
    def encode(current: str, wanted: Value) -> str:
        del current
        return str(_as_int(wanted))

    return Key(key, lambda raw: _number(key, raw), encode)


def _element_key(key: str, element: int) -> Key:
    """One value of a triple; the others stay as they are.

    A maximum below the default would leave the default in force (tcp_init_buffer_space), so
    lowering one lowers the other with it, and never raises it again.
    """

    def encode(current: str, wanted: Value) -> str:
        parts = _numbers(key, current)
        parts[element] = _as_int(wanted)
        lower = parts[:element]
        parts[:element] = [min(value, parts[element]) for value in lower]
        return "\t".join(map(str, parts))

    return Key(key, lambda raw: _numbers(key, raw)[element], encode, element)


def _flag_key(key: str, *, inverse: bool = False) -> Key:
    """A switch: any value but 0 is on (tcp_timestamps 2, tcp_mtu_probing 2), and stays as it is."""

    def decode(raw: str) -> Value:
        return (_number(key, raw) != 0) is not inverse

    def encode(current: str, wanted: Value) -> str:
        on = (_as_int(wanted) != 0) is not inverse
        if not on:
            return "0"
        try:
            now = _number(key, current)
        except ValueError:
            now = 0
        return str(now) if now != 0 else "1"

    return Key(key, decode, encode)


def _lowat_key(key: str) -> Key:
    """tcp_notsent_lowat: unsigned; kernels before 4.19 print UINT_MAX as -1 (recorded)."""

    def decode(raw: str) -> Value:
        value = _number(key, raw)
        return UINT_MAX if value == -1 else value

    def encode(current: str, wanted: Value) -> str:
        value = _as_int(wanted)
        return current.strip() if value >= UINT_MAX and current.strip() == "-1" else str(min(value, UINT_MAX))

    return Key(key, decode, encode)


def _table_key(key: str, names: Mapping[int, str], encode: Callable[[str, Value], str]) -> Key:
    def decode(raw: str) -> Value:
        value = _number(key, raw)
        if value not in names:
            raise ValueError(f"{raw[:60]!r} is none of {', '.join(map(str, names))}")
        return names[value]

    return Key(key, decode, encode)


def _ecn_encode(current: str, wanted: Value) -> str:
    del current
    if wanted not in _ECN_TEXT:
        raise ValueError(f"{wanted!r} is none of {', '.join(_ECN_TEXT)}")
    return _ECN_TEXT[str(wanted)]


def _fast_open_key(key: str) -> Key:
    """Bits: 1 client, 2 server; the others (no cookie needed, on by default) stay as they are."""

    def decode(raw: str) -> Value:
        return _FAST_OPEN[_number(key, raw) & 3]

    def encode(current: str, wanted: Value) -> str:
        if wanted not in _FAST_OPEN_BITS:
            raise ValueError(f"{wanted!r} is none of {', '.join(_FAST_OPEN_BITS)}")
        return str(_number(key, current) & ~3 | _FAST_OPEN_BITS[str(wanted)])

    return Key(key, decode, encode)


def _word(raw: str) -> str:
    words = words_of(raw)
    if len(words) != 1:
        raise ValueError(f"{raw[:60]!r} is not one word")
    return words[0]


def _word_key(key: str) -> Key:
    def encode(current: str, wanted: Value) -> str:
        del current
        if not isinstance(wanted, str) or not _NAME.fullmatch(wanted):
            raise ValueError(f"{wanted!r} is no name of an algorithm")  # IFNAMSIZ, TCP_CA_NAME_MAX: 15
        return wanted

    return Key(key, _word, encode)


def _words_key(key: str) -> Key:
    return Key(key, lambda raw: tuple(words_of(raw)), None)


def _offload_key(key: str) -> Key:
    """An offload as ethtool prints it; read only, since what it takes differs by driver."""

    def decode(raw: str) -> Value:
        state = words_of(raw)[:1]
        if state not in (["on"], ["off"]):
            raise ValueError(f"{raw[:60]!r} is neither on nor off")
        return state == ["on"]

    return Key(key, decode, None)


_IPV4 = "net.ipv4."
_COMMON: dict[str, Key] = {
    "recv_buffer_min": _element_key(TCP_RMEM, 0),
    "recv_buffer_default": _element_key(TCP_RMEM, 1),
    "recv_buffer_max": _element_key(TCP_RMEM, 2),
    "recv_autotuning": _flag_key(_IPV4 + "tcp_moderate_rcvbuf"),
    "recv_explicit_max": _int_key(RMEM_MAX),
    "recv_window_scale_overhead": _int_key(_IPV4 + "tcp_adv_win_scale"),
    "send_buffer_min": _element_key(TCP_WMEM, 0),
    "send_buffer_default": _element_key(TCP_WMEM, 1),
    "send_buffer_max": _element_key(TCP_WMEM, 2),
    "send_explicit_max": _int_key(WMEM_MAX),
    "send_not_sent_lowat": _lowat_key(_IPV4 + "tcp_notsent_lowat"),
    "tcp_memory_max": _element_key(TCP_MEM, 2),
    "window_scaling": _flag_key(WINDOW_SCALING),
    "timestamps": _flag_key(_IPV4 + "tcp_timestamps"),
    "sack": _flag_key(_IPV4 + "tcp_sack"),
    "ecn": _table_key(_IPV4 + "tcp_ecn", _ECN, _ecn_encode),
    "congestion_control": _word_key(CONGESTION_CONTROL),
    "congestion_control_available": _words_key(AVAILABLE),
    "queue_discipline": _word_key(DEFAULT_QDISC),
    "queue_discipline_available": _words_key(QDISCS),
    "mtu_probing": _flag_key(_IPV4 + "tcp_mtu_probing"),
    "slow_start_after_idle": _flag_key(_IPV4 + "tcp_slow_start_after_idle"),
    "metrics_cache": _flag_key(_IPV4 + "tcp_no_metrics_save", inverse=True),
    "fast_open": _fast_open_key(_IPV4 + "tcp_fastopen"),
    "input_backlog": _int_key("net.core.netdev_max_backlog"),
    "listen_backlog_max": _int_key("net.core.somaxconn"),
}
PATH_KEYS = frozenset(key.name for key in _COMMON.values()) - {QDISCS}
"""The sysctls that carry a neutral setting: those that a change at boot is worth a word about."""


def linux_keys(facts: Facts | None) -> dict[str, Key]:
    """Neutral setting -> key, for the release and the interfaces of ``facts``.

    tcp_adv_win_scale carries nothing from 6.6 on.  Segmentation offload is a setting of the
    interface with the route, and known only where that is.
    """
    found = dict(_COMMON)
    if facts is None or (facts.release is not None and facts.release >= RATIO_RELEASE):
        del found["recv_window_scale_overhead"]
    main = facts.interfaces[0] if facts is not None and facts.interfaces else None
    if main is not None and f"tso/{main.name}" in (facts.native if facts is not None else {}):
        found["segmentation_offload"] = _offload_key(f"tso/{main.name}")
    return found
