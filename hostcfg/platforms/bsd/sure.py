"""Which texts can be nothing but the sysctls of a BSD or a macOS host.

Sample::

    root@lon-2:~ # sysctl kern.ipc net.inet.tcp
    kern.ipc.maxsockbuf: 2097152
    net.inet.tcp.recvbuf_max: 2097152
    sysctl: unknown oid 'net.inet.tcp.recvbuf_inc'
"""

from __future__ import annotations

from hostcfg.lean import regex
from hostcfg.platforms.sure import Signs, Sure, holds_only

_ROOTS = "net vm vfs hw dev debug machdep user kstat ddb proc jail lwkt audit ktrace p1003_1b"
_SIGNS = Signs(
    own=(
        "net.inet.",
        "net.inet6.",
        "net.link.",
        "net.local.",
        "net.isr.",
        "net.bpf.",
        "kern.",
        "security.bsd.",
        "security.jail.",
    ),
    shared=tuple(f"{root}." for root in _ROOTS.split()),
    foreign=("net.core", "net.ipv4", "net.ipv6", "net.netfilter", "net.bridge", "kernel.", "fs."),
    separators=":=",
    value=regex(r"\S*(?: -?\d+)*"),  # one word, or numbers: a description has more, and may mean anything
    says=regex(r"sysctl: unknown oid '[\w.%]+'.*"),
    unames=frozenset({"FreeBSD", "Darwin", "NetBSD", "OpenBSD", "DragonFly"}),
)
_SURE = Sure(("freebsd", "lookalikes", "macos"))


def sure_of(text: str) -> Sure | None:
    """The family's parsers, where no other can know a line of ``text``."""
    return _SURE if holds_only(text, _SIGNS) else None
