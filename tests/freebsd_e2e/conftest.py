"""A controller, and hosts that are made once where a test only reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.freebsd_e2e.client import Client
from tests.hosts.freebsd.host import FreeBsdHost

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "home")


@pytest.fixture
def host() -> Iterator[FreeBsdHost]:
    """An untouched 14.2."""
    with FreeBsdHost() as running:
        yield running
