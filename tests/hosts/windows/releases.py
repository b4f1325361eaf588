"""What the emulated releases have: rows of ``show global``, stock values, build numbers.

Rows and values are those of the captures under tests/fixtures/windows.
"""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

State = dict[str, Any]

_OLD = "rss chimney autotuninglevel congestionprovider ecncapability timestamps"
_SEVEN = "rss chimney netdma dca autotuninglevel congestionprovider ecncapability timestamps"
_TEN = "initialrto rsc nonsackrttresiliency maxsynretransmissions fastopen fastopenfallback"
_CORE = "rss autotuninglevel congestionprovider ecncapability timestamps"

ROWS = {
    "7": _SEVEN,
    "2008": _OLD,
    "2012": f"{_SEVEN} initialrto rsc",
    "10-1703": f"rss chimney {_CORE.removeprefix('rss ')} {_TEN} pacingprofile",
    "10-2004": f"{_CORE} {_TEN} hystart prr pacingprofile",
    "2022": f"{_CORE} {_TEN} hystart prr pacingprofile",
    "11-24H2": f"{_CORE} {_TEN} hystart prr pacingprofile",
}
VERSIONS = {
    "7": "6.1.7601",
    "2008": "6.0.6003",
    "2012": "6.2.9200",
    "10-1703": "10.0.15063.2679",
    "10-2004": "10.0.19045.3803",
    "2022": "10.0.20348.2113",
    "11-24H2": "10.0.26100.1742",
}
SERVERS = {"2008", "2012", "2022"}

_STOCK = {
    "rss": "enabled",
    "chimney": "automatic",
    "netdma": "enabled",
    "dca": "disabled",
    "autotuninglevel": "normal",
    "congestionprovider": "default",
    "ecncapability": "disabled",
    "timestamps": "disabled",
    "initialrto": "1000",
    "rsc": "enabled",
    "nonsackrttresiliency": "disabled",
    "maxsynretransmissions": "4",
    "fastopen": "enabled",
    "fastopenfallback": "enabled",
    "hystart": "enabled",
    "prr": "enabled",
    "pacingprofile": "off",
}
_GUID = r"HKLM\SOFTWARE\MICROSOFT\CRYPTOGRAPHY\MachineGuid"
_TEMPLATE = {
    "minrto": "300",
    "icw": "10",
    "congestionprovider": "cubic",
    "enablecwndrestart": "disabled",
    "delayedacktimeout": "40",
    "delayedackfrequency": "2",
    "rack": "enabled",
    "taillossprobe": "enabled",
}
_OEM = {"en": 437, "de": 850, "ru": 866, "zh-CN": 936, "ja": 932, "th": 874}
_NAMES = {
    "en": "Ethernet",
    "de": "LAN-Verbindung (Büro)",
    "ru": "Подключение по локальной сети",
    "zh-CN": "本地连接* 2",
    "ja": "イーサネット",
    "th": "อีเทอร์เน็ต",
}


def new_state(release: str = "11-24H2", language: str = "en", **changes: Any) -> State:
    """The state of an untouched host; ``changes`` replace whole entries.

    ``language`` and ``code_page`` are the console's, ``english_at_437`` whether ``chcp 437`` makes
    netsh speak English; ``shell`` is sshd's DefaultShell; ``banner`` comes before everything;
    ``elevated``, ``ignores_sets`` and ``usage_status`` (exit status of a refused argument) decide
    about sets; ``global`` is the active, ``persistent`` the next boot's store; ``policy_level`` is
    what group policy enforces.  ``tasks`` are scheduled (``scheduler`` False: none can be made,
    ``task_cmdlets``: Register-ScheduledTask is there, ``tasks_start`` False: only a test starts them);
    ``registry`` and ``acl`` hold what was added; ``clock`` stands still at that local time;
    ``netsh_elevated`` False denies netsh alone, ``clamps`` turn a parameter into another value,
    ``refuses`` are ``name=value`` words that netsh has no ear for, ``heuristics_keep`` is the level
    that the heuristics make of any other.
    """
    name = _NAMES[language]
    state: State = {
        "release": release,
        "language": language,
        "code_page": _OEM[language],
        "english_at_437": language != "de",  # a Latin language can be shown in 437, so it stays
        "elevated": True,
        "shell": "cmd",
        "powershell": release not in {"7", "2008"},
        "banner": "",
        "ignores_sets": False,
        "usage_status": 0 if release == "11-24H2" else 1,
        "global": _global(release),
        "template": "automatic" if release in {"2012", "2022"} else "internet",
        "templates": _templates(release),
        "heuristics": {"wsh": "enabled" if release in {"7", "2008", "2012"} else "disabled"},
        "heuristics_override": False,
        "policy_level": None,
        "tasks": {},
        "scheduler": True,
        "task_cmdlets": True,
        "tasks_start": True,
        "registry": {_GUID: "7b0f0e62-5c3e-4e0b-9d6f-3f1f6a1c2d3e"},
        "acl": [],
        "disk_full": False,
        "netsh_elevated": True,
        "clamps": {},
        "refuses": [],
        "heuristics_keep": None,
        "clock": None,
        "ports": {"start": 49152, "num": 16384},
        "interfaces": [
            {"idx": 1, "name": "Loopback Pseudo-Interface 1", "mtu": 4294967295, "media": 1},
            {"idx": 7, "name": name, "mtu": 1500, "media": 1, "speed": 1_000_000_000, "default": True},
            {"idx": 12, "name": "vEthernet (WSL)", "mtu": 1280, "media": 5, "speed": 10_000_000_000},
        ],
    }
    state["persistent"] = dict(state["global"])
    return state | changes


def _global(release: str) -> dict[str, str]:
    values = {row: _STOCK[row] for row in ROWS[release].split()}
    if release in {"7", "2008", "2012"}:
        values["congestionprovider"] = "ctcp" if release == "2008" else "none"
    if release in {"2012", "10-1703"}:
        values["initialrto"] = "3000"
    if release in SERVERS:
        values["ecncapability"] = "enabled" if release != "2008" else "disabled"
    return values


def _templates(release: str) -> dict[str, dict[str, str]]:
    if release in {"7", "2008"}:
        return {}
    internet = dict(_TEMPLATE)
    if release in {"2012", "10-1703"}:
        internet |= {"congestionprovider": "ctcp" if release == "2012" else "default"}
        internet |= {"icw": "4" if release == "2012" else "10"}
        del internet["rack"], internet["taillossprobe"]
    datacenter = internet | {"minrto": "20", "delayedacktimeout": "10"}
    datacenter |= {"congestionprovider": "dctcp" if release == "2012" else internet["congestionprovider"]}
    compat = internet | {"congestionprovider": "newreno", "icw": "4"}
    return {
        "internet": internet,
        "internetcustom": dict(internet),
        "datacenter": datacenter,
        "datacentercustom": dict(datacenter),
        "compat": compat,
    }


def write_state(path: Path, state: State) -> Path:
    """``state`` as the file that a :class:`Session` reads and writes; nobody sees half of it."""
    new = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    new.write_text(json.dumps(state, ensure_ascii=False, indent=1), encoding="utf-8")
    new.replace(path)
    return path


def read_state(path: Path) -> State:
    """The state in ``path``."""
    state: State = json.loads(path.read_text(encoding="utf-8"))
    return state
