"""Host keys against a real sshd: known, unknown, accepted, changed, revoked, certified."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import HostError
from hostcfg.transports.base import Command
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.ssh import SshTransport
from tests.sshd import SshServer, fingerprint_of, make_key, public_line, sign_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hostcfg.transports.ssh_context import SshContext
    from tests.transports.conftest import MakeContext


@pytest.fixture(scope="module")
def three_keys() -> Iterator[SshServer]:
    with SshServer(host_keys=("ecdsa", "ed25519", "rsa")) as running:
        yield running


def log_in(server: SshServer, context: SshContext) -> str | None:
    with SshTransport(parse_destination(server.destination), context) as host:
        assert host.run(Command.sh("echo in")).stdout == b"in\n"
        return host.host_key_fingerprint


def refused(server: SshServer, context: SshContext) -> str:
    with pytest.raises(HostError) as caught:
        log_in(server, context)
    assert caught.value.kind == "host_key"
    assert caught.value.host == server.destination
    return str(caught.value)


def test_unknown_key_is_refused_with_its_fingerprint(server: SshServer, make_context: MakeContext) -> None:
    message = refused(server, make_context(server, known=""))
    assert f"unknown host key ssh-ed25519 {fingerprint_of(server.host_key_files[0])}" in message
    assert "--accept-new" in message
    assert f"ssh-keyscan -p {server.port} 127.0.0.1 >>" in message


@pytest.mark.parametrize("hashed", ["no", "yes"])
def test_accept_new_writes_the_key_once(
    server: SshServer, make_context: MakeContext, tmp_path: Path, hashed: str
) -> None:
    context = make_context(
        server, known="# no newline at the end", accept_new=True, config=f"HashKnownHosts {hashed}"
    )
    log_in(server, context)
    log_in(server, context)
    lines = (tmp_path / "known_hosts").read_text().splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("|1|" if hashed == "yes" else f"[127.0.0.1]:{server.port} ssh-ed25519 ")
    assert lines[1].split()[1:] == public_line(server.host_key_files[0]).split()
    log_in(server, make_context(server, known="\n".join(lines) + "\n"))  # and now it is known


def test_accept_new_makes_file_and_directory(
    server: SshServer, make_context: MakeContext, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "known_hosts"
    log_in(server, make_context(server, accept_new=True, config=f"UserKnownHostsFile {path}"))
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_keys_that_nobody_wants_to_keep(server: SshServer, make_context: MakeContext) -> None:
    """The idiom of test networks; even there a key may not change during a run."""
    context = make_context(server, config="StrictHostKeyChecking no\nUserKnownHostsFile /dev/null")
    log_in(server, context)
    with SshServer(port=0) as other:
        alias = make_context(
            config="StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nHostKeyAlias same\n"
            f"IdentityFile {server.client_key}\nIdentityFile {other.client_key}"
        )
        log_in(server, alias)
        assert "CHANGED" in refused(other, alias)


def test_a_key_that_can_not_be_written_is_not_accepted(
    server: SshServer, make_context: MakeContext, tmp_path: Path
) -> None:
    context = make_context(server, accept_new=True, config=f"UserKnownHostsFile {tmp_path}")  # a directory
    assert "can't be" in refused(server, context)


@pytest.mark.parametrize(
    ("strict", "accepted"),
    [("accept-new", True), ("no", True), ("off", True), ("ask", False), ("yes", False)],
)
def test_strict_host_key_checking(
    server: SshServer, make_context: MakeContext, tmp_path: Path, strict: str, accepted: bool
) -> None:
    context = make_context(server, known="", config=f"StrictHostKeyChecking {strict}")
    if accepted:
        log_in(server, context)
    else:
        refused(server, context)
    assert bool((tmp_path / "known_hosts").read_text()) == accepted


@pytest.mark.parametrize("strict", ["yes", "ask", "accept-new", "no"])
@pytest.mark.parametrize("accept_new", [False, True])
def test_changed_key_is_always_refused(
    server: SshServer, make_context: MakeContext, tmp_path: Path, strict: str, accept_new: bool
) -> None:
    other = make_key(tmp_path / "other")
    known = f"# one\n[127.0.0.1]:{server.port} {public_line(other)}\n"
    message = refused(
        server,
        make_context(server, known=known, accept_new=accept_new, config=f"StrictHostKeyChecking {strict}"),
    )
    assert "CHANGED" in message
    assert f"{tmp_path}/known_hosts:2" in message
    assert fingerprint_of(other) in message
    assert fingerprint_of(server.host_key_files[0]) in message
    assert f"ssh-keygen -R '[127.0.0.1]:{server.port}'" in message
    assert (tmp_path / "known_hosts").read_text() == known


def test_another_type_of_key_is_not_taken_for_a_new_host(
    server: SshServer, make_context: MakeContext, tmp_path: Path
) -> None:
    rsa = make_key(tmp_path / "rsa", "rsa")
    context = make_context(server, known=f"[127.0.0.1]:{server.port} {public_line(rsa)}\n", accept_new=True)
    assert "another type of key" in refused(server, context)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_type_on_record_is_asked_for(
    three_keys: SshServer, make_context: MakeContext, number: int
) -> None:
    """A host with one entry, of any type, is not refused because it would rather show another key."""
    key = three_keys.host_key_files[number]
    context = make_context(three_keys, known=f"[127.0.0.1]:{three_keys.port} {public_line(key)}\n")
    assert log_in(three_keys, context) == fingerprint_of(key)


def test_host_key_alias(server: SshServer, make_context: MakeContext) -> None:
    context = make_context(server, known=server.known_hosts("alias"), config="HostKeyAlias ALIAS")
    log_in(server, context)


def test_a_key_on_record_without_port_is_taken_and_a_wrong_one_ignored(
    server: SshServer, make_context: MakeContext, tmp_path: Path
) -> None:
    log_in(server, make_context(server, known=server.known_hosts("127.0.0.1")))
    other = make_key(tmp_path / "other")
    context = make_context(server, known=f"127.0.0.1 {public_line(other)}\n")
    assert "unknown host key" in refused(server, context)


def test_revoked_key(server: SshServer, make_context: MakeContext, tmp_path: Path) -> None:
    line = public_line(server.host_key_files[0])
    known = server.known_hosts() + f"@revoked * {line}\n"
    assert "known_hosts:2" in refused(server, make_context(server, known=known, accept_new=True))
    revoked = tmp_path / "revoked"
    revoked.write_text(f"# list\n{line}\n")
    config = f"RevokedHostKeys {revoked}"
    assert f"{revoked}:2" in refused(server, make_context(server, config=config))
    revoked.write_bytes(b"SSHKRL\n\0rest")
    assert "binary KRL" in refused(server, make_context(server, config=config))
    revoked.unlink()
    assert "can't be read" in refused(server, make_context(server, config=config))


@pytest.fixture
def certified(tmp_path: Path) -> Iterator[tuple[SshServer, Path]]:
    """A server whose ed25519 key has a certificate for 127.0.0.1 and the authority that signed it."""
    authority, key = make_key(tmp_path / "ca"), make_key(tmp_path / "host")
    certificate = sign_key(authority, key, principals="127.0.0.1,*.example.org", host=True)
    with SshServer(host_key_files=[key], options=[f"HostCertificate {certificate}"]) as running:
        yield running, authority


def test_host_certificate(certified: tuple[SshServer, Path], make_context: MakeContext) -> None:
    server, authority = certified
    log_in(server, make_context(server, known=f"@cert-authority [127.0.0.*]:* {public_line(authority)}\n"))


@pytest.mark.parametrize(
    ("config", "known", "words"),
    [
        ("", "@cert-authority other.example {ca}\n", "unknown host key"),
        (
            "HostKeyAlias x.example.net",
            "@cert-authority * {ca}\n",
            "its certificate is for 127.0.0.1, *.example.org",
        ),
        ("", "@cert-authority * {other}\n", "certificate authority SHA256"),
        ("", "@cert-authority * {ca}\n@revoked * {ca}\n", "authority is revoked"),
        ("", "@cert-authority * {ca}\n@revoked * {host}\n", "is revoked"),
    ],
)
def test_certificates_that_do_not_hold(
    certified: tuple[SshServer, Path],
    make_context: MakeContext,
    tmp_path: Path,
    config: str,
    known: str,
    words: str,
) -> None:
    server, authority = certified
    text = known.format(
        ca=public_line(authority),
        other=public_line(make_key(tmp_path / "other")),
        host=public_line(server.host_key_files[0]),
    )
    assert words in refused(server, make_context(server, known=text, config=config))


def test_a_certificate_of_an_unknown_authority_does_not_hide_a_known_key(
    certified: tuple[SshServer, Path], make_context: MakeContext, tmp_path: Path
) -> None:
    server, _ = certified
    other = public_line(make_key(tmp_path / "other"))
    log_in(server, make_context(server, known=f"@cert-authority * {other}\n" + server.known_hosts()))


def test_expired_and_user_certificates_do_not_hold(make_context: MakeContext, tmp_path: Path) -> None:
    authority, key = make_key(tmp_path / "ca"), make_key(tmp_path / "host")
    known = f"@cert-authority * {public_line(authority)}\n"
    certificate = sign_key(authority, key, principals="127.0.0.1", host=True, validity="20200101:20200102")
    with SshServer(host_key_files=[key], options=[f"HostCertificate {certificate}"]) as server:
        assert "expired" in refused(server, make_context(server, known=known))


def test_many_threads_accept_a_host_once(
    server: SshServer, make_context: MakeContext, tmp_path: Path
) -> None:
    context = make_context(server, known="", accept_new=True, timeout_s=30)
    threads = [threading.Thread(target=log_in, args=(server, context)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len((tmp_path / "known_hosts").read_text().splitlines()) == 1


def test_accept_new_refuses_while_a_file_can_not_be_read(
    server: SshServer, make_context: MakeContext, tmp_path: Path
) -> None:
    """The host may be in it."""
    directory = tmp_path / "directory"
    directory.mkdir()
    config = f"GlobalKnownHostsFile {directory}"
    context = make_context(server, known="", accept_new=True, config=config)
    assert f"may be in {directory}" in refused(server, context)


def test_an_index_is_not_shared_between_sets_of_files(server: SshServer, make_context: MakeContext) -> None:
    context = make_context(server)
    destination = parse_destination(server.destination)
    options = context.options(destination)
    assert context.host_keys.known(options)
    assert not context.host_keys.known(replace(options, user_known_hosts=("/dev/null",)))
