"""The lines of ``sysctl``: which is a value, which an error, which a cut one, before any gets a type."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.platforms.linux.conf import key_to_path, path_to_key
from hostcfg.platforms.linux.native import is_key
from hostcfg.platforms.linux.parsers.problems import problem, spliced
from hostcfg.platforms.linux.parsers.text import BLANKS, clean, prompted

if TYPE_CHECKING:
    from hostcfg.platforms.linux.parsers.problems import Problem

ASSIGNED = regex(r"(?P<key>[a-z][\w-]*[./][^\s=]+)[ \t]*=[ \t]*(?P<raw>.*)")
APPLYING = regex(r"\* .{0,80}?(?P<file>/[^\s]+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``key = value`` that was read or echoed; ``raw`` without the blanks around it.

    ``was_read``: a prompt above it shows a command that only reads.
    """

    key: str
    raw: str
    line: int
    was_read: bool = False


@dataclass(slots=True)
class Scan:
    """A text of sysctl, line by line: what each line is, before any of it has a type."""

    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    refused: list[Entry] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)  # that prompts show
    notes: list[str] = field(default_factory=list)
    unrecognized: list[str] = field(default_factory=list)

    def named(self, *kinds: str) -> list[str]:
        """The keys of the problems of these kinds, each once, in the order of the text."""
        return list(dict.fromkeys(p.name for p in self.problems if p.kind in kinds and p.name is not None))


def scan(text: str) -> Scan:
    """Every line of ``text`` as an entry, a problem, a note, or unrecognized.  Never raises.

    An entry whose key an error line names is in ``refused``: its value is a request.
    """
    scanner = _Scanner()
    for number, line in enumerate(clean(text).split("\n"), 1):
        scanner.take(number, line)
    return scanner.done(ends_open=bool(text) and not text.endswith("\n"))


def command_of(stripped: str) -> str | None:
    """The command that a line shows, behind a prompt or alone."""
    if stripped.startswith(("sysctl ", "sudo sysctl ", "cat /proc/sys/")):
        return stripped
    return prompted(stripped)


def writes(words: list[str]) -> bool:
    """Whether a sysctl command of these words sets something."""
    return any("=" in word or word in ("-w", "-p", "--system", "--load") for word in words)


class _Scanner:
    def __init__(self) -> None:
        self.found = Scan()
        self.failed: set[str] = set()
        self.tail_expected = False
        self.reading = False
        self.expected: list[str] = []  # the keys of a "sysctl -n" or "cat" prompt
        self.bare: list[tuple[int, str]] = []

    def take(self, number: int, line: str) -> None:
        stripped = line.strip(BLANKS)
        if not stripped:
            # The end of a cut line may be nothing but its newline.
            self.tail_expected = False
            return
        error = problem(stripped)
        cut = None if error is not None else spliced(line)
        if error is not None:
            self._failed(error)
        elif cut is not None:
            self._cut(number, *cut)
        elif self.tail_expected:
            self.tail_expected = False
            self.found.unrecognized.append(stripped)
        else:
            self._plain(number, stripped)

    def _failed(self, error: Problem) -> None:
        self.found.problems.append(error)
        if error.name is not None:
            self.failed.add(error.name)

    def _cut(self, number: int, before: str, message: str) -> None:
        self.found.unrecognized.append(before.strip(BLANKS))
        self.found.notes.append(f"line {number} is cut by an error message; its value is not used")
        self.tail_expected = True
        error = problem(message)
        if error is not None:
            self._failed(error)
        else:
            self.found.unrecognized.append(message.strip(BLANKS))

    def _plain(self, number: int, stripped: str) -> None:
        command = command_of(stripped)
        assigned = ASSIGNED.fullmatch(stripped)
        applying = APPLYING.match(stripped)
        if command is not None:
            self._prompt(command)
        elif assigned is not None and is_key(key := path_to_key(key_to_path(assigned["key"]))):
            self._entry(Entry(key, assigned["raw"].strip(BLANKS), number, self.reading))
        elif applying is not None:
            self.found.files.append(applying["file"])
        elif self.expected:
            self.bare.append((number, stripped))
        else:
            self.found.unrecognized.append(stripped)

    def _entry(self, entry: Entry) -> None:
        if entry.key in self.failed:
            self.found.refused.append(entry)
        else:
            self.found.entries.append(entry)

    def _prompt(self, command: str) -> None:
        self._flush()
        self.found.commands.append(command)
        self.found.notes.append(f"command: {command}")
        words = command.split()
        self.reading = not writes(words)
        if self.reading:
            self.failed.clear()  # from here on it is read again
        names = [word for word in words if not word.startswith("-")]
        bare = any(word.startswith("-") and not word.startswith("--") and "n" in word for word in words)
        if "sysctl" in words and bare:
            self.expected = [key for n in names if is_key(key := path_to_key(key_to_path(n)))]
        elif "cat" in words:
            self.expected = [path_to_key(n.removeprefix("/proc/sys/")) for n in names if "/proc/sys/" in n]

    def _flush(self) -> None:
        """Values without names belong to the names of the prompt only if there are as many of them."""
        keys = [key for key in self.expected if key not in self.failed]
        if self.bare and len(keys) == len(self.bare):
            for key, (number, raw) in zip(keys, self.bare, strict=True):
                self._entry(Entry(key, raw, number, was_read=True))
        else:
            self.found.unrecognized += [raw for _, raw in self.bare]
        self.expected, self.bare = [], []

    def done(self, *, ends_open: bool) -> Scan:
        self._flush()
        found = self.found
        late = [entry for entry in found.entries if entry.key in self.failed]
        if late:  # standard output was printed first, or the key was set twice
            found.refused += late
            found.entries = [entry for entry in found.entries if entry.key not in self.failed]
        for entry in found.refused:
            found.notes.append(
                f"line {entry.line}: {entry.key} = {entry.raw[:60]} is what was asked for, not the state"
            )
        if ends_open and found.entries:
            found.notes.append("the text does not end with a newline: its last line may be cut")
        return found
