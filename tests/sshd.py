"""Real OpenSSH servers, keys, agents and throw-away users for tests; all end with their ``with`` block.

Everything works without root but throw-away users, sudo and doas.  As root a server lets any user
in, otherwise only the one who runs the tests.  Debian and Ubuntu: openssh-server, openssh-client.
"""

from __future__ import annotations

import getpass
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin")
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
_START_S = 10.0
_PORT_TRIES = 5
_numbers = itertools.count(1)


def wait_for(condition: Callable[[], object], what: str, timeout_s: float = _START_S) -> None:
    """Return as soon as ``condition`` holds; AssertionError after ``timeout_s``."""
    deadline = time.monotonic() + timeout_s
    pause = socket.socketpair()
    with pause[0], pause[1]:
        pause[0].settimeout(0.01)
        while not condition():
            assert time.monotonic() < deadline, f"{what}: not within {timeout_s:g} s"
            with suppress(TimeoutError):
                pause[0].recv(1)


def make_key(path: Path, kind: str = "ed25519", *, passphrase: str = "", comment: str = "test") -> Path:
    """A new private key at ``path``, its public half beside it."""
    size = ["-b", "2048"] if kind == "rsa" else []
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, *size, "-N", passphrase, "-C", comment, "-f", str(path)],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return path


def sign_key(
    authority: Path, key: Path, *, principals: str, host: bool = False, validity: str = "-1m:+1h"
) -> Path:
    """A certificate for ``key`` beside it, signed by ``authority``."""
    kind = ["-h"] if host else []
    command = ["ssh-keygen", "-q", "-s", str(authority), *kind, "-I", "test", "-n", principals]
    subprocess.run([*command, "-V", validity, f"{key}.pub"], check=True)
    return Path(f"{key}-cert.pub")


def public_line(key: Path) -> str:
    """``ssh-ed25519 AAAA...`` of a private key's public half."""
    return " ".join(Path(f"{key}.pub").read_text().split()[:2])


def fingerprint_of(key: Path) -> str:
    """``SHA256:...`` as ssh-keygen prints it."""
    return subprocess.run(
        ["ssh-keygen", "-lf", f"{key}.pub"], check=True, capture_output=True, text=True
    ).stdout.split()[1]


@dataclass
class SshServer:
    """One sshd on free loopback ports; every connection and command is in its log.

    ``port`` is the first of ``ports``, ``extra_ports`` how many more there shall be.  ``host_keys``
    are key types to make, ``options`` further lines of sshd_config, ``authorized`` private keys
    whose public halves may log in; without any, :attr:`client_key` is made.
    """

    address: str = "127.0.0.1"
    host_keys: Sequence[str] = ("ed25519",)
    options: Sequence[str] = ()
    authorized: Sequence[Path] = ()
    port: int = 0
    extra_ports: int = 0
    host_key_files: Sequence[Path] = ()
    user: str = field(default_factory=getpass.getuser)

    def __post_init__(self) -> None:
        assert SSHD is not None, "install openssh-server"
        self.directory = Path(tempfile.mkdtemp(prefix="hostcfg-sshd-"))
        self.directory.chmod(0o755)  # users who log in must be able to read authorized_keys
        self.client_key = self.directory / "client"
        self.ports: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._prepare()
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def destination(self) -> str:
        """``user@address:port``."""
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{self.user}@{address}:{self.port}"

    @property
    def log(self) -> str:
        """Everything that sshd has logged."""
        path = self.directory / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def connections(self) -> int:
        """How many TCP connections it has accepted."""
        return len(re.findall(r"^Connection from ", self.log, re.MULTILINE))

    @property
    def commands(self) -> int:
        """How many commands it was asked to execute."""
        return len(re.findall(r"^Starting session: (?:forced-)?command", self.log, re.MULTILINE))

    def known_hosts(self, name: str | None = None) -> str:
        """Lines for a known_hosts file."""
        host = name or ",".join(f"[{self.address}]:{port}" for port in self.ports)
        return "".join(f"{host} {public_line(key)}\n" for key in self.host_key_files)

    def authorize(self, line: str) -> None:
        """One more line of authorized_keys, which may begin with options."""
        with (self.directory / "authorized_keys").open("a") as file:
            file.write(line + "\n")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Every connection's processes stand still (SIGSTOP): they are there, and nobody answers."""
        stopped = _children(self._process.pid) if self._process is not None else []
        try:
            for process in stopped:
                with suppress(psutil.NoSuchProcess):
                    process.suspend()
            yield
        finally:
            for process in stopped:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    def close(self) -> None:
        """End sshd and what it started, and remove its files."""
        process, self._process = self._process, None
        if process is not None:
            children = _children(process.pid)
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for child in children:
                with suppress(psutil.NoSuchProcess):
                    child.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _prepare(self) -> None:
        if not self.host_key_files:
            self.host_key_files = [make_key(self.directory / f"host_{t}", t) for t in self.host_keys]
        keys = list(self.authorized) or [make_key(self.client_key)]
        authorized = self.directory / "authorized_keys"
        authorized.write_text("".join(public_line(key) + "\n" for key in keys))
        authorized.chmod(0o644)
        (self.directory / "home").mkdir()
        if IS_ROOT:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd drops privileges

    def _config(self) -> str:
        lines = [
            *self.options,  # the first value of a keyword wins
            f"ListenAddress {self.address}",
            *(f"Port {port}" for port in self.ports),
            *(f"HostKey {key}" for key in self.host_key_files),
            f"AuthorizedKeysFile {self.directory}/authorized_keys",
            f"PidFile {self.directory}/pid",
            f"SetEnv HOME={self.directory}/home",  # the user's own shell profile is not under test
            "PermitRootLogin yes",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "MaxStartups 1000",
            "UseDNS no",
            "PrintMotd no",
            "PrintLastLog no",
            "LogLevel VERBOSE",
        ]
        return "\n".join(lines) + "\n"

    def _start(self) -> None:
        fixed = self.port != 0
        for _ in range(_PORT_TRIES):
            self.ports = [free_port(self.address) for _ in range(1 + self.extra_ports)]
            self.port = self.ports[0] = self.port if fixed else self.ports[0]
            config = self.directory / "sshd_config"
            config.write_text(self._config())
            command = [str(SSHD), "-D", "-f", str(config), "-E", str(self.directory / "log")]
            if setpriv := shutil.which("setpriv"):  # it ends even if the tests are killed
                command = [setpriv, "--pdeathsig", "TERM", *command]
            self._process = process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
            wait_for(self._started_or_ended, "sshd")
            if process.poll() is None:
                return
            assert "in use" in self.log, f"sshd does not start: {self.log}"
        raise AssertionError("no free port")

    def _started_or_ended(self) -> bool:
        return "Server listening" in self.log or self._process is None or self._process.poll() is not None


def free_port(address: str = "127.0.0.1") -> int:
    """A port that nobody listens on right now."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as sock:
        sock.bind((address, 0))
        port: int = sock.getsockname()[1]
        return port


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@contextmanager
def ssh_agent(directory: Path, *keys: Path) -> Iterator[str]:
    """A real ssh-agent that holds ``keys``; its socket."""
    path = str(directory / f"agent{next(_numbers)}")
    process = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: Path(path).exists(), "ssh-agent")
        for key in keys:
            subprocess.run(
                ["ssh-add", "-q", str(key)],
                check=True,
                env={**os.environ, "SSH_AUTH_SOCK": path},
                stdin=subprocess.DEVNULL,
            )
        yield path
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(5)


@contextmanager
def system_user(*, password: str | None = None, shell: str = "/bin/sh") -> Iterator[str]:
    """A throw-away user of this machine (needs root); removed with all that it runs."""
    name = f"hctest{os.getpid()}x{next(_numbers)}"
    with _lock("users"):  # useradd fails while another one holds /etc/.pwd.lock
        subprocess.run(["useradd", "--create-home", "--shell", shell, name], check=True)
    try:
        secret = password if password is not None else os.urandom(16).hex()
        with _lock("users"):
            subprocess.run(["chpasswd"], input=f"{name}:{secret}\n".encode(), check=True)
        yield name
    finally:
        for process in psutil.process_iter(["username"]):
            if process.info["username"] == name:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        with _lock("users"):
            subprocess.run(["userdel", "--force", "--remove", name], check=True, stderr=subprocess.DEVNULL)


@contextmanager
def _lock(name: str) -> Iterator[None]:
    """One test process at a time."""
    with Path(tempfile.gettempdir(), f"hostcfg-test-{name}.lock").open("w") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def sudoers(*lines: str) -> Iterator[None]:
    """Lines of sudoers(5) for as long as the test runs (needs root)."""
    path = Path(f"/etc/sudoers.d/hostcfg-test-{os.getpid()}-{next(_numbers)}")
    path.write_text("".join(line + "\n" for line in lines))
    path.chmod(0o440)
    try:
        subprocess.run(["visudo", "-cqf", str(path)], check=True)
        yield
    finally:
        path.unlink()


@contextmanager
def doas_conf(*lines: str) -> Iterator[None]:
    """A doas.conf(5) of these lines for as long as the test runs (needs root), then what was there."""
    path = Path("/etc/doas.conf")
    with _lock("doas"):
        before = path.read_bytes() if path.exists() else None
        path.write_text("".join(line + "\n" for line in lines))
        path.chmod(0o400)
        try:
            yield
        finally:
            if before is None:
                path.unlink()
            else:
                path.write_bytes(before)
