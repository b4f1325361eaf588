"""Errors of ``Set-NetTCPSetting`` and its relatives.

::

    Set-NetTCPSetting : Property CongestionProvider is read-only
    At line:1 char:1
    + Set-NetTCPSetting -SettingName InternetCustom -CongestionProvider DCT ...
        + CategoryInfo          : InvalidArgument: (MSFT_NetTCPSett...) [Set-NetTCPSetting], CimException
        + FullyQualifiedErrorId : Windows System Error 87,Set-NetTCPSetting
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.windows.messages import error_kind
from hostcfg.platforms.windows.text import plain_text
from hostcfg.platforms.windows.usage import HEAD_CHARS, is_usage

if TYPE_CHECKING:
    from hostcfg.model import Json

_ERROR_LINE = regex(r"\s*(?P<cmdlet>[a-z]{2,10}-net\w{2,40})\s?:\s+(?P<message>\S.*)", re.IGNORECASE)
_NATIVE = regex(r"Windows System Error (\d{1,6})\b")
_READ_ONLY = regex(r"[Pp]roperty (\w{1,60}) is read-only")
_NO_PARAMETER = regex(r"parameter (?:cannot be found )?.{0,40}name '(\w{1,60})'")
_BIND = regex(r"(?:bind|validate argument on) parameter '(\w{1,60})'")


def says_error(raw: str) -> bool:
    """Whether ``raw`` is an error record of PowerShell about a network cmdlet."""
    head = raw[:HEAD_CHARS]
    return "CategoryInfo" in head or any(
        _ERROR_LINE.fullmatch(line) for line in head.splitlines()[:40] if "-net" in line.lower()
    )


def parse_set_error(raw: str) -> Parsed:
    """``error_kind`` of a Set-NetTCPSetting, with ``parameter`` and ``native_error`` where they show."""
    text = plain_text(raw[:HEAD_CHARS])
    lines = [line for line in text.lines if line.strip()]
    found = next((m for m in map(_ERROR_LINE.fullmatch, lines) if m), None)
    beyond = raw[HEAD_CHARS:].splitlines()
    if found is None:
        rest = [line.strip() for line in lines]
        return Parsed("windows", "set-nettcpsetting", "Set-NetTCPSetting", {}, (), (*rest, *beyond))
    said = " ".join(" ".join(lines).split())
    values: dict[str, Json] = {"result": "error", **_error(found["message"], said)}
    native = _NATIVE.search(said)
    if native is not None:
        values["native_error"] = int(native[1])
    notes = [found["message"].strip()]
    return Parsed("windows", "set-nettcpsetting", found["cmdlet"], values, notes, beyond)


def _error(message: str, said: str) -> dict[str, Json]:
    read_only, unknown, bound = (p.search(said) for p in (_READ_ONLY, _NO_PARAMETER, _BIND))
    if read_only:
        return {"error_kind": "read_only", "parameter": read_only[1]}
    if "custom templates" in said and "can be modified" in said:
        return {"error_kind": "template_not_modifiable"}
    if unknown:
        return {"error_kind": "invalid_argument", "parameter": unknown[1]}
    if bound:
        return {"error_kind": "invalid_value", "parameter": bound[1]}
    if "PermissionDenied" in said or "Windows System Error 5," in said:
        return {"error_kind": "access_denied"}
    if "ObjectNotFound" in said and "No MSFT_" in said:
        return {"error_kind": "not_found"}
    return {"error_kind": error_kind(message) or error_kind(said) or "unknown"}


def _recognize_set_error(raw: str) -> int:
    return 97 if not is_usage(raw) and says_error(raw) else 0


PARSERS = (
    Parser("set-nettcpsetting", "windows", "Set-NetTCPSetting", _recognize_set_error, parse_set_error),
)
