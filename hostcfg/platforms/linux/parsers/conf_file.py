"""sysctl.conf, sysctl.d files, fragments of them, and the scripts that people use in their place.

Sample::

    # 10 Gbit/s
    net.core.rmem_max = 67108864            # trailing comment: the kernel stops at the blank
    net/ipv4/tcp_rmem=4096 87380 33554432
    -net.ipv4.tcp_fack = 0
    net.ipv4.conf.*.rp_filter = 2

``values`` holds what the file sets where every key exists, the last assignment of a key.  Globs
name no key by themselves: they are in ``globs``, and the keys kept off them in ``excluded``.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.conf import Assignment, assignments
from hostcfg.platforms.linux.native import (
    BSD_NAMES,
    LINUX_NAMES,
    form_of,
    is_key,
    is_linux,
    typed,
    written,
)
from hostcfg.platforms.linux.parsers.problems import problem
from hostcfg.platforms.linux.parsers.script import is_shell, read_script
from hostcfg.platforms.linux.parsers.sysctl_lines import command_of, writes
from hostcfg.platforms.linux.parsers.text import BLANKS, HEAD_CHARS, clean, head, share
from hostcfg.platforms.linux.parsers.tuned import SECTION

if TYPE_CHECKING:
    import re

    from hostcfg.model import Json

_COMMENTED = regex(r"[#;][#;\s]*(?P<key>[a-z][\w-]*\.[^\s=]+)[ \t]*=")
_LINE = regex(r"-?(?P<key>[a-z][\w-]*[./][^\s=]+)(?P<gap>[ \t]*=[ \t]*)(?P<raw>.*)")
_SHOWN = regex(r"(?:(?:sudo|doas) )?(?:cat|more|less|head|tail) .{0,200}/sysctl\.(?:conf|d/)")
_EXCLUDED = regex(r"-[a-z][\w-]*[./][^\s=]+")
_TRAILING = regex(r"[ \t][#;]")
_ARRAY_START = regex(r"[A-Za-z_]\w{0,63}=\(")


@dataclass(slots=True)
class _Result:
    values: dict[str, Json] = field(default_factory=dict)
    globs: dict[str, Json] = field(default_factory=dict)
    excluded: list[Json] = field(default_factory=list)
    seen: dict[str, list[Json]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unrecognized: list[str] = field(default_factory=list)


def parse(text: str) -> Parsed:
    """What the file sets; ``duplicates`` lists the raw values of keys that it sets more than once."""
    cleaned = clean(text)
    script = read_script(cleaned)
    plain = "\n".join(
        "" if number in script.lines else line for number, line in enumerate(cleaned.split("\n"), 1)
    )
    conf = assignments(plain)
    result = _Result(notes=list(script.notes), unrecognized=list(script.unrecognized))
    from_shell = [Assignment(s.key, s.raw, s.line) for s in script.settings]
    for assignment in sorted([*from_shell, *conf.assignments], key=lambda a: a.line):
        _apply(result, assignment)
    result.unrecognized += [line for _, line in conf.not_understood]
    extra: dict[str, Json] = {
        "globs": result.globs,
        "excluded": result.excluded,
        "duplicates": {key: list(raws) for key, raws in result.seen.items() if len(raws) > 1},
    }
    extra = {name: value for name, value in extra.items() if value}
    return Parsed(
        "linux", "sysctl-conf", "sysctl.conf", result.values, result.notes, result.unrecognized, extra
    )


def _apply(result: _Result, a: Assignment) -> None:
    if a.exclude:
        result.excluded.append(a.key)
    elif a.glob:
        result.globs[a.key] = a.raw
    elif not is_key(a.key):
        result.unrecognized.append(f"{a.key} = {a.raw}")
    elif not a.raw:
        result.unrecognized.append(f"{a.key} =")
        result.notes.append(f"line {a.line}: {a.key}: an empty value changes nothing")
    else:
        result.seen.setdefault(a.key, []).append(a.raw)
        _set(result, a)


def _set(result: _Result, a: Assignment) -> None:
    try:
        result.values[a.key] = written(a.key, a.raw)
    except ValueError as error:
        result.unrecognized.append(f"{a.key} = {a.raw}")
        result.notes.append(f"line {a.line}: {a.key}: {error}; the kernel refuses it")
        form = form_of(a.key)
        if form is not None and form.shape == "ints" and result.values.pop(a.key, None) is not None:
            # The elements in front of the bad one are written all the same.
            result.notes.append(f"line {a.line}: {a.key}: part of it replaces an earlier value")


def recognize(text: str) -> int:
    """High for assignments to Linux's keys among comments, or without blanks, or in shell commands."""
    lines = head(text)
    face = _Face()
    for line in lines:
        face.look(line)
    if face.bsd >= face.linux:
        return 0
    if any(SECTION.fullmatch(line.strip(BLANKS)) for line in lines):
        return share(face.known, lines, 40)  # an INI file: tuned's
    # One odd line in a long text makes no file of it.
    is_file = face.marks * 50 >= len(lines) or "\n\n" in clean(text[:HEAD_CHARS]).strip()
    is_output = face.output > 0 or (face.like_output > 0 and not is_file)
    score = share(face.known, lines, 60 if is_output else 96 if is_file else 75)
    return max(score, 60) if face.shell else score


@dataclass(slots=True)
class _Face:
    known: int = 0
    linux: int = 0
    bsd: int = 0
    marks: int = 0  # what only a file has
    output: int = 0  # what only a command prints
    like_output: int = 0  # what commands print, and people seldom write
    shell: int = 0

    def look(self, line: str) -> None:
        stripped = line.strip(BLANKS)
        found = _LINE.fullmatch(stripped)
        if stripped.startswith(("#", ";")):
            self._comment(stripped)
        elif stripped.startswith(BSD_NAMES):
            self.bsd += 1
        elif (command := command_of(stripped)) is not None and not writes(command.split()):
            shown = _SHOWN.match(command) is not None
            self.known, self.marks = self.known + shown, self.marks + shown
            self.output += not shown  # a session in which something is read
        elif is_shell(stripped) or _ARRAY_START.match(stripped):
            dotted = stripped.replace("/", ".")  # sysctl takes net/ipv4/tcp_rmem too
            is_set = any(name in dotted for name in (*LINUX_NAMES, ".proc.sys.", " vm."))
            self.known, self.marks = self.known + 1, self.marks + 1
            self.linux, self.shell = self.linux + is_set, self.shell + is_set
            self.bsd += any(f" {name}" in stripped for name in BSD_NAMES)
        elif problem(stripped) is not None or stripped.startswith("* "):
            self.output += 1
        elif _EXCLUDED.fullmatch(stripped):
            self.known, self.marks = self.known + 1, self.marks + 1
        elif found is not None:
            self._assignment(line, found)

    def _comment(self, stripped: str) -> None:
        self.known += 1
        self.marks += 1
        commented = _COMMENTED.match(stripped)
        self.linux += commented is not None and commented["key"].startswith(LINUX_NAMES)

    def _assignment(self, line: str, found: re.Match[str]) -> None:
        key, raw = found["key"].replace("/", "."), found["raw"]
        if not is_key(key):
            return
        self.known += 1
        self.linux += is_linux(key)
        self.like_output += "\t" in raw.strip(BLANKS) or (not raw and found["gap"].endswith(" "))
        tight = found["gap"] != " = " or line.endswith((" ", "\t")) or line.startswith((" ", "\t", "-"))
        self.marks += bool(raw) and (tight or _TRAILING.search(raw) is not None or "*" in key)
        self.marks += _is_only_written(key, raw)


def _is_only_written(key: str, raw: str) -> bool:
    """Whether ``raw`` is what the kernel accepts and never prints: hex, octal."""
    try:
        written(key, raw)
    except ValueError:
        return False
    try:
        typed(key, raw)
    except ValueError:
        return True
    return False


SYSCTL_CONF = Parser("sysctl-conf", "linux", "sysctl.conf", recognize, parse, transcript=True)
