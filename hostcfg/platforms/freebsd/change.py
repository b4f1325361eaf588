"""How FreeBSD is changed: sysctl(8), kldload(8), and hostcfg's block in its two boot files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import ChangeRefused
from hostcfg.model import State
from hostcfg.platforms.bsd.commands import checked_key, sysctl_command
from hostcfg.platforms.bsd.values import parse_int
from hostcfg.platforms.freebsd.native import (
    CC_ALGORITHM,
    KEYS,
    MAXSOCKBUF,
    RECVSPACE,
    SENDSPACE,
    built_in_cc,
)
from hostcfg.platforms.posix.changer import PosixChanger, canonical
from hostcfg.platforms.posix.config import Style
from hostcfg.platforms.posix.scripts import Family, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts

SYSCTL_CONF, LOADER_CONF = "/etc/sysctl.conf", "/boot/loader.conf"
# EINVAL below: MSIZE + MCLBYTES (sys/kern/uipc_sockbuf.c), TCP_MINMSS (netinet/tcp_subr.c); seen on 14.2
_FLOORS = {MAXSOCKBUF: 2304, SENDSPACE: 0, RECVSPACE: 0, "net.inet.tcp.mssdflt": 216}


def address(key: str) -> tuple[str, str]:
    """All keys are sysctl names; UsageError for what can be none."""
    return "sysctl", checked_key(key)


class FreeBsdChanger(PosixChanger):
    """FreeBSD 7 and later."""

    os = "freebsd"
    family = Family(text_of("hostcfg.platforms.freebsd", "change.sh"), address, lambda _, raw: canonical(raw))

    def inverse(self, facts: Facts, key: str, wanted: str) -> tuple[str | None, str]:
        address(key)
        known = KEYS.get(key)
        if known is not None and known.when in ("loader", "read"):
            how = f"set it in {LOADER_CONF}, for the next boot" if known.when == "loader" else "it is a fact"
            raise ChangeRefused(f"can't be set while the system runs: {how}", host=facts.host, key=key)
        native = facts.native.get(key)
        if native is None or native.raw is None or native.state is not State.VALUE:
            state = "absent" if native is None else native.state.value
            return None, f"its value could not be read ({state})"
        if known is not None and known.when == "increase":
            now, new = parse_int(native.raw), parse_int(wanted)
            if now != new:
                return None, "the kernel only lets it grow until the next boot"
        return sysctl_command(key, native.raw), ""

    def modules_for(self, key: str, raw: str) -> Sequence[str]:
        return (f"cc_{raw}",) if key == CC_ALGORITHM and raw.isidentifier() else ()

    def impossible(self, key: str, raw: str) -> str | None:
        """sysctl(8) cuts a number to the key's type in silence (seen on 14.2: 5000000000 gives 705032704)."""
        known = KEYS.get(key)
        if known is None or known.type != "int":
            return None
        value = parse_int(raw)
        if value is None:
            return "no FreeBSD kernel takes that: it is no integer"
        largest = 2**63 - 1 if key == MAXSOCKBUF else 2**31 - 1  # a u_long, the others int
        if not -(2**31) <= value <= largest:
            return "no FreeBSD kernel takes that: it is beyond the key's type, to which sysctl(8) cuts it"
        if value < _FLOORS.get(key, value):
            return f"no FreeBSD kernel takes that: it is below {_FLOORS[key]}"
        return None

    def persisted(self, facts: Facts, values: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
        """sysctl.conf for all of them, and the module of an algorithm for the loader."""
        found: dict[str, Mapping[str, str]] = {}
        if values:
            found[SYSCTL_CONF] = values
        algorithm = values.get(CC_ALGORITHM)
        if algorithm is not None and algorithm not in built_in_cc(facts.release) and algorithm.isidentifier():
            found[LOADER_CONF] = {f"cc_{algorithm}_load": "YES"}
        return found

    def style(self, path: str) -> Style:
        """Blanks before ``=`` are not trimmed on 9 and 10.0; loader.conf(5) wants quotes."""
        return Style("=", '"') if path == LOADER_CONF else Style("=")

    def outranked_by(self, facts: Facts, key: str) -> str | None:
        """rc.d/sysctl reads sysctl.conf.local last; in sysctl.conf our block is moved to the end."""
        for boot in facts.boot:
            if boot.key == key and boot.path == f"{SYSCTL_CONF}.local":
                return f"{boot.path}:{boot.line}"
        return None

    def unreached(self, keys: Sequence[str], ports: Sequence[int] | None) -> Sequence[str]:
        notes = []
        if any(key.startswith(("net.inet.tcp.", "kern.ipc.")) for key in keys):
            notes.append("connections that exist keep what they have; new ones get the new values")
        if {SENDSPACE, RECVSPACE} & set(keys):
            notes += self.listeners("buffers", ports)
        return notes


CHANGER = FreeBsdChanger()
