"""The lab by hand: ``python -m tests.lab up|path|exec|run|ssh-config|status|down`` (see README.md)."""

from __future__ import annotations

import argparse
import os
import sys
import time

from hostcfg.errors import HostcfgError
from tests.lab.lab import Lab, LabError
from tests.lab.shape import Shape


def main() -> int:
    """Does what the command line says; the exit code."""
    asked = _parser().parse_args()
    lab = Lab()
    try:
        if asked.command == "up":
            began = time.monotonic()
            lab.up(Shape.of(asked.rate, asked.rtt, asked.queue, asked.loss), asked.backend)
            print(f"lab: up in {time.monotonic() - began:.1f} s, HOME={lab.home}")
        elif asked.command == "path":
            lab.shape(Shape.of(asked.rate, asked.rtt, asked.queue, asked.loss))
        elif asked.command == "exec":
            _become(lab.ssh(asked.host, *asked.words))
        elif asked.command == "run":
            os.environ["HOME"] = str(lab.home)
            _become(lab.inside(*asked.words))
        elif asked.command == "ssh-config":
            print(lab.home / ".ssh/config")
        elif asked.command == "status":
            for side, is_up in lab.status().items():
                print(side, "up" if is_up else "down")
        else:
            lab.down()
    except (LabError, HostcfgError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0


def _become(command: list[str]) -> None:
    sys.stdout.flush()
    os.execvp(command[0], command)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary in (("up", "start both hosts and the path"), ("path", "reshape the running path")):
        command = commands.add_parser(name, help=summary)
        command.add_argument("--rate", default="100mbit")
        command.add_argument("--rtt", default="80ms")
        command.add_argument("--queue", default="1bdp", help="in BDPs (10bdp) or bytes (64K)")
        command.add_argument("--loss", default="0%", help="in each direction")
        if name == "up":
            command.add_argument("--backend", choices=("netns", "uml"), default="netns")
    command = commands.add_parser("exec", help="run a command on a host")
    command.add_argument("host", choices=("a", "b"))
    command.add_argument("words", nargs=argparse.REMAINDER)
    command = commands.add_parser("run", help="run a command beside the hosts, with a HOME that knows them")
    command.add_argument("words", nargs=argparse.REMAINDER)
    for name, summary in (
        ("ssh-config", "print the path of an ssh configuration with a and b"),
        ("status", "which hosts are up"),
        ("down", "end everything"),
    ):
        commands.add_parser(name, help=summary)
    return parser


if __name__ == "__main__":
    sys.exit(main())
