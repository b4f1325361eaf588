"""The commands and files that set Linux keys, as an administrator writes them.  Pure text.

Per-interface keys are ``qdisc/eth0`` (tc), ``txqueuelen/eth0`` (ip link) and ``tso/eth0`` (ethtool);
all others are sysctls.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from hostcfg.errors import UsageError
from hostcfg.lean import regex
from hostcfg.platforms.linux.accepts import kernel_takes
from hostcfg.platforms.linux.keys import (
    CONGESTION_CONTROL,
    DEFAULT_QDISC,
    RMEM_DEFAULT,
    RMEM_MAX,
    TCP_MEM,
    TCP_RMEM,
    TCP_WMEM,
    WMEM_DEFAULT,
    WMEM_MAX,
    words_of,
)
from hostcfg.platforms.linux.native import is_key
from hostcfg.platforms.posix.stays import only_where, unless_it_stays, within_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostcfg.platforms.base import RenderStyle, Stays

PERSIST_PATH = "/etc/sysctl.d/90-hostcfg.conf"

# dev_valid_name() in net/core/dev.c: at most 15 bytes, no slash, no colon, no white space; a dash in
# front would be an option to tc and ip.
_DEVICE = regex(r"[^\s/:-][^\s/:]{0,14}")
_WORD = regex(r"[A-Za-z0-9_.:%-]{1,40}")

# What caps others first: the memory of all sockets, then what one program may ask for, then what a
# socket starts with and grows to.  A queueing discipline stands before the algorithm that wants it.
_ORDER = (
    TCP_MEM,
    RMEM_MAX,
    WMEM_MAX,
    RMEM_DEFAULT,
    WMEM_DEFAULT,
    TCP_RMEM,
    TCP_WMEM,
    DEFAULT_QDISC,
    "qdisc/",
    "txqueuelen/",
    "tso/",
    CONGESTION_CONTROL,
)
_RANKS = {key: rank * 10 for rank, key in enumerate(_ORDER)}
_OTHER_RANK = 65


def set_command(key: str, raw: str) -> str:
    """One command for ``/bin/sh``; UsageError for a key or a value that can't be what it claims."""
    kind, device = split_key(key)
    words = words_of(raw)
    value = " ".join(words)
    if kind == "sysctl":
        if not is_key(key) or any(not c.isprintable() for c in key):
            raise UsageError(f"{key[:60]!r} is no sysctl of Linux")
        if any(not word.isprintable() for word in words):
            raise UsageError("its value holds a control character", key=key)
        return f"sysctl -w {shlex.quote(f'{key}={value}')}"
    if not is_device(device) or not words or not all(map(_WORD.fullmatch, words)):
        raise UsageError(f"{key[:60]!r} can't be set to {raw[:60]!r}")
    quoted = shlex.quote(device)
    if kind == "qdisc":
        return f"tc qdisc replace dev {quoted} root {' '.join(map(shlex.quote, words))}"
    if kind == "txqueuelen":
        if not words[0].isdecimal():
            raise UsageError(f"a queue length is a number of packets, not {raw[:60]!r}", key=key)
        return f"ip link set dev {quoted} txqueuelen {words[0]}"
    return f"ethtool -K {quoted} tso {shlex.quote(words[0])}"


def split_key(key: str) -> tuple[str, str]:
    """(``qdisc``, ``eth0``); (``sysctl``, key) for everything that stands under /proc/sys."""
    kind, slash, device = key.partition("/")
    return (kind, device) if slash and kind in ("qdisc", "txqueuelen", "tso") else ("sysctl", key)


def is_device(name: str) -> bool:
    """Whether ``name`` can be that of a network interface."""
    return _DEVICE.fullmatch(name) is not None and name not in (".", "..")


def persist_target(key: str) -> str | None:
    """The drop-in file for sysctls; what belongs to an interface has no file that all systems read."""
    return PERSIST_PATH if split_key(key)[0] == "sysctl" else None


def write_order(key: str) -> int:
    """Rank for raising: lower first."""
    kind, _ = split_key(key)
    return _RANKS.get(key if kind == "sysctl" else f"{kind}/", _OTHER_RANK)


def render(
    values: Mapping[str, str], style: RenderStyle, header: Sequence[str], stays: Mapping[str, Stays]
) -> str:
    """A script for ``/bin/sh``, or a file for /etc/sysctl.d, that sets ``values`` in a safe order.

    UsageError that names the key for a value that the kernel would refuse.
    """
    ordered = sorted(values.items(), key=lambda item: (write_order(item[0]), item[0]))
    for key, raw in ordered:
        if split_key(key)[0] == "sysctl" and not kernel_takes(key, " ".join(words_of(raw))):
            raise UsageError(f"the kernel refuses the value {raw[:60]!r}", key=key)
    lines = (_script if style == "script" else _config)(ordered, header, stays)
    return "\n".join(lines) + "\n"


def _comments(header: Sequence[str]) -> list[str]:
    """Header lines as comments; none can end its comment, whatever a profile's text holds."""
    rows = [row for text in header for row in text.splitlines() or [""]]
    return [f"# {''.join(c if c.isprintable() else ' ' for c in row)}".rstrip() for row in rows]


def _script(
    values: Iterable[tuple[str, str]], header: Sequence[str], stays: Mapping[str, Stays]
) -> list[str]:
    values = list(values)
    lines = [
        "#!/bin/sh",
        *_comments(header),
        "# Run as root; the values last until the next boot.",
        "status=0",
    ]
    lines += [f"{_careful(key, raw, stays)} || status=1" for key, raw in values]
    return [*lines, *_present_interfaces(values), "exit $status"]


def _careful(key: str, raw: str, stays: Mapping[str, Stays]) -> str:
    """The command behind a look; of a triple the host keeps what no rule is about, where it can be read."""
    command, bounds = set_command(key, raw), stays.get(key)
    if split_key(key)[0] != "sysctl" or bounds is None:
        return command
    read = f"sysctl -n {shlex.quote(key)}"
    own = within_bounds(raw, bounds)
    if own is not None and shlex.quote(key) == key:
        command = f"sysctl -w \"{key}=$({read} | awk '{own}')\" || {command}"
    return unless_it_stays(read, command, bounds)


def _config(
    values: Iterable[tuple[str, str]], header: Sequence[str], stays: Mapping[str, Stays]
) -> list[str]:
    values = list(values)
    sysctls = [(key, raw) for key, raw in values if split_key(key)[0] == "sysctl"]
    others = [(key, raw) for key, raw in values if split_key(key)[0] != "sysctl"]
    lines = [*_comments(header), f"# For {PERSIST_PATH}; to load it now:", f"#   sysctl -p {PERSIST_PATH}"]
    for key, raw in sysctls:
        set_command(key, raw)  # refuses what could not be written
        line = f"{key} = {' '.join(words_of(raw))}"
        unsure = stays.get(key)
        lines += (
            [line] if unsure is None or unsure.stock_holds else [f"# {only_where(unsure)}:", f"#   {line}"]
        )
    if others:
        lines += ["# These are no sysctls and can't stand in this file; run them at boot:"]
        lines += [f"#   {set_command(key, raw)}" for key, raw in others]
    return [*lines, *_present_interfaces(values)]


def _present_interfaces(values: Sequence[tuple[str, str]]) -> list[str]:
    """default_qdisc serves interfaces that come later; those that are there need a word of their own."""
    default = dict(values).get(DEFAULT_QDISC)
    if default is None or any(key.startswith("qdisc/") for key, _ in values):
        return []
    return [
        "# Interfaces that are there keep their queueing discipline; for each of them:",
        f"#   {set_command('qdisc/INTERFACE', default)}",
    ]
