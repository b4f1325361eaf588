"""Every recorded output parses to what a reader sees in it."""

from __future__ import annotations

import pytest

from tests.freebsd.samples import NOT_PRINTED, Sample, as_text, differences, document, samples

_SYSTEMS = {"netbsd rump": "netbsd", "macos or freebsd": "freebsd"}
"""Where the index says less, or more, than a parser can."""


@pytest.mark.parametrize("sample", samples(), ids=str)
def test_sample_parses_to_its_expected_values(sample: Sample) -> None:
    found = document(sample.text)
    assert found is not None
    expected = {key: value for key, value in sample.expect.items() if key not in NOT_PRINTED}
    assert differences(as_text(expected), found) == []


@pytest.mark.parametrize("sample", samples(), ids=str)
def test_sample_is_recognised_as_what_it_is(sample: Sample) -> None:
    found = document(sample.text)
    assert found is not None
    assert found["os"] == _SYSTEMS.get(sample.os, sample.os)


@pytest.mark.parametrize("sample", [s for s in samples() if "absent" in s.expect], ids=str)
def test_what_the_text_does_not_hold_is_absent(sample: Sample) -> None:
    found = document(sample.text)
    assert found is not None
    assert [key for key in sample.expect["absent"] if key in found["values"]] == []
