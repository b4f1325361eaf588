"""The program as a user runs it: a process of its own, with a HOME of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """What one call of hostcfg left."""

    stdout: str
    stderr: str
    code: int

    @property
    def document(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.stdout)

    def one_line_of_trouble(self) -> str:
        """The single line on stderr of a call that failed; asserts that it failed as the contract says."""
        assert self.code == 2, self
        assert "Traceback" not in self.stderr
        lines = self.stderr.splitlines()
        assert len(lines) == 1, self.stderr
        return lines[0]


def hostcfg(
    *args: str | Path,
    home: Path | None = None,
    cwd: Path | None = None,
    stdin: bytes | str | None = None,
    timeout_s: float = 110,
    **environment: str,
) -> Ran:
    """Run ``hostcfg`` with ``args``."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HOSTCFG_", "SSH_", "XDG_", "COV_CORE"))}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", **environment}
    if home is not None:
        env["HOME"] = str(home)
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "hostcfg", *map(str, args)],
        input=data if data is not None else b"",
        capture_output=True,
        env=env,
        cwd=cwd,
        timeout=timeout_s,
        check=False,
    )
    return Ran(done.stdout.decode(), done.stderr.decode(), done.returncode)
