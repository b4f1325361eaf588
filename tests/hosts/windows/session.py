"""One session of the emulated host: what its default shell makes of a line.

The grammar of cmd.exe is kept as far as a line can go wrong by it: ``%name%`` is expanded before
anything else and stays where there is no such variable, ``^`` escapes outside quotes only,
``echo`` prints the blank before an ``&``, ``call`` expands once more, ``cmd /c "..."`` drops the
outer quotes.  A default shell of PowerShell takes ``$`` and backticks inside double quotes, and
refuses ``&`` outside of them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.hosts.windows import netsh, posh
from tests.hosts.windows.languages import text
from tests.hosts.windows.releases import SERVERS, VERSIONS, State, write_state

if TYPE_CHECKING:
    from pathlib import Path

NOT_FOUND = 9009
_OPERATOR = re.compile(r"\|\||&&|[&|]")
_REDIRECTION = re.compile(r"(?P<from>[12]?)>>?\s*(?P<to>&[12]|nul)", re.IGNORECASE)


@dataclass
class Session:
    """Shell, console and host; output is bytes in whatever code page was active when it was printed."""

    path: Path
    status: int = 0
    _out: list[bytes] = field(default_factory=list)
    _err: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state: State = json.loads(self.path.read_text(encoding="utf-8"))
        self.code_page: int = self.state["code_page"]

    # -- the console ------------------------------------------------------------------------------

    @property
    def language(self) -> str:
        """The language in which programs answer now."""
        if self.code_page == 437 and self.state["english_at_437"]:
            return "en"
        return str(self.state["language"])

    def say(self, words: str) -> str:
        """A message in the language of the moment."""
        return text(self.language, words)

    def encode(self, printed: str) -> bytes:
        codec = "utf-8" if self.code_page == 65001 else f"cp{self.code_page}"
        return printed.replace("\n", "\r\n").encode(codec, errors="replace")

    def stdout_bytes(self) -> bytes:
        return b"".join(self._out)

    def stderr_bytes(self) -> bytes:
        return b"".join(self._err)

    def greet(self) -> None:
        """What AutoRun or a profile prints before any command."""
        if self.state["banner"]:
            self._out.append(self.encode(self.state["banner"] + "\n"))

    def save(self) -> None:
        write_state(self.path, self.state)

    # -- shells -----------------------------------------------------------------------------------

    def execute(self, line: str) -> None:
        """Run ``line`` as the host's default shell."""
        if self.state["shell"] == "powershell":
            self._as_powershell(line)
        else:
            self._emit(self.cmd(line))

    def _as_powershell(self, line: str) -> None:
        parts = re.split(r'("[^"]*")', line)
        if any("&" in part or "%^" in part for part in parts[0::2]):
            self._err.append(self.encode("The ampersand (&) character is not allowed.\n"))
            self.status = 1
            return
        quoted = [re.sub(r"`.|\$[\w^$?]+", "", part) for part in parts[1::2]]
        rest = "".join(a + b for a, b in zip(parts[0::2], [*quoted, ""], strict=True))
        self._emit(self.cmd(rest))

    def _emit(self, printed: tuple[bytes, bytes]) -> None:
        self._out.append(printed[0])
        self._err.append(printed[1])

    def cmd(self, line: str) -> tuple[bytes, bytes]:
        """What cmd.exe prints for one line."""
        out, err = b"", b""
        piped: bytes | None = None
        skip = False
        for words, operator in _commands(self._expand(line)):
            if not skip:
                bare, moves = _redirections(words)
                produced = self._run(bare.strip(" \t"), bare, piped)
                produced = _moved(*produced, moves)
                piped = produced[0] if operator == "|" else None
                out += produced[0] if operator != "|" else b""
                err += produced[1]
            skip = (operator == "&&" and self.status != 0) or (operator == "||" and self.status == 0)
        return out, err

    def _expand(self, line: str) -> str:
        known = {"errorlevel": str(self.status)}
        return re.sub(r"%(\w+)%", lambda m: known.get(m[1].lower(), m[0]), line)

    def _run(self, command: str, raw: str, stdin: bytes | None) -> tuple[bytes, bytes]:
        name, _, rest = command.partition(" ")
        word = name.lower().removesuffix(".exe")
        if word in {"echo.", "echo("}:
            return b"\r\n", b""
        if word == "echo":  # prints what follows the first blank, blanks at the end included
            return self.encode(raw.lstrip()[5:] + "\n"), b""
        if word == "call":
            return self._run(_unescape(self._expand(rest)), _unescape(self._expand(rest)), stdin)
        if word == "cmd":
            return self.cmd(_after_switch(rest))
        if word == "findstr":
            kept = [line for line in (stdin or b"").splitlines(keepends=True) if rest.encode() in line]
            self.status = 0 if kept else 1
            return b"".join(kept), b""
        if word == "powershell" and self.state["powershell"]:
            printed, errors, self.status = posh.run(self, rest)
            return self.encode(printed), self.encode(errors)
        return self._program(word, name, rest)

    def _program(self, word: str, name: str, rest: str) -> tuple[bytes, bytes]:
        self.status = 0
        if word == "chcp":
            if rest.strip().isdigit():
                self.code_page = int(rest)
            return self.encode(self.say("chcp").format(self.code_page) + "\n"), b""
        if word == "ver":
            version = VERSIONS[self.state["release"]]
            return self.encode(f"\nMicrosoft Windows [{self.say('version')} {version}]\n"), b""
        if word == "whoami":
            rid = 12288 if self.state["elevated"] else 8192
            return self.encode(
                f"Mandatory Label\\Level  Label  S-1-16-{rid}\nBUILTIN\\Users  S-1-5-32-545\n"
            ), b""
        if word == "reg":
            kind = "ServerNT" if self.state["release"] in SERVERS else "WinNT"
            return self.encode(f"\nHKEY_LOCAL_MACHINE\\...\n    ProductType    REG_SZ    {kind}\n\n"), b""
        if word == "netsh":
            printed, self.status = netsh.run(self, rest)
            return self.encode(printed), b""
        self.status = NOT_FOUND
        return b"", self.encode(self.say("unknown").format(name) + "\n")


def _commands(line: str) -> list[tuple[str, str]]:
    """Commands and the operator after each; quotes and carets protect operators."""
    found: list[tuple[str, str]] = []
    current, quoted, at = "", False, 0
    while at < len(line):
        char = line[at]
        operator = None if quoted else _OPERATOR.match(line, at)
        if char == "^" and not quoted:
            current += "^" + line[at + 1 : at + 2]
            at += 2
        elif operator is not None and not current.rstrip().endswith(">"):
            found.append((current, operator[0]))
            current = ""
            at = operator.end()
        else:
            quoted ^= char == '"'
            current += char
            at += 1
    return [*found, (current, "")]


def _redirections(words: str) -> tuple[str, list[tuple[str, str]]]:
    """The command without its redirections (outside quotes), carets taken away, and where they lead."""
    moves: list[tuple[str, str]] = []
    parts = re.split(r'("[^"]*")', words)
    for at in range(0, len(parts), 2):
        kept = parts[at].replace("^>", "\0")
        moves += [(m["from"] or "1", m["to"].lower()) for m in _REDIRECTION.finditer(kept)]
        parts[at] = _unescape(_REDIRECTION.sub("", kept).replace("\0", "^>"))
    return "".join(parts), moves


def _moved(out: bytes, err: bytes, moves: list[tuple[str, str]]) -> tuple[bytes, bytes]:
    for source, target in moves:
        if (source, target) == ("1", "nul"):
            out = b""
        elif (source, target) == ("2", "nul"):
            err = b""
        elif (source, target) == ("2", "&1"):
            out, err = out + err, b""
        elif (source, target) == ("1", "&2"):
            out, err = b"", err + out
    return out, err


def _unescape(words: str) -> str:
    return re.sub(r"\^(.?)", r"\1", words)


def _after_switch(rest: str) -> str:
    """The command of ``/d /q /c COMMAND``: without the first and the last quote."""
    command = rest.partition("/c")[2].strip()
    if command.startswith('"') and command.endswith('"') and len(command) > 1:
        return command[1:-1]
    return command
