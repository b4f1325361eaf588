"""What a profile is once read: frozen values that know the file, line and key they came from."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from hostcfg.errors import ProfileError
from hostcfg.formula import Formula, evaluate, parse_formula
from hostcfg.lean import dataclass, regex
from hostcfg.units import format_rate, format_ratio, format_size, format_time

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping

    from hostcfg.model import Rule, Scalar, Value

InputType = Literal["size", "rate", "time", "count", "ratio", "choice"]

LINK_NAMES = {
    "rate_bps": "the link's rate in bit/s",
    "rtt_s": "the link's round-trip time in seconds",
    "bdp": "bandwidth-delay product in bytes: rate x RTT / 8 (RFC 7323 section 1.1)",
}
"""Names that a formula has when a rate and an RTT are given."""

STOCK = "stock"
"""Name of the OS's own default for the row's setting, in this release; only in a row's value."""


@dataclass(frozen=True, slots=True)
class Where:
    """The place of something in a profile: for messages."""

    path: str
    line: int
    key: str

    def error(self, message: str) -> ProfileError:
        """The error that names this place."""
        return ProfileError(message, path=self.path, line=self.line, key=self.key or None)


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula and its place."""

    text: str
    where: Where

    @property
    def formula(self) -> Formula:
        """The checked formula; ProfileError that names the place."""
        try:
            return parse_formula(self.text)
        except ProfileError as error:
            raise self.where.error(error.message) from error

    def value(self, names: Mapping[str, Scalar]) -> Scalar:
        """What it evaluates to; ProfileError that names the place."""
        try:
            return evaluate(self.text, names)
        except ProfileError as error:
            if error.path is not None:  # raised by a let that this formula asked for
                raise
            raise self.where.error(error.message) from error

    def holds(self, names: Mapping[str, Scalar]) -> bool:
        """Its value as a condition; ProfileError if it is neither true nor false."""
        value = self.value(names)
        if not isinstance(value, bool):
            raise self.where.error(f"{self.text!r} is {value!r}, and a condition is true or false")
        return value


_PLACEHOLDER = regex(r"\{(?P<formula>[^{}|]+)(?:\|(?P<form>[a-z]+))?\}")


def _plain(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3g}"


FORMS: dict[str, Callable[[float], str]] = {
    "size": format_size,
    "rate": format_rate,
    "time": format_time,
    "ratio": format_ratio,
    "number": _plain,
}
"""How ``{formula|form}`` in a reason or note prints its number."""


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with ``{formula}`` and ``{formula|form}`` in it."""

    text: str
    where: Where

    def expressions(self) -> Iterator[Expression]:
        """Its formulas; ProfileError for a brace that opens none, or an unknown form."""
        rest = _PLACEHOLDER.sub("", self.text)
        if "{" in rest or "}" in rest:
            raise self.where.error("a brace that is no {formula} or {formula|form}")
        for match in _PLACEHOLDER.finditer(self.text):
            if match["form"] is not None and match["form"] not in FORMS:
                raise self.where.error(f"unknown form {match['form']!r}; known are {', '.join(FORMS)}")
            yield Expression(match["formula"].strip(), self.where)

    def render(self, names: Mapping[str, Scalar]) -> str:
        """The sentence, in one line; ProfileError if a formula in it fails."""

        def shown(match: re.Match[str]) -> str:
            value = Expression(match["formula"].strip(), self.where).value(names)
            if isinstance(value, (bool, str)):
                return str(value)
            return FORMS[match["form"] or "number"](value)

        return " ".join(_PLACEHOLDER.sub(shown, self.text).split())


@dataclass(frozen=True, slots=True)
class Input:
    """A number or choice that the user may give.

    ``default``, ``low`` and ``high`` are numbers in bytes, bit/s, seconds, a count or a part of
    one.  ``default`` None: the input has no value unless it is given.
    """

    name: str
    type: InputType
    meaning: str
    where: Where
    default: Scalar | None = None
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cap:
    """An upper limit with its reason; rows name the caps that hold for them."""

    value: Expression
    reason: Template


@dataclass(frozen=True, slots=True)
class Row:
    """What a profile wants of one setting, or of one native key.

    ``value`` is an Expression, a literal, or for ``one_of`` a tuple of literals.
    """

    setting: str
    native: bool
    rule: Rule
    value: Expression | Value
    reason: Template
    source: str
    where: Where
    when: Expression | None = None
    caps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence about the profile's effect, shown where its condition holds."""

    text: Template
    when: Expression | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Definitions for all systems, or for one.

    ``rows`` maps a setting to its alternatives (the first whose ``when`` holds counts); an empty
    tuple in an OS's block takes the common row away there.
    """

    let: Mapping[str, Expression] = field(default_factory=dict)
    caps: Mapping[str, Cap] = field(default_factory=dict)
    rows: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def over(self, base: Block) -> Block:
        """``base`` with this block's definitions in place of those of the same name."""
        return Block(
            {**base.let, **self.let},
            {**base.caps, **self.caps},
            {**base.rows, **self.rows},
            base.notes + tuple(note for note in self.notes if note not in base.notes),
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """Rules that give a target for each setting, from a link's rate and RTT.

    ``path`` is the file it was read from, as the user named it.
    """

    name: str
    summary: str
    when: str
    path: str
    inputs: Mapping[str, Input]
    common: Block
    systems: Mapping[str, Block]

    def block(self, os: str) -> Block:
        """All that holds for one OS: its own block over the common one."""
        return self.systems.get(os, Block()).over(self.common)

    def needs_link(self, os: str | None = None) -> bool:
        """Whether a target of ``os`` (None: of any system) can't be computed without rate and RTT."""
        systems = [os] if os is not None else [*self.systems, ""]
        return any(_uses_link(self.block(name)) for name in systems)


def _uses_link(block: Block) -> bool:
    pending = [e for rows in block.rows.values() for row in rows for e in row_expressions(row, block)]
    seen: set[str] = set()
    while pending:
        for name in pending.pop().formula.required - seen:
            if name in LINK_NAMES:
                return True
            seen.add(name)
            if name in block.let:
                pending.append(block.let[name])
    return False


def row_expressions(row: Row, block: Block) -> Iterator[Expression]:
    """Every formula that a row's target is made of, its caps' and its reason's included."""
    if isinstance(row.value, Expression):
        yield row.value
    if row.when is not None:
        yield row.when
    yield from row.reason.expressions()
    for name in row.caps:
        if name in block.caps:
            yield block.caps[name].value
            yield from block.caps[name].reason.expressions()
