"""What the analysis of a path says: plain values, and their document (spec section 5)."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Finding, Json, Link, Value
    from hostcfg.platforms.endpoint import Need

LimitKind = Literal["receive_window", "send_buffer", "explicit_window", "window_scaling", "link_rate", "loss"]


@dataclass(frozen=True, slots=True)
class Limit:
    """One thing that limits a direction, and to how much.

    ``rate_bps``, ``low_bps`` and ``high_bps`` are goodput of all streams together; ``high_bps`` is
    infinite for a soft limit.  ``window_bytes`` is of one stream, None where no window is involved.
    ``host`` None: no host's doing.  ``word``: the value as the OS writes it where that is no number.
    """

    kind: LimitKind
    host: str | None
    setting: str | None
    key: str | None
    value: Value | None
    rate_bps: float
    low_bps: float
    high_bps: float
    reason: str
    window_bytes: int | None = None
    element: int | None = None
    word: str | None = None

    @property
    def is_floor(self) -> bool:
        """Whether the rate is what is left at least: a soft limit, which flows can exceed."""
        return isinf(self.high_bps)


@dataclass(frozen=True, slots=True)
class HostNeed:
    """One setting that must change, and on which host.

    ``current_native`` and ``target_native`` are the whole native value now and then (a triple, a
    level), ``command`` what sets it at run time; None where the native value was not read.
    """

    host: str
    need: Need
    current_native: str | None = None
    target_native: str | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True)
class HostFinding:
    """A finding that bears on the path; ``host`` None where it is the path's own."""

    host: str | None
    finding: Finding


@dataclass(frozen=True, slots=True)
class TestAdvice:
    """How to measure this direction.  ``commands`` run on host ``on``; seconds as iperf3 counts them."""

    __test__ = False  # no test class, whatever pytest makes of the name

    on: str
    commands: Sequence[str]
    seconds: int
    omit_s: int
    streams: int
    window_bytes: int | None
    warnings: Sequence[str]
    streams_reason: str | None = None  # why more than were asked about


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of a path.

    ``limits`` are sorted by what they leave, the limiting one first; ``window_bytes`` is the payload
    that one stream can have in flight, None where neither end's window is known.
    ``unknown`` are the windows that were not read: the prediction is an upper bound then.
    """

    from_host: str
    to_host: str
    window_bytes: int | None
    limits: Sequence[Limit]
    needs: Sequence[HostNeed]
    sentences: Sequence[str]
    unknown: Sequence[str]
    assumed: Sequence[str]
    receive_shift: int | None
    slow_start_s: float
    test: TestAdvice

    @property
    def limited_by(self) -> Limit:
        """The limit that leaves least."""
        return self.limits[0]

    @property
    def predicted_bps(self) -> float:
        """Goodput of all streams together, in bit/s."""
        return self.limited_by.rate_bps

    @property
    def low_bps(self) -> float:
        """The least that the ranges of all limits allow."""
        return min(limit.low_bps for limit in self.limits)

    @property
    def high_bps(self) -> float:
        """The most that the ranges of all limits allow."""
        return min(limit.high_bps for limit in self.limits)


@dataclass(frozen=True, slots=True)
class PathReport:
    """Both directions of a path between two hosts, and what else is worth saying."""

    link: Link
    mtu_bytes: int
    link_goodput_bps: float
    window_bytes: int | None
    streams: int
    loss: float | None
    directions: Sequence[Direction]
    findings: Sequence[HostFinding]


def to_json(report: PathReport) -> dict[str, Json]:
    """``hostcfg.path/1``; what stands beside the contract's fields is as named in the dataclasses."""
    link = report.link
    return {
        "schema": "hostcfg.path/1",
        "link": {
            "rate_bps": _number(link.rate_bps),
            "rtt_s": link.rtt_s,
            "bdp_bytes": _number(link.bdp_bytes),
            "goodput_bps": round(report.link_goodput_bps),
            "mtu_bytes": report.mtu_bytes,
        },
        "asked": {"window_bytes": report.window_bytes, "streams": report.streams, "loss": report.loss},
        "directions": [_direction(d) for d in report.directions],
        "findings": [
            {
                "host": f.host,
                "kind": f.finding.kind,
                "severity": f.finding.severity,
                "message": f.finding.message,
                "keys": list(f.finding.keys),
            }
            for f in report.findings
        ],
    }


def _direction(direction: Direction) -> dict[str, Json]:
    test = direction.test
    return {
        "from": direction.from_host,
        "to": direction.to_host,
        "window_bytes": direction.window_bytes,
        "predicted_bps": round(direction.predicted_bps),
        "low_bps": round(direction.low_bps),
        "high_bps": round(direction.high_bps),
        "limited_by": _limit(direction.limited_by),
        "needs": [_need(n) for n in direction.needs],
        "limits": [_limit(limit) | _rates(limit) for limit in direction.limits],
        "sentences": list(direction.sentences),
        "unknown": list(direction.unknown),
        "assumed": list(direction.assumed),
        "receive_shift": direction.receive_shift,
        "slow_start_s": round(direction.slow_start_s, 3),
        "test": {
            "on": test.on,
            "commands": list(test.commands),
            "seconds": test.seconds,
            "omit_s": test.omit_s,
            "streams": test.streams,
            "streams_reason": test.streams_reason,
            "window_bytes": test.window_bytes,
            "warnings": list(test.warnings),
        },
    }


def _limit(limit: Limit) -> dict[str, Json]:
    return {
        "kind": limit.kind,
        "host": limit.host,
        "setting": limit.setting,
        "key": limit.key,
        "element": limit.element,
        "value": _plain(limit.value),
    }


def _rates(limit: Limit) -> dict[str, Json]:
    return {
        "window_bytes": limit.window_bytes,
        "predicted_bps": round(limit.rate_bps),
        "low_bps": round(limit.low_bps),
        "high_bps": None if isinf(limit.high_bps) else round(limit.high_bps),
        "reason": limit.reason,
    }


def _need(host_need: HostNeed) -> dict[str, Json]:
    need = host_need.need
    return {
        "host": host_need.host,
        "setting": need.setting,
        "key": need.key,
        "element": need.element,
        "current": _plain(need.current),
        "target": _plain(need.target),
        "current_native": host_need.current_native,
        "target_native": host_need.target_native,
        "command": host_need.command,
        "reason": need.reason,
        "note": need.note,
    }


def _plain(value: Value | None) -> Json:
    if isinstance(value, tuple):
        return list(value)
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else value
