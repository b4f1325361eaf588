"""Profile expressions: ``ceil(factor * bdp / streams)``.

What there is: numbers, sizes (``64KiB``), text in quotes, ``true`` and ``false``; names; ``+ - * / // %``;
``== != < <= > >=``; ``and or not``; ``a if c else b``; ``min max ceil pow2ceil``; and
``default(name, value)``, which is the name's value where it has one and ``value`` where it has none.
Nothing else: no attribute, no index, no power, no other call.

simpleeval evaluates; the tree is checked against a list of allowed nodes before, so a formula is
refused as a whole even where the faulty branch would not be reached.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hostcfg.errors import ProfileError, UnitError
from hostcfg.lean import dataclass, regex
from hostcfg.nearest import did_you_mean
from hostcfg.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hostcfg.model import Scalar

LONGEST_FORMULA = 500
LONGEST_TEXT = 64
LARGEST = 1e18
"""Results beyond this are taken for a mistake: a window ends at 2^30 bytes (RFC 7323 section 2.3)."""

_SIZE_OR_TEXT = regex(
    r"""'[^']*'|"[^"]*"|(?<![\w.])"""
    r"""(?:(?P<size>[0-9]+(?:\.[0-9]+)?(?:[KMGT]iB|[KMG]))(?!\w)|[0-9.]+[eE][+-]?[0-9]+(?!\w)|(?P<bad>[0-9][0-9.]*[A-Za-z_]\w*))""",
    re.ASCII,
)
_ALLOWED_NODES = (
    *(ast.Expression, ast.Name, ast.Load, ast.Constant, ast.IfExp, ast.Call),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.UnaryOp, ast.USub, ast.UAdd, ast.Not, ast.BoolOp, ast.And, ast.Or),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)
_WORDS: dict[str, Scalar] = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Formula:
    """A checked expression.

    ``required`` are names that must have a value wherever it is evaluated, ``optional`` those that
    occur in ``default(name, value)`` alone.
    """

    text: str
    tree: ast.expr
    required: frozenset[str]
    optional: frozenset[str]


@lru_cache(maxsize=1024)
def parse_formula(text: str) -> Formula:
    """The checked formula; ProfileError that says what is not allowed, without evaluating anything."""
    if len(text) > LONGEST_FORMULA:
        raise ProfileError(f"the formula has {len(text)} characters, more than {LONGEST_FORMULA}; use let")
    try:
        plain = _SIZE_OR_TEXT.sub(_size_as_number, text).replace("\n", " ").strip()
        if not plain.isascii() or "\\" in plain:
            raise ProfileError(f"{_shown(text)}: a formula is plain ASCII without backslashes")
        tree = ast.parse(plain, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnitError) as error:
        raise ProfileError(f"{_shown(text)} is no formula; write for instance ceil(2 * bdp)") from error
    for node in ast.walk(tree):
        _check_node(node, text)
    names = list(_names(tree.body))
    required = frozenset(name for name, optional in names if not optional)
    return Formula(text, tree.body, required, frozenset(name for name, _ in names) - required)


def evaluate(text: str, names: Mapping[str, Scalar]) -> Scalar:
    """The value of a formula: a finite number, a flag or a short text.

    ``names`` is asked only for the names that the taken branch needs, so it may compute them then.
    ProfileError for an unknown name (with the nearest), a division by zero, an overflow, or
    operands of the wrong kind.
    """
    from simpleeval import InvalidExpression, SimpleEval  # type: ignore[import-untyped]

    formula = parse_formula(text)
    lookup = _Names(names)
    evaluator = SimpleEval(operators=dict(_OPERATORS), functions=dict(_FUNCTIONS), names=lookup)
    call = evaluator.nodes[ast.Call]

    def call_or_default(node: ast.Call) -> Scalar:
        if isinstance(node.func, ast.Name) and node.func.id == "default":
            name = node.args[0]
            known = isinstance(name, ast.Name) and name.id in lookup
            return evaluator.eval(text, previously_parsed=node.args[0 if known else 1])  # type: ignore[no-any-return]
        return call(node)  # type: ignore[no-any-return]

    evaluator.nodes[ast.Call] = call_or_default
    try:
        return _result(evaluator.eval(text, previously_parsed=formula.tree))
    except ZeroDivisionError as error:
        raise ProfileError(f"{_shown(text)} divides by zero") from error
    except (OverflowError, ValueError) as error:
        raise ProfileError(f"{_shown(text)} overflows") from error
    except _WrongKind as error:
        raise ProfileError(f"{_shown(text)}: {error}") from error
    except (InvalidExpression, TypeError, RecursionError) as error:
        raise ProfileError(f"{_shown(text)} can't be evaluated: {error}") from error


class _WrongKind(Exception):
    """An operand is a text where a number is needed, or the like."""


class _Names:
    """What simpleeval asks for a name: the caller's names and the two words for flags."""

    def __init__(self, names: Mapping[str, Scalar]) -> None:
        self._names = names

    def __contains__(self, name: str) -> bool:
        return name in _WORDS or name in self._names

    def __getitem__(self, name: str) -> Scalar:
        if name in _WORDS:
            return _WORDS[name]
        if name not in self._names:
            raise ProfileError(f"unknown name {name!r} in a formula{did_you_mean(name, self._names)}")
        return self._names[name]


def _size_as_number(match: re.Match[str]) -> str:
    if match["bad"] is not None:
        raise ProfileError(f"{match['bad'][:40]!r} is neither a number nor a size; write for instance 64KiB")
    return match[0] if match["size"] is None else str(parse_size(match["size"]))


def _check_node(node: ast.AST, text: str) -> None:
    if not isinstance(node, _ALLOWED_NODES):
        raise ProfileError(f"{_shown(text)}: {_node_title(node)} is not allowed in a formula")
    if isinstance(node, ast.Constant):
        _check_constant(node.value, text)
    elif isinstance(node, ast.Call):
        _check_call(node, text)


def _check_constant(value: object, text: str) -> None:
    if isinstance(value, str) and len(value) <= LONGEST_TEXT:
        return
    if isinstance(value, (int, float)) and abs(value) <= LARGEST:
        return
    raise ProfileError(f"{_shown(text)}: a constant is a number up to {LARGEST:g} or a short text")


def _check_call(node: ast.Call, text: str) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else None
    if name is None or name not in (*_FUNCTIONS, "default"):
        hint = did_you_mean(name, (*_FUNCTIONS, "default")) if name else ""
        raise ProfileError(f"{_shown(text)} calls what is no function of formulas{hint}")
    count = {"ceil": 1, "pow2ceil": 1, "default": 2}.get(name)
    if node.keywords or not node.args or (count is not None and len(node.args) != count):
        raise ProfileError(f"{_shown(text)}: {name} takes {_COUNT_WORDS[count]}")
    if name == "default" and not isinstance(node.args[0], ast.Name):
        raise ProfileError(f"{_shown(text)}: write default(name, value), with a name first")


_COUNT_WORDS = {1: "one value", 2: "a name and a value", None: "one or more values"}


def _names(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Every name in a tree, and whether it has a default right there."""
    if isinstance(node, ast.Name):
        if node.id not in _WORDS:
            yield node.id, False
        return
    if isinstance(node, ast.Call):
        args = list(node.args)
        if isinstance(node.func, ast.Name) and node.func.id == "default" and isinstance(args[0], ast.Name):
            yield args.pop(0).id, True  # type: ignore[attr-defined]  # an ast.Name, as just checked
        for arg in args:
            yield from _names(arg)
        return
    for child in ast.iter_child_nodes(node):
        yield from _names(child)


def _node_title(node: ast.AST) -> str:
    titles = {
        ast.Attribute: "an attribute",
        ast.Subscript: "an index",
        ast.Pow: "a power",
        ast.Lambda: "a function",
        ast.JoinedStr: "a format text",
        ast.Starred: "a star",
    }
    return titles.get(type(node), type(node).__name__)


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _WrongKind(f"{value!r} is no number")
    return value


def _finite(value: int | float) -> int | float:
    if not math.isfinite(value):
        raise OverflowError
    return value


def _arithmetic(function: Callable[..., int | float]) -> Callable[..., int | float]:
    return lambda *values: _finite(function(*map(_number, values)))


def _ordering(function: Callable[[int | float, int | float], bool]) -> Callable[[object, object], bool]:
    return lambda a, b: function(_number(a), _number(b))


def _equality(function: Callable[[object, object], bool]) -> Callable[[object, object], bool]:
    def compare(a: object, b: object) -> bool:
        kinds = {_kind(a), _kind(b)}
        if len(kinds) > 1:
            raise _WrongKind(f"{a!r} and {b!r} can't be compared: {' against '.join(sorted(kinds))}")
        return function(a, b)

    return compare


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "flag"
    return "text" if isinstance(value, str) else "number"


def _ceil(value: float) -> int:
    """Next whole number; a float within a part in 10^9 of one is that one (50e6 x 0.03 / 8 is 187,500)."""
    nearest = round(value)
    return nearest if abs(value - nearest) <= 1e-9 * max(1.0, abs(value)) else math.ceil(value)


def _pow2ceil(value: float) -> int:
    """Smallest power of two that is not below ``value``; 1 for anything below it."""
    return 1 << max(_ceil(value) - 1, 0).bit_length()


_OPERATORS: dict[type[ast.AST], Callable[..., object]] = {
    ast.Add: _arithmetic(operator.add),
    ast.Sub: _arithmetic(operator.sub),
    ast.Mult: _arithmetic(operator.mul),
    ast.Div: _arithmetic(operator.truediv),
    ast.FloorDiv: _arithmetic(operator.floordiv),
    ast.Mod: _arithmetic(operator.mod),
    ast.USub: _arithmetic(operator.neg),
    ast.UAdd: _arithmetic(operator.pos),
    ast.Not: operator.not_,
    ast.Eq: _equality(operator.eq),
    ast.NotEq: _equality(operator.ne),
    ast.Lt: _ordering(operator.lt),
    ast.LtE: _ordering(operator.le),
    ast.Gt: _ordering(operator.gt),
    ast.GtE: _ordering(operator.ge),
}
_FUNCTIONS: dict[str, Callable[..., int | float]] = {
    "min": _arithmetic(lambda *values: min(values)),
    "max": _arithmetic(lambda *values: max(values)),
    "ceil": _arithmetic(_ceil),
    "pow2ceil": _arithmetic(_pow2ceil),
}
FUNCTIONS = frozenset({*_FUNCTIONS, "default"})
"""Names that a formula calls; no input or let may be called so."""


def _result(value: object) -> Scalar:
    if isinstance(value, str) and len(value) <= LONGEST_TEXT:
        return value
    if isinstance(value, bool):
        return value
    number = _number(value)
    if abs(_finite(number)) > LARGEST:
        raise OverflowError
    return number


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
