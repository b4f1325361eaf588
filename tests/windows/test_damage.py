"""Cut, shuffled and spliced outputs: no exception, and no value that the whole output does not hold.

Only two things can't be seen in a damaged text: that its very last line lost digits or letters
where that line may end the output, and that a name was cut.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostcfg.platforms.windows.outputs import PARSERS
from tests.windows.samples import Sample, parser, samples

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = 400
MESSAGE_KINDS = {"netsh-set", "set-nettcpsetting", "netsh-chimneystats"}
JUNK = [
    "",
    "   ",
    ":",
    " : ",
    "enabled",
    "---",
    "** something",
    "\x00\x1b[0m",
    "Receive Window Auto-Tuning Level : maybe",
    "RFC 1323 Timestamps : 12",
    "Initial RTO : 99999999999999999999",
    "a: b: c",
    "\ufffd\ufffd : \ufffd",
    "SettingName : ",
]
TABLES = [s for s in samples() if s.kind not in MESSAGE_KINDS]
# A row of the quoted-printable mail spans two lines: with another line between, it is another row.
LINEWISE = [s for s in TABLES if "mail-qp" not in s.name]


def _holds(whole: Any, part: Any, *, cut: bool) -> bool:
    """Whether ``part`` is in ``whole``; a cut text may end within a number or a name."""
    if isinstance(part, list):
        return all(any(_holds(row, found, cut=cut) for row in whole) for found in part)
    if isinstance(part, dict):
        return all(_holds(whole.get(name), value, cut=cut) for name, value in part.items())
    if type(whole) is type(part) and whole == part:
        return True
    return cut and type(whole) is type(part) and str(whole).startswith(str(part))


@cache
def _whole(sample: Sample) -> Any:
    return parser(sample.kind).parse(sample.text).values


def _check(sample: Sample, text: str, *, cut: bool = False) -> None:
    whole = _whole(sample)
    found = parser(sample.kind).parse(text)
    for key, value in found.values.items():
        assert key in whole, (key, value)
        assert _holds(whole[key], value, cut=cut), (key, value)


@pytest.mark.parametrize("sample", TABLES, ids=str)
def test_cut_at_every_character(sample: Sample) -> None:
    for end in range(len(sample.text)):
        _check(sample, sample.text[:end], cut=True)


@pytest.mark.parametrize("sample", TABLES, ids=str)
def test_cut_at_every_line_end_has_only_right_values(sample: Sample) -> None:
    lines = sample.text.splitlines(keepends=True)
    for end in range(len(lines)):
        if not lines[end - 1].rstrip().endswith("="):  # a mail's soft line break is no line end
            _check(sample, "".join(lines[:end]))


@given(st.sampled_from(LINEWISE), st.integers(0, 2**32))
@settings(max_examples=EXAMPLES, deadline=None)
def test_lines_lost_and_shuffled(sample: Sample, seed: int) -> None:
    """By chance, as damage is: two lines chosen out of fifty can look like an output of their own."""
    pick = Random(seed)
    lines = sample.text.splitlines()
    lost = pick.choice([0.05, 0.15, 0.4])
    kept = [line for line in lines if pick.random() > lost]
    if pick.random() < 0.6:
        pick.shuffle(kept)
    _check(sample, "\n".join(kept) + "\n")


def test_properties_without_their_templates_name_are_nobodys() -> None:
    sample = next(s for s in TABLES if s.name == "get_nettcpsetting__server2012__en__01.txt")
    lines = [line for line in sample.text.splitlines() if line.strip()]
    for kept in range(1, 16):
        parsed = parser(sample.kind).parse("\n".join(lines[-kept:]) + "\n")
        assert parsed.values == {}
        assert list(parsed.unrecognized) == [line.strip() for line in lines[-kept:]]


def test_a_template_whose_name_and_first_lines_are_lost_gives_the_one_above_nothing() -> None:
    sample = next(s for s in TABLES if s.name == "get_nettcpsetting__server2012__en__01.txt")
    lines = [line for line in sample.text.splitlines() if line.strip()]
    for gone in range(1, 16):
        for start in range(2, 15):
            text = "\n".join([*lines[:start], *lines[start + gone :]]) + "\n"
            _check(sample, text)


@given(
    st.sampled_from(LINEWISE), st.lists(st.sampled_from(JUNK), max_size=8), st.randoms(use_true_random=False)
)
@settings(max_examples=EXAMPLES, deadline=None)
def test_junk_between_the_lines(sample: Sample, junk: list[str], random: Any) -> None:
    lines = sample.text.splitlines()
    for line in junk:
        lines.insert(random.randrange(len(lines) + 1), line)
    text = "\n".join(lines) + "\n"
    whole = _whole(sample)
    for key, value in parser(sample.kind).parse(text).values.items():
        if key in whole and key != "heuristics_override_note":
            assert _holds(whole[key], value, cut=False), (key, value)


@given(st.sampled_from(samples()), st.sampled_from(PARSERS), st.randoms(use_true_random=False))
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_parser_raises_on_another_ones_output(sample: Sample, any_parser: Any, random: Any) -> None:
    start = random.randrange(len(sample.text))
    text = sample.text[start : start + random.randrange(1, 400)]
    assert 0 <= any_parser.recognize(text) <= 100
    any_parser.parse(text)


@given(st.sampled_from(PARSERS), st.text(max_size=300))
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_parser_raises_on_any_text(any_parser: Any, text: str) -> None:
    assert 0 <= any_parser.recognize(text) <= 100
    assert any_parser.parse(text).os == "windows"


@given(st.sampled_from([s for s in samples() if s.kind in MESSAGE_KINDS]), st.data())
@settings(max_examples=EXAMPLES, deadline=None)
def test_a_cut_error_is_never_a_success(sample: Sample, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(sample.text)))
    result = parser(sample.kind).parse(sample.text[:end]).values.get("result")
    assert result in (None, sample.values["result"])


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "Receive Window Auto-Tuning Level : normal\n" * (n // 42),
        lambda n: "a" * n,
        lambda n: ":" * n,
        lambda n: "1 1 1 1 x\n" * (n // 10),
        lambda n: "=\n" * (n // 2),
        lambda n: "[" * n,
        lambda n: '"Name","InterfaceIndex","ReceiveLinkSpeed"\n' + '"' * n,
        lambda n: "SettingName : x\n" * (n // 16),
        lambda n: "C:\\" * (n // 3),
        lambda n: "S-1-16-" * (n // 7),
        lambda n: " " * n + ":",
    ],
)
def test_megabytes_of_garbage_end_in_time(make: Callable[[int], str]) -> None:
    text = make(3_000_000)
    for any_parser in PARSERS:
        any_parser.recognize(text)
    best = max(PARSERS, key=lambda p: p.recognize(text))
    best.parse(text)


def test_a_few_properties_that_were_asked_for_without_the_name_are_read() -> None:
    text = (
        "AutoTuningLevelLocal       : Normal\nAutoTuningLevelGroupPolicy : NotConfigured\n"
        "AutoTuningLevelEffective   : Local\n"
    )
    assert parser("get-nettcpsetting").parse(text).values == {
        "auto_tuning_level_local": "normal",
        "auto_tuning_level_group_policy": "notconfigured",
        "auto_tuning_level_effective": "local",
    }
