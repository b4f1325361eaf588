"""What a Linux host lets one TCP flow have in flight.

Sources: net/ipv4/tcp_input.c (tcp_init_buffer_space, tcp_rcv_space_adjust), net/ipv4/tcp_output.c
(tcp_select_initial_window), net/core/sock.c (sk_setsockopt), include/net/sock.h
(sk_stream_min_wspace).  What share of a buffer is payload: shares.py.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2
from typing import TYPE_CHECKING

from hostcfg.platforms.endpoint import (
    MAX_SHIFT,
    UNSCALED_WINDOW_BYTES,
    Flow,
    MemoryLimit,
    Need,
    Side,
    Window,
    WindowModel,
    name_of,
)
from hostcfg.platforms.linux.shares import (
    MERGED_FRAMES,
    NARROW_DEFAULT_RELEASE,
    RATIO_RELEASE,
    SEND_SHARE,
    SINGLE_FRAMES,
    UNKNOWN_FRAMES,
    UNKNOWN_RELEASE,
    Share,
    per_segment,
    window_of_space,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Reading

MIN_RECEIVE_BUFFER, MIN_SEND_BUFFER = 2304, 4608
"""SOCK_MIN_RCVBUF and SOCK_MIN_SNDBUF on 64-bit machines (include/net/sock.h)."""
PAGE_BYTES = 4096
LEAST_SHARE = 0.25
"""Part of a buffer that is window (tcp_adv_win_scale -2) down to which a larger buffer is the remedy."""


class LinuxWindowModel(WindowModel):
    """Buffers that autotune to tcp_rmem[2] and tcp_wmem[2], or that a program fixes up to {r,w}mem_max."""

    def receive(self, flow: Flow) -> Window:
        if flow.explicit_bytes is not None:
            return self._explicit(flow, flow.explicit_bytes, "receive")
        reading, autotuned = self._receive_reading()
        size, first = self.number(reading.setting), self.number("recv_buffer_default")
        if size is None:
            return self.unknown(reading.setting)
        fixed = not autotuned or (first is not None and first >= size)
        if first is not None and fixed:  # a socket starts with tcp_rmem[1] and never shrinks to [2]
            size = max(size, first)
        notes = [] if self.flag("recv_autotuning") is not None else [self._assumed_moderation()]
        return self._window(flow, size, reading, keeps_segment=fixed, notes=notes)

    def send(self, flow: Flow) -> Window:
        if flow.explicit_bytes is not None:
            return self._explicit(flow, flow.explicit_bytes, "send")
        reading = self.reading("send_buffer_max")
        size, first = self.number("send_buffer_max"), self.number("send_buffer_default")
        if size is None:
            return self.unknown("send_buffer_max")
        return self._payload(flow, max(size, first or 0), reading)

    def shift(self, flow: Flow) -> int | None:
        """clamp(ilog2(space) - 15, 0, 14), space = the largest of tcp_rmem[2], rmem_max and the buffer.

        A program's own size alone counts where one is set (tcp_select_initial_window).
        """
        if flow.explicit_bytes is not None:
            size = self._granted(flow.explicit_bytes, "receive")
            scale = self._adv_win_scale()[0] if self._fixed_share() else 1
            return _shift(window_of_space(size, scale))
        known = [n for n in map(self.number, ("recv_buffer_max", "recv_explicit_max")) if n is not None]
        return _shift(max(known)) if known else None

    def needs(self, window_bytes: int, side: Side, flow: Flow) -> Sequence[Need]:
        size = self._buffer_for(window_bytes, side)
        found = [*self._share_needs(side)]
        if flow.explicit_bytes is not None:
            return [*found, *self._explicit_needs(ceil(size / 2), side, flow.explicit_bytes)]
        reading = self.reading("recv_buffer_max" if side == "receive" else "send_buffer_max")
        reason = f"a window of {window_bytes:,} bytes needs a buffer of {size:,}"
        current = self.number(reading.setting)
        if current is None or current < size:
            found.append(_need(reading, size, reason))
        if side == "receive" and self.flag("recv_autotuning") is False:
            moderation = self.reading("recv_autotuning")
            found.append(_need(moderation, True, "without it the buffer stays at tcp_rmem[1]"))
        return found

    def rtts_to_reach(self, window_bytes: int) -> float:
        """Dynamic right-sizing at best doubles the window each round trip (tcp_rcv_space_adjust)."""
        return max(0.0, log2(max(1, window_bytes) / UNSCALED_WINDOW_BYTES))

    def explicit_effect(self) -> str:
        return "the kernel doubles the size after capping it at rmem_max or wmem_max, and stops autotuning"

    def memory_limits(self) -> Sequence[MemoryLimit]:
        pages = self.number("tcp_memory_max")
        if pages is None:
            return ()
        note = f"{self.facts.host}: pages are assumed to have 4 KiB"
        return (MemoryLimit(pages * PAGE_BYTES, PAGE_BYTES, self.reading("tcp_memory_max"), note),)

    def _receive_reading(self) -> tuple[Reading, bool]:
        """The reading that sets the buffer, and whether it grows to it (tcp_moderate_rcvbuf)."""
        if self.flag("recv_autotuning") is False:
            return self.reading("recv_buffer_default"), False
        return self.reading("recv_buffer_max"), True

    def _assumed_moderation(self) -> str:
        return f"{self.missing(self.reading('recv_autotuning'))}: assumed on"

    def _explicit(self, flow: Flow, asked: int, side: Side) -> Window:
        """SO_RCVBUF or SO_SNDBUF: max(2 * min(asked, cap), minimum), not autotuned any more."""
        reading = self._cap(side)
        cap, size = self.number(reading.setting), self._granted(asked, side)
        clamped = cap is not None and asked > cap
        notes = [] if cap is not None else [f"{self.missing(reading)}: assumed to allow {asked:,} bytes"]
        found = (
            self._window(flow, size, reading, keeps_segment=True, notes=notes)
            if side == "receive"
            else self._payload(flow, size, reading, notes=notes)
        )
        told = _told(found, asked, cap if clamped else None, reading)
        return replace(told, cap_unread=cap is None)

    def _granted(self, asked: int, side: Side) -> int:
        cap = self.number(self._cap(side).setting)
        least = MIN_RECEIVE_BUFFER if side == "receive" else MIN_SEND_BUFFER
        return max(2 * (asked if cap is None else min(asked, cap)), least)

    def _cap(self, side: Side) -> Reading:
        return self.reading("recv_explicit_max" if side == "receive" else "send_explicit_max")

    def _window(
        self, flow: Flow, size: int, reading: Reading, *, keeps_segment: bool, notes: list[str]
    ) -> Window:
        """The window of a receive buffer of ``size`` bytes.

        A buffer that does not grow keeps one segment back (tcp_init_buffer_space).  The window ends
        at 65,535 << shift and is advertised in multiples of 2^shift.
        """
        shares, reason, assumed = self._shares(size)
        shift = self.shift(flow)
        kept = flow.mss_bytes if keeps_segment else 0
        low, mid, high = (_advertised(share, kept, flow.mss_bytes, shift) for share in shares)
        if kept and shares[1] > 2 * kept:
            reason += f", less a segment of {kept:,}"
        return Window(
            low,
            mid,
            high,
            reading.setting,
            reading.key,
            reading.value,
            reason,
            reading.element,
            size,
            assumed=(*notes, *assumed),
        )

    def _shares(self, size: int) -> tuple[tuple[int, int, int], str, list[str]]:
        """Low, middle and high window of a buffer, why, and what is assumed."""
        if self._fixed_share():
            scale, assumed = self._adv_win_scale()
            exact = window_of_space(size, scale)
            reason = (
                f"tcp_adv_win_scale {scale} makes {exact / max(size, 1):.0%} of a {size:,}-byte buffer window"
            )
            return (exact, exact, exact), reason, assumed
        share = self._measured_share()
        low = share.low
        if self.facts.release is None:
            scale, _ = self._adv_win_scale()
            low = min(low, window_of_space(size, scale) / max(size, 1))
        windows = (int(low * size), int(share.mid * size), int(share.high * size))
        return windows, f"{share.reason} ({size:,} bytes)", []

    def _fixed_share(self) -> bool:
        return self.facts.release is not None and self.facts.release < RATIO_RELEASE

    def _adv_win_scale(self) -> tuple[int, list[str]]:
        read = self.number("recv_window_scale_overhead")
        if read is not None:
            return read, []
        old = self.facts.release is not None and self.facts.release < NARROW_DEFAULT_RELEASE
        stock = 2 if old else 1
        reading = self.reading("recv_window_scale_overhead")
        return stock, [f"{self.missing(reading)}: assumed {stock}, the kernel's default"]

    def _measured_share(self) -> Share:
        if self.facts.release is None:
            return UNKNOWN_RELEASE
        merged = self._merges_frames()
        if merged is None:
            return UNKNOWN_FRAMES
        return MERGED_FRAMES if merged else SINGLE_FRAMES

    def _merges_frames(self) -> bool | None:
        """generic-receive-offload of the interface that the flow uses; None where it is not known."""
        wanted = [i for i in self.facts.interfaces if "peer" in i.routes] or self.facts.interfaces
        found = [i.offloads.get("generic-receive-offload") for i in wanted]
        return found[0] if found else None

    def _payload(self, flow: Flow, size: int, reading: Reading, *, notes: Sequence[str] = ()) -> Window:
        """Payload of a send buffer: at least two thirds of it at the price of single segments.

        A writer waits until a third is free (sk_stream_min_wspace); a segment that no offload
        merges costs ``per_segment``.  It is a soft limit: a write fills up the last queued segment
        without a check (tcp_sendmsg_locked), and flows were seen to exceed it several times.
        """
        low = 2 / 3 * flow.mss_bytes / per_segment(flow.mss_bytes)
        return Window(
            int(low * size),
            int(SEND_SHARE * size),
            None,
            reading.setting,
            reading.key,
            reading.value,
            f"about {SEND_SHARE:.0%} of a {size:,}-byte send buffer is payload, at least {low:.0%}; "
            "programs that write large blocks exceed it",
            reading.element,
            size,
            assumed=tuple(notes),
        )

    def _buffer_for(self, window_bytes: int, side: Side) -> int:
        """2 x the window, 2.5 x before 6.6 (2 x is just one BDP there), more with a smaller share."""
        fixed = self._fixed_share() or self.facts.release is None
        factor = 2.5 if fixed else 2.0
        share = self._share_set()
        if side == "receive" and share is not None and share >= LEAST_SHARE:
            factor = max(factor, 1.25 / share)
        return ceil(factor * window_bytes)

    def _share_set(self) -> float | None:
        """The part of a receive buffer that tcp_adv_win_scale makes window; None where it sets none."""
        if not self._fixed_share() and self.facts.release is not None:
            return None
        return window_of_space(1 << 30, self._adv_win_scale()[0]) / (1 << 30)

    def _share_needs(self, side: Side) -> list[Need]:
        """tcp_adv_win_scale itself, where it leaves so little window that no buffer could make up for it."""
        share = self._share_set()
        if side == "send" or share is None or share >= LEAST_SHARE:
            return []
        reading = self.reading("recv_window_scale_overhead")
        return [
            _need(reading, 1, f"it leaves {share:.2g} of a buffer as window; 1, the default, leaves half")
        ]

    def _explicit_needs(self, request: int, side: Side, asked: int) -> Sequence[Need]:
        reading = self._cap(side)
        cap = self.number(reading.setting)
        found = []
        if cap is None or cap < max(request, asked):
            reason = f"a program that asks for {max(request, asked):,} bytes must get them"
            found.append(_need(reading, max(request, asked), reason))
        if asked < request:
            found.append(
                Need(None, "-w", asked, request, "the program must ask for more, or for no size at all")
            )
        return found


def _told(found: Window, asked: int, cap: int | None, reading: Reading) -> Window:
    """``found`` with what became of the request: ``cap`` None means that it was met.

    iperf3 compares the doubled size that it reads back with the one it asked for, so it gives up
    above twice the cap and is silent up to there (iperf_tcp.c).
    """
    if cap is None:
        return replace(found, setting=None, key="-w", value=asked, element=None)
    refused = None
    if asked > 2 * cap:
        name = f"{name_of(reading)} = {cap:,}"
        refused = (
            f"iperf3 gives up (socket buffer size not set correctly): {name} allows no more than twice that"
        )
    reason = f"{name_of(reading)} cuts the {asked:,} bytes asked for to {cap:,}, doubled to {2 * cap:,}"
    return replace(found, clamped=True, refused=refused, reason=f"{reason}; {found.reason}")


def _need(reading: Reading, target: int | bool, reason: str) -> Need:
    return Need(reading.setting, reading.key, reading.value, target, reason, reading.element)


def _shift(space_bytes: int) -> int:
    return min(max(space_bytes.bit_length() - 1 - 15, 0), MAX_SHIFT)


def _advertised(window: int, kept: int, mss: int, shift: int | None) -> int:
    if window > 2 * mss:
        window = max(window - kept, 2 * mss)
    if shift is None:
        return window
    window = min(window, UNSCALED_WINDOW_BYTES << shift)
    # less than one unit is no zero window: the kernel rounds that up (__tcp_select_window)
    return window >> shift << shift or window


MODEL = LinuxWindowModel
