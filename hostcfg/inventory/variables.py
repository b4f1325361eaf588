"""Ansible's variables of one host -> how hostcfg reaches it.  Pure.

What an inventory asks for and hostcfg can't do is a fault of that host alone, told when the host is
used: a template, an encrypted value, another connection than SSH, another user than root to become.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hostcfg.errors import InventoryError, UnitError, UsageError
from hostcfg.lean import regex
from hostcfg.nearest import did_you_mean
from hostcfg.platforms import platform_names
from hostcfg.targets import HostSpec, checked_address
from hostcfg.transports.destination import parse_destination
from hostcfg.units import parse_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostcfg.inventory.tree import Var

TRUE = frozenset({"yes", "true", "on", "1", "y", "t"})
FALSE = frozenset({"no", "false", "off", "0", "n", "f", "", "none"})
"""As Ansible's ansible.module_utils.parsing.convert_bool has them."""

_SSH = frozenset({"ssh", "smart", "paramiko", "paramiko_ssh", "libssh"})
_METHODS: Mapping[str, Literal["sudo", "doas"]] = {"sudo": "sudo", "doas": "doas"}
_INSTEAD = "write the value itself, or put it into ~/.ssh/config"
_NAME = regex(r"\{\{\s*inventory_hostname\s*\}\}")
_SHORT_NAME = regex(r"\{\{\s*inventory_hostname_short\s*\}\}")
_OPTION = regex(r"(\w+)(?:\s*=\s*|\s+)(.*)", re.DOTALL)  # Keyword=value or "Keyword value", ssh(1) -o
_STDIO = regex(r"ssh(?:\s+-[qaxT46]|\s+-o\s*(?:StrictHostKeyChecking|UserKnownHostsFile)=\S+)*\s+(.*)")


class HostVariables:
    """One host's variables, with the fault that names host, file and line where one can't be used."""

    def __init__(self, host: str, variables: Mapping[str, Var]) -> None:
        self.host = host
        self.variables = variables

    def fault(self, message: str, name: str) -> InventoryError:
        place = self.variables[name].place
        return InventoryError(message, path=place.path, line=place.line, host=self.host, key=name)

    def first(self, *names: str) -> tuple[str, str] | None:
        """Name and text of the first of ``names`` that is set; empty text and null count as not set."""
        for name in names:
            var = self.variables.get(name)
            if var is None:
                continue
            if var.sealed:
                raise self.fault(f"is encrypted with ansible-vault: {_INSTEAD}", name)
            text = self._filled_in(name, str(var.value)) if var.value is not None else ""
            if text:
                return name, text
        return None

    def _filled_in(self, name: str, text: str) -> str:
        text = text.strip()
        if "{{" not in text and "{%" not in text:
            return text
        text = _NAME.sub(lambda _: self.host, text)
        text = _SHORT_NAME.sub(lambda _: self.host.partition(".")[0], text)
        if "{{" in text or "{%" in text:
            raise self.fault(
                f"is a template ({text[:60]}), which Ansible alone can fill in: {_INSTEAD}", name
            )
        return text


def spec_of(host: str, variables: Mapping[str, Var]) -> HostSpec:
    """How ``host`` is reached; InventoryError that names it, the file and the line."""
    has = HostVariables(host, variables)
    rate, system = has.first("hostcfg_rate"), has.first("hostcfg_os")
    path_address = has.first("hostcfg_path_address")
    spec = HostSpec(
        name=host,
        kind=_kind(has),
        become=_become(has),
        os=_system(has, *system) if system else None,
        rate=_checked(has, parse_rate, *rate) if rate else None,
        path_address=_checked(has, checked_address, *path_address) if path_address else None,
    )
    return spec if spec.kind == "local" else _over_ssh(has, spec)


def _kind(has: HostVariables) -> Literal["local", "ssh"]:
    found = has.first("ansible_connection")
    if found is None:
        return "ssh"
    plugin = found[1].rpartition(".")[2]  # ansible.netcommon.libssh
    if plugin == "local":
        return "local"
    if plugin in _SSH:
        return "ssh"
    raise has.fault(f"the connection {found[1][:60]!r} is no connection of hostcfg's, which is SSH", found[0])


def _over_ssh(has: HostVariables, spec: HostSpec) -> HostSpec:
    address = has.first("ansible_ssh_host", "ansible_host")
    port = has.first("ansible_ssh_port", "ansible_port")
    user = has.first("ansible_ssh_user", "ansible_user")
    key = has.first("ansible_ssh_private_key_file", "ansible_private_key_file")
    spec = replace(
        spec,
        address=address[1] if address else has.host,
        port=_port(has, *port) if port else None,
        user=user[1] if user else None,
        key=str(Path(key[1]).expanduser().absolute()) if key else None,
        jump=_jump(has),
    )
    try:
        parse_destination(spec.address, name=spec.name, user=spec.user, port=spec.port)
    except UsageError as error:
        culprit = next((found[0] for found in (address, user) if found is not None), None)
        if culprit is None:
            raise InventoryError(error.message, host=has.host) from None
        raise has.fault(error.message, culprit) from None
    return spec


def _port(has: HostVariables, name: str, text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65535:
        return int(text)
    raise has.fault(f"{text[:40]!r} is no port; a port is a number from 1 to 65535", name)


def _become(has: HostVariables) -> Literal["sudo", "doas"] | None:
    wanted = has.first("ansible_become")
    if wanted is None or wanted[1].lower() in FALSE:
        return None
    if wanted[1].lower() not in TRUE:
        raise has.fault(f"{wanted[1][:40]!r} is neither yes nor no", wanted[0])
    user = has.first("ansible_become_user")
    if user is not None and user[1] != "root":
        raise has.fault(f"becomes {user[1][:40]!r}, and hostcfg becomes root only", user[0])
    method = has.first("ansible_become_method")
    if method is None:
        return "sudo"
    found = _METHODS.get(method[1].rpartition(".")[2])  # community.general.doas
    if found is None:
        raise has.fault(
            f"{method[1][:40]!r} is none of sudo and doas, by which hostcfg becomes root", method[0]
        )
    return found


def _system(has: HostVariables, name: str, text: str) -> str:
    if text in platform_names():
        return text
    raise has.fault(f"{text[:40]!r} is no system{did_you_mean(text, platform_names())}", name)


def _checked(has: HostVariables, check: Callable[[str], object], name: str, text: str) -> str:
    try:
        check(text)
    except (UnitError, UsageError) as error:
        raise has.fault(error.message, name) from None
    return text


def _jump(has: HostVariables) -> str | None:
    """The jump host in Ansible's extra arguments for ssh.

    ``-J bastion``, ``-o ProxyJump=bastion`` and ``-o ProxyCommand="ssh -W %h:%p bastion"`` are taken.
    Another ProxyCommand is a fault: a command in an inventory is not run.  Everything else in these
    arguments, such as StrictHostKeyChecking=no, is not obeyed.
    """
    jump: str | None = None
    for name in ("ansible_ssh_common_args", "ansible_ssh_extra_args"):
        found = has.first(name)
        if found is not None:
            jump = _jump_in(has, name, found[1]) or jump
    return jump


def _jump_in(has: HostVariables, name: str, text: str) -> str | None:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise has.fault(f"can't be read as arguments of ssh: {error}", name) from None
    jump: str | None = None
    for position, word in enumerate(words):
        following = words[position + 1] if position + 1 < len(words) else ""
        if word == "-J":
            jump = following
        elif word.startswith("-o"):
            option = _OPTION.fullmatch(word[2:].strip() or following)
            if option is not None and option[1].lower() == "proxyjump":
                jump = option[2]
            elif option is not None and option[1].lower() == "proxycommand":
                jump = _jump_of_command(has, name, option[2])
    if jump is not None and jump.lower() == "none":
        return None
    return jump


def _jump_of_command(has: HostVariables, name: str, command: str) -> str | None:
    """``ssh -W %h:%p -q user@bastion`` is a jump host in other words."""
    if command.lower() == "none":
        return None
    found = _STDIO.fullmatch(command.strip().replace('"', "").replace("'", ""))
    words = found[1].split() if found else []
    words = [word for word in words if word not in ("-q", "-W", "%h:%p", "-W%h:%p")]
    port = ""
    if len(words) == 3 and words[0] == "-p":
        port, words = f":{words[1]}", words[2:]
    if "%h:%p" not in command or len(words) != 1 or words[0].startswith("-"):
        message = (
            f"a ProxyCommand in an inventory is not run ({command[:60]}): put it into ~/.ssh/config,"
            f" or name the jump host with -J"
        )
        raise has.fault(message, name)
    return words[0] + port
