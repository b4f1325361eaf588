"""The sysctl(8) calls in an echoed command line: which names it read, which it set, and how.

``sudo sysctl -n kern.ipc.maxsockbuf net.inet.tcp.sendspace=65536 | cat``
"""

from __future__ import annotations

import re
import shlex

from hostcfg.lean import dataclass, regex

_WRAPPERS = frozenset(
    {"sudo", "doas", "su", "env", "time", "nice", "command", "exec", "do", "then", "-n", "-E", "-u"}
)
_FLAGS = regex(r"-[A-Za-z]+")
_DESCRIBES = frozenset("dtFlN")
_ASSIGNMENT = regex(r"([A-Za-z_][^\s=:]*)\s*[=:]\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Call:
    """One call: ``reads`` and ``sets`` in order, and the flags that change the output's form.

    ``values_only`` is ``-n``; ``describes`` one of ``-d -t -F -l -N``, whose output holds no values.
    """

    reads: tuple[str, ...] = ()
    sets: tuple[tuple[str, str], ...] = ()
    values_only: bool = False
    describes: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All names, reads and sets, when each prints one line."""
        return (*self.reads, *(name for name, _ in self.sets))


def parse_calls(command: str) -> tuple[Call, ...]:
    """Every sysctl call of one command line, in order; nothing for other commands."""
    if "sysctl" not in command or len(command) > 65536:
        return ()
    found = []
    for part in _split(command):
        words = _words(part)
        while words and (words[0] in _WRAPPERS or "=" in words[0]):
            words = words[1:]
        if words and words[0].rsplit("/", 1)[-1] == "sysctl":
            found.append(_call(words[1:]))
    return tuple(found)


def _split(command: str) -> list[str]:
    """Parts between ``;``, ``|``, ``&&`` that stand outside quotes."""
    parts, start, quote = [], 0, ""
    index = 0
    while index < len(command):
        char = command[index]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "\\":
            index += 1
        elif char in ";|&" and command[index - 1 : index] != ">":
            parts.append(command[start:index])
            start = index + 1
        index += 1
    parts.append(command[start:])
    return [part.strip() for part in parts if part.strip()]


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part, comments=True)
    except ValueError:  # an open quote: a line cut in the middle
        return part.split()


def _call(words: list[str]) -> Call:
    flags: set[str] = set()
    reads: list[str] = []
    sets: list[tuple[str, str]] = []
    rest = iter(words)
    for word in rest:
        assignment = _ASSIGNMENT.fullmatch(word)
        if _FLAGS.fullmatch(word):
            flags |= set(word[1:])
            if word[-1] in "fB":
                next(rest, None)  # a file or a size
        elif re.match(r"[0-9]*[<>]", word):
            continue  # a redirection
        elif assignment is None:
            reads.append(word)
        else:
            sets.append((assignment[1], assignment[2].strip()))
    return Call(tuple(reads), tuple(sets), "n" in flags, bool(flags & _DESCRIBES))
