"""What starting hostcfg costs, as ratios to ``python -c 'import click'``: process CPU, medians.

    python -m benchmarks.startup [RUNS]

Prints one line a command.  The aims are below 1.5 for --version and below 3 for a file diff.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FACTS = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "docs" / "lon-1.txt"
LINK = ["--profile", "wan", "--rate", "1gbit", "--rtt", "80ms"]


def cpu_s(command: list[str]) -> float:
    """User and system seconds of one run."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Measure in turn, so that a machine that slows down slows all of them."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    hostcfg = [sys.executable, "-m", "hostcfg"]
    with tempfile.TemporaryDirectory() as folder:
        call = [*hostcfg, "snapshot", f"file:{FACTS}", "-d", folder]
        snapshot = "file:" + subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
        commands = {
            "python -c 'import click'": [sys.executable, "-c", "import click"],
            "hostcfg --version": [*hostcfg, "--version"],
            "hostcfg diff SNAPSHOT --profile wan -o json": [*hostcfg, "diff", snapshot, *LINK, "-o", "json"],
            "hostcfg diff SNAPSHOT --profile wan": [*hostcfg, "diff", snapshot, *LINK],
            "hostcfg diff PASTED --profile wan -o json": [
                *hostcfg,
                "diff",
                f"file:{FACTS}",
                *LINK,
                "-o",
                "json",
            ],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs + 1):
            for name, command in commands.items():
                times[name].append(cpu_s(command))
    base = statistics.median(times["python -c 'import click'"][1:])
    for name, found in times.items():
        median = statistics.median(found[1:])
        print(f"{name:<46} {median * 1000:7.0f} ms CPU  {median / base:5.2f} x")


if __name__ == "__main__":
    main()
