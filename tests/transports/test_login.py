"""Logging in to a real sshd: keys, agent, certificates, passwords, and what a refusal says."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError
from hostcfg.transports.base import Command
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.prompts import Prompts
from hostcfg.transports.ssh import SshTransport
from tests.sshd import SshServer, make_key, public_line, sign_key, ssh_agent, system_user

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hostcfg.transports.ssh_context import SshContext
    from tests.transports.conftest import MakeContext

PASSPHRASE = "open sesame é"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with authorized keys of each kind, and a wrong one."""
    directory = tmp_path_factory.mktemp("keys")
    for kind in ("ed25519", "ecdsa", "rsa"):
        make_key(directory / kind, kind)
        make_key(directory / f"{kind}-locked", kind, passphrase=PASSPHRASE)
    make_key(directory / "wrong")
    return directory


@pytest.fixture(scope="module")
def strict_server(keys: Path) -> Iterator[SshServer]:
    """Takes only the keys of ``keys`` that are not called wrong."""
    good = [path for path in keys.iterdir() if path.suffix != ".pub" and path.name != "wrong"]
    with SshServer(authorized=good, options=["MaxAuthTries 4"]) as running:
        yield running


def log_in(server: SshServer, context: SshContext, *, user: str | None = None) -> None:
    destination = parse_destination(server.destination.replace(server.user, user or server.user, 1))
    with SshTransport(destination, context) as host:
        assert host.run(Command.sh("echo in")).stdout == b"in\n"


def refused(server: SshServer, context: SshContext, *, user: str | None = None) -> str:
    with pytest.raises(HostError) as caught:
        log_in(server, context, user=user)
    assert caught.value.kind == "auth"
    return str(caught.value)


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_key(strict_server: SshServer, make_context: MakeContext, keys: Path, kind: str) -> None:
    log_in(strict_server, make_context(strict_server, config=f"IdentityFile {keys / kind}"))


@pytest.mark.parametrize("form", ["PEM", "PKCS8"])
@pytest.mark.parametrize("passphrase", ["", PASSPHRASE])
def test_older_forms_of_key_files(
    make_context: MakeContext, tmp_path: Path, form: str, passphrase: str
) -> None:
    import subprocess

    key = make_key(tmp_path / "key", "rsa")
    subprocess.run(
        ["ssh-keygen", "-q", "-p", "-m", form, "-P", "", "-N", passphrase, "-f", str(key)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert b"OPENSSH" not in key.read_bytes()
    prompts = Prompts(passphrase=lambda _: passphrase)
    with SshServer(authorized=[key]) as server:
        log_in(server, make_context(server, config=f"IdentityFile {key}", prompts=prompts))


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_encrypted_key_asks_once_for_all_hosts(
    strict_server: SshServer, make_context: MakeContext, keys: Path, kind: str
) -> None:
    asked: list[str] = []

    def answer(path: str) -> str:
        asked.append(path)
        return PASSPHRASE

    context = make_context(
        strict_server,
        config=f"IdentityFile {keys / kind}-locked",
        prompts=Prompts(passphrase=answer),
        timeout_s=30,
    )
    threads = [threading.Thread(target=log_in, args=(strict_server, context)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log_in(strict_server, context)
    assert asked == [f"{keys / kind}-locked"]


def test_wrong_passphrase_is_asked_again_and_then_given_up(
    strict_server: SshServer, make_context: MakeContext, keys: Path
) -> None:
    answers = iter(["one", "two", PASSPHRASE])
    config = f"IdentityFile {keys}/ed25519-locked"
    context = make_context(strict_server, config=config, prompts=Prompts(passphrase=lambda _: next(answers)))
    log_in(strict_server, context)
    context = make_context(strict_server, config=config, prompts=Prompts(passphrase=lambda _: "wrong"))
    message = refused(strict_server, context)
    assert "ed25519-locked is encrypted, and no passphrase was given that fits" in message
    assert "wrong" not in message


def test_encrypted_key_without_anybody_to_ask(
    strict_server: SshServer, make_context: MakeContext, keys: Path
) -> None:
    config = f"IdentityFile {keys}/ed25519-locked"
    message = refused(strict_server, make_context(strict_server, config=config))
    assert "ed25519-locked is encrypted: put it into ssh-agent" in message


def test_nothing_is_asked_while_another_key_works(
    strict_server: SshServer, make_context: MakeContext, keys: Path
) -> None:
    def ask(path: str) -> str:
        raise AssertionError(path)

    config = f"IdentityFile {keys}/ed25519-locked\nIdentityFile {keys}/ed25519"
    log_in(strict_server, make_context(strict_server, config=config, prompts=Prompts(passphrase=ask)))


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_agent(
    strict_server: SshServer, make_context: MakeContext, keys: Path, tmp_path: Path, kind: str
) -> None:
    with ssh_agent(tmp_path, keys / "wrong", keys / kind) as agent:
        context = make_context(strict_server, config=f"IdentityAgent {agent}\nIdentitiesOnly no")
        threads = [threading.Thread(target=log_in, args=(strict_server, context)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        log_in(strict_server, context)


def test_agent_holds_the_private_half_of_a_named_file(
    make_context: MakeContext, keys: Path, tmp_path: Path
) -> None:
    """IdentitiesOnly lets only the named one through, encrypted or as a .pub file, and it goes first."""
    with (
        SshServer(authorized=[keys / "ed25519"], options=["MaxAuthTries 1"]) as server,
        ssh_agent(tmp_path, keys / "wrong", keys / "rsa", keys / "ed25519") as agent,
    ):
        config = f"IdentityAgent {agent}\nIdentityFile {keys}/ed25519.pub\n"
        log_in(server, make_context(server, config=config))
        assert server.log.count("Failed publickey") == 0


def test_agent_with_the_right_key_last(
    strict_server: SshServer, make_context: MakeContext, keys: Path, tmp_path: Path
) -> None:
    wrong = [make_key(tmp_path / f"wrong{n}") for n in range(6)]
    with ssh_agent(tmp_path, *wrong, keys / "ed25519") as agent:
        message = refused(
            strict_server, make_context(strict_server, config=f"IdentityAgent {agent}\nIdentitiesOnly no")
        )
    assert "after 4 tries" in message
    assert "IdentitiesOnly yes" in message


def test_an_agent_that_is_gone(strict_server: SshServer, make_context: MakeContext, tmp_path: Path) -> None:
    config = f"IdentityAgent {tmp_path}/gone\nIdentitiesOnly no\nIdentityFile {tmp_path}/none"
    message = refused(strict_server, make_context(strict_server, config=config))
    assert "ssh-agent" in message
    assert "does not exist" in message


def test_an_agent_that_will_not_sign(make_context: MakeContext, keys: Path, tmp_path: Path) -> None:
    """A key that needs a confirmation nobody gives is passed over, and the connection goes on."""
    import subprocess

    with (
        SshServer(authorized=[keys / "rsa", keys / "ed25519"]) as server,
        ssh_agent(tmp_path) as agent,
    ):
        subprocess.run(
            ["ssh-add", "-q", "-c", str(keys / "rsa")],
            check=True,
            env={"SSH_AUTH_SOCK": agent, "PATH": "/usr/bin:/bin"},
            stderr=subprocess.DEVNULL,
        )
        config = (
            f"IdentityAgent {agent}\nIdentitiesOnly no\nIdentityFile {keys}/rsa\nIdentityFile {keys}/ed25519"
        )
        log_in(server, make_context(server, config=config))


def test_an_agent_that_hangs_costs_no_more_than_the_time_limit(
    strict_server: SshServer, make_context: MakeContext, keys: Path, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "agent"))
        listener.listen()
        config = f"IdentityAgent {tmp_path}/agent\nIdentitiesOnly no\nIdentityFile {keys}/ed25519"
        began = time.monotonic()
        log_in(strict_server, make_context(strict_server, config=config, timeout_s=2))
        assert time.monotonic() - began < 6
        config = config.replace("/ed25519", "/none")
        message = refused(strict_server, make_context(strict_server, config=config, timeout_s=2))
        assert f"ssh-agent {tmp_path}/agent: timed out" in message


def test_wrong_key_names_what_was_tried(
    strict_server: SshServer, make_context: MakeContext, keys: Path
) -> None:
    config = f"IdentityFile {keys}/wrong"
    message = refused(strict_server, make_context(strict_server, config=config))
    assert f"no login as {strict_server.user}: the host does not accept {keys}/wrong" in message
    assert "it takes publickey" in message


def test_files_that_are_no_keys(
    strict_server: SshServer, make_context: MakeContext, keys: Path, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "cut").write_bytes(
        (keys / "rsa").read_bytes()[:300] + b"\n-----END OPENSSH PRIVATE KEY-----\n"
    )
    (tmp_path / "pem").write_text("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 65 << 20)
    (tmp_path / "ppk").write_text("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n")
    names = ("text", "cut", "pem", "none", "huge", "ppk")
    config = "".join(f"IdentityFile {tmp_path}/{name}\n" for name in names)
    message = refused(strict_server, make_context(strict_server, config=config))
    assert "no key to offer" in message
    assert "text is no private key" in message
    assert "cut is damaged" in message
    assert "pem is damaged" in message
    assert "none does not exist" in message
    assert "huge is larger than 64 MiB" in message
    assert "ppk is a key of PuTTY's: convert it with puttygen" in message


def test_an_expired_certificate_is_told_since_the_host_does_not_say_so(
    make_context: MakeContext, tmp_path: Path
) -> None:
    authority, key = make_key(tmp_path / "ca"), make_key(tmp_path / "me")
    with SshServer(authorized=[authority], options=[f"TrustedUserCAKeys {authority}.pub"]) as server:
        certificate = sign_key(authority, key, principals=server.user, validity="-2h:-1h")
        message = refused(server, make_context(server, config=f"IdentityFile {key}\n"))
        assert f"; {certificate} is expired" in message


@pytest.mark.parametrize("how", ["beside", "named", "agent"])
def test_certificate(make_context: MakeContext, tmp_path: Path, how: str) -> None:
    authority, key = make_key(tmp_path / "ca"), make_key(tmp_path / "me")
    trusted = tmp_path / "trusted"
    with SshServer(options=[f"TrustedUserCAKeys {trusted}"]) as server:
        trusted.write_text(public_line(authority) + "\n")
        certificate = sign_key(authority, key, principals=server.user)
        config = f"IdentityFile {key}"
        server.client_key.unlink()  # so that no context names it
        if how == "named":
            certificate = certificate.rename(tmp_path / "elsewhere.pub")
            config += f"\nCertificateFile {certificate}"
        if how != "agent":
            log_in(server, make_context(server, config=config))
            return
        with ssh_agent(tmp_path, key) as agent:  # ssh-add takes the certificate along
            key.unlink()
            config = f"IdentityAgent {agent}\nIdentitiesOnly no\nIdentityFile {tmp_path}/none"
            log_in(server, make_context(server, config=config))


@pytest.mark.root
@pytest.mark.parametrize("method", ["password", "keyboard-interactive"])
def test_password(make_context: MakeContext, method: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "s3cret pässword $HOME"
    options = ["PasswordAuthentication yes"]
    if method == "keyboard-interactive":
        options = ["UsePAM yes", "PasswordAuthentication no", "KbdInteractiveAuthentication yes"]
    asked: list[str] = []

    def answer(subject: str) -> str:
        asked.append(subject)
        return secret

    with SshServer(options=options) as server, system_user(password=secret) as user:
        server.client_key.unlink()
        context = make_context(server, prompts=Prompts(password=answer))
        log_in(server, context, user=user)
        log_in(server, context, user=user)
        assert asked == [f"{user}@127.0.0.1"]
        message = refused(server, make_context(server), user=user)
        assert "a password would do, and none was given" in message
        wrong = make_context(server, prompts=Prompts(password=lambda _: "not the one"))
        message = refused(server, wrong, user=user)
        assert "does not accept the password" in message
        assert "not the one" not in message
        silent = make_context(server, config="BatchMode yes", prompts=Prompts(password=answer))
        refused(server, silent, user=user)
        assert len(asked) == 1
    assert "Authentication" in caplog.text
    assert secret not in caplog.text


@pytest.mark.root
def test_key_and_password(make_context: MakeContext) -> None:
    options = ["PasswordAuthentication yes", "AuthenticationMethods publickey,password"]
    with SshServer(options=options) as server, system_user(password="both") as user:
        log_in(server, make_context(server, prompts=Prompts(password=lambda _: "both")), user=user)
        message = refused(server, make_context(server), user=user)
        assert "needs more than a key" in message
        assert "password" in message


def test_secrets_show_in_no_representation() -> None:
    prompts = Prompts(
        password=lambda _: "hunter2", passphrase=lambda _: "hunter2", become=lambda _: "hunter2"
    )
    prompts.password.get("me@far")
    prompts.become.get("far")
    prompts.passphrase.get("/key")
    assert "hunter2" not in repr(vars(prompts)) + repr(prompts.password)
