"""``path --all``: a hub has one connection for all its paths, and one that is dead is asked once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.e2e.program import Ran, hostcfg
from tests.sshd import SshServer
from tests.transports import bad_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPOKES = 12


@pytest.fixture
def server() -> Iterator[SshServer]:
    with SshServer(options=["MaxStartups 2"]) as running:
        yield running


def star(folder: Path, address: str, port: int, *, key: Path | None, known: str, user: str) -> Path:
    """A hub and spokes that were mailed."""
    ssh = folder / ".ssh"
    ssh.mkdir(mode=0o700)
    named = f"IdentityFile {key}\n" if key is not None else ""
    (ssh / "config").write_text(f"Host *\nIdentityAgent none\nIdentitiesOnly yes\n{named}")
    (ssh / "known_hosts").write_text(known)
    rows = [f"hosts:\n  hub: {{address: {address}, port: {port}, user: {user}}}"]
    for number in range(1, SPOKES + 1):
        (folder / f"s{number}.txt").write_text("net.ipv4.tcp_rmem = 4096 131072 6291456\n")
        rows.append(f"  s{number}: {{address: 'file:s{number}.txt', path_address: 192.0.2.{number}}}")
    rows.append("paths:")
    rows += [f"  - {{from: hub, to: s{n}, rate: 1gbit, rtt: 20ms}}" for n in range(1, SPOKES + 1)]
    path = folder / "star.yaml"
    path.write_text("\n".join(rows) + "\n")
    return path


def audit(path: Path, *words: str) -> Ran:
    return hostcfg("path", "--all", "-i", path, "-o", "json", *words, home=path.parent)


def test_a_hub_has_one_connection(server: SshServer, tmp_path: Path) -> None:
    path = star(
        *(tmp_path, server.address, server.port),
        key=server.client_key,
        known=server.known_hosts(),
        user=server.user,
    )
    ran = audit(path)
    assert ran.code in (0, 1), ran.stderr  # as this machine is
    ends = [one["directions"][0]["to"] for one in ran.document["paths"]]
    assert ends == [f"s{number}" for number in range(1, SPOKES + 1)]
    assert server.connections == 1
    assert server.commands == SPOKES


def test_a_dead_hub_costs_its_time_limit_once(tmp_path: Path) -> None:
    with bad_server.BadServer(bad_server.silent) as dead:
        path = star(tmp_path, "127.0.0.1", dead.port, key=None, known="", user="root")
        began = time.monotonic()
        ran = audit(path, "--timeout", "5")
    assert time.monotonic() - began < 5 * SPOKES / 2
    assert ran.code == 2
    assert {one["error"]["kind"] for one in ran.document["failed"]} == {"timeout"}
    assert len(ran.document["failed"]) == SPOKES
    assert len(ran.stderr.splitlines()) == 1, ran.stderr  # and its line once
