"""What a plan says beside its steps: what nothing takes back, what is not reached, what boots keep.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.changes import KEPT, NOT_KEPT, UNTIL_BOOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Facts, Step
    from hostcfg.platforms.changer import Changer


def plan_notes(facts: Facts, changer: Changer, steps: Sequence[Step], *, persist: bool) -> list[str]:
    """One line each; none where nothing is to be done."""
    if not steps:
        return []
    notes = [f"{step.key}: nothing can take it back" for step in steps if step.inverse is None]
    notes += changer.unreached([step.key for step in steps if step.from_raw != step.to_raw], None)
    notes += _not_loaded(facts, steps)
    notes += changer.notes(facts, [step.key for step in steps], persist=persist)
    if not persist:
        if any(changer.persisted(facts, {step.key: step.to_raw}) for step in steps):
            notes.append(UNTIL_BOOT)
        return notes
    for step in steps:
        more = list(changer.persisted(facts, {step.key: step.to_raw}))[1:]
        if more:
            notes.append(
                f"{step.key}: {' and '.join(more)} is written too, for the module that it needs at boot"
            )
    return notes + _boot_notes(facts, changer, steps)


def _not_loaded(facts: Facts, steps: Sequence[Step]) -> list[str]:
    """A congestion control that the kernel does not have now: only the write tells whether it can be had."""
    algorithm = facts.readings.get("congestion_control")
    available = facts.readings.get("congestion_control_available")
    if algorithm is None or available is None or not isinstance(available.value, (tuple, list)):
        return []
    have = [str(name) for name in available.value]
    known = {name.lower() for name in have}
    return [
        f"{step.key}: the host does not have {step.to_raw!r} now (it has {', '.join(have)}), so the write "
        "fails unless it can load the module; nothing stays changed then"
        for step in steps
        if step.key == algorithm.key and step.to_raw.lower() not in known
    ]


def _boot_notes(facts: Facts, changer: Changer, steps: Sequence[Step]) -> list[str]:
    """Which of the persisted keys the next boot sets as wanted, and which it does not, with the reason."""
    lost = {step.key: "nothing on this system keeps it" for step in steps if step.persist is None}
    values = {step.key: step.to_raw for step in steps if changer.persisted(facts, {step.key: step.to_raw})}
    lost |= changer.lost_at_boot(facts, values)
    whys: dict[str, list[str]] = {}
    for key, why in lost.items():
        whys.setdefault(why, []).append(key)
    kept: dict[str, list[str]] = {}
    for step in steps:
        if step.key in values and step.key not in lost:
            kept.setdefault(step.persist or "", []).append(step.key)
    return [
        *(f"{NOT_KEPT}{', '.join(keys)}: {why}" for why, keys in whys.items()),
        *(f"{KEPT}{path}: {', '.join(keys)}" for path, keys in kept.items()),
    ]
