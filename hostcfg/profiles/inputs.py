"""What a user gives a profile: ``--input streams=4`` -> a number in the formula's unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import UnitError, UsageError
from hostcfg.lean import regex
from hostcfg.nearest import did_you_mean
from hostcfg.units import (
    format_rate,
    format_ratio,
    format_size,
    format_time,
    parse_rate,
    parse_ratio,
    parse_size,
    parse_time,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostcfg.model import Scalar
    from hostcfg.profiles.structure import Input, Profile

_COUNT = regex(r"[0-9]{1,9}")


def parse_count(text: str, *, name: str | None = None) -> int:
    """A whole number from 0 on; UnitError otherwise."""
    if not _COUNT.fullmatch(text.strip()):
        raise UnitError(f"{text[:40]!r} is no count; write a whole number such as 4", key=name)
    return int(text)


_PARSE: dict[str, Callable[..., int | float]] = {
    "size": parse_size,
    "rate": parse_rate,
    "time": parse_time,
    "ratio": parse_ratio,
    "count": parse_count,
}
_FORMAT: dict[str, Callable[[float], str]] = {
    "size": format_size,
    "rate": format_rate,
    "time": format_time,
    "ratio": format_ratio,
    "count": str,
}


def parse_input(wanted: Input, text: str) -> Scalar:
    """The input's value in bytes, bit/s, seconds, a count, a part of one, or the word of a choice.

    UnitError that shows the accepted forms, the bounds or the choices.
    """
    if wanted.type == "choice":
        if text not in wanted.choices:
            shown = ", ".join(wanted.choices)
            raise UnitError(f"{text[:40]!r} is none of {shown}", key=wanted.name)
        return text
    value = _PARSE[wanted.type](text, name=wanted.name)
    if wanted.low is not None and value < wanted.low:
        raise UnitError(f"{text!r} is below {format_input(wanted, wanted.low)}, the least", key=wanted.name)
    if wanted.high is not None and value > wanted.high:
        raise UnitError(f"{text!r} is above {format_input(wanted, wanted.high)}, the most", key=wanted.name)
    return value


def format_input(wanted: Input, value: Scalar) -> str:
    """A value of this input as people write it: ``250 us``."""
    return value if isinstance(value, str) else _FORMAT[wanted.type](value)


def input_values(profile: Profile, given: Mapping[str, str]) -> dict[str, Scalar]:
    """Every input that has a value, given or by default; UsageError for a name the profile has not."""
    for name in given:
        if name not in profile.inputs:
            hint = did_you_mean(name, profile.inputs) or "; it has none"
            raise UsageError(f"profile {profile.name} has no input {name[:40]!r}{hint}")
    values = {name: wanted.default for name, wanted in profile.inputs.items() if wanted.default is not None}
    return values | {name: parse_input(profile.inputs[name], text) for name, text in given.items()}
