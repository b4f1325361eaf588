"""netstat(1): -m in the words of each release and in libxo's forms, -an and -Lan for TCP.

Source of the sentences: usr.bin/netstat/mbuf.c at 7.2, 9.3, 10.4, 12 and the sessions on 14.2.
"""

from __future__ import annotations

import os
import sys

from tests.hosts.freebsd.programs.kernel import Kernel

_USAGE = """\
usage: netstat [-j jail] [-46AaCcLnRSTWx] [-f protocol_family | -p protocol]
               [-M core] [-N system]
       netstat [-j jail] -i | -I interface [-46abdhnW] [-f address_family]
               [-M core] [-N system]
       netstat [-j jail] -w wait [-I interface] [-46d] [-M core] [-N system]
               [-q howmany]
       netstat [-j jail] -s [-46sz] [-f protocol_family | -p protocol]
               [-M core] [-N system]
       netstat [-j jail] -i | -I interface -s [-46s]
               [-f protocol_family | -p protocol] [-M core] [-N system]
       netstat [-j jail] -m [-M core] [-N system]
       netstat [-j jail] -B [-z] [-I interface]
       netstat [-j jail] -r [-46AnW] [-F fibnum] [-f address_family]
               [-M core] [-N system]
       netstat [-j jail] -rs [-s] [-M core] [-N system]
       netstat [-j jail] -g [-46W] [-f address_family] [-M core] [-N system]
       netstat [-j jail] -gs [-46s] [-f address_family] [-M core] [-N system]
       netstat [-j jail] -Q
"""
_NAMES = """
mbuf-current mbuf-cache mbuf-total cluster-current cluster-cache cluster-total
cluster-max packet-count packet-free jumbo-count jumbo-cache jumbo-total
jumbo-max jumbo-page-size jumbo9-count jumbo9-cache jumbo9-total jumbo9-max
jumbo16-count jumbo16-cache jumbo16-total jumbo16-limit bytes-in-use bytes-in-cache
bytes-total mbuf-failures cluster-failures packet-failures mbuf-sleeps cluster-sleeps
packet-sleeps jumbop-sleeps jumbo9-sleeps jumbo16-sleeps jumbop-failures jumbo9-failures
jumbo16-failures sendfile-syscalls sendfile-no-io sendfile-io-count sendfile-pages-sent sendfile-pages-valid
sendfile-pages-bogus sendfile-requested-readahead sendfile-readahead sendfile-busy-encounters
sfbufs-alloc-failed sfbufs-alloc-wait
"""  # libxo's, in the order of the text
_HEAD = """\
{mbuf-current}/{mbuf-cache}/{mbuf-total} mbufs in use (current/cache/total)
{cluster-current}/{cluster-cache}/{cluster-total}/{cluster-max} mbuf clusters in use (current/cache/total/max)
{packet-count}/{packet-free} mbuf+clusters out of packet secondary zone in use (current/cache)
{jumbo-count}/{jumbo-cache}/{jumbo-total}/{jumbo-max} {jumbo-page-size}k (page size) jumbo clusters in use \
(current/cache/total/max)
{jumbo9-count}/{jumbo9-cache}/{jumbo9-total}/{jumbo9-max} 9k jumbo clusters in use (current/cache/total/max)
{jumbo16-count}/{jumbo16-cache}/{jumbo16-total}/{jumbo16-limit} 16k jumbo clusters in use \
(current/cache/total/max)
{bytes-in-use}K/{bytes-in-cache}K/{bytes-total}K bytes allocated to network (current/cache/total)
{mbuf-failures}/{cluster-failures}/{packet-failures} requests for mbufs denied (mbufs/clusters/mbuf+clusters)
"""
_DELAYED = """\
{mbuf-sleeps}/{cluster-sleeps}/{packet-sleeps} requests for mbufs delayed (mbufs/clusters/mbuf+clusters)
{jumbop-sleeps}/{jumbo9-sleeps}/{jumbo16-sleeps} requests for jumbo clusters delayed (4k/9k/16k)
"""
_JUMBO_DENIED = (
    "{jumbop-failures}/{jumbo9-failures}/{jumbo16-failures} requests for jumbo clusters denied (4k/9k/16k)\n"
)
_SFBUFS = (
    "{sfbufs-alloc-failed} requests for sfbufs denied\n{sfbufs-alloc-wait} requests for sfbufs delayed\n"
)
_IO = "{sendfile-io-count} requests for I/O initiated by sendfile\n"
_SENDFILE = """\
{sendfile-syscalls} sendfile syscalls
{sendfile-no-io} sendfile syscalls completed without I/O request
{sendfile-io-count} requests for I/O initiated by sendfile
{sendfile-pages-sent} pages read by sendfile as part of a request
{sendfile-pages-valid} pages were valid at time of a sendfile request
"""
_BOGUS = "{sendfile-pages-bogus} pages were valid and substituted to bogus page\n"
_READ_AHEAD = """\
{sendfile-requested-readahead} pages were requested for read ahead by applications
{sendfile-readahead} pages were read ahead by sendfile
{sendfile-busy-encounters} times sendfile encountered an already busy page
"""
_TEXTS = {
    "7": _HEAD + _JUMBO_DENIED + "0/0/0 sfbufs in use (current/peak/max)\n" + _SFBUFS + _IO
    + "0 calls to protocol drain routines\n",
    "10": _HEAD + _DELAYED + _JUMBO_DENIED + _SFBUFS + _IO,
    "11": _HEAD + _DELAYED + _JUMBO_DENIED + _SENDFILE + _READ_AHEAD + _SFBUFS,
    "12": _HEAD + _DELAYED + _JUMBO_DENIED + _SENDFILE + _BOGUS + _READ_AHEAD + _SFBUFS,
}  # fmt: skip
_LIMITS = {
    "cluster-max": "nmbclusters",
    "jumbo-max": "nmbjumbop",
    "jumbo9-max": "nmbjumbo9",
    "jumbo16-limit": "nmbjumbo16",
}


def _numbers(kernel: Kernel) -> dict[str, int]:
    """The statistics: ``about: mbufs`` as ``name=number`` pairs, the limits from the tree."""
    given = dict(pair.split("=") for pair in kernel.about["mbufs"].split())
    found = {name: int(given.get(name, 0)) for name in _NAMES.split()}
    for name, key in _LIMITS.items():
        limit = kernel.get(f"kern.ipc.{key}")
        found[name] = int(limit) if limit is not None else 0
    return found


def _mbufs(kernel: Kernel, form: str) -> str:
    numbers = _numbers(kernel)
    if form == "json":
        return '{"mbuf-statistics": {' + ",".join(f'"{n}":{v}' for n, v in numbers.items()) + "}}\n"
    if form == "json,pretty":
        rows = ",\n".join(f'    "{name}": {value}' for name, value in numbers.items())
        return '{\n  "mbuf-statistics": {\n' + rows + "\n  }\n}\n"
    if form == "xml":
        rows = "".join(f"<{name}>{value}</{name}>" for name, value in numbers.items())
        return f"<mbuf-statistics>{rows}</mbuf-statistics>"
    return _TEXTS[kernel.about["netstat"]].format(**numbers)


def _listening(kernel: Kernel) -> str:
    """``-an -p tcp``: the ports of ``about: listening``."""
    rows = "Active Internet connections (including servers)\n"
    rows += "Proto Recv-Q Send-Q Local Address          Foreign Address        (state)    \n"
    for pair in kernel.about["connections"].split():
        here, there = pair.split("=")
        rows += f"tcp4       0      0 {here:<22} {there:<22} ESTABLISHED\n"
    for port in kernel.about["listening"].split():
        for protocol in ("tcp4", "tcp6"):
            rows += f"{protocol}       0      0 {'*.' + port:<22} {'*.*':<22} LISTEN     \n"
    return rows


def _queues(kernel: Kernel) -> str:
    """``-Lan``."""
    rows = "Current listen queue sizes (qlen/incqlen/maxqlen)\n"
    rows += "Proto Listen                           Local Address         \n"
    for port in kernel.about["listening"].split():
        for protocol in ("tcp4", "tcp6"):
            rows += f"{protocol}  {'0/0/128':<32} {'*.' + port:<23}\n"
    return rows


def main(arguments: list[str], state: str, jail: str | None) -> int:
    """``netstat ARGUMENTS``."""
    with Kernel(state, jail=jail) as kernel:
        form = "text"
        has_libxo = kernel.about["netstat"] not in ("7", "10")
        for index, word in enumerate(arguments):
            if word == "--libxo" and has_libxo:
                form = arguments[index + 1]
        letters = "".join(word[1:] for word in arguments if word.startswith("-") and word[1:2] != "-")
        unknown = next(
            (letter for letter in letters if letter not in "46AabBcCdfghIijLmMNnpqQrRsSTwWxzF"), None
        )
        if any(word.startswith("--") for word in arguments) and not has_libxo:
            unknown = "-"
        if unknown is not None:
            sys.stderr.write(f"netstat: illegal option -- {unknown}\n{_USAGE}")
            return 1
        if "m" in letters and kernel.about.get("mbuf_zones") == "missing":
            sys.stderr.write("netstat: memstat_mtl_find: zone mbuf_packet not found\n")
            return 0
        if "m" in letters:
            os.write(1, _mbufs(kernel, form).encode())
        elif "L" in letters:
            os.write(1, _queues(kernel).encode())
        elif "a" in letters and "tcp" in arguments:
            os.write(1, _listening(kernel).encode())
        return 0
