"""Rates, times, sizes and ratios: text <-> numbers in bit/s, seconds, bytes and parts of one.

Conventions, the same everywhere in hostcfg:

- **Rate**: ``k M G T`` are powers of 1000 and ``Ki Mi Gi Ti`` powers of 1024.  ``b`` and ``bit`` are
  bits, a capital ``B`` and ``byte`` are bytes: ``1gbps`` and ``1Gb/s`` are a gigabit per second,
  ``10MB/s`` and ``10 MBytes/sec`` 80 Mbit/s.  (tc reads ``mbps`` as bytes; hostcfg does not.)  A prefix
  alone is bits: ``1G``.
- **Time**: ``ns us ms s min h``; a bare ``m`` could be either of two and is refused.
- **Size**: ``K M G T``, with or without ``B`` or ``iB``, in either case, are powers of 1024, as in
  ``iperf3 -w 8M``, in what iperf prints and in every buffer that a kernel has.  A bare number is
  bytes, as in ``sysctl``.
- **Ratio**: a percentage; a bare ``0.1`` could mean 10 % or 0.1 % and is refused, 0 can't.

This is a grammar of its own because quantiphy 2.23, tried for it, reads ``100mbit`` as 0.1 bit (milli),
``80`` as 80 of nothing, ``5 furlong`` as 5 femto-"urlong" and ``1e400`` as infinity, all in silence, and
costs 28 ms at start-up.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from hostcfg.errors import UnitError
from hostcfg.lean import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

RATE_FORMS = "100mbit, 100Mbit/s, 1G, 1gbps or 1235KiB/s (b is bits, B bytes)"
TIME_FORMS = "80ms, 0.08s or 500us"
SIZE_FORMS = "64K, 4MiB or 12582912"
RATIO_FORMS = "0.1% or 2%"

MAX_RATE_BPS = 1e15
"""1 Pbit/s: beyond any link; keeps every product with a time finite and exact enough."""
MAX_TIME_S = 1e9
MAX_SIZE_BYTES = 2**62
_LONGEST = 64  # no honest quantity is longer; bounds the work on hostile text

_NUMBER = r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?P<exponent>[eE][+-]?[0-9]+)?"
_SIGNED = regex(r"[+-]?\s*(?:[0-9.]|inf|nan)", re.IGNORECASE)
_RATE = regex(
    _NUMBER + r"\s*(?:(?P<prefix>[kKmMgGtT])(?P<binary>[iI])?)?"
    r"(?P<unit>(?:[bB][iI][tT][sS]?|[bB][yY][tT][eE][sS]?|b)(?:[pP][sS]|/s|/S|/sec)?|B(?:ps|/s|/sec))?"
)
_TIME = regex(_NUMBER + r"\s*(?P<unit>[a-zA-Zµμ]*)")
_SIZE = regex(
    r"(?:(?P<grouped>[1-9][0-9]{0,2}(?:,[0-9]{3})+)|" + _NUMBER + r")\s*"
    r"(?P<prefix>[kmgt]?)(?P<unit>(?:i?b|i?bytes?)?)",
    re.IGNORECASE,
)
_RATIO = regex(_NUMBER + r"\s*(?P<unit>%?)")

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SECONDS = {  # factor, power of ten
    **dict.fromkeys(("ns", "nsec"), (1, -9)),
    **dict.fromkeys(("us", "µs", "μs", "usec"), (1, -6)),
    **dict.fromkeys(("ms", "msec"), (1, -3)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), (1, 0)),
    **dict.fromkeys(("min", "minute", "minutes"), (60, 0)),
    **dict.fromkeys(("h", "hour", "hours"), (3600, 0)),
}


def parse_rate(text: str, *, name: str | None = None) -> float:
    """Bit/s, from 1 bit/s to 1 Pbit/s.  UnitError that shows the forms; ``name`` is what it names.

    >>> parse_rate("100mbit"), parse_rate("1G"), parse_rate("1235KiB/s")
    (100000000.0, 1000000000.0, 10117120.0)
    """
    match = _match(_RATE, text, "rate", RATE_FORMS, name)
    prefix, unit = (match["prefix"] or "").lower(), match["unit"] or ""
    if not unit and (not prefix or match["binary"]) and _number(match) != 0:
        raise _no_unit(text, "rate", RATE_FORMS, name)
    power = _POWERS[prefix]
    value = _number(match) * (1 << 10 * power) if match["binary"] else _number(match, 3 * power)
    value *= 8 if _is_bytes(unit) else 1
    return _within(value, 1, MAX_RATE_BPS, text, "rate", RATE_FORMS, name)


def parse_time(text: str, *, name: str | None = None) -> float:
    """Seconds, above zero.  UnitError that shows the forms; ``name`` is what it names.

    >>> parse_time("80ms"), parse_time("0.08s"), parse_time("80 ms")
    (0.08, 0.08, 0.08)
    """
    match = _match(_TIME, text, "time", TIME_FORMS, name)
    unit = match["unit"].lower()
    if unit not in _SECONDS:
        if not unit and _number(match) == 0:
            unit = "s"  # zero of anything; refused as such below
        elif not unit:
            raise _no_unit(text, "time", TIME_FORMS, name)
        else:
            raise UnitError(f"{_shown(text)} is no time; write {TIME_FORMS}", key=name)
    factor, power = _SECONDS[unit]
    return _within(_number(match, power) * factor, 1e-9, MAX_TIME_S, text, "time", TIME_FORMS, name)


def parse_size(text: str, *, name: str | None = None) -> int:
    """Whole bytes, above zero.  UnitError that shows the forms; ``name`` is what it names.

    >>> parse_size("64K"), parse_size("4MiB"), parse_size("12582912"), parse_size("187,500 bytes")
    (65536, 4194304, 12582912, 187500)
    """
    match = _match(_SIZE, text, "size", SIZE_FORMS, name)
    power = _POWERS[match["prefix"].lower()]
    grouped, unit = match["grouped"], match["unit"].lower()
    # "KiB" has its K; and 1,000 can't be mistaken for a decimal comma only where it counts bytes
    if (unit.startswith("i") and not power) or (grouped and (power or not unit)):
        raise UnitError(f"{_shown(text)} is no size; write {SIZE_FORMS}", key=name)
    value = float(grouped.replace(",", "")) if grouped else _number(match) * (1 << 10 * power)
    _within(value, 0.5, MAX_SIZE_BYTES, text, "size", SIZE_FORMS, name)
    if not power and value != int(value):
        raise UnitError(f"{_shown(text)} is no whole number of bytes; write {SIZE_FORMS}", key=name)
    digits = grouped.replace(",", "") if grouped else match["number"]
    if digits.isdecimal() and not match["exponent"]:
        return int(digits) << 10 * power  # without the 53 bits of a float in between
    return round(value)


def parse_ratio(text: str, *, name: str | None = None) -> float:
    """Part of one, 0 to 1, from a percentage.  UnitError that shows the forms; ``name`` is what it names.

    >>> parse_ratio("0.1%"), parse_ratio("0")
    (0.001, 0.0)
    """
    match = _match(_RATIO, text, "ratio", RATIO_FORMS, name)
    value = _number(match, -2)
    if not match["unit"] and value != 0:
        forms = f"{text.strip()[:20]}%" + (f" or {value * 1e4:g}%" if value < 0.01 else "")
        raise UnitError(f"{_shown(text)} could be a percentage or a part of one; write {forms}", key=name)
    if value > 1:
        raise UnitError(f"{_shown(text)} is more than 100%; write {RATIO_FORMS}", key=name)
    return value


def format_rate(rate_bps: float) -> str:
    """Three significant digits in the largest decimal unit: ``43.7 Mbit/s``.  ``parse_rate`` reads it."""
    return _scaled(
        rate_bps, (("bit/s", 1), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("Tbit/s", 1e12))
    )


def format_time(time_s: float) -> str:
    """Three significant digits: ``411 ms``, ``250 us``, ``1.5 s``.  ``parse_time`` reads it."""
    return _scaled(time_s, (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1)))


def format_size(size_bytes: float) -> str:
    """Exact: ``64 KiB`` where it is a whole number of them and that is short, else ``187,500 bytes``.

    A float is a computed size and is rounded to whole bytes.  ``parse_size`` reads it.
    """
    size = round(size_bytes)
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size != 0 and size % factor == 0 and size // factor < 10_000:
            return f"{size // factor} {unit}"
    return "1 byte" if size == 1 else f"{size:,} bytes"


def format_ratio(ratio: float) -> str:
    """A percentage with three significant digits: ``0.1%``.  ``parse_ratio`` reads it."""
    return f"{_digits(ratio * 100)}%"


def bounded(figure: str, *, floor: bool, bound: bool = False) -> str:
    """``figure`` with what it is: ``floor`` at least, ``bound`` at most; both: only about."""
    if bound:
        return f"{'about' if floor else 'at most'} {figure}"
    return f"{figure} or more" if floor else figure


def _match(pattern: re.Pattern[str], text: str, what: str, forms: str, name: str | None) -> re.Match[str]:
    stripped = text.strip()
    match = pattern.fullmatch(stripped) if len(stripped) <= _LONGEST else None
    if match is not None:
        return match
    signed = stripped[:1] in {"-", "+"} or stripped[:3].lower() in {"inf", "nan"}
    if signed and _SIGNED.match(stripped):
        raise UnitError(
            f"{_shown(text)}: a {what} is a number above zero, without a sign; write {forms}", key=name
        )
    raise UnitError(f"{_shown(text)} is no {what}; write {forms}", key=name)


def _number(match: re.Match[str], power_of_ten: int = 0) -> float:
    """The match's number x 10^power, rounded once; infinite where no float can hold it."""
    exponent = int((match["exponent"] or "e0")[1:]) + power_of_ten
    return float(f"{match['number']}e{exponent}")


def _is_bytes(unit: str) -> bool:
    return unit.lower().startswith("byte") or (unit[:1] == "B" and not unit.lower().startswith("bit"))


def _within(
    value: float, lowest: float, highest: float, text: str, what: str, forms: str, name: str | None
) -> float:
    if value == 0:
        raise UnitError(f"{_shown(text)}: a {what} must be above zero; write {forms}", key=name)
    if not lowest <= value <= highest:
        size = "small" if value < lowest else "large"
        raise UnitError(f"{_shown(text)} is too {size} for a {what}; write {forms}", key=name)
    return value


def _no_unit(text: str, what: str, forms: str, name: str | None) -> UnitError:
    return UnitError(f"{_shown(text)} has no unit, and a {what} needs one; write {forms}", key=name)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _scaled(value: float, units: Sequence[tuple[str, float]]) -> str:
    """``value`` in the largest unit in which it is at least 1 once rounded to three digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {units[0][0]}"
    rounded = float(f"{value:.3g}")
    fitting = [(unit, factor) for unit, factor in units if abs(rounded) >= factor * (1 - 1e-12)]
    unit, factor = fitting[-1] if fitting else units[0]
    return f"{_digits(rounded / factor)} {unit}"


def _digits(value: float) -> str:
    """Three significant digits, plain notation up to 10 digits."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:.0f}" if abs(rounded) >= 100 else f"{rounded:.3g}"
