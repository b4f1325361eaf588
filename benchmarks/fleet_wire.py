"""Round trips over a real TCP path with delay: two network namespaces joined by the lab's wire.

Needs root, ip(8) and a C compiler.  The time of one call at two round-trip times, one taken from the
other, leaves nothing but round trips: whatever the programs and the machine cost is in both.
An asyncio proxy would not do, since it ends the TCP connections and hides Nagle's waits.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.fleet_servers import Farm, make_home, serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIRE_SOURCE = Path(__file__).resolve().parent.parent / "tests/lab/delayline.c"
RATE_BPS = 1_000_000_000
QUEUE_BYTES = 64_000_000
RTTS_MS = (100, 400)
PORT = 2200
HOSTS = 200
LINK = ("--profile", "rfc1323-off", "--rtt", "80ms", "--rate", "100mbit")
_TRIES = 3


@dataclass(frozen=True)
class Wire:
    """Namespaces ``near`` and ``far`` at both ends; :meth:`shape` sets the round-trip time."""

    near: str
    far: str
    control: Path

    def shape(self, rtt_ms: float) -> None:
        """Delay half of it each way."""
        with self.control.open("w") as fifo:
            fifo.write(f"{RATE_BPS} {int(rtt_ms * 500)} {QUEUE_BYTES} 0\n")
        time.sleep(1.0)  # what was under way is lost, and TCP has to notice


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextmanager
def wire(directory: Path) -> Iterator[Wire]:
    """Both ends, the far one with as many addresses as there are hosts; all gone afterwards."""
    program = directory / "delayline"
    subprocess.run(["cc", "-O2", "-o", str(program), str(WIRE_SOURCE)], check=True)
    names = [f"hcb{os.getpid()}{end}" for end in "nf"]
    control = directory / "control"
    os.mkfifo(control)
    with ExitStack() as undo:
        for end, name in enumerate(names):
            _ip("netns", "add", name)
            undo.callback(_ip, "netns", "del", name)
            _ip("-n", name, "tuntap", "add", "wan0", "mode", "tap")
            _ip("-n", name, "link", "set", "wan0", "txqueuelen", "10000")
            _ip("-n", name, "addr", "add", f"10.77.{255 * end}.1/16", "dev", "wan0")
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "link", "set", "wan0", "up")
        for address in addresses():
            _ip("-n", names[1], "addr", "add", f"{address}/16", "dev", "wan0")
        ends = [f"{name}/wan0" for name in names]
        shape = [str(RATE_BPS), "0", str(QUEUE_BYTES), "0", str(control)]
        process = subprocess.Popen([str(program), *ends, *shape], stdout=subprocess.PIPE)
        undo.callback(process.wait)
        undo.callback(process.terminate)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield Wire(names[0], names[1], control)


def addresses() -> list[str]:
    """The far end's hosts."""
    return [f"10.77.{1 + number // 250}.{1 + number % 250}" for number in range(HOSTS)]


class Bench:
    """Calls over the wire, from the near end, each in a process of its own."""

    def __init__(self, made: Farm, line: Wire) -> None:
        self.made = made
        self.line = line
        self.environment = {**made.environment, "HOSTCFG_STATE": str(made.home / "state")}

    def call(self, *words: str) -> float:
        """Seconds that one call took; SystemExit with what it said if it failed."""
        command = ["ip", "netns", "exec", self.line.near, sys.executable, "-m", *words]
        began = time.perf_counter()
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        took_s = time.perf_counter() - began
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-600:]}")
        return took_s

    def rounds(self, words: Sequence[str], after: Sequence[str] = ()) -> float:
        """Round trips of one call; ``after`` puts the host back between two calls."""
        took: list[float] = []
        for rtt_ms in RTTS_MS:
            self.line.shape(rtt_ms)
            best = float("inf")
            for _ in range(_TRIES):
                best = min(best, self.call(*words))
                if after:
                    self.call(*after)
            took.append(best)
        return (took[1] - took[0]) / (RTTS_MS[1] - RTTS_MS[0]) * 1000


def round_trips(directory: Path, workers: int = 100) -> None:
    """Prints round trips of one host, then the time of many."""
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("cc"):
        print("\nno round trips: they need root, ip(8) and a C compiler")
        return
    made = make_home(directory / "far", addresses(), PORT)
    own_files = 'mount -t tmpfs tmpfs /var/lib && exec "$@"'
    with wire(directory) as line:
        prefix = ["ip", "netns", "exec", line.far, "unshare", "-m", "sh", "-c", own_files, "sh"]
        with serve(made, [f"0.0.0.0:{PORT}"], prefix):
            bench = Bench(made, line)
            _one_host(bench)
            _many_hosts(bench, workers)


def _one_host(bench: Bench) -> None:
    host = f"{bench.made.names[0]}:{PORT}"
    apply = ("hostcfg", "apply", host, *LINK, "--yes")
    back = ("hostcfg", "rollback", "--last", "--yes")
    script = str(bench.made.script())
    one = bench.made.inventory(1)
    print(f"\nround trips of one host ({RTTS_MS[1]} ms against {RTTS_MS[0]} ms)")
    bench.call("hostcfg", "show", host)  # compiles what has not been compiled yet
    for name, words, after, aim in (
        ("floor: connect, log in, one command", ("benchmarks.fleet_floor", str(one), "1", script), (), ""),
        ("hostcfg diff", ("hostcfg", "diff", host, *LINK), (), "9.5"),
        ("hostcfg apply --hold: one connection", (*apply, "--hold"), back, "13.5"),
        ("hostcfg apply: and the confirming one", apply, back, "13.5 and a connection"),
    ):
        print(f"{name:44} {bench.rounds(words, after):6.1f}   {f'aim: {aim}' if aim else ''}", flush=True)


def _many_hosts(bench: Bench, workers: int) -> None:
    hosts = bench.made.inventory(HOSTS)
    script = str(bench.made.script())
    print(f"\n{HOSTS} hosts behind {RTTS_MS[1]} ms, seconds")
    bench.line.shape(RTTS_MS[1])
    for name, words in (
        (f"floor, {workers} workers", ("benchmarks.fleet_floor", str(hosts), str(workers), script)),
        (f"floor, {HOSTS} workers", ("benchmarks.fleet_floor", str(hosts), str(HOSTS), script)),
        ("hostcfg diff", ("hostcfg", "diff", "all", "-i", str(hosts), *LINK, "-o", "json")),
        (f"hostcfg diff -j {HOSTS}", ("hostcfg", "diff", "all", "-i", str(hosts), *LINK, "-j", str(HOSTS))),
    ):
        print(f"{name:44} {min(bench.call(*words) for _ in range(2)):6.1f}", flush=True)
