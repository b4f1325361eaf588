"""tuned.conf profiles: the ``[sysctl]`` section of an INI file.

Sample::

    [main]
    include=throughput-performance

    [sysctl]
    net.ipv4.tcp_rmem="4096 131072 16777216"
    net.core.somaxconn=>2048

Quotes belong to the file, not to the value.  ``=>2048`` only ever raises and ``=<2048`` only lowers
(tuned's plugin_sysctl): the value then depends on the host, so it stands in ``bounds`` and not in
``values``.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.conf import key_to_path, path_to_key
from hostcfg.platforms.linux.native import is_key, written
from hostcfg.platforms.linux.parsers.text import BLANKS, clean, head

if TYPE_CHECKING:
    from hostcfg.model import Json

SECTION = regex(r"\[(?P<name>[^\[\]]{1,80})\]")
_RULES = {">": "at_least", "<": "at_most"}
# Options of any tuned section that are no sysctls (tuned's profiles/unit.py).
_OF_TUNED = frozenset(
    {"type", "replace", "enabled", "devices", "devices_udev_regex", "priority", "drop", "cpus_regex"}
)


@dataclass(slots=True)
class _Result:
    values: dict[str, Json] = field(default_factory=dict)
    bounds: dict[str, Json] = field(default_factory=dict)
    sections: dict[str, Json] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unrecognized: list[str] = field(default_factory=list)


def parse(text: str) -> Parsed:
    """The sysctls of the profile; the other sections stay text, in ``sections``."""
    result = _Result()
    section = ""
    for number, line in enumerate(clean(text).split("\n"), 1):
        stripped = line.strip(BLANKS)
        if not stripped or stripped[0] in "#;":
            continue
        stripped = re.sub(r"[ \t]#.*", "", stripped).strip(BLANKS)
        header = SECTION.fullmatch(stripped)
        name, equals, raw = (part.strip(BLANKS) for part in stripped.partition("="))
        if header is not None:
            section = header["name"].strip(BLANKS)
        elif not equals or not name or not section:
            result.unrecognized.append(stripped)
        elif section == "sysctl" and name not in _OF_TUNED:
            _sysctl(result, number, name, raw)
        else:
            _other(result, section, name, raw)
    extra: dict[str, Json] = {"bounds": result.bounds, "sections": result.sections}
    extra = {name: value for name, value in extra.items() if value}
    return Parsed(
        "linux", "tuned-conf", "tuned.conf", result.values, result.notes, result.unrecognized, extra
    )


def _sysctl(result: _Result, number: int, name: str, raw: str) -> None:
    key = path_to_key(key_to_path(name))
    rule = _RULES.get(raw[:1])
    value = _unquoted(raw[1:].lstrip(BLANKS) if rule is not None else raw)
    try:
        if not is_key(key) or not value or "${" in value:
            raise ValueError("only the host can say what it becomes" if "${" in value else "is no assignment")
        got = written(key, value)
    except ValueError as error:
        result.unrecognized.append(f"{name} = {raw}")
        result.notes.append(f"line {number}: {name}: {error}")
        return
    if rule is None:
        result.values[key] = got
    else:
        result.bounds[key] = {"rule": rule, "value": got}


def _other(result: _Result, section: str, name: str, raw: str) -> None:
    options = result.sections.setdefault(section, {})
    if isinstance(options, dict):
        options[name] = _unquoted(raw)


def _unquoted(raw: str) -> str:
    if len(raw) >= 2 and raw[0] == raw[-1] and raw[0] in "\"'":
        return raw[1:-1].strip(BLANKS)
    return raw


def recognize(text: str) -> int:
    """98 for an INI file with a ``[sysctl]`` section, less for one that only has tuned's ``[main]``."""
    live = [line.strip(BLANKS) for line in head(text)]
    live = [line for line in live if line[0] not in "#;"]
    sections = [found["name"] for line in live if (found := SECTION.fullmatch(line))]
    if not live or not SECTION.fullmatch(live[0]):
        return 0
    if "sysctl" in sections:
        return 98
    of_tuned = any(line.startswith(("summary", "include")) for line in live)
    return 70 if "main" in sections and of_tuned else 0


TUNED_CONF = Parser("tuned-conf", "linux", "tuned.conf", recognize, parse)
