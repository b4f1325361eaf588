"""A Linux host for tests: real /proc/sys/net, real tc, an /etc of its own, in namespaces that die with it.

Network, mount and process namespaces; /bin/sh can be any shell of this machine.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Self

from hostcfg.errors import HostError
from hostcfg.model import Facts, Native, Reading, State
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
@SHELL@
echo ready
exec sleep 100000
"""


class Namespace:
    """The host.  A context manager: the end kills everything that runs in it."""

    def __init__(self, shell: str | None = None, extra: str = "") -> None:
        shell_line = f"mount --bind {shlex.quote(shell)} $(readlink -f /bin/sh)\n" if shell else ""
        script = _SETUP.replace("@SHELL@", extra + "\n" + shell_line)
        self._holder = subprocess.Popen(
            [
                "unshare",
                "-n",
                "-m",
                "-p",
                "--fork",
                "--mount-proc",
                "--kill-child",
                "/bin/dash",
                "-c",
                script,
            ],
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
            "for f in /proc/sys/net/ipv4/tcp_[!f]* /proc/sys/net/core/*; do"
            " case $f in *rss_key*) continue;; esac;"
            " printf '%s=' $f; cat $f 2>&1; done;"
            " tc qdisc show; cat /sys/class/net/*/tx_queue_len;"
            " cd /etc; find . ! -path './ld*' | sort | while read -r f; do"
            ' stat -c \'%n %f %u:%g %F\' "$f"; [ -f "$f" ] && md5sum <"$f"; done; true'
        )

    def close(self) -> None:
        """Kills everything inside."""
        self._holder.send_signal(signal.SIGKILL)
        os.kill(self.pid, signal.SIGKILL)
        self._holder.wait()
        assert self._holder.stdout is not None
        self._holder.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class NamespaceTransport(Transport):
    """Commands inside; ``refuse`` stands for a host that lets nobody in any more."""

    def __init__(self, namespace: Namespace, host: str = "host1") -> None:
        super().__init__(host)
        self.namespace = namespace
        self.refuse = False
        self.cut = False

    def open(self) -> None:
        if self.refuse:
            raise HostError("unreachable", "connection refused", host=self.host)
        self.connections_made += 1

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        if self.cut:
            raise HostError("command", "the connection is gone", host=self.host)
        self.commands_run += 1
        argv = self.namespace.argv(*shlex.split(command.line))
        done = subprocess.run(argv, input=command.stdin, capture_output=True, timeout=timeout_s or 60)
        return CommandResult(done.stdout, done.stderr, done.returncode)

    def close(self) -> None:
        pass


def facts_of(namespace: Namespace, keys: list[str], host: str = "host1") -> Facts:
    """Facts as a probe would give them, of these native keys alone."""
    native: dict[str, Native] = {}
    for key in keys:
        kind, _, name = key.partition("/")
        if kind == "qdisc":
            raw = namespace.sh(f"tc qdisc show dev {name} | sed -n '1s/qdisc \\([^ ]*\\).*/\\1/p'")
        elif kind == "txqueuelen":
            raw = namespace.sh(f"cat /sys/class/net/{name}/tx_queue_len")
        else:
            raw = namespace.get(key)
        native[key] = Native(key, raw.rstrip("\n"))
    readings = {key: Reading(key, native[key].raw, State.VALUE, key) for key in keys}
    return Facts(host, "linux", "Debian 12", (6, 18), readings, native)
