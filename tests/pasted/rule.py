"""The rule for damaged texts: no value that the damage did not make, and none in another row's place."""

from __future__ import annotations

import re
from typing import Any

SUMMARIES = frozenset(
    {
        *(
            "n_assignments",
            "duplicates",
            "not_assigned",
            "complete",
            "format",
        ),  # over the lines that are left
        *("streams", "mean_rtt_us", "min_rtt_us", "max_cwnd_bytes", "max_peer_window_bytes"),
    }
)
"""What is counted over a text, and not read from a line of it."""
_NO_KIND = ("other", "unknown", "message")
"""Kinds of a message that lost the words that tell."""
_UNITS = (1, 1024, 1024**2, 1024**3, 125, 1e3, 1e6, 1e9)
_WORDS = re.compile(r"(?:[\w.+-]|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))+")
_MISREAD = re.compile("[0-9,][Ol]|[Ol][0-9]|,")
_INTERVALS = ("intervals", "stream_intervals")


def made_by(before: str, after: str) -> list[str]:
    """The lines that the damage made."""
    known = set(before.splitlines())
    return [line for line in re.split(r"\r*\n", after) if line not in known]


class Rule:
    """Compares what a damaged text says with what the whole one says."""

    def __init__(self, before: str, after: str) -> None:
        self.lines = after.splitlines()
        self.made = [_words_of(line) for line in made_by(before, after)]
        self.all_made = set().union(*self.made)

    def faults(self, expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
        """Wrong values; ``found`` are values by key, tables, and groups by name."""
        wrong = []
        for name, value in found.items():
            if name in SUMMARIES or value is None or value == expected.get(name):
                continue
            if name not in expected and "." in name and self._is_made(name):
                continue
            if isinstance(value, dict):
                wrong += self._group(name, expected.get(name), value)
            elif isinstance(value, (list, tuple)) and not all(type(item) is int for item in value):
                wrong += self._table(name, expected.get(name), value)
            elif not self._is_said(name, value):
                wrong.append(f"{name}: {value!r}, not {expected.get(name)!r}")
        return wrong

    def _group(self, name: str, expected: Any, found: dict[str, Any]) -> list[str]:
        """A mapping of names to values or rows, or one row under a fixed name."""
        known = expected if isinstance(expected, dict) else {}
        wrong = self.faults(known, found)
        return [] if wrong and self._row_is_said(found) else [f"{name}.{fault}" for fault in wrong]

    def _table(self, name: str, expected: Any, found: Any) -> list[str]:
        """Each row must be a part of one whole row."""
        rows = list(expected) if isinstance(expected, (list, tuple)) else []
        wrong = []
        for row in found:
            faults = min((self._row(whole, row) for whole in [*rows, None]), key=len)
            if faults and not self._row_is_said(row):
                wrong.append(f"{name}: {'; '.join(faults[:3])}")
        return wrong

    def _row(self, expected: Any, found: Any) -> list[str]:
        if not isinstance(found, dict):
            return [] if found == expected or self._is_made(found) else [repr(found)]
        known = expected if isinstance(expected, dict) else {}
        if "intervals" in known:
            rows = [*known["intervals"], *known["stream_intervals"]]
            known = {**known, "intervals": rows, "stream_intervals": rows}
        wrong = []
        for name, value in found.items():
            if name in SUMMARIES or value is None or value == known.get(name):
                continue
            if name in ("kind", "error_kind") and value in _NO_KIND:
                continue
            if name in _INTERVALS or (
                isinstance(value, list) and value and isinstance(value[0], (dict, str))
            ):
                wrong += self._table(name, known.get(name), value)
            elif isinstance(value, dict):
                wrong += [f"{name}.{fault}" for fault in self._row(known.get(name), value)]
            elif not self._is_made(value) and not (name == "seconds" and self._is_said(name, value)):
                wrong.append(f"{name}: {value!r}, not {known.get(name)!r}")
        return wrong

    def _is_said(self, name: str, value: Any) -> bool:
        """Whether the damage made it, or a line says name and value."""
        if self._is_made(value) or (name in ("kind", "error_kind") and value in _NO_KIND):
            return True
        word = name.lower()
        return any(word in line.lower() and stands(value, _words_of(line)) for line in self.lines)

    def _is_made(self, value: Any) -> bool:
        return stands(value, self.all_made)

    def _row_is_said(self, row: Any) -> bool:
        """Whether one line says all of the row."""
        return any(stands(row, _words_of(line)) for line in self.lines)


def _words_of(line: str) -> set[str]:
    """Words, their parts, and numbers with a unit; "5O02" is one word and not two numbers."""
    swapped = line.translate(str.maketrans("./", "/."))  # net/ipv4.x is net.ipv4/x to sysctl(8)
    words = set(_WORDS.findall(line)) | set(_WORDS.findall(line.replace("/", "."))) | set(swapped.split())
    if line.count(",") > 5:
        words |= set(line.split(","))
    parts = {part for word in words for part in re.split(r"[.\-+]", word)}
    numbers = {
        n for word in words if not _MISREAD.search(word) for n in re.findall(r"[0-9]+(?:\.[0-9]+)?", word)
    }
    return words | parts | numbers | {line, line.strip()} | {word.lower() for word in words}


def stands(value: Any, words: set[str]) -> bool:
    """Whether every word of ``value`` is one of ``words``, sizes and rates in any unit."""
    if isinstance(value, dict):
        return all(stands(item, words) for key, item in value.items() if key not in SUMMARIES)
    if isinstance(value, (list, tuple)):
        return all(stands(item, words) for item in value)
    if value is None or isinstance(value, bool):
        return True
    if str(value) in words:
        return True
    if isinstance(value, (int, float)):
        if isinstance(value, int) and f"0{value:o}" in words:
            return True  # as the kernel reads it
        forms = {f"{value / unit:{form}}" for unit in _UNITS for form in (".3g", ".0f", ".1f", ".2f", ".4f")}
        return not forms.isdisjoint(words)
    return all(
        word in words or ("." in word and any(known.endswith((f".{word}", f"-{word}")) for known in words))
        for word in _WORDS.findall(str(value))
    )
