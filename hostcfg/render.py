"""A profile as native commands or a config file, for a host that nobody here can log in to.  Pure."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.platforms.base import Bound, Stays
from hostcfg.profiles.targets import profile_targets, unsupported_text
from hostcfg.units import format_rate, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostcfg.model import Link, Target, Value
    from hostcfg.platforms.base import Key, Platform, ProfileContext, RenderStyle
    from hostcfg.profiles.structure import Profile

_WIDTH = 76  # a line of 80 with the longest sign of a comment, "rem "
RULE_WORDS = {"exact": "", "at_least": "at least ", "at_most": "at most ", "one_of": "one of "}


@dataclass(slots=True)
class _Draft:
    """What is being written: native values, a comment for each, and what had to be left out."""

    values: dict[str, str]
    comments: list[str]
    left_out: list[str]


def render_profile(
    profile: Profile, platform: Platform, link: Link | None, inputs: Mapping[str, str], style: RenderStyle
) -> str:
    """The text that sets what ``profile`` wants on a host of this OS, comments first.

    Its release is not known, so what depends on it is enough for all; stock values are those of a
    current one, which the comments name.
    Elements that the profile does not speak of (the first two of a triple) get their stock value,
    and no stock value moves against its rule: a maximum that is stock above ``at_least`` stays
    there.  A script looks before it writes what has a rule, where the system's shell can.
    Errors as in :func:`hostcfg.profiles.profile_targets`.
    """
    context, keys = platform.profile_context(None).of_any_release(), platform.keys(None)
    wanted = profile_targets(
        profile, os=platform.name, context=context, link=link, inputs=inputs, supported=keys
    )
    draft = _drafted(wanted.targets, platform)
    if wanted.unsupported:
        draft.left_out.append(unsupported_text(wanted.unsupported, platform))
    order = {key: platform.write_order(key) for key in draft.values}
    values = {key: draft.values[key] for key in sorted(draft.values, key=order.__getitem__)}
    risk = _risk(values, platform)
    looks = style == "script" and platform.uname is not None
    header = list(_header(profile, platform, link, draft, wanted.notes, looks=looks))
    warning = _hung(f"WARNING: {risk}") if risk is not None else []
    stays = _stays(wanted.targets, platform, draft)
    return platform.render(values, style, [_printable(t) for t in (header[0], *warning, *header[1:])], stays)


def _printable(text: str) -> str:
    """``text`` without what could end a comment or turn the direction of writing."""
    return "".join(c if c.isprintable() else " " for c in text)


def _stays(targets: Sequence[Target], platform: Platform, draft: _Draft) -> dict[str, Stays]:
    """When the value of a key may stay: where its targets are bounds, none of them a value of its own."""
    keys, stock = platform.keys(None), platform.profile_context(None).stock
    found: dict[str, list[tuple[Bound, bool]] | None] = {}
    for target in targets:
        name = target.key if target.key is not None else keys[target.setting].name
        bound = _bound(target, None if target.key is not None else keys[target.setting].element)
        known = found.setdefault(name, [])
        if bound is None or known is None:
            found[name] = None  # one of its parts has to have just one value
        else:
            known.append((bound, stock.get(target.setting) is not None or target.rule == "one_of"))
    return {
        name: Stays(tuple(bound for bound, _ in each), all(holds for _, holds in each))
        for name, each in found.items()
        if each and name in draft.values
    }


def _bound(target: Target, element: int | None) -> Bound | None:
    value = target.value
    if target.rule in {"at_least", "at_most"} and isinstance(value, (int, float)):
        return Bound("at_least" if target.rule == "at_least" else "at_most", int(value), element)
    if target.rule == "one_of" and isinstance(value, tuple):
        return Bound("one_of", tuple(str(word) for word in value), element)
    return None


def risk_on_stock(targets: Sequence[Target], platform: Platform) -> str | None:
    """Why nobody could connect any more to a host with stock settings that got them; None: no reason."""
    return _risk(_drafted(targets, platform).values, platform)


def _risk(values: Mapping[str, str], platform: Platform) -> str | None:
    context, keys = platform.profile_context(None), platform.keys(None)
    stock = {key.name: stock_text(key.name, keys, context) for key in keys.values()}
    return platform.lockout_risk({**stock, **values})


def _drafted(targets: Sequence[Target], platform: Platform) -> _Draft:
    context, keys = platform.profile_context(None), platform.keys(None)
    draft = _Draft({}, [], [])
    for target in targets:
        if target.key is not None:
            _put(draft, target, target.key, _native_text(target.value))
        else:
            _encode(draft, target, keys, context)
    return draft


def _encode(draft: _Draft, target: Target, keys: Mapping[str, Key], context: ProfileContext) -> None:
    key = keys[target.setting]
    if key.encode is None:
        draft.left_out.append(f"{target.setting}: {key.name} can't be set")
        return
    current = draft.values.get(key.name)
    if current is None:
        current = stock_text(key.name, keys, context)
    try:
        raw = key.encode(current, within_rule(target, context.stock.get(target.setting)))
    except ValueError as error:
        draft.left_out.append(f"{target.setting}: the rest of {key.name} has no known stock value ({error})")
        return
    _put(draft, target, key.name, raw)


def _put(draft: _Draft, target: Target, key: str, raw: str) -> None:
    draft.values[key] = raw
    name = key if target.key is not None else f"{key}: {target.setting}"
    draft.comments += _hung(f"{name} {RULE_WORDS[target.rule]}{_shown(target.value)}")
    reason = f"{target.reason} ({target.capped})" if target.capped else target.reason
    draft.comments += wrap(reason, _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _hung(text: str) -> list[str]:
    """Lines of a comment, all but the first one indented; a long word, such as a key, stays whole."""
    return wrap(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def within_rule(target: Target, stock: Value | None) -> Value:
    """The value to write on a host with ``stock`` there (None: not known): stock, where the rule allows it.

    So a script for an unknown host never lowers an ``at_least`` or raises an ``at_most``; of
    ``one_of`` it is the stock value or else the first.
    """
    value = target.value
    if target.rule == "one_of" and isinstance(value, tuple):
        return stock if stock is not None and stock in value else value[0]
    if isinstance(stock, (int, float)) and isinstance(value, (int, float)):
        if target.rule == "at_least":
            return max(stock, value)
        if target.rule == "at_most":
            return min(stock, value)
    return value


def stock_text(name: str, keys: Mapping[str, Key], context: ProfileContext) -> str:
    """The native text that a fresh installation has under ``name``; empty where it is not all known.

    Made of the stock values of every setting that the key carries: the elements of a triple in
    their order, or one after the other where they share a word or a number.
    """
    carried = [(setting, key) for setting, key in keys.items() if key.name == name]
    elements = {
        key.element: context.stock.get(setting) for setting, key in carried if key.element is not None
    }
    if elements:
        texts = [elements.get(index) for index in range(max(elements) + 1)]
        return "" if None in texts else " ".join(str(text) for text in texts)
    text = ""
    for setting, key in carried:
        stock = context.stock.get(setting)
        if stock is not None and key.encode is not None:
            text = _onto(key, text, stock)
    return text


def _onto(key: Key, text: str, stock: Value) -> str:
    """``text`` with one more stock value in it; a number of bits begins as 0."""
    for start in (text, "0") if text == "" else (text,):
        try:
            return key.encode(start, stock) if key.encode is not None else text
        except ValueError:
            continue
    return text


def _native_text(value: Value) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _header(
    profile: Profile,
    platform: Platform,
    link: Link | None,
    draft: _Draft,
    notes: tuple[str, ...],
    *,
    looks: bool,
) -> Iterator[str]:
    yield f"hostcfg profile {profile.name} for {platform.title}"
    yield from wrap(profile.summary, _WIDTH)
    if link is not None:
        yield from _hung(
            f"link: {format_rate(link.rate_bps)}, RTT {format_time(link.rtt_s)}, "
            f"bandwidth-delay product {format_size(link.bdp_bytes)}"
        )
    if looks:
        yield "A value within its rule is left alone, and so is the rest of a triple."
    else:
        yield "Values are for a host with stock settings; leave one beyond its rule."
    if release := platform.profile_context(None).assumed_release:
        yield from _hung(f"Stock values are those of {release}; another release may have others.")
    yield ""
    yield from draft.comments
    for text in draft.left_out:
        yield from _hung(f"left out: {text}")
    for note in notes:
        yield from _hung(f"note: {note}")
