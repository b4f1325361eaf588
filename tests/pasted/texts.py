"""Texts as people send them, made from recorded outputs."""

from __future__ import annotations

from tests.freebsd.samples import PARSERS, sample

SYSCTL = """\
kern.ipc.maxsockbuf: 2097152
net.inet.tcp.sendspace: 32768
net.inet.tcp.recvspace: 65536
net.inet.tcp.recvbuf_max: 2097152
net.inet.tcp.sendbuf_max: 2097152
"""
NETSTAT = sample("netstat-m__freebsd-12.1-or-13__01.txt").text
CONF = sample("sysctl.conf__freebsd-11__05.txt").text

__all__ = ["CONF", "NETSTAT", "PARSERS", "SYSCTL"]
