"""Whatever is printed comes back; whatever is damaged never raises and never becomes a wrong value."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hostcfg.platforms.linux import native_integers, native_keys
from hostcfg.platforms.linux.native import form_of, is_key
from hostcfg.platforms.linux.parsers import PARSERS
from tests.linux.parsers.samples import BY_KIND, FOLDER, Sample, parsed, samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostcfg.model import Json

INTERFACES = st.sampled_from(["lo", "eth0", "eth0/100", "br-1234", "all", "default", "wg_x", "tap0e7-ca"])
INT_KEYS = [f"{folder}.{name}" for folder, names in native_integers.INTS.items() for name in names.split()]
WORD = st.from_regex(r"\A[a-z][a-z0-9_]{0,14}\Z")
INT = st.integers(-(2**63), 2**64 - 1)
GAP = st.sampled_from([" ", "\t", "  ", " \t "])
SLOW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def assignments(draw: st.DrawFn) -> tuple[str, Json]:
    """A key of the table and a value of its form."""
    shape = draw(st.sampled_from(["int", "int", "ints", "word", "words"]))
    if shape == "int":
        key = draw(st.sampled_from(INT_KEYS)).replace("*", draw(INTERFACES))
        return key, draw(INT)
    if shape == "ints":
        key = draw(st.sampled_from(sorted(native_keys.VECTORS)))
        count = native_keys.VECTORS[key] or draw(st.integers(1, 6))
        return key, list(draw(st.lists(INT, min_size=count, max_size=count)))
    if shape == "word":
        return draw(st.sampled_from(sorted(native_keys.WORD))), draw(WORD)
    return draw(st.sampled_from(sorted(native_keys.WORDS))), list(draw(st.lists(WORD, max_size=4)))


def rendered(value: Json, gap: str) -> str:
    return gap.join(map(str, value)) if isinstance(value, list) else str(value)


@given(st.lists(assignments(), max_size=12), GAP)
@SLOW
def test_sysctl_prints_and_it_comes_back(pairs: list[tuple[str, Json]], gap: str) -> None:
    wanted = dict(pairs)
    text = "".join(f"{key} = {rendered(value, gap)}\n" for key, value in wanted.items())
    assert parsed("sysctl", text).values == wanted
    assert not parsed("sysctl", text).unrecognized


@given(st.lists(assignments(), max_size=12), GAP)
@SLOW
def test_grep_prints_and_it_comes_back(pairs: list[tuple[str, Json]], gap: str) -> None:
    wanted = dict(pairs)
    text = "".join(
        f"/proc/sys/{key.translate(str.maketrans('./', '/.'))}:{rendered(value, gap)}\n"
        for key, value in wanted.items()
    )
    assert parsed("proc-sys", text).values == wanted


@given(
    st.lists(assignments(), max_size=12),
    st.sampled_from([" = ", "=", "\t=  ", " ="]),
    st.sampled_from(["", " # x = 1", "\t; x", "  "]),
    st.booleans(),
)
@SLOW
def test_a_config_is_written_and_it_comes_back(
    pairs: list[tuple[str, Json]], equals: str, end: str, by_path: bool
) -> None:
    wanted = {key: value for key, value in pairs if value != []}  # an empty value changes nothing
    lines = []
    for key, value in wanted.items():
        name = key.translate(str.maketrans("./", "/.")) if by_path else key
        comment = end if isinstance(value, int) or end.isspace() else ""
        lines.append(f"{name}{equals}{rendered(value, ' ')}{comment}\n# comment\n")
    got = parsed("sysctl-conf", "".join(lines))
    assert got.values == wanted
    assert not got.unrecognized


@given(st.lists(assignments(), max_size=8))
@SLOW
def test_a_script_is_written_and_it_comes_back(pairs: list[tuple[str, Json]]) -> None:
    wanted = {key: value for key, value in pairs if value != []}
    text = "".join(f"sysctl -w {key}='{rendered(value, ' ')}'\n" for key, value in wanted.items())
    assert parsed("sysctl-conf", f"#!/bin/sh\n{text}").values == wanted


# Damage

ALL = [s for s in samples() if len(s.text) < 40_000]
DUMPS = [s for s in ALL if s.kind == "sysctl"]
ERRORS = (
    "sysctl: permission denied on key 'vm.stat_refresh'",
    'sysctl: reading key "net.ipv6.conf.all.stable_secret"',
    "sysctl: Zugriff verweigert auf Schlüssel »vm.stat_refresh«",
)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[Sample, str]:
    """A sample after some accidents: cuts, lost pieces, shuffled lines, strange characters, noise."""
    sample = draw(st.sampled_from(ALL))
    text = sample.text
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        accident = draw(st.sampled_from(["cut", "head", "lose", "insert", "replace", "shuffle", "double"]))
        if accident == "cut":
            text = text[:at]
        elif accident == "head":
            text = text[at:]
        elif accident == "lose":
            text = text[:at] + text[at + draw(st.integers(1, 60)) :]
        elif accident == "insert":
            text = text[:at] + draw(st.text(max_size=12)) + text[at:]
        elif accident == "replace":
            text = text[:at] + draw(st.characters()) + text[at + 1 :]
        elif accident == "shuffle":
            text = "\n".join(draw(st.permutations(text.split("\n")[:60])))
        else:
            text = text[:at] + text[: draw(st.integers(0, 80))] + text[at:]
    return sample, text


@given(damaged())
@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
def test_damage_never_raises_and_makes_up_no_pair(case: tuple[Sample, str]) -> None:
    sample, text = case
    got = BY_KIND[sample.kind].parse(text)
    json.dumps(got.values)
    json.dumps(got.extra)
    assert 0 <= BY_KIND[sample.kind].recognize(text) <= 100
    if sample.kind in ("sysctl", "sysctl-set", "sysctl-conf", "tuned-conf", "proc-sys"):
        # a script's arrays have keys and values on lines of their own, and V"htcp" is one word
        lines = [text, re.sub("[\"']", "", text)] if "=(" in text else _lines(text)
        for key, value in got.values.items():
            assert is_key(key)
            parts = value if isinstance(value, list) else [value]
            assert all(any(_holds(line, key, part) for line in lines) for part in parts), (key, value)
            if isinstance(value, list) and getattr(form_of(key), "shape", "") != "lines":
                assert any(all(_holds(line, key, part) for part in parts) for line in lines)
    else:
        words = re.sub(r"\s+", " ", text)
        for scalar in _scalars(
            got.extra.get("rows", []), got.extra.get("links", []), got.extra.get("qdiscs", [])
        ):
            assert scalar.removeprefix("parent ") in words


@given(st.text(max_size=400))
@settings(deadline=None, max_examples=200)
def test_any_text_is_survived_by_every_parser(text: str) -> None:
    for one in PARSERS:
        got = one.parse(text)
        json.dumps([got.values, got.extra])
        assert 0 <= one.recognize(text) <= 100


@given(st.data())
@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow])
def test_errors_printed_into_values_spoil_them_and_make_up_none(data: st.DataObject) -> None:
    """Standard error lands wherever a block of standard output happened to end."""
    sample = data.draw(st.sampled_from(DUMPS))
    lines = [line for line in sample.text.split("\n") if " = " in line]
    start = data.draw(st.integers(0, max(0, len(lines) - 40)))
    clean = "".join(f"{line}\n" for line in lines[start : start + 40])
    true = parsed("sysctl", clean).values
    text = clean
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = f"{text[:at]}{data.draw(st.sampled_from(ERRORS))}\n{text[at:]}"
    got = parsed("sysctl", text).values
    for key, value in got.items():
        if getattr(form_of(key), "shape", "") == "lines":
            continue
        assert true.get(key) == value


def _lines(text: str) -> list[str]:
    """As the parsers see them: CR ends a line too, and a quoted-printable one goes on."""
    return re.split(r"[\n\r]", text.replace("=\n", "").replace("=\r\n", ""))


def _holds(line: str, key: str, part: Json) -> bool:
    """Whether one line holds the key's last name and the value, in whatever base it is written."""
    if key.rpartition(".")[2] not in line:
        return False
    if not isinstance(part, int):
        return all(word in line for word in str(part).split())
    return any(_number(word) == part for word in re.findall(r"-?[0-9][0-9a-fA-FxX]*", line))


def _number(word: str) -> int | None:
    digits = word.lstrip("-")
    try:
        found = int(digits, 8) if re.fullmatch("0[0-7]+", digits) else int(digits, 0)
    except ValueError:
        return None
    return -found if word.startswith("-") else found


def _scalars(*values: Json) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _scalars(*value)
        elif isinstance(value, dict):
            yield from _scalars(*value.values())
        elif value is not None and not isinstance(value, bool):
            yield str(value)


def test_the_samples_are_found() -> None:
    assert len(ALL) > 100
    assert (FOLDER / "index.yaml").is_file()
