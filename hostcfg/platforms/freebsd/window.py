"""What a FreeBSD host lets one TCP flow have in flight.

Sources: sys/netinet/tcp_input.c (tcp_autorcvbuf), sys/netinet/tcp_output.c (tcp_sndbuf_autoscale),
sys/netinet/tcp_usrreq.c (the scale in the SYN), sys/kern/uipc_sockbuf.c, tuning(7).
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, ClassVar

from hostcfg.model import State
from hostcfg.platforms.bsd.sockbuf import MCLBYTES, SockbufModel, halves_of, rtts_by_steps, steps_of
from hostcfg.platforms.endpoint import Flow, MemoryLimit, Need, Side, shift_for

if TYPE_CHECKING:
    from collections.abc import Sequence

RECEIVE_KEY, SEND_KEY = "net.inet.tcp.recvbuf_inc", "net.inet.tcp.sendbuf_inc"
RECEIVE_STEP, SEND_STEP = 16384, 8192
"""net.inet.tcp.recvbuf_inc and sendbuf_inc: 8 to 13, unless someone changed them."""
BY_HALVES_RELEASE = (13,)
"""From here on a receive buffer grows by half of itself twice a round trip; recvbuf_inc is gone."""
GROWING_RELEASE = (7,)
"""Before it a buffer stays at recvspace or sendspace: sendbuf_max, recvbuf_max and *_auto came with 7.0."""
BY_RTT_RELEASE = (10, 4)
"""Before it growth was timed by timestamps: none without them, none above a round trip of a second."""


class FreeBsdWindowModel(SockbufModel):
    """sendbuf_max and recvbuf_max under 8/9 of kern.ipc.maxsockbuf."""

    stock_space: ClassVar[dict[Side, int]] = {"receive": 65536, "send": 32768}

    def growth(self, start: int, end: int, side: Side) -> tuple[int, int]:
        if side == "send":
            reached = steps_of(self._step(SEND_KEY, SEND_STEP), start, end)
            return reached, reached
        by_steps = steps_of(self._step(RECEIVE_KEY, RECEIVE_STEP), start, end)
        by_halves = halves_of(start, end)
        if self.facts.release is None:
            return min(by_steps, by_halves), max(by_steps, by_halves)
        reached = by_halves if self._by_halves() else by_steps
        return reached, reached

    def steps_text(self, side: Side) -> str:
        if side == "send":
            return f"in steps of {self._step(SEND_KEY, SEND_STEP):,}"
        steps = f"in steps of {self._step(RECEIVE_KEY, RECEIVE_STEP):,}"
        if self.facts.release is None:
            return f"by halves or, before FreeBSD 13, {steps}: the release is not known"
        return "by halves" if self._by_halves() else steps

    def shift(self, flow: Flow) -> int | None:
        """The smallest s with 65,535 << s >= maxsockbuf, whatever the socket's own buffer."""
        del flow
        cap = self.number("socket_buffer_max")
        return None if cap is None else shift_for(cap)

    def rtts_to_reach(self, window_bytes: int) -> float:
        if not self._grows():
            return 0.0
        start = self._start("receive")[0]
        if self._by_halves():
            return max(0.0, log(max(1, window_bytes) / max(1, start), 1.5) / 2)
        return rtts_by_steps(start, window_bytes, self._step(RECEIVE_KEY, RECEIVE_STEP))

    def needs(self, window_bytes: int, side: Side, flow: Flow) -> Sequence[Need]:
        """Before 7.0 the first size is the only one."""
        if self._grows() or flow.explicit_bytes is not None:
            return super().needs(window_bytes, side, flow)
        size, reading = self.FACTOR * window_bytes, self._reading(side, "default")
        reason = f"a window of {window_bytes:,} bytes needs a buffer of {size:,}, and none grows before 7.0"
        need = Need(reading.setting, reading.key, reading.value, size, reason, reading.element)
        return [*self._cap_need(size), need]

    def growth_needs(self, size: int, side: Side, flow: Flow) -> Sequence[Need]:
        found: list[Need] = []
        key, stock = (SEND_KEY, SEND_STEP) if side == "send" else (RECEIVE_KEY, RECEIVE_STEP)
        if self._step(key, stock) == 0 and not (side == "receive" and self._by_halves()):
            setting = "send_autotuning" if side == "send" else "recv_autotuning"
            found.append(Need(setting, key, 0, stock, "a step of 0 bytes keeps the buffer at its first size"))
        if side == "receive" and not self._times_growth_of(flow):
            found.append(self._untimed_need(size))
        return found

    def _untimed_need(self, size: int) -> Need:
        """Own timestamps, if it is they that are missing; else a first size that needs no growth."""
        reading, wanted = self.timestamps().reading, True if not self.timestamps().on else size
        reason = "this release times the growth of a receive buffer by timestamps"
        if wanted is not True:
            reading = self.reading("recv_buffer_default")
            reason += ", which this path does not give it: the buffer stays at its first size"
        return Need(reading.setting, reading.key, reading.value, wanted, reason, reading.element)

    def memory_limits(self) -> Sequence[MemoryLimit]:
        """kern.ipc.nmbclusters x 2 KiB; 0 means no limit (netstat -m, sys/kern/kern_mbuf.c)."""
        clusters = self.number("mbuf_clusters_max")
        if clusters is None or clusters == 0:
            return ()
        return (MemoryLimit(clusters * MCLBYTES, MCLBYTES, self.reading("mbuf_clusters_max")),)

    def _grows(self) -> bool:
        return self.facts.release is None or self.facts.release >= GROWING_RELEASE

    def _can_grow(self, side: Side, flow: Flow) -> bool:
        if not self._grows():
            return False
        if side == "send":
            return self._step(SEND_KEY, SEND_STEP) > 0
        if not self._times_growth_of(flow):
            return False
        return self._by_halves() or self._step(RECEIVE_KEY, RECEIVE_STEP) > 0

    def _by_halves(self) -> bool:
        return self.facts.release is not None and self.facts.release >= BY_HALVES_RELEASE

    def _times_growth_of(self, flow: Flow) -> bool:
        """False where the receive buffer of ``flow`` can't grow for want of a time of its round trips."""
        by_timestamps = self.facts.release is not None and self.facts.release < BY_RTT_RELEASE
        return not by_timestamps or (flow.timestamps and flow.rtt_s < 1)

    def _step(self, key: str, stock: int) -> int:
        native = self.facts.native.get(key)
        if native is None or native.state is not State.VALUE or native.raw is None:
            return stock
        text = native.raw.strip()
        return int(text) if text.isdecimal() else stock


MODEL = FreeBsdWindowModel
