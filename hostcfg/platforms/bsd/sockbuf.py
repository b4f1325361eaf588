"""What BSD socket buffers let one TCP flow have in flight: FreeBSD and macOS.

A buffer counts payload, so the whole of it is window.  kern.ipc.maxsockbuf caps buffer and
bookkeeping together: a buffer of B bytes needs B x (MSIZE + MCLBYTES) / MCLBYTES = 9/8 B of it
(FreeBSD sys/kern/uipc_sockbuf.c sbreserve_internal, xnu bsd/kern/uipc_socket2.c sbreserve).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from hostcfg.platforms.endpoint import Flow, Need, Side, Window, WindowModel, name_of
from hostcfg.settings import INT32_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Reading

MCLBYTES, MSIZE = 2048, 256


def usable(maxsockbuf: int) -> int:
    """The largest buffer under ``maxsockbuf``: 1,864,135 for 2 MiB."""
    return maxsockbuf * MCLBYTES // (MCLBYTES + MSIZE)


def maxsockbuf_for(buffer_bytes: int) -> int:
    """The smallest kern.ipc.maxsockbuf that allows a buffer of ``buffer_bytes``: ceil(9/8 B)."""
    return -(-buffer_bytes * (MCLBYTES + MSIZE) // MCLBYTES)


class SockbufModel(WindowModel):
    """Buffers that autotune to a maximum as long as maxsockbuf allows each step of growth."""

    stock_space: ClassVar[dict[Side, int]]  # what a socket starts with where it was not read
    FACTOR: ClassVar[int] = 2  # buffers of 2 x BDP leave room for a queue of one BDP

    @abstractmethod
    def growth(self, start: int, end: int, side: Side) -> tuple[int, int]:
        """Least and most that steps of growth from ``start`` reach without going beyond ``end``."""

    @abstractmethod
    def steps_text(self, side: Side) -> str:
        """In which steps a buffer of this release grows: what makes two ends of one cap."""

    def receive(self, flow: Flow) -> Window:
        return self._side("receive", flow)

    def send(self, flow: Flow) -> Window:
        return self._side("send", flow)

    def needs(self, window_bytes: int, side: Side, flow: Flow) -> Sequence[Need]:
        if flow.explicit_bytes is not None:
            return self._explicit_needs(window_bytes, flow.explicit_bytes)
        size = self.FACTOR * window_bytes
        reason = f"a window of {window_bytes:,} bytes needs a buffer of {size:,}"
        maximum = self._reading(side, "max")
        current = self.number(maximum.setting)
        ends_there = current is None or current <= size
        found = [*self._cap_need(size if ends_there else self._step_beyond(window_bytes, size, side))]
        if current is None or current < size:
            found.append(_need(maximum, size, reason))
        auto = self._autotuning(side)
        if self.flag(auto.setting) is False:
            found.append(_need(auto, True, "without it the buffer stays at its first size"))
        return [*found, *self.growth_needs(size, side, flow)]

    def growth_needs(self, size: int, side: Side, flow: Flow) -> Sequence[Need]:
        """What must change so that a buffer that may grow does, up to ``size``."""
        del size, side, flow
        return ()

    def _step_beyond(self, window_bytes: int, size: int, side: Side) -> int:
        """The least of ``size`` and its doublings below which the steps of growth reach ``window_bytes``.

        The step that would cross the usable part of maxsockbuf fails; one to the maximum itself is cut
        to it, so this is for a maximum that lies above.
        """
        start = self._start(side)[0]
        if self.growth(start, INT32_MAX, side)[0] < window_bytes:
            return size  # there is no growth at all, which growth_needs is about
        while self.growth(start, size, side)[0] < window_bytes and size < INT32_MAX:
            size *= 2
        return size

    def explicit_effect(self) -> str:
        return (
            "the size is taken as it is and stops autotuning for that socket; above 8/9 of "
            "kern.ipc.maxsockbuf it is refused (ENOBUFS), not cut"
        )

    def _side(self, side: Side, flow: Flow) -> Window:
        tuned = self._tuned(side, flow)
        if flow.explicit_bytes is None:
            return tuned
        cap, asked = self.reading("socket_buffer_max"), flow.explicit_bytes
        limit = self.number("socket_buffer_max")
        if limit is None:
            note = f"{self.missing(cap)}: assumed to allow {asked:,} bytes"
            met = self.as_asked(asked, "the size asked for")
            return replace(met, assumed=(note,), cap_unread=True)
        if asked <= usable(limit):
            return self.as_asked(asked, "the size asked for, to the byte")
        refused = f"{asked:,} bytes are above 8/9 of {name_of(cap)} = {limit}: ENOBUFS"
        return replace(
            tuned,
            setting=cap.setting,
            key=cap.key,
            value=cap.value,
            element=cap.element,
            clamped=True,
            refused=refused,
            reason=f"{refused}; a program that goes on keeps its autotuned buffer",
        )

    def _tuned(self, side: Side, flow: Flow) -> Window:
        """The buffer without a size asked for: grown as far as it goes, or the first size for ever."""
        auto = self._autotuning(side)
        if self.flag(auto.setting) is False or not self._can_grow(side, flow):
            return self._first(side)
        reading, cap = self._reading(side, "max"), self.reading("socket_buffer_max")
        maximum, limit = self.number(reading.setting), self.number("socket_buffer_max")
        if maximum is None:
            return self.unknown(reading.setting)
        assumed = () if self.flag(auto.setting) is not None else (f"{self.missing(auto)}: assumed on",)
        if limit is None or maximum <= usable(limit):
            if limit is None:
                assumed = (*assumed, f"{self.missing(cap)}: assumed to allow {maximum:,} bytes")
            return _window(reading, maximum, maximum, f"the buffer grows to {maximum:,} bytes", assumed)
        start, more = self._start(side)
        low, high = self.growth(min(start, usable(limit)), usable(limit), side)
        reason = (
            f"8/9 of {name_of(cap)} = {limit} ends the growth at {high:,} bytes, below {name_of(reading)}: "
            f"it goes from {start:,} {self.steps_text(side)}"
        )
        return _window(cap, low, high, reason, (*assumed, *more))

    def _can_grow(self, side: Side, flow: Flow) -> bool:
        """False where this release would not grow the buffer for ``flow``."""
        del side, flow
        return True

    def _first(self, side: Side) -> Window:
        reading = self._reading(side, "default")
        size = self.number(reading.setting)
        if size is None:
            return self.unknown(reading.setting)
        return _window(reading, size, size, f"the buffer stays at its first {size:,} bytes", ())

    def _start(self, side: Side) -> tuple[int, tuple[str, ...]]:
        reading = self._reading(side, "default")
        size = self.number(reading.setting)
        if size is not None:
            return size, ()
        stock = self.stock_space[side]
        return stock, (f"{self.missing(reading)}: assumed {stock}, the OS's default",)

    def _reading(self, side: Side, which: str) -> Reading:
        return self.reading(f"{'recv' if side == 'receive' else 'send'}_buffer_{which}")

    def _autotuning(self, side: Side) -> Reading:
        return self.reading("recv_autotuning" if side == "receive" else "send_autotuning")

    def _cap_need(self, size: int) -> Sequence[Need]:
        """maxsockbuf first: a buffer above 8/9 of it makes every socket() fail."""
        cap, current = self.reading("socket_buffer_max"), self.number("socket_buffer_max")
        target = maxsockbuf_for(size)
        if current is not None and current >= target:
            return ()
        need = _need(cap, target, f"a buffer of {size:,} bytes needs 9/8 of that, and before it")
        return (replace(need, note=self.cap_note(target)),)

    def cap_note(self, maxsockbuf: int) -> str | None:
        """Why this system may refuse ``maxsockbuf``, and what then; None where it takes any."""
        del maxsockbuf
        return None

    def _explicit_needs(self, window_bytes: int, asked: int) -> Sequence[Need]:
        request = max(asked, self.FACTOR * window_bytes)
        found = [*self._cap_need(request)]
        if asked < request:
            reason = "the program must ask for more, or for no size at all"
            found.append(Need(None, "-w", asked, request, reason))
        return found


def _window(reading: Reading, low: int, high: int, reason: str, assumed: tuple[str, ...]) -> Window:
    mid = (low + high) // 2
    return Window(
        low,
        mid,
        high,
        reading.setting,
        reading.key,
        reading.value,
        reason,
        reading.element,
        high,
        assumed=assumed,
    )


def _need(reading: Reading, target: int | bool, reason: str) -> Need:
    return Need(reading.setting, reading.key, reading.value, target, reason, reading.element)


def steps_of(increment: int, start: int, end: int) -> int:
    """The last of ``start``, ``start + increment`` ... that is not above ``end``."""
    return start if start >= end or increment <= 0 else start + (end - start) // increment * increment


def halves_of(start: int, end: int) -> int:
    """The last of ``start``, 1.5 x ``start`` ... that is not above ``end``."""
    size = max(start, 2)
    while size + size // 2 <= end:
        size += size // 2
    return max(size, start)


def rtts_by_steps(start: int, target: int, increment: int) -> float:
    """Round trips from ``start`` to ``target`` with one step a round trip."""
    return (target - start) / increment if target > start and increment > 0 else 0.0
