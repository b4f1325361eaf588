"""What differs: one host against a profile's targets, or one host against another.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import ProfileError
from hostcfg.lean import dataclass
from hostcfg.model import Difference, Finding, Native, Reading, State
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Target, Value
    from hostcfg.platforms.base import Key, Platform

NOT_COMPARED = "not_compared_"
"""The kinds of the findings for targets that nobody can hold against a host begin with it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A host against targets: what differs, and which targets could not be compared.

    ``holding`` are the native keys, with their raw values, whose targets all hold.
    """

    differences: tuple[Difference, ...]
    findings: tuple[Finding, ...]
    holding: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SettingPair:
    """One neutral setting on two hosts that do not agree on it."""

    setting: str
    a: Reading
    b: Reading


@dataclass(frozen=True, slots=True)
class NativePair:
    """One native key on two hosts of the same OS that do not agree on it; None: not there."""

    key: str
    a: str | None
    b: str | None


@dataclass(frozen=True, slots=True)
class HostDifference:
    """Two hosts side by side: only what differs."""

    settings: tuple[SettingPair, ...]
    native: tuple[NativePair, ...]


def meets(value: Value, target: Target) -> bool:
    """Whether ``value`` is within the target's rule; a value beyond ``at_least`` meets it."""
    if target.rule == "one_of":
        return isinstance(target.value, tuple) and value in target.value
    if target.rule == "exact":
        return value == target.value
    if not isinstance(value, (int, float)) or not isinstance(target.value, (int, float)):
        return value == target.value
    return value >= target.value if target.rule == "at_least" else value <= target.value


def compare_with_targets(facts: Facts, targets: Sequence[Target], platform: Platform) -> Comparison:
    """Differences in the order of the targets, and findings for targets that can't be compared.

    A target whose reading is absent, denied or unparsed is never a difference: nobody knows.
    ProfileError for a value that this system can't have.
    """
    keys = platform.keys(facts)
    differences: list[Difference] = []
    unread: dict[tuple[State, str], list[str]] = {}
    holding: dict[str, str] = {}
    findings: list[Finding] = []
    for target in targets:
        key = keys.get(target.setting)
        reading = reading_of(facts, target)
        if reading.state is not State.VALUE or reading.value is None:
            if reading.state is not State.UNSUPPORTED:
                why = _why_unread(reading.state, target)
                unread.setdefault((reading.state, why), []).append(
                    reading.key or target.key or target.setting
                )
            continue
        if target.rule == "one_of" and choose(facts, target) is None and not meets(reading.value, target):
            findings.append(_none_of(reading, target))
            continue
        try:
            found = None if meets(reading.value, target) else _difference(facts, target, reading, key)
        except ValueError as error:  # a value that this system can't have under the key
            message = f"{platform.title} can't have what the profile wants: {error}"
            raise ProfileError(f"{message}; see `hostcfg profiles check`", key=target.setting) from error
        if found is not None:
            differences.append(found)
        elif reading.key is not None and (native := facts.native.get(reading.key)) is not None:
            holding[reading.key] = native.raw or ""
    findings += [_unread_finding(state, why, names) for (state, why), names in unread.items()]
    for difference in differences:
        holding.pop(difference.key, None)
    return Comparison(tuple(differences), tuple(findings), holding)


def reading_of(facts: Facts, target: Target) -> Reading:
    """What ``facts`` say of the setting or the native key that ``target`` is about."""
    if target.key is None:
        return facts.readings.get(target.setting, Reading(target.setting, None, State.UNSUPPORTED))
    native = facts.native.get(target.key, Native(target.key, None, State.ABSENT))
    value = _typed_like(native.raw, target.value) if native.raw is not None else None
    state = native.state if value is not None or native.state is not State.VALUE else State.UNPARSED
    return Reading(target.setting, value, state, target.key, source=native.source)


def _typed_like(raw: str, like: Value) -> Value | None:
    """``raw`` as the type of a profile's value for a native key; None if it has not that form."""
    if isinstance(like, tuple):
        like = like[0]
    if isinstance(like, bool):
        return raw.strip() not in {"0", "off", "disabled"}
    if isinstance(like, (int, float)):
        try:
            return int(raw.strip(), 0)
        except ValueError:
            return None
    return " ".join(raw.split())


def _difference(facts: Facts, target: Target, reading: Reading, key: Key | None) -> Difference | None:
    wanted = choose(facts, target)
    if wanted is None or reading.key is None:
        return None
    native = facts.native.get(reading.key)
    current_native = native.raw if native else None
    target_native = None
    if target.key is not None:
        target_native = str(int(wanted)) if isinstance(wanted, bool) else str(wanted)
    elif key is not None and key.encode is not None and current_native is not None:
        target_native = key.encode(current_native, wanted)
        if " ".join(target_native.split()) == " ".join(current_native.split()):
            return None  # the OS knows no nearer value (a level that already carries the wanted window)
    return Difference(
        setting=target.setting,
        key=reading.key,
        current=reading.value,
        target=wanted,
        rule=target.rule,
        reason=f"{target.reason} ({target.capped})" if target.capped else target.reason,
        element=reading.element,
        current_native=current_native,
        target_native=target_native,
    )


def choose(facts: Facts, target: Target) -> Value | None:
    """The value to set: for ``one_of`` the first that this host has, None if it has none of them.

    What a host has is told by the reading ``<setting>_available``; without one the first is taken.
    """
    if target.rule != "one_of" or not isinstance(target.value, tuple):
        return target.value
    available = facts.readings.get(f"{target.setting}_available")
    if available is None or not isinstance(available.value, tuple):
        return target.value[0]
    return next((v for v in target.value if v in available.value), None)


def _why_unread(state: State, target: Target) -> str:
    """Of a key that the profile names itself nobody knows whether a probe would have read it."""
    words = {
        State.DENIED: "may not be read: run as root or with --become",
        State.UNPARSED: "is not in a known form",
    }
    not_there = "is not there" if target.key is None else "is not among the keys that were read"
    return words.get(state, not_there)


def _unread_finding(state: State, why: str, keys: Sequence[str]) -> Finding:
    names = list(dict.fromkeys(keys))  # one key carries several settings: rfc1323, a triple
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return Finding(
        kind=f"{NOT_COMPARED}{state.value}",
        severity="info" if state is State.ABSENT else "warning",
        message=f"not compared, since it {why}: {shown}",
        keys=tuple(names),
    )


def _none_of(reading: Reading, target: Target) -> Finding:
    """A host that has none of the wanted choices keeps what it has."""
    wanted = ", ".join(str(v) for v in target.value) if isinstance(target.value, tuple) else str(target.value)
    key = reading.key or target.setting
    message = f"{key} stays {reading.value}: this host has none of {wanted}"
    return Finding("none_available", "info", message, (key,))


def compare_hosts(a: Facts, b: Facts) -> HostDifference:
    """Neutral settings that differ, in table order, and native keys where both run the same OS."""
    from deepdiff import DeepDiff

    names = [n for n in SETTINGS if n in a.readings or n in b.readings]
    readings_a = {n: a.readings.get(n, Reading(n, None, State.UNSUPPORTED)) for n in names}
    readings_b = {n: b.readings.get(n, Reading(n, None, State.UNSUPPORTED)) for n in names}
    changed = _changed_keys(
        DeepDiff(
            {n: (r.value, _comparable(r)) for n, r in readings_a.items()},
            {n: (r.value, _comparable(r)) for n, r in readings_b.items()},
            view="tree",
            threshold_to_diff_deeper=0,  # key by key, however little two hosts have in common
        )
    )
    settings = tuple(SettingPair(n, readings_a[n], readings_b[n]) for n in names if n in changed)
    return HostDifference(settings, _native_pairs(a, b) if a.os == b.os else ())


def _comparable(reading: Reading) -> str:
    """Absent and unsupported look the same from outside: there is no such value."""
    return "" if reading.state in {State.ABSENT, State.UNSUPPORTED} else reading.state.value


def _native_pairs(a: Facts, b: Facts) -> tuple[NativePair, ...]:
    from deepdiff import DeepDiff

    raw_a, raw_b = _raws(a), _raws(b)
    words_a = {k: v.split() for k, v in raw_a.items()}
    words_b = {k: v.split() for k, v in raw_b.items()}
    changed = _changed_keys(DeepDiff(words_a, words_b, view="tree", threshold_to_diff_deeper=0))
    return tuple(NativePair(k, raw_a.get(k), raw_b.get(k)) for k in sorted(changed))


def _raws(facts: Facts) -> dict[str, str]:
    return {k: n.raw for k, n in facts.native.items() if n.raw is not None}


def _changed_keys(tree: Mapping[str, object]) -> set[str]:
    """Top-level keys of everything that a DeepDiff tree view lists."""
    found: set[str] = set()
    for items in tree.values():
        for item in items:  # type: ignore[attr-defined]  # DeepDiff publishes no types for its tree
            path = item.path(output_format="list")
            found.add(str(path[0]))
    return found
