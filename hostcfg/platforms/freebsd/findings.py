"""What is true of a FreeBSD host and worth saying, most serious first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Finding, State
from hostcfg.platforms.bsd.assembly import integer_values
from hostcfg.platforms.bsd.bootcheck import after_boot, boot_differences, duplicate_assignments
from hostcfg.platforms.bsd.lockout import lockout_risk
from hostcfg.platforms.bsd.sockbuf import maxsockbuf_for, usable
from hostcfg.platforms.freebsd.native import (
    CC_ALGORITHM,
    KEYS,
    MAXSOCKBUF,
    NO_EFFECT_IN_LOADER,
    RECVBUF_MAX,
    RECVSPACE,
    SENDBUF_MAX,
    SENDSPACE,
    built_in_cc,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostcfg.model import Facts, Json
    from hostcfg.platforms.bsd.assembly import BootFiles

NEAR_LIMIT = 0.8
"""Share of a pool's limit from which it is worth a warning."""

_POOLS = {
    "clusters": ("mbuf clusters", "kern.ipc.nmbclusters"),
    "jumbo_page": ("page-size jumbo clusters", "kern.ipc.nmbjumbop"),
    "jumbo_9k": ("9k jumbo clusters", "kern.ipc.nmbjumbo9"),
    "jumbo_16k": ("16k jumbo clusters", "kern.ipc.nmbjumbo16"),
}
_DENIED_KEYS = {
    "mbufs": "kern.ipc.nmbufs",
    "clusters": "kern.ipc.nmbclusters",
    "mbuf_clusters": "kern.ipc.nmbclusters",
    "page": "kern.ipc.nmbjumbop",
    "9k": "kern.ipc.nmbjumbo9",
    "16k": "kern.ipc.nmbjumbo16",
}
_DENIED_WORDS = {"mbuf_clusters": "mbuf+clusters", "page": "page-size", "9k": "9k", "16k": "16k"}
_BUFFER_KEYS = (MAXSOCKBUF, SENDSPACE, RECVSPACE, SENDBUF_MAX, RECVBUF_MAX)
_STOCK_CAPS = (256 * 1024, 2 * 1024 * 1024)
"""FreeBSD itself is installed with maxima as large as the cap, 1/9 above what it can give."""
_SEVERITIES = ("error", "warning", "info")


def findings_of(facts: Facts, boot: BootFiles) -> tuple[Finding, ...]:
    """All findings of one host, by severity, in a fixed order within one."""
    found = [
        *_buffers(facts, boot),
        *_mbufs(facts),
        *_congestion_control(facts, boot),
        *_loader(boot),
        *_rc_conf(boot),
        *duplicate_assignments(boot),
        *boot_differences(facts, boot, _never_set_at_boot(facts, boot)),
        *_jail(facts),
        *_incomplete(facts),
    ]
    return tuple(sorted(found, key=lambda finding: _SEVERITIES.index(finding.severity)))


def _buffers(facts: Facts, boot: BootFiles) -> Iterator[Finding]:
    """Buffers against maxsockbuf as they are, and as they will be after a boot."""
    now = integer_values(facts.native, _BUFFER_KEYS)
    found = list(buffer_findings(now))
    yield from found
    said = {(finding.kind, finding.keys) for finding in found}
    later = {name: value for name, value in after_boot(now, boot).items() if name in _BUFFER_KEYS}
    for finding in buffer_findings(later):
        if (finding.kind, finding.keys) not in said:
            message = f"after the next boot {finding.message}"
            yield Finding(f"{finding.kind}_at_boot", finding.severity, message, finding.keys)


def buffer_findings(values: Mapping[str, int]) -> Iterator[Finding]:
    """What is wrong with buffers of these sizes (native key -> bytes)."""
    risk = lockout_risk(values)
    if risk is not None:
        yield Finding("sockets_fail", "error", risk, (MAXSOCKBUF, SENDSPACE, RECVSPACE))
    cap = values.get(MAXSOCKBUF)
    for name in (SENDBUF_MAX, RECVBUF_MAX):
        size = values.get(name)
        if size is not None and size < 0:
            message = f"{name} = {size}: the kernel took a value that makes no sense"
            yield Finding("buffer_negative", "warning", message, (name,))
        elif cap is not None and size is not None and size > usable(cap):
            yield Finding(
                "buffer_max_above_cap",
                "info" if size == cap and cap in _STOCK_CAPS else "warning",
                f"{name} = {size} is above 8/9 of {MAXSOCKBUF} = {cap}: growth ends below {usable(cap)} "
                f"bytes; {MAXSOCKBUF} must be at least {maxsockbuf_for(size)} for it",
                (name, MAXSOCKBUF),
            )


def _mbufs(facts: Facts) -> Iterator[Finding]:
    groups = facts.details.get("netstat_m")
    if not isinstance(groups, dict):
        return
    yield from _denied(facts, groups)
    for group, (words, key) in _POOLS.items():
        pool = groups.get(group)
        used, most = _number(pool, "total"), _number(pool, "max")
        current = _number(pool, "current")
        if used is None or not most:  # 0 means no limit
            continue
        in_use = used if current is None else current
        if in_use >= NEAR_LIMIT * most:
            yield Finding(
                "mbufs_near_limit",
                "warning",
                f"{in_use} of at most {most} {words} are in use ({in_use * 100 // most}%): raise {key} "
                "before buffers are denied",
                (key,),
            )


def _denied(facts: Facts, groups: Mapping[str, Json]) -> Iterator[Finding]:
    """Denied allocations since boot, and the setting that lets one slow receiver hold so many buffers."""
    sendbuf = facts.native.get(SENDBUF_MAX)
    holder = f" ({SENDBUF_MAX} is {sendbuf.raw.strip()})" if sendbuf is not None and sendbuf.raw else ""
    for group, what in (("denied", "mbufs and clusters"), ("jumbo_denied", "jumbo clusters")):
        counts = groups.get(group)
        some = {
            name: count
            for name, count in (counts.items() if isinstance(counts, dict) else ())
            if isinstance(count, int) and count > 0
        }
        if some:
            listed = ", ".join(f"{count} {_DENIED_WORDS.get(name, name)}" for name, count in some.items())
            keys = (*dict.fromkeys(_DENIED_KEYS[name] for name in some if name in _DENIED_KEYS), SENDBUF_MAX)
            yield Finding(
                "mbufs_denied" if group == "denied" else "jumbo_clusters_denied",
                "warning",
                f"the kernel denied requests for {what} since boot: {listed}; flows stall while buffers are "
                f"short. Send buffers of slow receivers hold them{holder}: lower {SENDBUF_MAX}, or raise "
                f"{' and '.join(keys[:-1])}",
                keys,
            )


def _number(group: Json, name: str) -> int | None:
    value = group.get(name) if isinstance(group, dict) else None
    return value if isinstance(value, int) else None


def _congestion_control(facts: Facts, boot: BootFiles) -> Iterator[Finding]:
    """An algorithm that the boot files choose and nothing loads: it silently stays what it was."""
    wanted = boot.of("rc.d/sysctl").get(CC_ALGORITHM)
    if wanted is None or _is_there_after_boot(wanted.value, facts, boot):
        return
    module = f"cc_{wanted.value}"
    state = (
        "it is loaded now and will not be after a boot" if wanted.value in _available(facts) else "nor now"
    )
    yield Finding(
        "cc_module_not_loaded",
        "warning",
        f"{wanted.path}:{wanted.line} sets {CC_ALGORITHM}={wanted.value}, but nothing loads {module} at boot "
        f'({state}): put {module}_load="YES" into /boot/loader.conf',
        (CC_ALGORITHM, f"{module}_load"),
    )


def _is_there_after_boot(algorithm: str, facts: Facts, boot: BootFiles) -> bool:
    """In the kernel itself, or loaded by the loader or by rc.d/kld."""
    module = f"cc_{algorithm}"
    load, rc = boot.of("loader").get(f"{module}_load"), boot.of("rc.conf")
    words = rc["kld_list"].value.split() if "kld_list" in rc else []
    listed = {word.rsplit("/", 1)[-1].removesuffix(".ko") for word in words}
    by_loader = load is not None and load.value.upper() == "YES"
    return algorithm in built_in_cc(facts.release) or by_loader or module in listed


def _available(facts: Facts) -> Sequence[object]:
    reading = facts.readings.get("congestion_control_available")
    return reading.value if reading is not None and isinstance(reading.value, tuple) else ()


def _never_set_at_boot(facts: Facts, boot: BootFiles) -> set[str]:
    """Keys whose line in sysctl.conf fails at boot: loader tunables, and an algorithm without its module."""
    names = {name for name in boot.of("rc.d/sysctl") if name in KEYS and KEYS[name].when == "loader"}
    missing = {CC_ALGORITHM} if any(_congestion_control(facts, boot)) else set()
    return names | missing


def _loader(boot: BootFiles) -> Iterator[Finding]:
    for name, found in boot.of("loader").items():
        if name in NO_EFFECT_IN_LOADER:
            yield Finding(
                "loader_no_effect",
                "warning",
                f"{found.path}:{found.line} sets {name}, which is no loader tunable: it has no effect there; "
                "put it into /etc/sysctl.conf",
                (name,),
            )
    for name, found in boot.of("rc.d/sysctl").items():
        key = KEYS.get(name)
        if key is not None and key.when == "loader":
            yield Finding(
                "loader_only",
                "warning",
                f"{found.path}:{found.line} sets {name}, which only the loader can: "
                "put it into /boot/loader.conf",
                (name,),
            )


def _rc_conf(boot: BootFiles) -> Iterator[Finding]:
    """rc.d/netoptions sets rfc1323 after sysctl.conf was read."""
    found = boot.of("rc.conf").get("tcp_extensions")
    if found is not None and found.value.upper() in ("NO", "FALSE", "OFF", "0"):
        yield Finding(
            "tcp_extensions_off",
            "warning",
            f'{found.path} has tcp_extensions="{found.value}": rc.d/netoptions sets net.inet.tcp.rfc1323=0 '
            "at boot, so no window exceeds 65,535 bytes",
            ("net.inet.tcp.rfc1323",),
        )


def _jail(facts: Facts) -> Iterator[Finding]:
    if facts.confined is None or "jail" not in facts.confined:
        return
    if facts.confined == "vnet jail":
        names = tuple(
            n for n in facts.native if n in KEYS and KEYS[n].scope == "global" and KEYS[n].when != "read"
        )
        text = "this jail has a network stack of its own: kern.ipc.* and other global keys are its host's"
    else:
        names = tuple(n for n in facts.native if n in KEYS and KEYS[n].when != "read")
        text = "in this jail nothing can be set: the host of the jail decides"
    yield Finding("jail_read_only", "info", text, names)


def _incomplete(facts: Facts) -> Iterator[Finding]:
    failed = facts.details.get("netstat_m_error")
    if isinstance(failed, str):
        yield Finding("mbufs_unread", "info", f"mbuf statistics could not be read: {failed}", ())
    denied: Sequence[str] = [n.key for n in facts.native.values() if n.state is State.DENIED]
    if denied:
        yield Finding(
            "keys_denied", "info", f"{len(denied)} keys may not be read by this user", tuple(denied)
        )
