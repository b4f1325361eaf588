"""A fleet at a terminal: questions come once, above no bar, and Ctrl-C leaves the terminal as it was."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import termios
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.sshd import SshServer, make_key, system_user

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

HOSTS = 5
PASSPHRASE = "open sesame"
CTRL_C = b"\x03"


@dataclass(frozen=True)
class Ended:
    """What a terminal showed, how the program ended, and whether the terminal echoes after it."""

    screen: str
    code: int
    echoes: bool


def at_terminal(
    words: Sequence[str], home: Path, *answers: tuple[str, bytes | signal.Signals], timeout_s: float = 60
) -> Ended:
    """hostcfg at a terminal of its own; each answer is typed (or sent) once its question is on the screen."""
    pid, terminal = pty.fork()
    if pid == 0:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SSH_", "HOSTCFG_"))}
        command = [sys.executable, "-m", "hostcfg", *words]
        os.execve(sys.executable, command, {**kept, "HOME": str(home), "TERM": "xterm"})
    screen, waiting = b"", list(answers)
    deadline = time.monotonic() + timeout_s
    try:
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(terminal, 1 << 16)
            except OSError:  # Linux: the other side is closed
                break
            if not data:
                break
            screen += data
            if waiting and waiting[0][0].encode() in screen and not echoes(terminal):
                answer = waiting.pop(0)[1]
                if isinstance(answer, bytes):
                    os.write(terminal, answer)
                else:
                    os.kill(pid, answer)
        echo = echoes(terminal)
    finally:
        if time.monotonic() >= deadline:
            os.kill(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
    return Ended(screen.decode(errors="replace"), code, echo)


def echoes(terminal: int) -> bool:
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def inventory(server: SshServer, folder: Path, *, user: str, key: Path | None = None) -> Path:
    """``HOSTS`` names for one server, and a HOME that reaches them."""
    ssh = folder / ".ssh"
    ssh.mkdir(mode=0o700)
    named = f"IdentityFile {key}\n" if key is not None else "PubkeyAuthentication no\n"
    (ssh / "config").write_text(f"Host *\nIdentityAgent none\nIdentitiesOnly yes\n{named}")
    (ssh / "known_hosts").write_text(server.known_hosts())
    path = folder / "hosts.ini"
    rows = (f"h{n} ansible_host={server.address} ansible_port={server.port}\n" for n in range(1, HOSTS + 1))
    path.write_text(f"{''.join(rows)}[all:vars]\nansible_user={user}\n")
    return path


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """The inventory of a server that takes a key with a passphrase."""
    key = make_key(tmp_path / "locked", passphrase=PASSPHRASE)
    with SshServer(authorized=[key]) as server:
        yield inventory(server, tmp_path, user=server.user, key=key)


def test_a_passphrase_is_asked_for_once_and_no_bar_covers_it(locked: Path) -> None:
    ended = at_terminal(
        ["show", "all", "-i", str(locked)], locked.parent, ("passphrase of", f"{PASSPHRASE}\n".encode())
    )
    assert (ended.code, ended.echoes) == (0, True), ended.screen
    assert ended.screen.count("passphrase of") == 1
    question = ended.screen.index("passphrase of")
    answered = ended.screen.index("\n", question)
    assert "hosts" not in ended.screen[question:answered]
    assert PASSPHRASE not in ended.screen
    assert "5 read" in ended.screen


@pytest.mark.parametrize("stop", [CTRL_C, signal.SIGTERM])
def test_a_stop_at_a_question_leaves_a_terminal_that_echoes(
    locked: Path, stop: bytes | signal.Signals
) -> None:
    ended = at_terminal(["show", "all", "-i", str(locked)], locked.parent, ("passphrase of", stop))
    assert (ended.code, ended.echoes) == (130, True), ended.screen
    assert ended.screen.count("interrupted before it answered") == HOSTS
    assert "Traceback" not in ended.screen


@pytest.mark.root
@pytest.mark.parametrize("stop", [CTRL_C, signal.SIGTERM])
def test_a_stop_at_the_one_question_for_all(locked: Path, stop: bytes | signal.Signals) -> None:
    words = ["show", "all", "-i", str(locked), "--ask-pass"]
    ended = at_terminal(words, locked.parent, ("password of every one of 5 hosts", stop))
    assert (ended.code, ended.echoes) == (130, True), ended.screen
    assert "Traceback" not in ended.screen


@pytest.mark.root
def test_one_password_serves_all_hosts(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    options = ["PasswordAuthentication yes", "UsePAM yes"]
    with system_user(password="one for all") as user, SshServer(options=options) as server:
        hosts = inventory(server, tmp_path, user=user)
        words = ["show", "all", "-i", str(hosts), "--ask-pass"]
        ended = at_terminal(words, tmp_path, ("password of every one of 5 hosts", b"one for all\n"))
        assert (ended.code, ended.echoes) == (0, True), ended.screen
        assert ended.screen.count("password of") == 1
        assert "5 read" in ended.screen
        wrong = at_terminal(words, tmp_path, ("password of every one of 5 hosts", b"another\n"))
        assert wrong.code == 2
        assert wrong.screen.count("password of") == 1
        assert wrong.screen.count("does not accept the password") == HOSTS
