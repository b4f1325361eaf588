"""Which texts can be nothing but the sysctls of a Linux host.

Sample::

    admin@lon-1:~$ uname -a
    Linux lon-1 6.1.0-50-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.170-1 (2026-05-01) x86_64 GNU/Linux
    admin@lon-1:~$ sysctl -a
    net.core.rmem_max = 212992
    sysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'
"""

from __future__ import annotations

from hostcfg.lean import regex
from hostcfg.platforms.linux.native import BSD_NAMES
from hostcfg.platforms.linux.native_keys import ROOTS
from hostcfg.platforms.sure import Signs, Sure, holds_only

_SIGNS = Signs(
    own=("net.core.", "net.ipv4.", "net.ipv6.", "net.netfilter.", "net.bridge.", "kernel."),
    shared=tuple(f"{root}." for root in ROOTS),
    foreign=BSD_NAMES,
    separators="=",
    value=regex(r".*"),
    says=regex(r"sysctl: .{0,200}(?:/proc/sys/|\W(?:net|kernel|vm|fs|dev|user)[./]).*"),
    unames=frozenset({"Linux"}),
)
_SURE = Sure(("linux",), frozenset({"sysctl", "sysctl-set", "sysctl-conf", "uname"}))


def sure_of(text: str) -> Sure | None:
    """This system's parsers of sysctls, where no other can know a line of ``text``."""
    return _SURE if holds_only(text, _SIGNS) else None
