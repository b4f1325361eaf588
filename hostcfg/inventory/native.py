"""hostcfg's own inventory.  Pure.

::

    defaults: {user: root, key: ~/.ssh/fleet}
    hosts:
      lon-1: {address: 192.0.2.7, rate: 1gbit}
      sin-1: {address: admin@192.0.2.8:2222, become: sudo, path_address: 203.0.113.8}
      web[01:20]:
      old-bsd: {address: file:old-bsd.txt}      # pasted output, relative to this file
    groups:
      europe: [lon-1, web[01:20]]
      all-ends: [europe, sin-1]               # "@europe" where a host is called so too
    paths:
      - {from: lon-1, to: sin-1, rate: 1gbit, rtt: 170ms}

``hosts`` may also be a list of names.  A bare name is an SSH destination.
"""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.errors import HostcfgError, InputError, InventoryError
from hostcfg.files import home_expanded
from hostcfg.inventory.ranges import MOST_HOSTS, parse_pattern
from hostcfg.inventory.variables import FALSE, TRUE
from hostcfg.lean import dataclass
from hostcfg.nearest import did_you_mean
from hostcfg.platforms import all_platforms
from hostcfg.targets import HostSpec, checked_address
from hostcfg.transports.destination import check_jump, check_user, parse_destination, refuse_password
from hostcfg.units import parse_rate, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hostcfg.transports.destination import Become
    from hostcfg.yamltext import Node

TOP = ("hosts", "groups", "paths", "defaults")
_HOST = ("address", "port", "user", "key", "os", "become", "rate", "jump", "path_address")
_DEFAULTS = ("port", "user", "key", "os", "become", "rate", "jump", "rtt")
_PATH = ("from", "to", "rate", "rtt")


@dataclass(frozen=True, slots=True)
class PathSpec:
    """A path to audit between two hosts of the inventory, ``local`` or ``file:PATH``.

    ``rate`` and ``rtt`` are text with units or ``auto``; None: neither the path nor the defaults say.
    """

    from_host: str
    to_host: str
    rate: str | None
    rtt: str | None
    line: int


@dataclass(slots=True)
class NativeInventory:
    """Everything that one file says: hosts by name and groups of host names, in the file's order."""

    hosts: dict[str, HostSpec] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    paths: list[PathSpec] = field(default_factory=list)


def looks_native(root: Node) -> bool:
    """Whether the top level has one of our four words."""
    return isinstance(root.value, list) or (
        isinstance(root.value, dict) and any(word in root.value for word in TOP)
    )


def read_native(root: Node, path: str) -> NativeInventory:
    """The inventory; InventoryError with line and key of the first fault."""
    return _Reader(path).read(root)


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.found = NativeInventory()
        self.defaults: dict[str, Node] = {}
        self.settled: dict[str, list[str]] = {}  # members of groups

    def fault(
        self, message: str, line: int, *, host: str | None = None, key: str | None = None
    ) -> InventoryError:
        return InventoryError(message, path=self.path, line=line, host=host, key=key)

    def read(self, root: Node) -> NativeInventory:
        if isinstance(root.value, list):
            self._hosts(root)
            return self.found
        top = self._mapping(root, TOP, "an inventory")
        if "defaults" in top:
            self.defaults = self._mapping(top["defaults"], _DEFAULTS, "defaults")
            self._spec(HostSpec("defaults", "ssh"), self.defaults)
        if "hosts" in top:
            self._hosts(top["hosts"])
        if "groups" in top:
            self._groups(top["groups"])
        if "paths" in top:
            self._paths(top["paths"])
        return self.found

    def _mapping(
        self, node: Node, known: Collection[str], what: str, host: str | None = None
    ) -> dict[str, Node]:
        if node.value is None:
            return {}
        if not isinstance(node.value, dict):
            raise self.fault(f"{what} has `key: value` entries: {', '.join(known)}", node.line, host=host)
        for key, value in node.value.items():
            if key not in known:
                raise self.fault(f"unknown{did_you_mean(key, known)}", value.line, host=host, key=key[:60])
        return node.value

    def _text(self, node: Node, key: str, host: str | None = None) -> str:
        """A scalar as it was written."""
        if node.tag is not None:
            raise self.fault(f"the tag {node.tag[:40]} is not used here", node.line, host=host, key=key)
        if node.text is None or not node.text.strip() or isinstance(node.value, (list, dict)):
            raise self.fault("takes one value", node.line, host=host, key=key)
        return node.text.strip()

    # hosts

    def _hosts(self, node: Node) -> None:
        if isinstance(node.value, list):
            for item in node.value:
                self._host(self._text(item, "hosts"), item, {})
        elif isinstance(node.value, dict):
            for name, body in node.value.items():
                self._host(name, body, self._mapping(body, _HOST, f"host {name[:60]!r}", name[:60]))
        elif node.value is not None:
            raise self.fault("hosts is NAME: {...} entries, or a list of names", node.line, key="hosts")

    def _host(self, pattern: str, node: Node, body: Mapping[str, Node]) -> None:
        self._valid(refuse_password, pattern, node.line)
        names = self._names(pattern, node.line)
        if "address" in body and len(names) > 1:
            message = "a range of hosts can't have one address: name each"
            raise self.fault(message, body["address"].line, host=pattern[:60], key="address")
        for name in names:
            if name in self.found.hosts:
                raise self.fault("given twice", node.line, host=name)
            address = self._text(body["address"], "address", name) if "address" in body else name
            line = body.get("address", node).line
            spec = self._at(name, address, line)
            if spec.kind == "ssh":
                self._valid(parse_destination, address, line, name, "address" if "address" in body else None)
            self.found.hosts[name] = self._spec(spec, {**self.defaults, **body})
            if len(self.found.hosts) > MOST_HOSTS:
                raise self.fault(f"more than {MOST_HOSTS} hosts", node.line)

    def _names(self, pattern: str, line: int) -> list[str]:
        """The names of a range; a name is an SSH destination, so a port stays in it."""
        try:
            found = parse_pattern(pattern)
        except ValueError as error:
            raise self.fault(str(error), line) from None
        if len(found.names) == 1:
            return [pattern]
        return [name if found.port is None else f"{name}:{found.port}" for name in found.names]

    def _at(self, name: str, address: str, line: int) -> HostSpec:
        if address == "local":
            return HostSpec(name, "local")
        if name == "local":
            raise self.fault("local is always this machine: give the host another name", line, host=name)
        if address.startswith("file:"):
            path = address.removeprefix("file:")
            if not path:
                raise self.fault("file: needs a path, as in file:far-end.txt", line, host=name, key="address")
            return HostSpec(name, "file", self._beside(path, line, name, "address"))
        return HostSpec(name, "ssh", address)

    def _beside(self, path: str, line: int, host: str, key: str) -> str:
        """A path in the inventory belongs to the inventory's own folder."""
        try:
            return str(Path(self.path).absolute().parent / home_expanded(path))
        except InputError as error:
            raise self.fault(f"{path[:60]}: {error.message}", line, host=host, key=key) from None

    def _spec(self, spec: HostSpec, body: Mapping[str, Node]) -> HostSpec:
        """``spec`` with what ``body`` says."""
        said = {key: (self._text(node, key, spec.name), node.line) for key, node in body.items()}
        checks: dict[str, Callable[[str], object]]
        checks = {
            "rate": parse_rate,
            "rtt": parse_time,
            "path_address": checked_address,
            "user": check_user,
            "jump": check_jump,
        }
        for key, check in checks.items():
            if key in said:
                self._valid(check, *said[key], spec.name, key)
        if "port" in said:
            spec = replace(spec, port=self._port(*said["port"], spec.name))
        if "os" in said:
            spec = replace(spec, os=self._system(*said["os"], spec.name))
        if "become" in said:
            spec = replace(spec, become=self._become(*said["become"], spec.name))
        if "key" in said:
            spec = replace(spec, key=self._beside(*said["key"], spec.name, "key"))
        names = ("user", "rate", "jump", "path_address")
        user, rate, jump, path_address = (said[key][0] if key in said else None for key in names)
        return replace(spec, user=user, rate=rate, jump=jump, path_address=path_address)

    def _valid(
        self,
        check: Callable[[str], object],
        text: str,
        line: int,
        host: str | None = None,
        key: str | None = None,
    ) -> None:
        try:
            check(text)
        except HostcfgError as error:
            raise self.fault(error.message, line, host=host, key=key) from None

    def _port(self, text: str, line: int, host: str) -> int:
        if text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65535:
            return int(text)
        raise self.fault("a port is a number from 1 to 65535", line, host=host, key="port")

    def _system(self, text: str, line: int, host: str) -> str:
        known = [platform.name for platform in all_platforms()]
        if text in known:
            return text
        near = did_you_mean(text, known)
        raise self.fault(f"{text[:40]!r} is no system{near}", line, host=host, key="os")

    def _become(self, text: str, line: int, host: str) -> Become | None:
        if text.lower() in TRUE:
            return "sudo"
        if text.lower() in FALSE:
            return None
        if text == "sudo":
            return "sudo"
        if text == "doas":
            return "doas"
        raise self.fault(f"{text[:40]!r} is none of sudo, doas, yes, no", line, host=host, key="become")

    # groups and paths

    def _groups(self, node: Node) -> None:
        groups = node.value
        if groups is None:
            return
        if not isinstance(groups, dict):
            raise self.fault("groups are NAME: [HOST, ...] entries", node.line, key="groups")
        for name, body in groups.items():
            if name == "all" or any(c in name for c in "@*?[],") or name.split() != [name]:
                said = "is every host" if name == "all" else "can't be asked for by this name"
                raise self.fault(f"the group {said}: give it another name", body.line, key=name[:60])
            self.found.groups[name] = self._members(name, groups, ())

    def _members(self, name: str, groups: Mapping[str, Node], trail: tuple[str, ...]) -> list[str]:
        if name in self.settled:
            return self.settled[name]
        node = groups[name]
        if name in trail:
            raise self.fault(f"is within itself: {' -> '.join([*trail, name])}", node.line, key=f"@{name}")
        if not isinstance(node.value, list):
            raise self.fault("a group is a list of hosts, as in [lon-1, sin-1]", node.line, key=name[:60])
        members: dict[str, None] = {}
        for item in node.value:
            text = self._text(item, name)
            group = text.removeprefix("@")
            if group != text and group not in groups:
                said = f"{text[:60]!r} is no group{did_you_mean(group, groups)}"
                raise self.fault(said, item.line, key=name)
            if group in groups and (group != text or text not in self.found.hosts):
                members |= dict.fromkeys(self._members(group, groups, (*trail, name)))
            else:
                members |= dict.fromkeys(self._known(text, item.line, name))
        return self.settled.setdefault(name, list(members))

    def _known(self, text: str, line: int, key: str) -> list[str]:
        names = self._names(text, line)
        for name in names:
            if name not in self.found.hosts:
                near = did_you_mean(name, self.found.hosts)
                raise self.fault(f"{name[:60]!r} is not among the hosts{near}", line, key=key[:60])
        return names

    def _paths(self, node: Node) -> None:
        if node.value is None:
            return
        if not isinstance(node.value, list):
            raise self.fault("paths is a list of {from, to, rate, rtt}", node.line, key="paths")
        for item in node.value:
            self.found.paths.append(self._path(item))

    def _path(self, node: Node) -> PathSpec:
        body = self._mapping(node, _PATH, "a path")
        ends = []
        for key in ("from", "to"):
            if key not in body:
                raise self.fault(f"a path has a {key!r}", node.line, key="paths")
            name = self._text(body[key], key)
            if name != "local" and not name.startswith("file:"):
                self._known(name, body[key].line, key)
            ends.append(name)
        link: dict[str, str | None] = {}
        for key, check in (("rate", parse_rate), ("rtt", parse_time)):
            said = body.get(key, self.defaults.get(key))
            link[key] = None if said is None else self._text(said, key)
            if said is not None and link[key] != "auto":
                self._valid(check, str(link[key]), said.line, key=key)
        return PathSpec(ends[0], ends[1], link["rate"], link["rtt"], node.line)
