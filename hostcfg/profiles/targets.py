"""Profile + link + what a platform knows of a host -> targets, each with its reason.  Pure."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hostcfg.errors import UsageError
from hostcfg.lean import dataclass
from hostcfg.model import Target
from hostcfg.profiles.inputs import input_values
from hostcfg.profiles.reader import FLAG_FORMS
from hostcfg.profiles.structure import STOCK, Expression
from hostcfg.settings import INT32_MAX, SETTINGS
from hostcfg.units import format_rate, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hostcfg.model import Link, Scalar, Value
    from hostcfg.platforms.base import Platform, ProfileContext
    from hostcfg.profiles.structure import Block, Note, Profile, Row


LARGEST_BDP_BYTES = 1e15
"""A million windows of the largest size (RFC 7323 section 2.3): beyond it a unit was mistaken."""


@dataclass(frozen=True, slots=True)
class ProfileTargets:
    """What a profile wants on one host, in the profile's order, and what there is to say about it.

    ``unsupported`` are settings that it speaks of and that this system has no key for.  A row that wants
    the stock value is none of them: there is nothing to go back to.
    """

    targets: tuple[Target, ...]
    notes: tuple[str, ...]
    unsupported: tuple[str, ...] = ()


def profile_targets(
    profile: Profile,
    *,
    os: str,
    context: ProfileContext,
    link: Link | None,
    inputs: Mapping[str, str],
    supported: Collection[str] | None = None,
) -> ProfileTargets:
    """Targets and notes for one host.

    ``supported`` are the neutral settings that this host has a key for (``Platform.keys``): the
    others get no target.  None keeps them all.

    ``inputs`` are texts as a user types them.  UsageError for an unknown input, and for a missing
    link where the profile needs one; UnitError for an input that can't be read or is out of its
    bounds; ProfileError, with file, line and key, where a formula fails for these numbers.
    """
    values = input_values(profile, inputs)
    _check_link(profile, os, link)
    block = profile.block(os)
    names = Names(block, _given(context, link, values))
    targets: list[Target] = []
    without_stock: list[str] = []
    unsupported: list[str] = []
    for setting, rows in block.rows.items():
        row = next((r for r in rows if r.when is None or r.when.holds(names)), None)
        if row is None:
            continue
        if supported is not None and not row.native and setting not in supported:
            unsupported += [] if _wants_stock(row) else [setting]
        elif _wants_stock(row) and setting not in context.stock:
            without_stock.append(setting)
        else:
            targets.append(_target(row, block, names, context))
    notes = [*_notes(block.notes, names)]
    if without_stock:
        notes.append(f"no stock value is known for this release: {', '.join(without_stock)}")
    return ProfileTargets(tuple(targets), tuple(notes), tuple(unsupported))


def _check_link(profile: Profile, os: str, link: Link | None) -> None:
    """UsageError for a missing link, and for one that no link can be."""
    if link is None and profile.needs_link(os):
        raise UsageError(
            f"profile {profile.name} needs a rate and an RTT; add for instance --rate 100mbit --rtt 80ms"
        )
    if link is not None and link.bdp_bytes > LARGEST_BDP_BYTES:
        raise UsageError(
            f"{format_rate(link.rate_bps)} x {format_time(link.rtt_s)} is more in flight than any link "
            "holds: check both and their units"
        )


def unsupported_text(names: Collection[str], platform: Platform) -> str:
    """``send_buffer_max is no setting of Windows``; of this release, where another one has them all."""
    system = platform.title
    if all(name in platform.keys(None) for name in names):
        system = f"this release of {system}"
    verb = "is no setting" if len(names) == 1 else "are no settings"
    return f"{', '.join(names)} {verb} of {system}"


def _given(context: ProfileContext, link: Link | None, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Names with a value from outside; the profile's own inputs hide what a platform calls the same."""
    found: dict[str, Scalar] = {**context.inputs, **values}
    if link is not None:
        found |= {"rate_bps": link.rate_bps, "rtt_s": link.rtt_s, "bdp": link.bdp_bytes}
    return found


class Names(Mapping[str, "Scalar"]):
    """The names that a formula sees; let names are computed when they are asked for, once."""

    def __init__(self, block: Block, given: Mapping[str, Scalar]) -> None:
        self._let = block.let
        self._values = {name: value for name, value in given.items() if name not in block.let}
        self._given = dict(self._values)
        self._complete: dict[str, bool] = {}

    def __getitem__(self, name: str) -> Scalar:
        if name not in self._values:
            self._values[name] = self._let[name].value(self)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        """Whether ``name`` has a value here: a let name has one if all that it needs has."""
        if name in self._given:
            return True
        word = str(name)
        if word not in self._complete:
            let = self._let.get(word)
            self._complete[word] = let is not None and all(n in self for n in let.formula.required)
        return self._complete[word]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._given, **self._let})

    def __len__(self) -> int:
        return len({**self._given, **self._let})


def _wants_stock(row: Row) -> bool:
    return isinstance(row.value, Expression) and STOCK in row.value.formula.required


def _target(row: Row, block: Block, names: Names, context: ProfileContext) -> Target:
    value, capped = _limited(row, block, _value(row, names, context), names)
    stock_source = context.stock_source if _wants_stock(row) else ""
    return Target(
        setting=row.setting,
        rule=row.rule,
        value=value,
        reason=row.reason.render(names),
        source=stock_source or row.source,
        key=row.setting if row.native else None,
        capped=capped,
    )


def _value(row: Row, names: Names, context: ProfileContext) -> Value:
    if not isinstance(row.value, Expression):
        return row.value
    if not _wants_stock(row):
        return _typed(row, row.value.value(names))
    stock = context.stock[row.setting]
    if isinstance(stock, tuple):  # a list of words: formulas have none, so it is taken as it stands
        return stock
    with_stock = ChainMap({STOCK: stock}, names)  # type: ignore[arg-type]  # it is only read
    return _typed(row, row.value.value(with_stock))


def _typed(row: Row, value: Scalar) -> Value:
    """``value`` as the settings table says; ProfileError where a formula gives another kind."""
    where = row.value.where if isinstance(row.value, Expression) else row.where
    setting = SETTINGS.get(row.setting)
    kind = setting.type if setting is not None else _kind(value)
    if kind == "flag" and isinstance(value, bool):
        return value
    if kind == "int" and isinstance(value, (int, float)) and not isinstance(value, bool):
        number = _whole(value, down=row.rule == "at_most")
        if number < 0 and (setting is None or setting.unit):
            raise where.error(f"gives {number:,}, and this setting is never below 0")
        return number
    if kind == "text" and isinstance(value, str):
        if setting is not None and setting.choices and value not in setting.choices:
            raise where.error(f"gives {value!r}, which is none of {', '.join(setting.choices)}")
        return value
    words = {"flag": FLAG_FORMS, "int": "a number", "text": "a word"}
    wanted = words.get(kind, "a list of words")
    raise where.error(f"gives {value!r}, and this setting is {wanted}")


def _kind(value: Scalar) -> str:
    if isinstance(value, bool):
        return "flag"
    return "text" if isinstance(value, str) else "int"


def _whole(value: float, *, down: bool) -> int:
    """A whole number on the safe side of the rule; a part in 10^9 is float dust."""
    nearest = round(value)
    if abs(value - nearest) <= 1e-9 * max(1.0, abs(value)):
        return nearest
    return math.floor(value) if down else math.ceil(value)


def _limited(row: Row, block: Block, value: Value, names: Names) -> tuple[Value, str | None]:
    """``value`` under the row's caps and its type's limit, and what lowered it and why.

    A stock value is the system's own, so nothing limits it.
    """
    if row.rule not in {"at_least", "exact"} or _wants_stock(row):
        return value, None
    if not isinstance(value, int) or isinstance(value, bool):
        return value, None
    setting = SETTINGS.get(row.setting)
    limit, reason = setting.largest if setting is not None else INT32_MAX, "the system keeps it in 32 bits"
    for name in row.caps:
        cap = block.caps[name]
        highest = cap.value.value(names)
        if isinstance(highest, (bool, str)):
            raise cap.value.where.error(f"gives {highest!r}, and a cap is a number")
        if highest < limit:
            limit, reason = _whole(highest, down=True), cap.reason.render(names)
    if value <= limit:
        return value, None
    wanted = format_size(value) if setting is not None and setting.unit == "bytes" else f"{value:,}"
    return limit, f"capped, {wanted} would be needed: {reason}"


def _notes(notes: tuple[Note, ...], names: Names) -> Iterator[str]:
    """Notes that hold; one is left out where something that it speaks of has no value here."""
    for note in notes:
        used = [*note.text.expressions(), *([note.when] if note.when is not None else [])]
        if not all(name in names for expression in used for name in expression.formula.required):
            continue
        if note.when is None or note.when.holds(names):
            yield note.text.render(names)
