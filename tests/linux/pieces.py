"""Sections of a probe, made by hand in the probe's own form, for hosts that this machine is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Section
from hostcfg.platforms.linux import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Finding

STOCK = {
    "net.core.rmem_max": "212992",
    "net.core.wmem_max": "212992",
    "net.core.somaxconn": "4096",
    "net.core.netdev_max_backlog": "1000",
    "net.core.default_qdisc": "fq_codel",
    "net.ipv4.tcp_rmem": "4096\t131072\t6291456",
    "net.ipv4.tcp_wmem": "4096\t16384\t4194304",
    "net.ipv4.tcp_mem": "188697\t251596\t377394",
    "net.ipv4.tcp_window_scaling": "1",
    "net.ipv4.tcp_sack": "1",
    "net.ipv4.tcp_timestamps": "1",
    "net.ipv4.tcp_moderate_rcvbuf": "1",
    "net.ipv4.tcp_adv_win_scale": "1",
    "net.ipv4.tcp_congestion_control": "cubic",
    "net.ipv4.tcp_available_congestion_control": "reno cubic",
}
SYSTEMD = (
    "=exists /run/systemd/system\n=systemd 252\n=systemd-sysctl /usr/lib/systemd/systemd-sysctl\n"
    "=sysctl sysctl from procps-ng 4.0.2\n/proc/1/comm:systemd\n"
)
MACHINE = (
    "/proc/meminfo:MemTotal:       16384000 kB\n=page_bytes 4096\n/proc/self/status:Uid:\t0\t0\t0\t0\n"
    "/proc/self/status:CapEff:\t000001ffffffffff\n/proc/self/uid_map:         0          0 4294967295\n"
    '/etc/os-release:PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'
)


def proc_sys(values: Mapping[str, str], errors: str = "") -> Section:
    lines = [f"/proc/sys/{key.translate(str.maketrans('./', '/.'))}:{raw}" for key, raw in values.items()]
    return Section("proc-sys", "\n".join(lines), errors, 0)


def conf(files: Mapping[str, str | None]) -> Section:
    """Files by path; None is a link to /dev/null, text that begins with ``-> `` a link to that path."""
    heads, links, lines = [], [], []
    for path, content in files.items():
        text = content
        if text is None:
            heads.append(f"F nl {path}")
            links.append(f"lrwxrwxrwx 1 root root 9 Jan  1 00:00 {path} -> /dev/null")
            continue
        if text.startswith("-> "):
            links.append(f"lrwxrwxrwx 1 root root 9 Jan  1 00:00 {path} {text}")
            text = files[text[3:]] or ""
            heads.append(f"F l {path}")
        else:
            heads.append(f"F {'-' if text else 'e'} {path}")
        lines += [f"{path}:{n}:{row}" for n, row in enumerate(text.split("\n"), 1) if row.strip()]
    return Section("linux-conf", "\n".join([*heads, *links, *lines]), "", 0)


def host_facts(
    values: Mapping[str, str] | None = None,
    *,
    marks: str = MACHINE + SYSTEMD,
    files: Mapping[str, str | None] | None = None,
    release: str = "6.1.0-50-cloud-amd64",
    more: Sequence[Section] = (),
    errors: str = "",
) -> Facts:
    """Facts of a host as its probe would print them; ``values`` on top of a stock kernel's."""
    sections = [
        Section("uname", f"Linux h {release} #1 SMP x86_64 GNU/Linux"),
        Section("linux-host", marks),
        proc_sys(STOCK | dict(values or {}), errors),
        conf(files or {}),
        *more,
    ]
    return PLATFORM.assemble("h", sections)


def messages(facts: Facts, kind: str) -> list[str]:
    return [finding.message for finding in facts.findings if finding.kind == kind]


def finding(facts: Facts, kind: str) -> Finding:
    [found] = [f for f in facts.findings if f.kind == kind]
    return found


def pasted(kind: str, text: str) -> Facts:
    return PLATFORM.assemble("mail", [Section(kind, text)])
