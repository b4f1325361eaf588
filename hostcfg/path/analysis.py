"""Puts the answer together: two facts and a link in, a report of both directions out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import InputError, UsageError
from hostcfg.model import State
from hostcfg.path.advice import advise, plain_name
from hostcfg.path.findings import findings_of
from hostcfg.path.limits import Question, assumed_of, limits_of, unknown_of, windows_of
from hostcfg.path.needs import needs_of
from hostcfg.path.report import Direction, PathReport
from hostcfg.path.sentences import sentences_of
from hostcfg.path.tcp import DEFAULT_MTU_BYTES, SMALLEST_MTU_BYTES, Segment, slow_start_rtts
from hostcfg.platforms import get_platform
from hostcfg.platforms.endpoint import LARGEST_REQUEST_BYTES, Flow
from hostcfg.units import format_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Facts, Link
    from hostcfg.path.limits import Windows
    from hostcfg.platforms.endpoint import WindowModel

MOST_STREAMS = 10_000


def analyse_path(
    a: Facts,
    b: Facts,
    link: Link,
    *,
    window_bytes: int | None = None,
    streams: int = 1,
    loss: float | None = None,
    mtu_bytes: int | None = None,
    server: str | None = None,
) -> PathReport:
    """Both directions between ``a`` and ``b``.

    ``window_bytes``: what the program asks for at both ends (iperf3 ``-w``).  ``loss``: share of
    packets lost at random, 0 to 1.  ``mtu_bytes``: of the path; None takes the smaller of what the
    two interfaces have, else 1500, and says so.  ``server``: where ``a`` reaches ``b``, for the test's
    commands; None takes the host's name.
    UsageError for numbers out of range or an OS without a window model, InputError that names host
    and keys where nothing was read of an end that could decide a window.
    """
    _check(link, window_bytes, streams, loss, mtu_bytes)
    ends = [_model(a), _model(b)]
    mtu, mtu_note = _path_mtu(a, b, mtu_bytes)
    timestamps = all(end.timestamps().on for end in ends)
    segment = Segment.of(mtu, timestamps=timestamps)
    flow = Flow(window_bytes, segment.payload_bytes, timestamps, link.rtt_s)
    questions = [
        Question(sender, receiver, link, segment, flow, streams, loss)
        for sender, receiver in (ends, ends[::-1])
    ]
    windows = [windows_of(question) for question in questions]
    directions = [
        _direction(question, window, (a.host, server or plain_name(b.host)), mtu_note)
        for question, window in zip(questions, windows, strict=True)
    ]
    findings = findings_of(questions, windows, directions)
    goodput = questions[0].goodput_bps
    return PathReport(link, mtu, goodput, window_bytes, streams, loss, directions, findings)


def _direction(
    question: Question, windows: Windows, test_ends: tuple[str, str], mtu_note: str | None
) -> Direction:
    limits, needs = limits_of(question, windows), needs_of(question, windows)
    unknown, assumed = unknown_of(windows), assumed_of(question, windows)
    slow_start_s = _slow_start_s(question, windows)
    return Direction(
        question.sender.facts.host,
        question.receiver.facts.host,
        windows.bytes,
        limits,
        needs,
        sentences_of(question, limits, needs, unknown),
        unknown,
        [*assumed, *([mtu_note] if mtu_note else [])],
        question.receiver.shift(question.flow) if windows.scaled else None,
        slow_start_s,
        advise(question, windows, test_ends, slow_start_s),
    )


def _slow_start_s(question: Question, windows: Windows) -> float:
    """Seconds until the window that the path can use is open at both ends.

    The congestion window doubles each round trip, and the receive buffer has to grow as far.
    """
    wanted = question.link.bdp_bytes / question.streams
    usable = wanted if windows.bytes is None else min(wanted, windows.bytes)
    doubling = slow_start_rtts(
        usable, question.segment.payload_bytes, question.sender.initial_window_segments()
    )
    growing = 0.0
    if question.flow.explicit_bytes is None:
        growing = question.receiver.rtts_to_reach(int(usable))
    return max(doubling, growing) * question.link.rtt_s


def _model(facts: Facts) -> WindowModel:
    """The host's window model; InputError where none of the settings that decide it was read."""
    model = get_platform(facts.os).window_model(facts)
    readings = [r for r in map(model.reading, model.decisive) if r.state is not State.UNSUPPORTED]
    if any(reading.state is State.VALUE for reading in readings):
        return model
    known = dict.fromkeys(r.key or r.setting for r in readings)
    states = ", ".join(dict.fromkeys(r.state.value for r in readings))
    keys = ", ".join(known)
    raise InputError(
        f"nothing can be said of this end: none of {keys} was read ({states}); read it as a user who "
        "may, or give a file that holds at least one of them",
        host=facts.host,
        key=next(iter(known), None),
    )


def _path_mtu(a: Facts, b: Facts, given: int | None) -> tuple[int, str | None]:
    """The path's MTU in bytes, and a sentence where it had to be assumed."""
    if given is not None:
        return given, None
    known = {f.host: _interface_mtu(f) for f in (a, b)}
    sizes = [size for size in known.values() if size is not None]
    if len(sizes) == len(known):
        return min(sizes), None
    missing = " and ".join(_unread(f) for f in (a, b) if known[f.host] is None)
    size = min([*sizes, DEFAULT_MTU_BYTES])
    return size, f"the MTU of {missing} was not read: assumed {size} bytes on the path"


def _unread(facts: Facts) -> str:
    """The host, and that its route is what is missing where its interfaces have several MTUs."""
    sizes = sorted({i.mtu_bytes for i in facts.interfaces if i.mtu_bytes is not None})
    if len(sizes) < 2:
        return facts.host
    return f"{facts.host}'s way (its interfaces have {sizes[0]} to {sizes[-1]}, and no route says which)"


def _interface_mtu(facts: Facts) -> int | None:
    """The MTU of the interface towards the peer, else of the default route, else that which all have."""
    chosen: Sequence[int | None] = [
        interface.mtu_bytes
        for wanted in ("peer", "default")
        for interface in facts.interfaces
        if wanted in interface.routes
    ]
    if not chosen and len({interface.mtu_bytes for interface in facts.interfaces}) == 1:
        chosen = [facts.interfaces[0].mtu_bytes]
    sizes = [size for size in chosen if size is not None and size >= SMALLEST_MTU_BYTES]
    return sizes[0] if sizes else None


def _check(
    link: Link, window_bytes: int | None, streams: int, loss: float | None, mtu_bytes: int | None
) -> None:
    if not (link.rate_bps > 0 and link.rtt_s > 0):
        raise UsageError("a path needs a rate and an RTT above zero")
    if window_bytes is not None and not 0 < window_bytes <= LARGEST_REQUEST_BYTES:
        raise UsageError(f"a window is above zero and at most 1 GiB (RFC 7323 2.3), not {window_bytes}")
    if not 1 <= streams <= MOST_STREAMS:
        raise UsageError(f"a test has 1 to {MOST_STREAMS} streams, not {streams}")
    if loss is not None and not 0 <= loss < 1:
        raise UsageError(f"a loss is at least 0 and below 100%, not {format_ratio(loss)}")
    if mtu_bytes is not None and not SMALLEST_MTU_BYTES <= mtu_bytes <= 65535:
        raise UsageError(f"an MTU is {SMALLEST_MTU_BYTES} to 65535 bytes, not {mtu_bytes}")
