"""Private keys from files: what can be known without a passphrase, and the key itself, each once."""

from __future__ import annotations

import base64
import io
import struct
import threading
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    SSHCertificate,
    load_pem_private_key,
    load_ssh_private_key,
    load_ssh_public_identity,
)

from hostcfg.errors import InputError
from hostcfg.files import read_if_there
from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from hostcfg.transports.prompts import Prompts

_OPENSSH_BEGIN = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_OPENSSH_END = b"-----END OPENSSH PRIVATE KEY-----"
_OPENSSH_MAGIC = b"openssh-key-v1\0"
_TRIES = 3  # NumberOfPasswordPrompts


@dataclass(slots=True)
class Identity:
    """One key file.  ``public`` is its public key blob if known; ``problem`` says why it can't be used."""

    path: str
    public: bytes | None = None
    encrypted: bool = False
    problem: str = ""
    private: bytes | None = field(default=None, repr=False)
    key: paramiko.PKey | None = field(default=None, repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A user certificate: ``public`` is the blob of the key that it is for, the times are Unix times."""

    path: str
    blob: bytes
    public: bytes
    valid_after: int
    valid_before: int

    def problem(self, now: float) -> str:
        """Why it can't be used at ``now``; empty if it can."""
        if now >= self.valid_before:
            return "is expired"
        return "" if now >= self.valid_after else "is not valid yet"


def read_identity(path: str) -> Identity | None:
    """The key at ``path``, without asking anything; None if there is no such file."""
    try:
        data = read_if_there(Path(path))
    except InputError as error:
        return Identity(path, problem=error.message)
    if data is None:
        return None
    identity = Identity(path, public=_public_beside(path))
    if _OPENSSH_BEGIN in data:
        _read_openssh_header(identity, data)
    elif b"PRIVATE KEY-----" in data:
        identity.private, identity.encrypted = data, b"ENCRYPTED" in data
    elif (public := _public_line(data)) is not None:
        identity.public = public  # the agent may have the private half
    elif data.startswith(b"PuTTY-User-Key-File-"):
        identity.problem = "is a key of PuTTY's: convert it with puttygen KEY.ppk -O private-openssh -o KEY"
    else:
        identity.problem = "is no private key"
    if identity.private is not None and not identity.encrypted:
        _load(identity, None)
    return identity


def unlock(identity: Identity, prompts: Prompts) -> paramiko.PKey | None:
    """The key, for which a passphrase is asked once in a run; None if that did not work."""
    with identity.lock:
        last: str | None = None
        for _ in range(_TRIES):
            if identity.key is not None or identity.problem:
                break
            passphrase = prompts.passphrase.get(identity.path)
            if passphrase is None or passphrase == last:
                identity.problem = "is encrypted, and no passphrase was given that fits"
                break
            last = passphrase
            if not _load(identity, passphrase.encode()):
                prompts.passphrase.forget(identity.path)
        if identity.key is None and not identity.problem:
            identity.problem = "is encrypted, and the passphrase is wrong"
        return identity.key


def read_certificate(path: str) -> Certificate | None:
    """The user certificate at ``path``; None if there is none."""
    try:
        words = (read_if_there(Path(path)) or b"").split()
        loaded = load_ssh_public_identity(b" ".join(words[:2]))
        if not isinstance(loaded, SSHCertificate):
            return None
        plain = loaded.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        public = base64.b64decode(plain.split()[1])
        return Certificate(path, base64.b64decode(words[1]), public, loaded.valid_after, loaded.valid_before)
    except (InputError, IndexError, ValueError, UnsupportedAlgorithm):
        return None


def _load(identity: Identity, passphrase: bytes | None) -> bool:
    """Whether the private key could be read; a wrong passphrase leaves no ``problem``."""
    data = identity.private or b""
    loaded: object
    try:
        try:
            loaded = load_ssh_private_key(data, passphrase)
        except ValueError:
            if _OPENSSH_BEGIN in data:
                raise
            loaded = load_pem_private_key(data, passphrase)
        identity.key = _as_paramiko(loaded)
    except UnsupportedAlgorithm:
        identity.problem = "is of a kind that hostcfg can't use; put it into ssh-agent"
    except (ValueError, TypeError, paramiko.SSHException):
        if not identity.encrypted:
            identity.problem = "is damaged"
    else:
        identity.public = identity.key.asbytes()
    return identity.key is not None


def _as_paramiko(loaded: object) -> paramiko.PKey:
    """paramiko's key around an already parsed one: parsing an RSA key twice costs some 200 ms."""
    if isinstance(loaded, RSAPrivateKey):
        return paramiko.RSAKey(key=loaded)
    if isinstance(loaded, EllipticCurvePrivateKey):
        return paramiko.ECDSAKey(vals=(loaded, loaded.public_key()))
    if isinstance(loaded, Ed25519PrivateKey):
        text = loaded.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
        return paramiko.Ed25519Key(file_obj=io.StringIO(text))
    raise UnsupportedAlgorithm(type(loaded).__name__)


def _read_openssh_header(identity: Identity, data: bytes) -> None:
    """Cipher and public key, which stand unencrypted before the private part (OpenSSH: PROTOCOL.key)."""
    body = data.partition(_OPENSSH_BEGIN)[2].partition(_OPENSSH_END)[0]
    try:
        raw = base64.b64decode(b"".join(body.split()), validate=True)
        if not raw.startswith(_OPENSSH_MAGIC):
            raise ValueError("no magic")
        cipher, rest = _string(raw[len(_OPENSSH_MAGIC) :])
        _, rest = _string(rest)  # the key derivation's name
        _, rest = _string(rest)  # and its options
        identity.public, _ = _string(rest[4:])  # after the number of keys
    except (ValueError, struct.error):
        identity.problem = "is damaged"
        return
    identity.private, identity.encrypted = data, cipher != b"none"


def _string(data: bytes) -> tuple[bytes, bytes]:
    """An SSH string and what follows it (RFC 4251 section 5)."""
    (size,) = struct.unpack_from(">I", data)
    if size > len(data) - 4:
        raise ValueError("cut short")
    return data[4 : 4 + size], data[4 + size :]


def _public_beside(path: str) -> bytes | None:
    try:
        return _public_line(read_if_there(Path(path + ".pub")) or b"")
    except InputError:
        return None


def _public_line(data: bytes) -> bytes | None:
    """The blob of ``ssh-ed25519 AAAA... comment``."""
    words = data.split(None, 2)
    if len(words) < 2 or not words[0].startswith((b"ssh-", b"ecdsa-", b"sk-")):
        return None
    try:
        return base64.b64decode(words[1], validate=True)
    except ValueError:
        return None
