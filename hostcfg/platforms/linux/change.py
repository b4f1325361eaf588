"""How Linux is changed: /proc/sys, tc, the transmit queue, modules, and /etc/sysctl.d."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms.posix.changer import PosixChanger, canonical
from hostcfg.platforms.posix.config import Style
from hostcfg.platforms.posix.scripts import Family, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts

PERSIST_PATH = "/etc/sysctl.d/90-hostcfg.conf"


def address(key: str) -> tuple[str, str]:
    """Kind and argument of a native key for ``change.sh``.

    ``net.ipv4.conf.eth0/100.mtu`` is interface eth0.100: dots and slashes swap (sysctl(8)).
    """
    for kind in ("qdisc", "txqueuelen"):
        if key.startswith(f"{kind}/"):
            return kind, key.removeprefix(f"{kind}/")
    return "sysctl", "/proc/sys/" + key.translate(str.maketrans("./", "/."))


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
        from hostcfg.platforms import get_platform

        address(key)
        del wanted
        native = facts.native.get(key)
        if native is None or native.raw is None:
            return None, f"its value could not be read ({'absent' if native is None else native.state.value})"
        return get_platform(self.os).set_command(key, native.raw), ""

    def modules_for(self, key: str, raw: str) -> Sequence[str]:
        """The kernel names its modules after what they hold: tcp_bbr, sch_fq (request_module)."""
        if not raw.replace("-", "_").isidentifier():
            return ()
        if key == "net.ipv4.tcp_congestion_control":
            return (f"tcp_{raw}",)
        if key == "net.core.default_qdisc" or key.startswith("qdisc/"):
            return (f"sch_{raw}",)
        return ()

    def persisted(self, values: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
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
        initial = {"net.ipv4.tcp_rmem", "net.core.rmem_default"} & set(keys)
        if initial and ports is None:
            notes.append("servers that listen already keep their initial receive buffer until they restart")
        elif initial and ports:
            shown = ", ".join(map(str, ports[:12])) + (
                f" and {len(ports) - 12} more" if len(ports) > 12 else ""
            )
            notes.append(
                "servers that listen already keep their initial receive buffer until they restart: "
                f"TCP port{'s' if len(ports) > 1 else ''} {shown}"
            )
        return notes


def qdisc_kinds(raw: str) -> tuple[str, ...]:
    """The kind of the root and of what is under an ``mq`` root, from a name or from ``tc qdisc show``.

    Sample: ``qdisc fq_codel 0: root refcnt 2 limit 10240p``.  ``mq`` with one kind in all its queues is
    that kind.
    """
    if not raw.startswith("qdisc "):
        return tuple(word for word in raw.split() if word != "mq")[:1] or ("mq",)
    rows = [line.split() for line in raw.splitlines()]
    roots = [row[1] for row in rows if len(row) > 3 and row[0] == "qdisc" and row[3] == "root"]
    below = {row[1] for row in rows if len(row) > 3 and row[3] == "parent"} - {"clsact", "ingress"}
    return tuple(sorted(below)) if roots == ["mq"] and below else tuple(roots)


CHANGER = LinuxChanger()
