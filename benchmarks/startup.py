"""What starting hostcfg costs, as ratios to ``python -c 'import click'``: process CPU, medians.

    python -m benchmarks.startup [RUNS]

Prints one line a command.  The aims are below 1.5 for --version and below 3 for a file diff.  Modules
are compiled beforehand, into a folder of its own, as they are for whoever has hostcfg installed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "tests" / "fixtures"
PASTED = FIXTURES / "docs" / "lon-1.txt"
LISTING = FIXTURES / "linux" / "sysctl-a__rhcos-4.18__01.txt"
OTHERS = {
    "FreeBSD": FIXTURES / "freebsd" / "sysctl-net.inet.tcp__freebsd-8__01.txt",
    "Windows": FIXTURES / "windows" / "tcp_show_global__server2008__en__01.txt",
}
LINK = ["--profile", "wan", "--rate", "1gbit", "--rtt", "80ms"]
JSON = ["-o", "json"]
BASE = "python -c 'import click'"


def commands(snapshot: str) -> dict[str, list[str]]:
    """What is measured, by the name under which it is printed."""
    hostcfg = [sys.executable, "-m", "hostcfg"]
    diff = [*hostcfg, "diff"]
    found = {
        BASE: [sys.executable, "-c", "import click"],
        "hostcfg --version": [*hostcfg, "--version"],
        "hostcfg diff SNAPSHOT --profile wan -o json": [*diff, f"file:{snapshot}", *LINK, *JSON],
        "hostcfg diff SNAPSHOT --profile wan": [*diff, f"file:{snapshot}", *LINK],
        "hostcfg diff PASTED --profile wan -o json": [*diff, f"file:{PASTED}", *LINK, *JSON],
        "  a whole `sysctl -a`": [*diff, f"file:{LISTING}", *LINK, *JSON],
    }
    return found | {f"  of {name}": [*diff, f"file:{path}", *LINK, *JSON] for name, path in OTHERS.items()}


def spent_s() -> float:
    """User and system seconds of all runs so far."""
    if sys.platform == "win32":
        times = os.times()
        return times.children_user + times.children_system
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_s(command: list[str], environment: dict[str, str]) -> float:
    """User and system seconds of one run; one that fails ends the measurement."""
    before = spent_s()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode not in {0, 1}:  # as diff(1): 1 is a difference
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return spent_s() - before


def main() -> None:
    """Measure in turn, so that a machine that slows down slows all of them; the first round only compiles."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        call = [sys.executable, "-m", "hostcfg", "snapshot", f"file:{PASTED}", "-d", folder]
        taken = subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
        measured = commands(taken)
        times: dict[str, list[float]] = {name: [] for name in measured}
        for _ in range(runs + 1):
            for name, command in measured.items():
                times[name].append(cpu_s(command, environment))
    base = statistics.median(times[BASE][1:])
    for name, found in times.items():
        median = statistics.median(found[1:])
        print(f"{name:<46} {median * 1000:7.0f} ms CPU  {median / base:5.2f} x")


if __name__ == "__main__":
    main()
