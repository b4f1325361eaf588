"""The controller's side: hostcfg as a process, with an ssh_config that knows the emulated hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.program import Ran, hostcfg

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sshd import SshServer


class Client:
    """A home and a journal; ``know`` makes a server reachable under a name."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.ssh = home / ".ssh"
        self.ssh.mkdir(parents=True, mode=0o700)
        self.known = self.ssh / "known_hosts"
        self.known.touch()
        (self.ssh / "config").touch(mode=0o600)

    def know(self, name: str, server: SshServer, *, user: str = "root") -> str:
        """The name, for the command line."""
        self.known.write_text(self.known.read_text() + server.known_hosts())
        with (self.ssh / "config").open("a") as file:
            file.write(
                f"Host {name}\n  HostName {server.address}\n  Port {server.port}\n  User {user}\n"
                f"  IdentityFile {server.client_key}\n  IdentitiesOnly yes\n  IdentityAgent none\n"
            )
        return name

    def __call__(self, *arguments: str | Path, timeout_s: float = 120) -> Ran:
        """Run hostcfg."""
        state = str(self.home / "state")
        return hostcfg(*arguments, home=self.home, timeout_s=timeout_s, HOSTCFG_STATE=state)
