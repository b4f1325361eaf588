"""What is true of a running Linux host and worth saying, most serious first.  Pure.

Each check is a function of facts and view that yields findings; what concerns the next boot is in
``boot_findings.py``.  A message is one line that names the key, and the file and line where it has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Finding, State
from hostcfg.platforms.linux.keys import (
    AVAILABLE,
    CONGESTION_CONTROL,
    DEFAULT_QDISC,
    PATH_KEYS,
    RATIO_RELEASE,
    RMEM_MAX,
    TCP_MEM,
    TCP_RMEM,
    TCP_WMEM,
    WINDOW_SCALING,
    WMEM_MAX,
)
from hostcfg.platforms.linux.view import AT_BOOT
from hostcfg.platforms.linux.wording import RANK, joined, numbers, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hostcfg.model import Facts, Value
    from hostcfg.platforms.linux.view import View

# Queues that hold a whole transmit queue back; the others keep their own limits (tc(8)).
_QUEUES_BY_LENGTH = frozenset({"pfifo_fast", "pfifo", "bfifo"})
_LONG_QUEUE_PACKETS = 10_000
_BEYOND_RAM_BYTES = 1 << 40  # where the RAM is not known: a tcp_mem above it was meant in bytes
_TUNERS = {"tuned": "TuneD", "bpftune": "bpftune", "ktune": "ktune"}


def findings_of(facts: Facts, view: View) -> list[Finding]:
    """All findings, by severity and within it in the order of the checks."""
    found = [finding for check in _CHECKS for finding in check(facts, view)]
    if view.host is not None or view.config:  # else the text says nothing of a boot
        from hostcfg.platforms.linux.boot_findings import boot_findings, config_only

        found = [*config_only(facts, view), *found, *boot_findings(facts, view)]
    return sorted(found, key=lambda finding: RANK[finding.severity])


def _options(facts: Facts, view: View) -> Iterator[Finding]:
    del view
    if _value(facts, "window_scaling") is False:
        message = f"{WINDOW_SCALING} is 0: no window exceeds 65,535 bytes, whatever the buffers allow"
        yield Finding("window_scaling_off", "error", message, (WINDOW_SCALING,))
    if _value(facts, "recv_autotuning") is False:
        first = _value(facts, "recv_buffer_default")
        size = f" of {first:,} bytes" if isinstance(first, int) else ""
        key = "net.ipv4.tcp_moderate_rcvbuf"
        message = f"{key} is 0: every receive buffer stays at tcp_rmem's default{size}"
        yield Finding("autotuning_off", "warning", message, (key, TCP_RMEM))
    if _value(facts, "sack") is False:
        key = "net.ipv4.tcp_sack"
        yield Finding("sack_off", "warning", f"{key} is 0: each loss in a window costs a round trip", (key,))
    if _value(facts, "timestamps") is False:
        key = "net.ipv4.tcp_timestamps"
        message = f"{key} is 0: one RTT sample a window, and no protection against wrapped sequence numbers"
        yield Finding("timestamps_off", "info", message, (key,))


def _buffers(facts: Facts, view: View) -> Iterator[Finding]:
    """tcp_rmem and tcp_wmem in themselves, and against what a program may ask for."""
    del view
    capped: list[tuple[str, int, str, int]] = []
    for triple, cap in ((TCP_RMEM, RMEM_MAX), (TCP_WMEM, WMEM_MAX)):
        parts, limit = numbers(facts, triple, 3), numbers(facts, cap, 1)
        if parts is None:
            continue
        if parts[1] > parts[2]:
            message = (
                f"{triple}: the default {parts[1]:,} is above the maximum {parts[2]:,}, so nothing grows"
            )
            yield Finding("buffer_order", "warning", message, (triple,))
        if limit is not None and 2 * limit[0] < parts[2]:
            capped.append((cap, limit[0], triple, parts[2]))
    if capped:
        sizes = " and ".join(
            f"{cap} {limit:,} is below {triple.rpartition('.')[2]}'s maximum {most:,}"
            for cap, limit, triple, most in capped
        )
        limits = list(dict.fromkeys(limit for _, limit, _, _ in capped))
        asked, buffers = (" and ".join(f"{n * limit:,}" for limit in limits) for n in (1, 2))
        message = (
            f"{sizes}: a program may ask for at most {asked} bytes (iperf -w), which the kernel doubles to "
            f"a buffer of {buffers} (socket(7)); autotuning is not held back by it"
        )
        keys = tuple(key for cap, _, triple, _ in capped for key in (cap, triple))
        yield Finding("explicit_size_capped", "info", message, keys)


def _memory(facts: Facts, view: View) -> Iterator[Finding]:
    """tcp_mem is in pages: as bytes it is a thousand times too large, as kilobytes too small."""
    del view
    pages = numbers(facts, TCP_MEM, 3)
    page_bytes = facts.details.get("page_bytes")
    page = page_bytes if isinstance(page_bytes, int) else 4096
    limit = facts.details.get("memory_limit_bytes")
    if isinstance(limit, int) and facts.memory_bytes is not None and limit < facts.memory_bytes:
        message = (
            f"the control group allows {limit >> 20:,} MiB of the machine's {facts.memory_bytes >> 20:,} MiB"
        )
        yield Finding("memory_limited", "info", message)
    if pages is None:
        return
    top, pressure = pages[2] * page, pages[1] * page
    if top > (facts.memory_bytes or _BEYOND_RAM_BYTES):
        than = f"the RAM of {facts.memory_bytes >> 20:,} MiB" if facts.memory_bytes else "a host has RAM"
        message = (
            f"{TCP_MEM} allows {pages[2]:,} pages = {top >> 20:,} MiB, more than {than}: "
            "the key counts pages, not bytes"
        )
        yield Finding("tcp_mem_too_large", "warning", message, (TCP_MEM,))
    receive, send = numbers(facts, TCP_RMEM, 3), numbers(facts, TCP_WMEM, 3)
    needed = (receive[2] if receive else 0) + (send[2] if send else 0)
    if needed and pressure < needed:
        message = (
            f"{TCP_MEM} puts all TCP under pressure from {pressure >> 10:,} KiB on, and one connection may "
            f"use {needed >> 10:,} KiB by tcp_rmem and tcp_wmem"
        )
        yield Finding("tcp_mem_too_small", "warning", message, (TCP_MEM,))


def _queues(facts: Facts, view: View) -> Iterator[Finding]:
    del view
    native = facts.native.get(DEFAULT_QDISC)
    default = (native.raw or "").strip() if native is not None else ""
    for interface in facts.interfaces:
        name, qdisc, length = interface.name, interface.qdisc, interface.txqueuelen_packets
        if default and qdisc not in (None, "noqueue", default) and interface.routes:
            message = (
                f"{DEFAULT_QDISC} is {shown(default)} and {name} has {shown(qdisc)}: the default serves new "
                f"interfaces only; tc qdisc replace dev {name} root {shown(default)}"
            )
            yield Finding("qdisc_differs", "info", message, (DEFAULT_QDISC, f"qdisc/{name}"))
        if length is None or qdisc not in _QUEUES_BY_LENGTH:
            continue
        if length == 0:
            message = (
                f"txqueuelen of {name} is 0 with {qdisc}: packets are dropped as soon as the device is busy"
            )
            yield Finding("txqueuelen", "warning", message, (f"txqueuelen/{name}",))
        elif length > _LONG_QUEUE_PACKETS:
            message = (
                f"txqueuelen of {name} is {length:,} packets with {qdisc}: a full queue delays every flow"
            )
            yield Finding("txqueuelen", "info", message, (f"txqueuelen/{name}",))


def _routes(facts: Facts, view: View) -> Iterator[Finding]:
    """What a route fixes for the connections over it (ip-route(8))."""
    del facts
    for row in view.routes:
        route = f"the route to {shown(row.get('dst'))} ({row['use']}, dev {shown(row.get('dev'))})"
        window = row.get("window")
        if isinstance(window, int) and window > 0:
            yield Finding("route_window", "warning", f"{route} caps the window at {window:,} bytes", ())
        fixed = [
            f"{word} {shown(row[word])}" for word in ("congctl", "initcwnd", "initrwnd", "mtu") if word in row
        ]
        if fixed:
            yield Finding("route_options", "info", f"{route} has options of its own: {', '.join(fixed)}", ())


def _confinement(facts: Facts, view: View) -> Iterator[Finding]:
    if view.host is not None and view.host.read_only_sys:
        message = "/proc/sys is mounted read-only here: change the values outside, on the container's host"
        yield Finding("read_only_sys", "warning", message)
    if facts.confined is None:
        return
    hidden = sorted(key for key in PATH_KEYS if key not in facts.native)
    if hidden and view.child_namespace:
        message = f"{facts.confined}: not visible here, since the host alone has them: {joined(hidden)}"
        yield Finding("namespace", "info", message, tuple(hidden))
    else:
        yield Finding("confined", "info", f"this is a {facts.confined}: the kernel belongs to its host")


def _unread(facts: Facts, view: View) -> Iterator[Finding]:
    del view
    known = [native for key, native in facts.native.items() if key in PATH_KEYS]
    denied = sorted(native.key for native in known if native.state is State.DENIED)
    if denied:
        message = f"may not be read: {joined(denied)}; run as root or with --become"
        yield Finding("denied", "warning", message, tuple(denied))
    odd = {r.key for r in facts.readings.values() if r.state is State.UNPARSED and r.key is not None}
    for key in sorted(odd):
        native = facts.native.get(key)
        raw, source = (native.raw, native.source) if native is not None else (None, "")
        message = f"{key} is not in a known form: {shown(raw)}"
        if source.endswith(AT_BOOT):
            message = f"{source.removesuffix(AT_BOOT)}: the kernel refuses {shown(repr(raw))} for {key}"
        yield Finding("unparsed", "warning", message, (key,))


def _writers(facts: Facts, view: View) -> Iterator[Finding]:
    """Programs that set sysctls while the host runs, and undo a change by and by."""
    del facts
    if view.host is None:
        return
    for writer in view.host.writers:
        name = _TUNERS.get(writer)
        profile = f" (profile {shown(view.host.tuned_profile)})" if view.host.tuned_profile else ""
        if writer == "tuned":
            message = (
                f"{name} runs{profile} and sets sysctls from its profile, at its start and when it changes"
            )
            yield Finding("other_writer", "warning", message)
        elif name is not None:
            yield Finding("other_writer", "warning", f"{name} runs and sets buffers and algorithms by itself")
        else:
            yield Finding(
                "other_writer", "info", f"{writer} runs: it may set sysctls again on its next round"
            )


def _no_effect(facts: Facts, view: View) -> Iterator[Finding]:
    del view
    key = "net.ipv4.tcp_adv_win_scale"
    native = facts.native.get(key)
    if facts.release is None or facts.release < RATIO_RELEASE or native is None or native.raw is None:
        return
    if native.raw.strip() not in ("1", ""):
        message = f"{key} is {shown(native.raw)} and has no effect since Linux 6.6"
        yield Finding("no_effect", "info", message, (key,))


def _congestion_control(facts: Facts, view: View) -> Iterator[Finding]:
    del view
    wanted, have = _value(facts, "congestion_control"), _value(facts, "congestion_control_available")
    if isinstance(wanted, str) and isinstance(have, tuple) and wanted not in have:
        message = (
            f"{CONGESTION_CONTROL} is {wanted}, and the kernel has only {' '.join(map(str, have))} loaded"
        )
        yield Finding("congestion_control_missing", "warning", message, (CONGESTION_CONTROL, AVAILABLE))


def _value(facts: Facts, setting: str) -> Value | None:
    reading = facts.readings.get(setting)
    return reading.value if reading is not None else None


_CHECKS: Sequence[Callable[[Facts, View], Iterable[Finding]]] = (
    _options,
    _buffers,
    _memory,
    _congestion_control,
    _queues,
    _routes,
    _unread,
    _confinement,
    _writers,
    _no_effect,
)
