"""What happens to outputs on their way: each takes a text and a source of chance, and damages it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    Damage = Callable[[str, random.Random], str]

_TRIES = 20
_LOOK_ALIKE = str.maketrans("01", "Ol")


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _some(text: str, rng: random.Random, share: float, change: Callable[[str], str]) -> str:
    """``change`` done to a ``share`` of the lines."""
    return "".join(change(line) if rng.random() < share else line for line in _lines(text))


def cut_head(text: str, rng: random.Random) -> str:
    return text[rng.randrange(len(text)) :]


def cut_tail(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


def cut_out(text: str, rng: random.Random) -> str:
    """A hole of some lines, as of a screen that scrolled."""
    lines = _lines(text)
    start = rng.randrange(len(lines))
    return "".join([*lines[:start], *lines[start + rng.randint(1, 8) :]])


def drop_lines(text: str, rng: random.Random) -> str:
    return _some(text, rng, rng.choice([0.03, 0.1, 0.3]), lambda _: "")


def repeat_lines(text: str, rng: random.Random) -> str:
    return _some(text, rng, 0.1, lambda line: line * 2)


def double_all_lines(text: str, rng: random.Random) -> str:
    return _some(text, rng, 1.1, lambda line: line * 2)


def _shape(line: str) -> list[str]:
    return ["0" if re.search("[0-9]", word) else word for word in line.split()]


def swap_lines(text: str, rng: random.Random) -> str:
    """Two lines of different shapes: of two that differ in numbers only nobody can tell which was first."""
    lines = _lines(text)
    for _ in range(_TRIES):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        if _shape(lines[a]) != _shape(lines[b]):
            lines[a], lines[b] = lines[b], lines[a]
            break
    return "".join(lines)


def swap_columns(text: str, rng: random.Random) -> str:
    """Two words of some lines change places."""

    def change(line: str) -> str:
        words = re.split(r"(\s+)", line)
        places = [i for i, word in enumerate(words) if word.strip()]
        if len(places) > 1:
            a, b = rng.sample(places, 2)
            words[a], words[b] = words[b], words[a]
        return "".join(words)

    return _some(text, rng, 0.2, change)


def carriage_returns(text: str, rng: random.Random) -> str:
    del rng
    return text.replace("\n", "\r\n")


def tabs_as_blanks(text: str, rng: random.Random) -> str:
    return text.replace("\t", " " * rng.choice([1, 4, 8]))


def blanks_as_tabs(text: str, rng: random.Random) -> str:
    width = rng.choice([2, 4, 8])
    return text.replace(" " * width, "\t")


def no_break_spaces(text: str, rng: random.Random) -> str:
    return _some(text, rng, rng.choice([0.3, 1.1]), lambda line: line.replace(" ", "\u00a0"))


def quote_some_lines(text: str, rng: random.Random) -> str:
    return _some(text, rng, rng.choice([0.2, 0.7]), lambda line: f"> {line}")


def wrap_lines(text: str, rng: random.Random) -> str:
    """A mail program's line breaks: at the last blank before the margin."""
    width = rng.choice([60, 72, 76, 80])

    def wrap(line: str) -> str:
        rest, done = line, []
        while len(rest) > width and (at := rest.rfind(" ", 1, width)) > 0:
            done.append(rest[:at])
            rest = rest[at + 1 :]
        return "\n".join([*done, rest])

    return _some(text, rng, 1.1, wrap)


def page(text: str, rng: random.Random) -> str:
    """A pager's prompts, on lines of their own or at the head of one."""
    mark = rng.choice(
        ["--More--\n", "--More--", "--More-- \r", ":\n", "(END)\n", "-- More --\n", "lines 1-23\n"]
    )
    return "".join(mark + line if at % 10 == 9 else line for at, line in enumerate(_lines(text)))


def flip_bits(text: str, rng: random.Random) -> str:
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 6)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data.decode(errors="replace")


def join_lines(text: str, rng: random.Random) -> str:
    """A flipped bit in a line's end: two lines become one."""
    lines = _lines(text)
    at = rng.randrange(len(lines))
    lines[at] = lines[at].rstrip("\n") + rng.choice(["*", "J", " ", "\x0e", ""])
    return "".join(lines)


def read_by_eye(text: str, rng: random.Random) -> str:
    """O for 0 and l for 1, as character recognition of a picture does."""
    return _some(text, rng, 0.3, lambda line: line.translate(_LOOK_ALIKE))


def group_digits(text: str, rng: random.Random) -> str:
    """Thousands set apart, as a spreadsheet does."""
    mark = rng.choice([",", ".", "'", "\u202f", " "])
    return re.sub(r"(?<![\w.])[0-9]{4,}(?![\w.])", lambda m: f"{int(m[0]):,}".replace(",", mark), text)


DAMAGES: tuple[Damage, ...] = (
    *(cut_head, cut_tail, cut_out, drop_lines, repeat_lines, double_all_lines, swap_lines, swap_columns),
    *(carriage_returns, tabs_as_blanks, blanks_as_tabs, no_break_spaces, quote_some_lines, wrap_lines, page),
    *(flip_bits, join_lines, read_by_eye, group_digits),
)
HARMLESS: tuple[Damage, ...] = (carriage_returns, tabs_as_blanks)
"""After these nothing may be missing."""
