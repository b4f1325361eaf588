"""One session of the emulated host: what its default shell makes of a line.

cmd.exe is in ``cmd``.  A default shell of PowerShell takes ``$`` and backticks inside double quotes,
and refuses ``&`` outside of them.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from tests.hosts.windows.cmd import Shell, Sinks
from tests.hosts.windows.languages import text
from tests.hosts.windows.releases import State, read_state, write_state

if TYPE_CHECKING:
    from pathlib import Path

_HOME = r"C:\Users\admin"
_SYSTEM = r"C:\Windows\System32"


@dataclass
class Session:
    """Shell, console and host; output is bytes in whatever code page was active when it was printed."""

    path: Path
    status: int = 0
    _out: list[bytes] = field(default_factory=list)
    _err: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.state: State = read_state(self.path)
        self.disk = self.path.parent / "disk"
        for folder in (_HOME, _SYSTEM, r"C:\ProgramData"):
            self.disk.joinpath(*folder[3:].split("\\")).mkdir(parents=True, exist_ok=True)
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

    def load(self) -> None:
        """What others have written meanwhile; who we are stays."""
        elevated = self.state["elevated"]
        self.state = read_state(self.path)
        self.state["elevated"] = elevated

    def clock(self) -> float:
        """Seconds since 1970, or the time of day at which the host's clock stands still."""
        if self.state["clock"] is None:
            return time.time()
        stopped = datetime.strptime(self.state["clock"], "%H:%M:%S").time()
        return datetime.combine(datetime.now().date(), stopped).timestamp()

    def time(self) -> str:
        """``%time%``: a blank before an hour of one digit, hundredths after a comma as in many countries."""
        now = datetime.fromtimestamp(self.clock())
        return f"{now.hour:>2}:{now:%M:%S},00"

    def pause(self, seconds: float) -> None:
        """What ``ping -n`` waits."""
        threading.Event().wait(seconds)

    def save(self) -> None:
        write_state(self.path, self.state)

    # -- shells -----------------------------------------------------------------------------------

    def execute(self, line: str) -> None:
        """Run ``line`` as the host's default shell."""
        if self.state["shell"] == "powershell":
            self._as_powershell(line)
        else:
            self.cmd(line, _HOME)

    def as_system(self, line: str) -> None:
        """Run ``line`` as a scheduled task of the system."""
        self.cmd(line, _SYSTEM)

    def _as_powershell(self, line: str) -> None:
        parts = re.split(r'("[^"]*")', line)
        if any("&" in part or "%^" in part for part in parts[0::2]):
            self._err.append(self.encode("The ampersand (&) character is not allowed.\n"))
            self.status = 1
            return
        quoted = [re.sub(r"`.|\$[\w^$?]+", "", part) for part in parts[1::2]]
        rest = "".join(a + b for a, b in zip(parts[0::2], [*quoted, ""], strict=True))
        self.cmd(rest, _HOME)

    def cmd(self, line: str, where: str) -> None:
        """Run ``line`` in a new cmd.exe."""
        if len(line) > 8191:
            self._err.append(self.encode("The command line is too long.\n"))
            self.status = 1
            return
        environment = {"programdata": r"C:\ProgramData", "systemroot": r"C:\Windows"}
        shell = Shell(self, where, environment)
        self.status = shell.line(line, Sinks(self._out.append, self._err.append))
