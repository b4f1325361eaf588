"""netsh interface tcp and ipv4: show and set, as the captures show them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hosts.windows.languages import OTHER, label
from tests.hosts.windows.releases import ROWS

if TYPE_CHECKING:
    from tests.hosts.windows.session import Session

_USAGE = Path(__file__).parents[2] / "fixtures/windows/tcp_set_global__win10-1809-server2019__en__01.txt"
_RULE = "-" * 46
_SWITCH = "disabled|enabled|default"
_VALUES = {
    "autotuninglevel": "disabled|highlyrestricted|restricted|normal|experimental",
    "timestamps": f"{_SWITCH}|allowed",
    "initialrto": r"\d{3,4}",
    "maxsynretransmissions": "[2-8]",
    "pacingprofile": "off|initialwindow|slowstart|always|default",
    "congestionprovider": "none|ctcp|dctcp|cubic|bbr2|newreno|default",
    "minrto": r"\d{2,3}",
    "icw": r"\d{1,2}",
    "delayedacktimeout": r"\d{2,3}",
    "delayedackfrequency": r"\d{1,3}",
}


def run(session: Session, rest: str) -> tuple[str, int]:
    """What netsh prints for its arguments, and its exit status."""
    words = re.findall(r'(?:[^\s"]|"[^"]*")+', rest)
    plain = [word.replace('"', "") for word in words]
    verb = [{"int": "interface", "ip": "ipv4"}.get(word.lower(), word.lower()) for word in plain[:4]]
    arguments = plain[4:]
    shows = {
        "tcp show global": _show_global,
        "tcp show supplemental": _show_supplemental,
        "tcp show heuristics": _show_heuristics,
        "ipv4 show subinterfaces": _show_subinterfaces,
        "ipv4 show dynamicport": _show_ports,
    }
    command = " ".join(verb[1:])
    if verb[:1] == ["interface"] and command in shows:
        return shows[command](session, arguments)
    if verb[:2] == ["interface", "tcp"] and verb[2:3] == ["set"]:
        return _set(session, verb[3], arguments)
    return f"The following command was not found: {rest}.\n", 1


# -- show -------------------------------------------------------------------------------------------


def _table(rows: list[tuple[str, object]], title: str) -> str:
    body = "".join(f"{name:<36}: {value} \n" for name, value in rows)
    return f"{title}\n{_RULE}\n{body}\n"


def _show_global(session: Session, arguments: list[str]) -> tuple[str, int]:
    state = session.state
    store = "persistent" if any("persistent" in word for word in arguments) else "active"
    if arguments and state["release"] in {"7", "2008", "2012"}:
        return "Usage: show global\n\nRemarks: Shows TCP parameters [[x=]y].\n", 1
    values = state["global" if store == "active" else "persistent"]
    rows = [(label(session.language, row), values[row]) for row in ROWS[state["release"]].split()]
    asking = session.say("querying") if store == "active" else "Querying persistent state..."
    printed = f"{asking}\n\n{_table(rows, session.say('title'))}"
    if state["heuristics_override"]:
        printed += (
            "** The above autotuninglevel setting is the result of Windows Scaling heuristics\n"
            "overriding any local/policy configuration on at least one profile.\n"
        )
    return printed, 0


def _show_supplemental(session: Session, arguments: list[str]) -> tuple[str, int]:
    state = session.state
    if not state["templates"]:
        return "The following command was not found: interface tcp show supplemental.\n", 1
    printed = "\n" + session.say("template").format(state["template"]) + "\n\n"
    name = arguments[0].removeprefix("template=") if arguments else state["template"]
    if name in state["templates"]:
        rows = [
            (OTHER["provider" if key == "congestionprovider" else key], value)
            for key, value in state["templates"][name].items()
        ]
        printed += _table(rows, "TCP Supplemental Parameters")
    printed += "Please use the 'netsh int tcp show supplementalports' and\n"
    printed += "'netsh int tcp show supplementalsubnets' commands to view active filters.\n"
    return printed, 0


def _show_heuristics(session: Session, arguments: list[str]) -> tuple[str, int]:
    rows: list[tuple[str, object]] = [(OTHER["wsh"], session.state["heuristics"]["wsh"])]
    if session.state["release"] in {"7", "2012"}:
        rows.append(("Qualifying Destination Threshold", 3))
        rows += [(f"Profile type {kind}", "normal") for kind in ("unknown", "public", "private", "domain")]
    return _table(rows, "TCP Window Scaling heuristics Parameters"), 0


def _show_subinterfaces(session: Session, arguments: list[str]) -> tuple[str, int]:
    printed = "\n   MTU  MediaSenseState   Bytes In  Bytes Out  Interface\n"
    printed += "------  ---------------  ---------  ---------  -------------\n"
    for row in session.state["interfaces"]:
        printed += f"{row['mtu']:>6}  {row['media']:>15}  {0:>9}  {27509:>9}  {row['name']}\n"
    return printed + "\n", 0


def _show_ports(session: Session, arguments: list[str]) -> tuple[str, int]:
    ports = session.state["ports"]
    printed = f"\nProtocol tcp Dynamic Port Range\n{'-' * 33}\n"
    return printed + f"Start Port      : {ports['start']}\nNumber of Ports : {ports['num']}\n\n", 0


# -- set --------------------------------------------------------------------------------------------


def _set(session: Session, table: str, arguments: list[str]) -> tuple[str, int]:
    """Everything is checked before anything is written; nothing proves by its status that it was."""
    state = session.state
    pairs = [word.partition("=")[::2] for word in arguments]
    target = _target(session, table, pairs)
    pairs = [(name, value) for name, value in pairs if name != "template"]
    if target is None:
        return "The following command was not found.\n", 1
    for name, value in pairs:
        if name not in target or not re.fullmatch(_VALUES.get(name, _SWITCH), value):
            usage = _USAGE.read_text(encoding="utf-8").split("\n", 2)[2]
            return session.say("argument").format(name) + "\n" + usage, state["usage_status"]
    if not state["elevated"] or not state["netsh_elevated"]:
        return f"Set {table} command failed on IPv4 {session.say('elevation')}\n", 1
    pairs = [(name, state["clamps"].get(f"{name}={value}", value)) for name, value in pairs]
    refused = any(f"{name}={value}" in state["refuses"] for name, value in pairs)
    if not state["ignores_sets"] and not refused and not _kept_by_heuristics(session, table, pairs):
        shown = {"none": "newreno"} if table == "supplemental" else {}
        target.update({name: shown.get(value, value) for name, value in pairs})
        if table == "global":
            state["persistent"].update(dict(pairs))
        session.save()
    return session.say("ok") + "\n\n", 0


def _kept_by_heuristics(session: Session, table: str, pairs: list[tuple[str, str]]) -> bool:
    """Whether the heuristics make their own of the level, and say so under the table from then on."""
    state = session.state
    level = dict(pairs).get("autotuninglevel")
    if table != "global" or state["heuristics_keep"] is None or level is None:
        return False
    state["heuristics_override"] = level != "normal"
    state["global"]["autotuninglevel"] = state["heuristics_keep"] if level != "normal" else level
    session.save()
    return True


def _target(session: Session, table: str, pairs: list[tuple[str, str]]) -> dict[str, str] | None:
    state = session.state
    found: dict[str, str] | None
    if table == "supplemental":
        found = state["templates"].get(dict(pairs).get("template", state["template"]))
    else:
        found = state.get(table) if table in {"global", "heuristics"} else None
    return found
