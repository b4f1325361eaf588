"""Text <-> numbers: the forms of the contract, worked out by hand, and properties."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.errors import UnitError
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
    from collections.abc import Callable

PARSERS: list[Callable[[str], float]] = [parse_rate, parse_time, parse_size, parse_ratio]


@pytest.mark.parametrize(
    ("text", "rate_bps"),
    [
        ("100mbit", 100e6),
        ("100Mbit/s", 100e6),
        ("100 MBIT", 100e6),
        ("1G", 1e9),
        ("1g", 1e9),
        ("1gbps", 1e9),
        ("1Gb/s", 1e9),
        ("1gbit", 1e9),
        ("20 Mbps", 20e6),
        ("20 Mbits/sec", 20e6),  # as iperf prints
        ("1.5Gbit", 1.5e9),
        ("56k", 56e3),
        ("1T", 1e12),
        ("300bps", 300.0),
        ("1235KiB/s", 10_117_120.0),  # 1235 x 1024 x 8
        ("10MB/s", 80e6),
        ("10KB/s", 80e3),
        ("3 MBytes/sec", 24e6),
        ("1MBps", 8e6),
        ("1Gibit", 1_073_741_824.0),
        ("  1G  ", 1e9),
        ("1e9bit/s", 1e9),
        ("12.3Mbit", 12_300_000.0),
        (".5G", 5e8),
    ],
)
def test_rates(text: str, rate_bps: float) -> None:
    assert parse_rate(text) == rate_bps


@pytest.mark.parametrize(
    ("text", "time_s"),
    [
        ("80ms", 0.08),
        ("0.08s", 0.08),
        ("411ms", 0.411),
        ("80 ms", 0.08),
        ("80MS", 0.08),
        ("100us", 1e-4),
        ("100µs", 1e-4),
        ("0.25ms", 0.00025),
        ("500ns", 5e-7),
        ("2 sec", 2.0),
        ("5min", 300.0),
        ("1h", 3600.0),
        ("1e-3s", 0.001),
    ],
)
def test_times(text: str, time_s: float) -> None:
    assert parse_time(text) == time_s


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("64K", 65_536),
        ("64k", 65_536),
        ("64KB", 65_536),
        ("512 KByte", 524_288),  # as iperf prints
        ("4MiB", 4_194_304),
        ("8MB", 8_388_608),
        ("8M", 8_388_608),
        ("1.5M", 1_572_864),
        ("1G", 1_073_741_824),
        ("190k", 194_560),
        ("12582912", 12_582_912),
        ("12582912 bytes", 12_582_912),
        ("187,500 bytes", 187_500),
        ("1 byte", 1),
        ("1e3", 1000),
        ("9007199254740993", 9_007_199_254_740_993),  # 2^53 + 1: no float in between
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    size = parse_size(text)
    assert size == size_bytes
    assert isinstance(size, int)


@pytest.mark.parametrize(
    ("text", "ratio"),
    [("0.1%", 0.001), ("2 %", 0.02), ("100%", 1.0), ("0", 0.0), ("0%", 0.0), ("0.001%", 1e-5)],
)
def test_ratios(text: str, ratio: float) -> None:
    assert parse_ratio(text) == ratio


@pytest.mark.parametrize(
    ("parse", "text", "says"),
    [
        (parse_rate, "100", "has no unit, and a rate needs one; write 100mbit"),
        (parse_rate, "1Gi", "has no unit"),
        (parse_rate, "0mbit", "must be above zero"),
        (parse_rate, "0", "must be above zero"),
        (parse_time, "0", "must be above zero"),
        (parse_rate, "-5mbit", "above zero, without a sign"),
        (parse_rate, "nan", "above zero, without a sign"),
        (parse_rate, "inf", "above zero, without a sign"),
        (parse_rate, "-inf bit", "above zero, without a sign"),
        (parse_rate, "1e400bit", "too large"),
        (parse_rate, "1e99999999999999999999bit", "too large"),
        (parse_rate, "0.001bit", "too small"),
        (parse_rate, "10MB", "B bytes"),  # a size
        (parse_rate, "100MBPS", "no rate"),  # bits shouted, or bytes?
        (parse_rate, "1,000Mbit", "no rate"),
        (parse_rate, "5 furlong", "no rate"),
        (parse_rate, "", "no rate"),
        (parse_rate, "١٠٠mbit", "no rate"),
        (parse_time, "80", "'80' has no unit, and a time needs one; write 80ms, 0.08s or 500us"),
        (parse_time, "-80ms", "without a sign"),
        (parse_time, "0ms", "above zero"),
        (parse_time, "5m", "no time"),  # minutes or milliseconds
        (parse_time, "1e400s", "too large"),
        (parse_time, "0.1ns", "too small"),
        (parse_size, "0", "above zero"),
        (parse_size, "-64K", "without a sign"),
        (parse_size, "1.5", "no whole number of bytes"),
        (parse_size, "1,500", "no size"),  # 1.5 in half of Europe
        (parse_size, "1,000K", "no size"),
        (parse_size, "8EB", "no size"),
        (parse_size, "12iB", "no size"),
        (parse_size, "1e400", "too large"),
        (parse_size, "99999999999999999999", "too large"),
        (parse_ratio, "0.1", "could be a percentage or a part of one; write 0.1% or 10%"),
        (parse_ratio, "1", "could be a percentage or a part of one; write 1%"),
        (parse_ratio, "2e1", "write 2e1%"),
        (parse_ratio, "101%", "more than 100%"),
        (parse_ratio, "-1%", "without a sign"),
        (parse_ratio, "nan", "without a sign"),
    ],
)
def test_what_is_refused_shows_the_forms(parse: Callable[[str], float], text: str, says: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse(text)
    message = str(caught.value)
    assert says in message
    assert "write" in message or "more than" in message
    assert "\n" not in message


def test_an_error_names_the_option() -> None:
    with pytest.raises(UnitError) as caught:
        parse_time("80", name="--rtt")
    assert str(caught.value).startswith("--rtt: '80' has no unit")


@pytest.mark.parametrize("parse", PARSERS)
def test_ten_megabytes_of_digits_are_refused_in_one_short_line(parse: Callable[[str], float]) -> None:
    with pytest.raises(UnitError) as caught:
        parse("1" * 10_000_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("rate_bps", "text"),
    [
        (1e9, "1 Gbit/s"),
        (43_690_666.7, "43.7 Mbit/s"),  # field case 2: 64 KiB / 12 ms
        (2.68e6, "2.68 Mbit/s"),
        (999_600.0, "1 Mbit/s"),  # rounds up into the next unit
        (999_400.0, "999 kbit/s"),
        (0.5, "0.5 bit/s"),
        (1e15, "1000 Tbit/s"),
        (0.0, "0 bit/s"),
    ],
)
def test_rates_out(rate_bps: float, text: str) -> None:
    assert format_rate(rate_bps) == text


@pytest.mark.parametrize(
    ("time_s", "text"),
    [
        (0.08, "80 ms"),
        (0.516, "516 ms"),
        (0.00025, "250 us"),
        (1.5, "1.5 s"),
        (0.9996, "1 s"),
        (60.0, "60 s"),
    ],
)
def test_times_out(time_s: float, text: str) -> None:
    assert format_time(time_s) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (65_536, "64 KiB"),
        (212_992, "208 KiB"),
        (12_582_912, "12 MiB"),
        (1_073_741_824, "1 GiB"),
        (187_500, "187,500 bytes"),
        (30_000_000_000, "30,000,000,000 bytes"),  # also 29296875 KiB, which nobody can read
        (1_290_000.0, "1,290,000 bytes"),
        (0, "0 bytes"),
        (1, "1 byte"),
    ],
)
def test_sizes_out(size_bytes: float, text: str) -> None:
    assert format_size(size_bytes) == text


@given(st.floats(min_value=1, max_value=1e15))
def test_a_printed_rate_reads_back_within_half_a_percent(rate_bps: float) -> None:
    text = format_rate(rate_bps)
    assert math.isclose(parse_rate(text), rate_bps, rel_tol=0.005)
    assert format_rate(parse_rate(text)) == text


@given(st.floats(min_value=1e-9, max_value=1e6))
def test_a_printed_time_reads_back_within_half_a_percent(time_s: float) -> None:
    text = format_time(time_s)
    assert math.isclose(parse_time(text), time_s, rel_tol=0.005)
    assert format_time(parse_time(text)) == text


@given(st.integers(min_value=1, max_value=2**62))
def test_a_printed_size_reads_back_exactly(size_bytes: int) -> None:
    assert parse_size(format_size(size_bytes)) == size_bytes


@given(st.floats(min_value=1e-6, max_value=1))
def test_a_printed_ratio_reads_back_within_half_a_percent(ratio: float) -> None:
    assert math.isclose(parse_ratio(format_ratio(ratio)), ratio, rel_tol=0.005)


@given(st.integers(min_value=1, max_value=10**6), st.sampled_from(["mbit", "Mbit/s", " Mbps", "Mb/s", "M"]))
def test_every_form_of_a_megabit_is_the_same(number: int, unit: str) -> None:
    assert parse_rate(f"{number}{unit}") == number * 1e6


@given(st.sampled_from(PARSERS), st.text(max_size=80))
def test_any_text_is_a_number_in_range_or_a_unit_error(parse: Callable[[str], float], text: str) -> None:
    value = outcome(parse, text)
    if isinstance(value, UnitError):
        assert "\n" not in str(value)
    else:
        assert math.isfinite(value)
        assert value > 0 or (value == 0 and parse is parse_ratio)


def outcome(parse: Callable[[str], float], text: str) -> float | UnitError:
    """The number, or the error that a user would see; any other exception fails the test."""
    try:
        return parse(text)
    except UnitError as error:
        return error
