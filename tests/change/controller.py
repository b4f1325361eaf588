"""A controller in a process of its own, so that it can be killed.

``python -m tests.change.controller PID STATE ACTION KILL_AT REVERT_IN`` applies, holds, confirms, rolls back
or settles what is unfinished, and kills itself with SIGKILL at event number KILL_AT, 0 for never; it prints
each event first.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from hostcfg.apply import ChangeOptions, confirm_change
from hostcfg.journal import Journal
from hostcfg.rollback import rollback_last, rollback_unfinished
from tests.change.conftest import Lab, read
from tests.change.namespace import Namespace

WANTED = {"net.ipv4.tcp_rmem": "4096\t65536\t65536", "net.ipv4.tcp_ecn": "1", "qdisc/eth0": "pfifo"}


class Mortal(list[str]):
    """A list of events that ends the process at one of them."""

    def __init__(self, kill_at: int) -> None:
        super().__init__()
        self._kill_at = kill_at

    def append(self, event: str) -> None:
        super().append(event)
        sys.stdout.write(f"{event}\n")
        sys.stdout.flush()
        if len(self) == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    pid, state, action, kill_at, revert_in_s = sys.argv[1:]
    journal = Journal.open(Path(state))
    lab = Lab(Namespace.attach(int(pid)), journal, Path(state))
    lab.events = Mortal(int(kill_at))
    hear = lab.events.append
    if action in ("apply", "hold"):
        lab.apply(WANTED, persist=True, hold=action == "hold", revert_in_s=int(revert_in_s))
    elif action == "confirm":
        newest = journal.changes(limit=1)[0].id
        confirm_change(newest, journal=journal, connect=lab.connect, on_event=hear)
    else:
        back = rollback_last if action == "rollback" else rollback_unfinished
        options = ChangeOptions(int(revert_in_s))
        back(journal=journal, connect=lab.connect, read=read, options=options, on_event=hear)


if __name__ == "__main__":
    main()
