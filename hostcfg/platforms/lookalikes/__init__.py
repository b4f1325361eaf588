"""Systems whose output looks like FreeBSD's and is not: recognised as what they are.

hostcfg reads no such host; it says whose text it was given, and its values where the form is clear.
"""

from __future__ import annotations

from hostcfg.platforms.bsd.parsers import sysctl_conf_parser, sysctl_parser
from hostcfg.platforms.lookalikes.ipadm import IPADM_PARSERS
from hostcfg.platforms.lookalikes.mbufs import MBUF_PARSERS
from hostcfg.platforms.lookalikes.native import DRAGONFLY_KEYS, NETBSD_KEYS, OPENBSD_KEYS

_TABLES = {"netbsd": NETBSD_KEYS, "openbsd": OPENBSD_KEYS, "dragonfly": DRAGONFLY_KEYS}

PARSERS = (
    *(sysctl_parser(os, keys) for os, keys in _TABLES.items()),
    *(sysctl_conf_parser(os, keys) for os, keys in _TABLES.items()),
    *MBUF_PARSERS,
    *IPADM_PARSERS,
)
