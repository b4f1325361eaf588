"""Keys, ssh and sshd configuration of the lab's two hosts."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MANAGEMENT = {"a": ("198.18.77.1", "198.18.77.2"), "b": ("198.18.77.5", "198.18.77.6")}
"""Side -> addresses of the management link (RFC 2544's range): the lab's end and the host's."""

WAN = {"a": "192.0.2.2", "b": "192.0.2.3"}
"""Side -> its address on the emulated path (RFC 5737)."""

_SSHD = """\
HostKey /run/lab/hostkey
AuthorizedKeysFile /run/lab/authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
UseDNS no
PrintMotd no
PidFile none
Subsystem sftp internal-sftp
"""
_CLIENT = """\
Host {side}
  HostName {address}
  HostKeyAlias {side}
  User root
  IdentityFile {ssh}/id
  IdentitiesOnly yes
  UserKnownHostsFile {ssh}/known_hosts
  StrictHostKeyChecking yes

"""


def write_keys(state: Path) -> None:
    """``home/.ssh`` with config, key and known_hosts, and each host's key and sshd_config."""
    ssh = state / "home" / ".ssh"
    ssh.mkdir(parents=True, mode=0o700)
    _keygen(ssh / "id", "lab")
    known, config = "", ""
    for side, (_, address) in MANAGEMENT.items():
        folder = state / side
        folder.mkdir()
        _keygen(folder / "hostkey", side)
        kind, key, *_rest = (folder / "hostkey.pub").read_text().split()
        known += f"{side},{address} {kind} {key}\n"
        config += _CLIENT.format(side=side, address=address, ssh=ssh)
        (folder / "authorized_keys").write_bytes((ssh / "id.pub").read_bytes())
        (folder / "sshd_config").write_text(_SSHD)
    (ssh / "known_hosts").write_text(known)
    (ssh / "config").write_text(config)


def _keygen(path: Path, comment: str) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
