"""Which process works on a change: a name for it that is not taken for another one's later."""

from __future__ import annotations

import os
import socket


def this_process() -> str:
    """``PID@STARTED`` of this process, STARTED as seconds since the epoch: pids are used again."""
    return f"{os.getpid()}@{_started(os.getpid())}"


def lives_elsewhere(process: str, from_host: str) -> int | None:
    """The pid of ``process`` if it runs on this machine and is not the one that asks."""
    pid, _, started = process.partition("@")
    if not pid.isdecimal() or from_host != socket.gethostname() or int(pid) == os.getpid():
        return None
    return int(pid) if _started(int(pid)) == started else None


def _started(pid: int) -> str:
    import psutil

    try:
        return f"{psutil.Process(pid).create_time():.2f}"
    except psutil.Error:
        return ""
