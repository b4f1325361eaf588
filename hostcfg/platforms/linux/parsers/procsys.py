"""Files below /proc/sys with their names: ``grep -H ''``, ``tail -n +1``, and what could not be read.

Samples::

    /proc/sys/net/ipv4/tcp_rmem:4096        131072  6291456
    grep: /proc/sys/net/core/bpf_jit_harden: Permission denied

    ==> /proc/sys/net/core/rmem_max <==
    212992
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.linux.conf import path_to_key
from hostcfg.platforms.linux.native import form_of, is_key, typed
from hostcfg.platforms.linux.parsers.problems import problem
from hostcfg.platforms.linux.parsers.sysctl import errors_of
from hostcfg.platforms.linux.parsers.text import BLANKS, clean, head, prompted, share

if TYPE_CHECKING:
    from hostcfg.model import Json
    from hostcfg.platforms.linux.parsers.problems import Problem

# No name has a colon: dev_valid_name() in net/core/dev.c refuses it for interfaces.
_NAMED = regex(r"/proc/sys/(?P<path>[^\s:]+):(?P<raw>.*)")
_HEADED = regex(r"==> /proc/sys/(?P<path>[^\s]+) <==")
_UNREAD = regex(r"Can.t read [a-z]+/")


def parse(text: str) -> Parsed:
    """The values of the files, typed as their keys; ``denied`` and ``unknown`` are lists of keys."""
    values: dict[str, Json] = {}
    problems: list[Problem] = []
    unrecognized: list[str] = []
    notes: list[str] = []
    headed = previous = ""
    for number, line in enumerate(clean(text).split("\n"), 1):
        stripped = line.strip(BLANKS)
        if not stripped or prompted(stripped) is not None:
            continue
        error = problem(stripped)
        header, named = _HEADED.fullmatch(stripped), _NAMED.fullmatch(stripped)
        if error is not None:
            problems.append(error)
        elif header is not None:
            headed = path_to_key(header["path"])
        elif named is None and not headed:
            unrecognized.append(stripped)
        else:
            key = headed if named is None else path_to_key(named["path"])
            fault = _store(values, key, stripped if named is None else named["raw"], again=key == previous)
            previous = key
            if fault is not None:
                unrecognized.append(stripped)
                notes.append(f"line {number}: {key}: {fault}")
    return Parsed(
        "linux", "proc-sys", "grep -H '' /proc/sys/...", values, notes, unrecognized, _extra(problems)
    )


def _store(values: dict[str, Json], key: str, raw: str, *, again: bool) -> str | None:
    """Puts the value in its place; why not, where it has not the form of its key.

    ``again``: the line before was of the same file, which has several lines then.
    """
    if not is_key(key):
        return "no key of /proc/sys"
    earlier = values.get(key)
    try:
        value = typed(key, raw)
    except ValueError as error:
        return str(error)
    if again and isinstance(earlier, list) and _has_lines(key):
        value = [*earlier, raw.strip(BLANKS)]
    elif again and isinstance(earlier, str) and form_of(key) is None:
        value = f"{earlier}\n{raw.strip(BLANKS)}"
    values[key] = value
    return None


def _has_lines(key: str) -> bool:
    form = form_of(key)
    return form is not None and form.shape == "lines"


def _extra(problems: list[Problem]) -> dict[str, Json]:
    extra: dict[str, Json] = {}
    for kind in ("denied", "unknown"):
        keys = dict.fromkeys(p.name for p in problems if p.kind == kind and p.name is not None)
        if keys:
            extra[kind] = list(keys)
    if problems:
        extra["errors"] = errors_of(problems)
    return extra


def parse_errors(text: str) -> Parsed:
    """The files that could not be read: ``errors`` with name and kind; there are no values."""
    problems: list[Problem] = []
    unrecognized: list[str] = []
    for line in clean(text).split("\n"):
        stripped = line.strip(BLANKS)
        error = problem(stripped)
        if error is not None:
            problems.append(error)
        elif stripped and prompted(stripped) is None:
            unrecognized.append(stripped)
    return Parsed("linux", "proc-read", "cat /proc/sys/...", {}, (), unrecognized, _extra(problems))


def recognize(text: str) -> int:
    """High for lines that begin with a path below /proc/sys and a colon."""
    lines = head(text)
    headers = sum(_HEADED.fullmatch(line) is not None for line in lines)
    if headers:
        return share(len(lines), lines, 93)
    named = sum(_NAMED.fullmatch(line) is not None for line in lines)
    errors = sum("/proc/sys/" in line and problem(line) is not None for line in lines) if named else 0
    return share(named + errors, lines, 97)


def recognize_errors(text: str) -> int:
    """High for lines that only say which file below /proc/sys could not be read, and sysctl did not print."""
    lines = head(text)
    found = 0
    for line in lines:
        error = problem(line)
        by_sysctl = line.startswith(("sysctl:", "error:", "* "))
        found += error is not None and error.name is not None and not by_sysctl
    return share(found, lines, 95)


PROC_SYS = Parser("proc-sys", "linux", "grep -H '' /proc/sys/...", recognize, parse)
PROC_READ = Parser("proc-read", "linux", "cat /proc/sys/...", recognize_errors, parse_errors)
