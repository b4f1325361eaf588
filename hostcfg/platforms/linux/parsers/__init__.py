"""Parsers of Linux's native outputs and files; ``PARSERS`` is all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms.linux.parsers.conf_file import SYSCTL_CONF
from hostcfg.platforms.linux.parsers.ethtool import ETHTOOL
from hostcfg.platforms.linux.parsers.link import IP_LINK
from hostcfg.platforms.linux.parsers.procsys import PROC_READ, PROC_SYS
from hostcfg.platforms.linux.parsers.route import IP_ROUTE
from hostcfg.platforms.linux.parsers.ss import SS
from hostcfg.platforms.linux.parsers.sysctl import SYSCTL, SYSCTL_SET
from hostcfg.platforms.linux.parsers.system import SYSTEM
from hostcfg.platforms.linux.parsers.tc import TC_QDISC
from hostcfg.platforms.linux.parsers.tuned import TUNED_CONF

if TYPE_CHECKING:
    from hostcfg.platforms.base import Parser

PARSERS: tuple[Parser, ...] = (
    SYSCTL,
    SYSCTL_SET,
    SYSCTL_CONF,
    PROC_SYS,
    PROC_READ,
    TUNED_CONF,
    TC_QDISC,
    IP_LINK,
    IP_ROUTE,
    *ETHTOOL,
    SS,
    *SYSTEM,
)
