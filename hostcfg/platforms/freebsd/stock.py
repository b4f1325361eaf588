"""FreeBSD's stock values by release, for the ``default`` profile and for what a profile may assume.

Sources: the kernel files named in native.py at each release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms.bsd.sockbuf import usable

if TYPE_CHECKING:
    from hostcfg.model import Value

SOURCE = "FreeBSD sys/netinet and sys/kern at this release"
CURRENT = (14, 2)
"""The release of a host that nobody has read: what ``render`` and ``profiles show`` are about."""

KIB, MIB = 1024, 1024 * 1024

_ALWAYS: dict[str, Value] = {
    "send_buffer_default": 32 * KIB,
    "recv_buffer_default": 64 * KIB,
    "send_autotuning": True,
    "recv_autotuning": True,
    "window_scaling": True,
    "timestamps": True,
    "sack": True,
    "segmentation_offload": True,
    "listen_backlog_max": 128,
}
_SINCE: tuple[tuple[tuple[int, int], dict[str, Value | None]], ...] = (
    ((7, 0), {"socket_buffer_max": 256 * KIB, "send_buffer_max": 256 * KIB, "recv_buffer_max": 256 * KIB}),
    ((8, 0), {"ecn": "off"}),
    ((9, 0), {"socket_buffer_max": None, "send_buffer_max": None, "recv_buffer_max": None}),
    ((9, 3), {"socket_buffer_max": 2 * MIB, "send_buffer_max": 2 * MIB, "recv_buffer_max": 2 * MIB}),
    ((9, 3), {"congestion_control": "newreno"}),
    ((10, 0), {"ecn": None}),
    ((10, 4), {"ecn": "accept", "mtu_probing": False}),
    ((11, 0), {"initial_window": 10}),
    ((12, 0), {"metrics_cache": True}),
    ((14, 0), {"congestion_control": "cubic", "initial_rto": 1000}),
)
"""What changed with a release; None: not known from there on."""


def stock_values(release: tuple[int, ...] | None) -> dict[str, Value]:
    """Neutral settings of ``release`` as installed; unknown ones left out.

    None: the release is not known, so only what all of them have alike.
    """
    found: dict[str, Value | None] = dict(_ALWAYS)
    for since, values in _SINCE:
        if release is not None and release[:2] >= since:
            found |= values
    cap = found.get("socket_buffer_max")
    if isinstance(cap, int):
        found |= {"recv_explicit_max": usable(cap), "send_explicit_max": usable(cap)}
    return {name: value for name, value in found.items() if value is not None}
