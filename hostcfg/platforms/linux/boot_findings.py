"""What the next boot will change, by which file and line, and who disagrees about it.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Finding, State
from hostcfg.platforms.linux.accepts import same_value
from hostcfg.platforms.linux.conf import assignments
from hostcfg.platforms.linux.keys import AVAILABLE, CONGESTION_CONTROL, PATH_KEYS
from hostcfg.platforms.linux.stock import stock_values
from hostcfg.platforms.linux.view import AT_BOOT, BY_HAND, NOT_KNOWN
from hostcfg.platforms.linux.wording import joined, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hostcfg.model import BootValue, Facts, Severity
    from hostcfg.platforms.linux.view import View

_WHEN = {NOT_KNOWN: "where this file is loaded", BY_HAND: f"by `{BY_HAND}`"}
UFW_CONF = "/etc/ufw/sysctl.conf"
MOST_OF_A_KIND = 8
"""Findings of one kind; a file full of the same fault is told once."""

# Rounded by the kernel to a power of two, so that it never reads back as written.
_ROUNDED = frozenset({"net.core.rps_sock_flow_entries"})


def boot_findings(facts: Facts, view: View) -> list[Finding]:
    """All findings about boot, in the order of the checks; many of a kind are summed up."""
    found: list[Finding] = []
    for check in _CHECKS:
        group = list(check(facts, view))
        found += group[:MOST_OF_A_KIND]
        if len(group) > MOST_OF_A_KIND:
            rest = group[MOST_OF_A_KIND:]
            keys = tuple(dict.fromkeys(key for finding in rest for key in finding.keys))
            what = f": {joined(keys)}" if keys else ""
            message = f"{len(rest)} more findings of the kind {rest[0].kind}{what}"
            found.append(Finding(rest[0].kind, rest[0].severity, message, keys))
    return found


def place(value: BootValue, view: View) -> str:
    """``/etc/sysctl.d/90-x.conf:3``, and where it is a link, the file to edit."""
    link = next((file.link for file in view.files if file.path == value.path), None)
    where = f"{shown(value.path)}:{value.line}" if value.line else shown(value.path)
    return where if link is None else f"{where} (a link to {shown(link)})"


def _weight(key: str) -> Severity:
    return "warning" if key in PATH_KEYS else "info"


def _of_network(key: str) -> bool:
    return key.startswith(("net.core.", "net.ipv4.tcp_", "net.ipv4.udp_", "net.ipv4.ip_"))


def _was_asked(key: str) -> bool:
    """Whether the probe reads ``key``, so that its absence means that the kernel has no such key."""
    secret = key in ("net.core.netdev_rss_key", "net.ipv4.tcp_fastopen_key")
    return key.startswith(("net.core.", "net.ipv4.tcp_")) and not secret


def _differs(facts: Facts, view: View) -> Iterator[Finding]:
    """A value that runs now and another one in the files."""
    for value in facts.boot:
        native = facts.native.get(value.key)
        if native is None or native.raw is None or native.state is not State.VALUE or value.key in _ROUNDED:
            continue
        if native.source.endswith(AT_BOOT) or same_value(value.key, value.raw, native.raw):
            continue
        if value.key == CONGESTION_CONTROL and not _has_algorithm(facts, value.raw):
            continue  # said by _not_loaded
        when = _WHEN.get(value.loader, "after the next boot")
        message = (
            f"{value.key} is {shown(native.raw)} and will be {shown(value.raw)} {when}: {place(value, view)}"
        )
        yield Finding("boot_differs", _weight(value.key), message, (value.key,))


def _has_algorithm(facts: Facts, name: str) -> bool:
    available = facts.native.get(AVAILABLE)
    return available is None or available.raw is None or name in available.raw.split()


def _not_loaded(facts: Facts, view: View) -> Iterator[Finding]:
    for value in facts.boot:
        if value.key == CONGESTION_CONTROL and not _has_algorithm(facts, value.raw):
            message = (
                f"{place(value, view)} sets {value.key} to {shown(value.raw)}, which the kernel has not "
                f"loaded: is the module tcp_{shown(value.raw)} there? (modprobe tcp_{shown(value.raw)})"
            )
            yield Finding("congestion_control_not_loaded", "warning", message, (value.key,))


def _refused(facts: Facts, view: View) -> Iterator[Finding]:
    """Lines that look fine and have no effect: a quoted triple, ``16M``, a comment behind a word."""
    if view.boot is not None:
        for value in view.boot.refused:
            message = (
                f"{place(value, view)}: the kernel refuses {shown(repr(value.raw))} for {shown(value.key)}"
            )
            yield Finding("boot_refused", "warning", message, (value.key,))
        for value in view.boot.ends:
            message = (
                f"{place(value, view)}: busybox sysctl stops here; no later line of this file has an effect"
            )
            yield Finding("boot_stops", "warning", message, (value.key,))
    for value in facts.boot:
        whole = view.host is not None and view.child_namespace is False
        if whole and _was_asked(value.key) and value.key not in facts.native:
            message = f"{place(value, view)} sets {shown(value.key)}, which this kernel does not have"
            yield Finding("boot_unknown_key", "info", message, (value.key,))


def _overridden(facts: Facts, view: View) -> Iterator[Finding]:
    del facts
    for pair in view.boot.overridden if view.boot is not None else ():
        loser, winner = pair.loser, pair.winner
        final = view.boot.values.get(loser.key) if view.boot is not None else None
        if not _of_network(loser.key) or same_value(loser.key, loser.raw, winner.raw):
            continue
        if final is not None and final != winner:
            continue  # the winner is overridden in its turn, and that pair is told
        message = (
            f"{place(loser, view)} sets {loser.key} to {shown(loser.raw)}; "
            f"{place(winner, view)} comes later and sets {shown(winner.raw)}"
        )
        # /etc over the distribution's own file is how it is meant to be
        meant = loser.path.startswith(("/usr/lib/", "/lib/")) and winner.path.startswith("/etc/")
        yield Finding("boot_overridden", "info" if meant else _weight(loser.key), message, (loser.key,))


def _bad_lines(facts: Facts, view: View) -> Iterator[Finding]:
    del facts
    if view.boot is None or view.host is None or view.host.loader is None:
        return
    for path, line, text in view.boot.bad_lines:
        message = f"{shown(path)}:{line}: {view.host.loader.name} can't use this line: {shown(text)}"
        yield Finding("boot_bad_line", "warning", message)


def _disagree(facts: Facts, view: View) -> Iterator[Finding]:
    """Debian 13, Arch and others: sysctl --system shows an admin what no boot will do."""
    del facts
    boot, hand = view.boot, view.by_hand
    if boot is None or hand is None or view.host is None or view.host.loader is None:
        return
    for key in sorted({*boot.values, *hand.values}):
        at_boot, by_hand = boot.values.get(key), hand.values.get(key)
        if not _of_network(key) or by_hand is None:
            continue
        if at_boot is not None and same_value(key, at_boot.raw, by_hand.raw):
            continue
        yield _disagreement(key, at_boot, by_hand, view, view.host.loader.name)


def _disagreement(
    key: str, at_boot: BootValue | None, by_hand: BootValue, view: View, loader: str
) -> Finding:
    there = f"{place(by_hand, view)} sets {key} to {shown(by_hand.raw)}"
    if at_boot is None:
        what = f"{there}, and {loader} does not read that file at boot"
    else:
        instead = f"at boot {loader} sets {shown(at_boot.raw)}: {place(at_boot, view)}"
        what = f"{there} with `{BY_HAND}`; {instead}"
    return Finding("loaders_disagree", _weight(key), what, (key,))


def _not_persisted(facts: Facts, view: View) -> Iterator[Finding]:
    """A value that is not the kernel's own, and that no file sets: somebody's `sysctl -w`."""
    if view.boot is None or facts.release is None or view.child_namespace is not False:
        return
    if view.boot.unread or (view.host is not None and view.host.writers):
        return
    stock = stock_values(facts, facts.release)
    changed: dict[str, list[str]] = {}
    for name, reading in facts.readings.items():
        known = name in stock and reading.state is State.VALUE and reading.key is not None
        if known and reading.value != stock[name] and reading.key not in view.boot.values:
            changed.setdefault(str(reading.key), []).append(str(stock[name]))
    for key, values in changed.items():
        native = facts.native[key]
        message = (
            f"{key} is {shown(native.raw)}, not the kernel's own ({', '.join(values)}), and no file sets it: "
            "it is lost at the next boot"
        )
        yield Finding("not_persisted", "info", message, (key,))


def _unread(facts: Facts, view: View) -> Iterator[Finding]:
    del facts
    if view.boot is not None and view.boot.unread:
        message = f"not read, so what they set at boot is not known: {joined(view.boot.unread)}"
        yield Finding("boot_unread", "warning", message)


def _others(facts: Facts, view: View) -> Iterator[Finding]:
    """Start scripts and ufw, which set sysctls after the loader; and a host where nothing loads them."""
    if view.host is None:
        return
    for script in view.host.scripts:
        message = f"{shown(script.path)}:{script.line} sets network values by itself: {shown(script.text)}"
        yield Finding("start_script", "info", message)
    if view.host.ufw:
        yield from _ufw(facts, view)
    wanted = sorted(key for key in (view.by_hand.values if view.by_hand else ()) if _of_network(key))
    if view.boot is None and wanted:
        message = (
            f"nothing is seen here that loads sysctl files at boot (process 1 is {shown(view.host.init)}): "
            f"the files' values for {joined(wanted)} come only by `sysctl --system`"
        )
        yield Finding("no_boot_loader", "info", message, tuple(wanted))


def _ufw(facts: Facts, view: View) -> Iterator[Finding]:
    text = next((file.text for file in view.files if file.path == UFW_CONF), None)
    for line in assignments(text or "", "procps").assignments:
        native = facts.native.get(line.key)
        if native is not None and native.raw is not None and _of_network(line.key):
            message = f"ufw sets {line.key} to {shown(line.raw)} when it starts: {UFW_CONF}:{line.line}"
            yield Finding("other_writer", "info", message, (line.key,))


def config_only(facts: Facts, view: View) -> Iterator[Finding]:
    """The text says what a boot sets, and nothing about what runs."""
    taken = sorted(n.key for n in facts.native.values() if n.source.endswith(AT_BOOT))
    if view.config and taken:
        message = f"a config file, not the running host: {joined(taken)} as they are once it is loaded"
        yield Finding("config_only", "warning", message, tuple(taken))


_CHECKS: Sequence[Callable[[Facts, View], Iterable[Finding]]] = (
    _differs,
    _not_loaded,
    _refused,
    _overridden,
    _disagree,
    _bad_lines,
    _unread,
    _others,
    _not_persisted,
)
