"""sysctl(8) as it behaves on 7, 9, 10 and 14; which one is ``about: sysctl``.

7 and 9 end at the first name that they don't know, the others go on and exit with the number of
failures; on 7 a refused write only warns and the status is 0.  7 and 9 know no ``:``, no ``-f`` and
trim nothing from a name.  A refused write prints the old value all the same.
"""

from __future__ import annotations

import errno
import os
import sys

from tests.hosts.freebsd.programs.kernel import BITS, NODE, OPAQUE, STRING, Kernel
from tests.hosts.freebsd.programs.words import SPACE, number_of, without_comment

_USAGE = {
    "7": ("[-bdehNnoqx] name[=value] ...", "[-bdehNnoqx] -a"),
    "9": ("[-bdehiNnoqx] name[=value] ...", "[-bdehNnoqx] -a"),
    "10": ("[-bdehiNnoqTWx] [-f filename] name[=value] ...", "[-bdehNnoqTWx] -a"),
    "14": (
        "[-bdeFhilNnoqTtWx] [ -B <bufsize> ] [-f filename] name[=value] ...",
        "[-bdeFhlNnoqTtWx] [ -B <bufsize> ] -a",
    ),
}
_FLAGS = {
    "7": "AabdehNnoqwxX",
    "9": "AabdehiNnoqwxX",
    "10": "AabdefhiNnoqTwWxX",
    "14": "AabBdefFhilNnoqtTwWxX",
}
_FORMATS = {
    "integer": "I",
    "unsigned integer": "IU",
    STRING: "A",
    OPAQUE: "S",
    NODE: "N",
    "unsigned long": "LU",
}
_SENTENCES = {
    errno.EPERM: "Operation not permitted",
    errno.EINVAL: "Invalid argument",
    errno.ESRCH: "No such process",
    errno.ENOENT: "No such file or directory",
}


class _EndedError(Exception):
    """The program ends with a status."""


class Sysctl:
    """One call."""

    def __init__(self, kernel: Kernel, style: str) -> None:
        self.kernel = kernel
        self.style = style
        self.old = style in ("7", "9")
        self.flags: set[str] = set()
        self.file: str | None = None

    # -- output -------------------------------------------------------------------------------------

    def out(self, text: str) -> None:
        """Unbuffered, so that both streams keep their order when they are merged."""
        _write(1, text)

    def warn(self, text: str) -> None:
        """``sysctl: text`` on standard error."""
        _write(2, f"sysctl: {text}\n")

    def fail(self, text: str, quiet: bool = False) -> int:
        """One failure: the old ones end here, the others count it."""
        if not quiet:
            self.warn(text)
        if self.old:
            raise _EndedError(1)
        return 1

    def usage(self) -> None:
        """The two lines, and the end."""
        first, second = _USAGE[self.style]
        _write(2, f"usage: sysctl {first}\n       sysctl {second}\n")
        raise _EndedError(1)

    # -- the call -----------------------------------------------------------------------------------

    def run(self, arguments: list[str]) -> int:
        """The exit status, before the shell cuts it to eight bits."""
        names = self.options(arguments)
        if {"N", "n"} <= self.flags:
            self.usage()
        if not names and "a" in self.flags:
            self.show_below("")
            return 0
        if not names and self.file is None:
            self.usage()
        failures = self.parse_file(self.file) if self.file is not None else 0
        for name in names:
            failures += self.parse(name, "")
        return failures

    def options(self, arguments: list[str]) -> list[str]:
        """getopt(3): what follows the options."""
        rest = list(arguments)
        while rest and rest[0].startswith("-") and rest[0] != "-":
            word = rest.pop(0)[1:]
            if word == "-":
                break
            while word:
                flag, word = word[0], word[1:]
                if flag not in _FLAGS[self.style]:
                    self.warn(f"illegal option -- {flag}")
                    self.usage()
                if flag in "fB":
                    value = word or (rest.pop(0) if rest else "")
                    self.file = value if flag == "f" else self.file
                    break
                self.flags.add(flag)
        return rest

    def parse_file(self, path: str) -> int:
        """``-f``: line by line, whatever fails."""
        try:
            descriptor = 0 if path == "/dev/stdin" else os.open(path, os.O_RDONLY)
        except OSError:
            self.warn(f"{path}: No such file or directory")
            raise _EndedError(66) from None
        failures = 0
        try:
            with os.fdopen(descriptor, encoding="utf-8") as file:
                lines = file.read().split("\n")
        except IsADirectoryError:
            return 0
        for number, line in enumerate(lines, 1):
            text = without_comment(line).strip(SPACE)
            if text:
                failures += self.parse(text, f" at line {number}")
        return failures

    def parse(self, string: str, line: str) -> int:
        """One name or assignment: 1 for a failure."""
        name, value = self.split(string)
        if value is not None and self.flags & {"T", "W"}:
            self.warn("Can't set variables when using -T or -W")
            self.usage()
        name = name.removesuffix(".") if not self.old else name
        found = self.kernel.tree.get(name)
        if found is None and self.is_node(name):
            found = (NODE, "", "")
        if found is None:
            if "i" in self.flags:
                return 0
            return self.fail(f"unknown oid '{name}'{line}", "q" in self.flags)
        if value is None or "d" in self.flags:
            self.show_all_of(name, found)
            return 0
        return self.assign(name, found, value, string, line)

    def split(self, string: str) -> tuple[str, str | None]:
        """Name and value; None: nothing is to be set."""
        ends = [string.index(mark) for mark in ("=" if self.old else "=:") if mark in string]
        if not ends:
            return (string if self.old else string.rstrip(SPACE)), None
        name, value = string[: min(ends)], string[min(ends) + 1 :].lstrip(SPACE)
        if self.old:
            return name, value
        if value[:1] in ("'", '"'):
            quote, value = value[0], value[1:]
            value = value.removesuffix(quote)
        return name.rstrip(SPACE), value

    # -- set ----------------------------------------------------------------------------------------

    def assign(self, name: str, found: tuple[str, str, str], raw: str, string: str, line: str) -> int:
        """``name: old -> new``, or the old value and a complaint."""
        kind, flags, _ = found
        if kind == NODE:
            return self.fail(f"oid '{name}' isn't a leaf node{line}")
        if "W" not in flags:
            if "T" in flags:
                self.warn(f"oid '{name}' is a read only tunable{line}")
                return self.fail("Tunable values are set in /boot/loader.conf")
            return self.fail(f"oid '{name}' is read only{line}")
        if kind in BITS and not raw:
            return self.fail("empty numeric value")
        if kind not in BITS and kind != STRING:
            return self.fail(f"oid '{name}' is type 5, cannot set that{line}")
        value: int | str | None = raw
        if kind != STRING:
            words = (
                [raw]
                if self.old or self.style == "10"
                else [w for w in raw.replace(",", " ").split(" ") if w]
            )
            numbers = [(word, number_of(word, kind)) for word in words]
            bad = next((word for word, number in numbers if number is None), None)
            if bad is not None:
                return self.fail(f"invalid {kind} '{bad}'{line}")
            value = numbers[0][1] if numbers else 0
        self.show(name, found, end="")
        refused = self.kernel.set(name, value if value is not None else 0)
        if refused:
            self.out("\n")
            shown = name if self.style == "7" else string
            self.warn(f"{shown}{line}: {_SENTENCES[refused]}")
            return 0 if self.style == "7" else 1
        if "b" not in self.flags:
            self.out(" -> ")
        self.show(name, found, bare=True)
        return 0

    # -- show ---------------------------------------------------------------------------------------

    def is_node(self, name: str) -> bool:
        """Whether something is below."""
        return any(other.startswith(f"{name}.") for other in self.kernel.tree) if name else False

    def show_all_of(self, name: str, found: tuple[str, str, str]) -> None:
        """A value, or everything below a node."""
        if found[0] != NODE:
            self.show(name, found)
            return
        if "d" in self.flags and name in self.kernel.tree:
            self.show(name, found)
        self.show_below(f"{name}.")

    def show_below(self, prefix: str) -> None:
        """Every name that begins with ``prefix``; what is not listed (S) comes with -N, -d and -t alone."""
        whole = bool(self.flags & {"N", "d", "t"})
        for name, found in self.kernel.tree.items():
            node, hidden = found[0] == NODE, "S" in found[1] and not whole
            shown = whole and "N" not in self.flags if node else not hidden
            if shown and name.startswith(prefix):
                self.show(name, found)

    def show(self, name: str, found: tuple[str, str, str], *, end: str = "\n", bare: bool = False) -> None:
        """One line; nothing for a value that can't be shown."""
        kind, flags, description = found
        if ("W" in self.flags and "W" not in flags) or ("T" in self.flags and "T" not in flags):
            return
        if "N" in self.flags:
            self.out(f"{name}{end}")
            return
        head = "" if "n" in self.flags or bare else f"{name}{'=' if 'e' in self.flags else ': '}"
        about = self._about(kind, description)
        if about is not None:
            self.out(f"{head}{about}{end}")
            return
        raw = self.kernel.get(name)
        if raw is None:
            return
        if "b" in self.flags and kind in BITS:
            _write_bytes(1, (int(raw) & (2 ** BITS[kind] - 1)).to_bytes(BITS[kind] // 8, "little"))
        elif "x" in self.flags and kind in BITS:
            value = int(raw) & (2 ** BITS[kind] - 1)
            self.out(f"{head}0x{value:0{BITS[kind] // 4}x}{end}")
        elif "l" in self.flags:
            size = BITS[kind] // 8 if kind in BITS else len(raw) + 1
            self.out(f"{head}{size}: {raw}{end}" if not bare else f"{raw}{end}")
        else:
            self.out(f"{head}{raw}{end}")

    def _about(self, kind: str, description: str) -> str | None:
        """What ``-t``, ``-F`` and ``-d`` say, one after the other."""
        parts = []
        if "t" in self.flags:
            parts.append(kind)
        if "F" in self.flags:
            parts.append(_FORMATS.get(kind, "I"))
        if "d" in self.flags:
            parts.append(description)
        return ": ".join(parts) if parts else None


def _write(descriptor: int, text: str) -> None:
    _write_bytes(descriptor, text.encode("utf-8", "surrogateescape"))


def _write_bytes(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def main(arguments: list[str], state: str, jail: str | None) -> int:
    """``sysctl ARGUMENTS``."""
    write = any(mark in word for word in arguments for mark in "=:") or any(
        word.startswith("-") and "f" in word for word in arguments
    )
    with Kernel(state, write=write, jail=jail) as kernel:
        call = Sysctl(kernel, kernel.about["sysctl"])
        try:
            return call.run(arguments) & 0xFF
        except _EndedError as ended:
            return int(str(ended))
        except BrokenPipeError:
            sys.stderr.close()
            return 141
