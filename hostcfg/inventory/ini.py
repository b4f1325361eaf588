"""Ansible's INI inventories, which plain lists of hosts are too.  Pure.

::

    mail.example.com                     # a host outside any group
    [webservers]
    www[01:50].example.com ansible_user=deploy
    [webservers:vars]
    ansible_port=2222
    [europe:children]
    webservers

As Ansible's plugins/inventory/ini.py reads it.  A plain list may also have ``user@host:port``.
"""

from __future__ import annotations

import shlex
from ast import literal_eval
from typing import TYPE_CHECKING

from hostcfg.errors import InventoryError
from hostcfg.inventory.ranges import MOST_HOSTS, HostPattern, parse_pattern
from hostcfg.inventory.tree import UNGROUPED, Place, Tree, Var, kept
from hostcfg.lean import regex
from hostcfg.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

_SECTION = regex(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:[#;].*)?")
_LITERAL = regex(r"""([0-9]+|True|False|'[^'\\]*'|"[^"\\]*")\s*(?:#.*)?""")
_KINDS = ("hosts", "children", "vars")


def read_ini(text: str, path: str, tree: Tree) -> None:
    """Add what ``text`` says to ``tree``; InventoryError with the line of what is wrong."""
    _Reader(path, tree).read(text)


class _Reader:
    def __init__(self, path: str, tree: Tree) -> None:
        self.path = path
        self.tree = tree
        self.group = UNGROUPED
        self.line = 0
        self.declared: set[str] = {"all", UNGROUPED, *tree.groups}
        self.only_vars: dict[str, int] = {}

    def read(self, text: str) -> None:
        add: Callable[[str], None] = self._host
        for self.line, raw in enumerate(text.split("\n"), 1):
            line = raw.strip()
            if not line or line[0] in "#;":
                continue
            section = _SECTION.fullmatch(line) if line[0] == "[" else None
            if section is not None:
                add = self._section(section[1], section[2] or "hosts")
            elif line[0] == "[" and line.endswith("]") and "," not in line and ":" not in line:
                message = f"{line[:60]!r} is no section; write [GROUP], [GROUP:vars] or [GROUP:children]"
                raise self.fault(message)
            else:
                add(line)
        for name, line_number in self.only_vars.items():
            if name not in self.declared:
                message = f"[{name[:60]}:vars] is for no group{did_you_mean(name, self.declared)}"
                raise InventoryError(message, path=self.path, line=line_number)

    def fault(self, message: str) -> InventoryError:
        return InventoryError(message, path=self.path, line=self.line)

    def place(self) -> Place:
        return Place(self.path, self.line)

    def _section(self, group: str, kind: str) -> Callable[[str], None]:
        if kind not in _KINDS:
            raise self.fault(f"[{group[:60]}:{kind[:60]}] is no section{did_you_mean(kind, _KINDS)}")
        self.group = group
        if kind == "vars":
            self.only_vars.setdefault(group, self.line)
            return self._variable
        self.declared.add(group)
        self.tree.group(group)
        return self._host if kind == "hosts" else self._child

    def _host(self, line: str) -> None:
        words = self._words(line)
        if not words:
            return
        pattern = self._pattern(words[0])
        pairs = [self._pair(word) for word in words[1:]]
        variables = kept(pairs, self.tree)
        if pattern.port is not None:
            variables.setdefault("ansible_port", Var(pattern.port, self.place()))
        for name in pattern.names:
            self.tree.add_host(name, self.group, self.place(), variables)
        if len(self.tree.hosts) > MOST_HOSTS:
            raise self.fault(f"more than {MOST_HOSTS} hosts")

    def _pattern(self, word: str) -> HostPattern:
        """A host, a range of them, or (in a plain list) a whole SSH destination."""
        try:
            _, at, rest = word.rpartition("@")
            if at or word.lower().startswith("ssh://"):
                parse_pattern(rest)
                return HostPattern([word])
            return parse_pattern(word)
        except ValueError as error:
            raise self.fault(str(error)) from None

    def _words(self, line: str) -> list[str]:
        if not any(c in line for c in "'\"\\#"):
            return line.split()
        try:
            return shlex.split(line, comments=True)
        except ValueError as error:
            raise self.fault(f"a quotation without its end ({error})") from None

    def _pair(self, word: str) -> tuple[str, Var]:
        name, equals, value = word.partition("=")
        if not equals:
            raise self.fault(f"{word[:60]!r}: after a host there are only variables, as in ansible_port=2222")
        return name, Var(_value(value), self.place())

    def _variable(self, line: str) -> None:
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            raise self.fault(f"{line[:60]!r}: write NAME=VALUE under [{self.group[:60]}:vars]")
        found = kept([(name, Var(_value(value), self.place()))], self.tree)
        self.tree.group(self.group).vars.update(found)

    def _child(self, line: str) -> None:
        words = self._words(line)
        if len(words) > 1:
            raise self.fault(f"{line[:60]!r}: a child is the name of one group")
        if words:
            self.tree.group(self.group).children.setdefault(words[0], self.place())


def _value(text: str) -> str:
    """A value without the quotes and the comment that Python, which Ansible asks, would not see."""
    literal = _LITERAL.fullmatch(text)
    if literal is None:
        return text
    value = literal[1]
    return str(literal_eval(value)) if value[0] in "'\"" else value
