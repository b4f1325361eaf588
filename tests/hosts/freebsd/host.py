"""Makes an emulated FreeBSD, runs commands in it, and serves it over SSH."""

from __future__ import annotations

import compileall
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.hosts.freebsd.door import Door
from tests.hosts.freebsd.programs.kernel import Kernel, write_rows
from tests.hosts.freebsd.releases import RELEASES, new_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
TESTS = HERE.parents[1]
CSH = Path(os.path.realpath(found)).name if (found := shutil.which("csh")) else None
"""The csh of this machine, which is root's shell before 14; without one root gets sh."""
_PATH = "/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
# What of the base system is the test machine's own program, and where FreeBSD has it.
_REAL = {
    "/bin": "cat chmod cp date dd echo expr hostname kill ln ls mkdir mv pwd rm rmdir sleep sync test [",
    "/usr/bin": "awk basename chgrp cmp cut dirname env false find grep head hexdump id mktemp od printf sed "
    "sort tail tee touch tr true uniq xargs",
    "/usr/sbin": "chown",
}
_EMULATED = {
    "/sbin": "sysctl kldload kldunload kldstat ifconfig route",
    "/usr/bin": "netstat uname su wc nc logger which",
    "/usr/sbin": "service jail daemon",
    "/bin": "ps",
}
_FOLDERS = (
    "bin sbin etc/ssh boot/kernel dev root home/ops tmp var/empty var/run var/log var/db var/lib usr/bin "
    "usr/sbin usr/local/sbin usr/local/bin run/sshd emu/usr emu/python emu/source/tests emu/proc emu/old"
)
_PROGRAM = """\
#!/emu/interpreter -IS
import sys
sys.path.insert(0, "/emu/source")
from tests.hosts.freebsd.programs.main import main
main()
"""
_PASSWD = """\
root:x:0:0:Charlie &:/root:{shell}
sshd:x:22:22:Secure Shell Daemon:/var/empty:/usr/sbin/nologin
ops:x:1001:1001:Ops:/home/ops:/bin/sh
"""
_GROUP = "wheel:x:0:root,ops\noperator:x:5:root\nsshd:x:22:\nops:x:1001:\n"
SYSCTL_CONF = """\
#
#  This file is read when going to multi-user and its contents piped thru
#  ``sysctl'' to adjust kernel values.  ``man 5 sysctl.conf'' for details.
#

# Uncomment this to prevent users from seeing information about processes that
# are being run under another UID.
#security.bsd.see_other_uids=0
"""


@dataclass
class FreeBsdHost:
    """One host of a release; a context manager that ends everything that runs in it.

    ``values``, ``about`` and ``without`` go to :func:`new_state`; ``files`` are absolute path ->
    contents; ``missing`` programs (``netstat``) that this host has not; ``sshd`` more lines of its
    configuration; ``address`` where it listens.
    """

    release: str = "14.2"
    values: Mapping[str, str] | None = None
    about: Mapping[str, str] | None = None
    without: Sequence[str] = ()
    files: Mapping[str, str] | None = None
    missing: Sequence[str] = ()
    sshd: Sequence[str] = ()
    address: str = "127.0.0.1"

    def __post_init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="hostcfg-freebsd-"))
        self.state = self.root / "emu" / "state"
        self.door = Door(
            address=self.address,
            options=("DebianBanner no", "VersionAddendum FreeBSD-20240806", *self.sshd)[
                2 if any("VersionAddendum" in line for line in self.sshd) else 0 :
            ],
            accepts=self._accepts,
        )
        self._holder: subprocess.Popen[str] | None = None
        self._pid = 0

    def __enter__(self) -> Self:
        try:
            self._build()
            self._boot()
            self.door.enter = self.enter()
            self.door.__enter__()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what tests ask -----------------------------------------------------------------------------

    def get(self, name: str) -> str | None:
        """A value in force, without a process on the host."""
        with Kernel(str(self.state)) as kernel:
            return kernel.get(name)

    def set(self, values: dict[str, str]) -> None:
        """Put values there that nobody checks."""
        with Kernel(str(self.state), write=True) as kernel:
            kernel.store(values)

    def count(self, **mbufs: int) -> None:
        """Numbers of ``netstat -m`` from now on: ``jumbo9_failures`` is libxo's ``jumbo9-failures``."""
        path = self.state / "about"
        rows = dict(line.split("\t") for line in path.read_text().splitlines())
        now = dict(pair.split("=") for pair in rows["mbufs"].split())
        now |= {name.replace("_", "-"): str(number) for name, number in mbufs.items()}
        rows["mbufs"] = " ".join(f"{name}={number}" for name, number in now.items())
        write_rows(str(path), rows.items())

    def file(self, path: str) -> Path:
        """A file of the host as the test sees it."""
        return self.root / path.lstrip("/")

    def enter(self, user: str = "root") -> list[str]:
        """What stands before a command so that it runs inside."""
        assert self._holder is not None
        words = ["nsenter", "-t", str(self._pid), "-m", "-p", "-u", "--"]
        ids = "--groups=0,5" if user == "root" else "--reuid=1001 --regid=1001 --groups=1001,0"
        return [*words, "/emu/usr/bin/setpriv", *ids.split(), "--"]

    def run(
        self, command: str, *, user: str = "root", stdin: bytes = b"", timeout_s: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """``sh -c COMMAND`` inside, as at the console."""
        home = "/root" if user == "root" else f"/home/{user}"
        path = _PATH if user == "root" else f"{_PATH}:{home}/bin"
        env = {"PATH": path, "HOME": home, "SHELL": "/bin/sh", "USER": user}
        done = subprocess.run(
            [*self.enter(user), "/bin/sh", "-c", command],
            capture_output=True,
            input=stdin,
            env=env,
            timeout=timeout_s,
            check=False,
        )
        texts = (done.stdout, done.stderr)
        out, err = (text.decode("utf-8", "backslashreplace") for text in texts)
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def snapshot(self) -> dict[str, str]:
        """Everything that a change may touch: values, modules, and files with mode, owner and contents.

        hostcfg's own folder, logs and what programs leave in /tmp and /var/run are not part of it.
        """
        found = {"values": (self.state / "values").read_text()}
        skipped = (
            "emu/",
            "var/lib/hostcfg",
            "var/log/",
            "tmp",
            "var/run",
            "dev/",
            str(self.door.directory)[1:],
        )
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if name.startswith(skipped):
                continue
            stat = path.lstat()
            data = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[name] = f"{stat.st_mode:o} {stat.st_uid}:{stat.st_gid} {data}"
        return found

    def processes(self) -> list[str]:
        """Command lines of hostcfg's timers."""
        lines = self.run("ps -axo pid,command").stdout.splitlines()
        return [line for line in lines if "/var/lib/hostcfg" in line]

    def reboot(self) -> None:
        """Ends all processes, forgets what is not on the disk, and boots as rc(8) would."""
        self._stop()
        shutil.rmtree(self.state)
        self._boot(up_s=1)
        self.door.enter = self.enter()

    def close(self) -> None:
        """Ends the host and removes it."""
        self.door.close()
        self._stop()
        subprocess.run(["rm", "-rf", "--one-file-system", str(self.root)], check=True)

    # -- how it is made -----------------------------------------------------------------------------

    def _accepts(self) -> bool:
        with Kernel(str(self.state)) as kernel:
            return kernel.accepts_connections()

    def _build(self) -> None:
        compileall.compile_dir(HERE / "programs", quiet=1)
        self.root.chmod(0o755)
        for folder in [*_FOLDERS.split(), str(self.door.directory)[1:]]:
            (self.root / folder).mkdir(parents=True, exist_ok=True)
            (self.root / folder).chmod(0o755)
        (self.root / "tmp").chmod(0o1777)
        os.chown(self.root / "home/ops", 1001, 1001)
        self._programs()
        shell = RELEASES[self.release].root_shell if CSH is not None else "/bin/sh"
        contents = {
            "/etc/passwd": _PASSWD.format(shell=shell),
            "/etc/group": _GROUP,
            "/etc/shells": "/bin/sh\n/bin/csh\n",
            "/etc/nsswitch.conf": "passwd: files\ngroup: files\n",
            "/etc/sysctl.conf": SYSCTL_CONF,
            "/etc/rc.conf": 'hostname="fbsd"\nsshd_enable="YES"\n',
            "/etc/ssh/ssh_host_ed25519_key.pub": "ssh-ed25519 AAAAIEmulatedFreeBsd root@fbsd\n",
            "/var/log/messages": "",
            "/emu/boot": _BOOT,
            **(self.files or {}),
        }
        for path, text in contents.items():
            self.file(path).parent.mkdir(parents=True, exist_ok=True)
            self.file(path).write_text(text)
            self.file(path).chmod(0o644)

    def _boot(self, up_s: int = 3600) -> None:
        """The loader, the kernel, and what rc(8) does with settings."""
        path = self.file("/boot/loader.conf")
        text = path.read_text() if path.exists() else ""
        loader = dict(re.findall(r'^([a-z_.0-9]+)="([^"]*)"$', text, re.MULTILINE))
        new_state(
            self.state,
            self.release,
            values=self.values,
            loader=loader,
            about=self.about,
            without=self.without,
            up_s=up_s,
        )
        self._start()
        if loader or self.file("/etc/sysctl.conf").read_text() != SYSCTL_CONF:
            self.run(". /emu/boot")

    def _programs(self) -> None:
        links = {"/lib": "emu/usr/lib", "/lib64": "emu/usr/lib64", "/usr/lib": "../emu/usr/lib"}
        if sys.base_prefix == "/usr/local":
            links["/usr/local/lib"] = "/emu/python/lib"  # where that Python has its library
        links["/emu/interpreter"] = f"python/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
        links["/bin/sh"] = "/emu/usr/bin/dash"
        for folder, names in _REAL.items():
            links |= {f"{folder}/{name}": f"/emu/usr/bin/{name}" for name in names.split()}
        for folder, names in _EMULATED.items():
            links |= {f"{folder}/{name}": "/emu/program" for name in names.split()}
        if CSH is not None:
            links["/bin/csh"] = f"/emu/usr/bin/{CSH}"
        for path, target in links.items():
            if path.rpartition("/")[2] not in self.missing:
                self.file(path).symlink_to(target)
        self.file("/emu/program").write_text(_PROGRAM)
        self.file("/emu/program").chmod(0o755)

    def _start(self) -> None:
        words = ["setpriv", "--pdeathsig", "TERM", "unshare", "-m", "-p", "-u", "--fork", "--kill-child"]
        name = f"fbsd{self.release.replace('.', '')}"
        arguments = [str(self.root), sys.base_prefix, str(TESTS), str(self.door.directory), name]
        self._holder = subprocess.Popen(
            [*words, "/bin/sh", str(HERE / "enter.sh"), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._holder.stdout is not None
        said = self._holder.stdout.readline()
        if said.strip() != "ready":
            raise RuntimeError(f"no namespace: {said}{self._holder.stdout.read()}")
        children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text()
        self._pid = int(children.split()[0])  # unshare's child: the namespace's first process

    def _stop(self) -> None:
        holder, self._holder = self._holder, None
        if holder is not None:
            if self._pid:
                os.kill(self._pid, signal.SIGKILL)
            holder.terminate()
            holder.wait()
            assert holder.stdout is not None
            holder.stdout.close()


_BOOT = """\
# What rc(8) does at boot with settings: modules of loader.conf, then sysctl.conf once early and once late.
rm -rf /var/run/*
[ -r /boot/loader.conf ] && for module in $(sed -n 's/^\\([a-z_]*\\)_load="YES"$/\\1/p' /boot/loader.conf); do
	kldload "$module"
done
service sysctl start
service sysctl lastload
"""
