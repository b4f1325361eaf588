"""Profiles: YAML rules + a link's rate and RTT + what is known of a host -> targets."""

from __future__ import annotations

from hostcfg.profiles.check import check_profile
from hostcfg.profiles.files import find_profile, list_profiles, load_profile
from hostcfg.profiles.structure import Profile
from hostcfg.profiles.targets import ProfileTargets, profile_targets

__all__ = [
    "Profile",
    "ProfileTargets",
    "check_profile",
    "find_profile",
    "list_profiles",
    "load_profile",
    "profile_targets",
]
