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
from fnmatch import translate
from functools import lru_cache
from posixpath import basename, dirname
from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass
from hostcfg.model import BootValue
from hostcfg.platforms.linux.accepts import kernel_takes
from hostcfg.platforms.linux.conf import assignments, key_to_path

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hostcfg.platforms.linux.conf import Assignment, Conf

System = Literal["systemd-sysctl", "procps", "busybox", "openwrt", "alpine"]

_DIRS = ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")
_OLD_DIRS = ("/run", "/etc", "/usr/local/lib", "/usr/lib", "/lib")
SYSCTL_CONF = "/etc/sysctl.conf"


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


@lru_cache(maxsize=256)
def _parse(file: ConfFile, loader: BootLoader) -> Conf:
    """The hosts of a fleet have most of their files in common."""
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
        self._globs: dict[str, tuple[_Pattern, BootValue]] = {}
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
        if not self._globs:
            return
        excluded = [_Pattern(pattern) for pattern in self._excluded_globs]
        for key in self._keys:
            if key not in self._explicit and not any(pattern.meets(key) for pattern in excluded):
                self._write_glob(key)

    def _write_glob(self, key: str) -> None:
        """The last glob that meets the key, and whose value the kernel takes, has it in the end."""
        for pattern, value in reversed(self._globs.values()):
            if pattern.meets(key) and self._write(
                BootValue(key, value.raw, value.path, value.line, value.loader)
            ):
                return

    def _read_glob(self, line: Assignment, value: BootValue) -> None:
        is_systemd = self._loader.name == "systemd-sysctl"
        earlier = self._globs.get(line.key)
        if not line.exclude:
            if is_systemd and earlier is not None and earlier[1].raw == value.raw:
                return  # its table has that already, and keeps its place
            self._globs.pop(line.key, None)
            self._globs[line.key] = (_Pattern(line.key), value)
        elif is_systemd:
            self._globs.pop(line.key, None)  # one table: the same pattern is taken back, as a key would be
        elif self._loader.name == "procps" and (self._loader.version or (5,)) > (4, 0, 2):
            # 4.0.2 compares exclusions by name, later ones as patterns
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


class _Pattern:
    """glob(7) over the path of a key: a star does not cross a separator."""

    def __init__(self, pattern: str) -> None:
        parts = key_to_path(pattern).split("/")
        self._parts = [re.compile(translate(part)) for part in parts]

    def meets(self, key: str) -> bool:
        """Whether ``key`` is one of those that the pattern names."""
        parts = _parts_of(key)
        return len(parts) == len(self._parts) and all(
            pattern.match(part) for pattern, part in zip(self._parts, parts, strict=True)
        )


@lru_cache(maxsize=4096)
def _parts_of(key: str) -> list[str]:
    return key_to_path(key).split("/")
