"""A controller in a process of its own, so that it can be killed.

``python -m tests.change.controller PID STATE ACTION KILL_AT REVERT_IN`` applies (or rolls back) and
kills itself with SIGKILL at event number KILL_AT, 0 for never; it prints each event first.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from hostcfg.apply import ChangeOptions
from hostcfg.journal import Journal
from hostcfg.rollback import rollback_last
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
    if action == "apply":
        lab.apply(WANTED, persist=True, revert_in_s=int(revert_in_s))
    else:
        rollback_last(
            journal=journal,
            connect=lab.connect,
            read=read,
            options=ChangeOptions(int(revert_in_s)),
            on_event=lab.events.append,
        )


if __name__ == "__main__":
    main()
