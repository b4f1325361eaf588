"""How to test a direction so that the number means something: the command, its length, its warnings."""

from __future__ import annotations

import shlex
from dataclasses import replace
from math import ceil
from pathlib import PurePath
from typing import TYPE_CHECKING

from hostcfg.path.limits import limits_of, windows_of
from hostcfg.path.report import TestAdvice
from hostcfg.path.tcp import CUBIC, algorithm, cubic_recovery_s
from hostcfg.platforms.endpoint import LARGEST_REQUEST_BYTES
from hostcfg.units import bounded, format_rate, format_ratio, format_size

if TYPE_CHECKING:
    from hostcfg.path.limits import Question, Windows

SHORT_RTT_S, LOADED_SLOW_START_S = 0.05, 5
"""Slow start takes below a second under 50 ms, and up to 5 s where another stream fills the queue
(field case 4)."""
LEAST_SECONDS, MOST_SECONDS = 10, 60
MOST_STREAMS = 128
"""MAX_STREAMS of iperf3 (iperf.h): it ends with an error above."""
LEAST_SIZE_BYTES = 8192


def plain_name(host: str) -> str:
    """``host`` as a command can have it: ``file:mails/far-end.txt`` is ``far-end``."""
    return PurePath(host.removeprefix("file:")).stem if host.startswith("file:") else host


def advise(
    question: Question, windows: Windows, test_ends: tuple[str, str], slow_start_s: float
) -> TestAdvice:
    """The test of one direction: on the first of ``test_ends`` against a server on the second.

    A size that was asked about is the test's, with the streams that were asked about, unless iperf3 gives
    up there.  Else ``-w`` only where both ends grant a size with which one stream fills the link and
    autotuning does not; else ``-P`` where one stream's window is below the BDP.  ``-O`` past slow start;
    ``-t`` long enough for two of CUBIC's recoveries on a link that it fills.
    """
    client, server = test_ends
    asked = None if _is_refused(question) else question.flow.explicit_bytes
    size = _explicit_size(question) if asked is None else asked
    chosen = windows_of(_asking(question, size))
    wanted = _streams(question, chosen.bytes) if asked is None else question.streams
    streams = min(wanted, MOST_STREAMS)
    omit = max(1, ceil(1.5 * slow_start_s))
    if question.link.rtt_s >= SHORT_RTT_S:
        omit = max(omit, LOADED_SLOW_START_S)
    omit = min(omit, MOST_SECONDS)  # iperf3's own limit for -O
    seconds = _seconds(question)
    commands = _commands(question.sender.facts.host != client, server, seconds, omit, streams, size)
    reason = _streams_reason(question, chosen, wanted, size)
    warnings = _warnings(question, windows, size)
    return TestAdvice(client, commands, seconds, omit, streams, size, warnings, reason)


def _streams_reason(question: Question, windows: Windows, wanted: int, size: int | None) -> str | None:
    """Why other streams than were asked about, and what they reach where iperf3 has no more of them."""
    parts = []
    if wanted > question.streams and windows.bytes is not None:
        share = bounded(format_ratio(windows.bytes / question.link.bdp_bytes), floor=windows.is_floor)
        parts.append(f"the window of one holds {share} of the BDP")
    if wanted > MOST_STREAMS:
        count = f"it takes {wanted}" if wanted > question.streams else f"{wanted} were asked about"
        fewer = replace(_asking(question, size), streams=MOST_STREAMS)
        limit = limits_of(fewer, windows_of(fewer))[0]
        rate = format_rate(limit.rate_bps)
        reached = bounded(rate, floor=limit.is_floor, bound=not limit.is_floor)
        parts.append(f"{count}, and iperf3's limit is {MOST_STREAMS}: {reached}")
    return "; ".join(parts) or None


def _asking(question: Question, size: int | None) -> Question:
    return replace(question, flow=replace(question.flow, explicit_bytes=size))


def _is_refused(question: Question) -> bool:
    """Whether either end turns the size down that was asked about, whatever the direction."""
    back = replace(question, sender=question.receiver, receiver=question.sender)
    both = windows_of(question), windows_of(back)
    return any(w.refused is not None for pair in both for w in (pair.receive, pair.send))


def _caps_unread(question: Question) -> list[str]:
    """The hosts of which it is not known how much a program may ask for."""
    return [
        model.facts.host
        for model in (question.sender, question.receiver)
        if model.receive(question.flow).cap_unread or model.send(question.flow).cap_unread
    ]


def _explicit_size(question: Question) -> int | None:
    """A size for ``-w`` with which one stream fills a link that autotuning does not let it fill.

    The smallest power of two that does, else the least of a few sizes above the BDP; None where
    autotuning is enough, or where no size that both ends grant is: then streams (``-P``) fill the link.
    """
    tuned, bdp = windows_of(_asking(question, None)).bytes, question.link.bdp_bytes
    if tuned is None or tuned >= bdp:
        return None
    smallest = max(ceil(bdp / 4), LEAST_SIZE_BYTES)  # no system makes more window of a request
    powers = (1 << n for n in range(smallest.bit_length() - 1, LARGEST_REQUEST_BYTES.bit_length()))
    others = (ceil(factor * bdp / 1024) * 1024 for factor in (1.0, 1.1, 1.25, 1.5))
    for size in (*powers, *others):
        window = _granted_window(question, size) if size <= LARGEST_REQUEST_BYTES else None
        if window is not None and window >= bdp:
            return size
    return None


def _granted_window(question: Question, size: int) -> int | None:
    """The window with ``size`` asked for at both ends, None if any buffer of either end is or may be cut.

    iperf3 sets both buffers at both ends, whatever the direction.
    """
    asking = _asking(question, size)
    back = replace(asking, sender=question.receiver, receiver=question.sender)
    both = windows_of(asking), windows_of(back)
    if any(w.clamped or w.refused or w.cap_unread for pair in both for w in (pair.receive, pair.send)):
        return None
    return both[0].bytes


def _streams(question: Question, window: int | None) -> int:
    if not window or window >= question.link.bdp_bytes:  # nothing known, or 0: more of it is nothing too
        return question.streams
    return max(question.streams, ceil(question.link.bdp_bytes / window))


def _seconds(question: Question) -> int:
    value = question.sender.congestion_control().value
    if algorithm(value if isinstance(value, str) else None) is not CUBIC:
        return LEAST_SECONDS
    recovery = cubic_recovery_s(question.link.bdp_bytes, question.segment.payload_bytes)
    return min(max(LEAST_SECONDS, ceil(2 * recovery)), MOST_SECONDS)


def _commands(
    reverse: bool, server: str, seconds: int, omit: int, streams: int, size: int | None
) -> list[str]:
    """iperf3, then iperf 2, which counts its first seconds in and can't leave them out."""
    more = [
        *(["-R"] if reverse else []),
        *(["-P", str(streams)] if streams > 1 else []),
        *(_size_option(size)),
    ]
    iperf3 = ["iperf3", "-c", server, "-t", str(seconds), "-O", str(omit), *more]
    iperf2 = ["iperf", "-c", server, "-t", str(seconds + omit), "-i", "1", *more]
    return [shlex.join(iperf3), shlex.join(iperf2)]


def _size_option(size: int | None) -> list[str]:
    if size is None:
        return []
    unit, letter = (1 << 20, "M") if size % (1 << 20) == 0 else (1024, "K")
    return ["-w", f"{size // unit}{letter}" if size % unit == 0 else str(size)]


def _warnings(question: Question, windows: Windows, size: int | None) -> list[str]:
    found = []
    asked, got = question.flow.explicit_bytes, windows.bytes
    alone = windows_of(_asking(question, None))
    tuned = alone.bytes
    refused = asked is not None and _is_refused(question)
    if refused and asked is not None:
        found.append(f"-w {format_size(asked)} is left out: iperf3 would give up, as it is not granted")
    elif size is not None and asked is None:
        found.append(
            f"-w {format_size(size)} is for this test alone: it switches autotuning off, which ends at "
            f"{alone.text} here"
        )
    elif asked is not None and (unread := _caps_unread(question)):
        found.append(
            f"-w {format_size(asked)} may be refused, and iperf3 gives up then (socket buffer size not set "
            f"correctly): how much a program may ask for was not read of {' and '.join(unread)}"
        )
    if asked is not None and not refused and tuned is not None and got is not None and tuned > got:
        found.append(f"without -w {format_size(asked)} autotuning reaches {alone.text} instead of {got:,}")
    found.append(
        "start the server (iperf3 -s) after any change: a listening socket keeps its first buffer sizes"
    )
    return found
