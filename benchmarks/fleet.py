"""Reading a fleet: bare paramiko (the floor), hostcfg and ansible-core side by side, as ratios.

    python -m benchmarks.fleet [--hosts 1,10,50,200] [--rounds 3] [--no-ansible] [--only hosts|wire]

Real OpenSSH servers on loopback addresses, one connection each; a known_hosts of 4000 lines.  Every
round runs all of them in turn, beginning with another one each time, so that whatever else the
machine does meets all alike.  What is printed are medians: of the times, and of each round's own
ratios.  Clients and servers share the machine's cores.  It asserts nothing: times depend on the
machine, and the ratios, with what is aimed at beside them, are to be read by a person.

The wire (see ``fleet_wire.py``) needs root, ip(8) and a C compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from benchmarks.fleet_ansible import Ansible
from benchmarks.fleet_servers import farm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.fleet_servers import Farm

WORKERS = 100
LINK = ("--profile", "wan", "--rate", "1gbit", "--rtt", "80ms")
NUMBERS = ("wall_s", "cpu_s", "peak_mib")
OURS, AD_HOC, SYSCTL = "hostcfg diff", "ansible ad-hoc, pipelined", "ansible.posix.sysctl, check"


@dataclass(frozen=True)
class Cost:
    """What one run of a client cost: seconds of wall clock and of CPU, MiB of its largest process."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def adopt_orphans() -> None:
    """Have what a client leaves in the background become ours, so that its CPU can be counted.

    Ansible's ssh masters do the cryptography and outlive the call: PR_SET_CHILD_SUBREAPER, prctl(2).
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def measure(command: Sequence[str], environment: Mapping[str, str], *, codes: Sequence[int] = (0,)) -> Cost:
    """The cost of ``command`` and of all that it started; time ends with the command itself."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in codes:
            err.seek(0)
            out.seek(0)
            said = (err.read() + out.read())[-600:].decode(errors="replace")
            raise SystemExit(f"{' '.join(command)[:200]} ended with {process.returncode}:\n{said}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime + _orphans_cpu_s(), usage.ru_maxrss / 1024)


def _orphans_cpu_s() -> float:
    """CPU of what was left in the background, once it has ended; whatever else is our child is its own."""
    cpu_s = 0.0
    for process in psutil.Process().children():
        if process.name() in ("ssh", "ansible", "ansible-playbook"):
            _, _, usage = os.wait4(process.pid, 0)
            cpu_s += usage.ru_utime + usage.ru_stime
    return cpu_s


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each number."""
    return Cost(*(statistics.median(getattr(c, name) for c in costs) for name in NUMBERS))


def ratio(costs: Sequence[Cost], floor: Sequence[Cost]) -> Cost:
    """The median of each round's ratio to the floor of the same round."""
    pairs = list(zip(costs, floor, strict=True))
    return Cost(*(statistics.median(getattr(a, n) / getattr(b, n) for a, b in pairs) for n in NUMBERS))


def hostcfg(*words: str) -> list[str]:
    """A call of hostcfg in a process of its own."""
    return [sys.executable, "-m", "hostcfg", *words]


def clients(made: Farm, count: int, ansible: Ansible | None) -> dict[str, list[str]]:
    """Name -> command of everything that is compared."""
    plain, yaml = str(made.inventory(count)), str(made.yaml_inventory(count))
    floor = [sys.executable, "-m", "benchmarks.fleet_floor", plain, str(WORKERS), str(made.script())]
    found = {
        "floor": floor,
        OURS: hostcfg("diff", "all", "-i", plain, *LINK, "-o", "json"),
        "hostcfg diff (YAML)": hostcfg("diff", "all", "-i", yaml, *LINK, "-o", "json"),
        "hostcfg show": hostcfg("show", "all", "-i", plain, "-o", "json"),
    }
    if ansible is not None:
        found[AD_HOC] = ansible.ad_hoc(made, count)
        if ansible.posix and count <= 10:
            found[SYSCTL] = ansible.sysctl(made, count)
    return found


def compare(made: Farm, count: int, rounds: int, ansible: Ansible | None) -> dict[str, list[Cost]]:
    """One table: every client over ``count`` hosts; what each round cost."""
    commands = clients(made, count, ansible)
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for name, command in commands.items():
        if "ansible" not in name:
            measure(command, made.environment, codes=(0, 1))  # Python compiles, the disk is read
    for number in range(rounds):
        names = list(commands)
        start = number % len(names)
        for name in names[start:] + names[:start]:
            environment = ansible.environment(made) if ansible and "ansible" in name else made.environment
            costs[name].append(measure(commands[name], environment, codes=(0, 1)))
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"\n{count} host{'s' if count != 1 else ''}, median of {rounds}; load averages {load}")
    print(f"{'':30} {'wall s':>8} {'x floor':>8} {'CPU s':>8} {'x floor':>8} {'MiB':>7} {'x floor':>8}")
    for name, found in costs.items():
        cost, times = median(found), ratio(found, costs["floor"])
        print(
            f"{name:30} {cost.wall_s:8.2f} {times.wall_s:8.2f} {cost.cpu_s:8.2f} {times.cpu_s:8.2f}"
            f" {cost.peak_mib:7.1f} {times.peak_mib:8.2f}",
            flush=True,
        )
    return costs


def least(costs: Sequence[Cost], floor: Sequence[Cost]) -> Cost:
    """The least of each number against the floor's least: what else the machine did is in it least."""
    return Cost(*(min(getattr(c, n) for c in costs) / min(getattr(c, n) for c in floor) for n in NUMBERS))


def aims(found: Mapping[int, Mapping[str, Sequence[Cost]]]) -> None:
    """What is aimed at; what was measured, as the median of the rounds' ratios and the ratio of the least."""
    rows: list[tuple[str, float, float]] = []

    def against(text: str, number: str, costs: Sequence[Cost], floor: Sequence[Cost]) -> None:
        rows.append((text, *(getattr(take(costs, floor), number) for take in (ratio, least))))

    whole, ten = found.get(200), found.get(10, {})
    if whole is not None:
        against("200 hosts, wall: at most 1.15 x the floor", "wall_s", whole[OURS], whole["floor"])
        against("200 hosts, client CPU: at most 1.4 x the floor", "cpu_s", whole[OURS], whole["floor"])
        peaks = [cost.peak_mib for cost in whole[OURS]]
        rows.append(("200 hosts, memory: at most 100 MiB", statistics.median(peaks), min(peaks)))
        if AD_HOC in whole:
            against("200 hosts: 10 x as fast as Ansible's ad-hoc", "wall_s", whole[AD_HOC], whole[OURS])
            against("200 hosts: 20 x less CPU than Ansible's ad-hoc", "cpu_s", whole[AD_HOC], whole[OURS])
    if SYSCTL in ten:
        against("10 hosts: 80 x as fast as Ansible's sysctl", "wall_s", ten[SYSCTL], ten[OURS])
    if rows:
        print(f"\n{'aim':50} {'median':>8} {'of least':>8}")
    for text, middle, best in rows:
        print(f"{text:50} {middle:8.2f} {best:8.2f}", flush=True)


def machine() -> str:
    """On what this was measured."""
    memory = psutil.virtual_memory().total / 2**30
    versions = f"Python {platform.python_version()}, paramiko {metadata.version('paramiko')}"
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}, {versions}"


def known_hosts_cost(made: Farm, rounds: int) -> None:
    """What 4000 lines of known_hosts cost: one host with them, and with one line."""
    command = hostcfg("show", f"{made.names[0]}:{made.port}", "-o", "json")
    whole = [measure(command, made.environment) for _ in range(rounds * 3)]
    text = made.known_hosts.read_text()
    made.known_hosts.write_text(text.split("\n", 1)[0] + "\n")
    one = [measure(command, made.environment) for _ in range(rounds * 3)]
    made.known_hosts.write_text(text)
    extra_ms = (min(c.cpu_s for c in whole) - min(c.cpu_s for c in one)) * 1000
    lines = text.count("\n")
    print(f"\na known_hosts of {lines} lines costs {extra_ms:.0f} ms of CPU in all (aim: below 50)")


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--hosts", default="1,10,50,200")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-ansible", action="store_true")
    parser.add_argument("--only", choices=["hosts", "wire"])
    asked = parser.parse_args()
    counts = [int(word) for word in asked.hosts.split(",")]
    adopt_orphans()
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine()}", flush=True)
    with tempfile.TemporaryDirectory(prefix="hostcfg-bench-") as name:
        directory = Path(name)
        if asked.only != "wire":
            ansible = None if asked.no_ansible else Ansible.install(directory)
            with farm(directory, max(counts)) as made:
                found = {count: compare(made, count, asked.rounds, ansible) for count in counts}
                known_hosts_cost(made, asked.rounds)
                aims(found)
        if asked.only != "hosts":
            from benchmarks.fleet_wire import round_trips

            round_trips(directory, WORKERS)


if __name__ == "__main__":
    main()
