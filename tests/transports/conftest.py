"""An SSH server that most tests share, and contexts whose configuration touches nothing of the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from hostcfg.transports.ssh_context import SshContext
from tests.sshd import SshServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hostcfg.transports.prompts import Prompts


class MakeContext(Protocol):
    """Builds a context for some servers: their keys known, their client keys named."""

    def __call__(
        self,
        *servers: SshServer,
        config: str = "",
        known: str | None = None,
        prompts: Prompts | None = None,
        timeout_s: float = 10.0,
        accept_new: bool = False,
        limit_bytes: int = 32 << 20,
    ) -> SshContext: ...


@pytest.fixture(scope="session")
def server() -> Iterator[SshServer]:
    with SshServer() as running:
        yield running


@pytest.fixture
def make_context(tmp_path: Path) -> MakeContext:
    """``config`` goes before the defaults, so that it wins; ``known`` replaces the known_hosts file."""

    def make(
        *servers: SshServer,
        config: str = "",
        known: str | None = None,
        prompts: Prompts | None = None,
        timeout_s: float = 10.0,
        accept_new: bool = False,
        limit_bytes: int = 32 << 20,
    ) -> SshContext:
        known_hosts = tmp_path / "known_hosts"
        known_hosts.write_text(
            "".join(server.known_hosts() for server in servers) if known is None else known
        )
        keys = "".join(
            f"IdentityFile {server.client_key}\n" for server in servers if server.client_key.exists()
        )
        path = tmp_path / "ssh_config"
        path.write_text(
            f"{config}\nHost *\nUserKnownHostsFile {known_hosts}\nGlobalKnownHostsFile none\n"
            f"IdentityAgent none\nIdentitiesOnly yes\n{keys}"
        )
        path.chmod(0o600)
        return SshContext(
            config_files=[path],
            prompts=prompts,
            timeout_s=timeout_s,
            accept_new=accept_new,
            limit_bytes=limit_bytes,
        )

    return make
