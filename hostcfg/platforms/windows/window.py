"""What a Windows host lets one TCP flow have in flight.

Sources: Microsoft, "Performance tuning network adapters" (scale factor and window of each autotuning
level) and "SO_RCVBUF / SO_SNDBUF" in the socket options of Winsock; facts of live hosts.
"""

from __future__ import annotations

from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING

from hostcfg.model import State
from hostcfg.platforms.endpoint import (
    MAX_WINDOW_BYTES,
    UNSCALED_WINDOW_BYTES,
    Flow,
    Need,
    Option,
    Side,
    Window,
    WindowModel,
    name_of,
    shift_for,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

SHIFT_OF_LEVEL = {65535: 0, 1 << 18: 2, 1 << 20: 4, 1 << 24: 8, 1 << 30: 14}
"""Largest window of the level -> the scale it offers: disabled, highlyrestricted, restricted, normal,
experimental."""
LEVELS = tuple(SHIFT_OF_LEVEL)


class WindowsWindowModel(WindowModel):
    """The receive window's autotuning level; the send side follows the window by itself."""

    decisive = ("recv_buffer_max", "window_scaling")

    def receive(self, flow: Flow) -> Window:
        reading, level = self.reading("recv_buffer_max"), self.number("recv_buffer_max")
        if flow.explicit_bytes is not None:
            return self.as_asked(flow.explicit_bytes, "the size asked for, to the byte")
        if level is None:
            return self.unknown("recv_buffer_max")
        largest = min(level, UNSCALED_WINDOW_BYTES << SHIFT_OF_LEVEL.get(level, shift_for(level)))
        reason = f"the level allows a window of {largest:,} bytes"
        low = largest
        if self.flag("window_scaling_heuristics"):
            low = min(largest, UNSCALED_WINDOW_BYTES)
            reason += "; the heuristics may restrict it further"
        return Window(low, largest, largest, reading.setting, reading.key, reading.value, reason)

    def send(self, flow: Flow) -> Window:
        """Dynamic send buffering keeps as much as the path takes (ISB); a size of one's own fixes it.

        With SO_SNDBUF set one more write can be on its way beside the buffer, so it is a soft limit.
        """
        if flow.explicit_bytes is not None:
            reason = "the size asked for; one more write can be on its way beside it"
            return self.as_asked(flow.explicit_bytes, reason, soft=True)
        return Window(None, None, None, None, None, None, "Windows sizes it by itself", unbounded=True)

    def shift(self, flow: Flow) -> int | None:
        if flow.explicit_bytes is not None and self.scaling().on:
            return shift_for(flow.explicit_bytes)
        level = self.number("recv_buffer_max")
        return None if level is None else SHIFT_OF_LEVEL.get(level, shift_for(level))

    def scaling(self) -> Option:
        """Offered by every level but ``disabled``, which carries both settings in one key."""
        reading, level = self.reading("window_scaling"), self.number("recv_buffer_max")
        if reading.state is State.VALUE or level is None:
            return super().scaling()
        level_reading = self.reading("recv_buffer_max")
        return Option(
            level > UNSCALED_WINDOW_BYTES,
            replace(level_reading, setting="window_scaling", value=level > UNSCALED_WINDOW_BYTES),
        )

    def needs(self, window_bytes: int, side: Side, flow: Flow) -> Sequence[Need]:
        found: list[Need] = []
        if flow.explicit_bytes is not None and flow.explicit_bytes < window_bytes:
            reason = "the program must ask for more, or for no size at all"
            found.append(Need(None, "-w", flow.explicit_bytes, 2 * window_bytes, reason))
        if side == "send":
            return found
        level, current = _level_for(window_bytes), self.number("recv_buffer_max")
        if current is None or current < level:
            found.append(self._level_need(level, f"its window carries {window_bytes:,} bytes"))
        heuristics = self.reading("window_scaling_heuristics")
        if self.flag("window_scaling_heuristics"):
            reason = "they override the level by themselves"
            found.append(Need(heuristics.setting, heuristics.key, True, False, reason, heuristics.element))
        return found

    def scaling_needs(self, window_bytes: int) -> Sequence[Need]:
        """The level carries the option too: every one above ``disabled`` offers it."""
        return (self._level_need(_level_for(window_bytes), "this level offers the window scale option"),)

    def _level_need(self, level: int, reason: str) -> Need:
        reading = self.reading("recv_buffer_max")
        return Need(reading.setting, reading.key, reading.value, level, reason, reading.element)

    def rtts_to_reach(self, window_bytes: int) -> float:
        """At best a doubling each round trip."""
        return max(0.0, log2(max(1, min(window_bytes, MAX_WINDOW_BYTES)) / UNSCALED_WINDOW_BYTES))

    def explicit_effect(self) -> str:
        return "the size is taken as it is and switches autotuning off for that socket"

    def notes(self) -> Sequence[str]:
        if not self.flag("window_scaling_heuristics"):
            return ()
        where = name_of(self.reading("window_scaling_heuristics"))
        return (f"{self.facts.host}: {where} is on, so Windows may restrict the window below the level",)


def _level_for(window_bytes: int) -> int:
    """Largest window of the smallest level that carries ``window_bytes``, as the profile wan takes it too."""
    return next((size for size in LEVELS if size >= window_bytes), LEVELS[-1])


MODEL = WindowsWindowModel
