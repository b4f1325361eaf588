"""Every recorded output comes out as index.yaml expects, with real types."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hostcfg.platforms.linux.native import form_of
from tests.linux.parsers.samples import BY_KIND, Sample, best, samples


def loose(value: Any) -> Any:
    """Numbers as text, as index.yaml may have them; truth values and null as they are."""
    if isinstance(value, list):
        return [loose(part) for part in value]
    if isinstance(value, dict):
        return {key: loose(part) for key, part in value.items()}
    return value if value is None or isinstance(value, bool) else str(value)


@pytest.mark.parametrize("sample", samples(), ids=lambda s: s.file)
def test_expected_values_and_fields(sample: Sample) -> None:
    parsed = BY_KIND[sample.kind].parse(sample.text)
    for name, wanted in sample.expect.items():
        if name == "values":
            got: Any = {key: parsed.values.get(key) for key in wanted}
            assert loose(got) == loose(wanted)
        else:
            # exactly in the form of the index, text as text
            assert parsed.extra[name] == wanted


@pytest.mark.parametrize("sample", samples(), ids=lambda s: s.file)
def test_recognised_as_its_kind(sample: Sample) -> None:
    assert best(sample.text).kind == sample.kind
    assert best(sample.text).recognize(sample.text) >= 60


@pytest.mark.parametrize(
    "sample", [s for s in samples() if s.kind.startswith("sysctl")], ids=lambda s: s.file
)
def test_types_come_from_the_table_of_native_keys(sample: Sample) -> None:
    for key, value in BY_KIND[sample.kind].parse(sample.text).values.items():
        form = form_of(key)
        if form is None:
            assert isinstance(value, str)
        elif form.shape == "int":
            assert type(value) is int
        elif form.shape == "ints":
            assert isinstance(value, list)
            assert all(type(part) is int for part in value)
            assert form.count in (None, len(value))
        elif form.shape == "word":
            assert isinstance(value, str)
            assert value
        else:
            assert isinstance(value, list)
            assert all(isinstance(part, str) for part in value)


# Lines that belong to no key, by hand: all others of the samples are understood.
LEFT_OVER = {
    "sysctl-conf__trailing-comment-qdisc__27.conf": ["net.core.default_qdisc = fq    # this is explanation"],
    "sysctl-shell__stanford-100g__17.txt": [
        "sysctl -w net.core.rmem_max = 268435456",
        "sysctl -w net.core.wmem_max = 268435456",
        "sysctl -w net.ipv4.tcp_rmem = 4096 87380 134217728",
        "sysctl -w net.ipv4.tcp_wmem = 4096 65536 134217728",
        "sysctl -w net.core.netdev_max_backlog = 250000",
        "sysctl -w net.ipv4.tcp_no_metrics_save = 1",
        "sysctl -w net.ipv4.tcp_mtu_probing = 1",
    ],
}


@pytest.mark.parametrize("sample", samples(), ids=lambda s: s.file)
def test_nothing_else_is_left_over(sample: Sample) -> None:
    parsed = BY_KIND[sample.kind].parse(sample.text)
    assert list(parsed.unrecognized) == LEFT_OVER.get(sample.file, [])


@pytest.mark.parametrize(
    "sample", [s for s in samples() if "keys_total" in s.about and s.kind == "sysctl"], ids=lambda s: s.file
)
def test_as_many_keys_as_the_text_has(sample: Sample) -> None:
    """No recorded text is damaged, so its lines ``key = value`` can be counted without a parser."""
    named = [line.partition(" =")[0] for line in sample.text.split("\n") if re.match(r"[a-z]\S* =", line)]
    # the index counts lines in some samples and keys in others: some values have several lines
    assert sample.about["keys_total"] in (len(named), len(set(named)))
    assert BY_KIND[sample.kind].parse(sample.text).values.keys() == set(named)


@pytest.mark.parametrize(
    "sample", [s for s in samples() if "absent_in_netns" in s.about], ids=lambda s: s.file
)
def test_keys_that_a_namespace_lacks_are_not_made_up(sample: Sample) -> None:
    assert not set(sample.about["absent_in_netns"]) & BY_KIND["sysctl"].parse(sample.text).values.keys()
