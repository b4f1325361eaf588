"""Differences to a plan: ordered writes, each with its inverse.  Pure: nothing is read or written.

The order is the platform's (``write_order``): what caps others is raised before them and lowered
after them, so that no moment between two writes leaves a host that refuses connections (FreeBSD's
maxsockbuf below sendspace, for one).  Restoring goes the exact way back.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from hostcfg.errors import ChangeRefused
from hostcfg.lean import dataclass
from hostcfg.model import Plan, State, Step
from hostcfg.plan_notes import plan_notes
from hostcfg.platforms.changer import get_changer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Difference, Facts
    from hostcfg.platforms.base import Platform
    from hostcfg.platforms.changer import Changer


@dataclass(slots=True)
class _Write:
    """What all differences of one native key come to."""

    key: str
    from_raw: str | None
    to_raw: str
    settings: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


def make_plan(
    facts: Facts,
    differences: Sequence[Difference],
    platform: Platform,
    *,
    persist: bool = False,
    force: bool = False,
    also: Mapping[str, str] | None = None,
    wanted_by: str = "the profile",
) -> Plan:
    """The plan that ends ``differences``; without steps where nothing differs.

    ``also`` (native key -> raw) are targets that hold already: with ``persist`` those that the next
    boot would lose become steps too, which write nothing but the file.
    A key that nobody can write here (``Native.fixed``) is left out, and a note says so.
    ChangeRefused, which names the key: a step without an inverse, a host that would lock people out
    (both unless ``force``), a setting that can only be read, a value of ``wanted_by`` that no kernel takes.
    """
    writes = list(_merged(facts, differences, platform).values())
    writes += _companions(facts, {write.key: write.to_raw for write in writes}, also or {})
    if persist:
        writes += _only_persisted(facts, platform, writes, also or {})
    fixed = {write.key: _why_not_here(facts, write) for write in writes}
    wanted = [_step_data(w) for w in writes if fixed[w.key] is None]
    _refuse_impossible(facts, wanted, wanted_by)
    whys = [*fixed.values(), *(_fixed(facts, key) for key in also or {})]
    if whys and None not in whys:
        raise ChangeRefused(f"nobody can write anything that is wanted here: {whys[0]}", host=facts.host)
    plan = plan_writes(facts, platform, wanted, persist=persist, force=force)
    return replace(plan, notes=(*_left_out(fixed), *plan.notes))


def _fixed(facts: Facts, key: str) -> str | None:
    return facts.native[key].fixed if key in facts.native else None


def _why_not_here(facts: Facts, write: _Write) -> str | None:
    """Why nobody can write this key, or this value of it, on this host."""
    why = _fixed(facts, write.key)
    if why is None and write.to_raw != write.from_raw:
        why = get_changer(facts.os).refused_here(facts, write.key, write.to_raw)
    return why


def _refuse_impossible(facts: Facts, wanted: Sequence[Wanted], wanted_by: str) -> None:
    changer = get_changer(facts.os)
    for one in wanted:
        why = changer.impossible(one.key, one.raw)
        if why is not None:
            message = f"{wanted_by} wants {' '.join(one.raw.split())[:60]!r}: {why}"
            raise ChangeRefused(message, host=facts.host, key=one.key)


def _left_out(fixed: Mapping[str, str | None]) -> list[str]:
    """What is not planned since nobody can write it here: one sentence a reason."""
    keys: dict[str, list[str]] = {}
    for key, why in fixed.items():
        if why is not None:
            keys.setdefault(why, []).append(key)
    return [f"left out, since nobody can write {', '.join(names)} here: {why}" for why, names in keys.items()]


@dataclass(frozen=True, slots=True)
class Wanted:
    """One native key and the whole raw value that it shall have."""

    key: str
    raw: str
    settings: Sequence[str] = ()
    reason: str = ""


def plan_writes(
    facts: Facts,
    platform: Platform,
    wanted: Sequence[Wanted],
    *,
    persist: bool = False,
    force: bool = False,
    ordered: bool = False,
) -> Plan:
    """The plan that brings each key to its raw value; ``ordered``: in the order given, not the platform's."""
    changer = get_changer(facts.os)
    steps = [_step(facts, platform, changer, one, persist=persist, force=force) for one in wanted]
    if not ordered:
        steps = _in_order(steps, platform)
    hazards = hazards_of(facts, platform, steps)
    if hazards and not force:
        raise ChangeRefused(f"{'; '.join(hazards)}; --force writes it all the same", host=facts.host)
    notes = [
        *(f"forced: {hazard}" for hazard in hazards),
        *plan_notes(facts, changer, steps, persist=persist),
    ]
    return Plan(facts.host, facts.os, tuple(steps), tuple(notes), _files(facts, changer, steps))


def _files(facts: Facts, changer: Changer, steps: Sequence[Step]) -> dict[str, str]:
    """hostcfg's lines in each file that the steps persist, as they would be in a file that has no others."""
    values: dict[str, dict[str, str]] = {}
    for step in steps:
        if step.persist is not None:
            for path, more in changer.persisted(facts, {step.key: step.to_raw}).items():
                values.setdefault(path, {}).update(more)
    return {path: changer.file_contents(path, None, more).decode() for path, more in values.items()}


def _merged(facts: Facts, differences: Sequence[Difference], platform: Platform) -> dict[str, _Write]:
    """One write for each native key: a triple is one write, whatever settings it carries."""
    keys = platform.keys(facts)
    merged: dict[str, _Write] = {}
    for difference in differences:
        if difference.target_native is None:
            why = "could not be read" if difference.current_native is None else "can be read and not written"
            raise ChangeRefused(f"{difference.setting}: {why} here", host=facts.host, key=difference.key)
        write = merged.get(difference.key)
        if write is None:
            write = _Write(difference.key, difference.current_native, difference.target_native)
            merged[difference.key] = write
        else:
            key = keys.get(difference.setting)
            if key is None or key.encode is None or key.name != difference.key:
                write.to_raw = difference.target_native
            else:
                write.to_raw = key.encode(write.to_raw, difference.target)
        write.settings.append(difference.setting)
        if difference.reason not in write.reasons:
            write.reasons.append(difference.reason)
    return merged


def _companions(facts: Facts, written: Mapping[str, str], also: Mapping[str, str]) -> list[_Write]:
    """Keys that follow others: an interface that is there takes no notice of the default for new ones."""
    changer = get_changer(facts.os)
    found = {}
    for key, raw in (dict(also) | dict(written)).items():
        for name, value in changer.companions(facts, key, raw).items():
            native = facts.native.get(name)
            if name not in written and native is not None and native.raw is not None:
                found[name] = _Write(name, native.raw, value, [], [f"{key} alone serves new ones only"])
    return list(found.values())


def _only_persisted(
    facts: Facts, platform: Platform, writes: Sequence[_Write], also: Mapping[str, str]
) -> list[_Write]:
    """Targets that hold now and would not after a boot."""
    changer = get_changer(facts.os)
    taken = {write.key for write in writes}
    found = []
    for key, raw in also.items():
        native = facts.native.get(key)
        if key in taken or native is None or native.raw is None or not changer.persisted(facts, {key: raw}):
            continue
        boot = [b for b in facts.boot if b.key == key]
        kept = bool(boot) and all(changer.same(key, b.raw, raw) for b in boot)
        if not kept and (boot or not _is_stock(facts, platform, key)):
            settings = [r.setting for r in facts.readings.values() if r.key == key]
            found.append(_Write(key, native.raw, raw, settings, ["it would be lost at the next boot"]))
    return found


def _is_stock(facts: Facts, platform: Platform, key: str) -> bool:
    """Whether a key has the OS's own values, which a boot brings by itself."""
    stock = platform.profile_context(facts).stock
    carried = [r for r in facts.readings.values() if r.key == key and r.setting in stock]
    return bool(carried) and all(r.value == stock[r.setting] for r in carried)


def _step_data(write: _Write) -> Wanted:
    return Wanted(write.key, write.to_raw, tuple(write.settings), "; ".join(write.reasons))


def _step(
    facts: Facts, platform: Platform, changer: Changer, wanted: Wanted, *, persist: bool, force: bool
) -> Step:
    native = facts.native.get(wanted.key)
    from_raw = native.raw if native is not None and native.state is not State.DENIED else None
    if any(ord(letter) < 32 and letter != "\t" for letter in wanted.raw) or "\x7f" in wanted.raw:
        raise ChangeRefused(
            f"its new value holds a control character: {wanted.raw[:60]!r}", host=facts.host, key=wanted.key
        )
    inverse, why = changer.inverse(facts, wanted.key, wanted.raw)
    if inverse is None and not force:
        message = f"can't be taken back, so it is not written: {why}; --force writes it all the same"
        raise ChangeRefused(message, host=facts.host, key=wanted.key)
    files = changer.persisted(facts, {wanted.key: wanted.raw}) if persist else {}
    for path, values in files.items():
        changer.file_contents(path, None, values)  # refuses what no file can hold, before anything is begun
    return Step(
        key=wanted.key,
        from_raw=from_raw,
        to_raw=wanted.raw,
        command=platform.set_command(wanted.key, wanted.raw),
        inverse=inverse,
        settings=tuple(wanted.settings),
        persist=next(iter(files), None)
        if files
        else (platform.persist_target(wanted.key) if persist else None),
        reason=wanted.reason,
    )


def _in_order(steps: Sequence[Step], platform: Platform) -> list[Step]:
    """What rises first, caps before what they cap; then what falls, caps after what they cap."""
    falling = [step for step in steps if _falls(step)]
    rising = [step for step in steps if not _falls(step)]
    rising.sort(key=lambda step: platform.write_order(step.key))
    falling.sort(key=lambda step: platform.write_order(step.key), reverse=True)
    return rising + falling


def _falls(step: Step) -> bool:
    """Whether a number, or the largest of several, becomes smaller; text never falls."""
    before, after = _numbers(step.from_raw), _numbers(step.to_raw)
    return bool(before) and bool(after) and max(after) < max(before)


def _numbers(raw: str | None) -> list[int]:
    words = (raw or "").split()
    digits = [word for word in words if word.removeprefix("-").isdecimal() and word.isascii()]
    return [int(word) for word in digits] if len(digits) == len(words) else []


def hazards_of(facts: Facts, platform: Platform, steps: Sequence[Step]) -> Sequence[str]:
    """Why nobody could reach the host any more, after the steps or between two of them; none if all is well.

    A host that is in danger already may go through it on its way out: there only the end counts.
    """
    state = {key: native.raw for key, native in facts.native.items() if native.raw is not None}
    in_danger = bool(platform.plan_hazards(facts, state)) if steps else False
    found: dict[str, None] = {}
    for number, step in enumerate(steps, 1):
        state[step.key] = step.to_raw
        if number == len(steps) or not in_danger:
            found |= dict.fromkeys(platform.plan_hazards(facts, state))
    return tuple(found)
