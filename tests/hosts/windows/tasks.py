"""The task scheduler: ``schtasks`` and Register-ScheduledTask; a task is a process that waits."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hosts.windows.syntax import split_words

if TYPE_CHECKING:
    from tests.hosts.windows.session import Session

ROOT = Path(__file__).parents[3]


def schtasks(session: Session, rest: str) -> tuple[str, str, int]:
    """What ``schtasks REST`` prints, its errors and its status."""
    words = split_words(rest)
    verb, name = words[0].lower(), words[words.index("/tn") + 1]
    if verb == "/query":
        task = session.state["tasks"].get(name)
        if task is None:
            return "", "ERROR: The system cannot find the file specified.\n", 1
        return f'"\\{name}","{task["starts"]}","Ready"\n', "", 0
    if not session.state["elevated"] or not session.state["scheduler"]:
        return "", "ERROR: Access is denied.\n", 1
    if verb == "/delete":
        if session.state["tasks"].pop(name, None) is None:
            return "", "ERROR: The system cannot find the file specified.\n", 1
        session.save()
        return f'SUCCESS: The scheduled task "{name}" was successfully deleted.\n', "", 0
    return _create(session, words, name)


def _create(session: Session, words: list[str], name: str) -> tuple[str, str, int]:
    run = words[words.index("/tr") + 1]
    if "onstart" in words:
        _register(session, name, run, None, "At system startup")
    else:
        hour, minute = words[words.index("/st") + 1].split(":")
        now = datetime.fromtimestamp(session.clock())
        at = now.replace(hour=int(hour), minute=int(minute), second=0, microsecond=0)
        if at <= now:
            at += timedelta(days=1)
        _register(session, name, run, at.timestamp(), f"{hour}:{minute}:00")
    return f'SUCCESS: The scheduled task "{name}" has successfully been created.\n', "", 0


def register(session: Session, statement: str) -> bool:
    """Register-ScheduledTask with one trigger at a time and one at start-up; False where there is none."""
    if session.state["release"] in {"7", "2008"} or not session.state["task_cmdlets"]:
        return False
    name = re.search(r"-TaskName (\S+)", statement)
    run = re.search(r"-Execute '([^']+)'", statement)
    seconds = re.search(r"-Once -At \(Get-Date\)\.AddSeconds\((\d+)\)", statement)
    assert name is not None, statement
    assert run is not None, statement
    assert seconds is not None, statement
    for needed in ("-User SYSTEM", "-AtStartup", "-AllowStartIfOnBatteries", "-StartWhenAvailable"):
        assert needed in statement, statement
    if session.state["elevated"] and session.state["scheduler"]:
        at = session.clock() + int(seconds[1])
        _register(session, name[1], run[1], at, datetime.fromtimestamp(at).isoformat(" ", "seconds"))
    return True


def _register(session: Session, name: str, run: str, at: float | None, starts: str) -> None:
    session.state["tasks"][name] = {"run": run, "at": at, "starts": starts}
    session.save()
    if at is None or not session.state["tasks_start"]:
        return
    waiting = [sys.executable, "-m", "tests.hosts.windows", "--state", str(session.path), "--task", name]
    detached = '"$@" </dev/null >/dev/null 2>&1 &'
    subprocess.run(["/bin/sh", "-c", detached, "sh", *waiting], cwd=ROOT, start_new_session=True, check=True)


def wait_and_run(path: Path, name: str) -> None:
    """Ends when the task is deleted, its host is gone, or it has run."""
    pause = threading.Event()
    while path.exists():
        task = _task(path, name)
        if task is None:
            return
        if time.time() >= float(task["at"]):
            run_task(path, name)
            return
        pause.wait(0.05)


def _task(path: Path, name: str) -> dict[str, str] | None:
    from tests.hosts.windows.releases import read_state

    found: dict[str, str] | None = read_state(path)["tasks"].get(name)
    return found


def run_task(path: Path, name: str) -> None:
    """What a task runs, as the system, at once."""
    from tests.hosts.windows.session import Session

    session = Session(path)
    session.state["elevated"] = True
    task = session.state["tasks"][name]
    session.as_system(f"call {task['run']}")
