"""What each release of FreeBSD has: 14.2 as it was recorded, the others by what differs from it.

Sources of the differences: sys/netinet/tcp_subr.c, tcp_input.c, tcp_output.c, sys/kern/kern_mbuf.c and
sbin/sysctl/sysctl.c at each release.  Types outside net.inet.tcp and kern.ipc were not recorded: a number
is an ``integer`` there, everything else a ``string``, and only what tests write is writable.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from tests.hosts.freebsd.programs.kernel import write_rows
from tests.hosts.freebsd.recording import recorded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_LINE = re.compile(r"([a-z][\w.%-]*): ?(.*)")
_GLOBAL = ("functions_*", "cc.available", "tcbhashsize", "soreceive_stream", "reass.*")
_MODULES = "cc_newreno cc_htcp cc_cdg cc_chd cc_dctcp cc_hd cc_vegas tcp_rack"
_MBUFS = (
    "mbuf-current=258 mbuf-cache=507 mbuf-total=765 cluster-cache=254 cluster-total=254 packet-free=254 "
    "jumbo-count=256 jumbo-cache=252 jumbo-total=508 jumbo-page-size=4 bytes-in-use=1088 "
    "bytes-in-cache=1642 bytes-total=2731"
)


@dataclass(frozen=True, slots=True)
class Oid:
    """One name of the tree; ``value`` None: nothing that can be shown."""

    kind: str = "integer"
    flags: str = ""
    description: str = ""
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """``gone`` are patterns of names that it has not, ``has`` what is there or different.

    ``sysctl`` and ``netstat`` name the manners of these programs, see programs/.
    """

    version: str
    osreldate: int
    hz: int = 1000
    sysctl: str = "14"
    netstat: str = "12"
    root_shell: str = "/bin/csh"
    cc_table: bool = False
    built_in_cc: str = "newreno"
    gone: Sequence[str] = ()
    has: Mapping[str, Oid] = field(default_factory=dict)


def _int(value: int, flags: str = "WV") -> Oid:
    return Oid("integer", flags, "", str(value))


_TCP = "net.inet.tcp."
_NEWRENO = {f"{_TCP}cc.algorithm": Oid("string", "WV", "", "newreno")}
_RECVBUF_INC = {f"{_TCP}recvbuf_inc": _int(16384)}
_SINCE_14 = [
    "*.hystartplusplus*",
    f"{_TCP}bb.*",
    f"{_TCP}lro.*",
    f"{_TCP}rexmit_initial",
    f"{_TCP}maxunacktime",
]
_SINCE_12 = [*_SINCE_14, f"{_TCP}hostcache.enable", f"{_TCP}functions_*", f"{_TCP}fastopen*", "kern.ipc.tls*"]
_SINCE_11 = [*_SINCE_12, f"{_TCP}initcwnd_segments", f"{_TCP}sendbuf_auto_lowat", "kern.ipc.splice*"]
_SINCE_10 = [
    *_SINCE_11,
    f"{_TCP}*pmtud_blackhole*",
    "kern.ipc.soacceptqueue",
    "kern.ipc.nmbufs",
    "kern.ipc.maxmbufmem",
]
_SINCE_9 = [
    *_SINCE_10,
    f"{_TCP}cc*",
    f"{_TCP}ecn*",
    f"{_TCP}hostcache.enable",
    "security.jail.vnet",
    "kern.ipc.sockbuf_*",
]
_OLD_MEMORY = {
    "kern.ipc.maxsockbuf": Oid("unsigned long", "W", "", "262144"),
    f"{_TCP}sendbuf_max": _int(262144),
    f"{_TCP}recvbuf_max": _int(262144),
    f"{_TCP}newreno": _int(1),
    f"{_TCP}inflight.enable": _int(1),
    f"{_TCP}slowstart_flightsize": _int(1),
    f"{_TCP}mssdflt": _int(512),
}

RELEASES = {
    release.version.partition("-")[0]: release
    for release in (
        Release(
            "7.2-RELEASE", 702000, sysctl="7", netstat="7", gone=_SINCE_9, has=_RECVBUF_INC | _OLD_MEMORY
        ),
        Release(
            "9.3-RELEASE",
            903000,
            sysctl="9",
            netstat="7",
            gone=_SINCE_10,
            has=_NEWRENO | _RECVBUF_INC | {f"{_TCP}ecn.enable": _int(0)},
        ),
        Release(
            "10.4-RELEASE", 1004000, sysctl="10", netstat="10", gone=_SINCE_11, has=_NEWRENO | _RECVBUF_INC
        ),
        Release("12.4-RELEASE", 1204000, gone=_SINCE_14, has=_NEWRENO | _RECVBUF_INC),
        Release("13.0-RELEASE", 1300139, gone=_SINCE_14, has=_NEWRENO),
        Release("14.2-BETA1", 1402000, hz=100, root_shell="/bin/sh", cc_table=True, built_in_cc="cubic"),
        Release(
            "15.0-CURRENT",
            1500023,
            root_shell="/bin/sh",
            cc_table=True,
            built_in_cc="cubic",
            has={f"{_TCP}hpts.minsleep": _int(250), f"{_TCP}hpts.maxsleep": _int(51200)},
        ),
    )
}


@cache
def recorded_tree() -> Mapping[str, Oid]:
    """The names of 14.2 in the kernel's order, as ``sysctl -t -d -W -T -a`` showed them."""
    kinds = _lines(recorded("main-009").stdout)
    texts, writable = _lines(recorded("main-010").stdout), _lines(recorded("main-011").stdout)
    tunable = _lines(recorded("main-012").stdout)
    values = {k: v for k, v in _lines(recorded("main-015").stdout).items() if _is_kept(k)}
    order = [name for name in values if not name.startswith((_TCP, "kern.ipc."))]
    at = {
        prefix: next(i for i, n in enumerate(values) if n.startswith(prefix))
        for prefix in (_TCP, "kern.ipc.")
    }
    found: dict[str, Oid] = {}
    for index, name in enumerate(values):
        for prefix, start in at.items():
            if index == start:
                inside = [n for n in kinds if n.startswith(prefix)]
                found |= {n: _oid(n, kinds[n], texts, writable, tunable, values) for n in inside}
        if name in order:
            kind = "integer" if re.fullmatch(r"-?\d+", values[name]) else "string"
            found[name] = Oid(kind, "W" if name == "kern.securelevel" else "", "", values[name])
    found["net.inet.tcp"] = Oid("node", "", texts["net.inet.tcp"])
    found["kern.ipc"] = Oid("node", "", texts["kern.ipc"])
    return found


def _is_kept(name: str) -> bool:
    return name.partition(".")[0] in ("kern", "net", "hw", "security") and not name.startswith(
        "kern.geom.conf"
    )


def _oid(
    name: str,
    kind: str,
    texts: Mapping[str, str],
    writable: Mapping[str, str],
    tunable: Mapping[str, str],
    values: Mapping[str, str],
) -> Oid:
    short = name.removeprefix(_TCP)
    own = name.startswith(_TCP) and not any(fnmatchcase(short, pattern) for pattern in _GLOBAL)
    vnet = "V" if own or name in ("kern.ipc.soacceptqueue", "kern.ipc.somaxconn") else ""
    flags = ("W" if name in writable else "") + ("T" if name in tunable else "") + vnet
    if name == "kern.ipc.somaxconn":  # a name from before
        return Oid(kind, flags + "WS", texts.get(name, ""), values["kern.ipc.soacceptqueue"])
    if name not in values and kind in ("opaque", "string"):  # -W shows no opaque ones
        flags += "W" if kind == "opaque" else "S"
    return Oid(kind, flags, texts.get(name, ""), values.get(name))


def _lines(text: str) -> dict[str, str]:
    """``name: value``; what follows on further lines belongs to the value."""
    found: dict[str, str] = {}
    name = ""
    for line in text.split("\n")[:-1]:
        match = _LINE.fullmatch(line)
        if match is not None and "." in match[1]:
            name = match[1]
            found[name] = match[2]
        elif name:
            found[name] += f"\n{line}"
    return found


def module_oids() -> dict[str, Oid]:
    """``@cc_htcp@net.inet.tcp.cc.htcp.rtt_scaling``: what a module brings along, as recorded."""
    found = {}
    for identity in ("main-121", "main-128"):
        for name, value in _lines(recorded(identity).stdout).items():
            match = re.match(r"net\.inet\.tcp\.cc\.([a-z]+)\.", name)
            if match is not None and match[1] != "hystartplusplus":
                kind = "integer" if value.isdigit() else "string"
                found[f"@cc_{match[1]}@{name}"] = Oid(kind, "WV" if kind == "integer" else "", "", value)
    return found


def tree_of(release: Release) -> dict[str, Oid]:
    """The names of one release."""
    tree = {n: o for n, o in recorded_tree().items() if not any(fnmatchcase(n, p) for p in release.gone)}
    after = list(tree).index("net.inet.tcp.mssdflt")
    new = {name: oid for name, oid in release.has.items() if name not in tree}
    tree = {name: release.has.get(name, oid) for name, oid in tree.items()}
    rows = list(tree.items())
    return dict([*rows[:after], *new.items(), *rows[after:]])


def new_state(
    folder: Path,
    version: str,
    *,
    values: Mapping[str, str] | None = None,
    loader: Mapping[str, str] | None = None,
    about: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    up_s: int = 3600,
) -> None:
    """The files of a host booted ``up_s`` ago; ``values`` and ``about`` differ from the release's own.

    Of ``loader``, the variables of loader.conf, only tunables count, as in the kernel.

    ``about`` may hold ``jail`` (jail or vnet), ``ignores`` (names whose writes do nothing),
    ``mbuf_zones=missing``, ``uname`` (what another system would say) and what :mod:`releases` sets.
    """
    release = RELEASES[version]
    tree = {name: oid for name, oid in tree_of(release).items() if name not in without}
    whole = tree | (module_oids() if release.built_in_cc else {})
    rows = [f"{n}\t{o.kind}\t{o.flags}\t{o.description}\n" for n, o in whole.items()]
    folder.mkdir(parents=True)
    (folder / "tree").write_text("".join(rows))
    (folder / "lock").touch()
    now = {n.rpartition("@")[2]: o.value for n, o in whole.items() if o.value is not None}
    tuned = {
        n: v for n, v in (loader or {}).items() if n in tree and ("T" in tree[n].flags or n == "kern.hz")
    }
    for name in ("values", "stock"):
        write_rows(str(folder / name), (now | _identity(release, up_s) | dict(values or {}) | tuned).items())
    manners = {
        "sysctl": release.sysctl,
        "netstat": release.netstat,
        "cc_table": str(int(release.cc_table)),
        "built_in_cc": release.built_in_cc,
        "modules_on_disk": _MODULES,
        "broken_modules": "tcp_rack",
        "pcbs": "4",
        "mbufs": _MBUFS,
        "listening": "22",
        "connections": "",
        "uname": "FreeBSD",
    }
    write_rows(str(folder / "about"), (manners | dict(about or {})).items())
    blocks = recorded("main-195").stdout.replace("mtu 1500", "mtu @MTU@").split("lo0: ")
    (folder / "ifconfig").write_text(f"{blocks[0]}\0lo0: {blocks[1]}")
    for name in ("tree", "lock", "about", "ifconfig"):
        (folder / name).chmod(0o644)
    folder.chmod(0o755)


def _identity(release: Release, up_s: int) -> dict[str, str]:
    """What tells this release and this boot."""
    name = release.version
    found = {
        "kern.osrelease": name,
        "kern.osreldate": str(release.osreldate),
        "kern.hz": str(release.hz),
        "kern.boottime": f"{{ sec = {int(time.time()) - up_s}, usec = 834643 }} Mon Nov 30 14:30:02 2026",
        "kern.hostname": f"fbsd{name.partition('-')[0].replace('.', '')}",
        "kern.hostuuid": "5a1e3c52-0000-4000-8000-00a0c9000001",
        "@modules": "",
        "@mtu.vtnet0": "1500",
    }
    if name != "14.2-BETA1":
        tick = 1000000 // release.hz
        found["kern.clockrate"] = f"{{ hz = {release.hz}, tick = {tick}, profhz = 8128, stathz = 127 }}"
        found["kern.version"] = f"FreeBSD {name} #0: Fri Jul 11 2014\n    root@builder:/usr/obj/GENERIC\n"
    return found
