"""Whether a host is the one it was: offered key against known_hosts, as OpenSSH decides.

An unknown key is refused unless the user accepts it (``--accept-new``, or ``accept-new`` or ``no`` in
ssh_config); a key that is not the known one is refused always.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.errors import HostError, InputError
from hostcfg.files import read_bytes
from hostcfg.lean import dataclass
from hostcfg.transports.known_hosts import (
    KnownHosts,
    KnownKey,
    fingerprint,
    matches,
    new_line,
    safe_file_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.transports.ssh_options import HostOptions

_CERTIFICATE = "-cert-v01@openssh.com"
_RSA = ("rsa-sha2-512", "rsa-sha2-256")  # signatures of an ssh-rsa key, RFC 8332


@dataclass(frozen=True, slots=True)
class OfferedKey:
    """What a server showed: its public key, and the certificate around it if it sent one."""

    key_type: str
    blob: bytes
    certificate_type: str | None = None
    certificate: bytes | None = None


class HostKeyStore:
    """All known_hosts files of one run, each read once; for many threads."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[str, ...], KnownHosts] = {}
        self._lock = threading.Lock()

    def known(self, options: HostOptions) -> list[KnownKey]:
        """Every key on record under the host's name (with its port, if that is not 22)."""
        return self._index(options).keys_for(options.known_as)

    def on_record(self, options: HostOptions) -> list[KnownKey]:
        """The keys by which the host may be known, to ask it for one of these first."""
        return self.known(options) or self._known_without_port(options)

    def verify(self, host: str, options: HostOptions, offered: OfferedKey, *, accept_new: bool) -> None:
        """Return if ``offered`` is the key of this host; HostError ``host_key`` that says what to do.

        ``accept_new``: write a key of a host that has none on record, and return.
        """
        known = self.known(options)
        without_port = self._known_without_port(options)
        _refuse_revoked(host, options, offered, [*known, *without_port])
        problem = ""
        if offered.certificate is not None:
            problem = _certificate_problem(options, offered, known)
            if not problem:
                return
        plain = [key for key in known if not key.marker]
        if any(key.blob == offered.blob for key in plain):
            return
        if any(key.blob == offered.blob for key in without_port if not key.marker):
            return  # OpenSSH also takes the host's key on record without a port
        if plain:
            raise HostError("host_key", _changed(options, offered, plain), host=host)
        if not accept_new and options.strict not in ("accept-new", "no"):
            raise HostError("host_key", _unknown(options, offered, problem), host=host)
        if self._index(options).unreadable:
            unreadable = ", ".join(self._index(options).unreadable)
            raise HostError("host_key", f"its key may be in {unreadable}, which can't be read", host=host)
        self._remember(host, options, offered)

    def _known_without_port(self, options: HostOptions) -> list[KnownKey]:
        if options.host_key_alias is not None or options.port == 22:
            return []
        return self._index(options).keys_for(options.host_name.lower())

    def _index(self, options: HostOptions) -> KnownHosts:
        paths = (*options.user_known_hosts, *options.global_known_hosts)
        with self._lock:
            index = self._indexes.get(paths)
            if index is None:
                index = self._indexes[paths] = KnownHosts()
                for path in paths:
                    index.add_file(path)
            return index

    def _remember(self, host: str, options: HostOptions, offered: OfferedKey) -> None:
        """Append the key to the user's known_hosts, and know it for the rest of the run."""
        salt = secrets.token_bytes(20) if options.hash_known_hosts else None
        line = new_line(options.known_as, offered.key_type, offered.blob, salt=salt)
        path = next(iter(options.user_known_hosts), None)
        index = self._index(options)
        with self._lock:
            others = [key for key in index.keys_for(options.known_as) if not key.marker]
            if any(key.blob == offered.blob for key in others):
                return  # another thread was first
            if others:
                raise HostError("host_key", _changed(options, offered, others), host=host)
            if path is not None:
                _append(Path(path), line, host)
            index.add_text(line, path or "(this run)")


def algorithm_order(known: Sequence[KnownKey], supported: Sequence[str]) -> tuple[str, ...]:
    """Host key algorithms, best first: those whose key we can check, as OpenSSH's order_hostkeyalgs().

    ``supported`` are plain algorithms (``rsa-sha2-512``).  Certificates come first where an
    authority is on record for the host, and are not asked for otherwise.
    """
    types = {key.key_type for key in known if not key.marker}
    on_record = [name for name in supported if ("ssh-rsa" if name in _RSA else name) in types]
    others = [name for name in supported if name not in on_record]
    has_authority = any(key.marker == "@cert-authority" for key in known)
    certificates = [name + _CERTIFICATE for name in supported] if has_authority else []
    return (*certificates, *on_record, *others)


def _refuse_revoked(host: str, options: HostOptions, offered: OfferedKey, known: Sequence[KnownKey]) -> None:
    revoked = next((k for k in known if k.marker == "@revoked" and k.blob == offered.blob), None)
    place = revoked.place if revoked else _revoked_in_file(host, options, offered)
    if place:
        raise HostError(
            "host_key",
            f"its host key {fingerprint(offered.blob)} is revoked ({place}): do not log in",
            host=host,
        )


def _revoked_in_file(host: str, options: HostOptions, offered: OfferedKey) -> str | None:
    """The line of RevokedHostKeys that names the key; a binary KRL is refused rather than passed over."""
    path = options.revoked_host_keys
    if path is None:
        return None
    try:
        data = read_bytes(Path(path))
    except InputError as error:
        raise HostError("host_key", f"RevokedHostKeys {path} {error.message}", host=host) from error
    if data.startswith(b"SSHKRL\n\0"):
        raise HostError(
            "host_key",
            f"RevokedHostKeys {path} is a binary KRL, which hostcfg can't read: name a text file of keys",
            host=host,
        )
    listed = KnownHosts()
    listed.add_text("".join(f"* {line}\n" for line in data.decode("utf-8", "replace").splitlines()), path)
    return next((known.place for _, known in listed.patterns if known.blob == offered.blob), None)


def _certificate_problem(options: HostOptions, offered: OfferedKey, known: Sequence[KnownKey]) -> str:
    """Why the host certificate does not hold, empty if it does (OpenSSH: PROTOCOL.certkeys)."""
    import base64

    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        PublicFormat,
        SSHCertificate,
        SSHCertificateType,
        load_ssh_public_identity,
    )

    text = f"{offered.certificate_type} {base64.b64encode(offered.certificate or b'').decode()}"
    try:
        certificate = load_ssh_public_identity(text.encode())
        if not isinstance(certificate, SSHCertificate):
            return "what it sent is no certificate"
        certificate.verify_cert_signature()
        signer = certificate.signature_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    except (ValueError, InvalidSignature, UnsupportedAlgorithm):
        return "its certificate is damaged"
    authority = base64.b64decode(signer.split()[1])
    if any(key.marker == "@revoked" and key.blob == authority for key in known):
        return "its certificate authority is revoked"
    if not any(key.marker == "@cert-authority" and key.blob == authority for key in known):
        return f"its certificate authority {fingerprint(authority)} is not on record"
    if certificate.type is not SSHCertificateType.HOST or certificate.critical_options:
        return "its certificate is not one for hosts"
    if not certificate.valid_after <= time.time() < certificate.valid_before:
        return "its certificate is expired or not yet valid"
    name = (options.host_key_alias or options.host_name).lower()
    principals = [principal.decode("utf-8", "replace").lower() for principal in certificate.valid_principals]
    if principals and not any(matches(principal, name) for principal in principals):
        return f"its certificate is for {', '.join(principals)}"
    return ""


def _changed(options: HostOptions, offered: OfferedKey, known: Sequence[KnownKey]) -> str:
    same = next((key for key in known if key.key_type == offered.key_type), None)
    sent = f"{offered.key_type} {fingerprint(offered.blob)}"
    on_record = same or known[0]
    what = "the host key has CHANGED" if same else "the host shows another type of key than the one on record"
    had = f"{on_record.key_type} {fingerprint(on_record.blob)}"
    return (
        f"{what}: {on_record.place} has {had}, the host sent {sent}."
        f" Someone may be listening in; if the host was set up anew, take the old key out with"
        f" ssh-keygen -R '{options.known_as}' -f {safe_file_name(on_record.path)}"
    )


def _unknown(options: HostOptions, offered: OfferedKey, problem: str) -> str:
    port = f" -p {options.port}" if options.port != 22 else ""
    path = safe_file_name(next(iter(options.user_known_hosts), "~/.ssh/known_hosts"))
    extra = f" ({problem})" if problem else ""
    return (
        f"unknown host key {offered.key_type} {fingerprint(offered.blob)}{extra}: verify it, then run with"
        f" --accept-new or add it with ssh-keyscan{port} {options.host_name} >> {path}"
    )


def _append(path: Path, line: str, host: str) -> None:
    """One write at the end of the file, which is made as ssh makes it: 0600 in a 0700 directory."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "r+b") as file:
            ends_in_line = True
            if file.seek(0, os.SEEK_END) > 0:
                file.seek(-1, os.SEEK_END)
                ends_in_line = file.read(1) == b"\n"
            file.write((line if ends_in_line else "\n" + line).encode())
    except OSError as error:
        raise HostError(
            "host_key",
            f"the new host key can't be written to {path}: {error.strerror}; make it writable,"
            " or name another file with UserKnownHostsFile",
            host=host,
        ) from error
