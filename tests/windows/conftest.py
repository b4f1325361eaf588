"""Emulated hosts for the tests of changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.hosts.windows.host import WindowsHost
from tests.windows.change_lab import Direct, Lab, over_ssh, ssh_config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Start = Callable[..., tuple[WindowsHost, Lab]]
"""``start(release, language, **changes)``: a host and its controller."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Hosts without an sshd: each command is a session of its own all the same."""
    hosts: list[WindowsHost] = []
    labs: list[Lab] = []

    def begin(release: str = "11-24H2", language: str = "en", **changes: Any) -> tuple[WindowsHost, Lab]:
        host = WindowsHost(tmp_path / f"host{len(hosts)}", release, language, changes)
        hosts.append(host)
        labs.append(Lab(host.folder / "journal", lambda: Direct(host)))
        return host, labs[-1]

    yield begin
    for host, lab in zip(hosts, labs, strict=True):
        lab.close()
        host.close()


@pytest.fixture
def start_ssh(tmp_path: Path) -> Iterator[Start]:
    """Hosts behind a real sshd."""
    hosts: list[WindowsHost] = []
    labs: list[Lab] = []

    def begin(release: str = "11-24H2", language: str = "en", **changes: Any) -> tuple[WindowsHost, Lab]:
        host = WindowsHost(tmp_path / f"host{len(hosts)}", release, language, changes)
        hosts.append(host.__enter__())
        labs.append(Lab(host.folder / "journal", over_ssh(host.server.destination, ssh_config(host))))
        return host, labs[-1]

    yield begin
    for host, lab in zip(hosts, labs, strict=True):
        lab.close()
        host.close()
