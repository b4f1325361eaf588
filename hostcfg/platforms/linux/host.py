"""The probe's ``linux-host`` and ``linux-conf`` sections as values.  Pure.

Sample lines of ``linux-host``: marks that the shell saw, then small files, each line with its path::

    =exists /run/systemd/system
    =sysctl sysctl from procps-ng 4.0.2
    /etc/os-release:PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
    /proc/meminfo:MemTotal:       24684092 kB

and of ``linux-conf``::

    F l /etc/sysctl.d/99-sysctl.conf
    lrwxrwxrwx 1 root root 14 May 29  2025 /etc/sysctl.d/99-sysctl.conf -> ../sysctl.conf
    /etc/sysctl.d/99-sysctl.conf:12:net.ipv4.tcp_sack = 1
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass
from hostcfg.platforms.linux.boot import BootLoader, ConfFile
from hostcfg.platforms.linux.probe import CONF_LIMIT_LINES, WRITERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SCRIPTS = ("/etc/rc.local", "/etc/rc.d/rc.local", "/etc/local.d/", "/etc/network/interfaces")
# The first process of a system that boots by itself; anything else is a container's program.
_INITS = frozenset(
    ["init", "systemd", "runit", "openrc-init", "s6-svscan", "dinit", "procd", "busybox", "linuxrc", "finit"]
)
_CGROUP_MARKS = {"docker": "docker", "kubepods": "kubernetes", "libpod": "podman", "lxc": "lxc"}
_CAP_NET_ADMIN = 12  # include/uapi/linux/capability.h
_LAST_LINE = 20_000  # no sysctl file is longer; one that is counts as not read


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """A line of a start script that sets something of the network by itself."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Host:
    """What the marks say; None where they say nothing.

    ``writers`` are running programs that set sysctls too; ``procps`` its version where the host's
    sysctl is procps; ``container`` what kind of container this is, ``read_only_sys`` whether
    /proc/sys can't be written; ``net_admin`` whether we may write network sysctls at all;
    ``qdiscs`` the queueing disciplines that the kernel has or can load.
    """

    title: str | None = None
    init: str | None = None
    loader: BootLoader | None = None
    procps: tuple[int, ...] | None = None
    container: str | None = None
    read_only_sys: bool = False
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None
    page_bytes: int | None = None
    machine_id: str | None = None
    root: bool | None = None
    net_admin: bool | None = None
    writers: tuple[str, ...] = ()
    tuned_profile: str | None = None
    ufw: bool = False
    scripts: tuple[ScriptLine, ...] = ()
    qdiscs: frozenset[str] | None = None


@dataclass(slots=True)
class _Marks:
    words: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)

    def exists(self, path: str) -> bool:
        return path in self.words.get("exists", ())

    def word(self, name: str) -> str | None:
        return next(iter(self.words.get(name, ())), None)

    def first(self, *paths: str) -> str | None:
        """First line that is not blank of the first of ``paths`` that has one."""
        lines = (line.strip() for path in paths for line in self.files.get(path, ()))
        return next((line for line in lines if line), None)


def read_host(text: str) -> Host:
    """The ``linux-host`` section; a mark that is missing or damaged leaves its field unknown."""
    marks = _marks(text)
    status = _colon_fields(marks.files.get("/proc/self/status", ()))
    uids = status.get("Uid", "").split()
    caps = re.fullmatch(r"[0-9a-f]{1,16}", status.get("CapEff", ""))
    active = marks.first("/etc/tuned/active_profile")
    memory = _colon_fields(marks.files.get("/proc/meminfo", ())).get("MemTotal", "")
    return Host(
        title=_title(marks),
        init=marks.first("/proc/1/comm"),
        loader=_loader(marks),
        procps=_procps(marks),
        container=_container(marks),
        read_only_sys=_read_only_sys(marks.files.get("/proc/self/mountinfo", ())),
        memory_bytes=_kib(memory),
        memory_limit_bytes=_memory_limit(marks),
        page_bytes=_int(marks.word("page_bytes")),
        machine_id=marks.first("/etc/machine-id", "/var/lib/dbus/machine-id"),
        root=uids[1] == "0" if len(uids) > 1 else None,
        net_admin=bool(int(caps[0], 16) >> _CAP_NET_ADMIN & 1) if caps else None,
        writers=_writers(marks),
        tuned_profile=active,
        ufw=any(line.strip() == "ENABLED=yes" for line in marks.files.get("/etc/ufw/ufw.conf", ())),
        scripts=tuple(_script_lines(marks)),
        qdiscs=_qdiscs(marks),
    )


def _marks(text: str) -> _Marks:
    marks = _Marks()
    for line in text.split("\n"):
        if line.startswith("="):
            word, _, value = line[1:].partition(" ")
            marks.words.setdefault(word, []).append(value)
        elif line.startswith("/"):
            path, colon, value = line.partition(":")
            if colon:
                marks.files.setdefault(path, []).append(value)
        elif found := re.fullmatch(r"CONFIG_NET_SCH_([A-Z0-9_]{1,20})=y", line):
            marks.words.setdefault("qdisc", []).append(found[1].lower())
    return marks


def _colon_fields(lines: Sequence[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines)
    return {name: value.strip() for name, _, value in pairs}


def _int(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,19}", text) else None


def _kib(text: str) -> int | None:
    number = re.fullmatch(r"([0-9]{1,15}) kB", text)
    return int(number[1]) * 1024 if number else None


def _title(marks: _Marks) -> str | None:
    """PRETTY_NAME of os-release(5), else NAME and VERSION."""
    lines = [*marks.files.get("/etc/os-release", ()), *marks.files.get("/usr/lib/os-release", ())]
    fields = dict(line.partition("=")[::2] for line in lines)
    names = [fields.get(name, "").strip().strip("\"'") for name in ("PRETTY_NAME", "NAME", "VERSION")]
    return names[0] or " ".join(filter(None, names[1:])) or None


def version_of(text: str) -> tuple[int, ...] | None:
    """The first dotted number: ``sysctl from procps-ng 4.0.2`` -> (4, 0, 2)."""
    found = re.search(r"([0-9]{1,5})(?:\.([0-9]{1,5}))?(?:\.([0-9]{1,5}))?", text)
    return tuple(int(part) for part in found.groups() if part is not None) if found else None


def _procps(marks: _Marks) -> tuple[int, ...] | None:
    said = marks.word("sysctl") or ""
    return version_of(said) if "procps" in said else None


def _loader(marks: _Marks) -> BootLoader | None:
    """What sets sysctls at boot, or None where nothing is seen that would.

    Where systemd runs it is systemd-sysctl, unless it is masked or not installed.
    """
    said = marks.word("sysctl") or ""
    procps, busybox = _procps(marks), version_of(said) if said.startswith("BusyBox") else None
    if marks.exists("/run/systemd/system"):
        if marks.word("systemd-sysctl") is None or marks.words.get("masked"):
            return None
        return BootLoader("systemd-sysctl", version_of(marks.word("systemd") or ""))
    own = procps or busybox
    if marks.exists("/etc/openwrt_release"):
        return BootLoader("openwrt", own, procps=procps is not None)
    init = marks.first("/proc/1/comm")
    if init is not None and init not in _INITS:
        return None
    if marks.exists("/etc/alpine-release"):
        return BootLoader("alpine", own, procps=procps is not None)
    if procps is not None:
        return BootLoader("procps", procps)
    return BootLoader("busybox", busybox) if busybox is not None else None


def _container(marks: _Marks) -> str | None:
    """Which kind, as the container manager says (systemd's container interface), or its traces."""
    said = marks.word("container") or marks.first("/run/systemd/container")
    if said:
        return said
    if marks.exists("/run/.containerenv"):
        return "podman"
    if marks.exists("/dev/lxd/sock"):
        return "lxd"
    if marks.exists("/proc/vz") and not marks.exists("/proc/bc"):
        return "openvz"  # its host has both
    groups = " ".join(marks.files.get("/proc/self/cgroup", ()))
    seen = next((kind for mark, kind in _CGROUP_MARKS.items() if mark in groups), None)
    if seen is None and marks.exists("/.dockerenv"):
        # A disk made from an image has the file too; without another trace it is no container.
        limited = _own_users(marks) or _read_only_sys(marks.files.get("/proc/self/mountinfo", ()))
        return "docker" if limited else None
    return seen


def _own_users(marks: _Marks) -> bool:
    """A user namespace: it does not map all user ids (user_namespaces(7))."""
    line = marks.first("/proc/self/uid_map")
    return line is not None and line.split() != ["0", "0", "4294967295"]


def _read_only_sys(lines: Sequence[str]) -> bool:
    """Whether the mount that holds /proc/sys/net is read-only (proc_pid_mountinfo(5))."""
    options: dict[str, str] = {}
    for line in lines:
        fields = line.split()
        if len(fields) > 5:
            options[fields[4]] = fields[5]  # a later mount covers an earlier one
    holders = ("/proc/sys/net", "/proc/sys", "/proc")
    holder = next((options[path] for path in holders if path in options), "")
    return "ro" in holder.split(",")


def _memory_limit(marks: _Marks) -> int | None:
    """The control group's memory limit; cgroup v1 says a number near 2^63 for none."""
    paths = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    limit = _int(marks.first(*paths))
    return limit if limit is not None and limit < 2**60 else None


def _qdiscs(marks: _Marks) -> frozenset[str] | None:
    """Module names are those of the disciplines, sch_fq for fq; the plain queues are always there."""
    built_in = [
        line for path, lines in marks.files.items() if path.endswith("/modules.builtin") for line in lines
    ]
    names = [*marks.words.get("qdisc", ()), *re.findall(r"/sch_([a-z0-9_]{1,20})\.ko", "\n".join(built_in))]
    return frozenset({*names, "pfifo_fast", "pfifo", "bfifo"}) if names else None


def _writers(marks: _Marks) -> tuple[str, ...]:
    commands = {lines[0].strip() for path, lines in marks.files.items() if path.endswith("/comm")}
    running = commands.intersection(WRITERS)
    if marks.exists("/run/tuned/tuned.pid"):
        running.add("tuned")
    return tuple(sorted(running))


def _script_lines(marks: _Marks) -> list[ScriptLine]:
    found = []
    for path, lines in marks.files.items():
        if not path.startswith(_SCRIPTS):
            continue
        for line in lines:
            number, _, text = line.partition(":")
            if number.isdecimal() and not text.lstrip().startswith("#"):
                found.append(ScriptLine(path, int(number[:9]), text.strip()))
    return found


def read_conf(text: str) -> list[ConfFile]:
    """Every file of the ``linux-conf`` section, with its lines at their own numbers."""
    flags: dict[str, str] = {}
    links: dict[str, str] = {}
    rows: dict[str, dict[int, str]] = {}
    for line in text.split("\n"):
        if line.startswith("F "):
            _, marks, path = (*line.split(" ", 2), "")[:3]
            flags[path] = marks
        elif " -> " in line and line.startswith("l"):
            start, _, target = line.partition(" -> ")
            links.update((path, target) for path in flags if start.endswith(f" {path}"))
        else:
            _content_line(line, flags, rows)
    return [_conf_file(path, marks, links.get(path), rows.get(path, {})) for path, marks in flags.items()]


def _content_line(line: str, flags: dict[str, str], rows: dict[str, dict[int, str]]) -> None:
    """``PATH:NUMBER:TEXT``; a path may hold colons, so the one that was announced counts."""
    end = line.find(":")
    for _ in range(20):
        if end < 0:
            return
        if line[:end] in flags:
            number, _, text = line[end + 1 :].partition(":")
            if not re.fullmatch(r"[0-9]{1,6}", number) or int(number) > _LAST_LINE:
                flags[line[:end]] += "u"
            else:
                rows.setdefault(line[:end], {})[int(number)] = text
            return
        end = line.find(":", end + 1)


def _conf_file(path: str, marks: str, link: str | None, rows: Mapping[int, str]) -> ConfFile:
    if "u" in marks or len(rows) >= CONF_LIMIT_LINES:
        return ConfFile(path, None, link)
    last = max(rows, default=0)
    return ConfFile(path, "\n".join(rows.get(number, "") for number in range(1, last + 1)), link)
