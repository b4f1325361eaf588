"""``python -m tests.hosts.windows --state FILE --command "$SSH_ORIGINAL_COMMAND"``.

Without ``--command`` the lines of standard input are run one after the other.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.hosts.windows import tasks
from tests.hosts.windows.session import Session


def main() -> int:
    """Run the command as the host's default shell would; the status is that of its last command."""
    parser = argparse.ArgumentParser(prog="tests.hosts.windows")
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--command")
    parser.add_argument("--task", help="wait for the time of this task, and run it as the system")
    arguments = parser.parse_args()
    if arguments.task is not None:
        tasks.wait_and_run(arguments.state, arguments.task)
        return 0
    lines = [arguments.command] if arguments.command is not None else sys.stdin.read().splitlines()
    session = Session(arguments.state)
    session.greet()
    for line in lines:
        session.execute(line)
    sys.stdout.buffer.write(session.stdout_bytes())
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(session.stderr_bytes())
    return session.status


if __name__ == "__main__":
    sys.exit(main())
