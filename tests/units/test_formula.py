"""Profile expressions: what they can do, and that they can do nothing else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.errors import ProfileError
from hostcfg.formula import evaluate, parse_formula

if TYPE_CHECKING:
    from hostcfg.model import Scalar

NAMES: dict[str, Scalar] = {"bdp": 1_000_000.0, "streams": 4, "guard": "both", "old": True, "zero": 0}


def outcome(text: str) -> Scalar | ProfileError:
    """What a formula comes to; any other exception fails the test."""
    try:
        return evaluate(text, NAMES)
    except ProfileError as error:
        return error


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * bdp", 2_000_000),
        ("ceil(2.5 * bdp / streams)", 625_000),
        ("max(64KiB, 2 * 31250)", 65_536),  # the lan floor: 1 Gbit/s x 0.25 ms
        ("min(4MiB, 1GiB, 16K)", 16_384),
        ("1.5MiB", 1_572_864),
        ("pow2ceil(187500)", 262_144),
        ("pow2ceil(65536)", 65_536),
        ("pow2ceil(0)", 1),
        ("ceil(187500.00000000003)", 187_500),  # float dust is no byte
        ("ceil(187500.1)", 187_501),
        ("7 // 2 + 7 % 2", 4),
        ("-3 + +5", 2),
        ("2.5 if old else 2", 2.5),
        ("1 if guard == 'both' else 2", 1),
        ("1 if guard != 'send' and not zero else 2", 1),
        ("1 if bdp > 10 or nothing > 3 else 2", 1),  # the untaken part is not asked for
        ("0 < zero", False),
        ("1 < streams <= 4", True),
        ("true", True),
        ("'highlyrestricted' if bdp <= 1MiB else 'normal'", "highlyrestricted"),
        ("default(memory_bytes, 1GiB) / 16", 67_108_864),
        ("default(streams, 1)", 4),
        ("default(zero, 5)", 0),
        ("default(a, default(b, 3))", 3),
        ("'64KiB'", "64KiB"),
        ("ceil(\n 2 *\n 3)", 6),
    ],
)
def test_values(text: str, value: Scalar) -> None:
    result = evaluate(text, NAMES)
    assert result == value
    assert isinstance(result, bool) == isinstance(value, bool)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2 * bpd", "unknown name 'bpd' in a formula; did you mean 'bdp'?"),
        ("bdp / zero", "divides by zero"),
        ("bdp // 0", "divides by zero"),
        ("bdp % 0", "divides by zero"),
        ("1e17 * 1e17", "overflows"),
        ("100000000000000000 * 100000000000000000", "overflows"),
        ("guard + 1", "'both' is no number"),
        ("guard * 99999999", "'both' is no number"),
        ("old + 1", "True is no number"),
        ("guard == 1", "can't be compared: number against text"),
        ("guard < 'x'", "'both' is no number"),
        ("max(guard, 1)", "'both' is no number"),
    ],
)
def test_what_fails_when_it_is_evaluated(text: str, says: str) -> None:
    with pytest.raises(ProfileError) as caught:
        evaluate(text, NAMES)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2 *",
        "1; 2",
        "x = 1",
        "(x := 1)",
        "10 ** 9",
        "1 << 40",
        "1 | 2",
        "~1",
        "bdp.real",
        "bdp.__class__",
        "bdp[0]",
        "[1, 2]",
        "{1: 2}",
        "(1, 2)",
        "lambda: 1",
        "[x for x in y]",
        "f'{bdp}'",
        "guard in 'both'",
        "bdp is 1",
        "open('/etc/passwd')",
        "__import__('os').system('id')",
        "max.__call__(1)",
        "(max)(1)(2)",
        "max(*bdp)",
        "max(1, key=2)",
        "min()",
        "ceil(1, 2)",
        "default(1, 2)",
        "default(x)",
        "default",  # a name like any other, and not known
        "None",
        "...",
        "1j",
        "b'x'",
        "0x10",
        "1_000",
        "64KiBx",
        "1if old else 2",
        "'\\x41'",
        "é",
        "bdp²",
        "1e999",
        "9" * 400,
        "9" * 100 + "K",
        "'" + "a" * 100 + "'",
        "a" * 501,
        "#",
        "\x00",
        "await x",
        "yield",
    ],
)
def test_what_a_formula_can_not_say(text: str) -> None:
    with pytest.raises(ProfileError) as caught:
        evaluate(text, NAMES)
    assert len(str(caught.value)) < 300


def test_a_fault_in_the_branch_not_taken_is_found_without_evaluating() -> None:
    with pytest.raises(ProfileError, match="a power is not allowed"):
        parse_formula("1 if true else 10 ** 10 ** 10")


def test_names_are_known_without_evaluating() -> None:
    formula = parse_formula("ceil(factor * bdp) if default(old, false) and bdp > 64KiB else default(bdp, x)")
    assert formula.required == {"factor", "bdp", "x"}
    assert formula.optional == {"old"}


@pytest.mark.parametrize(
    "text",
    [
        "(" * 240 + "1" + ")" * 240,
        "-" * 499 + "1",
        "not " * 124 + "1",
        "max(" * 120 + "1" + ")" * 120,
        "1+" * 249 + "1",
    ],
)
def test_deep_formulas_end_in_a_value_or_one_line(text: str) -> None:
    assert "\n" not in str(outcome(text))


@given(st.text(max_size=60))
def test_any_text_is_a_scalar_or_a_profile_error(text: str) -> None:
    result = outcome(text)
    assert isinstance(result, (bool, int, float, str)) or "\n" not in str(result)


_ATOMS = st.sampled_from(
    ["bdp", "streams", "zero", "guard", "old", "64KiB", "1.5", "0", "'both'", "true", "nope"]
)
_SYNTAX = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "==", "and", "or"]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        st.tuples(st.sampled_from(["ceil", "pow2ceil", "min", "max", "not ", "-"]), inner).map(
            lambda t: f"{t[0]}({t[1]})"
        ),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(_ATOMS, inner).map(lambda t: f"default({t[0]}, {t[1]})"),
    ),
    max_leaves=12,
)


@given(_SYNTAX)
def test_any_sentence_of_the_grammar_is_finite_or_a_profile_error(text: str) -> None:
    result = outcome(text)
    if isinstance(result, (int, float)):
        assert math.isfinite(result)
    else:
        assert "\n" not in str(result)


@given(st.floats(min_value=0, max_value=1e15))
def test_ceil_and_pow2ceil_are_never_below(value: float) -> None:
    rounded = evaluate("ceil(x)", {"x": value})
    power = evaluate("pow2ceil(x)", {"x": value})
    assert isinstance(rounded, int)
    assert isinstance(power, int)
    assert value * (1 - 1e-9) - 1e-9 <= rounded < value + 1
    assert power >= rounded
    assert power & (power - 1) == 0
