"""What must change at either end so that one stream can fill the link: settings, in writing order.

Where no window is large enough for that, what makes it as large as a window can be.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from hostcfg.path.limits import windows_of
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
MEMORY_FACTOR = 2.5
"""Memory for each byte in flight: what the largest of the systems' buffers takes."""


def needs_of(question: Question, windows: Windows) -> list[HostNeed]:
    """Every window below the link's BDP, whatever limits first, and every request that is cut.

    Several needs of one key become one, with the largest target.  None asks for more than a window or
    the type of its setting can hold.
    """
    found = _wanted(question, windows)
    asked = [n.need.target for n in found if n.need.setting is None and isinstance(n.need.target, int)]
    if asked:  # one size for both ends and both buffers, so both must grant the larger one
        larger = replace(question.flow, explicit_bytes=min(max(asked), LARGEST_REQUEST_BYTES))
        again = replace(question, flow=larger)
        found += [n for n in _wanted(again, windows_of(again)) if n.need.setting is not None]
    models = {m.facts.host: m for m in (question.receiver, question.sender)}
    possible = [n for n in map(_possible, found) if n is not None]
    return [_with_native(n, models[n.host]) for n in _merged(possible)]


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
    target = _native_target(need, model, native.raw)
    if target is None:
        return item
    command = get_platform(facts.os).set_command(need.key, target)
    return replace(item, current_native=native.raw, target_native=target, command=command)


def _native_target(need: Need, model: WindowModel, raw: str) -> str | None:
    """The whole native value that meets ``need``; None where it can't be made of ``raw``, or not be set."""
    key = get_platform(model.facts.os).keys(model.facts).get(need.setting or "")
    if key is None or key.name != need.key:
        return str(need.target)  # a key of the system's own, beside the one that carries the setting
    try:
        return None if key.encode is None else key.encode(raw, need.target)
    except ValueError:
        return None


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
        factor = each * question.streams / limit.total_bytes
        if cuts:
            factor = max(factor, 1.25 * bdp / max(1, window.mid_bytes or 0))
        flows = "one stream needs" if question.streams == 1 else f"{question.streams} streams need"
        reason = f"{flows} buffers of {each:,} bytes each"
        target = max(ceil(reading.value * factor), reading.value + 1)
        need = Need(reading.setting, reading.key, reading.value, target, reason, reading.element)
        found.append(HostNeed(model.facts.host, need))
    return found


def _merged(found: list[HostNeed]) -> list[HostNeed]:
    merged: dict[tuple[str, str | None, str | None, int | None], HostNeed] = {}
    for item in found:
        at = (item.host, item.need.setting, item.need.key, item.need.element)
        there = merged.get(at)
        if there is None or _larger(item.need, there.need):
            merged[at] = item
    return list(merged.values())


def _larger(one: Need, other: Need) -> bool:
    return isinstance(one.target, int) and isinstance(other.target, int) and one.target > other.target
