"""Facts of a BSD host from raw sections, whether a probe printed them or a person pasted them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.model import BootValue, Native, Reading, State
from hostcfg.platforms.bsd.conf import read_conf
from hostcfg.platforms.bsd.parsers import are_descriptions
from hostcfg.platforms.bsd.sysctl import read_sysctl
from hostcfg.platforms.bsd.tables import parse_available
from hostcfg.platforms.bsd.values import parse_int, typed
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostcfg.model import Section
    from hostcfg.platforms.base import Key
    from hostcfg.platforms.bsd.conf import Assignment, Loader
    from hostcfg.platforms.bsd.values import NativeKey

_DENIED = frozenset({"permission"})


def natives_of(keys: Mapping[str, NativeKey], sections: Iterable[Section]) -> dict[str, Native]:
    """Native keys of every ``sysctl`` section; the last thing that a text says of a key counts.

    After ``name: old -> new`` the new value is in force, after a refused set the old one.
    """
    found: dict[str, Native] = {}
    for section in sections:
        if section.kind == "sysctl":
            _take_sysctl(found, keys, f"{section.text}\n{section.errors}")
    return found


def _take_sysctl(found: dict[str, Native], keys: Mapping[str, NativeKey], text: str) -> None:
    read = read_sysctl(text)
    if are_descriptions(keys, read.entries):
        return
    for error in read.errors:
        if error.name is None or error.value is not None or error.name in found:
            continue
        if error.kind == "unknown_oid":
            found[error.name] = Native(error.name, None, State.ABSENT, f"sysctl {error.name}")
        elif error.kind in _DENIED:
            found[error.name] = Native(error.name, None, State.DENIED, f"sysctl {error.name}")
    for entry in read.entries:
        fits = typed(keys, entry.name, entry.raw)[0] or parse_available(entry.raw.splitlines()) is not None
        state = State.VALUE if fits else State.UNPARSED
        found[entry.name] = Native(entry.name, entry.raw, state, f"sysctl {entry.name}")


def readings_of(keys: Mapping[str, Key], native: Mapping[str, Native]) -> dict[str, Reading]:
    """A reading of every neutral setting: unsupported without a key, absent where nothing was read."""
    return {name: _reading(name, keys.get(name), native) for name in SETTINGS}


def _reading(name: str, key: Key | None, native: Mapping[str, Native]) -> Reading:
    if key is None:
        return Reading(name, None, State.UNSUPPORTED)
    read = native.get(key.name, Native(key.name, None, State.ABSENT))
    if read.raw is None or read.state is not State.VALUE:
        return Reading(name, None, read.state, key.name, key.element, read.source)
    try:
        value = key.decode(read.raw)
    except ValueError:
        return Reading(name, None, State.UNPARSED, key.name, key.element, read.source)
    return Reading(name, value, State.VALUE, key.name, key.element, read.source)


@dataclass(frozen=True, slots=True)
class BootFiles:
    """What loaders will set at boot: every assignment, and the winner of each key and loader."""

    assignments: Sequence[tuple[str, Assignment]] = ()  # loader, assignment
    values: Sequence[BootValue] = field(default_factory=tuple)

    def of(self, loader: str) -> dict[str, Assignment]:
        """The winners of one loader by key."""
        return {found.name: found for name, found in self.assignments if name == loader}


def boot_files(sections: Iterable[Section], kinds: Mapping[str, tuple[Loader, str, str]]) -> BootFiles:
    """Assignments of the config sections; ``kinds``: kind -> (syntax, name of the loader, default path)."""
    assignments: list[tuple[str, Assignment]] = []
    for section in sections:
        if section.kind in kinds:
            syntax, loader, path = kinds[section.kind]
            assignments += [(loader, found) for found in read_conf(section.text, syntax, path).assignments]
    winners = {(loader, found.name): found for loader, found in assignments}
    values = tuple(
        BootValue(found.name, found.value, found.path, found.line, loader)
        for (loader, _), found in winners.items()
    )
    return BootFiles(tuple(assignments), values)


def integer_values(native: Mapping[str, Native], names: Iterable[str]) -> dict[str, int]:
    """The integers among ``names`` that were read."""
    found = {}
    for name in names:
        read = native.get(name)
        number = parse_int(read.raw) if read is not None and read.raw is not None else None
        if number is not None:
            found[name] = number
    return found
