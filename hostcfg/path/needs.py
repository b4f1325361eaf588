"""What must change at either end so that one stream can fill the link: settings, in writing order."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from hostcfg.path.report import HostNeed
from hostcfg.platforms import get_platform
from hostcfg.platforms.endpoint import UNSCALED_WINDOW_BYTES, Need, Side, Window, WindowModel

if TYPE_CHECKING:
    from hostcfg.path.limits import Question, Windows


def needs_of(question: Question, windows: Windows) -> list[HostNeed]:
    """Every window below the link's BDP, whatever limits first, and every request that is cut.

    Several needs of one key become one, with the largest target.
    """
    bdp = ceil(question.link.bdp_bytes)
    found: list[HostNeed] = []
    for model in (question.receiver, question.sender):
        found += _scaling_need(model, bdp)
    found += _side_needs(question, windows.receive, question.receiver, "receive", bdp)
    found += _side_needs(question, windows.send, question.sender, "send", bdp)
    models = {m.facts.host: m for m in (question.receiver, question.sender)}
    return [_with_native(n, models[n.host]) for n in _merged(found)]


def _with_native(item: HostNeed, model: WindowModel) -> HostNeed:
    """``item`` with the native values and the command, as far as the present value is known."""
    need, facts = item.need, model.facts
    if need.setting is None or need.key is None:
        return item
    platform = get_platform(facts.os)
    key, native = platform.keys(facts).get(need.setting), facts.native.get(need.key)
    raw = native.raw if native is not None else None
    if key is None or key.encode is None or raw is None or key.name != need.key:
        return item
    try:
        target = key.encode(raw, need.target)
    except ValueError:
        return item
    return replace(
        item, current_native=raw, target_native=target, command=platform.set_command(need.key, target)
    )


def _scaling_need(model: WindowModel, bdp: int) -> list[HostNeed]:
    if model.scaling().on or bdp <= UNSCALED_WINDOW_BYTES:
        return []
    return [HostNeed(model.facts.host, need) for need in model.scaling_needs(bdp)]


def _side_needs(
    question: Question, window: Window, model: WindowModel, side: Side, bdp: int
) -> list[HostNeed]:
    short = window.mid_bytes is not None and window.mid_bytes < bdp
    if not short and not window.clamped:
        return []
    host, sender = model.facts.host, question.sender.facts.host
    wanted = [
        HostNeed(sender if need.setting is None else host, need)
        for need in model.needs(bdp, side, question.flow)
    ]
    return [*_memory_needs(question, window, model, bdp), *wanted]


def _memory_needs(question: Question, window: Window, model: WindowModel, bdp: int) -> list[HostNeed]:
    """Memory of all sockets, where that is what cuts the window: in proportion to what is missing."""
    found = []
    for limit in model.memory_limits():
        if limit.reading.setting != window.setting or not isinstance(limit.reading.value, int):
            continue
        factor = bdp * 2 * question.streams / limit.total_bytes
        reading = limit.reading
        reason = f"{question.streams} streams need buffers of {2 * bdp:,} bytes each"
        target = max(ceil(limit.reading.value * factor), limit.reading.value + 1)
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
