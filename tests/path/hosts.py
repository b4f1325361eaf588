"""Hosts as a far-end admin would paste them, read by the real platforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.reader import read_pasted

if TYPE_CHECKING:
    from hostcfg.model import Facts

MEGA = 1e6


def linux(host: str = "lin", *, release: str = "6.1.0", **keys: str) -> Facts:
    """A Linux host; ``rmem``, ``wmem``, ``rmem_max``, ``wmem_max``, else the last part of the key."""
    names = {
        "rmem": "net.ipv4.tcp_rmem",
        "wmem": "net.ipv4.tcp_wmem",
        "rmem_max": "net.core.rmem_max",
        "wmem_max": "net.core.wmem_max",
    }
    stock = {
        "rmem": "4096 131072 6291456",
        "wmem": "4096 16384 4194304",
        "rmem_max": "212992",
        "wmem_max": "212992",
        "tcp_window_scaling": "1",
        "tcp_timestamps": "1",
        "tcp_moderate_rcvbuf": "1",
        "tcp_adv_win_scale": "1",
        "tcp_congestion_control": "cubic",
    }
    lines = [f"kernel.osrelease = {release}"]
    lines += [f"{names.get(k, f'net.ipv4.{k}')} = {v}" for k, v in (stock | keys).items()]
    return pasted(host, "\n".join(lines))


def freebsd(host: str = "bsd", *, release: str = "14.2-RELEASE", **keys: int) -> Facts:
    """A FreeBSD host; ``maxsockbuf`` and ``nmbclusters``, else a key of net.inet.tcp."""
    stock = {
        "maxsockbuf": 2097152,
        "sendbuf_max": 2097152,
        "recvbuf_max": 2097152,
        "sendspace": 32768,
        "recvspace": 65536,
        "sendbuf_auto": 1,
        "recvbuf_auto": 1,
        "rfc1323": 1,
    }
    lines = [f"kern.osrelease: {release}"]
    for key, value in (stock | keys).items():
        prefix = "kern.ipc" if key in {"maxsockbuf", "nmbclusters"} else "net.inet.tcp"
        lines.append(f"{prefix}.{key}: {value}")
    return pasted(host, "\n".join(lines))


def windows(host: str = "win", *, level: str = "normal") -> Facts:
    """A Windows 10 host with the given autotuning level."""
    return pasted(
        host,
        "TCP Global Parameters\n"
        "----------------------------------------------\n"
        "Receive-Side Scaling State          : enabled\n"
        f"Receive Window Auto-Tuning Level    : {level}\n"
        "Add-On Congestion Control Provider  : default\n"
        "ECN Capability                      : disabled\n"
        "RFC 1323 Timestamps                 : disabled\n"
        "Initial RTO                         : 1000\n",
    )


def macos(host: str = "mac", **keys: int) -> Facts:
    """A macOS host; keys of net.inet.tcp and ``maxsockbuf``."""
    stock = {
        "maxsockbuf": 8388608,
        "autorcvbufmax": 4194304,
        "autosndbufmax": 4194304,
        "doautorcvbuf": 1,
        "doautosndbuf": 1,
        "win_scale_factor": 3,
    }
    lines = []
    for key, value in (stock | keys).items():
        prefix = "kern.ipc" if key == "maxsockbuf" else "net.inet.tcp"
        lines.append(f"{prefix}.{key}: {value}")
    return pasted(host, "\n".join(lines))


def pasted(host: str, text: str) -> Facts:
    """A ``file:`` target with ``text`` in it."""
    return read_pasted(host, text + "\n", f"{host}.txt")
