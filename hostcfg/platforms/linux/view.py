"""What the sections of one host say, understood once: for the facts and for the findings.  Pure."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from hostcfg.errors import HostError
from hostcfg.lean import dataclass, regex
from hostcfg.model import BootValue, Native, State
from hostcfg.platforms.linux.conf import assignments, key_to_path, path_to_key
from hostcfg.platforms.linux.keys import PATH_KEYS
from hostcfg.platforms.linux.native import is_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostcfg.model import Json, Parsed, Section
    from hostcfg.platforms.base import Parser
    from hostcfg.platforms.linux.boot import Boot, ConfFile
    from hostcfg.platforms.linux.host import Host

CONFIG_KINDS = frozenset({"sysctl-conf", "tuned-conf"})
"""Texts that say what will be set, and not what is."""

NOT_KNOWN = "unknown loader"
"""The loader of a config file that was pasted without its host."""

AT_BOOT = ", as set at boot"
"""Ends the source of a reading that a pasted config file stands in for."""

BY_HAND = "sysctl --system"
"""The loader of a host where nothing is seen that loads sysctl files at boot."""

_FIXED = "the kernel lets nobody write it here: it only tells, or belongs to the host of this namespace"
_SPACE = regex(r"\s")
_PROC_ERROR = regex(r"/proc/sys/(?P<path>[^:\s']+)'?: (?P<why>.+)")
_ASSIGNED = regex(r"(?P<key>[a-z][\w./-]{1,200}) *= *(?P<raw>.*)")
# Registered for the first network namespace alone (netns_core_table, net/core/sysctl_net_core.c).
_GLOBAL_KEY, _COMMON_KEY = "net.core.netdev_max_backlog", "net.core.somaxconn"
_WHOLE_LISTING = 60  # network keys of the smallest `sysctl -a`; fewer were asked for by name


@dataclass(slots=True)
class View:
    """One host's sections, understood.

    ``native`` are running values; ``config`` what pasted config files would set.  ``boot`` is what
    the boot loader makes of the files, ``by_hand`` what procps would (``sysctl --system``) where
    another program loads them at boot.  ``child_namespace`` None: it can't be told.
    """

    host: Host | None = None
    native: dict[str, Native] = field(default_factory=dict)
    config: list[BootValue] = field(default_factory=list)
    files: list[ConfFile] = field(default_factory=list)
    boot: Boot | None = None
    by_hand: Boot | None = None
    child_namespace: bool | None = None
    kernel: str | None = None
    machine: str | None = None
    title: str | None = None
    memory_bytes: int | None = None
    routes: list[dict[str, Json]] = field(default_factory=list)
    parsed: dict[int, Parsed] = field(default_factory=dict)


@cache
def linux_parsers() -> dict[str, Parser]:
    """Every parser of this platform by its kind; imported here, for what the probe prints needs none."""
    from hostcfg.platforms.linux.parsers import PARSERS

    return {parser.kind: parser for parser in PARSERS}


def view_of(host: str, sections: Sequence[Section]) -> View:
    """The sections understood; HostError if the probe says that it could read nothing."""
    view = View()
    for index, section in enumerate(sections):
        if section.kind == "proc-sys" and "==> /proc/sys/" not in section.text:
            _take_proc_sys(view, section, host)
        elif section.kind == "linux-host":
            _take_host(view, section.text)
        elif section.kind == "linux-modes":
            _take_modes(view, section.text)
        elif section.kind == "linux-peer-route":
            _take_routes(view, linux_parsers()["ip-route"].parse(section.text), "peer")
        elif section.kind in linux_parsers():
            parsed = linux_parsers()[section.kind].parse(section.text)
            view.parsed[index] = parsed
            _take_parsed(view, section, parsed)
    release = view.native.pop("kernel.osrelease", None)
    if view.kernel is None and release is not None:
        view.kernel = release.raw
    view.child_namespace = _child_namespace(view, sections)
    if view.host is not None and view.host.read_only_sys:
        why = "/proc/sys is mounted read-only here"
        view.native = {key: replace(native, fixed=why) for key, native in view.native.items()}
    _replay_boot(view, [section for section in sections if section.kind == "linux-conf"])
    return view


def _take_proc_sys(view: View, section: Section, host: str) -> None:
    if section.status == 97:
        raise HostError("command", "the host has no grep, cat or sed to read /proc/sys with", host=host)
    others = section.errors.split("\n")
    for line in section.text.split("\n"):
        path, colon, raw = line.removeprefix("/proc/sys/").partition(":")
        if not colon or not line.startswith("/proc/sys/") or not path or _SPACE.search(path):
            others.append(line)
            continue
        key, source = _key_and_source(path)
        earlier = view.native.get(key)
        if earlier is not None and earlier.raw:
            raw = f"{earlier.raw}\n{raw}"
        view.native[key] = Native(key, raw, State.VALUE, source)
    for line in others:
        failed = _PROC_ERROR.search(line)
        if failed is None or "No such file" in failed["why"]:
            continue
        key = path_to_key(failed["path"])
        source = f"/proc/sys/{failed['path']}: {failed['why'].strip()}"
        view.native.setdefault(key, Native(key, None, State.DENIED, source))


@lru_cache(maxsize=4096)
def _key_and_source(path: str) -> tuple[str, str]:
    """One key and one source for all hosts of a fleet: their names are most of what a host's facts hold."""
    return path_to_key(path), f"/proc/sys/{path}"


def _take_modes(view: View, text: str) -> None:
    """Keys that root may not write either (sysctl_perm, fs/proc/proc_sysctl.c).

    Sample: ``-r--r--r-- 1 root root 0 Nov 30 17:00 /proc/sys/net/core/rmem_max``.
    """
    for line in text.split("\n"):
        words = line.split()
        if len(words) < 3 or not words[-1].startswith("/proc/sys/") or "w" in words[0]:
            continue
        key = path_to_key(words[-1].removeprefix("/proc/sys/"))
        if key in view.native:
            view.native[key] = replace(view.native[key], fixed=_FIXED)


def _take_host(view: View, text: str) -> None:
    from hostcfg.platforms.linux.host import read_host

    view.host = read_host(text)
    view.title = view.host.title or view.title
    if view.host.memory_bytes is not None:
        view.memory_bytes = view.host.memory_bytes


def _take_parsed(view: View, section: Section, parsed: Parsed) -> None:
    values = parsed.values
    if section.kind == "uname":
        view.kernel = _text(values.get("release")) or view.kernel
        view.machine = _text(values.get("machine")) or view.machine
    elif section.kind == "os-release":
        view.title = _text(values.get("PRETTY_NAME")) or _text(values.get("NAME")) or view.title
    elif section.kind == "meminfo":
        total = values.get("MemTotal")
        view.memory_bytes = total if isinstance(total, int) else view.memory_bytes
    elif section.kind == "ip-route":
        _take_routes(view, parsed, "default")
    elif section.kind in CONFIG_KINDS:
        view.config += _config_values(section, parsed)
    elif section.kind in ("sysctl", "sysctl-set", "proc-sys"):
        _take_sysctl(view, parsed)


def _take_routes(view: View, parsed: Parsed, use: str) -> None:
    rows = parsed.values.get("routes")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and (use == "peer" or row.get("dst") == "default"):
            view.routes.append({**row, "use": use})


def _config_values(section: Section, parsed: Parsed) -> list[BootValue]:
    """What a pasted config file sets: the lines where it has such, else what its parser found."""
    found: list[BootValue] = []
    if section.kind == "sysctl-conf":
        found = [
            BootValue(a.key, a.raw, "sysctl.conf", a.line, NOT_KNOWN)
            for a in assignments(section.text).assignments
            if not a.glob and not a.exclude and is_key(a.key)
        ]
    seen = {value.key for value in found}
    others = ((key, raw) for key, raw in _raws(parsed.values) if key not in seen and is_key(key))
    return found + [BootValue(key, raw, parsed.command, 0, NOT_KNOWN) for key, raw in others]


def _take_sysctl(view: View, parsed: Parsed) -> None:
    """Values as their parser typed them; a line that has not its key's form is unparsed, not absent."""
    for key, raw in _raws(parsed.values):
        view.native[key] = Native(key, raw, State.VALUE, parsed.command)
    for line in parsed.unrecognized:
        found = _ASSIGNED.fullmatch(line.strip())
        key = path_to_key(key_to_path(found["key"])) if found else ""
        if found and key in PATH_KEYS:
            view.native.setdefault(key, Native(key, found["raw"], State.UNPARSED, parsed.command))
    denied = parsed.extra.get("denied")
    for name in map(str, denied if isinstance(denied, list) else ()):
        view.native.setdefault(name, Native(name, None, State.DENIED, parsed.command))


def _raws(values: Mapping[str, Json]) -> Iterable[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, list):
            yield key, "\t".join(map(str, value))
        elif isinstance(value, bool):
            yield key, str(int(value))
        elif isinstance(value, (str, int, float)):
            yield key, str(value)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _child_namespace(view: View, sections: Sequence[Section]) -> bool | None:
    """Whether this is another network namespace than the first, told by the keys that only that one has."""
    network = sum(key.startswith(("net.core.", "net.ipv4.tcp_")) for key in view.native)
    whole = any(s.kind == "linux-host" for s in sections) or network >= _WHOLE_LISTING
    if _GLOBAL_KEY in view.native:
        return False
    return True if whole and _COMMON_KEY in view.native else None


def _replay_boot(view: View, sections: Sequence[Section]) -> None:
    host = view.host
    if host is None or not sections:
        return
    from hostcfg.platforms.linux.boot import BootLoader, resolve
    from hostcfg.platforms.linux.host import read_conf

    view.files = [file for section in sections for file in read_conf(section.text)]
    if host.loader is not None:
        view.boot = resolve(view.files, host.loader, view.native.keys())
    if host.procps is not None and (host.loader is None or host.loader.name != "procps"):
        view.by_hand = resolve(view.files, BootLoader("procps", host.procps), view.native.keys())


def config_natives(view: View) -> dict[str, Native]:
    """What pasted config files set, for keys whose running value no section has; the last one wins."""
    from hostcfg.platforms.linux.accepts import kernel_takes

    found: dict[str, Native] = {}
    for value in view.config:
        if value.key in view.native:
            continue
        place = f"{value.path}:{value.line}" if value.line else value.path
        state = State.VALUE if kernel_takes(value.key, value.raw) else State.UNPARSED
        found[value.key] = Native(value.key, value.raw, state, place + AT_BOOT)
    return found
