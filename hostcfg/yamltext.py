"""YAML text -> a tree that knows its lines, for files that people write: profiles and inventories.

ruamel.yaml composes, with libyaml where that is there and safe.  Duplicate keys are refused, since
YAML readers differ on which one wins; so are other tags than YAML's own, but for dialects that have
them.  Aliases are taken only where a dialect wants them, and the tree that they stand for is bounded:
no text grows much when it is read.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostcfg.files import INHERITED
from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from hostcfg.errors import InputError
    from hostcfg.model import Scalar

_CORE_TAG = "tag:yaml.org,2002:"
_LONGEST_NUMBER = 24
_MOST_BRACKETS, _LONGEST_LINE = 1000, 1000
_LARGEST_TREE = 2_000_000
"""Nodes that all aliases of a file may stand for, each as often as it is used."""


@dataclass(frozen=True, slots=True)
class Node:
    """One YAML value: a scalar, a list of nodes or nodes by key; ``line`` counts from 1.

    ``text`` is a scalar as it was written (``yes``, ``0644``), ``tag`` a tag that is none of YAML's own
    (``!vault``); None for everything else.
    """

    value: Scalar | list[Node] | dict[str, Node] | None
    line: int
    text: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one kind of file makes of YAML; ``one`` and ``named`` as in "a profile" and "profiles"."""

    error: type[InputError]
    one: str
    named: str
    empty: str
    largest_bytes: int
    aliases: bool = False
    no_aliases: str = ""
    any_tag: bool = False  # made for another program, which has tags and numbers of its own


def read_text(path: str, dialect: Dialect) -> str:
    """A file's text; the dialect's error for one that is missing, unreadable, too large or not UTF-8."""
    error = dialect.error
    try:
        if not Path(path).is_file() and not path.startswith(INHERITED):
            raise error("is no file" if Path(path).exists() else "there is no such file", path=path)
        with Path(path).open("rb") as file:
            data = file.read(dialect.largest_bytes + 1)
    except OSError as fault:
        raise error(f"can't be read: {fault.strerror}", path=path) from fault
    except ValueError as fault:  # a NUL in the name
        raise error(f"is no path: {fault}", path=repr(path)) from fault
    if len(data) > dialect.largest_bytes:
        kib = dialect.largest_bytes // 1024
        raise error(f"is larger than {kib} KiB; is it {dialect.one}?", path=path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise error("is not UTF-8; save it as UTF-8", path=path, line=line) from fault


def _root(text: str, *, in_c: bool) -> Any:
    """The root of the tree that ruamel.yaml composes."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError

    if in_c:
        with suppress(MarkedYAMLError):  # of YAML 1.2 libyaml refuses some: {address: file:far.txt}
            return YAML(typ="safe", pure=False).compose(text)
    return YAML(typ="safe", pure=True).compose(text)


def compose(text: str, path: str, dialect: Dialect) -> Node:
    """The tree of one YAML document; the dialect's error with the line of what is wrong."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        # libyaml keeps no anchors
        root = _root(text, in_c=_is_shallow(text) and (dialect.aliases or "&" not in text))
        if root is None:
            raise dialect.error(dialect.empty, path=path, line=1)
        return _Reader(path, dialect).node(root)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        raise dialect.error(_yaml_message(text, line, error.problem), path=path, line=line) from error
    except YAMLError as error:
        message = f"is no YAML: {' '.join(str(error).split())[:120]}"
        raise dialect.error(message, path=path) from error
    except RecursionError as error:
        raise dialect.error("is nested too deeply", path=path) from error


def _is_shallow(text: str) -> bool:
    """Whether libyaml can read it: it recurses on the C stack, which 30,000 levels overflow.

    A level takes a bracket, or a column of the line that it begins in; a list may share its key's column.
    """
    brackets = text.count("[") + text.count("{")
    return brackets <= _MOST_BRACKETS and max(map(len, text.splitlines()), default=0) <= _LONGEST_LINE


def _yaml_message(text: str, line: int | None, problem: str | None) -> str:
    """The fault in the user's words: a tab is the usual one, and YAML's own message hides it."""
    lines = text.splitlines()
    if line is not None and 0 < line <= len(lines):
        written = lines[line - 1]
        if "\t" in written[: len(written) - len(written.lstrip())]:
            return "a tab in the indentation; YAML takes blanks only"
    return f"is no YAML: {problem or 'unreadable'}"


class _Reader:
    """ruamel's nodes as ours; what an alias stands for is the same node again, read once and shared."""

    def __init__(self, path: str, dialect: Dialect) -> None:
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        self._mapping_type, self._sequence_type = MappingNode, SequenceNode
        self.path = path
        self.dialect = dialect
        self._known: dict[int, tuple[Node, int]] = {}
        self._open: set[int] = set()
        self._size = 0

    def fault(self, message: str, line: int, key: str | None = None) -> InputError:
        return self.dialect.error(message, path=self.path, line=line, key=key)

    def node(self, node: Any) -> Node:
        self._size += 1
        line = node.start_mark.line + 1
        if id(node) in self._open:
            raise self.fault("an alias within what it stands for", line)
        known = self._known.get(id(node))
        if node.anchor is not None and not self.dialect.aliases:
            raise self.fault(self.dialect.no_aliases, line)
        if known is not None:
            found, size = known
            self._size += size
        else:
            self._open.add(id(node))
            before = self._size
            found = self._plain(node)
            self._open.discard(id(node))
            self._known[id(node)] = found, self._size - before
        if self._size > _LARGEST_TREE:
            raise self.fault("its aliases stand for more than anyone can have meant", line)
        return found

    def _plain(self, node: Any) -> Node:
        line = node.start_mark.line + 1
        tag = str(node.tag)
        own = None if tag.startswith(_CORE_TAG) else tag
        if own is not None and not self.dialect.any_tag:
            raise self._unknown_tag(tag, line)
        if isinstance(node, self._mapping_type):
            return Node(self._mapping(node), line, tag=own)
        if isinstance(node, self._sequence_type):
            return Node([self.node(item) for item in node.value], line, tag=own)
        if own is not None:
            return Node(node.value, line, node.value, own)
        return Node(self._scalar(tag, node.value, line), line, node.value)

    def _unknown_tag(self, tag: str, line: int) -> InputError:
        return self.fault(f"the tag {tag[:40]!r} is not used in {self.dialect.named}", line)

    def _mapping(self, node: Any) -> dict[str, Node]:
        found: dict[str, Node] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value
            if key == "<<" and self.dialect.aliases:
                merged.append(self.node(value_node))
                continue
            if not isinstance(key, str) or key == "<<" or id(key_node) in self._known:
                raise self.fault("a key is a plain word", line)
            if key in found:
                raise self.fault(f"given twice; first in line {found[key].line}", line, key)
            value = self.node(value_node)
            # the key's line: a value may begin further down
            found[key] = Node(value.value, line, value.text, value.tag)
        for base in merged:
            self._merge(found, base)
        return found

    def _merge(self, found: dict[str, Node], base: Node) -> None:
        """YAML's merge key: what is there already wins, and an earlier one over a later one."""
        for one in base.value if isinstance(base.value, list) else [base]:
            if not isinstance(one.value, dict):
                raise self.fault("<< takes a mapping", one.line)
            for key, value in one.value.items():
                found.setdefault(key, value)

    def _scalar(self, tag: str, text: str, line: int) -> Scalar | None:
        kind = tag.removeprefix(_CORE_TAG)
        try:
            if kind in {"int", "float"} and len(text) > _LONGEST_NUMBER:
                raise ValueError(text)
            if kind == "int":
                return int(text, 0) if text[:2].lower() in {"0x", "0o"} else int(text)
            if kind == "float":
                return float(text.replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError as error:
            if self.dialect.any_tag:
                return text  # a file of another program's: most of its values are none of our business
            raise self.fault(f"{text[:40]!r} is no number", line) from error
        if kind == "bool":
            return text.lower() == "true"
        if kind == "null":
            return None
        if kind in {"str", "timestamp"}:
            return text
        raise self._unknown_tag(tag, line)
