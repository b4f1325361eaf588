"""Linux's native keys: the form of each value, from the kernel's documentation and never a guess.

::

    net.core.rmem_max = 212992                     one integer       -> 212992
    net.ipv4.tcp_rmem = 4096  131072  6291456      three integers    -> [4096, 131072, 6291456]
    net.ipv4.tcp_congestion_control = cubic        one word          -> "cubic"
    net.ipv4.tcp_available_congestion_control = reno cubic    words  -> ["reno", "cubic"]
    kernel.core_pattern = |/usr/share/apport %p    not in the table  -> plain text

A value without its key's form raises ValueError: it is unparsed, neither text nor a cut number.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass, regex
from hostcfg.platforms.linux.native_integers import INTS
from hostcfg.platforms.linux.native_keys import (
    LINES,
    ROOT_ONLY,
    ROOTS,
    VECTORS,
    VOLATILE,
    WORD,
    WORDS,
    WRITE_ONLY,
)

if TYPE_CHECKING:
    from hostcfg.model import Json

Shape = Literal["int", "ints", "word", "words", "lines"]


@dataclass(frozen=True, slots=True)
class Form:
    """What a key's value looks like; ``count`` is how many integers ``ints`` has (None: it varies)."""

    shape: Shape
    count: int | None = None


# What the kernel prints: 20 digits hold any 64-bit value, and keep int() off a megabyte of digits.
_PRINTED = regex(r"-?(?:0|[1-9][0-9]{0,19})")
# What the kernel accepts: C's base 0 (proc_get_long and strtoul_lenient in kernel/sysctl.c).
_ACCEPTED = regex(r"-?(?:0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,22}|[1-9][0-9]{0,19})")
_WORD = regex(r"[A-Za-z0-9_.+-]+")
_INDEXED = regex(r"(net\.ipv[46]\.(?:conf|neigh)\.|kernel\.sched_domain\.).")
# Between values, as the kernel splits them; str.split() would take a no-break space too.
BLANKS = " \t"
_GAP = regex(r"[ \t]+")


@cache
def _int_names() -> dict[str, frozenset[str]]:
    return {directory: frozenset(names.split()) for directory, names in INTS.items()}


@lru_cache(maxsize=4096)
def form_of(key: str) -> Form | None:
    """The form of ``key``'s value, or None for a key that the table does not know.

    ``key`` as ``sysctl -a`` prints it; busybox's ``net.ipv4.conf.eth0.100.mtu`` is understood too.
    """
    if key in VECTORS:
        return Form("ints", VECTORS[key])
    if key in WORD:
        return Form("word")
    if key in WORDS:
        return Form("words")
    if key in LINES:
        return Form("lines")
    directory, _, name = key.rpartition(".")
    indexed = _INDEXED.match(directory)
    if indexed:
        directory = f"{indexed[1]}*"
    return Form("int") if name in _int_names().get(directory, ()) else None


def typed(key: str, raw: str) -> Json:
    """The value of ``key`` as the kernel printed it; ValueError if it has not the form of ``key``."""
    return _shaped(form_of(key), raw.strip(BLANKS), _PRINTED)


def written(key: str, raw: str) -> Json:
    """The value that ``key`` gets when ``raw`` is written to it; ValueError if the kernel refuses it.

    Integers may be hex or octal.  What stands behind the last one and after a blank is ignored by
    the kernel; only a comment (``16777216 # 16 MiB``) may stand there here.  Text gets no such
    grace: ``fq # fair`` is the name of no queueing discipline.
    """
    form = form_of(key)
    text = raw.strip(BLANKS)
    if form is not None and form.shape in ("int", "ints"):
        comment = re.search(r"[ \t][#;]", text)
        if comment:
            text = text[: comment.start()].rstrip(BLANKS)
    return _shaped(form, text, _ACCEPTED)


def _shaped(form: Form | None, text: str, integer: re.Pattern[str]) -> Json:
    if form is None:
        return text
    if form.shape == "lines":
        return [text]
    parts = _GAP.split(text) if text else []
    if form.shape == "words" and all(map(_WORD.fullmatch, parts)):
        return list(parts)
    if form.shape == "word" and len(parts) == 1 and _WORD.fullmatch(text):
        return text
    if form.shape == "int" and len(parts) == 1 and integer.fullmatch(text):
        return _number(text)
    fits = len(parts) == (form.count or max(1, len(parts)))
    if form.shape == "ints" and fits and all(map(integer.fullmatch, parts)):
        return [_number(part) for part in parts]
    raise ValueError(f"{text[:60]!r} is not of the form {form.shape}")


def _number(text: str) -> int:
    """An integer in C's base 0, where a leading zero means octal."""
    digits = text.lstrip("-")
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10
    return int(text, base)


# Directories that only Linux has, and those in which the other systems with a sysctl keep theirs.
LINUX_NAMES = ("net.core.", "net.ipv4.", "net.ipv6.", "net.netfilter.", "net.bridge.", "kernel.", "fs.")
BSD_NET = ("net.inet.", "net.inet6.", "net.link.", "net.local.", "net.isr.", "net.bpf.", "net.route.")
BSD_NAMES = (*BSD_NET, "kern.", "hw.", "vfs.", "security.", "machdep.", "kstat.", "ddb.", "proc.")


def is_key(name: str) -> bool:
    """Whether ``name`` can be a key of /proc/sys, known or not: ``net.ipv4.conf.eth0/100.mtu``."""
    root, dot, rest = name.partition(".")
    return bool(dot and rest) and root in ROOTS and not name.startswith(BSD_NET)


def is_linux(key: str) -> bool:
    """Whether ``key`` belongs to Linux and no other system: ``vm.swappiness`` does, ``vm.foo`` may not."""
    return key.startswith(LINUX_NAMES) or form_of(key) is not None


def is_volatile(key: str) -> bool:
    """Whether ``key`` is a counter or an identity that two readings rarely agree on."""
    return key in VOLATILE or key.startswith(("fs.quota.", "sunrpc.svc_rdma.rdma_stat_"))


def is_root_only(key: str) -> bool:
    """Whether reading ``key`` needs root, so that a denial says nothing about a write."""
    return key in ROOT_ONLY or key in WRITE_ONLY or key.endswith(".stable_secret")
