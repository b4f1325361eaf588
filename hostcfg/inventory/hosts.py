"""An inventory as commands use it: hosts by name, glob and group, and paths between them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from hostcfg.errors import InventoryError, UsageError
from hostcfg.inventory.ranges import RANGE, parse_pattern
from hostcfg.inventory.tree import ALL
from hostcfg.inventory.variables import spec_of
from hostcfg.targets import HostSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.inventory.native import NativeInventory, PathSpec
    from hostcfg.inventory.tree import Tree


class Inventory:
    """All hosts of one inventory.

    ``notes`` are sentences on what of it was left alone.  An entry that can't be used is found out when
    its host is asked for, and no sooner.
    """

    def __init__(
        self,
        path: str,
        names: Sequence[str],
        groups: Mapping[str, Sequence[str]],
        spec: Callable[[str], HostSpec],
        *,
        paths: Sequence[PathSpec] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.names = tuple(names)
        self.groups = groups
        self.paths = tuple(paths)
        self.notes = tuple(notes)
        self._known = frozenset(names)
        self._spec = cache(spec)

    def spec(self, name: str) -> HostSpec:
        """How the host of that name is reached; KeyError for none, InventoryError for a faulty one."""
        if name not in self._known:
            raise KeyError(name)
        return self._spec(name)

    def match(self, pattern: str) -> Sequence[HostSpec]:
        """Hosts of a name, a glob, a range, ``@group``, a group's name or ``all``, in the inventory's order.

        A host wins over a group of its name.  Empty if nothing is named.  One whose entry can't be used
        comes with its ``problem``: it must not keep the others from being read.
        """
        return [self._spec_or_problem(name) for name in self.match_names(pattern)]

    def _spec_or_problem(self, name: str) -> HostSpec:
        try:
            return self._spec(name)
        except InventoryError as error:
            return HostSpec(name, "ssh", problem=error)

    def match_names(self, pattern: str) -> Sequence[str]:
        """The names of :meth:`match` alone."""
        if pattern in self._known:
            return [pattern]
        group = pattern.removeprefix("@")
        if group in self.groups or group == ALL:
            return self._members([group])
        if pattern.startswith("@"):
            return self._members([name for name in self.groups if fnmatchcase(name, group)])
        if RANGE.search(
            pattern
        ):  # web[1:3] is what an inventory means by it: to a glob it is "1", ":" or "3"
            return self._in_range(pattern)
        if any(c in pattern for c in "*?["):
            return [name for name in self.names if fnmatchcase(name, pattern)]
        return []

    def _in_range(self, pattern: str) -> list[str]:
        try:
            found = parse_pattern(pattern)
        except ValueError as error:
            raise UsageError(str(error)) from None
        wanted = {name if found.port is None else f"{name}:{found.port}" for name in found.names}
        return [name for name in self.names if name in wanted]

    def _members(self, groups: Sequence[str]) -> list[str]:
        if ALL in groups:
            return list(self.names)
        inside = {host for group in groups for host in self.groups[group]}
        return [name for name in self.names if name in inside]


def of_native(found: NativeInventory, path: str) -> Inventory:
    """hostcfg's own form, in which everything has been checked."""
    return Inventory(path, list(found.hosts), found.groups, found.hosts.__getitem__, paths=found.paths)


def of_tree(tree: Tree, path: str) -> Inventory:
    """Ansible's forms: what says how a host is reached is put together when the host is used."""
    tree.check()
    groups = {name: tree.members(name) for name in tree.groups}
    return Inventory(
        path, list(tree.hosts), groups, lambda name: spec_of(name, tree.variables(name)), notes=tree.notes
    )
