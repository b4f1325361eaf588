"""netsh's set commands, the order in which they are given, and the file for somebody else's admin.

Nothing is quoted, because nothing that would need it is let through: keys and values are words of
netsh's own, so a line means the same to cmd.exe and to PowerShell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import UsageError
from hostcfg.lean import regex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.platforms.base import RenderStyle, Stays

STORE = "netsh's persistent store (every netsh set is kept over a boot)"
_WORD = regex(r"[A-Za-z0-9]{1,40}")
_KEY = regex(
    r"(?P<table>global|heuristics)\.(?P<one>[a-z0-9]{1,40})"
    r"|supplemental\.(?P<template>[a-z]{1,20})\.(?P<two>[a-z0-9]{1,40})"
)
_PORTS_KEY = "dynamicport.tcp"
_PORTS = regex(r"start=(?P<start>\d{1,5}) num=(?P<num>\d{1,5})")
_REM_UNSAFE = regex(r"[^\w .,:;/()=+\-@']")


def set_command(key: str, raw: str) -> str:
    """The netsh line that sets ``key``; UsageError for a key or value that netsh does not have.

    >>> set_command("global.autotuninglevel", "normal")
    'netsh interface tcp set global autotuninglevel=normal'
    """
    if key == _PORTS_KEY:
        ports = _PORTS.fullmatch(raw.strip())
        if ports is None:
            raise UsageError(f"{raw!r} is not of the form start=N num=N", key=key)
        return f"netsh interface ipv4 set dynamicport tcp start={ports['start']} num={ports['num']}"
    found = _KEY.fullmatch(key)
    if found is None:
        raise UsageError("hostcfg does not write this key on Windows", key=key[:80])
    value = raw.strip()
    if not _WORD.fullmatch(value) or not value.isascii():
        raise UsageError(f"{raw!r} is no value for netsh: one word of letters and digits", key=key)
    value = settable(key, value)
    if found["template"]:
        where = f"supplemental template={found['template']} {found['two']}"
    else:
        where = f"{found['table']} {found['one']}"
    return f"netsh interface tcp set {where}={value}"


def settable(key: str, raw: str) -> str:
    """``raw`` as netsh takes it: New Reno is shown as newreno and set as none (netsh's own usage text).

    >>> settable("supplemental.internet.congestionprovider", "newreno")
    'none'
    """
    value = raw.strip()
    return "none" if key.endswith(".congestionprovider") and value.lower() == "newreno" else value


def persist_target(key: str) -> str | None:
    """netsh writes the running and the persistent value at once; None for what hostcfg can't write."""
    return STORE if _KEY.fullmatch(key) or key == _PORTS_KEY else None


def write_order(key: str) -> int:
    """Heuristics first, since they override the level; then the level; then what depends on neither."""
    if key.startswith("heuristics."):
        return 0
    return 1 if key == "global.autotuninglevel" else 2


def render(
    values: Mapping[str, str], style: RenderStyle, header: Sequence[str], stays: Mapping[str, Stays]
) -> str:
    """A .cmd file (``script``), or the same commands as remarks that say why there is no file.

    Windows has no configuration file for these settings: netsh keeps what it sets.
    """
    commands: list[str] = []
    for key in sorted(values, key=lambda k: (write_order(k), k)):
        command, unsure = set_command(key, values[key]), stays.get(key)
        sure = unsure is None or unsure.stock_holds
        commands += (
            [command] if sure else [_remark("only where it is not within its rule:"), _remark(f"  {command}")]
        )
    remarks = [_remark(line) for line in header]
    if style == "config":
        lines = [
            "Windows has no file for these settings: run the commands once in an elevated",
            "prompt, netsh keeps what it sets over a boot.",
        ]
        return "".join(f"{line}\n" for line in [*remarks, *map(_remark, lines), *map(_remark, commands)])
    body = ["@echo off", *remarks, _remark("run in an elevated prompt; netsh keeps what it sets over a boot")]
    return "".join(f"{line}\n" for line in [*body, *commands, "netsh interface tcp show global"])


def _remark(line: str) -> str:
    """A remark that cmd.exe can't take for a command, whatever the text holds."""
    return f"rem {_REM_UNSAFE.sub(' ', line)}".rstrip()
