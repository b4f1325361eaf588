"""Who sets each key at the next boot: the precedence rules of the loaders, replayed.

=============== =============================================== ==============================
loader          files, in the order in which they are applied   what wins
=============== =============================================== ==============================
systemd-sysctl  of each basename the first of /etc, /run,       the last assignment; an explicit
                /usr/local/lib, /usr/lib, /lib ``sysctl.d``;    key beats a glob; ``-key`` alone
                sorted by basename as bytes; no hidden ones     takes an earlier one back
procps          the same with hidden files (3.3.10 to 3.3.16:   the last that the kernel takes;
                /run first), then /etc/sysctl.conf              an explicit key beats a glob
busybox         /etc/sysctl.conf                                the last; a value that the kernel
                                                                refuses ends the reading
openwrt         /etc/sysctl.d/*.conf, then /etc/sysctl.conf     as busybox, file by file
alpine          /lib, /usr/lib, /etc ``sysctl.d``, then         as the sysctl that is there
                /etc/sysctl.conf, then /run/sysctl.d
=============== =============================================== ==============================

A link to /dev/null and an empty file mask the files of that name further down.  Sources: systemd
``src/sysctl/sysctl.c``, procps ``src/sysctl.c``, busybox ``procps/sysctl.c``, the init scripts of
OpenWrt (``package/base-files``) and Alpine (``main/openrc/sysctl.initd``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import basename, dirname
from typing import TYPE_CHECKING, Literal

from hostcfg.model import BootValue
from hostcfg.platforms.linux.conf import assignments, key_to_path
from hostcfg.platforms.linux.native import form_of, written

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hostcfg.model import Json
    from hostcfg.platforms.linux.conf import Assignment, Conf

System = Literal["systemd-sysctl", "procps", "busybox", "openwrt", "alpine"]

_DIRS = ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")
_OLD_DIRS = ("/run", "/etc", "/usr/local/lib", "/usr/lib", "/lib")
SYSCTL_CONF = "/etc/sysctl.conf"

# The kernel's own floor (SOCK_MIN_RCVBUF, SOCK_MIN_SNDBUF in include/net/sock.h): below is EINVAL.
_FLOORS = {
    "net.core.rmem_max": 2304,
    "net.core.rmem_default": 2304,
    "net.core.wmem_max": 4608,
    "net.core.wmem_default": 4608,
}
# Network keys are C's int (proc_dointvec) but for these: unsigned int, and long for pages.
_LARGEST = {
    "net.ipv4.tcp_notsent_lowat": 2**32 - 1,
    "net.ipv4.tcp_mem": 2**63 - 1,
    "net.ipv4.udp_mem": 2**63 - 1,
    "net.core.bpf_jit_limit": 2**63 - 1,
}


@dataclass(frozen=True, slots=True)
class ConfFile:
    """One file as it stands on the host; ``text`` is None where it could not be read whole.

    ``link`` is where a symbolic link leads, as written.
    """

    path: str
    text: str | None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class BootLoader:
    """What sets sysctls at boot: whose rules, and which grammar its ``sysctl`` has."""

    system: System
    version: tuple[int, ...] | None = None
    procps: bool = False  # alpine: procps is installed in place of busybox's sysctl

    @property
    def name(self) -> Literal["systemd-sysctl", "procps", "busybox"]:
        """The program that writes the values: ``systemd-sysctl``, ``procps`` or ``busybox``."""
        if self.system == "systemd-sysctl":
            return "systemd-sysctl"
        return "procps" if self.procps or self.system == "procps" else "busybox"


@dataclass(frozen=True, slots=True)
class Override:
    """An assignment that has no effect, and the later one that has."""

    loser: BootValue
    winner: BootValue


@dataclass(frozen=True, slots=True)
class Boot:
    """What one loader makes of the files.

    ``values`` are the winners by key; ``refused`` what the kernel will not take; ``bad_lines``
    (path, line, text) what the loader can't use; ``ignored`` (path, why) files that it never reads;
    ``unread`` files that it reads and we could not; ``ends`` where busybox stops reading a file.
    """

    values: dict[str, BootValue]
    overridden: tuple[Override, ...] = ()
    refused: tuple[BootValue, ...] = ()
    bad_lines: tuple[tuple[str, int, str], ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
    unread: tuple[str, ...] = ()
    ends: tuple[BootValue, ...] = ()


def resolve(files: Sequence[ConfFile], loader: BootLoader, keys: Collection[str] = ()) -> Boot:
    """Replay ``loader`` over ``files``; ``keys`` are the names that globs can meet on this host."""
    ordered = files_in_order(files, loader)
    read = {f.path for f in ordered}
    ignored = tuple((f.path, _why_ignored(f, loader, ordered)) for f in files if f.path not in read)
    unread = tuple(f.path for f in ordered if f.text is None)
    parsed = [(f.path, _parse(f, loader)) for f in ordered if f.text is not None]
    bad = tuple((path, number, text) for path, conf in parsed for number, text in conf.not_understood)
    run = _Run(loader, keys)
    for path, conf in parsed:
        run.read(path, conf.assignments)
    run.finish()
    return Boot(run.values, tuple(run.overridden), tuple(run.refused), bad, ignored, unread, tuple(run.ends))


def files_in_order(files: Sequence[ConfFile], loader: BootLoader) -> list[ConfFile]:
    """The files that ``loader`` opens, in its order; masked and shadowed ones are left out."""
    by_dir: dict[str, list[ConfFile]] = {}
    main = [f for f in files if f.path == SYSCTL_CONF]
    for file in files:
        if basename(dirname(file.path)) == "sysctl.d" and file.path.endswith(".conf"):
            by_dir.setdefault(dirname(dirname(file.path)), []).append(file)
    if loader.system == "busybox":
        return main
    if loader.system == "openwrt":
        return [*_globbed(by_dir, "/etc"), *main]
    if loader.system == "alpine":
        return _alpine_order(by_dir, main)
    old = loader.version is not None and (3, 3, 10) <= loader.version < (3, 3, 17)
    dirs = _OLD_DIRS if loader.system == "procps" and old else _DIRS
    winners: dict[str, ConfFile] = {}
    for directory in dirs:
        for file in by_dir.get(directory, ()):
            winners.setdefault(basename(file.path), file)
    names = sorted(winners, key=str.encode)
    if loader.system == "systemd-sysctl":
        return [winners[name] for name in names if not name.startswith(".")]
    return [*(winners[name] for name in names), *main]


def _globbed(by_dir: dict[str, list[ConfFile]], directory: str) -> list[ConfFile]:
    """A shell's ``*.conf``: sorted, without hidden files."""
    found = [f for f in by_dir.get(directory, ()) if not basename(f.path).startswith(".")]
    return sorted(found, key=lambda f: f.path.encode())


def _alpine_order(by_dir: dict[str, list[ConfFile]], main: list[ConfFile]) -> list[ConfFile]:
    run, etc = _globbed(by_dir, "/run"), _globbed(by_dir, "/etc")
    taken_run = {basename(f.path) for f in run}
    taken = taken_run | {basename(f.path) for f in etc}
    vendor = [*_globbed(by_dir, "/lib"), *_globbed(by_dir, "/usr/lib")]
    return [
        *(f for f in vendor if basename(f.path) not in taken),
        *(f for f in etc if basename(f.path) not in taken_run),
        *main,
        *run,
    ]


def _why_ignored(file: ConfFile, loader: BootLoader, ordered: Sequence[ConfFile]) -> str:
    name = basename(file.path)
    shadow = next((f.path for f in ordered if basename(f.path) == name), None)
    if shadow is not None:
        return f"{shadow} has the same name and comes first"
    if name.startswith("."):
        return f"{loader.name} skips hidden files"
    return f"{loader.name} does not read it at boot"


def _parse(file: ConfFile, loader: BootLoader) -> Conf:
    return assignments(file.text or "", loader.name, loader.version)


class _Run:
    """One boot: what has been written so far.  systemd collects first; the others write as they read."""

    def __init__(self, loader: BootLoader, keys: Collection[str]) -> None:
        self.values: dict[str, BootValue] = {}
        self.overridden: list[Override] = []
        self.refused: list[BootValue] = []
        self.ends: list[BootValue] = []
        self._loader = loader
        self._keys = keys
        self._explicit: dict[str, BootValue | None] = {}  # None: excluded
        self._globs: list[tuple[str, BootValue]] = []
        self._excluded_globs: list[str] = []

    def read(self, path: str, lines: Sequence[Assignment]) -> None:
        for line in lines:
            value = BootValue(line.key, line.raw, path, line.line, self._loader.name)
            if line.glob:
                self._read_glob(line, value)
            elif line.exclude:
                self._exclude(line.key)
            elif self._loader.name == "systemd-sysctl":
                self._collect(value)
            else:
                self._explicit.setdefault(value.key, value)
                if not self._write(value) and self._loader.name == "busybox":
                    self.ends.append(value)  # xwrite_str() dies: the rest of this file is not read
                    return

    def finish(self) -> None:
        """Write what waits until all files are read: systemd's table, and the globs of both."""
        if self._loader.name == "systemd-sysctl":
            for value in self._explicit.values():
                if value is not None:
                    self._write(value)
        for pattern, value in self._globs:
            for key in _matching(pattern, self._keys):
                if key not in self._explicit and not any(_matches(p, key) for p in self._excluded_globs):
                    self._write(BootValue(key, value.raw, value.path, value.line, value.loader))

    def _read_glob(self, line: Assignment, value: BootValue) -> None:
        if not line.exclude:
            self._globs.append((line.key, value))
        elif self._loader.name == "procps" and (self._loader.version or (5,)) > (4, 0, 2):
            # systemd and procps 4.0.2 compare exclusions by name; procps later as patterns.
            self._excluded_globs.append(line.key)

    def _exclude(self, key: str) -> None:
        if self._loader.name == "systemd-sysctl":
            self._explicit[key] = None  # one table: this also takes back an earlier assignment
        else:
            self._explicit.setdefault(key, None)

    def _collect(self, value: BootValue) -> None:
        earlier = self._explicit.pop(value.key, None)
        if earlier is not None:
            self.overridden.append(Override(earlier, value))
        self._explicit[value.key] = value

    def _write(self, value: BootValue) -> bool:
        if not kernel_takes(value.key, value.raw):
            self.refused.append(value)
            return False
        earlier = self.values.get(value.key)
        if earlier is not None:
            self.overridden.append(Override(earlier, value))
        self.values[value.key] = value
        return True


def _matching(pattern: str, keys: Collection[str]) -> Iterator[str]:
    return (key for key in keys if _matches(pattern, key))


def _matches(pattern: str, key: str) -> bool:
    """glob(7) over the path of a key: a star does not cross a separator."""
    parts, wanted = key_to_path(key).split("/"), key_to_path(pattern).split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def kernel_takes(key: str, raw: str) -> bool:
    """Whether a write of ``raw`` sets ``key``: its form, its integer type and the buffers' floors.

    Other bounds (tcp_syn_retries ends at 127) differ by release and are not in here.
    """
    try:
        value = kernel_value(key, raw)
    except ValueError:
        return False
    parts = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, int)]
    largest = _LARGEST.get(key, 2**31 - 1 if key.startswith("net.") else 2**63)
    return all(_FLOORS.get(key, -(2**63)) <= part <= largest for part in parts)


def kernel_value(key: str, raw: str) -> Json:
    """What a write of ``raw`` makes of ``key``; ValueError if the kernel refuses it.

    A triple may be shorter: the kernel keeps the rest.  What stands behind the last integer and a
    blank is not looked at: ``300026 = 3`` is 300026 (recorded; do_proc_dointvec, kernel/sysctl.c).
    """
    form = form_of(key)
    if form is None or form.shape not in ("int", "ints"):
        return written(key, raw)
    count = 1 if form.shape == "int" else form.count
    words = [word for word in re.split(r"[ \t\r\n]+", raw) if word][:count]
    if form.shape == "int" or form.count is None or len(words) == form.count:
        return written(key, " ".join(words))
    if not words:
        raise ValueError(f"{key} is given no value")
    padded = written(key, " ".join([*words, *["0"] * (form.count - len(words))]))
    return padded[: len(words)] if isinstance(padded, list) else padded


def same_value(key: str, a: str, b: str) -> bool:
    """Whether two texts set ``key`` alike: compared by type, so that white space and bases don't count."""
    try:
        values = [kernel_value(key, a), kernel_value(key, b)]
    except ValueError:
        return a.split() == b.split()
    if key == "net.ipv4.tcp_notsent_lowat":  # unsigned, and older kernels print UINT_MAX as -1
        values = [2**32 - 1 if value == -1 else value for value in values]
    first, second = values
    if isinstance(first, list) and isinstance(second, list):
        short = min(len(first), len(second))
        return first[:short] == second[:short]
    return first == second
