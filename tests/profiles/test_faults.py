"""What is wrong with a profile is said by file, line and key, and all of it at once."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from hostcfg.compare import compare_with_targets
from hostcfg.errors import InputError, ProfileError
from hostcfg.model import Target
from hostcfg.platforms import get_platform
from hostcfg.profiles import load_profile
from hostcfg.profiles.check import check_profile
from hostcfg.profiles.document import compose
from hostcfg.profiles.schema import read_draft
from hostcfg.reader import read_pasted

if TYPE_CHECKING:
    from collections.abc import Iterator

GOOD = """\
name: own
summary: what it does
when: who needs it
inputs:
  streams: {type: count, default: 1, min: 1, max: 64, meaning: connections}
let:
  wanted: ceil(2 * bdp / streams)
caps:
  ram:
    value: default(memory_bytes, 1TiB) / 16
    reason: 1/16 of RAM
settings:
  recv_buffer_max:
    rule: at_least
    value: wanted
    reason: holds {bdp|size}
    source: RFC 7323
    cap: ram
  ecn:
    rule: exact
    value: accept
    reason: r
    source: RFC 3168
os:
  linux:
    settings:
      net.core.busy_poll:
        rule: exact
        value: 50
        reason: r
        source: net.rst
notes:
  - text: at {rtt_s|time}
"""


FAULTS = YAML(typ="safe").load(Path(__file__).with_name("faults.yaml"))


def check(folder: Path, text: str) -> list[str]:
    path = folder / "own.yaml"
    path.write_text(text)
    return [str(problem).removeprefix(f"{folder}/") for problem in check_profile(str(path))]


def test_the_profile_that_the_faults_are_made_of_has_none(tmp_path: Path) -> None:
    assert check(tmp_path, GOOD) == []


def test_a_byte_order_mark_and_carriage_returns_are_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert check_profile(str(path)) == []


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: f"{case['old']!r} -> {case['new']!r}")
def test_each_fault_names_its_file_line_and_key(tmp_path: Path, case: dict[str, str]) -> None:
    assert case["old"] in GOOD
    problems = check(tmp_path, GOOD.replace(case["old"], case["new"], 1))
    assert any(problem.startswith(case["fault"]) for problem in problems), problems
    assert all("\n" not in problem for problem in problems)


def test_all_faults_are_listed_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = (
        GOOD.replace("at_least", "least")
        .replace("value: accept", "value: no")
        .replace("  linux:", "  lunix:")
    )
    assert [problem.split(" ")[0] for problem in check(tmp_path, text)] == [
        "own.yaml:14:",
        "own.yaml:21:",
        "own.yaml:25:",
    ]


def test_the_fault_of_a_value_stands_beside_the_source_that_is_missing(tmp_path: Path) -> None:
    text = """\
name: own
summary: s
when: w
settings:
  window_scaling:
    rule: exact
    value: maybe
    reason: r
  recv_buffer_max:
    rule: at_least
    value: 2 * bpd
    reason: r
"""
    assert check(tmp_path, text) == [
        "own.yaml:5: settings.window_scaling: source is missing",
        "own.yaml:7: settings.window_scaling.value: 'maybe' is no flag: write on, off, true or false",
        "own.yaml:9: settings.recv_buffer_max: source is missing",
        "own.yaml:11: settings.recv_buffer_max.value: unknown name 'bpd' in a formula; did you mean 'bdp'?",
    ]
    computed = text.replace("maybe", "on").replace("2 * bpd", "0 - bdp")
    assert [p.split(": ", 2)[2] for p in check(tmp_path, computed)][-1].startswith("gives -")
    reasonless = text.replace("    reason: r\n", "", 1).replace("maybe", "0").replace("bpd", "bdp")
    assert [p.split(": ", 2)[2] for p in check(tmp_path, reasonless)][:3] == [
        "reason is missing",
        "source is missing",
        "0 is no flag: write on, off, true or false",
    ]


def test_a_let_that_can_not_be_read_makes_no_unknown_names(tmp_path: Path) -> None:
    problems = check(tmp_path, GOOD.replace("ceil(2 * bdp / streams)", "2 ** 3").replace("at_least", "least"))
    assert len(problems) == 2
    assert not any("unknown name" in problem for problem in problems)


def test_a_load_names_the_first_fault_and_counts_the_others(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(GOOD.replace("at_least", "least").replace("value: accept", "value: no"))
    with pytest.raises(ProfileError) as caught:
        load_profile(str(path))
    assert str(caught.value).startswith(f"{path}:14: settings.recv_buffer_max.rule: unknown rule 'least'")
    assert "(and 1 more; `hostcfg profiles check` lists them)" in str(caught.value)


def test_a_formula_that_fails_only_at_a_bound_of_an_input_is_found(tmp_path: Path) -> None:
    text = GOOD.replace("min: 1, max: 64", "min: 0, max: 64")
    (problem,) = check(tmp_path, text)
    assert problem == "own.yaml:7: let.wanted: 'ceil(2 * bdp / streams)' divides by zero"


def test_a_formula_that_fails_where_a_platform_knows_nothing_is_found(tmp_path: Path) -> None:
    text = GOOD.replace("default(memory_bytes, 1TiB) / 16", "1 / default(memory_bytes, 0)")
    (problem,) = check(tmp_path, text)
    assert problem == "own.yaml:10: caps.ram.value: '1 / default(memory_bytes, 0)' divides by zero"


def test_let_names_that_nest_too_deeply_or_widely_end_in_one_line(tmp_path: Path) -> None:
    chain = "".join(f"  a{n}: a{n + 1} + 1\n" for n in range(200)) + "  a200: bdp\n"
    problems = check(tmp_path, GOOD.replace("let:\n", "let:\n" + chain))
    assert [p.split(": ")[-1] for p in problems] == ["let names nest deeper than 20"]
    wide = "".join(f"  a{n}: a{n + 1} + a{n + 2}\n" for n in range(18)) + "  a18: bdp\n  a19: bdp\n"
    assert (
        check(tmp_path, GOOD.replace("let:\n", "let:\n" + wide).replace("value: wanted", "value: a0")) == []
    )


def test_the_number_of_inputs_is_bounded(tmp_path: Path) -> None:
    many = "".join(f"  i{n}: {{type: count, default: 1, meaning: m}}\n" for n in range(40))
    (problem,) = check(tmp_path, GOOD.replace("inputs:\n", "inputs:\n" + many))
    assert problem == "own.yaml:4: inputs: more than 32 inputs; nobody will give them all"


def test_files_that_are_no_profiles(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    contents = {
        b"": "is empty",
        b"# nothing\n": "is empty",
        b"- a\n- b\n": ":1: must hold `key: value` lines",
        b"just text\n": ":1: must hold `key: value` lines",
        b"name: caf\xe9\n": ":1: is not UTF-8; save it as UTF-8",
        b"name: own\nsummary: \x00\n": "is no YAML",
        b"a: 1\n---\nb: 2\n": "is no YAML",
        b"[" * 50_000: "nested too deeply",
        b"a: " * 20_000: "is no YAML",
        b"x" * 200_000: "is larger than 128 KiB; is it a profile?",
        b"name: own\n" * 1_000_000: "is larger than 128 KiB; is it a profile?",
    }
    for content, fault in contents.items():
        path.write_bytes(content)
        problems = check_profile(str(path))
        assert any(fault in str(problem) for problem in problems), (content[:20], problems)


def test_a_file_that_is_missing_or_none(tmp_path: Path) -> None:
    missing = tmp_path / "none.yaml"
    assert [str(p) for p in check_profile(str(missing))] == [f"{missing}: there is no such file"]
    if sys.platform != "win32":
        pipe = tmp_path / "pipe.yaml"
        os.mkfifo(pipe)
        assert [str(p) for p in check_profile(str(pipe))] == [f"{pipe}: is no file"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_a_file_that_fails_while_it_is_read() -> None:
    assert [str(p) for p in check_profile("/proc/self/mem")] == [
        "/proc/self/mem: can't be read: Input/output error"
    ]


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root reads everything, so root steps down for a moment; others are stopped by the mode itself."""
    root = sys.platform != "win32" and os.geteuid() == 0
    if sys.platform != "win32" and root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if sys.platform != "win32" and root:
            os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(GOOD)
    path.chmod(0)
    with as_nobody():
        problems = check_profile(str(path))
    assert [str(p) for p in problems] == [f"{path}: can't be read: Permission denied"]


LINES = GOOD.splitlines(keepends=True)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(LINES) - 1),
            st.sampled_from(["drop", "double", "indent", "cut", "swap", "noise"]),
            st.text(max_size=12),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_damaged_profile_is_read_or_refused_with_its_place(damage: list[tuple[int, str, str]]) -> None:
    lines = list(LINES)
    for index, kind, noise in damage:
        line = lines[index]
        lines[index] = {
            "drop": "",
            "double": line * 2,
            "indent": "  " + line,
            "cut": line[: len(line) // 2] + "\n",
            "swap": lines[index - 1],
            "noise": line.rstrip("\n") + noise + "\n",
        }[kind]
    for problem in faults("".join(lines)):
        assert problem.path == "own.yaml"
        assert "\n" not in str(problem)


def faults(text: str) -> tuple[InputError, ...]:
    """The faults of a text; any other exception fails the test."""
    try:
        return read_draft(compose(text, "own.yaml"), "own.yaml", ("linux",)).problems
    except ProfileError as error:
        return (error,)


@pytest.mark.parametrize(
    ("row", "os", "said"),
    [
        ("congestion_control: {rule: exact, value: name_of_sixteen_, ", "linux", "no name of an algorithm"),
        ("congestion_control: {rule: exact, value: 'a b; id', ", "windows", "no value for netsh"),
        ("queue_discipline: {rule: one_of, value: [fq, 'fq codel'], ", "linux", "no name of an algorithm"),
        ("global.x: {rule: exact, value: 'a & calc', ", "windows", "no value for netsh"),
    ],
)
def test_a_value_that_no_command_takes_is_a_fault_of_its_line(
    row: str, os: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        f"name: own\nsummary: s\nwhen: w\nos:\n  {os}:\n    settings:\n      {row} reason: r, source: s}}\n"
    )
    (fault,) = check_profile(str(path))
    assert (fault.line, said in fault.message) == (7, True)


def test_such_a_value_ends_a_diff_in_one_line() -> None:
    target = Target("congestion_control", "exact", "a b; id", "r", "s")
    facts = read_pasted("h", "kernel.osrelease = 6.1.0\nnet.ipv4.tcp_congestion_control = cubic\n", "h.txt")
    with pytest.raises(ProfileError, match=r"congestion_control: Linux can't have .* no name"):
        compare_with_targets(facts, [target], get_platform("linux"))


def test_a_missing_type_of_an_input_is_told_once(tmp_path: Path) -> None:
    found = check(tmp_path, "name: p\nsummary: s\nwhen: w\ninputs: {x: {default: 5, min: 9, max: 1}}\n")
    assert sum("type is missing" in line for line in found) == 1
