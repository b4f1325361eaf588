"""Takes a profile's nodes apart and collects what is wrong with them, by file, line and key.

msgspec was tried for this and left: it stops at the first fault and knows no lines, while
``profiles check`` lists them all.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hostcfg.errors import ProfileError
from hostcfg.lean import dataclass
from hostcfg.nearest import did_you_mean
from hostcfg.profiles.structure import Expression, Template, Where

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hostcfg.profiles.document import Node


FLAG_WORDS = {"on": True, "off": False, "true": True, "false": False}
"""What a flag may be called; YAML 1.2 leaves ``on`` and ``off`` texts."""
FLAG_FORMS = "on, off, true or false"


@dataclass(slots=True)
class Reader:
    """Takes nodes apart; faults are collected, and what is faulty is left out."""

    path: str
    problems: list[ProfileError] = field(default_factory=list)

    def fault(self, where: Where, message: str) -> None:
        """Note one fault."""
        self.problems.append(where.error(message))

    def mapping(self, node: Node | None, where: Where, allowed: Collection[str] = ()) -> dict[str, Node]:
        """The keys of a mapping; none if there is no node, or if it is something else."""
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            self.fault(where, "must hold `key: value` lines")
            return {}
        known = dict(node.value)
        for key in [key for key in known if allowed and key not in allowed]:
            unknown = known.pop(key)
            place = at(where, key, unknown)
            self.fault(place, f"unknown key {key[:40]!r}{did_you_mean(key, allowed)}")
        return known

    def text(self, fields: Mapping[str, Node], key: str, where: Where, *, required: bool = True) -> str:
        """A text of one line; empty, with a fault, where it is required and missing."""
        node = fields.get(key)
        if node is None:
            if required:
                self.fault(where, f"{key} is missing")
            return ""
        if not isinstance(node.value, str) or not node.value.strip():
            self.fault(at(where, key, node), "must be a text")
            return ""
        return " ".join(node.value.split())

    def flag(self, node: Node, where: Where) -> Expression | None:
        """A flag, in the words of YAML and of hostcfg's own outputs (``on``); anything else is a formula."""
        word = node.value.strip().lower() if isinstance(node.value, str) else None
        if word in FLAG_WORDS:
            return Expression("true" if FLAG_WORDS[word] else "false", where)
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            self.fault(where, f"{node.value!r} is no flag: write {FLAG_FORMS}")
            return None
        return self.expression(node, where)

    def expression(self, node: Node | None, where: Where) -> Expression | None:
        """A formula, checked for its form; numbers and flags are formulas too."""
        if node is None:
            return None
        value = node.value
        if isinstance(value, bool):
            return Expression("true" if value else "false", where)
        if not isinstance(value, (str, int, float)):
            self.fault(where, "must be a formula, a number or a size")
            return None
        expression = Expression(str(value), where)
        try:
            expression.formula  # noqa: B018  # raises where the form is wrong
        except ProfileError as error:
            self.problems.append(error)
            return None
        return expression

    def template(self, fields: Mapping[str, Node], key: str, where: Where) -> Template | None:
        """A sentence, its formulas checked for their form."""
        text = self.text(fields, key, where)
        if not text:
            return None
        template = Template(text, at(where, key, fields[key]))
        try:
            for expression in template.expressions():
                expression.formula  # noqa: B018  # raises where the form is wrong
        except ProfileError as error:
            self.problems.append(error)
            return None
        return template


def at(where: Where, key: str, node: Node) -> Where:
    """The place of ``key``, whose value is ``node``, under ``where``."""
    return Where(where.path, node.line, f"{where.key}.{key}" if where.key else key)
