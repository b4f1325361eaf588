"""One emulated Windows host and one controller with a journal, over SSH or directly."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.apply import ChangeOptions, apply_host, confirm_change
from hostcfg.audit import audit_host
from hostcfg.errors import HostError
from hostcfg.journal import Journal
from hostcfg.model import Link
from hostcfg.plan import Wanted, make_plan, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.profiles import find_profile
from hostcfg.reader import probe
from hostcfg.rollback import rollback_change, rollback_unfinished
from hostcfg.targets import HostSpec
from hostcfg.transports.base import CommandResult, Transport
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.ssh import SshTransport
from hostcfg.transports.ssh_context import SshContext
from tests.hosts.windows.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.apply import Planner
    from hostcfg.changes import HostChange
    from hostcfg.hostrun import OnEvent
    from hostcfg.model import Facts, Plan
    from hostcfg.transports.base import Command
    from tests.hosts.windows.host import WindowsHost

PLATFORM = get_platform("windows")
LINK = Link(1e9, 0.08)


def read(transport: Transport, host: str) -> Facts:
    """As the command line reads."""
    return probe(transport, HostSpec(name=host, kind="ssh", address=host))


def outcomes(change: HostChange) -> dict[str, str | None]:
    """Key -> outcome."""
    return {step.key: step.outcome for step in change.steps}


class Over(Transport):
    """Counts the commands of ``inner``, cuts it, or refuses to open it, as the lab says."""

    def __init__(self, lab: Lab, inner: Transport) -> None:
        super().__init__("pc")
        self.lab = lab
        self.inner = inner

    @property
    def banner(self) -> str | None:
        return self.inner.banner

    def open(self) -> None:
        if self.lab.refuse:
            raise HostError("unreachable", "connection reset", host=self.host)
        self.lab.connections += 1
        self.inner.open()

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        self.lab.lines.append(command.line)
        cut, when = self.lab.cut_at
        if cut == len(self.lab.lines) and when == "before":
            raise HostError("command", "the connection broke", host=self.host)
        result = self.inner.run(command, timeout_s=timeout_s)
        if cut == len(self.lab.lines):
            raise HostError("command", "the connection broke", host=self.host)
        return result

    def close(self) -> None:
        self.inner.close()


class Direct(Transport):
    """What sshd would start, without one."""

    banner = "SSH-2.0-OpenSSH_for_Windows_9.5"

    def __init__(self, host: WindowsHost) -> None:
        super().__init__("pc")
        self.emulated = host

    def open(self) -> None:
        self.connections_made += 1

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        del timeout_s
        assert not command.stdin
        session = Session(self.emulated.path)
        session.greet()
        session.execute(command.line)
        return CommandResult(session.stdout_bytes(), session.stderr_bytes(), session.status)

    def close(self) -> None:
        pass


@dataclass
class Lab:
    """Short ways to apply and to take back."""

    state: Path
    reach: Callable[[], Transport]
    lines: list[str] = field(default_factory=list)
    connections: int = 0
    refuse: bool = False
    cut_at: tuple[int, str] = (0, "")
    _others: list[Lab] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.journal = Journal.open(self.state)

    def connect(self, name: str) -> Transport:
        del name
        return Over(self, self.reach())

    def another(self, state: Path) -> Lab:
        """A controller with a journal of its own."""
        self._others.append(Lab(state, self.reach))
        return self._others[-1]

    def close(self) -> None:
        self.journal.close()
        for other in self._others:
            other.close()

    def apply_plan(
        self,
        planner: Planner,
        *,
        revert_in_s: int = 60,
        hold: bool = False,
        force: bool = False,
        hear: OnEvent = lambda _: None,
    ) -> tuple[str, HostChange]:
        draft = self.journal.draft("apply")
        self.lines.clear()
        result = apply_host(
            "pc",
            draft=draft,
            journal=self.journal,
            connect=self.connect,
            read=read,
            planner=planner,
            options=ChangeOptions(revert_in_s=revert_in_s, hold=hold, force=force),
            on_event=hear,
        )
        return draft.id, result

    def apply(
        self,
        wanted: Mapping[str, str],
        *,
        revert_in_s: int = 60,
        hold: bool = False,
        force: bool = False,
        hear: OnEvent = lambda _: None,
    ) -> tuple[str, HostChange]:
        """These native keys, those that hold already left out."""

        def plan(facts: Facts) -> Plan:
            rows = [Wanted(k, raw) for k, raw in wanted.items() if force or facts.native[k].raw != raw]
            return plan_writes(facts, PLATFORM, rows, force=force)

        return self.apply_plan(plan, revert_in_s=revert_in_s, hold=hold, force=force, hear=hear)

    def apply_profile(self, name: str) -> tuple[str, HostChange]:
        """A profile of hostcfg's own, as ``hostcfg apply`` plans it."""
        profile = find_profile(name)

        def plan(facts: Facts) -> Plan:
            audit = audit_host(facts, profile, LINK, {})
            return make_plan(facts, audit.differences, PLATFORM, also=audit.holding)

        return self.apply_plan(plan)

    def back(self, change_id: str, *, force: bool = False) -> HostChange:
        done = rollback_change(
            change_id,
            journal=self.journal,
            connect=self.connect,
            read=read,
            options=ChangeOptions(60, force=force),
        )
        return done.hosts[0]

    def settle(self) -> Sequence[HostChange]:
        found = rollback_unfinished(
            journal=self.journal, connect=self.connect, read=read, options=ChangeOptions(60)
        )
        return [host for one in found for host in one.hosts]

    def confirm(self, change_id: str) -> HostChange:
        return confirm_change(change_id, journal=self.journal, connect=self.connect)[0]


def over_ssh(server: str, config: Path) -> Callable[[], Transport]:
    """New connections to ``server``."""
    return lambda: SshTransport(parse_destination(server), SshContext(config_files=[config], timeout_s=60))


def ssh_config(host: WindowsHost) -> Path:
    """ssh_config(5) of someone who knows the key of ``host``."""
    folder = host.server.directory
    known, path = folder / "known_hosts", folder / "config"
    known.write_text(host.server.known_hosts())
    key = host.server.client_key
    path.write_text(f"UserKnownHostsFile {known}\nIdentityFile {key}\nIdentitiesOnly yes\n")
    return path


class Mortal:
    """Ends the process at an event."""

    def __init__(self, kill_at: int) -> None:
        self._left = kill_at

    def __call__(self, event: str) -> None:
        sys.stdout.write(f"{event}\n")
        sys.stdout.flush()
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


KILL_WANTED = {"global.autotuninglevel": "restricted", "global.timestamps": "enabled"}


def main() -> None:
    """``SERVER CONFIG STATE KILL_AT REVERT_IN``: an apply that kills itself at an event, 0 for never."""
    server, client, state, kill_at, revert_in_s = sys.argv[1:]
    lab = Lab(Path(state), over_ssh(server, Path(client)))
    lab.apply(KILL_WANTED, revert_in_s=int(revert_in_s), hear=Mortal(int(kill_at)))


if __name__ == "__main__":
    main()
