"""Parsers of the files that only FreeBSD has: loader.conf and rc.conf.

::

    cc_htcp_load="YES"
    kern.ipc.nmbclusters="1000000"
    vm.kmem_size="2G"

Source: loader.conf(5), stand/lua/config.lua, rc.conf(5).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hostcfg.lean import regex
from hostcfg.model import Parsed
from hostcfg.platforms.base import Parser
from hostcfg.platforms.bsd.conf import read_conf
from hostcfg.platforms.bsd.parsers import conf_extra

if TYPE_CHECKING:
    from hostcfg.model import Json

_MODULE = r"[a-z_]\w{0,64}_(?:load|name|type|flags|before|after)"
_TREE = (
    r"(?:hint|hw|kern|vm|vfs|net|machdep|debug|dev|compat|security(?=\.(?:bsd|jail|mac)))"
    r"(?:\.[\w%-]{1,64}){1,8}"
)
_PLAIN = r'"?-?[\w./-]{1,64}"?\s{0,8}(?:#|$)'
_LOADER_LINE = regex(
    rf'^[ \t]{{0,16}}(?:{_MODULE}\s?=\s?"|{_TREE}\s?=\s?{_PLAIN})',
    re.MULTILINE,
)
_LOADER_MARK = regex(
    r'^[ \t]{0,16}(?:[a-z_]\w{0,64}_load\s?=\s?"|hint\.|hw\.\w{1,32}\.[\w.]{1,64}\s?="'
    r'|[a-z_0-9]{1,64}\.[a-z_.0-9]{1,128}="[^"\n]{0,128}"$'
    r"|autoboot_delay|kernel=|console=|loader_|boot_)",
    re.MULTILINE,
)
_LOADER_HEADER = regex(r"(?:==> |\$ cat |\$ more |\$ less )\S*loader\.conf")
_RC_MARK = regex(
    r"^[ \t]{0,16}(?:kld_list|\w{1,64}_enable|hostname|ifconfig_\w{1,32}|defaultrouter"
    r'|tcp_extensions|cloned_interfaces)="?',
    re.MULTILINE,
)
_RC_HEADER = regex(r"(?:==> |\$ cat |\$ more |\$ less )\S*rc\.conf")
_LINUX = regex(r"^[ \t]{0,16}(?:net[./]ipv[46]|net[./]core|kernel|fs)[./]", re.MULTILINE)
_SCAN = 1 << 20


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text[:_SCAN]))


def recognize_loader_conf(text: str) -> int:
    """How surely ``text`` is a loader.conf: quoted values and ``*_load`` tell it from sysctl.conf."""
    if _LOADER_HEADER.search(text[:_SCAN]):
        return 97
    lines, marks = _count(_LOADER_LINE, text), _count(_LOADER_MARK, text)
    if not marks or not lines or _LINUX.search(text[:_SCAN]):
        return 0
    return 92 if marks * 2 >= lines else 60


def parse_loader_conf(text: str) -> Parsed:
    """``loader``: every variable as text; ``values`` stays empty, for the kernel may ignore them."""
    found = read_conf(text, "loader", "/boot/loader.conf")
    loader: dict[str, Json] = {name: assignment.value for name, assignment in found.winners().items()}
    extra: dict[str, Json] = {"loader": loader, **conf_extra(found)}
    return Parsed("freebsd", "loader-conf", "cat /boot/loader.conf", {}, (), found.unrecognized, extra)


def recognize_rc_conf(text: str) -> int:
    """How surely ``text`` is an rc.conf."""
    if _RC_HEADER.search(text[:_SCAN]):
        return 97
    return 85 if _count(_RC_MARK, text) else 0


def parse_rc_conf(text: str) -> Parsed:
    """The variables of rc.conf as text."""
    found = read_conf(text, "rc", "/etc/rc.conf")
    values: dict[str, Json] = {name: assignment.value for name, assignment in found.winners().items()}
    return Parsed("freebsd", "rc-conf", "cat /etc/rc.conf", values, (), found.unrecognized, conf_extra(found))


CONF_PARSERS = (
    Parser(
        "loader-conf",
        "freebsd",
        "cat /boot/loader.conf",
        recognize_loader_conf,
        parse_loader_conf,
        transcript=True,
    ),
    Parser("rc-conf", "freebsd", "cat /etc/rc.conf", recognize_rc_conf, parse_rc_conf, transcript=True),
)
