"""Probe the emulated host as an SSH server would: one process for one exec request."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostcfg.platforms.base import ProbeRequest
from hostcfg.platforms.framing import split_frames
from hostcfg.platforms.windows import PLATFORM
from tests.hosts.windows.releases import new_state, write_state

if TYPE_CHECKING:
    from hostcfg.model import Facts

ROOT = Path(__file__).parents[2]
NONCE = "0123456789abcdef"


def execute(state: Path, line: str) -> subprocess.CompletedProcess[bytes]:
    """One exec request on the emulated host."""
    arguments = [sys.executable, "-m", "tests.hosts.windows", "--state", str(state), "--command", line]
    return subprocess.run(arguments, capture_output=True, cwd=ROOT, timeout=60, check=False)


def new_host(folder: Path, release: str = "11-24H2", language: str = "en", **changes: Any) -> Path:
    """The state file of a new host."""
    return write_state(folder / "state.json", new_state(release, language, **changes))


def probe(state: Path, *, peer: str | None = None) -> Facts:
    """Facts of the emulated host by the platform's own probe line."""
    line = PLATFORM.probe(ProbeRequest(NONCE, peer)).line
    result = execute(state, line)
    stdout, stderr = PLATFORM.decode(result.stdout), PLATFORM.decode(result.stderr)
    return PLATFORM.assemble("pc", split_frames(NONCE, stdout, stderr, host="pc"))
