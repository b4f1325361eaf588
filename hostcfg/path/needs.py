"""What must change at either end so that one stream can fill the link: settings, in writing order.

Where no window is large enough for that, what makes it as large as a window can be.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from hostcfg.path.limits import windows_of
from hostcfg.path.mended import native_target, with_needs
from hostcfg.path.report import HostNeed
from hostcfg.path.tcp import window_rate_bps
from hostcfg.platforms import get_platform
from hostcfg.platforms.endpoint import (
    LARGEST_REQUEST_BYTES,
    MAX_WINDOW_BYTES,
    UNSCALED_WINDOW_BYTES,
    Need,
    Side,
    Window,
    WindowModel,
)
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from hostcfg.path.limits import Question, Windows


SMALL_PATH_SEGMENTS = 20
"""Below so many segments of BDP a window is rounded up to whole ones: a part of one carries nothing."""
MOST_ROUNDS = 8
"""More than the chains that there are: option, growth, buffer, cap, memory."""
MEMORY_FACTOR = 2.5
"""Memory for each byte in flight: what the largest of the systems' buffers takes."""


def needs_of(question: Question, windows: Windows) -> list[HostNeed]:
    """Every window below the link's BDP, whatever limits first, and every request that is cut.

    Asked again with what is needed in place, until nothing more is: a larger request needs a larger cap,
    larger buffers more memory, and a buffer that may grow at last more room.
    Several needs of one key become one, with the largest target.  None asks for more than a window or
    the type of its setting can hold.
    """
    found: list[HostNeed] = []
    mended = question
    for _ in range(MOST_ROUNDS):
        new = [n for n in map(_possible, _wanted(mended, windows)) if n is not None]
        if not new:
            break
        found += new
        mended = with_needs(mended, _merged(new))
        windows = windows_of(mended)
    models = {m.facts.host: m for m in (question.receiver, question.sender)}
    return [_with_native(n, models[n.host]) for n in _merged(found)]


def _wanted(question: Question, windows: Windows) -> list[HostNeed]:
    """What each end needs, one after the other and some of it twice."""
    bdp = _window_wanted(question)
    found: list[HostNeed] = []
    for model in (question.receiver, question.sender):
        found += _scaling_need(model, bdp)
    found += _side_needs(question, windows.receive, question.receiver, "receive", bdp)
    return found + _side_needs(question, windows.send, question.sender, "send", bdp)


def _window_wanted(question: Question) -> int:
    """The link's BDP in bytes, in whole segments where it is a few of them; at most the largest window."""
    # a part in 10^9 of a byte is dust of the product
    bdp, mss = ceil(question.link.bdp_bytes * (1 - 1e-9)), question.segment.payload_bytes
    if bdp < SMALL_PATH_SEGMENTS * mss:
        bdp = ceil(bdp / mss) * mss
    return min(bdp, MAX_WINDOW_BYTES)


def _possible(item: HostNeed) -> HostNeed | None:
    """``item`` within what its type can hold; None where the host has that already."""
    need = item.need
    if not isinstance(need.target, int) or isinstance(need.target, bool):
        return item
    largest = LARGEST_REQUEST_BYTES if need.setting is None else SETTINGS[need.setting].largest
    target = min(need.target, largest)
    if isinstance(need.current, int) and need.current >= target:
        return None
    return replace(item, need=replace(need, target=target))


def _with_native(item: HostNeed, model: WindowModel) -> HostNeed:
    """``item`` with the native values and the command, as far as the present value is known."""
    need, facts = item.need, model.facts
    native = facts.native.get(need.key) if need.key is not None else None
    if need.setting is None or need.key is None or native is None or native.raw is None:
        return item
    target = native_target(need, facts, native.raw)
    if target is None:
        return item
    command = get_platform(facts.os).set_command(need.key, target)
    return replace(item, current_native=native.raw, target_native=target, command=command)


def _scaling_need(model: WindowModel, bdp: int) -> list[HostNeed]:
    if model.scaling().on or bdp <= UNSCALED_WINDOW_BYTES:
        return []
    return [HostNeed(model.facts.host, need) for need in model.scaling_needs(bdp)]


def _side_needs(
    question: Question, window: Window, model: WindowModel, side: Side, bdp: int
) -> list[HostNeed]:
    if not _is_short(question, window, bdp) and not window.clamped:
        return []
    host, sender = model.facts.host, question.sender.facts.host
    wanted = [
        HostNeed(sender if need.setting is None else host, need)
        for need in model.needs(bdp, side, question.flow)
    ]
    return [*_memory_needs(question, window, model, bdp), *wanted]


def _is_short(question: Question, window: Window, bdp: int) -> bool:
    """Whether one stream with ``window`` can't fill the link; a part of a segment carries nothing."""
    size = window.mid_bytes
    if size is None:
        return False
    mss, rtt_s = question.segment.payload_bytes, question.link.rtt_s
    return (
        size < min(bdp, question.link.bdp_bytes) or window_rate_bps(size, mss, rtt_s) < question.goodput_bps
    )


def _memory_needs(question: Question, window: Window, model: WindowModel, bdp: int) -> list[HostNeed]:
    """Memory of all sockets, where that is what cuts the window or would cut the one that is wanted."""
    found = []
    each = ceil(MEMORY_FACTOR * bdp)
    for limit in model.memory_limits():
        reading = limit.reading
        cuts, cut_next = reading.setting == window.setting, 2 * bdp * question.streams > limit.total_bytes
        if not (cuts or cut_next) or not isinstance(reading.value, int):
            continue
        if cuts and window.mid_bytes:  # what one byte of window takes of the memory, as it is now
            each = max(each, ceil(1.25 * bdp * limit.total_bytes / (window.mid_bytes * question.streams)))
        flows = "one stream needs" if question.streams == 1 else f"{question.streams} streams need"
        reason = f"{flows} buffers of {each:,} bytes each"
        target = max(ceil(each * question.streams / limit.unit_bytes), reading.value + 1)
        need = Need(reading.setting, reading.key, reading.value, target, reason, reading.element)
        found.append(HostNeed(model.facts.host, need))
    return found


def _merged(found: list[HostNeed]) -> list[HostNeed]:
    """One need for each key of a host: the first one's present value, the largest target."""
    merged: dict[tuple[str, str | None, str | None, int | None], HostNeed] = {}
    for item in found:
        at = (item.host, item.need.setting, item.need.key, item.need.element)
        there = merged.get(at)
        if there is None:
            merged[at] = item
        elif _larger(item.need, there.need):
            merged[at] = replace(item, need=replace(item.need, current=there.need.current))
    return list(merged.values())


def _larger(one: Need, other: Need) -> bool:
    return isinstance(one.target, int) and isinstance(other.target, int) and one.target > other.target
