"""One direction in words, for someone who has to convince a far-end admin."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from hostcfg.path.tcp import window_rate_bps
from hostcfg.platforms.endpoint import MAX_WINDOW_BYTES
from hostcfg.units import bounded, format_rate, format_ratio, format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Value
    from hostcfg.path.limits import Question
    from hostcfg.path.report import Direction, HostNeed, Limit


def sentences_of(
    question: Question, limits: Sequence[Limit], needs: Sequence[HostNeed], unknown: Sequence[str]
) -> list[str]:
    """The limit, its range, what comes next, what to change, and what was not read."""
    first = limits[0]
    found = [_limit_sentence(question, first, bound=bool(unknown))]
    low, high = min(x.low_bps for x in limits), min(x.high_bps for x in limits)
    if high - low > 0.02 * high:
        why = _why_range(first, question.streams)
        found.append(f"The range is {format_rate(low)} to {format_rate(high)}{f': {why}' if why else ''}.")
    if len(limits) > 1:
        found.append(_next_sentence(question, limits[1]))
    beyond = question.link.bdp_bytes > MAX_WINDOW_BYTES
    if needs:
        aim = "For the most that one stream can carry" if beyond else "To fill the link with one stream"
        if first.kind == "link_rate" and question.streams > 1 and not beyond:
            aim = f"{question.streams} streams fill the link as it is; for one alone to fill it"
        found.append(f"{aim}: {'; '.join(need_text(n) for n in needs)}.")
    if beyond:
        found.append(_beyond_sentence(question))
    if first.kind == "loss":
        found.append("A larger window does not help against loss; bbr is hardly slowed by it.")
    found += [f"Not known: {text}." for text in unknown]
    return found


def need_text(host_need: HostNeed) -> str:
    """``on b set net.ipv4.tcp_rmem[2] to at least 2,500,000 (now 262,144)``."""
    need = host_need.need
    if need.setting is None:
        now, wanted = format_size(_int(need.current)), format_size(_int(need.target))
        return f"ask for {wanted} instead of {now} ({need.key}), or for no size at all"
    if host_need.target_native is not None and host_need.target_native.isalpha():
        now = f" (now {host_need.current_native})"
        return f"on {host_need.host} set {need.key} to {host_need.target_native}{now}"
    exact = isinstance(need.target, bool)
    name = _name(need.key or need.setting, need.element)
    target = f"{'' if exact else 'at least '}{plain(need.target)}"
    now = "" if need.current is None else f" (now {plain(need.current)})"
    return f"on {host_need.host} set {name} to {target}{now}"


def limit_rate(limit: Limit) -> str:
    """``281 Mbit/s or more`` where the limit is soft: flows were seen to exceed it."""
    return bounded(format_rate(limit.rate_bps), floor=limit.is_floor)


def predicted_rate(direction: Direction) -> str:
    """The prediction with what it is: a floor, an upper bound since one end was not read, or itself."""
    return bounded(
        format_rate(direction.predicted_bps),
        floor=direction.limited_by.is_floor,
        bound=bool(direction.unknown),
    )


def predicted_share(direction: Direction, link_goodput_bps: float) -> str:
    """The same as a part of what the link carries."""
    return bounded(
        format_ratio(direction.predicted_bps / link_goodput_bps),
        floor=direction.limited_by.is_floor,
        bound=bool(direction.unknown),
    )


def limit_name(limit: Limit) -> str:
    """``b's net.ipv4.tcp_rmem[2] = 262,144``; the link and a program's own size by their names."""
    if limit.kind == "link_rate":
        return "the link itself"
    if limit.setting is None:
        return f"the size of {format_size(_int(limit.value))} asked for (-w)"
    value = "" if limit.value is None else f" = {limit.word or plain(limit.value)}"
    return f"{limit.host}'s {_name(limit.key or limit.setting, limit.element)}{value}"


def plain(value: Value | None) -> str:
    """A value for people: digits in threes, flags as on and off."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        return " ".join(str(v) for v in value)
    return str(value)


def _limit_sentence(question: Question, limit: Limit, *, bound: bool) -> str:
    ends = f"{question.sender.facts.host} -> {question.receiver.facts.host}"
    flows = "one stream" if question.streams == 1 else f"{question.streams} streams"
    rate = bounded(format_rate(limit.rate_bps), floor=limit.is_floor, bound=bound)
    if limit.kind == "link_rate":
        return f"{ends}: {limit_name(limit)} limits {flows} to {rate} ({limit.reason})."
    share = bounded(format_ratio(limit.rate_bps / question.goodput_bps), floor=limit.is_floor and not bound)
    window = "" if limit.window_bytes is None else f" a window of {limit.window_bytes:,} bytes, so"
    return (
        f"{ends}: {limit_name(limit)} leaves {flows}{window} {rate}, {share} of the "
        f"{format_rate(question.goodput_bps)} that the link carries ({limit.reason})."
    )


def _beyond_sentence(question: Question) -> str:
    """A link that no window fills (RFC 7323 section 2.3): with how many streams it can be filled."""
    mss, rtt_s = question.segment.payload_bytes, question.link.rtt_s
    one = window_rate_bps(MAX_WINDOW_BYTES, mss, rtt_s)
    return (
        f"No TCP window is larger than 1 GiB, {format_rate(one)} at this RTT: it takes "
        f"{ceil(question.goodput_bps / one)} streams to fill the link."
    )


def _next_sentence(question: Question, limit: Limit) -> str:
    room = limit.rate_bps / question.goodput_bps
    beyond = " (more than the link)" if room > 1 else ""
    window = "" if limit.window_bytes is None else f" with a window of {limit.window_bytes:,} bytes"
    return f"Next comes {limit_name(limit)}, at {limit_rate(limit)}{window}{beyond}."


def _why_range(limit: Limit, streams: int) -> str | None:
    """Why there is a range; None where the limit's reason, which was said, has that in it."""
    if limit.is_floor:
        return "a send buffer is a soft limit, which programs with large writes exceed"
    if limit.kind == "link_rate":
        flow = "a single flow loses" if streams == 1 else "a few flows lose"
        return f"{flow} some of a link whose queue is short"
    if limit.kind == "loss":
        return "flows under random loss vary by 40 %"
    return None


def _name(key: str, element: int | None) -> str:
    return key if element is None else f"{key}[{element}]"


def _int(value: Value | None) -> int:
    return value if isinstance(value, int) else 0
