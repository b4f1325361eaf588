"""Ansible's variables of one host -> how hostcfg reaches it.  Pure.

What an inventory asks for and hostcfg can't do is a fault of that host alone, told when the host is
used: a template, an encrypted value, another connection than SSH, another user than root to become.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from hostcfg.errors import InputError, InventoryError, UnitError, UsageError
from hostcfg.files import home_expanded
from hostcfg.inventory.ssh_args import read_arguments
from hostcfg.lean import regex
from hostcfg.nearest import did_you_mean
from hostcfg.platforms import all_platforms
from hostcfg.targets import HostSpec, checked_address
from hostcfg.transports.destination import check_jump, check_user, parse_destination
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
    if has.host == "local":
        raise InventoryError("local is always this machine: give the host another name", host=has.host)
    arguments = _arguments(has)
    address = has.first("ansible_ssh_host", "ansible_host") or arguments.get("hostname")
    port = has.first("ansible_ssh_port", "ansible_port") or arguments.get("port")
    user = has.first("ansible_ssh_user", "ansible_user") or arguments.get("user")
    key = has.first("ansible_ssh_private_key_file", "ansible_private_key_file")
    key = key or arguments.get("identityfile")
    jump = arguments.get("jump")
    if jump is not None:
        _checked(has, check_jump, *jump)
    if user is not None:
        _checked(has, check_user, *user)
    spec = replace(
        spec,
        address=address[1] if address else has.host,
        port=_port(has, *port) if port else None,
        user=user[1] if user else None,
        key=_path(has, *key) if key else None,
        jump=jump[1] if jump else None,
    )
    try:
        parse_destination(spec.address, name=spec.name, user=spec.user, port=spec.port)
    except UsageError as error:
        if address is None:
            raise InventoryError(error.message, host=has.host) from None
        raise has.fault(error.message, address[0]) from None
    return spec


def _arguments(has: HostVariables) -> dict[str, tuple[str, str]]:
    """What arguments for ssh say, each with the variable that holds it; the first wins, as with ssh."""
    found: dict[str, tuple[str, str]] = {}
    for name in ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args"):
        said = has.first(name)
        if said is not None:
            try:
                read = read_arguments(said[1])
            except ValueError as error:
                raise has.fault(str(error), name) from None
            found = {**{keyword: (name, value) for keyword, value in read.items()}, **found}
    return found


def _path(has: HostVariables, name: str, text: str) -> str:
    try:
        return str(home_expanded(text).absolute())
    except InputError as error:
        raise has.fault(error.message, name) from None


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
    known = [platform.name for platform in all_platforms()]
    if text in known:
        return text
    raise has.fault(f"{text[:40]!r} is no system{did_you_mean(text, known)}", name)


def _checked(has: HostVariables, check: Callable[[str], object], name: str, text: str) -> str:
    try:
        check(text)
    except (UnitError, UsageError) as error:
        raise has.fault(error.message, name) from None
    return text
