"""What is measured in a lab, and hostcfg as a user of it runs the program."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from tests.e2e.program import Ran
from tests.lab.keys import WAN
from tests.lab.lab import SIDES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.lab.lab import Backend, Lab, Side
    from tests.lab.shape import Shape

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120
"""A guest whose machine is busy takes seconds for what takes others milliseconds."""
ADDRESSES = tuple(word for side in SIDES for word in ("--address", f"{side}={WAN[side]}"))
"""The path's own addresses: SSH goes over the management links."""

# What a profile may change, as the kernel prints it; keys of fast open and RSS are random.
_STATE = (
    "grep -aH '' /proc/sys/net/core/[!n]* /proc/sys/net/core/netdev_[!r]* /proc/sys/net/ipv4/tcp_[!f]* "
    "/proc/sys/net/ipv4/tcp_f[!a]* /proc/sys/net/ipv4/ip_no_pmtu_disc 2>&1; tc qdisc show; "
    "cat /sys/class/net/*/tx_queue_len; cd /etc && find . -type f -path '*sysctl*' -exec md5sum {} +"
)


@dataclass(frozen=True)
class Flow:
    """One iperf3 run from a to b."""

    received_bps: float
    retransmits: int
    text: str = field(repr=False)


@dataclass
class Bench:
    """Two hosts, the path between them, and how it is measured."""

    lab: Lab
    backend: Backend
    long: bool

    def shape(self, shape: Shape) -> None:
        """The path from now on; a first packet each way, so that no ARP is measured."""
        self.lab.shape(shape)
        self.lab.on("a", "ping", "-c", "2", WAN["b"])

    def state(self) -> dict[Side, str]:
        """Sysctls, queues and boot files of both hosts, byte for byte."""
        return {side: self.lab.on(side, _STATE, timeout_s=TIMEOUT_S) for side in SIDES}

    @contextmanager
    def set(self, side: Side, key: str, value: str) -> Iterator[None]:
        """A sysctl as someone set it by hand, and as it was afterwards."""
        before = self.lab.on(side, "sysctl", "-n", key).strip()
        self.lab.on(side, "sysctl", "-w", f"{key}={value}")
        try:
            yield
        finally:
            self.lab.on(side, "sysctl", "-w", f"{key}={before}")

    def set_loss_based(self) -> AbstractContextManager[None]:
        """a sends by an algorithm that fills queues: cubic, or reno where a namespace may not have cubic."""
        key = "net.ipv4.tcp_allowed_congestion_control"
        allowed = self.lab.on("a", "sysctl", "-n", key).split()
        return self.set("a", "net.ipv4.tcp_congestion_control", "cubic" if "cubic" in allowed else "reno")

    def serve(self) -> None:
        """A new iperf3 server on b: one that listened before a change has its old buffers."""
        self.lab.on("b", "sh", "/run/guest/serve")

    def iperf3(self, seconds: int, omit_s: int, at_least_bps: float = 0.0) -> Flow:
        """The goodput that b received from a; measured again if it is not ``at_least_bps``."""
        return self.settled(
            lambda: self._iperf3(seconds, omit_s), lambda flow: flow.received_bps >= at_least_bps
        )

    def _iperf3(self, seconds: int, omit_s: int) -> Flow:
        self.serve()
        words = ["iperf3", "-c", WAN["b"], "-J", "-t", str(seconds), "-O", str(omit_s)]
        text = self.lab.on("a", *words, timeout_s=seconds + omit_s + TIMEOUT_S)
        end = json.loads(text)["end"]
        return Flow(end["sum_received"]["bits_per_second"], end["sum_sent"]["retransmits"], text)

    @contextmanager
    def transfer(self, seconds: int) -> Iterator[None]:
        """iperf3 from a to b while the body runs."""
        self.serve()
        words = self.lab.ssh("a", "iperf3", "-c", WAN["b"], "-t", str(seconds), "--forceflush")
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout is not None
            first = [run.stdout.readline() for _ in range(4)]  # "Connecting", "local", heads, 1st second
            assert "Connecting" in first[0], first
            try:
                yield
                assert run.poll() is None, "the transfer ended before what was to be measured"
            finally:
                run.terminate()

    def settled(self, measure: Callable[[], T], good: Callable[[T], bool]) -> T:
        """What ``measure`` gives; twice more at most if it is not ``good``: this machine may be busy."""
        for _ in range(2):
            found = measure()
            if good(found):
                return found
            print(f"lab: {found} at a load of {psutil.getloadavg()[0]:.1f}: measured again", file=sys.stderr)
        return measure()

    def ping_ms(self, count: int) -> float:
        """The median round-trip time from a to b in ms, pings 0.2 s apart."""
        text = self.lab.on("a", f"ping -i 0.2 -c {count} {WAN['b']}")
        times = [float(found) for found in re.findall(r"time=([\d.]+) ms", text)]
        assert len(times) > count / 2, text
        return statistics.median(times)

    def loaded_ping_ms(self) -> float:
        """The median round-trip time while a transfer fills the path, its first four seconds left out."""
        with self.transfer(40):
            self.lab.on("a", "sleep", "4")
            return self.ping_ms(30)

    def hostcfg(self, *args: str | Path, code: int | None = None) -> Ran:
        """hostcfg beside the hosts, with a HOME that knows them; asserts the exit ``code`` if given."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HOSTCFG_", "SSH_", "XDG_", "COV_"))}
        env |= {"HOME": str(self.lab.home), "PYTHONDONTWRITEBYTECODE": "1"}
        words = [sys.executable, "-m", "hostcfg", *args, "--timeout", str(TIMEOUT_S)]
        done = subprocess.run(
            self.lab.inside(*words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=env,
            cwd=ROOT,
        )
        ran = Ran(done.stdout, done.stderr, done.returncode)
        assert code is None or ran.code == code, ran
        return ran

    def predicted(self, *args: str | Path) -> dict[str, Any]:
        """The direction from a to b, as ``path`` sees it."""
        ran = self.hostcfg("path", "a", "b", *args, *ADDRESSES, "-o", "json")
        assert ran.code in (0, 1), ran
        direction: dict[str, Any] = ran.document["directions"][0]
        return direction
