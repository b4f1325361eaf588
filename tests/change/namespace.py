"""A Linux host for tests: real /proc/sys/net, real tc, an /etc of its own, in namespaces that die with it.

Network, mount and process namespaces; /bin/sh can be any shell of this machine.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self

from hostcfg.errors import HostError
from hostcfg.transports.base import Command, CommandResult, Transport

_SETUP = r"""
set -e
mount --make-rprivate /
mount -t tmpfs -o size=16m,mode=755 tmpfs /run
mkdir /run/hc-new
mount -t tmpfs -o size=8m,mode=755 tmpfs /run/hc-new
for f in passwd group nsswitch.conf ld.so.cache ld.so.conf ld.so.conf.d alternatives iproute2; do
  [ ! -e /etc/$f ] || cp -a /etc/$f /run/hc-new/
done
mkdir -p /run/hc-new/sysctl.d /run/hc-new/ssh
echo 0123456789abcdef0123456789abcdef >/run/hc-new/machine-id
printf '# kept by hand\nnet.ipv4.ip_forward=0\n' >/run/hc-new/sysctl.conf
printf 'ssh-ed25519 AAAAIFirstMachine root@test\n' >/run/hc-new/ssh/ssh_host_ed25519_key.pub
mount --move /run/hc-new /etc
mount -t tmpfs -o size=4m,mode=755 tmpfs /var/lib
mount -t sysfs sysfs /sys
ip link set lo up
ip link add eth0 type veth peer name eth1
ip link set eth0 up
ip link set eth1 up
ip addr add 192.0.2.1/24 dev eth0
ip route add default via 192.0.2.2
@SHELL@
echo ready
exec sleep 100000
"""


# it dies with the test run, however that ends
_HOLDER = "setpriv --pdeathsig KILL unshare -n -m -p --fork --mount-proc --kill-child /bin/dash -c"


class Namespace:
    """The host.  A context manager: the end kills everything that runs in it."""

    def __init__(self, shell: str | None = None, extra: str = "") -> None:
        shell_line = f"mount --bind {shlex.quote(shell)} $(readlink -f /bin/sh)\n" if shell else ""
        script = _SETUP.replace("@SHELL@", extra + "\n" + shell_line)
        self._holder = subprocess.Popen(
            [*_HOLDER.split(), script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        line = self._holder.stdout.readline()
        if line.strip() != "ready":
            self._holder.kill()
            raise RuntimeError(f"no namespace: {line!r}")
        children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text()
        self.pid = int(children.split()[0])

    @classmethod
    def attach(cls, pid: int) -> Self:
        """The host that another process made, for a controller that is going to be killed."""
        found = cls.__new__(cls)
        found.pid = pid
        return found

    def argv(self, *command: str) -> list[str]:
        """``command`` as it is run inside."""
        return ["nsenter", "-t", str(self.pid), "-n", "-m", "-p", "--", *command]

    def sh(self, script: str, check: bool = True) -> str:
        """What ``script`` prints inside."""
        done = subprocess.run(self.argv("/bin/sh", "-c", script), capture_output=True, text=True, timeout=60)
        if check and done.returncode != 0:
            raise AssertionError(f"{script!r}: {done.returncode} {done.stdout} {done.stderr}")
        return done.stdout

    def get(self, key: str) -> str:
        """The text of a sysctl."""
        return self.sh(f"cat /proc/sys/{key.translate(str.maketrans('./', '/.'))}").rstrip("\n")

    def set(self, key: str, raw: str) -> None:
        """Writes a sysctl as somebody else would."""
        path = f"/proc/sys/{key.translate(str.maketrans('./', '/.'))}"
        self.sh(f"printf '%s\\n' {shlex.quote(raw)} | cat >{path}")

    def processes(self) -> list[str]:
        """Command lines of everything that runs inside, but for the host's own init and this look."""
        out = self.sh("for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline 2>/dev/null; echo; done")
        return [
            line.strip() for line in out.splitlines() if "/var/lib/hostcfg" in line and "for p in" not in line
        ]

    def snapshot(self) -> str:
        """Everything that a change may touch: values, queues, files with modes, owners and contents."""
        return self.sh(
            "set -- /proc/sys/net/ipv4/tcp_[!f]* /proc/sys/net/ipv4/ipfrag_*_thresh /proc/sys/net/core/*;"
            "grep -H '' \"$@\" 2>&1 | grep -v rss_key; tc qdisc show; cat /sys/class/net/*/tx_queue_len;"
            "cd /etc; find . ! -path './ld*' -printf '%p %m %U:%G %y %l\\n' | sort;"
            "find . -type f ! -path './ld*' -exec md5sum {} + | sort"
        )

    def close(self) -> None:
        """Kills everything inside."""
        self._holder.send_signal(signal.SIGKILL)
        with suppress(ProcessLookupError):  # it may have died with its holder by now
            os.kill(self.pid, signal.SIGKILL)
        self._holder.wait()
        assert self._holder.stdout is not None
        self._holder.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Door(Protocol):
    """How a transport gets in."""

    host: Namespace
    refuse: bool
    cut: bool
    user: str
    umask: str
    cut_at: tuple[int, str] | None
    kill_shell: tuple[int, int, str, str] | None
    killed: bool
    trace: str
    commands: int


class NamespaceTransport(Transport):
    """Commands inside, as long as the door lets them."""

    def __init__(self, door: Door, host: str = "host1") -> None:
        super().__init__(host)
        self.door = door

    def open(self) -> None:
        if self.door.refuse:
            raise HostError("unreachable", "connection refused", host=self.host)
        self.connections_made += 1

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        if self.door.cut:
            raise HostError("command", "the connection is gone", host=self.host)
        self.commands_run += 1
        self.door.commands += 1
        number, cut_at = self.door.commands, self.door.cut_at
        if cut_at == (number, "before"):
            raise HostError("command", "the connection broke", host=self.host)
        words = self._words(command, number)
        done = subprocess.run(
            self.door.host.argv(*words), input=command.stdin, capture_output=True, timeout=timeout_s or 60
        )
        if cut_at == (number, "for good"):
            self.door.cut = True
        if cut_at in ((number, "after"), (number, "for good")):
            raise HostError("command", "the connection broke", host=self.host)
        if done.returncode in (-9, 137):
            self.door.killed = True
        return CommandResult(done.stdout, done.stderr, done.returncode)

    def _words(self, command: Command, number: int) -> list[str]:
        words = ["sh", "-c", f'umask {self.door.umask}; exec "$@"', "sh", *shlex.split(command.line)]
        if self.door.user != "root":
            return ["setpriv", "--reuid", self.door.user, "--clear-groups", *words]
        if self.door.kill_shell is not None and self.door.kill_shell[0] == number:
            _, when, calls, what = self.door.kill_shell
            what = what if "=" in what else f"signal={what}"
            return ["strace", "-o", self.door.trace, "-e", f"inject={calls}:{what}:when={when}", *words]
        return words

    def close(self) -> None:
        pass
