"""The emulated kernel: its sysctl tree, what a write does to it, and its modules; kept in files.

``STATE/tree``   ``name<TAB>type<TAB>flags<TAB>description``: what the release has, never written;
                 ``@cc_htcp@name`` is there while that module is loaded
``STATE/values`` ``name<TAB>value``, sorted: what a change may touch
``STATE/about``  ``name<TAB>value``: the release's manners, and where a test wants the host to misbehave

``STATE/stock``  the values after the boot, which a new network stack (a vnet jail) starts with

Flags: W writable, T loader tunable, V one value for each network stack, S not listed.
Newlines in values are ``\\n``.
"""

# pathlib would double what each call costs
# ruff: noqa: PTH101, PTH105, PTH123

from __future__ import annotations

import errno
import fcntl
import os

TYPE_CHECKING = False  # typing would double what each call costs
if TYPE_CHECKING:
    from collections.abc import Iterable

NODE, OPAQUE, STRING = "node", "opaque", "string"
BITS = {
    "integer": 32,
    "unsigned integer": 32,
    "long integer": 64,
    "unsigned long": 64,
    "int64_t": 64,
    "uint64_t": 64,
    "uint8_t": 8,
    "uint32_t": 32,
}
_TIMES = (
    *("keepidle", "keepintvl", "keepinit", "delacktime", "msl", "finwait2_timeout"),
    *("rexmit_min", "rexmit_initial", "rexmit_slop", "persmin", "persmax"),
)
_TICKS = {f"net.inet.tcp.{name}" for name in _TIMES}
_ONLY_GROWS = {
    f"kern.ipc.{name}" for name in ("nmbclusters", "nmbufs", "nmbjumbop", "nmbjumbo9", "nmbjumbo16")
}
_LOWEST = {
    "kern.ipc.maxsockbuf": 2304,  # MSIZE + MCLBYTES
    "net.inet.tcp.mssdflt": 216,
    "net.inet.tcp.v6mssdflt": 216,
    "kern.ipc.soacceptqueue": 1,
    "kern.ipc.somaxconn": 1,
}
_TWINS = {"kern.ipc.somaxconn": "kern.ipc.soacceptqueue", "kern.ipc.soacceptqueue": "kern.ipc.somaxconn"}
ALGORITHM, AVAILABLE = "net.inet.tcp.cc.algorithm", "net.inet.tcp.cc.available"
STACK, STACKS = "net.inet.tcp.functions_default", "net.inet.tcp.functions_available"


def unsigned(kind: str) -> bool:
    """Whether values of a type have no sign."""
    return kind.startswith("u")


def cut(kind: str, value: int) -> int:
    """What of a number fits the type: the kernel takes the low bits in silence."""
    bits = BITS[kind]
    low = value & ((1 << bits) - 1)
    return low if unsigned(kind) or low < 1 << (bits - 1) else low - (1 << bits)


def _read(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


class Kernel:
    """What is in force now.  ``with Kernel(...)`` holds the lock: shared to read, exclusive to write."""

    def __init__(self, state: str, *, write: bool = False, jail: str | None = None) -> None:
        self.state = state
        self.write = write and os.geteuid() == 0
        self.about = {row[0]: row[1] for row in _read(f"{state}/about")}
        self.jail = jail or self.about.get("jail", "")
        self.tree: dict[str, tuple[str, str, str]] = {}
        self.values: dict[str, str] = {}
        self._lock = os.open(f"{state}/lock", os.O_RDONLY)

    def __enter__(self) -> Kernel:
        fcntl.flock(self._lock, fcntl.LOCK_EX if self.write else fcntl.LOCK_SH)
        rows = _read(f"{self.state}/values")
        self.values = {row[0]: "\t".join(row[1:]).replace("\\n", "\n") for row in rows}
        self._grow()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def _grow(self) -> None:
        """The tree with the names of loaded modules, the latest first."""
        rows = _read(f"{self.state}/tree")
        for name, kind, flags, text in rows:
            if not name.startswith("@"):
                self.tree[name] = (kind, flags, text)
            if name == "net.inet.tcp.cc":
                for module in self.modules[::-1]:
                    mark = f"@{module}@"
                    own = [row for row in rows if row[0].startswith(mark)]
                    self.tree |= {row[0].removeprefix(mark): (row[1], row[2], row[3]) for row in own}

    # -- modules ------------------------------------------------------------------------------------

    @property
    def modules(self) -> list[str]:
        """Files that were loaded, in order: ``cc_htcp``."""
        return self.values["@modules"].split()

    @property
    def algorithms(self) -> list[str]:
        """Congestion controls that there are, in the order in which they registered."""
        loaded = [name[3:] for name in self.modules if name.startswith("cc_")]
        return [*self.about["built_in_cc"].split(), *loaded]

    # -- values -------------------------------------------------------------------------------------

    def get(self, name: str) -> str | None:
        """The value as text; None: it can't be shown as one."""
        if name == AVAILABLE:
            return self._available()
        if name == "security.jail.jailed":
            return "1" if self.jail else "0"
        if name == "security.jail.vnet":
            return "1" if self.jail == "vnet" else "0"
        return self.values.get(name)

    def _available(self) -> str:
        names, default = self.algorithms, self.values[ALGORITHM]
        if self.about["cc_table"] == "0":
            return ", ".join(names)
        pcbs = self.about["pcbs"]
        rows = [
            f"{name:<16}{'*' if name == default else ' '} {pcbs if index == 0 else 0}\n"
            for index, name in enumerate(names)
        ]
        return "\nCCmod           D PCB count\n" + "".join(rows)

    def set(self, name: str, value: int | str) -> int:
        """Write as the kernel does: 0, or the errno with which it refuses."""
        kind, flags, _ = self.tree[name]
        if os.geteuid() != 0 or (self.jail and (self.jail != "vnet" or "V" not in flags)):
            return errno.EPERM
        value = cut(kind, value) if isinstance(value, int) else value
        refused = self._refuses(name, value)
        if refused:
            return refused
        if name in self.about.get("ignores", "").split():
            return 0
        text = str(self._rounded(name, value))
        self.store({one: text for one in (name, _TWINS.get(name, name)) if one in self.values})
        return 0

    def _refuses(self, name: str, value: int | str) -> int:
        now = self.values.get(name, "0")
        if isinstance(value, str):
            if name == ALGORITHM:
                if len(value) >= 16:
                    return errno.EINVAL
                return 0 if value in self.algorithms else errno.ESRCH
            return errno.ENOENT if name == STACK and value != "freebsd" else 0
        low = _LOWEST.get(name)
        below = low is not None and value < low
        shrinks = name in _ONLY_GROWS and value <= int(now)
        too_many = name in _TWINS and value > 0xFFFFFFFF // 3
        no_tick = name in _TICKS and value * int(self.values["kern.hz"]) // 1000 < 1
        if name == "kern.ipc.maxsockets":
            return 0 if int(now) < value <= int(self.values["kern.maxfiles"]) else errno.EINVAL
        if name == "kern.securelevel" and value < int(now):
            return errno.EPERM
        return errno.EINVAL if below or shrinks or too_many or no_tick else 0

    def _rounded(self, name: str, value: int | str) -> int | str:
        """Times are kept as whole ticks."""
        if isinstance(value, str) or name not in _TICKS:
            return value
        hz = int(self.values["kern.hz"])
        return (value * hz // 1000) * 1000 // hz

    def load(self, module: str) -> str:
        """kldload: "" or what it says."""
        if os.geteuid() != 0 or self.jail:
            return f"can't load {module}: Operation not permitted"
        if module in self.about.get("broken_modules", "").split():
            return f"an error occurred while loading module {module}. Please check dmesg(8) for more details."
        name = module.removeprefix("cc_")
        if module in self.modules or name in self.about["built_in_cc"].split():
            return f"can't load {module}: module already loaded or in kernel"
        if module not in self.about["modules_on_disk"].split():
            return f"can't load {module}: No such file or directory"
        self.store({"@modules": " ".join([*self.modules, module])})
        return ""

    def unload(self, module: str) -> str:
        """kldunload: "" or what it says."""
        if os.geteuid() != 0 or self.jail:
            return "can't unload file: Operation not permitted"
        if module not in self.modules:
            return f"can't find file {module}: No such file or directory"
        if module == f"cc_{self.values[ALGORITHM]}":
            return "can't unload file: Device busy"
        self.store({"@modules": " ".join(name for name in self.modules if name != module)})
        return ""

    def accepts_connections(self) -> bool:
        """Whether soreserve() finds room for a new socket's first buffers: 8/9 of maxsockbuf."""
        room = int(self.values["kern.ipc.maxsockbuf"]) * 2048 // 2304
        first = (
            int(self.values[f"net.inet.tcp.{name}"]) & (2**64 - 1) for name in ("sendspace", "recvspace")
        )
        return max(first) <= room

    def store(self, values: dict[str, str]) -> None:
        """Change values; nobody checks them."""
        self.values |= values
        write_rows(f"{self.state}/values", self.values.items())


def write_rows(path: str, rows: Iterable[tuple[str, str]]) -> None:
    """Values as ``name<TAB>value``, sorted: the same values are the same bytes."""
    text = "".join(f"{name}\t{value.replace(chr(10), chr(92) + 'n')}\n" for name, value in sorted(rows))
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(f"{path}.new", 0o644)
    os.replace(f"{path}.new", path)
