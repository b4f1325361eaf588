"""How Linux is changed: /proc/sys, tc, the transmit queue, modules, and /etc/sysctl.d."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from hostcfg.errors import ChangeRefused
from hostcfg.model import State
from hostcfg.platforms.linux.accepts import kernel_takes
from hostcfg.platforms.linux.keys import (
    ALLOWED,
    AVAILABLE,
    CONGESTION_CONTROL,
    DEFAULT_QDISC,
    OWN_NETWORK,
    TCP_MEM,
    TCP_RMEM,
    TCP_WMEM,
)
from hostcfg.platforms.linux.write import PERSIST_PATH, is_device, set_command, split_key
from hostcfg.platforms.posix.changer import PosixChanger, canonical, number
from hostcfg.platforms.posix.config import Style
from hostcfg.platforms.posix.scripts import Family, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts

# Those that hostcfg can make again from what tc shows of them (change.sh, hc_qdisc_args).
SIMPLE_QDISCS = frozenset({"pfifo", "bfifo", "pfifo_fast", "fq", "fq_codel", "codel", "sfq"})


def address(key: str) -> tuple[str, str]:
    """Kind and argument of a native key for ``change.sh``.

    ``net.ipv4.conf.eth0/100.mtu`` is interface eth0.100: dots and slashes swap (sysctl(8)).
    """
    kind, name = split_key(key)
    if kind != "sysctl":
        if not is_device(name):
            raise ChangeRefused("is no name of a network interface", key=key)
        return kind, name
    path = key.translate(str.maketrans("./", "/."))
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise ChangeRefused("is no sysctl of Linux", key=key)
    return "sysctl", f"/proc/sys/{path}"


class LinuxChanger(PosixChanger):
    """Linux on any distribution; what a kernel does not have says so when it is written."""

    os = "linux"
    family = Family(text_of("hostcfg.platforms.linux", "change.sh"), address, lambda _, raw: canonical(raw))

    def same(self, key: str, a: str, b: str) -> bool:
        if key.startswith("qdisc/"):
            return qdisc_kinds(a) == qdisc_kinds(b)
        return super().same(key, a, b)

    def shown(self, key: str, raw: str | None) -> str | None:
        return " ".join(qdisc_kinds(raw)) if raw is not None and key.startswith("qdisc/") else raw

    def inverse(self, facts: Facts, key: str, wanted: str) -> tuple[str | None, str]:
        del wanted
        kind, name = address(key)
        native = facts.native.get(key)
        if native is None or native.raw is None or native.state is not State.VALUE:
            state = "absent" if native is None else native.state.value
            return None, f"its value could not be read ({state})"
        if kind == "qdisc":
            return _qdisc_inverse(facts, key, name, native.raw)
        refused = self.refused_here(facts, key, native.raw)
        return (set_command(key, native.raw), "") if refused is None else (None, refused)

    def refused_here(self, facts: Facts, key: str, raw: str) -> str | None:
        """A congestion control that its host has not allowed to other network namespaces.

        Source: tcp_set_default_congestion_control, net/ipv4/tcp_cong.c ("Only init netns can set default to a
        restricted algorithm": EPERM for root too).  What is not loaded may be free to all once it is.
        """
        lists = [facts.native.get(name) for name in (ALLOWED, AVAILABLE)]
        allowed, available = [n.raw.split() if n is not None and n.raw else [] for n in lists]
        name = raw.strip()
        own = OWN_NETWORK in (facts.confined or "").split(", ")
        if key != CONGESTION_CONTROL or not own or not allowed or name in allowed or name not in available:
            return None
        return (
            f"a network namespace may not choose {name}, which is not in {ALLOWED} ({' '.join(allowed)}); "
            "only the host of the namespace sets that"
        )

    def lost_at_boot(self, facts: Facts, values: Mapping[str, str]) -> Mapping[str, str]:
        from hostcfg.platforms.linux.change_boot import lost_at_boot

        found = lost_at_boot(facts, values, lambda now: self.file_contents(PERSIST_PATH, now, values))
        return super().lost_at_boot(facts, values) if found is None else found

    def companions(self, facts: Facts, key: str, raw: str) -> Mapping[str, str]:
        """default_qdisc serves new interfaces only: those that carry the routes need their own step."""
        if key != DEFAULT_QDISC:
            return {}
        present = [(f"qdisc/{i.name}", i.qdisc) for i in facts.interfaces if i.routes]
        return {name: raw for name, now in present if now not in (None, "noqueue", raw)}

    def modules_for(self, key: str, raw: str) -> Sequence[str]:
        """The kernel names its modules after what they hold: tcp_bbr, sch_fq (request_module)."""
        if not raw.replace("-", "_").isidentifier():
            return ()
        if key == CONGESTION_CONTROL:
            return (f"tcp_{raw}",)
        if key == "net.core.default_qdisc" or key.startswith("qdisc/"):
            return (f"sch_{raw}",)
        return ()

    def impossible(self, key: str, raw: str) -> str | None:
        if split_key(key)[0] != "sysctl":
            return None
        if not kernel_takes(key, " ".join(raw.split())):
            return "no Linux kernel takes that: it is not of the key's form, or outside its type or floor"
        numbers = [number(word) for word in raw.split()]
        if key in (TCP_RMEM, TCP_WMEM, TCP_MEM) and None not in numbers:
            least, *others = [n for n in numbers if n is not None]
            if any(least > other for other in others):
                return f"its minimum of {least} is above its other values"
        return None

    def persisted(self, facts: Facts, values: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
        del facts
        sysctls = {key: raw for key, raw in values.items() if address(key)[0] == "sysctl"}
        return {PERSIST_PATH: sysctls} if sysctls else {}

    def style(self, path: str) -> Style:
        del path
        return Style()

    def outranked_by(self, facts: Facts, key: str) -> str | None:
        """procps reads /etc/sysctl.conf last; else the last base name in C order wins (sysctl.d(5))."""
        for boot in facts.boot:
            name = boot.path.rpartition("/")[2]
            last = boot.path == "/etc/sysctl.conf" and boot.loader != "systemd-sysctl"
            if boot.key == key and boot.path != PERSIST_PATH and (last or name > "90-hostcfg.conf"):
                return f"{boot.path}:{boot.line}"
        return None

    def unreached(self, keys: Sequence[str], ports: Sequence[int] | None) -> Sequence[str]:
        notes = []
        if any(key.startswith("net.") for key in keys):
            notes.append("connections that exist keep what they have; new ones get the new values")
        if {"net.ipv4.tcp_rmem", "net.core.rmem_default"} & set(keys):
            notes += self.listeners("receive buffer", ports)
        return notes


def _qdisc_inverse(facts: Facts, key: str, name: str, raw: str) -> tuple[str | None, str]:
    """What brings a queueing discipline back, from the probe's ``tc qdisc show``.

    Sample: ``qdisc mq 0: dev eth0 root``.  Handle 0 is the kernel's choice: it returns when ours goes.
    """
    for section in facts.sections:
        rows = [line.split() for line in section.text.splitlines()] if section.kind == "tc-qdisc" else []
        for row in rows:
            if row[:1] == ["qdisc"] and row[3:6] == ["dev", name, "root"]:
                if row[2] == "0:":
                    return f"tc qdisc del dev {shlex.quote(name)} root", ""
                if row[1] not in SIMPLE_QDISCS:
                    return (
                        None,
                        f"{row[1]} on {name} was made by hand and can't be made again from what tc shows",
                    )
    return set_command(key, raw), ""


def qdisc_kinds(raw: str) -> tuple[str, ...]:
    """The kind of the root and of what is under an ``mq`` root, from a name or from ``tc qdisc show``.

    Sample: ``qdisc fq_codel 0: root refcnt 2 limit 10240p``.  ``mq`` with one kind in all its queues is
    that kind.
    """
    if not raw.startswith("qdisc "):
        return tuple(raw.split())
    rows = [line.split() for line in raw.splitlines()]
    roots = [row[1] for row in rows if len(row) > 3 and row[0] == "qdisc" and row[3] == "root"]
    below = {row[1] for row in rows if len(row) > 3 and row[3] == "parent"} - {"clsact", "ingress"}
    return tuple(below) if roots in (["mq"], ["mqprio"]) and len(below) == 1 else tuple(roots)


CHANGER = LinuxChanger()
