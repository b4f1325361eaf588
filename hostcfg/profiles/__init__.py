"""Profiles: YAML rules + a link's rate and RTT + what is known of a host -> targets.

A profile in short (``profiles/wan.yaml`` shows everything in use)::

    name: site
    summary: one line
    when: who should use it
    include: wan                      # a name or path, or a list; what stands here wins
    inputs:
      streams: {type: count, default: 1, min: 1, max: 64, meaning: parallel connections}
    let:
      wanted: ceil(2 * bdp / streams) # rate_bps, rtt_s and bdp (bytes) come from the link
    caps:
      ram: {value: "default(memory_bytes, 1TiB) / 16", reason: 1/16 of RAM}
    settings:                         # neutral names of hostcfg.settings
      recv_buffer_max:
        rule: at_least                # exact, at_least, at_most, one_of (value: a list)
        value: wanted                 # or a number, size, flag or word; `formula:` forces a formula
        cap: ram                      # optional: lowers the value and says why
        when: streams > 0             # optional; a list of rows takes the first that holds
        reason: holds {bdp|size}      # {formula} or {formula|size, rate, time, ratio, number}
        source: RFC 7323 section 1.1
    os:
      linux:                          # may have let, caps, settings and notes of its own
        settings:
          net.core.busy_poll: {rule: exact, value: 50, reason: ..., source: ...}  # a native key
          recv_autotuning: null       # takes a row away
    notes:
      - {text: "{bdp|size} in flight", when: bdp > 1MiB}

Inputs are of type size, rate, time, count, ratio or choice; one without a default, and anything that
only some platforms know (memory_bytes, linux_before_6_6 ...), is read by ``default(name, value)``.
``stock`` is the OS's own default of the row's setting.  A note is left out where a name in it has no
value.
"""

from __future__ import annotations

from hostcfg.profiles.files import find_profile, list_profiles, load_profile, profiles_and_faults
from hostcfg.profiles.structure import Profile
from hostcfg.profiles.targets import ProfileTargets, profile_targets

__all__ = [
    "Profile",
    "ProfileTargets",
    "find_profile",
    "list_profiles",
    "load_profile",
    "profile_targets",
    "profiles_and_faults",
]
