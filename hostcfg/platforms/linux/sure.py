"""Texts that can be nothing but the sysctls of a Linux host: most of what is pasted, and quickly told.

Sample::

    admin@lon-1:~$ uname -a
    Linux lon-1 6.1.0-50-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.170-1 (2026-05-01) x86_64 GNU/Linux
    admin@lon-1:~$ sysctl -a
    net.core.rmem_max = 212992
    sysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.platforms.linux.native import BSD_NAMES, is_key
from hostcfg.platforms.linux.parsers import PARSERS

if TYPE_CHECKING:
    from hostcfg.platforms.base import Parser

KINDS = frozenset({"sysctl", "sysctl-set", "sysctl-conf", "uname"})
"""What such a text may hold: no other parser knows a line of it."""

_SURE_NAMES = ("net.core.", "net.ipv4.", "net.ipv6.", "net.netfilter.", "net.bridge.", "kernel.")
_NAME = regex(r"[a-z][\w./:*@+-]{1,200}")
_UNAME = regex(r"Linux \S{1,100} [0-9]{1,3}\.[0-9]{1,5}\S{0,100} #[^\n]{1,300} GNU/Linux")
_PROMPT = regex(r"\S{0,100}[$#] ?(?:sudo )?(?:/\w{1,10}){0,3}/?(?:sysctl|uname)\b[^\n;&`]{0,300}")


def sure_parsers(text: str) -> tuple[Parser, ...] | None:
    """The only parsers that can know ``text``; None unless every line of it is of the forms above.

    Of the keys half at least are such as no other system has; ``vm.swappiness = 60`` could be another's.
    """
    keys = sure = 0
    for line in text.split("\n"):
        stripped = line.strip(" \t\r")
        name, equals, _ = stripped.partition("=")
        name = name.rstrip(" ")
        is_named = bool(equals) and _NAME.fullmatch(name) is not None
        if (is_named and name.startswith(_SURE_NAMES)) or _UNAME.fullmatch(stripped):
            sure += 1
        elif is_named and is_key(name) and not name.startswith(BSD_NAMES):
            keys += 1
        elif stripped and not _is_said(stripped):
            return None
    return tuple(parser for parser in PARSERS if parser.kind in KINDS) if 0 < sure >= keys else None


def _is_said(line: str) -> bool:
    """What sysctl says, or what was typed to call it, about no key of another system."""
    if not line.startswith("sysctl: ") and not _PROMPT.fullmatch(line):
        return False
    return not any(name in line for name in BSD_NAMES)
