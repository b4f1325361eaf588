"""Windows PowerShell as far as the probe goes: statements, strings, and five cmdlets."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

from tests.hosts.windows import tasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.hosts.windows.releases import State
    from tests.hosts.windows.session import Session

_NAMES = {
    "internet": "Internet",
    "internetcustom": "InternetCustom",
    "datacenter": "Datacenter",
    "datacentercustom": "DatacenterCustom",
    "compat": "Compat",
}
_LEVELS = {"highlyrestricted": "HighlyRestricted", None: "NotConfigured"}


def run(session: Session, rest: str) -> tuple[str, str, int]:
    """Standard output, standard error and status of ``powershell.exe REST``."""
    statements = re.split(r"\s*;\s*(?=(?:[^']*'[^']*')*[^']*$)", rest.partition("-Command ")[2].strip())
    out, err = "", ""
    for statement in statements:
        if statement.startswith("'") and statement.endswith("'"):
            out += statement[1:-1] + "\n"
            continue
        if statement.startswith("Register-ScheduledTask") and tasks.register(session, statement):
            continue
        cmdlet = re.search(r"(?:Get|Find)-Net\w+", statement)
        rows = _rows(session.state, cmdlet[0]) if cmdlet else None
        if rows is None:
            name = cmdlet[0] if cmdlet else statement.split(" ", 1)[0]
            err += f"{name} : The term '{name}' is not recognized as the name of a cmdlet.\n"
            continue
        selected = re.search(r"Select-Object ([\w,]+)", statement)
        names = selected[1].split(",") if selected else list(rows[0])
        text = [{name: str(row.get(name) or "") for name in names} for row in rows]
        out += json.dumps(text) + "\n" if "ConvertTo-Json" in statement else _csv(names, text)
    return out, err, 1 if err else 0


def _csv(names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, names, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _rows(state: State, cmdlet: str) -> list[dict[str, object]] | None:
    up = [i for i in state["interfaces"] if "speed" in i]
    if cmdlet == "Get-NetTCPSetting":
        return [{"SettingName": "Automatic"}, *(_template(state, name) for name in state["templates"])]
    if cmdlet == "Get-NetOffloadGlobalSetting":
        return [{"ReceiveSideScaling": "Enabled", "TaskOffload": "Enabled", "Chimney": "Disabled"}]
    if cmdlet == "Get-NetAdapter":
        return [
            {
                "Name": i["name"],
                "InterfaceIndex": i["idx"],
                "ReceiveLinkSpeed": i["speed"],
                "MtuSize": i["mtu"],
            }
            for i in up
        ]
    if cmdlet in {"Get-NetRoute", "Find-NetRoute"}:
        prefix = "0.0.0.0/0"
        chosen = [i for i in up if i.get("default")]
        return [
            {
                "InterfaceAlias": i["name"],
                "InterfaceIndex": i["idx"],
                "DestinationPrefix": prefix,
                "RouteMetric": 0,
            }
            for i in chosen
        ]
    return None


def _template(state: State, name: str) -> dict[str, object]:
    values, rows = state["templates"][name], state["global"]
    level, policy = rows["autotuninglevel"], state["policy_level"]
    return {
        "SettingName": _NAMES[name],
        "MinRtoMs": values["minrto"],
        "InitialCongestionWindowMss": values["icw"],
        "CongestionProvider": values["congestionprovider"].upper(),
        "CwndRestart": str(values["enablecwndrestart"] == "enabled"),
        "DelayedAckTimeoutMs": values["delayedacktimeout"],
        "AutoTuningLevelLocal": _LEVELS.get(level, level.capitalize()),
        "AutoTuningLevelGroupPolicy": _LEVELS.get(policy, str(policy).capitalize()),
        "AutoTuningLevelEffective": "Local" if policy is None else "GroupPolicy",
        "EcnCapability": rows["ecncapability"].capitalize(),
        "Timestamps": rows["timestamps"].capitalize(),
        "InitialRtoMs": rows.get("initialrto"),
        "ScalingHeuristics": state["heuristics"]["wsh"].capitalize(),
    }
