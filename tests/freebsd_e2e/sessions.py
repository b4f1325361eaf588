"""The recorded sessions as hosts: what each was booted with, and what moved by itself meanwhile."""

from __future__ import annotations

import re
from typing import Any

from tests.hosts.freebsd.host import SYSCTL_CONF
from tests.hosts.freebsd.recording import recorded

_BAD_LINES = """\
net.inet.tcp.cc.algorithm=htcp
net.inet.tcp.sendbuf_max=4194304
net.inet.tcp.nosuch=1
kern.ipc.maxsockbuf=1
net.inet.tcp.tcbhashsize=5
net.inet.tcp.delayed_ack=abc
net.inet.tcp.recvbuf_max=4194304
"""
_LOADER = """\
net.inet.tcp.tcbhashsize="8192"
net.inet.tcp.soreceive_stream="1"
kern.ipc.maxsockbuf="8388608"
net.inet.tcp.sendspace="131072"
kern.ipc.nmbclusters="65536"
kern.hz="1000"
"""
_THREE_CONNECTIONS = {
    "net.inet.tcp.states": "0 2 0 0 1 0 0 0 0 0 0",
    "net.inet.tcp.pcbcount": "3",
    "net.inet.tcp.functions_available": (
        "\nStack                           D Alias                            PCB count\n"
        "freebsd                         * freebsd                          3\n"
    ),
    "kern.ipc.numopensockets": "4",
}
_TWO_GIGABYTES = {  # what the kernel made of 2 GiB of RAM, which nobody asked for
    "kern.ipc.maxsockets": "65071",
    "kern.ipc.nmbufs": "811483",
    "kern.ipc.nmbjumbop": "63397",
    "kern.ipc.nmbjumbo9": "18784",
    "kern.ipc.nmbjumbo16": "10566",
    "kern.ipc.maxmbufmem": "1038698496",
    "kern.ipc.maxpipekva": "33312768",
    "kern.ipc.pipekva": "57344",
    "kern.ipc.aio.lifetime": "30000",
    "net.inet.tcp.reass.maxsegments": "4096",
}
SESSIONS: dict[str, dict[str, Any]] = {
    "main": {
        "about": {"connections": "10.0.2.15.22=10.0.2.2.51852 10.0.2.15.22=10.0.2.2.48916"},
    },
    "extra": {
        "values": {
            "net.inet.tcp.hostcache.list": recorded("extra-050").stdout.partition(": ")[2].removesuffix("\n")
        },
        "about": {"pcbs": "3"},
    },
    "boot2": {
        "files": {"/etc/sysctl.conf": SYSCTL_CONF + _BAD_LINES, "/boot/loader.conf": _LOADER},
        "values": _TWO_GIGABYTES | _THREE_CONNECTIONS,
        "about": {"pcbs": "3"},
    },
    "rack": {"about": {"pcbs": "3"}, "values": _THREE_CONNECTIONS},
}
"""Arguments of FreeBsdHost for each session; ``lockout`` has a test of its own."""

MOVED: dict[str, dict[str, int]] = {
    "extra-052": {"mbuf_current": 262, "mbuf_cache": 503},
}
"""Counters that were others when this command ran."""


def words(stderr: str) -> str:
    """dash says where in a script it was, FreeBSD's sh does not."""
    return re.sub(r"^(?:/bin/)?sh: \d+: ", "sh: ", stderr, flags=re.MULTILINE)
