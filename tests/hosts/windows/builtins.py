"""What cmd.exe does by itself: files, variables, loops, calls."""

from __future__ import annotations

import ntpath
import re
import shutil
from typing import TYPE_CHECKING

from tests.hosts.windows.syntax import For, If, parse, split_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.hosts.windows.cmd import Shell, Sinks

    Command = Callable[["Shell", str, "Sinks"], int]

_MISSING = "The system cannot find the file specified."


def holds(shell: Shell, node: If) -> bool:
    """Whether the condition is true."""
    words = [shell.variables(word) for word in node.words]
    negated, folded = "not" in words[:2], "/i" in words[:2]
    words = words[negated + folded :]
    if words[0] == "exist":
        result = shell.disk(words[1]).exists()
    elif words[0] == "defined":
        result = shell.get(words[1]) is not None
    elif words[0] == "errorlevel":
        result = shell.errorlevel >= int(words[1])
    else:
        a, operator, b = words
        result = _compare(*((a.lower(), b.lower()) if folded else (a, b)), operator)
    return result != negated


def _compare(a: str, b: str, operator: str) -> bool:
    if operator == "==":
        return a == b
    left, right = int(a), int(b)
    return {"gtr": left > right, "geq": left >= right, "lss": left < right, "equ": left == right}[operator]


# -- loops ------------------------------------------------------------------------------------------


def run_for(shell: Shell, node: For, sinks: Sinks) -> int:
    """``for``, ``for /l`` and ``for /f``."""
    items = shell.variables(node.items)
    result = 0
    rows = {"": _plain, "l": _counted, "f": _lines}[node.switch](shell, node, items, sinks)
    before = dict(shell.loop)
    for row in rows:
        names = (chr(ord(node.variable) + place) for place in range(len(row)))
        shell.loop = before | dict(zip(names, row, strict=True))
        result = shell.run(node.body, sinks)
    shell.loop = before
    return result


def _plain(shell: Shell, node: For, items: str, sinks: Sinks) -> Iterator[list[str]]:
    del node, sinks
    for word in split_words(items):
        if not re.search(r"[*?]", word):
            yield [word]
            continue
        folder, name = ntpath.split(word)
        where = shell.disk(folder or ".")
        for path in sorted(where.glob(name)) if where.is_dir() else ():
            if path.is_file():
                yield [ntpath.join(folder, path.name) if folder else path.name]


def _counted(shell: Shell, node: For, items: str, sinks: Sinks) -> Iterator[list[str]]:
    del shell, node, sinks
    start, step, end = (int(word) for word in items.split(","))
    yield from ([str(number)] for number in range(start, end + (1 if step > 0 else -1), step))


def _lines(shell: Shell, node: For, items: str, sinks: Sinks) -> Iterator[list[str]]:
    options = _Options(node.options)
    for line in _source(shell, items.strip(), sinks, backquoted=options.backquoted)[options.skip :]:
        if line and not line.startswith(";"):
            row = options.row(line)
            if row is not None:
                yield row


def _source(shell: Shell, items: str, sinks: Sinks, *, backquoted: bool) -> list[str]:
    if items.startswith("'") and items.endswith("'"):
        if backquoted:
            return [items[1:-1]]
        collected: list[bytes] = []
        kept = shell.frames, shell.loop
        shell.frames, shell.loop = [], {}
        shell.run(parse(items[1:-1]), type(sinks)(collected.append, sinks.err))
        shell.frames, shell.loop = kept
        return b"".join(collected).decode("latin-1").replace("\r", "").split("\n")
    path = shell.disk(items)
    return path.read_bytes().decode("latin-1").replace("\r", "").split("\n") if path.is_file() else []


class _Options:
    """``tokens=1-3* delims=: skip=5 usebackq``; ``delims`` is last, since it may hold a blank."""

    def __init__(self, text: str) -> None:
        rest, found, delimiters = text.partition("delims=")
        self.delimiters = delimiters if found else " \t"
        self.backquoted = "usebackq" in rest
        skip = re.search(r"skip=(\d+)", rest)
        self.skip = int(skip[1]) if skip else 0
        tokens = re.search(r"tokens=(\S+)", rest)
        self.star = bool(tokens) and str(tokens and tokens[1]).endswith("*")
        self.wanted: list[int] = []
        for part in (tokens[1].rstrip("*") if tokens else "1").split(","):
            first, _, last = part.partition("-")
            if first:
                self.wanted += range(int(first), int(last or first) + 1)

    def row(self, line: str) -> list[str] | None:
        """The tokens of a line; None where it has not even the first one."""
        if not self.delimiters:
            return [line]
        spans = [m.span() for m in re.finditer(f"[^{re.escape(self.delimiters)}]+", line)]
        if len(spans) < self.wanted[0]:
            return None
        row = [line[slice(*spans[n - 1])] if n <= len(spans) else "" for n in self.wanted]
        if self.star:
            last = self.wanted[-1]
            row.append(line[spans[last][0] :] if last < len(spans) else "")
        return row


# -- commands ---------------------------------------------------------------------------------------


def _echo(shell: Shell, rest: str, sinks: Sinks) -> int:
    if rest[:1] in {".", "("}:
        printed = rest[1:]
    elif rest.strip().lower() in {"on", "off"}:
        return 0
    elif not rest.strip():
        printed = "ECHO is on."
    else:
        printed = rest[1:]
    sinks.out(shell.session.encode(printed + "\n"))
    return 0


def _set(shell: Shell, rest: str, sinks: Sinks) -> int:
    text = rest.lstrip()
    if text.lower().startswith("/a"):
        return _arithmetic(shell, text[2:], sinks)
    if text.lower().startswith("/p"):
        name = text[2:].strip().partition("=")[0]
        line = sinks.stdin.split(b"\n")[0].decode("latin-1").rstrip("\r")
        if line:
            shell.env[name.lower()] = line
        return 0 if line else 1
    name, _, value = text.partition("=")
    if value:
        shell.env[name.lower()] = value
    else:
        shell.env.pop(name.lower(), None)
    return 0


def _arithmetic(shell: Shell, text: str, sinks: Sinks) -> int:
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\w+)\s*(\+|-)?=(.*)", part)
        assert found is not None, text
        words = re.findall(r"[A-Za-z_]\w*|\d+|[-+*/%()]", found[3])
        if any(re.fullmatch(r"0\d+", word) and re.search("[89]", word) for word in words):
            return shell.fail(sinks, "Invalid number.")
        numbers = [_number(shell, word) for word in words]
        value = eval("".join(numbers), {"__builtins__": {}})  # digits and operators only
        before = int(shell.env.get(found[1].lower(), "0"))
        changed = {"+": before + value, "-": before - value}.get(found[2] or "", value)
        shell.env[found[1].lower()] = str(int(changed))
    return 0


def _number(shell: Shell, word: str) -> str:
    if word[0].isalpha():
        return str(int(shell.env.get(word.lower(), "0")))
    return {"/": "//"}.get(word, str(int(word)) if word.isdigit() else word)


def _cd(shell: Shell, rest: str, sinks: Sinks) -> int:
    target = re.sub(r"^\s*/d\b", "", rest, flags=re.IGNORECASE).strip()
    if not shell.disk(target).is_dir():
        return shell.fail(sinks, "The system cannot find the path specified.")
    shell.cwd = shell.absolute(target)
    return 0


def _md(shell: Shell, rest: str, sinks: Sinks) -> int:
    path = shell.disk(rest)
    if path.exists():
        return shell.fail(sinks, f"A subdirectory or file {rest.strip()} already exists.")
    if not path.parent.parent.is_dir() or not shell.writable(rest):
        return shell.fail(sinks, "Access is denied.")
    path.mkdir(parents=True)
    return 0


def _rd(shell: Shell, rest: str, sinks: Sinks) -> int:
    words = split_words(rest)
    path = shell.disk(words[-1])
    if not path.is_dir():
        return shell.fail(sinks, _MISSING)
    if "/s" in words:
        shutil.rmtree(path)
        return 0
    try:
        path.rmdir()
    except OSError:
        return shell.fail(sinks, "The directory is not empty.")
    return 0


def _ren(shell: Shell, rest: str, sinks: Sinks) -> int:
    """Decided by the file system in one step, whoever else tries the same."""
    old, new = split_words(rest)
    source = shell.disk(old)
    target = source.parent / new
    if target.exists() or not source.exists():
        return shell.fail(sinks, "A duplicate file name exists, or the file cannot be found.")
    try:
        source.rename(target)
    except OSError:
        return shell.fail(sinks, _MISSING)
    return 0


def _del(shell: Shell, rest: str, sinks: Sinks) -> int:
    """The exit status says nothing, as with the real one."""
    for word in split_words(rest):
        path = shell.disk(word)
        if path.is_file():
            path.unlink()
        else:
            sinks.err(shell.session.encode(f"Could Not Find {shell.absolute(word)}\n"))
    return 0


def _type(shell: Shell, rest: str, sinks: Sinks) -> int:
    path = shell.disk(rest)
    if not path.is_file():
        return shell.fail(sinks, _MISSING)
    sinks.out(path.read_bytes())
    return 0


def _dir(shell: Shell, rest: str, sinks: Sinks) -> int:
    """``dir /b /ad /o-n FOLDER``: names of folders, last one first."""
    assert split_words(rest)[:3] == ["/b", "/ad", "/o-n"], rest
    names = sorted((p.name for p in _folders(shell.disk(split_words(rest)[3]))), reverse=True)
    sinks.out("".join(f"{name}\r\n" for name in names).encode())
    return 0


def _folders(path: Path) -> list[Path]:
    return [child for child in path.iterdir() if child.is_dir()]


def _call(shell: Shell, rest: str, sinks: Sinks) -> int:
    text = shell.percent(rest).strip()
    name, *arguments = split_words(text)
    if name.startswith(":"):
        shell.subroutine(name[1:], arguments, sinks)
        return shell.errorlevel
    if name.lower().endswith(".cmd"):
        if not shell.disk(name).is_file():
            return shell.fail(sinks, f"'{name}' is not recognized as an internal or external command,")
        shell.batch(name, arguments, sinks)
        return shell.errorlevel
    return shell.command(text, sinks)


def _goto(shell: Shell, rest: str, sinks: Sinks) -> int:
    from tests.hosts.windows.cmd import Goto

    del shell, sinks
    raise Goto(rest.strip().removeprefix(":").lower())


def _exit(shell: Shell, rest: str, sinks: Sinks) -> int:
    from tests.hosts.windows.cmd import Exit

    del shell, sinks
    assert not rest.strip(), "hostcfg's scripts end with goto :eof"
    raise Exit


def _setlocal(shell: Shell, rest: str, sinks: Sinks) -> int:
    del sinks
    shell.delayed = "enabledelayedexpansion" in rest.lower()
    return 0


def _rem(shell: Shell, rest: str, sinks: Sinks) -> int:
    del shell, rest, sinks
    return 0


COMMANDS: dict[str, Command] = {
    "echo": _echo,
    "set": _set,
    "cd": _cd,
    "md": _md,
    "rd": _rd,
    "ren": _ren,
    "del": _del,
    "type": _type,
    "dir": _dir,
    "call": _call,
    "goto": _goto,
    "exit": _exit,
    "setlocal": _setlocal,
    "rem": _rem,
}
