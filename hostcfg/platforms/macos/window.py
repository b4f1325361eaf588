"""What a macOS host lets one TCP flow have in flight.

Sources: xnu bsd/netinet/tcp_subr.c (tcp_set_max_rwinscale), bsd/netinet/tcp_input.c
(tcp_sbrcv_reserve), bsd/kern/uipc_socket2.c (sbreserve), bsd/kern/uipc_mbuf.c (mbinit: high_sb_max).
"""

from __future__ import annotations

from math import log2
from typing import ClassVar

from hostcfg.platforms.bsd.sockbuf import MCLBYTES, SockbufModel
from hostcfg.platforms.endpoint import Flow, Side, shift_for

POOL_PART = 16
"""kern.ipc.maxsockbuf may be as large as this part of the mbuf pool (nmbclusters << (MCLSHIFT - 4))."""
POOL_NOTE = (
    f'macOS refuses a kern.ipc.maxsockbuf above 1/{POOL_PART} of its mbuf pool ("Result too large"): then '
    "the pool's limit, set at boot, has to grow first."
)
"""As the profile wan has it too."""


class MacosWindowModel(SockbufModel):
    """autosndbufmax and autorcvbufmax under 8/9 of kern.ipc.maxsockbuf."""

    stock_space: ClassVar[dict[Side, int]] = {"receive": 131072, "send": 131072}

    def growth(self, start: int, end: int, side: Side) -> tuple[int, int]:
        """The step that would cross ``end`` fails; steps are at most a doubling."""
        del side
        return max(start, end // 2), end

    def steps_text(self, side: Side) -> str:
        del side
        return "by doubling at most"

    def shift(self, flow: Flow) -> int | None:
        """The smallest s with 65,535 << s >= autorcvbufmax, or the program's own size.

        net.inet.tcp.win_scale_factor can only make it larger.
        """
        if flow.explicit_bytes is not None:
            return shift_for(flow.explicit_bytes)
        maximum = self.number("recv_buffer_max")
        return None if maximum is None else shift_for(maximum)

    def rtts_to_reach(self, window_bytes: int) -> float:
        """At best a doubling each round trip from the first size."""
        return max(0.0, log2(max(1, window_bytes) / max(1, self._start("receive")[0])))

    def cap_note(self, maxsockbuf: int) -> str | None:
        clusters = self.number("mbuf_clusters_max")
        if not clusters:
            return POOL_NOTE
        most = clusters * MCLBYTES // POOL_PART
        if maxsockbuf <= most:
            return None
        return f"{POOL_NOTE} Here that is {most:,}: kern.ipc.nmbclusters is {clusters:,}."


MODEL = MacosWindowModel
