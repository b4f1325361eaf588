"""The index over known_hosts files (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT): read once, asked for many hosts.

Plain names are a dictionary, so 4000 lines and 400 hosts cost milliseconds; only hashed names and
patterns are gone through for each host.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import field
from pathlib import Path
from typing import Literal

from hostcfg.errors import InputError
from hostcfg.files import read_if_there, unix_lines
from hostcfg.lean import dataclass

Marker = Literal["", "@cert-authority", "@revoked"]

_SHA1_BLOCK = 64
_INNER_PAD = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD = bytes(byte ^ 0x5C for byte in range(256))


@dataclass(frozen=True, slots=True)
class KnownKey:
    """One key of one line: ``blob`` is the public key as it goes over the wire (RFC 4253 section 6.6)."""

    marker: Marker
    key_type: str
    encoded: str
    path: str
    line: int

    @property
    def blob(self) -> bytes:
        """The public key; empty where the line's base64 is damaged, which no key equals."""
        try:
            return base64.b64decode(self.encoded, validate=True)
        except ValueError:  # binascii.Error is one
            return b""

    @property
    def place(self) -> str:
        """``path:line``, for messages."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class _HashedName:
    """``|1|salt|HMAC-SHA1(salt, name)``, with the keyed blocks of RFC 2104 made once.

    Every hashed line is tried for every host: two plain digests take half of what hmac.digest does.
    """

    inner: bytes
    outer: bytes
    digest: bytes

    @classmethod
    def parse(cls, text: str) -> _HashedName:
        _, version, salt_text, digest = text.split("|")
        salt = base64.b64decode(salt_text, validate=True).ljust(_SHA1_BLOCK, b"\0")
        if version != "1" or len(salt) > _SHA1_BLOCK:
            raise ValueError(text)
        return cls(
            salt.translate(_INNER_PAD), salt.translate(_OUTER_PAD), base64.b64decode(digest, validate=True)
        )


@dataclass(slots=True)
class KnownHosts:
    """The lines of some files; ``path`` and ``line`` stay with each key.

    ``skipped`` are lines that can't be understood, as ``path:line``; ``unreadable`` are files that
    are there and can't be read.
    """

    plain: dict[str, list[KnownKey]] = field(default_factory=dict)
    hashed: list[tuple[_HashedName, KnownKey]] = field(default_factory=list)
    patterns: list[tuple[str, KnownKey]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def add_file(self, path: str) -> None:
        """Index every line of the file; one that is missing holds nothing."""
        try:
            data = read_if_there(Path(path))
        except InputError:
            self.unreadable.append(path)
            return
        if data is not None:
            text = data.decode("utf-8", "surrogateescape")
            self.add_text(unix_lines(text), path)

    def add_text(self, text: str, path: str) -> None:
        """Index every line of ``text``.

        Samples::

            [gw.example.org]:2222,192.0.2.1 ssh-ed25519 AAAAC3Nz... comment
            |1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= ssh-rsa AAAAB3Nz...
            @cert-authority *.example.org,!old.example.org ssh-ed25519 AAAAC3Nz...
        """
        for number, line in enumerate(text.split("\n"), 1):
            if line and not line.isspace() and not line.lstrip().startswith("#"):
                self._add_line(line, path, number)

    def _add_line(self, line: str, path: str, number: int) -> None:
        fields = line.split(None, 3)
        marker: Marker = ""
        if fields[0] in ("@cert-authority", "@revoked"):
            marker = "@revoked" if fields[0] == "@revoked" else "@cert-authority"
            fields = line.split(None, 4)[1:]
        if len(fields) < 3 or fields[0].startswith("@"):
            self.skipped.append(f"{path}:{number}")
            return
        names, key_type, encoded = fields[:3]
        known = KnownKey(marker, key_type, encoded, path, number)
        if names.startswith("|"):
            self._add_hashed(names, known)
        elif marker or "*" in names or "?" in names or "!" in names:
            self.patterns.append((names.lower(), known))
        else:
            for name in names.lower().split(","):
                self.plain.setdefault(name, []).append(known)

    def _add_hashed(self, names: str, known: KnownKey) -> None:
        try:
            self.hashed.append((_HashedName.parse(names), known))
        except ValueError:  # binascii.Error is one
            self.skipped.append(known.place)

    def keys_for(self, name: str) -> list[KnownKey]:
        """All keys of ``name``, which is ``host`` or ``[host]:port`` in lower case, of every marker."""
        found = list(self.plain.get(name, ()))
        raw = name.encode()
        sha1 = hashlib.sha1  # the digest of the file format
        found += [
            known
            for hashed, known in self.hashed
            if sha1(hashed.outer + sha1(hashed.inner + raw).digest()).digest() == hashed.digest
        ]
        found += [known for patterns, known in self.patterns if matches(patterns, name)]
        return found


def matches(patterns: str, name: str) -> bool:
    """Whether a comma-separated list of patterns with ``*``, ``?`` and ``!`` holds for ``name``.

    A negated pattern that matches decides against the whole list (ssh_config(5), PATTERNS).
    """
    found = False
    for pattern in patterns.split(","):
        if _glob(pattern.removeprefix("!"), name):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _glob(pattern: str, name: str) -> bool:
    """``*`` and ``?`` only: brackets belong to ``[host]:port``.  Linear in both but for the last star."""
    at_pattern = at_name = 0
    star, mark = -1, 0
    while at_name < len(name):
        char = pattern[at_pattern : at_pattern + 1]
        if char == "*":
            star, mark = at_pattern, at_name
            at_pattern += 1
        elif char == "?" or char == name[at_name]:
            at_pattern, at_name = at_pattern + 1, at_name + 1
        elif star >= 0:
            mark += 1
            at_pattern, at_name = star + 1, mark
        else:
            return False
    return not pattern[at_pattern:].strip("*")


def new_line(name: str, key_type: str, blob: bytes, *, salt: bytes | None) -> str:
    """A line for ``name``, hashed where ``salt`` (20 bytes) is given (ssh_config(5), HashKnownHosts)."""
    if salt is not None:
        digest = hmac.digest(salt, name.encode(), "sha1")
        name = f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"
    return f"{name} {key_type} {base64.b64encode(blob).decode()}\n"


def fingerprint(blob: bytes) -> str:
    """``SHA256:...`` as ssh-keygen -l prints it."""
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


def safe_file_name(text: str) -> str:
    """``text`` quoted where a shell would want it, for commands in messages."""
    return text if re.fullmatch(r"[\w./~+-]+", text) else "'" + text.replace("'", "'\\''") + "'"
