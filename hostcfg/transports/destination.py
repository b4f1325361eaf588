"""SSH destinations: text -> who, where, and through which ``become``."""

from __future__ import annotations

import ipaddress
from typing import Literal
from urllib.parse import unquote

from hostcfg.errors import UsageError
from hostcfg.lean import dataclass

Become = Literal["sudo", "doas"]

_FORMS = "give host, user@host, user@host:port, [IPv6]:port or ssh://user@host:port"

_NOT_IN_A_USER = frozenset("'\"`$;&<>|(){}!*?#/,")
_NOT_IN_A_HOST = _NOT_IN_A_USER | frozenset("\\@[]")
"""%h and %r of a ProxyCommand reach a shell, so these never get there (OpenSSH: valid_hostname, valid_ruser).

A Windows user may be ``DOMAIN\\user`` or ``user@domain``.
"""


@dataclass(frozen=True, slots=True)
class Destination:
    """One SSH destination: ``host`` is what ssh_config is asked for, ``name`` what the user calls it.

    None means "not said": ssh_config and the defaults decide.  ``key`` is the path of a private key,
    ``jump`` a ProxyJump as ssh_config(5) has it, which wins over the configuration's.
    """

    name: str
    host: str
    user: str | None = None
    port: int | None = None
    key: str | None = None
    become: Become | None = None
    jump: str | None = None


def parse_destination(
    text: str,
    *,
    name: str | None = None,
    user: str | None = None,
    port: int | None = None,
    key: str | None = None,
    become: Become | None = None,
    jump: str | None = None,
) -> Destination:
    """``text`` as ssh(1) takes it; what it says itself wins over the arguments.

    UsageError for an empty host, a port that is none, and for characters that no host or user has.
    """
    said = text.strip()
    refuse_password(said)
    if said.lower().startswith("ssh://"):
        found_user, rest = _split_uri(said)
    else:
        before, at, rest = said.rpartition("@")
        found_user = before if at else None
    host, port_text = _split_port(rest, text)
    found_port = _port(port_text, text) if port_text is not None else port
    user = found_user if found_user is not None else user
    _check_name(host, "host", _NOT_IN_A_HOST, text)
    if user is not None:
        _check_name(user, "user", _NOT_IN_A_USER, text if found_user is not None else user)
    return Destination(name or said, host, user, found_port, key, become, jump)


def refuse_password(text: str) -> None:
    """UsageError, in which the password is not, for ``user:password@host`` in any form."""
    before, at, _ = text.strip().rpartition("@")
    scheme = "ssh://" if before[:6].lower() == "ssh://" else ""
    user, colon, _ = before[len(scheme) :].partition(":")
    if at and colon and not text.startswith("file:"):
        raise UsageError(
            f"{scheme + user + ':...'!r} holds a password, which others can see there: "
            "log in with a key or the agent, or give --ask-pass, which asks for it"
        )


def check_user(text: str) -> None:
    """UsageError for what is no user's name."""
    refuse_password(f"{text}@")
    _check_name(text, "user", _NOT_IN_A_USER, text)


def check_jump(text: str) -> None:
    """UsageError for what is no ProxyJump: destinations with commas between them, or ``none``."""
    if text.lower() != "none":
        for hop in text.split(","):
            parse_destination(hop)


def format_host_port(host: str, port: int) -> str:
    """``host`` on port 22, else ``[host]:port``, as known_hosts writes it (sshd(8))."""
    return host if port == 22 else f"[{host}]:{port}"


def _split_uri(text: str) -> tuple[str | None, str]:
    rest = text[len("ssh://") :].removesuffix("/")
    before, at, rest = rest.rpartition("@")
    if "/" in rest or ";" in before:
        raise UsageError(f"{text!r} has more than a user, a host and a port; {_FORMS}")
    return (unquote(before) if at else None), rest


def _split_port(rest: str, text: str) -> tuple[str, str | None]:
    if rest.startswith("["):
        host, bracket, tail = rest[1:].partition("]")
        if not bracket or (tail and not tail.startswith(":")):
            raise UsageError(f"{text!r} is no destination; {_FORMS}")
        return host, (tail[1:] if tail else None)
    if rest.count(":") > 1:  # a bare IPv6 address has no place for a port
        _check_address(rest, text)
        return rest, None
    host, colon, port = rest.partition(":")
    return host, (port if colon else None)


def _check_address(host: str, text: str) -> None:
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        raise UsageError(f"{text!r} is no destination; {_FORMS}") from None


def _port(port_text: str, text: str) -> int:
    if port_text.isascii() and port_text.isdigit() and 1 <= int(port_text[:6]) <= 65535:
        return int(port_text)
    raise UsageError(f"{text!r}: the port is a number from 1 to 65535")


def _check_name(part: str, what: str, forbidden: frozenset[str], text: str) -> None:
    if not part:
        raise UsageError(f"{text!r} has no {what}; {_FORMS}")
    bad = next((c for c in part if c in forbidden or c.isspace() or not c.isprintable()), None)
    if part.startswith("-"):
        raise UsageError(f"{text!r}: a {what} can't begin with '-'; {_FORMS}")
    if bad is not None or part.endswith("\\"):
        raise UsageError(f"{text!r}: {bad or part[-1]!r} can't be in a {what} here; {_FORMS}")
