"""What ssh_config says for one host, typed: :func:`host_options`.

Honoured are HostName, User, Port, AddressFamily, BindAddress, ConnectTimeout, ProxyJump, ProxyCommand,
HostKeyAlias, StrictHostKeyChecking, UserKnownHostsFile, GlobalKnownHostsFile, HashKnownHosts,
RevokedHostKeys, IdentityFile, CertificateFile, IdentitiesOnly, IdentityAgent, BatchMode,
PubkeyAuthentication, PasswordAuthentication, KbdInteractiveAuthentication and
PreferredAuthentications, besides Host, Match, Include and the Canonicalize family (ssh_config(5)).
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hostcfg.errors import InputError
from hostcfg.files import home_expanded
from hostcfg.lean import dataclass
from hostcfg.transports.destination import format_host_port
from hostcfg.transports.ssh_config import own_user

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.transports.destination import Destination
    from hostcfg.transports.ssh_config import Said, SshConfig
    from hostcfg.transports.ssh_config_file import Line

Strict = Literal["yes", "ask", "accept-new", "no"]

_DEFAULT_KEYS = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")
_DEFAULT_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
_DEFAULT_GLOBAL_KNOWN_HOSTS = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
_TRUTH = {"yes": True, "true": True, "no": False, "false": False}
_STRICT: dict[str, Strict] = {
    "yes": "yes",
    "true": "yes",
    "ask": "ask",
    "accept-new": "accept-new",
    "no": "no",
    "off": "no",
    "false": "no",
}


@dataclass(frozen=True, slots=True)
class HostOptions:
    """How one host is reached.  ``agent`` is the agent's socket, "" the platform's own, None: no agent.

    ``identity_files_named`` says whether the user chose them, or they are the usual places.
    """

    host_name: str
    port: int
    user: str
    address_family: socket.AddressFamily
    bind_address: str | None
    connect_timeout_s: float | None
    proxy_jump: tuple[str, ...]
    proxy_command: str | None
    host_key_alias: str | None
    strict: Strict
    user_known_hosts: tuple[str, ...]
    global_known_hosts: tuple[str, ...]
    hash_known_hosts: bool
    revoked_host_keys: str | None
    identity_files: tuple[str, ...]
    identity_files_named: bool
    certificate_files: tuple[str, ...]
    identities_only: bool
    agent: str | None
    methods: frozenset[str]  # "publickey", "password", "keyboard-interactive"
    ask: bool  # False: BatchMode

    @property
    def known_as(self) -> str:
        """The name under which known_hosts has this host."""
        if self.host_key_alias is not None:
            return self.host_key_alias.lower()
        return format_host_port(self.host_name.lower(), self.port)


def host_options(config: SshConfig, destination: Destination) -> HostOptions:
    """Everything that decides how ``destination`` is reached; InputError with file and line."""
    return _Reader(config.lookup(destination), destination).options()


class _Reader:
    """Reads one host's lines, of which the first of a keyword wins."""

    def __init__(self, said: Said, destination: Destination) -> None:
        self.said = said
        self.destination = destination
        self.user = said.user or own_user()
        self.port = self._port()
        self.first: dict[str, Line] = {}
        for line in said.lines:
            self.first.setdefault(line.keyword, line)

    def options(self) -> HostOptions:
        jump, command = self._proxy()
        files, named = self._identity_files()
        alias = self.first.get("hostkeyalias")
        bind = self.first.get("bindaddress")
        return HostOptions(
            host_name=self.said.host_name,
            port=self.port,
            user=self.user,
            address_family=self._family(),
            bind_address=bind.text if bind else None,
            connect_timeout_s=self._connect_timeout(),
            proxy_jump=jump,
            proxy_command=command,
            host_key_alias=alias.text if alias else None,
            strict=self._strict(),
            user_known_hosts=self._paths("userknownhostsfile", _DEFAULT_KNOWN_HOSTS),
            global_known_hosts=self._paths("globalknownhostsfile", _DEFAULT_GLOBAL_KNOWN_HOSTS),
            hash_known_hosts=self._flag("hashknownhosts", default=False),
            revoked_host_keys=next(iter(self._paths("revokedhostkeys", ())), None),
            identity_files=files,
            identity_files_named=named,
            certificate_files=self._all_paths("certificatefile"),
            identities_only=self.destination.key is not None or self._flag("identitiesonly", default=False),
            agent=self._agent(),
            methods=self._methods(),
            ask=not self._flag("batchmode", default=False),
        )

    def _port(self) -> int:
        text = self.said.port or "22"
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65535):
            raise InputError(f"ssh configuration: Port {text!r} is no port", host=self.destination.name)
        return int(text)

    def _family(self) -> socket.AddressFamily:
        families = {"any": socket.AF_UNSPEC, "inet": socket.AF_INET, "inet6": socket.AF_INET6}
        found = families.get(self.said.address_family)
        if found is None:
            raise InputError(
                f"ssh configuration: AddressFamily {self.said.address_family!r} is none of any, inet, inet6",
                host=self.destination.name,
            )
        return found

    def _flag(self, keyword: str, *, default: bool) -> bool:
        line = self.first.get(keyword)
        if line is None:
            return default
        found = _TRUTH.get(line.text.lower())
        if found is None:
            raise line.error("yes or no was expected")
        return found

    def _strict(self) -> Strict:
        line = self.first.get("stricthostkeychecking")
        if line is None:
            return "ask"
        found = _STRICT.get(line.text.lower())
        if found is None:
            raise line.error("yes, ask, accept-new or no was expected")
        return found

    def _connect_timeout(self) -> float | None:
        line = self.first.get("connecttimeout")
        if line is None or line.text.lower() == "none":
            return None
        match = re.fullmatch(r"(\d{1,9})([smh]?)", line.text.lower())
        if match is None or int(match[1]) == 0:
            raise line.error("a time above zero was expected, as in 10 or 2m")
        return float(int(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]])

    def _proxy(self) -> tuple[tuple[str, ...], str | None]:
        """Hops, or a command line; whichever of the two keywords comes first wins."""
        if self.destination.jump is not None:
            return _hops(self.destination.jump), None
        for line in self.said.lines:
            if line.keyword == "proxycommand":
                return (), None if line.text.lower() == "none" else self._expand(line, line.text)
            if line.keyword == "proxyjump":
                return _hops(self._expand(line, line.text)), None
        return (), None

    def _identity_files(self) -> tuple[tuple[str, ...], bool]:
        if self.destination.key is not None:
            return (str(home_expanded(self.destination.key)),), True
        if "identityfile" in self.first:
            return self._all_paths("identityfile"), True
        return tuple(str(Path(name).expanduser()) for name in _DEFAULT_KEYS), False

    def _all_paths(self, keyword: str) -> tuple[str, ...]:
        """Paths of a keyword of which every line counts."""
        lines = [line for line in self.said.lines if line.keyword == keyword and line.text.lower() != "none"]
        return tuple(dict.fromkeys(self._path(line, line.text) for line in lines))

    def _paths(self, keyword: str, default: Sequence[str]) -> tuple[str, ...]:
        line = self.first.get(keyword)
        if line is None:
            return tuple(str(Path(name).expanduser()) for name in default)
        return tuple(self._path(line, word) for word in line.words if word.lower() != "none")

    def _path(self, line: Line, text: str) -> str:
        path = Path(self._expand(line, _expand_variables(line, text)))
        try:
            return str(path.expanduser())
        except RuntimeError:  # ~name of a user who does not exist
            raise line.error("there is no such user") from None

    def _agent(self) -> str | None:
        own = os.environ.get("SSH_AUTH_SOCK", "")
        line = self.first.get("identityagent")
        if line is None or line.text == "SSH_AUTH_SOCK":
            return own
        if line.text.lower() == "none":
            return None
        if line.text.startswith("$") and not line.text.startswith("${"):
            return os.environ.get(line.text[1:]) or None
        return self._path(line, line.text)

    def _methods(self) -> frozenset[str]:
        wanted = {
            "publickey": self._flag("pubkeyauthentication", default=True),
            "password": self._flag("passwordauthentication", default=True),
            "keyboard-interactive": self._flag("kbdinteractiveauthentication", default=True)
            and self._flag("challengeresponseauthentication", default=True),
        }
        line = self.first.get("preferredauthentications")
        preferred = line.text.split(",") if line else list(wanted)
        return frozenset(method for method, allowed in wanted.items() if allowed and method in preferred)

    def _expand(self, line: Line, text: str) -> str:
        """``text`` with its percent tokens expanded (ssh_config(5), TOKENS)."""

        def token(match: re.Match[str]) -> str:
            value = self._token(match[1])
            if value is None:
                raise line.error(f"unknown token %{match[1]}")
            return value

        return re.sub(r"%(.?)", token, text)

    def _token(self, letter: str) -> str | None:
        alias = self.first.get("hostkeyalias")
        plain = {
            "%": "%",
            "h": self.said.host_name,
            "n": self.destination.host,
            "p": str(self.port),
            "r": self.user,
            "k": alias.text if alias else self.destination.host,
        }
        return plain.get(letter) or _LOCAL.token(letter) or self._digest(letter)

    def _digest(self, letter: str) -> str | None:
        """%C: SHA-1 of %l%h%p%r%j."""
        if letter != "C":
            return None
        jump = self.first.get("proxyjump")
        text = f"{_LOCAL.fqdn}{self.said.host_name}{self.port}{self.user}{jump.text if jump else ''}"
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class _LocalTokens:
    """Tokens that name this machine and its user, looked up only when one is used."""

    def token(self, letter: str) -> str | None:
        if letter == "l":
            return self.fqdn
        simple = {
            "d": lambda: str(Path.home()),
            "i": lambda: str(os.getuid()) if hasattr(os, "getuid") else "0",
            "L": lambda: socket.gethostname().partition(".")[0],
            "u": own_user,
        }
        return simple[letter]() if letter in simple else None

    @cached_property
    def fqdn(self) -> str:
        return socket.getfqdn()


_LOCAL = _LocalTokens()


def _hops(text: str) -> tuple[str, ...]:
    return () if text.lower() == "none" else tuple(hop.strip() for hop in text.split(",") if hop.strip())


def _expand_variables(line: Line, text: str) -> str:
    """``text`` with ``${NAME}`` replaced; an unset one is an error, as in OpenSSH."""

    def variable(match: re.Match[str]) -> str:
        value = os.environ.get(match[1])
        if value is None:
            raise line.error(f"the environment has no {match[1]}")
        return value

    return re.sub(r"\$\{([^}]*)\}", variable, text)
