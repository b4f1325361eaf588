"""What ``ansible-inventory --list`` and dynamic inventories print.  Pure.

::

    {"_meta": {"hostvars": {"web1": {"ansible_host": "192.0.2.7"}}},
     "all": {"children": ["ungrouped", "web"]}, "web": {"hosts": ["web1"], "vars": {}}, "old": ["h9"]}

JSON and not YAML, since ruamel.yaml takes a second for what json reads in five milliseconds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostcfg.errors import InventoryError
from hostcfg.inventory.ranges import check_name
from hostcfg.inventory.tree import SECRETS, UNGROUPED, USED, Place, Tree, Var, kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_VAULT, _UNSAFE = "__ansible_vault", "__ansible_unsafe"
_MOST_MISSES = 100  # each looks through the rest of the text


def parse_json(text: str, path: str) -> Any:
    """The document; InventoryError with the line where it is damaged."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InventoryError(f"is no JSON: {error.msg}", path=path, line=error.lineno) from None
    except RecursionError:
        raise InventoryError("is nested too deeply", path=path) from None
    except ValueError as error:  # a number of ten thousand digits
        raise InventoryError(f"is no JSON: {str(error)[:80]}", path=path) from None


def is_ansible(document: Any) -> bool:
    """Whether a JSON document is an inventory as Ansible's programs print it."""
    if not isinstance(document, dict):
        return False
    if "_meta" in document:
        return True
    bodies = list(document.values())
    return bool(bodies) and not set(document) & {"paths", "defaults"} and all(map(_is_group, bodies))


def _is_group(body: Any) -> bool:
    if isinstance(body, dict):
        return any(isinstance(body.get(part), list) for part in ("hosts", "children"))
    return isinstance(body, list)


def read_json(document: Mapping[str, Any], text: str, path: str, tree: Tree) -> None:
    """Add the document to ``tree``; ``text`` is what it was read from, for the lines of faults."""
    _Reader(text, path, tree).read(document)


class _Lines:
    """The lines of names, asked for in the order of the text: one pass over it in all."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._misses = 0

    def of(self, name: str) -> int | None:
        """Where ``name`` stands next as a string; None if it is not found as it was written."""
        if self._misses > _MOST_MISSES:
            return None
        at = self._text.find(json.dumps(name), self._at)
        if at < 0:
            self._misses += 1
            return None
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return self._line


class _Reader:
    def __init__(self, text: str, path: str, tree: Tree) -> None:
        self.lines = _Lines(text)
        self.path = path
        self.tree = tree

    def read(self, document: Mapping[str, Any]) -> None:
        described: dict[str, dict[str, Var]] = {}
        for name, body in document.items():
            place = self._place(name)
            if name == "_meta":
                meta = self._mapping(body, name, place)
                for host, variables in self._mapping(meta.get("hostvars"), "hostvars", place).items():
                    described[host] = self._vars(variables, host, self._place(host))
            else:
                self._group(name, body, place)
        for host, found in described.items():
            if host in self.tree.hosts:
                self.tree.hosts[host].update(found)
            else:
                self._host(host, UNGROUPED, Place(self.path), found)

    def _group(self, name: str, body: Any, place: Place) -> None:
        group = self.tree.group(name)
        found = {"hosts": body} if isinstance(body, list) else self._mapping(body, name, place)
        for part, value in found.items():
            if part == "hosts":
                for host in self._names(value, name, place):
                    self._host(host, name, self._place(host), {})
            elif part == "children":
                for child in self._names(value, name, place):
                    group.children.setdefault(child, self._place(child))
                    self.tree.group(child)  # ansible-inventory leaves groups without hosts out
            elif part == "vars":
                group.vars.update(self._vars(value, name, place))

    def _host(self, host: str, group: str, place: Place, variables: Mapping[str, Var]) -> None:
        try:
            check_name(host)
        except ValueError as error:
            raise InventoryError(str(error), path=self.path, line=place.line) from None
        self.tree.add_host(host, group, place, variables)

    def _mapping(self, value: Any, name: str, place: Place) -> Mapping[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            message = f"{name[:60]!r} is a {type(value).__name__} and no object"
            raise InventoryError(message, path=self.path, line=place.line)
        return value

    def _names(self, value: Any, group: str, place: Place) -> list[str]:
        """A list of names, or an object by name as YAML inventories have it."""
        names = list(value) if isinstance(value, (list, dict)) else [] if value is None else [value]
        if not all(isinstance(name, str) for name in names):
            message = f"group {group[:60]!r}: a host or a child is a name"
            raise InventoryError(message, path=self.path, line=place.line)
        return names

    def _vars(self, value: Any, name: str, place: Place) -> dict[str, Var]:
        return kept(self._pairs(self._mapping(value, name, place)), self.tree)

    def _pairs(self, variables: Mapping[str, Any]) -> Iterator[tuple[str, Var]]:
        for name, value in variables.items():
            if name not in USED and name not in SECRETS:
                continue
            place = self._place(name)
            plain = value.get(_UNSAFE, value) if isinstance(value, dict) else value
            if isinstance(plain, dict) and _VAULT in plain:
                yield name, Var(None, place, sealed=True)
            elif isinstance(plain, (dict, list)):
                yield name, Var("{...}" if isinstance(plain, dict) else "[...]", place)
            else:
                yield name, Var(plain, place)

    def _place(self, name: str) -> Place:
        return Place(self.path, self.lines.of(name))
