"""Every recorded output parses to the values that a person read in it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.windows.samples import FOLDER, Sample, parser, recognized, samples

# What an output holds beside the expectation, which names only what matters.
WHOLE_KINDS = {
    "netsh-tcp-global",
    "netsh-tcp-supplemental",
    "netsh-tcp-heuristics",
    "netsh-dynamicport",
    "netsh-subinterfaces",
    "netsh-interfaces",
    "netsh-chimneystats",
    "netsh-set",
    "set-nettcpsetting",
    "get-netoffloadglobalsetting",
}


def _typed(value: Any) -> Any:
    """``value`` with its type beside it, so that True is not 1."""
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, dict):
        return {name: _typed(item) for name, item in value.items()}
    return (type(value).__name__, value)


def test_the_index_names_every_file() -> None:
    files = {path.name for path in FOLDER.iterdir()} - {"index.yaml"}
    assert files == {s.name for s in samples()}
    assert len(files) == 51


@pytest.mark.parametrize("sample", samples(), ids=str)
def test_sample_is_recognized_and_parsed(sample: Sample) -> None:
    assert recognized(sample.text) == sample.kind
    parsed = parser(sample.kind).parse(sample.text)
    found = {key: _typed(parsed.values.get(key, "missing")) for key in sample.values}
    assert found == _typed(sample.values)
    assert parsed.os == "windows"


@pytest.mark.parametrize("sample", [s for s in samples() if s.kind in WHOLE_KINDS], ids=str)
def test_nothing_is_added_to_what_the_sample_holds(sample: Sample) -> None:
    assert parser(sample.kind).parse(sample.text).values.keys() == sample.values.keys()


@pytest.mark.parametrize("sample", samples(), ids=str)
def test_only_strange_lines_are_unrecognized(sample: Sample) -> None:
    strange = {"tcp_show_supplemental__win10__en__01.txt": ("...[생략]...",)}
    assert tuple(parser(sample.kind).parse(sample.text).unrecognized) == strange.get(sample.name, ())


def test_template_names_come_from_the_output() -> None:
    text = (FOLDER / "get_nettcpsetting__win10__en__02.txt").read_text(encoding="utf-8")
    values = parser("get-nettcpsetting").parse(text).values
    assert values["automatic.max_syn_retransmissions"] is None
    assert values["internetcustom.delayed_ack_frequency"] == 2


def test_tunnels_tell_that_the_table_is_of_ipv6() -> None:
    text = (FOLDER / "ipv6_show_subinterfaces__win7__en__01.txt").read_text(encoding="utf-8")
    assert parser("netsh-subinterfaces").parse(text).command == "netsh interface ipv6 show subinterfaces"
