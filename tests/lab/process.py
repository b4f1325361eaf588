"""Processes that outlive the command that started them, known by a file with their number."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tests.sshd import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

_GRACE_S = 1.0


def run(*command: str | Path, check: bool = True) -> None:
    """Runs ``command``; where it is not to be checked, what it complains of is dropped too."""
    subprocess.run(
        [str(word) for word in command],
        check=check,
        stdin=subprocess.DEVNULL,
        stderr=None if check else subprocess.DEVNULL,
    )


def _stat(pid: int) -> list[str]:
    """State, parent, group, session ... of a process, proc_pid_stat(5); empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def alive(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    stat = _stat(pid)
    return bool(stat) and stat[0] not in "ZX"


def _session(leader: int) -> list[int]:
    """The living processes of a session."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if _stat(pid)[3:4] == [str(leader)] and alive(pid)]


def is_up(pid_file: Path) -> bool:
    """Whether the process of ``pid_file`` runs."""
    return pid_file.exists() and alive(int(pid_file.read_text()))


def start(
    command: list[str],
    folder: Path,
    name: str,
    env: dict[str, str],
    pass_fds: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """A process in a session of its own; ``NAME.log`` and ``NAME.pid`` in ``folder``."""
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=pass_fds,
            env=env,
            start_new_session=True,
        )
    (folder / f"{name}.pid").write_text(str(process.pid))
    return process


def stop(pid_file: Path) -> None:
    """Ends the process of ``pid_file`` and those that it started."""
    if pid_file.exists():
        end(int(pid_file.read_text()))
        pid_file.unlink()


def end(leader: int) -> None:
    """Ends a session that ``start`` began, with force after a second."""
    family = _session(leader)
    if leader in family:
        _signal([leader], psutil.Process.terminate)
        if _ended(family, _GRACE_S):
            return
    _signal(family, psutil.Process.kill)
    _ended(family, 10 * _GRACE_S)


def _signal(pids: list[int], send: Callable[[psutil.Process], None]) -> None:
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            send(psutil.Process(pid))


def _ended(pids: list[int], timeout_s: float) -> bool:
    with suppress(AssertionError):
        wait_for(lambda: not any(alive(pid) for pid in pids), "", timeout_s)
        return True
    return False
