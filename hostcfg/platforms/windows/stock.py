"""What Windows has as it comes, by build and edition, and what profiles may ask about it.

From captures of untouched systems: provider none (client) or ctcp (server) to 2012, CUBIC from
1709; initial RTO 3000 ms up to 1909 and Server 2019, 1000 ms from 2004 and Server 2022; ECN off on
clients and on on servers; heuristics off from 8.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms.base import ProfileContext
from hostcfg.platforms.windows.keys import BUILD_8, BUILD_CUBIC, LEVEL_WINDOW_BYTES

if TYPE_CHECKING:
    from hostcfg.model import Scalar, Value
    from hostcfg.platforms.windows.keys import Situation

CURRENT_BUILD = 26100
BUILD_8_1 = 9600
BUILD_1607 = 14393
BUILD_1703 = 15063
BUILD_2004 = 19041
SOURCE = "captures of netsh and Get-NetTCPSetting on untouched systems"


def profile_context(situation: Situation, memory_bytes: int | None) -> ProfileContext:
    """Inputs for formulas, and the stock value of each setting where captures show it."""
    build = situation.build
    inputs: dict[str, Scalar] = {
        "largest_window_bytes": LEVEL_WINDOW_BYTES["experimental"],
        "normal_window_bytes": LEVEL_WINDOW_BYTES["normal"],
    }
    if build is not None:
        inputs["build"] = build
    if memory_bytes is not None:
        inputs["memory_bytes"] = memory_bytes
    if situation.server is not None:
        inputs["server"] = situation.server
    return ProfileContext(inputs, stock_values(build, server=situation.server), SOURCE)


def stock_values(build: int | None, *, server: bool | None) -> dict[str, Value]:
    """Setting -> stock value; one that depends on an edition or a build that is not known is left out."""
    stock: dict[str, Value] = {
        "recv_buffer_max": LEVEL_WINDOW_BYTES["normal"],
        "recv_autotuning": True,
        "window_scaling": True,
        "timestamps": False,
    }
    if server is not None:
        stock["ecn"] = "on" if server else "off"
    if build is None:
        return stock
    stock["window_scaling_heuristics"] = build < BUILD_8_1
    if build >= BUILD_8:
        stock["initial_rto"] = 1000 if build >= BUILD_2004 else 3000
        stock["initial_window"] = 10 if build >= BUILD_1607 else 4
        stock["slow_start_after_idle"] = False
    if build >= BUILD_1607:
        stock["fast_open"] = "on" if build >= BUILD_1703 else "off"
    if build >= BUILD_1703:
        stock["pacing"] = "off"
    if build >= BUILD_CUBIC:
        stock["congestion_control"] = "cubic"
    elif server is not None:
        stock["congestion_control"] = "ctcp" if server else "newreno"
    return stock
