"""A question as it would be with what is needed in place: the same link, other settings at the ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.model import Native, State
from hostcfg.path.tcp import ETHERNET_HEADER_BYTES, Segment
from hostcfg.platforms import get_platform
from hostcfg.platforms.endpoint import LARGEST_REQUEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Reading
    from hostcfg.path.limits import Question
    from hostcfg.path.report import HostNeed
    from hostcfg.platforms.base import Key
    from hostcfg.platforms.endpoint import Need, WindowModel


def with_needs(question: Question, needs: Sequence[HostNeed]) -> Question:
    """``question`` with every need met; timestamps that both ends then offer take their part of a segment."""
    sender, receiver = (_with(model, needs) for model in (question.sender, question.receiver))
    timestamps = sender.timestamps().on and receiver.timestamps().on
    segment = Segment.of(question.segment.frame_bytes - ETHERNET_HEADER_BYTES, timestamps=timestamps)
    sizes = [n.need.target for n in needs if n.need.setting is None and isinstance(n.need.target, int)]
    asked = min(max(sizes), LARGEST_REQUEST_BYTES) if sizes else question.flow.explicit_bytes
    flow = replace(
        question.flow, explicit_bytes=asked, mss_bytes=segment.payload_bytes, timestamps=timestamps
    )
    return replace(question, sender=sender, receiver=receiver, segment=segment, flow=flow)


def native_target(need: Need, facts: Facts, raw: str) -> str | None:
    """The whole native value that meets ``need``; None where it can't be made of ``raw``, or not be set."""
    key = get_platform(facts.os).keys(facts).get(need.setting or "")
    if key is None or key.name != need.key:
        return str(need.target)  # a key of the system's own, beside the one that carries the setting
    try:
        return None if key.encode is None else key.encode(raw, need.target)
    except ValueError:
        return None


def _with(model: WindowModel, needs: Sequence[HostNeed]) -> WindowModel:
    facts = model.facts
    for item in needs:
        if item.host == facts.host and item.need.setting is not None:
            facts = _facts_with(facts, item.need, item.need.setting)
    return model if facts is model.facts else get_platform(facts.os).window_model(facts)


def _facts_with(facts: Facts, need: Need, setting: str) -> Facts:
    """``facts`` with the need's key at its target, and with all settings that the key carries."""
    keys, name = get_platform(facts.os).keys(facts), need.key
    native = facts.native.get(name) if name is not None else None
    raw = native_target(need, facts, native.raw) if native is not None and native.raw is not None else None
    readings = dict(facts.readings)
    key = keys.get(setting)
    if setting in readings and key is not None and key.name == name:
        readings[setting] = replace(readings[setting], value=need.target, state=State.VALUE)
    changed = replace(facts, readings=readings)
    return changed if name is None or raw is None else with_raws(changed, {name: raw})


def _decoded(reading: Reading, key: Key, raw: str) -> Reading:
    """``reading`` of a native value; a profile's own native keys may have any."""
    try:
        return replace(reading, value=key.decode(raw), state=State.VALUE)
    except ValueError:
        return replace(reading, value=None, state=State.UNPARSED)


def with_raws(facts: Facts, raws: Mapping[str, str]) -> Facts:
    """``facts`` with these native values, and with all settings that their keys carry."""
    readings = dict(facts.readings)
    for setting, key in get_platform(facts.os).keys(facts).items():
        raw = raws.get(key.name)
        if raw is not None and setting in readings:
            readings[setting] = _decoded(readings[setting], key, raw)
    changed = {name: Native(name, raw) for name, raw in raws.items()}
    return replace(facts, readings=readings, native={**facts.native, **changed})
