"""A transfer that runs now beside the prediction: what ``ss`` on the sender says of its sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.path.evidence import first_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Json, Parsed
    from hostcfg.path.report import Direction

COUNTING_RELEASE = (4, 10)
"""tcpi_busy_time and the two limited times (commit efd90174167530c67a54273fd5d8369c87f9bd32)."""
COUNTING_FIELDS = ("busy_ms", "delivered", "bytes_sent", "snd_wnd")
"""What a kernel and an ss that know those times show beside them: the others came later (4.18 on)."""
IDLE = (
    "The transfer is not limited by TCP: the program sends little, and the sockets were never busy for as "
    "long as the kernel counts."
)


@dataclass(frozen=True, slots=True)
class LiveEvidence:
    """Shares (0 to 1) of the time that the senders were busy, over all sockets of a test.

    ``cwnd_limited`` is the rest.  All are 0 where the kernel counts and the sockets were never busy for
    as long as it can tell; None where it does not count (before 4.10) or nothing was being sent.
    """

    sockets: int
    rwnd_limited: float | None
    sndbuf_limited: float | None
    cwnd_limited: float | None
    peer_window_bytes: int | None
    rtt_s: float | None
    min_rtt_s: float | None
    retransmitted: int | None
    sentences: Sequence[str]


def live_evidence(
    parsed: Parsed, direction: Direction | None = None, *, release: Sequence[int] | None = None
) -> LiveEvidence:
    """What ``ss -tin`` on the sender (``values["sockets"]``) says of the sockets that carry the test.

    ``release``: the sender's kernel, None where it is not known.

    Sockets that acknowledged less than a hundredth of the largest (control connections) are left out.
    """
    sockets = _carriers(_objects(parsed.values.get("sockets")))
    busy_ms = sum(first_number(s, "busy_ms") or 0.0 for s in sockets)
    rwnd, sndbuf = (_share(sockets, name, busy_ms) for name in ("rwnd_limited_ms", "sndbuf_limited_ms"))
    cwnd = None if rwnd is None or sndbuf is None else max(0.0, 1 - rwnd - sndbuf)
    shares = (rwnd, sndbuf, cwnd)
    idle = bool(sockets) and busy_ms <= 0 and _counts_limits(sockets, release)
    if idle:
        shares = (0.0, 0.0, 0.0)
    rtts = [_leading(s.get("rtt_ms")) for s in sockets]
    least = [_leading(s.get("minrtt_ms")) for s in sockets]
    windows = [first_number(s, "snd_wnd") or 0.0 for s in sockets]
    return LiveEvidence(
        len(sockets),
        *shares,
        round(max(windows, default=0.0)) or None,
        max((ms / 1000 for ms in rtts if ms is not None), default=None),
        min((ms / 1000 for ms in least if ms is not None), default=None),
        sum(_retransmitted(s) for s in sockets) if sockets else None,
        [IDLE] if idle else _live_sentences(len(sockets), shares, direction),
    )


def _counts_limits(sockets: Sequence[Mapping[str, Json]], release: Sequence[int] | None) -> bool:
    """Whether the kernel counts: ss leaves out a time that is zero, so a missing one alone says nothing."""
    shown = any(name in socket for socket in sockets for name in COUNTING_FIELDS)
    return shown or (release is not None and tuple(release[:2]) >= COUNTING_RELEASE)


def _live_sentences(
    sockets: int, shares: tuple[float | None, float | None, float | None], direction: Direction | None
) -> list[str]:
    rwnd, sndbuf, cwnd = shares
    if sockets == 0:
        return ["No socket to the peer was sending: start the transfer first."]
    if rwnd is None or sndbuf is None or cwnd is None:
        return ["Kernel and ss do not report what limits the sockets (they do from 4.10 on)."]
    found = [
        (
            f"Of the time it had data to send, the sender waited {rwnd:.0%} for the receiver's window, "
            f"{sndbuf:.0%} for its own send buffer and {cwnd:.0%} for the congestion window or the link."
        )
    ]
    kind = direction.limited_by.kind if direction is not None else None
    if kind == "link_rate" and rwnd > 0.5:
        found.append("That is no contradiction: a window of about two BDP waits like this on a full link.")
    if kind == "send_buffer" and sndbuf < 0.05:
        found.append("Linux does not always count the send buffer, even where it is what limits.")
    if kind in {"receive_window", "window_scaling"} and rwnd < 0.5:
        found.append(
            "The receiver's window was not what the sender waited for: the prediction does not hold."
        )
    return found


def _objects(value: Json) -> list[Mapping[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _carriers(sockets: list[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    acked = [first_number(s, "bytes_acked") or 0.0 for s in sockets]
    most = max(acked, default=0.0)
    return [s for s, n in zip(sockets, acked, strict=True) if n > 0 and n * 100 >= most]


def _share(sockets: Sequence[Mapping[str, Json]], name: str, busy_ms: float) -> float | None:
    """ss leaves out a time that is zero, so a missing one counts as zero once a busy time is known."""
    if busy_ms <= 0:
        return None
    return min(1.0, sum(first_number(s, name) or 0.0 for s in sockets) / busy_ms)


def _retransmitted(socket: Mapping[str, Json]) -> int:
    """The second number of ``retrans:0/12``: all since the connection began."""
    value = socket.get("retrans")
    total = value[-1] if isinstance(value, list) and value else None
    return total if isinstance(total, int) else 0


def _leading(value: Json) -> float | None:
    """The first of a pair: ``rtt:116.997/21.532`` is the mean and its variation."""
    first = value[0] if isinstance(value, list) and value else value
    ok = isinstance(first, int | float) and not isinstance(first, bool)
    return float(first) if ok and isinstance(first, int | float) else None
