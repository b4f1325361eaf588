"""Two Linux hosts, a and b, with sshd and iperf3, at both ends of an emulated path."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from tests.lab.keys import MANAGEMENT, WAN, write_keys
from tests.lab.process import alive, end, is_up, run, start, stop
from tests.sshd import IS_ROOT, wait_for

if TYPE_CHECKING:
    from tests.lab.shape import Shape

Side = Literal["a", "b"]
Backend = Literal["netns", "uml"]
SIDES: tuple[Side, Side] = ("a", "b")
LINK: dict[Side, str] = {"a": "to-a", "b": "to-b"}
"""Side -> the lab's end of the management link."""

HERE = Path(__file__).resolve().parent
KERNEL = Path(os.environ.get("LAB_KERNEL", "/usr/bin/linux.uml"))
MODULES = os.environ.get("LAB_MODULES", "/usr/lib/uml/modules")
MEMORY = os.environ.get("LAB_MEM", "1024M")
PROGRAMS = (
    "ip",
    "nsenter",
    "unshare",
    "ethtool",
    "cc",
    "sshd",
    "ssh",
    "ssh-keygen",
    "iperf3",
    "ping",
    "tc",
    "setpriv",
)
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
"""All that the hosts see of this process."""

START_S: dict[Backend, float] = {"netns": 30.0, "uml": 180.0}


class LabError(Exception):
    """The lab can't be what was asked for; the text says why."""


def missing() -> str | None:
    """Why no lab can run on this machine; None if one can."""
    return _lacking() if sys.platform == "linux" else "the lab needs Linux"


def _lacking() -> str | None:
    if not IS_ROOT:
        return "the lab needs root (network namespaces, tap devices)"
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    absent = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    if absent:
        return f"the lab needs {', '.join(absent)}"
    return None if Path("/dev/net/tun").exists() else "the lab needs /dev/net/tun"


class Lab:
    """A lab by its state folder; another process can go on with one that is up."""

    def __init__(self, state: Path | None = None, *, ends_with_us: bool = False) -> None:
        """``ends_with_us``: nothing of it outlives this process, even if that is killed."""
        named = os.environ.get("LAB_STATE") or Path(tempfile.gettempdir()) / "hostcfg-lab"
        self.state = Path(state or named)
        self.namespace = "hclab-" + hashlib.sha256(str(self.state).encode()).hexdigest()[:6]
        self._processes: list[subprocess.Popen[bytes]] = []
        # what this machine does beside should not be measured
        self._wrapper = ["nice", "-n", "-10"]
        if ends_with_us:
            self._wrapper += ["setpriv", "--pdeathsig", "KILL"]

    @property
    def home(self) -> Path:
        """A HOME whose ssh configuration knows a and b."""
        return self.state / "home"

    # up and down

    def up(self, shape: Shape, backend: Backend = "netns") -> None:
        """Both hosts and the path; LabError with what they said if they don't come up."""
        if reason := missing():
            raise LabError(reason)
        if any(is_up(self.state / side / "host.pid") for side in SIDES):
            raise LabError(f"already up in {self.state}: take it down first")
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir(parents=True, mode=0o755)
        write_keys(self.state)
        run("cc", "-O2", "-o", self.state / "delayline", HERE / "delayline.c")
        run("mkfifo", self.state / "control")
        run("ip", "netns", "add", self.namespace)
        run("ip", "-n", self.namespace, "link", "set", "lo", "up")
        try:
            self._up_netns(shape) if backend == "netns" else self._up_uml(shape)
            self._wait_until_up(START_S[backend])
        except (LabError, subprocess.CalledProcessError):
            self.down()
            raise

    def down(self) -> None:
        """Ends every process of the lab and removes its namespaces."""
        for side in SIDES:
            stop(self.state / side / "host.pid")
        stop(self.state / "wire.pid")
        for name in (*(f"{self.namespace}-{side}" for side in SIDES), self.namespace):
            if Path("/run/netns", name).exists():
                run("ip", "netns", "del", name)
        for process in self._processes:
            end(process.pid)
            process.wait()
        self._processes.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    def shape(self, shape: Shape) -> None:
        """Reshapes the running path; frames on the old one are lost."""
        (self.state / "control").write_text(" ".join(shape.order()) + "\n")

    # commands

    def inside(self, *command: str | Path) -> list[str]:
        """``command`` as it runs beside the hosts, from where they are reached over ssh."""
        return ["nsenter", f"--net=/run/netns/{self.namespace}", *map(str, command)]

    def ssh(self, side: Side, *words: str) -> list[str]:
        """The command line that runs ``words`` (one: shell text) on a host."""
        text = words[0] if len(words) == 1 else shlex.join(words)
        return self.inside("ssh", "-F", self.home / ".ssh/config", "-o", "ConnectTimeout=20", side, text)

    def on(self, side: Side, *words: str, timeout_s: float = 60) -> str:
        """What ``words`` print on a host; LabError if they fail."""
        done = subprocess.run(
            self.ssh(side, *words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        if done.returncode != 0:
            raise LabError(
                f"{side}: {shlex.join(words)}: {done.returncode} {done.stdout}{done.stderr}".strip()
            )
        return done.stdout

    def status(self) -> dict[Side, bool]:
        """Which hosts are up."""
        return {side: is_up(self.state / side / "host.pid") for side in SIDES}

    # backends

    def _start(self, command: list[str], folder: Path, name: str, *, pass_fds: tuple[int, ...] = ()) -> None:
        self._processes.append(start([*self._wrapper, *command], folder, name, _ENVIRONMENT, pass_fds))

    def _wire(self, shape: Shape, ends: tuple[str, str], fds: tuple[int, ...] = ()) -> None:
        command = [str(self.state / "delayline"), *ends, *shape.order(), str(self.state / "control")]
        self._start(command, self.state, "wire", pass_fds=fds)

    def _up_netns(self, shape: Shape) -> None:
        for side in SIDES:
            name, folder = f"{self.namespace}-{side}", self.state / side
            run("ip", "netns", "add", name)
            outer, inner = MANAGEMENT[side]
            veth = ("type", "veth", "peer", "name", "mgmt0", "netns", name)
            run("ip", "-n", self.namespace, "link", "add", LINK[side], *veth)
            self._address(self.namespace, LINK[side], outer + "/30")
            run("ip", "-n", name, "link", "set", "lo", "up")
            self._address(name, "mgmt0", inner + "/30")
            run("ip", "-n", name, "tuntap", "add", "wan0", "mode", "tap")
            run(
                "ip", "netns", "exec", name, "ethtool", "-K", "wan0", "tso", "off", "gso", "off", "gro", "off"
            )
            run("ip", "-n", name, "link", "set", "wan0", "txqueuelen", "1000")
            self._address(name, "wan0", WAN[side] + "/24")
            unshare = ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
            guest = HERE / "guest"
            words = ["sh", str(guest / "ns-host"), side, str(folder), str(guest)]
            self._start(["ip", "netns", "exec", name, *unshare, *words], folder, "host")
        self._wire(shape, (f"{self.namespace}-a/wan0", f"{self.namespace}-b/wan0"))

    def _up_uml(self, shape: Shape) -> None:
        if not KERNEL.exists():
            raise LabError(f"no {KERNEL}: install user-mode-linux, or set LAB_KERNEL")
        run("cc", "-O2", "-shared", "-fPIC", "-o", self.state / "xstate.so", HERE / "xstate.c")
        pairs = [_packets() for _ in SIDES]
        ends = [one for pair in pairs for one in pair]
        for one in ends:
            one.setblocking(False)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        inner = tuple(pair[1].fileno() for pair in pairs)
        self._wire(shape, (f"fd:{inner[0]}", f"fd:{inner[1]}"), inner)
        for side, pair in zip(SIDES, pairs, strict=True):
            self._boot(side, pair[0].fileno())
        for one in ends:
            one.close()

    def _boot(self, side: Side, path_fd: int) -> None:
        run("ip", "-n", self.namespace, "tuntap", "add", "dev", LINK[side], "mode", "tap")
        self._address(self.namespace, LINK[side], MANAGEMENT[side][0] + "/30")
        folder = self.state / side
        words = [
            *(f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"),
            *(
                f"init={HERE}/guest/init",
                "con=null",
                "con0=null,fd:1",
                f"umid={side}",
                f"uml_dir={folder}/uml",
            ),
            f"vec0:transport=tap,ifname={LINK[side]},depth=128",
            f"vec1:transport=fd,fd={path_fd},depth=256,mtu=1500",
            *(f"lab.side={side}", f"lab.dir={folder}", f"lab.guest={HERE}/guest"),
            *([f"lab.modules={MODULES}"] if MODULES else []),
        ]
        env = ["TMPDIR=/dev/shm", f"LD_PRELOAD={self.state}/xstate.so"]
        command = self.inside("--wd=/", KERNEL, *words)
        self._start(["env", *env, *command], folder, "host", pass_fds=(path_fd,))

    def _address(self, namespace: str, device: str, address: str) -> None:
        run("ip", "-n", namespace, "addr", "add", address, "dev", device)
        run("ip", "-n", namespace, "link", "set", device, "up")

    def _wait_until_up(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        for side in SIDES:
            self._wait_for_host(side, timeout_s)
        for side in SIDES:
            wait_for(partial(self._answers, side), f"ssh {side}", deadline - time.monotonic())

    def _wait_for_host(self, side: Side, timeout_s: float) -> None:
        folder = self.state / side
        ready, pid = folder / "ready", int((folder / "host.pid").read_text())
        with suppress(AssertionError):
            wait_for(lambda: ready.exists() or not alive(pid), side, timeout_s)
        if not ready.exists():
            said = (folder / "host.log").read_text(errors="replace")[-2000:]
            raise LabError(f"host {side} did not come up in {timeout_s:g} s; it said:\n{said}")

    def _answers(self, side: Side) -> bool:
        done = subprocess.run(self.ssh(side, "true"), stdin=subprocess.DEVNULL, capture_output=True)
        return done.returncode == 0


def _packets() -> tuple[socket.socket, socket.socket]:
    """Both ends of a pipe that keeps frames apart."""
    return socket.socketpair(getattr(socket, "AF_UNIX", 1), socket.SOCK_SEQPACKET)
