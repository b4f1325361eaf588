"""The numbers that PowerShell 5.1 prints in JSON for enums, by property.

Microsoft's class documentation of MSFT_NetTCPSetting and MSFT_NetOffloadGlobalSetting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostcfg.model import Json

_SWITCH = {0: "disabled", 1: "enabled"}
_LEVEL = {0: "disabled", 1: "highlyrestricted", 2: "restricted", 3: "normal", 4: "experimental"}
ENUMS: dict[str, dict[int, Json]] = {
    "cwnd_restart": {0: False, 1: True},
    "auto_tuning_level_local": {**_LEVEL},
    "auto_tuning_level_group_policy": {**_LEVEL},
    "auto_tuning_level_effective": {0: "local", 1: "grouppolicy"},
    "congestion_provider": {0: "default", 2: "ctcp", 3: "dctcp"},
    "network_direct_across_ip_subnets": {0: "blocked", 1: "allowed"},
    "chimney": {**_SWITCH, 2: "automatic"},
    **{
        name: {**_SWITCH}
        for name in (
            "memory_pressure_protection",
            "ecn_capability",
            "timestamps",
            "scaling_heuristics",
            "automatic_use_custom",
            "non_sack_rtt_resiliency",
            "force_ws",
            "receive_side_scaling",
            "receive_segment_coalescing",
            "task_offload",
            "network_direct",
            "packet_coalescing_filter",
        )
    },
}
"""What a number means for each enum; a number that is not here stays unrecognized."""
