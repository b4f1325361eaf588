"""sudo and doas for real: with a password, without one, with a wrong one, and refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError
from hostcfg.transports.base import Command, CommandResult
from hostcfg.transports.become import DoasTerminal, SudoPassword, dialogue_for
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.prompts import Prompts
from hostcfg.transports.ssh import SshTransport
from tests.sshd import SshServer, doas_conf, sudoers, system_user, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostcfg.transports.destination import Become
    from tests.transports.conftest import MakeContext

PASSWORD = 'corr3ct h\'orse $(id) "x" é'
REPORT = Command.sh("id -un; id -un >&2; exit 4")
needs_sudo = pytest.mark.skipif(shutil.which("sudo") is None, reason="install sudo")
needs_doas = pytest.mark.skipif(shutil.which("doas") is None, reason="install doas (Debian: opendoas)")
pytestmark = pytest.mark.root


@pytest.fixture(scope="module")
def user() -> Iterator[str]:
    with system_user(password=PASSWORD) as name:
        yield name


@pytest.fixture(scope="module")
def host(user: str) -> Iterator[SshServer]:
    with SshServer(user=user) as running:
        yield running


def run(
    host: SshServer,
    make_context: MakeContext,
    become: Become,
    command: Command = REPORT,
    *,
    password: str | None = None,
    timeout_s: float = 15,
) -> CommandResult:
    prompts = Prompts(become=lambda _: password) if password is not None else None
    context = make_context(host, prompts=prompts, timeout_s=timeout_s)
    destination = parse_destination(host.destination, become=become)
    with SshTransport(destination, context) as transport:
        result = transport.run(command)
        assert (transport.connections_made, transport.commands_run) == (1, 1)
        return result


def refused(
    host: SshServer, make_context: MakeContext, become: Become, *, password: str | None = None
) -> str:
    with pytest.raises(HostError) as caught:
        run(host, make_context, become, password=password)
    assert caught.value.kind == "no_permission"
    if password is not None:
        assert password not in str(caught.value)
    return str(caught.value)


AS_ROOT = CommandResult(b"root\n", b"root\n", 4)


@needs_sudo
@pytest.mark.parametrize("password", [None, PASSWORD, "not needed"])
def test_sudo_without_a_password(
    host: SshServer, make_context: MakeContext, user: str, password: str | None
) -> None:
    """NOPASSWD: a password that is given all the same reaches neither sudo nor the shell."""
    with sudoers(f"{user} ALL=(ALL) NOPASSWD: ALL"):
        assert run(host, make_context, "sudo", password=password) == AS_ROOT
        script = Command.sh("cat; set; echo \"args: $0 $*\"; cat /proc/$$/cmdline | tr '\\0' ' '")
        result = run(host, make_context, "sudo", script, password=password)
    if password is not None:
        assert password.encode() not in result.stdout + result.stderr
    assert b"args: /bin/sh" in result.stdout


@needs_sudo
def test_sudo_with_a_password(host: SshServer, make_context: MakeContext, user: str) -> None:
    with sudoers(f"{user} ALL=(ALL) ALL"):
        assert run(host, make_context, "sudo", password=PASSWORD) == AS_ROOT
        data = os.urandom(300_000)
        result = run(host, make_context, "sudo", Command("cat", data), password=PASSWORD)
    assert result == CommandResult(data, b"", 0)


@needs_sudo
def test_sudo_that_remembers_the_password(host: SshServer, make_context: MakeContext, user: str) -> None:
    """A second command within sudo's time-out gets no prompt, and the shell gets no password."""
    with sudoers(f"{user} ALL=(ALL) ALL", f"Defaults:{user} timestamp_type=global"):
        context = make_context(host, prompts=Prompts(become=lambda _: PASSWORD), timeout_s=15)
        with SshTransport(parse_destination(host.destination, become="sudo"), context) as transport:
            for _ in range(3):
                assert transport.run(REPORT) == AS_ROOT
        subprocess.run(["rm", "-f", f"/run/sudo/ts/{user}"], check=True)


@needs_sudo
def test_sudo_with_a_lecture_and_a_terminal_of_its_own(
    host: SshServer, make_context: MakeContext, user: str
) -> None:
    rules = (f"{user} ALL=(ALL) ALL", f"Defaults:{user} lecture=always, use_pty")
    with sudoers(*rules):
        assert run(host, make_context, "sudo", password=PASSWORD) == AS_ROOT


@needs_sudo
def test_sudo_refusals(host: SshServer, make_context: MakeContext, user: str) -> None:
    with sudoers(f"{user} ALL=(ALL) ALL", f"Defaults:{user} passwd_tries=3"):
        assert "wants a password and none was given" in refused(host, make_context, "sudo")
        assert "does not accept the password" in refused(host, make_context, "sudo", password="wrong one")
    message = refused(host, make_context, "sudo", password=PASSWORD)
    assert "does not let this user run /bin/sh as root" in message
    assert "sudoers" in message
    with sudoers(f"{user} ALL=(ALL) NOPASSWD: /bin/true"):
        assert "sudo" in refused(host, make_context, "sudo")
    with sudoers(f"{user} ALL=(ALL) NOPASSWD: ALL", f"Defaults:{user} requiretty"):
        assert "requiretty" in refused(host, make_context, "sudo")


@needs_sudo
def test_a_wrong_password_is_tried_once(host: SshServer, make_context: MakeContext, user: str) -> None:
    """Three lines of a script as three passwords would lock an account."""
    log = host.directory / "sudo.log"
    with sudoers(f"{user} ALL=(ALL) ALL", f"Defaults:{user} logfile={log}"):
        refused(host, make_context, "sudo", password="wrong one")
    text = log.read_text()
    assert "1 incorrect password attempt" in text
    assert "wrong one" not in text


@needs_sudo
def test_sudo_for_a_csh_user(make_context: MakeContext) -> None:
    with (
        system_user(password=PASSWORD, shell="/bin/csh") as user,
        SshServer(user=user) as host,
        sudoers(f"{user} ALL=(ALL) ALL"),
    ):
        assert run(host, make_context, "sudo", password=PASSWORD) == AS_ROOT


@needs_doas
@pytest.mark.parametrize("password", [None, PASSWORD])
def test_doas_without_a_password(
    host: SshServer, make_context: MakeContext, user: str, password: str | None
) -> None:
    with doas_conf(f"permit nopass {user}"):
        assert run(host, make_context, "doas", password=password) == AS_ROOT


@needs_doas
@pytest.mark.parametrize("size", [0, 3_000, 300_000])
def test_doas_with_a_password(host: SshServer, make_context: MakeContext, user: str, size: int) -> None:
    """On a raw terminal: every byte goes through, both ways, and the streams stay apart."""
    data = bytes(range(256)) * (size // 256 + 1)
    with doas_conf(f"permit {user}"):
        assert run(host, make_context, "doas", password=PASSWORD) == AS_ROOT
        script = Command("cat; printf 'to errors\\r\\n\\001' >&2; exit 7", data[:size])
        result = run(host, make_context, "doas", script, password=PASSWORD)
    assert result == CommandResult(data[:size], b"to errors\r\n\x01", 7)


@needs_doas
def test_doas_leaves_nothing_in_tmp(host: SshServer, make_context: MakeContext, user: str) -> None:
    with doas_conf(f"permit {user}"):
        before = set(Path("/tmp").glob("tmp.*"))
        run(host, make_context, "doas", Command("true", b"unread" * 1000), password=PASSWORD)
        with pytest.raises(HostError):
            run(host, make_context, "doas", Command.sh("sleep 20"), password=PASSWORD, timeout_s=2)

        def left() -> set[Path]:
            new = set(Path("/tmp").glob("tmp.*")) - before
            return {path for path in new if path.is_file() and path.stat().st_uid == 0}

        wait_for(lambda: not left(), "no file left")


@needs_doas
def test_doas_for_a_csh_user(make_context: MakeContext) -> None:
    with (
        system_user(password=PASSWORD, shell="/bin/csh") as user,
        SshServer(user=user) as host,
        doas_conf(f"permit {user}"),
    ):
        assert run(host, make_context, "doas", password=PASSWORD) == AS_ROOT


@needs_doas
def test_doas_refusals(host: SshServer, make_context: MakeContext, user: str) -> None:
    with doas_conf(f"permit {user}"):
        assert "wants a password and none was given" in refused(host, make_context, "doas")
        assert "does not accept the password" in refused(host, make_context, "doas", password="wrong one")
    with doas_conf("permit nobody"):
        for password in (None, PASSWORD):
            message = refused(host, make_context, "doas", password=password)
            assert "does not let this user run /bin/sh as root" in message


def test_a_program_that_is_not_there(make_context: MakeContext) -> None:
    with system_user() as user, SshServer(user=user, options=["SetEnv PATH=/nowhere"]) as host:
        for become in ("sudo", "doas"):
            with pytest.raises(HostError, match="not installed") as caught:
                run(host, make_context, become)
            assert caught.value.kind == "no_permission"


@needs_sudo
def test_a_wrong_password_is_asked_for_again(host: SshServer, make_context: MakeContext, user: str) -> None:
    answers = iter(["wrong one", PASSWORD])
    context = make_context(host, prompts=Prompts(become=lambda _: next(answers)), timeout_s=15)
    with (
        sudoers(f"{user} ALL=(ALL) ALL"),
        SshTransport(parse_destination(host.destination, become="sudo"), context) as transport,
    ):
        with pytest.raises(HostError):
            transport.run(REPORT)
        assert transport.run(REPORT) == AS_ROOT


def test_root_needs_nobody(make_context: MakeContext) -> None:
    with SshServer(options=["SetEnv PATH=/usr/bin:/bin"]) as server:
        assert run(server, make_context, "doas", password="unused") == AS_ROOT


LOCAL = """
import json, sys
from hostcfg.errors import HostError
from hostcfg.transports.base import Command
from hostcfg.transports.local import LocalTransport
from hostcfg.transports.prompts import Prompts
become, password = sys.argv[1], sys.stdin.readline().rstrip("\\n")
prompts = Prompts(become=lambda host: password) if password else None
try:
    with LocalTransport(become=become, prompts=prompts, timeout_s=15) as host:
        r = host.run(Command("cat; id -un >&2; exit 4", b"\\x00\\r\\n\\x04\\x03" * 5000))
    print(json.dumps([r.stdout == b"\\x00\\r\\n\\x04\\x03" * 5000, r.stderr.decode(), r.status]))
except HostError as error:
    print(json.dumps([error.kind, str(error)]))
"""


def local(user: str, become: str, password: str) -> list[object]:
    """A LocalTransport that runs as ``user``."""
    root = Path(__file__).parents[2]
    as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--reset-env"]
    usable = (
        "import os, sys; sys.exit(sys.version_info < (3, 11) or not os.access(sys.executable, os.X_OK) "
        f"or not os.access({str(root / 'hostcfg')!r}, os.X_OK))"
    )
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([*as_user, python, "-c", usable], cwd="/", capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("no Python, or no checkout, that other users may read")
    environment = {"PYTHONPATH": os.pathsep.join([str(root), *sys.path[1:]]), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [*as_user[:-1], python, "-c", LOCAL, become],
        cwd="/",
        input=password + "\n",
        capture_output=True,
        text=True,
        env=environment,
    )
    found: list[object] = json.loads(done.stdout) if done.stdout else [done.stderr]
    return found


@needs_sudo
def test_local_sudo(user: str) -> None:
    with sudoers(f"{user} ALL=(ALL) ALL"):
        assert local(user, "sudo", PASSWORD) == [True, "root\n", 4]
        kind, message = local(user, "sudo", "wrong one")
        assert (kind, message) == ("no_permission", "local: sudo does not accept the password")
        assert local(user, "sudo", "")[0] == "no_permission"
    with sudoers(f"{user} ALL=(ALL) NOPASSWD: ALL"):
        for password in ("", PASSWORD):
            assert local(user, "sudo", password) == [True, "root\n", 4]


@needs_doas
def test_local_doas(user: str) -> None:
    with doas_conf(f"permit {user}"):
        assert local(user, "doas", PASSWORD) == [True, "root\n", 4]
        assert local(user, "doas", "wrong one")[0] == "no_permission"
        assert local(user, "doas", "")[0] == "no_permission"
    with doas_conf(f"permit nopass {user}"):
        for password in ("", PASSWORD):
            assert local(user, "doas", password) == [True, "root\n", 4]


def test_a_password_is_in_no_command_line_and_no_representation() -> None:
    for kind in (SudoPassword, DoasTerminal):
        dialogue = kind(REPORT, "far", "hunter2")
        assert "hunter2" not in dialogue.line + repr(dialogue)
        assert dialogue.start() == b""
    with pytest.raises(HostError, match="line break"):
        dialogue_for(REPORT, host="far", become="sudo", password="two\nlines")
