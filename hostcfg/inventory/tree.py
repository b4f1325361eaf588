"""What an Ansible inventory says, whatever its form: groups, hosts, and where each variable stands.

Only variables that say how a host is reached are kept (:data:`USED`): an inventory may hold
megabytes that are none of hostcfg's business, secrets among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hostcfg.errors import InventoryError, UsageError
from hostcfg.transports.destination import refuse_password

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hostcfg.model import Scalar

ALL, UNGROUPED = "all", "ungrouped"
"""Groups that every inventory has."""

PRIORITY = "ansible_group_priority"

USED = frozenset(
    {
        PRIORITY,
        "ansible_host",
        "ansible_ssh_host",
        "ansible_port",
        "ansible_ssh_port",
        "ansible_user",
        "ansible_ssh_user",
        "ansible_private_key_file",
        "ansible_ssh_private_key_file",
        "ansible_connection",
        "ansible_become",
        "ansible_become_method",
        "ansible_become_user",
        "ansible_ssh_args",
        "ansible_ssh_common_args",
        "ansible_ssh_extra_args",
        "hostcfg_os",
        "hostcfg_path_address",
        "hostcfg_rate",
    }
)
"""Variables that are read; the last three are hostcfg's own."""

_A_SLIP = 0.9
"""How alike a group's name is to one that is meant (difflib's ratio): ``webserver`` and ``webservers``,
and not ``southwest`` and ``southeast``.
"""

SECRETS = frozenset(
    {
        "ansible_password",
        "ansible_ssh_pass",
        "ansible_ssh_password",
        "ansible_become_pass",
        "ansible_become_password",
        "ansible_sudo_pass",
    }
)
"""Variables that are noted and never read: hostcfg takes passwords from a terminal only."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line (from 1; None: not known) of a file."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Var:
    """One variable: its value as the file has it, and where.

    ``sealed``: it is encrypted with ansible-vault; ``value`` is None then.
    """

    value: Scalar | None
    place: Place
    sealed: bool = False


@dataclass(slots=True)
class Group:
    """One group; ``hosts`` and ``children`` are its own ones, each with where it was named."""

    name: str
    vars: dict[str, Var] = field(default_factory=dict)
    hosts: dict[str, Place] = field(default_factory=dict)
    children: dict[str, Place] = field(default_factory=dict)


@dataclass
class Tree:
    """All groups and hosts, in the order in which they are named.

    ``group_files`` and ``host_files`` hold what group_vars and host_vars say.
    """

    groups: dict[str, Group] = field(default_factory=dict)
    hosts: dict[str, dict[str, Var]] = field(default_factory=dict)
    group_files: dict[str, dict[str, Var]] = field(default_factory=dict)
    host_files: dict[str, dict[str, Var]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def group(self, name: str) -> Group:
        """The group of a name, made if it is new."""
        found = self.groups.get(name)
        if found is None:
            found = self.groups[name] = Group(name)
        return found

    def add_host(self, name: str, group: str, place: Place, variables: Mapping[str, Var]) -> None:
        """One more mention of a host: later variables win; InventoryError for a name with a password."""
        try:
            refuse_password(name)
        except UsageError as error:
            raise InventoryError(error.message, path=place.path, line=place.line) from None
        self.hosts.setdefault(name, {}).update(variables)
        self.group(group).hosts.setdefault(name, place)

    def note(self, text: str) -> None:
        """Something about the whole inventory, said once."""
        if text not in self.notes:
            self.notes.append(text)

    @cached_property
    def _parents(self) -> dict[str, list[str]]:
        """Group -> groups that name it as a child; those that nobody names belong to ``all``."""
        found: dict[str, list[str]] = {name: [] for name in self.groups}
        for group in self.groups.values():
            for child in group.children:
                found.setdefault(child, []).append(group.name)
        for name, parents in found.items():
            if not parents and name != ALL:
                parents.append(ALL)
        return found

    @cached_property
    def _groups_of_host(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for group in self.groups.values():
            for host in group.hosts:
                found.setdefault(host, []).append(group.name)
        return found

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Host -> its place in the inventory: a thousand groups must not each go through all hosts."""
        return {host: number for number, host in enumerate(self.hosts)}

    @cached_property
    def _order(self) -> dict[str, tuple[int, int, str]]:
        """What a group's variables are sorted by: depth below ``all``, priority, name."""
        depths: dict[str, int] = {ALL: 0}
        for name in self.groups:
            self._depth(name, depths)
        return {name: (depths[name], self._priority(name), name) for name in depths}

    def _depth(self, start: str, depths: dict[str, int]) -> None:
        """The longest way from ``all``, without recursion: a hostile file may nest a million groups."""
        stack = [start]
        open_: set[str] = set()
        while stack:
            name = stack[-1]
            if name in depths:
                stack.pop()
                continue
            missing = [parent for parent in self._parents.get(name, ["all"]) if parent not in depths]
            if not missing:
                depths[name] = 1 + max(depths[parent] for parent in self._parents.get(name, ["all"]))
                open_.discard(stack.pop())
                continue
            open_.add(name)
            circle = next((parent for parent in missing if parent in open_), None)
            if circle is not None:
                place = self.groups[circle].children.get(name, Place("inventory"))
                raise InventoryError(f"group {circle!r} is within itself", path=place.path, line=place.line)
            stack.extend(missing)

    def _priority(self, name: str) -> int:
        var = self.groups[name].vars.get(PRIORITY) if name in self.groups else None
        if var is None:
            return 1  # Ansible's default
        try:
            return int(str(var.value))
        except ValueError:
            place = var.place
            raise InventoryError("is no number", path=place.path, line=place.line, key=PRIORITY) from None

    def _settle_ungrouped(self) -> None:
        """``ungrouped`` has the hosts that are in no group but ``all``, wherever they are named."""
        ungrouped = self.group(UNGROUPED)
        grouped: set[str] = set()
        for group in self.groups.values():
            if group.name not in (ALL, UNGROUPED):
                grouped.update(group.hosts)
        for host in self.hosts:
            if host in grouped:
                ungrouped.hosts.pop(host, None)
            else:
                ungrouped.hosts.setdefault(host, Place("inventory"))

    def check(self) -> None:
        """Once everything is in: InventoryError for groups within themselves, and for slips in children.

        A child that is defined nowhere, and close to no group, has no hosts: Ansible's guide has such
        groups.
        """
        self._settle_ungrouped()
        known = list(self.groups)
        for group in list(self.groups.values()):
            for child, place in group.children.items():
                if child not in self.groups:
                    self._undefined(group.name, child, place, known)
        _ = self._order

    def _undefined(self, parent: str, child: str, place: Place, known: Sequence[str]) -> None:
        from difflib import get_close_matches

        said = f"group {parent!r} has the child {child[:60]!r}, which is no group"
        near = get_close_matches(child[:64], known, n=1, cutoff=_A_SLIP)
        if near:
            raise InventoryError(f"{said}; did you mean {near[0]!r}?", path=place.path, line=place.line)
        self.note(f"{place.path}:{place.line}: {said}: it has no hosts")
        self.group(child)

    def groups_of(self, host: str) -> list[str]:
        """Every group that a host is in, directly or not, those first whose variables give way."""
        found = {ALL}
        todo = list(self._groups_of_host.get(host, ()))
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self._parents.get(name, ())
        return sorted(found, key=lambda name: self._order.get(name, (0, 1, name)))

    def variables(self, host: str) -> dict[str, Var]:
        """What holds for ``host``: all, then groups from the outside in, then its own.

        Within each level what a file beside the inventory says wins ("Understanding variable
        precedence" in Ansible's documentation, 3 to 10).
        """
        merged: dict[str, Var] = {}
        groups = self.groups_of(host)
        for name in groups:
            if name in self.groups:
                merged |= self.groups[name].vars
        for name in groups:
            merged |= self.group_files.get(name, {})
        return merged | self.hosts.get(host, {}) | self.host_files.get(host, {})

    def members(self, group: str) -> Sequence[str]:
        """Every host of a group and of all its children, in the order of the inventory."""
        if group == ALL:
            return list(self.hosts)
        inside: set[str] = set()
        seen: set[str] = set()
        todo = [group]
        while todo:
            name = todo.pop()
            if name in seen or name not in self.groups:
                continue
            seen.add(name)
            inside.update(self.groups[name].hosts)
            todo += self.groups[name].children
        return sorted(inside, key=self._positions.__getitem__)


def kept(variables: Iterable[tuple[str, Var]], tree: Tree) -> dict[str, Var]:
    """Those of ``variables`` that are read; a password among them is noted and left."""
    found = {}
    for name, var in variables:
        if name in USED:
            found[name] = var
        elif name in SECRETS:
            tree.note(f"{var.place.path}: {name} is not read; log in with a key, or give --ask-pass")
    return found
