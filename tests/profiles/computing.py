"""Targets of the built-in profiles, computed for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Link
from hostcfg.platforms.base import ProfileContext
from hostcfg.profiles import find_profile, profile_targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Scalar, Target, Value
    from hostcfg.profiles import ProfileTargets

SYSTEMS = ["linux", "freebsd", "macos", "windows"]
OLD_LINUX: Mapping[str, Scalar] = {"kernel_major": 6, "linux_before_6_6": True, "window_fraction": 0.5}
NEW_LINUX: Mapping[str, Scalar] = {"kernel_major": 6, "linux_before_6_6": False, "window_fraction": 0.68}

CASE_1 = Link(20e6, 0.516)  # Hungary to Singapore
CASE_3 = Link(200e6, 0.080)  # SLAC to ORNL
CASE_6 = Link(50e6, 0.030)  # carrier Ethernet
COMMON = Link(100e6, 0.080)
LAN = Link(1e9, 0.00025)


def compute(
    name: str,
    os: str,
    link: Link | None,
    known: Mapping[str, Scalar] | None = None,
    **inputs: str,
) -> ProfileTargets:
    context = ProfileContext(known or {})
    return profile_targets(find_profile(name), os=os, context=context, link=link, inputs=inputs)


def by_name(found: ProfileTargets) -> dict[str, Target]:
    return {target.setting: target for target in found.targets}


def values(found: ProfileTargets) -> dict[str, Value]:
    return {target.setting: target.value for target in found.targets}
