"""What the kernel makes of a text that is written to a file below /proc/sys.  Pure.

Source: kernel/sysctl.c (do_proc_dointvec, do_proc_douintvec, __do_proc_doulongvec_minmax), and the
recorded ``readback`` experiments.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hostcfg.platforms.linux.native import form_of, written

if TYPE_CHECKING:
    from hostcfg.model import Json

# The kernel's own floor (SOCK_MIN_RCVBUF, SOCK_MIN_SNDBUF in include/net/sock.h): below is EINVAL.
_FLOORS = {
    "net.core.rmem_max": 2304,
    "net.core.rmem_default": 2304,
    "net.core.wmem_max": 4608,
    "net.core.wmem_default": 4608,
}
# Network keys are C's int (proc_dointvec) but for these: unsigned int, and long for pages.
_LARGEST = {
    "net.ipv4.tcp_notsent_lowat": 2**32 - 1,
    "net.ipv4.tcp_mem": 2**63 - 1,
    "net.ipv4.udp_mem": 2**63 - 1,
    "net.core.bpf_jit_limit": 2**63 - 1,
}


def kernel_takes(key: str, raw: str) -> bool:
    """Whether a write of ``raw`` sets ``key``: its form, its integer type and the buffers' floors.

    Other bounds (tcp_syn_retries ends at 127) differ by release and are not in here.
    """
    try:
        value = kernel_value(key, raw)
    except ValueError:
        return False
    parts = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, int)]
    largest = _LARGEST.get(key, 2**31 - 1 if key.startswith("net.") else 2**63)
    return all(_FLOORS.get(key, -(2**63)) <= part <= largest for part in parts)


@lru_cache(maxsize=256)  # many hosts have the same value
def kernel_value(key: str, raw: str) -> Json:
    """What a write of ``raw`` makes of ``key``; ValueError if the kernel refuses it.

    A triple may be shorter: the kernel keeps the rest.  What stands behind the last integer and a
    blank is not looked at: ``300026 = 3`` is 300026 (recorded; do_proc_dointvec, kernel/sysctl.c).
    """
    form = form_of(key)
    if form is None or form.shape not in ("int", "ints"):
        return written(key, raw)
    count = 1 if form.shape == "int" else form.count
    words = [word for word in re.split(r"[ \t\r\n]+", raw) if word][:count]
    if form.shape == "int" or form.count is None or len(words) == form.count:
        return written(key, " ".join(words))
    if not words:
        raise ValueError(f"{key} is given no value")
    padded = written(key, " ".join([*words, *["0"] * (form.count - len(words))]))
    return padded[: len(words)] if isinstance(padded, list) else padded


def same_value(key: str, a: str, b: str) -> bool:
    """Whether two texts set ``key`` alike: compared by type, so that white space and bases don't count."""
    try:
        values = [kernel_value(key, a), kernel_value(key, b)]
    except ValueError:
        return a.split() == b.split()
    if key == "net.ipv4.tcp_notsent_lowat":  # unsigned, and older kernels print UINT_MAX as -1
        values = [2**32 - 1 if value == -1 else value for value in values]
    first, second = values
    if isinstance(first, list) and isinstance(second, list):
        short = min(len(first), len(second))
        return first[:short] == second[:short]
    return first == second
