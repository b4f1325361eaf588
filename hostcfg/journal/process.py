"""Which process works on a change: a name for it that is not taken for another one's later."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path


def this_process() -> str:
    """``PID@STARTED`` of this process: pids are used again."""
    return f"{os.getpid()}@{_started(os.getpid())}"


def lives_elsewhere(process: str, from_host: str) -> int | None:
    """The pid of ``process`` if it runs on this machine and is not the one that asks."""
    pid, _, started = process.partition("@")
    if not started or not pid.isdecimal() or int(pid) == os.getpid() or _started(int(pid)) != started:
        return None
    # a boot's own id tells the machine, whatever it is called by now
    return int(pid) if "/" in started or from_host == socket.gethostname() else None


def _started(pid: int) -> str:
    """``BOOT/TICKS``, the boot and the clock ticks since it; else seconds since the epoch; "" if none runs.

    Linux counts the seconds since the epoch from a clock that can be set: they are not the same
    after it was (psutil adds the boot time of /proc/stat, which moves).
    """
    with suppress(OSError, ValueError, IndexError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        # fields 3 and 22 (proc_pid_stat(5)), counted behind the name, which may hold blanks and parentheses
        fields = stat.rpartition(")")[2].split()
        return "" if fields[0] == "Z" else f"{boot}/{int(fields[19])}"
    return _since_epoch(pid)


def _since_epoch(pid: int) -> str:
    import psutil

    try:
        return f"{psutil.Process(pid).create_time():.2f}"
    except psutil.Error:
        return ""
