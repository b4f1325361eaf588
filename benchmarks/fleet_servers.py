"""Real OpenSSH servers for benchmarks: one sshd on many loopback addresses, and a HOME that reaches them.

Debian and Ubuntu: openssh-server, openssh-client.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.platforms.base import ProbeRequest
from hostcfg.platforms.framing import new_nonce
from hostcfg.reader import posix_script
from hostcfg.transports.base import Command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin")
KNOWN_HOSTS_LINES = 4000
_MOST_LISTENING = 16  # MAX_LISTEN_SOCKS of OpenSSH's sshd.c


@dataclass(frozen=True)
class Farm:
    """``home`` is a HOME whose ~/.ssh reaches every one of ``names``; ``port`` the same for all."""

    home: Path
    names: Sequence[str]
    port: int
    host_key: str

    @property
    def key(self) -> Path:
        """The private key that every server lets in."""
        return self.home / ".ssh/id_ed25519"

    @property
    def known_hosts(self) -> Path:
        """Every server's key, among many others."""
        return self.home / ".ssh/known_hosts"

    def script(self) -> Path:
        """What hostcfg runs on each host, as a file for the others."""
        path = self.home / "script.sh"
        path.write_bytes(Command.sh(posix_script(ProbeRequest(new_nonce()))).stdin)
        return path

    def inventory(self, count: int) -> Path:
        """A plain list of the first ``count`` servers."""
        path = self.home / f"hosts-{count}.txt"
        path.write_text("".join(f"{name}:{self.port}\n" for name in self.names[:count]))
        return path

    def yaml_inventory(self, count: int) -> Path:
        """The same servers in hostcfg's own form."""
        path = self.home / f"hosts-{count}.yaml"
        rows = (
            f"  web{n:03}: {{address: {name}, port: {self.port}, user: root, rate: 1gbit}}\n"
            for n, name in enumerate(self.names[:count])
        )
        path.write_text("hosts:\n" + "".join(rows))
        return path

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every client: this HOME, no agent, and Python keeps what it has compiled."""
        left_out = ("SSH_", "ANSIBLE_", "HOSTCFG_", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        return {
            **kept,
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "PYTHONPYCACHEPREFIX": str(self.home / "pycache"),
        }


def make_home(directory: Path, names: Sequence[str], port: int) -> Farm:
    """Keys, known_hosts and ssh_config; StrictHostKeyChecking stays on."""
    ssh = directory / ".ssh"
    ssh.mkdir(mode=0o700, parents=True)
    for name in ("id_ed25519", "host_ed25519"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "benchmark", "-f", str(ssh / name)],
            check=True,
        )
    host_key = " ".join((ssh / "host_ed25519.pub").read_text().split()[:2])
    (ssh / "config").write_text(
        f"Host *\n  User root\n  Port {port}\n  IdentityFile {ssh}/id_ed25519\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {ssh}/known_hosts\n"
    )
    lines = [f"{name if port == 22 else f'[{name}]:{port}'} {host_key}\n" for name in names]
    lines += [_other_host(number) for number in range(KNOWN_HOSTS_LINES - len(lines))]
    (ssh / "known_hosts").write_text("".join(lines))
    return Farm(directory, names, port, host_key)


def _other_host(number: int) -> str:
    blob = b"\0\0\0\x0bssh-ed25519\0\0\0 " + os.urandom(32)
    return f"other{number}.example.org ssh-ed25519 {base64.b64encode(blob).decode()}\n"


@contextmanager
def farm(directory: Path, count: int, port: int = 2200) -> Iterator[Farm]:
    """``count`` servers on 127.0.1.1 and so on; an sshd listens on up to sixteen addresses."""
    names = [f"127.0.{1 + number // 250}.{1 + number % 250}" for number in range(count)]
    made = make_home(directory / "home", names, port)
    with ExitStack() as running:
        for start in range(0, count, _MOST_LISTENING):
            addresses = [f"{name}:{port}" for name in names[start : start + _MOST_LISTENING]]
            running.enter_context(serve(made, addresses))
        yield made


@contextmanager
def serve(made: Farm, listen: Sequence[str], prefix: Sequence[str] = ()) -> Iterator[None]:
    """One sshd that listens on ``listen``; ``prefix`` starts it elsewhere (``ip netns exec NAME``)."""
    assert SSHD is not None, "install openssh-server"
    ssh = made.home / ".ssh"
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    authorized = ssh / "authorized_keys"
    authorized.write_text((ssh / "id_ed25519.pub").read_text())
    remote_home = made.home / "remote"
    remote_home.mkdir(exist_ok=True)
    tag = listen[0].replace(":", "-")
    config = ssh / f"sshd_config-{tag}"
    lines = [
        *(f"ListenAddress {address}" for address in listen),
        f"HostKey {ssh}/host_ed25519",
        f"AuthorizedKeysFile {authorized}",
        "PidFile none",
        "PermitRootLogin yes",
        "StrictModes no",
        "UsePAM no",
        "UseDNS no",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "MaxStartups 2000",
        "MaxSessions 100",
        "LogLevel INFO",
        f"SetEnv HOME={remote_home}",  # or bash reads the .bashrc of whoever measures
        "Subsystem sftp internal-sftp",
    ]
    config.write_text("\n".join(lines) + "\n")
    log = made.home / f"sshd-{tag}.log"
    command = [*prefix, SSHD, "-D", "-f", str(config), "-E", str(log)]
    if setpriv := shutil.which("setpriv"):  # it ends even if the benchmark is killed
        command = [setpriv, "--pdeathsig", "TERM", *command]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        _wait_for(log, len(listen), process)
        yield
    finally:
        process.terminate()
        process.wait()


def _wait_for(log: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        if log.exists() and log.read_text().count("Server listening") >= count:
            return
        time.sleep(0.05)
    raise RuntimeError(f"sshd does not start: {log.read_text() if log.exists() else 'no log'}")
