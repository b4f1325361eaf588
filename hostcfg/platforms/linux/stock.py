"""The kernel's own defaults by release, and the names that profiles' formulas may use.

Sources: net/ipv4/tcp.c (tcp_init, tcp_init_mem), net/ipv4/tcp_ipv4.c (tcp_sk_init), net/core/sock.c
and include/net/sock.h of the releases; recorded on 2.6.32, 4.9, 4.14, 4.18, 5.4, 5.10, 6.1, 6.18
and 7.2.  The default queueing discipline is the distribution's choice and not in the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import State
from hostcfg.platforms.base import ProfileContext
from hostcfg.platforms.linux.keys import RATIO_RELEASE, TCP_MEM, UINT_MAX
from hostcfg.platforms.linux.shares import (
    MERGED_FRAMES,
    NARROW_DEFAULT_RELEASE,
    SINGLE_FRAMES,
    UNKNOWN_FRAMES,
    window_of_space,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Facts, Scalar, Value

SOURCE = "kernel defaults of the release: net/ipv4/tcp.c, net/ipv4/tcp_ipv4.c, net/core/sock.c"

INITIAL_RECEIVE_RELEASE = (4, 20)
"""tcp_rmem[1] 87380 -> 131072 (commit a337531b942b)."""
SOMAXCONN_RELEASE = (5, 4)
"""somaxconn 128 -> 4096 (commit 19f92a030ca6)."""
FAST_OPEN_RELEASE = (3, 13)
"""tcp_fastopen 0 -> 1."""
RECEIVE_CAP_RELEASE = (6, 16)
"""tcp_rmem[2] is capped at 32 MiB instead of 6."""
EXPLICIT_OLD_UNTIL, EXPLICIT_NEW_FROM = (6, 17), (6, 18)
"""rmem_max and wmem_max: 212992 before the first, 4194304 from the second on (both recorded)."""

_WORDS_32 = ("i386", "i486", "i586", "i686", "arm", "mips", "ppc", "powerpc", "riscv32", "x86")
_WORDS_64 = ("mips64", "ppc64", "arm64", "armv8l64")
_RAM_TOLERANCE = 0.08
"""What the kernel calls free at boot is up to this share less than MemTotal later (recorded: 0.5 to 5 %)."""
_LEAST_TCP_MEM_PAGES = 128  # tcp_init_mem: below it the middle says nothing about memory
_TYPICAL_RELEASE = (6, 12)
_BY_RELEASE = frozenset({"kernel_major", "kernel_minor", "linux_before_6_6", "window_fraction"})


def linux_context(facts: Facts | None) -> ProfileContext:
    """Inputs and stock values for this host; ``facts`` None means a typical current host.

    Inputs: ``memory_bytes`` (RAM, or the control group's limit where that is less),
    ``kernel_major``, ``kernel_minor``, ``linux_before_6_6``, ``window_fraction`` (the middle of what
    a receive buffer yields as window) and ``default_interface_speed_bps``.  What is not known
    is left out.
    """
    release = _TYPICAL_RELEASE if facts is None else facts.release
    inputs: dict[str, Scalar] = {}
    if release is not None:
        before = release < RATIO_RELEASE
        inputs |= {"kernel_major": release[0], "kernel_minor": release[1], "linux_before_6_6": before}
    fraction = _window_fraction(facts, release)
    if fraction is not None:
        inputs["window_fraction"] = fraction
    memory = _memory_bytes(facts)
    if memory is not None:
        inputs["memory_bytes"] = memory
    speed = next((i.speed_bps for i in facts.interfaces if i.speed_bps), None) if facts else None
    if speed is not None:
        inputs["default_interface_speed_bps"] = speed
    stock = stock_values(facts, release) if release else {}
    if facts is not None:
        return ProfileContext(inputs, stock, SOURCE)
    assumed = ".".join(map(str, _TYPICAL_RELEASE))
    return ProfileContext(inputs, stock, SOURCE, f"Linux {assumed}", _BY_RELEASE)


def _memory_bytes(facts: Facts | None) -> int | None:
    if facts is None:
        return 16 << 30
    limit = facts.details.get("memory_limit_bytes")
    amounts = [n for n in (facts.memory_bytes, limit) if isinstance(n, int)]
    return min(amounts, default=None)


def _window_fraction(facts: Facts | None, release: tuple[int, ...] | None) -> float | None:
    """tcp_win_from_space() before 6.6; the middle of the measured range from there on (shares.py)."""
    if release is None:
        return None
    if release >= RATIO_RELEASE:
        merges = (
            facts.interfaces[0].offloads.get("generic-receive-offload")
            if facts and facts.interfaces
            else None
        )
        share = UNKNOWN_FRAMES if merges is None else MERGED_FRAMES if merges else SINGLE_FRAMES
        return share.mid
    reading = facts.readings.get("recv_window_scale_overhead") if facts else None
    scale = reading.value if reading is not None and isinstance(reading.value, int) else None
    if scale is None or not -31 <= scale <= 31:
        scale = 2 if release < NARROW_DEFAULT_RELEASE else 1
    return window_of_space(1 << 20, scale) / (1 << 20)


def stock_values(facts: Facts | None, release: tuple[int, ...]) -> Mapping[str, Value]:
    """Setting -> what this release has before anyone changes it; what is not known is left out."""
    explicit = _explicit_max(facts, release)
    first = 131072 if release >= INITIAL_RECEIVE_RELEASE else 87380
    found: dict[str, Value] = {
        "recv_buffer_min": 4096,
        "recv_buffer_default": first,
        "recv_autotuning": True,
        "send_buffer_min": 4096,
        "send_buffer_default": 16384,
        "send_not_sent_lowat": UINT_MAX,
        "window_scaling": True,
        "timestamps": True,
        "sack": True,
        "ecn": "accept",
        "congestion_control": "cubic",
        "mtu_probing": False,
        "slow_start_after_idle": True,
        "metrics_cache": True,
        "fast_open": "client" if release >= FAST_OPEN_RELEASE else "off",
        "input_backlog": 1000,
        "listen_backlog_max": 4096 if release >= SOMAXCONN_RELEASE else 128,
    }
    if release < RATIO_RELEASE:
        found["recv_window_scale_overhead"] = 2 if release < NARROW_DEFAULT_RELEASE else 1
    if explicit is not None:
        found |= {"recv_explicit_max": explicit, "send_explicit_max": explicit}
    cap = (32 << 20) if release >= RECEIVE_CAP_RELEASE else (6 << 20) if release >= (3, 4) else (4 << 20)
    for setting, largest, least in (("recv_buffer_max", cap, first), ("send_buffer_max", 4 << 20, 65536)):
        value = _by_memory(facts, setting, largest, least)
        if value is not None:
            found[setting] = value
    return found


def _explicit_max(facts: Facts | None, release: tuple[int, ...]) -> int | None:
    """rmem_max: 256 packets of 256 bytes with their overhead, which depends on the word size."""
    if release >= EXPLICIT_NEW_FROM:
        return 4 << 20
    if release >= EXPLICIT_OLD_UNTIL or release < (3, 4):
        return None  # which one 6.17 has was not recorded; long ago it went by memory and build
    machine = str(facts.details.get("machine", "x86_64")) if facts is not None else "x86_64"
    narrow = machine.startswith(_WORDS_32) and not machine.startswith((*_WORDS_64, "x86_64"))
    return 163840 if narrow else 212992


def _by_memory(facts: Facts | None, setting: str, largest: int, least: int) -> int | None:
    """max(least, min(largest, free / 128)), where free is what the kernel had at boot (tcp_init).

    Below the cap the exact amount can't be known later.  A current value that is what some amount
    of free memory near the host's RAM would give is taken for the default itself, so that an
    untouched host shows no difference.
    """
    memory = 16 << 30 if facts is None else _memory_at_boot(facts)
    if memory is None:
        return None
    if memory * (1 - _RAM_TOLERANCE) / 128 >= largest:
        return largest
    estimate = max(least, min(largest, memory // 128))
    reading = facts.readings.get(setting) if facts is not None else None
    current = reading.value if reading is not None and reading.state is State.VALUE else None
    if isinstance(current, int) and estimate * (1 - _RAM_TOLERANCE) <= current <= estimate:
        return current
    return estimate


def _memory_at_boot(facts: Facts) -> int | None:
    """From tcp_mem where it is as the kernel made it (its middle is 1/16 of what was free), else RAM."""
    native = facts.native.get(TCP_MEM)
    words = (native.raw or "").split() if native is not None else []
    page = facts.details.get("page_bytes")
    if len(words) == 3 and all(w.isdecimal() for w in words) and isinstance(page, int):
        low, middle, high = (int(w) for w in words)
        if low == middle // 4 * 3 and high == 2 * low and middle > _LEAST_TCP_MEM_PAGES:
            return (middle + 1) * 16 * page
    return facts.memory_bytes
