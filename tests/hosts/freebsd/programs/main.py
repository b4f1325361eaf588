"""Which program was called: its name is the file's."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the program that ``sys.argv[0]`` names."""
    name = sys.argv[0].rpartition("/")[2]
    state = os.environ.get("EMULATED_STATE", "/emu/state")
    jail = os.environ.get("EMULATED_JAIL")
    arguments = sys.argv[1:]
    if name == "sysctl":
        from tests.hosts.freebsd.programs import sysctl

        status = sysctl.main(arguments, state, jail)
    elif name == "netstat":
        from tests.hosts.freebsd.programs import netstat

        status = netstat.main(arguments, state, jail)
    else:
        from tests.hosts.freebsd.programs.commands import PROGRAMS

        status = PROGRAMS[name](arguments, state, jail)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        status = 141
    os._exit(status)
