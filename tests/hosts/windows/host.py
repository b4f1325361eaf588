"""The emulated Windows behind a real sshd, which hands each exec request to its default shell."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.hosts.windows import tasks
from tests.hosts.windows.releases import new_state, read_state, write_state
from tests.hosts.windows.session import Session
from tests.sshd import SshServer

if TYPE_CHECKING:
    from tests.hosts.windows.releases import State

ROOT = Path(__file__).parents[3]
_SETTINGS = ("global", "persistent", "template", "templates", "heuristics", "ports", "interfaces")


@dataclass
class WindowsHost:
    """A host in ``folder``; ``changes`` as for :func:`new_state`.  The port answers inside ``with``."""

    folder: Path
    release: str = "11-24H2"
    language: str = "en"
    changes: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / "state.json"
        write_state(self.path, new_state(self.release, self.language, **self.changes))
        python = f"{shlex.quote(sys.executable)} -m tests.hosts.windows --state {shlex.quote(str(self.path))}"
        command = f'cd {shlex.quote(str(ROOT))} && exec {python} --command "$SSH_ORIGINAL_COMMAND"'
        options = [f"ForceCommand {command}", "VersionAddendum OpenSSH_for_Windows_9.5"]
        self.server = SshServer(options=options)

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The tasks that wait end with the state."""
        self.server.close()
        self.path.unlink()

    @property
    def state(self) -> State:
        """The whole state, as it is now."""
        return read_state(self.path)

    def update(self, **changes: Any) -> None:
        """Something else changes the host."""
        write_state(self.path, self.state | changes)

    def set(self, table: str, name: str, value: str) -> None:
        """Somebody else's netsh."""
        state = self.state
        state[table][name] = value
        write_state(self.path, state)

    def settings(self) -> State:
        """All that a change may change, to be compared as a whole."""
        return {name: value for name, value in self.state.items() if name in _SETTINGS}

    @property
    def backups(self) -> Path:
        """Where the changes are on the host's disk."""
        return self.folder / "disk/ProgramData/hostcfg"

    def states(self) -> dict[str, str]:
        """Change -> its state, as the host's own disk has it."""
        found = sorted(self.backups.glob("*/s.*"))
        return {path.parent.name: path.name.removeprefix("s.") for path in found}

    def run(self, line: str) -> str:
        """What an administrator at the console sees."""
        session = Session(self.path)
        session.execute(line)
        return session.stdout_bytes().decode("cp437")

    def start_tasks(self) -> None:
        """The time of every task has come, or the host starts."""
        for name in list(self.state["tasks"]):
            if name in self.state["tasks"]:
                tasks.run_task(self.path, name)
