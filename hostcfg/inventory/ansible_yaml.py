"""Ansible's YAML inventories and group_vars files.  Pure.

::

    all:
      hosts:
        mail.example.com:
      children:
        webservers:
          hosts:
            www[01:50].example.com: {ansible_port: 2222}
          vars: {ansible_user: deploy}

As Ansible's plugins/inventory/yaml.py reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import InventoryError
from hostcfg.inventory.ranges import MOST_HOSTS, parse_pattern
from hostcfg.inventory.tree import Place, Tree, Var, kept
from hostcfg.nearest import did_you_mean
from hostcfg.yamltext import Dialect, Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LARGEST_BYTES = 8 * 1024 * 1024

DIALECT = Dialect(
    error=InventoryError,
    one="an inventory",
    named="inventories",
    empty="is empty; an inventory has hosts",
    largest_bytes=LARGEST_BYTES,
    aliases=True,
    any_tag=True,
)

_PARTS = ("hosts", "children", "vars")


def read_yaml(root: Node, path: str, tree: Tree) -> None:
    """Add the groups of ``root`` to ``tree``; InventoryError with the line of what is wrong."""
    reader = _Reader(path, tree)
    if not isinstance(root.value, dict):
        raise reader.fault("an inventory is groups by name, each with hosts, children or vars", root)
    todo = list(root.value.items())[::-1]
    while todo:  # groups nest as deep as the file says
        name, node = todo.pop()
        todo += reversed(reader.group(name, node))


def looks_like_groups(root: Node) -> bool:
    """Whether every top-level entry could be an Ansible group, and at least one of them must be."""
    if not isinstance(root.value, dict):
        return False
    bodies = [node.value for node in root.value.values()]
    if not all(body is None or (isinstance(body, dict) and set(body) <= set(_PARTS)) for body in bodies):
        return False
    return any(body for body in bodies)


def vars_of(node: Node, path: str, tree: Tree) -> dict[str, Var]:
    """The variables of a mapping that are read; InventoryError if it is none."""
    if node.value is None:
        return {}
    if not isinstance(node.value, dict):
        raise InventoryError("variables are NAME: VALUE lines", path=path, line=node.line)
    return kept(_pairs(node.value, path), tree)


def _pairs(nodes: Mapping[str, Node], path: str) -> Iterator[tuple[str, Var]]:
    for name, node in nodes.items():
        place = Place(path, node.line)
        if node.tag is not None and "vault" in node.tag:
            yield name, Var(None, place, sealed=True)
        elif isinstance(node.value, (list, dict)):
            yield name, Var("[...]" if isinstance(node.value, list) else "{...}", place)
        else:
            # as it was written: YAML 1.1, which Ansible reads, takes yes for true
            yield name, Var(node.value if node.text is None else node.text, place)


class _Reader:
    def __init__(self, path: str, tree: Tree) -> None:
        self.path = path
        self.tree = tree

    def fault(self, message: str, node: Node) -> InventoryError:
        return InventoryError(message, path=self.path, line=node.line)

    def group(self, name: str, node: Node) -> list[tuple[str, Node]]:
        """Adds one group; its children are returned, to be added next."""
        group = self.tree.group(name)
        children: list[tuple[str, Node]] = []
        for part, body in self._parts(name, node):
            if part == "vars":
                group.vars.update(vars_of(body, self.path, self.tree))
            elif part == "hosts":
                for host, variables in self._named(body, f"the hosts of {name[:60]!r}").items():
                    self._host(host, variables, name)
            else:
                for child, below in self._named(body, f"the children of {name[:60]!r}").items():
                    group.children.setdefault(child, Place(self.path, below.line))
                    children.append((child, below))
        return children

    def _parts(self, name: str, node: Node) -> Iterator[tuple[str, Node]]:
        if node.value is None:
            return
        if not isinstance(node.value, dict):
            raise self.fault(f"group {name[:60]!r}: a group has hosts, children or vars", node)
        for part, body in node.value.items():
            if part not in _PARTS:
                message = f"group {name[:60]!r}: {part[:60]!r} is none of hosts, children, vars"
                raise self.fault(message + did_you_mean(part, _PARTS), body)
            yield part, body

    def _named(self, body: Node, what: str) -> dict[str, Node]:
        """A mapping by name; Ansible takes a single name for one without a body."""
        if body.value is None:
            return {}
        if isinstance(body.value, str):
            return {body.value: Node(None, body.line)}
        if not isinstance(body.value, dict):
            raise self.fault(f"{what} are NAME: lines, each with its colon", body)
        return body.value

    def _host(self, name: str, node: Node, group: str) -> None:
        try:
            pattern = parse_pattern(name)
        except ValueError as error:
            raise self.fault(str(error), node) from None
        variables = vars_of(node, self.path, self.tree)
        place = Place(self.path, node.line)
        if pattern.port is not None:
            variables.setdefault("ansible_port", Var(pattern.port, place))
        for host in pattern.names:
            self.tree.add_host(host, group, place, variables)
        if len(self.tree.hosts) > MOST_HOSTS:
            raise self.fault(f"more than {MOST_HOSTS} hosts", node)
