"""cmd.exe: its command lines and batch files, as far as hostcfg's scripts and probes go.

The phases are those of the real one: ``%name%`` first (in a batch file an unknown name is empty, on a
command line it stays), then operators, carets and redirections, then the variables of ``for`` and
``!name!`` as each command runs.  A block in parentheses is expanded as a whole before any of it runs.
"""

from __future__ import annotations

import ntpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.hosts.windows import builtins, programs
from tests.hosts.windows.syntax import (
    Block,
    For,
    If,
    Incomplete,
    Joined,
    Node,
    Redirection,
    parse,
    split_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.hosts.windows.session import Session

CODEC = "latin-1"  # every byte is a letter: what a file holds comes out as it went in


class Goto(Exception):
    """``goto LABEL``; ``eof`` ends the frame."""


class Exit(Exception):
    """``exit``: the whole cmd.exe ends."""


@dataclass
class Frame:
    """A batch file, or a subroutine of one."""

    lines: Sequence[str]
    path: str
    arguments: list[str]
    at: int = 0


@dataclass
class Sinks:
    """Where a command's output goes, and what it reads."""

    out: Callable[[bytes], object]
    err: Callable[[bytes], object]
    stdin: bytes = b""


@dataclass
class Shell:
    """One cmd.exe."""

    session: Session
    cwd: str
    env: dict[str, str]
    delayed: bool = False
    errorlevel: int = 0
    frames: list[Frame] = field(default_factory=list)
    loop: dict[str, str] = field(default_factory=dict)

    # -- running ----------------------------------------------------------------------------------

    def line(self, text: str, sinks: Sinks) -> int:
        """A command line; its exit status."""
        try:
            self.run(parse(self.percent(text)), sinks)
        except Exit:
            pass
        except Goto:
            pass
        return self.errorlevel

    def batch(self, path: str, arguments: list[str], sinks: Sinks) -> None:
        """``call FILE``: variables and directory come back with its end if it used setlocal."""
        data = self.disk(path).read_bytes().decode(CODEC)
        kept = dict(self.env), self.cwd, self.delayed
        self.frames.append(Frame(data.replace("\r", "").split("\n"), self.absolute(path), arguments))
        try:
            self._frame(sinks)
        finally:
            frame = self.frames.pop()
            if any("setlocal" in line for line in frame.lines[:8]):
                self.env, self.cwd, self.delayed = kept

    def subroutine(self, label: str, arguments: list[str], sinks: Sinks) -> None:
        """``call :LABEL``."""
        here = self.frames[-1]
        loop, self.loop = self.loop, {}
        self.frames.append(Frame(here.lines, here.path, arguments, self._find(label)))
        try:
            self._frame(sinks)
        finally:
            self.frames.pop()
            self.loop = loop

    def _find(self, label: str) -> int:
        wanted = f":{label.lower()}"
        for number, line in enumerate(self.frames[-1].lines):
            if line.strip().lower().split(" ")[0] == wanted:
                return number + 1
        raise AssertionError(f"The system cannot find the batch label specified - {label}")

    def _frame(self, sinks: Sinks) -> None:
        frame = self.frames[-1]
        while frame.at < len(frame.lines):
            try:
                node = self._next(frame)
                if node is not None:
                    self.run(node, sinks)
            except Goto as jump:
                if str(jump) == "eof":
                    return
                frame.at = self._find(str(jump))

    def _next(self, frame: Frame) -> Node | None:
        line = frame.lines[frame.at]
        frame.at += 1
        if not line.strip() or line.lstrip().startswith(":"):
            return None
        text = self.percent(line)
        while True:
            try:
                return parse(text)
            except Incomplete:
                text += "\n" + self.percent(frame.lines[frame.at])
                frame.at += 1

    def run(self, node: Node, sinks: Sinks) -> int:
        """0 or more: what && and || go by."""
        if isinstance(node, Joined):
            return self._joined(node, sinks)
        if isinstance(node, Block):
            return self._redirected(node.redirections, sinks, lambda s: self._all(node.nodes, s))
        if isinstance(node, If):
            chosen = node.then if builtins.holds(self, node) else node.otherwise
            return self.run(chosen, sinks) if chosen is not None else 0
        if isinstance(node, For):
            return builtins.run_for(self, node, sinks)
        text = self.variables(node.text)
        if not text.strip():
            return self._redirected(node.redirections, sinks, lambda _: 0)
        return self._redirected(node.redirections, sinks, lambda s: self.command(text, s))

    def _all(self, nodes: Sequence[Node], sinks: Sinks) -> int:
        result = 0
        for node in nodes:
            result = self.run(node, sinks)
        return result

    def _joined(self, node: Joined, sinks: Sinks) -> int:
        if node.operator == "|":
            collected: list[bytes] = []
            self.run(node.left, Sinks(collected.append, sinks.err, sinks.stdin))
            return self.run(node.right, Sinks(sinks.out, sinks.err, b"".join(collected)))
        result = self.run(node.left, sinks)
        if (node.operator == "&&") == (result == 0):
            return self.run(node.right, sinks)
        return result

    def _redirected(self, moves: Sequence[Redirection], sinks: Sinks, act: Callable[[Sinks], int]) -> int:
        now = Sinks(sinks.out, sinks.err, sinks.stdin)
        for move in moves:
            target = self.variables(move.target)
            if move.source == 0:
                path = self.disk(target)
                if not path.is_file():
                    return self.fail(sinks, "The system cannot find the file specified.")
                now.stdin = path.read_bytes()
                continue
            sink = self._sink(target, move.append, now)
            if sink is None:
                return self.fail(sinks, "Access is denied.")
            if move.source == 2:
                now.err = sink
            else:
                now.out = sink
        return act(now)

    def _sink(self, target: str, append: bool, now: Sinks) -> Callable[[bytes], object] | None:
        if target in {"&1", "&2"}:
            return now.out if target == "&1" else now.err
        if target.lower() == "nul":
            return lambda _: None
        path = self.disk(target)
        if not self.writable(target) or not path.parent.is_dir() or path.is_dir():
            return None
        if not append:
            path.write_bytes(b"")

        def write(data: bytes) -> None:
            with path.open("ab") as file:
                file.write(data)

        write(b"")
        return write

    def command(self, text: str, sinks: Sinks) -> int:
        """One command with its arguments; internal ones leave the error level alone unless they fail."""
        found = re.match(r"\s*@?(?P<name>echo(?=[.(])|[^\s,;=/.(]+(?:\.exe)?(?=$|[\s/,;=.])|\S+)", text)
        assert found is not None, text
        name, rest = found["name"].lower(), text[found.end() :]
        known = builtins.COMMANDS.get(name)
        if known is not None:
            return known(self, rest, sinks)
        words = split_words(text)
        if words[0].lower().endswith(".cmd") and self.disk(words[0]).is_file():
            self.batch(words[0], words[1:], sinks)
            raise Goto("eof")  # without call, nothing that follows is run
        program = programs.PROGRAMS.get(name.removesuffix(".exe"))
        if program is None:
            message = self.session.say("unknown").format(text.split(maxsplit=1)[0])
            self.errorlevel = programs.NOT_FOUND
            sinks.err(self.session.encode(message + "\n"))
            return self.errorlevel
        self.errorlevel = program(self, rest, sinks)
        return self.errorlevel

    def fail(self, sinks: Sinks, message: str) -> int:
        """An internal command that could not."""
        sinks.err(self.session.encode(message + "\n"))
        self.errorlevel = 1
        return 1

    # -- names ------------------------------------------------------------------------------------

    def get(self, name: str) -> str | None:
        """A variable, the ones that are made up at each look among them."""
        made = {"errorlevel": str(self.errorlevel), "cd": self.cwd, "time": self.session.time()}
        return self.env.get(name.lower(), made.get(name.lower()))

    def percent(self, text: str) -> str:
        """The first phase, of a batch line or a command line."""
        frame = self.frames[-1] if self.frames else None
        return percent(text, self.get, frame)

    def variables(self, text: str) -> str:
        """The last phase: the variables of ``for``, then ``!name!``."""

        def value(found: re.Match[str]) -> str:
            name = found["name"]
            if name not in self.loop:
                return found[0]
            raw = self.loop[name]
            return raw if found["how"] is None else self.described(raw, found["how"])

        text = re.sub(r"%(?:~(?P<how>[fdpnxsz]*))?(?P<name>[A-Za-z])", value, text) if self.loop else text
        if self.delayed:
            text = re.sub(r"!([^!:]+)(?::([^!]*))?!", lambda m: modified(self.get(m[1]) or "", m[2]), text)
        return text

    def described(self, raw: str, how: str) -> str:
        """``%~nxf`` and the like."""
        path = self.absolute(raw)
        if how == "nx":
            return ntpath.basename(path)
        if how == "z":
            disk = self.disk(raw)
            return str(disk.stat().st_size) if disk.is_file() else ""
        assert how in {"", "f", "s", "sf"}, how
        return path

    # -- files ------------------------------------------------------------------------------------

    def absolute(self, path: str) -> str:
        """``path`` with its drive, as seen from the current directory."""
        return ntpath.normpath(ntpath.join(self.cwd, path.strip().strip('"')))

    def disk(self, path: str) -> Path:
        """Where the emulation keeps it; what an ordinary user can't see is not there."""
        parts = self.absolute(path)[3:].split("\\")
        if parts[:2] == ["ProgramData", "hostcfg"] and not self.session.state["elevated"]:
            return self.session.disk / "denied" / "nothing"
        return self.session.disk.joinpath(*parts)

    def writable(self, path: str) -> bool:
        """Whether there is room and a right."""
        del path
        return not self.session.state["disk_full"]


def percent(text: str, get: Callable[[str], str | None], frame: Frame | None) -> str:
    """``%name%``, ``%1``, ``%*``, ``%~dp0`` and ``%%`` of ``text``."""
    done, at = "", 0
    while at < len(text):
        if text[at] != "%":
            done += text[at]
            at += 1
            continue
        if frame is not None and text.startswith("%%", at):
            done, at = done + "%", at + 2
            continue
        argument = re.compile(r"%(~dp0|\*|\d)").match(text, at) if frame is not None else None
        if argument is not None and frame is not None:
            done, at = done + _argument(frame, argument[1]), argument.end()
            continue
        named = re.compile(r"%([^%:\n]+)(?::([^%\n]*))?%").match(text, at)
        value = get(named[1]) if named is not None else None
        if named is not None and (value is not None or frame is not None):
            done, at = done + modified(value or "", named[2]), named.end()
        else:
            done, at = done + ("%" if frame is None else ""), at + 1
    return done


def _argument(frame: Frame, name: str) -> str:
    if name == "~dp0":
        return ntpath.dirname(frame.path) + "\\"
    if name == "*":
        return " ".join(frame.arguments)
    number = int(name)
    if number == 0:
        return frame.path
    return frame.arguments[number - 1] if number <= len(frame.arguments) else ""


def modified(value: str, how: str | None) -> str:
    """``:~1`` and ``:a=b``."""
    if how is None:
        return value
    if how.startswith("~"):
        return value[int(how[1:]) :]
    old, _, new = how.partition("=")
    return value.replace(old, new)
