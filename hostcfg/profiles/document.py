"""YAML text -> a tree that knows its lines.

ruamel.yaml composes; what profiles have no use for is refused: duplicate keys, anchors and aliases
(so no text grows when read), tags, keys that are no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostcfg.errors import ProfileError

if TYPE_CHECKING:
    from hostcfg.model import Scalar

LARGEST_FILE_BYTES = 128 * 1024
"""Twenty times the longest profile that comes with hostcfg."""

_CORE_TAG = "tag:yaml.org,2002:"
_LONGEST_NUMBER = 24


@dataclass(frozen=True, slots=True)
class Node:
    """One YAML value: a scalar, a list of nodes or nodes by key; ``line`` counts from 1."""

    value: Scalar | list[Node] | dict[str, Node] | None
    line: int


def read_text(path: str) -> str:
    """A profile's text; ProfileError for a file that is missing, unreadable, too large or not UTF-8."""
    try:
        if not Path(path).is_file():
            raise ProfileError("is no file" if Path(path).exists() else "there is no such file", path=path)
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise ProfileError(f"can't be read: {error.strerror}", path=path) from error
    if len(data) > LARGEST_FILE_BYTES:
        raise ProfileError(f"is larger than {LARGEST_FILE_BYTES // 1024} KiB; is it a profile?", path=path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ProfileError("is not UTF-8; save it as UTF-8", path=path, line=line) from error


def compose(text: str, path: str) -> Node:
    """The tree of one YAML document; ProfileError with the line of what is wrong."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        root = YAML(typ="safe", pure=True).compose(text)
        if root is None:
            raise ProfileError("is empty; a profile begins with name, summary, when", path=path, line=1)
        return _node(root, path)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        raise ProfileError(_yaml_message(text, line, error.problem), path=path, line=line) from error
    except YAMLError as error:
        raise ProfileError(f"is no YAML: {' '.join(str(error).split())[:120]}", path=path) from error
    except RecursionError as error:
        raise ProfileError("is nested too deeply", path=path) from error


def _yaml_message(text: str, line: int | None, problem: str | None) -> str:
    """The fault in the user's words: a tab is the usual one, and YAML's own message hides it."""
    lines = text.splitlines()
    if line is not None and 0 < line <= len(lines):
        written = lines[line - 1]
        if "\t" in written[: len(written) - len(written.lstrip())]:
            return "a tab in the indentation; YAML takes blanks only"
    return f"is no YAML: {problem or 'unreadable'}"


def _node(node: Any, path: str) -> Node:
    """A ruamel node as ours, without anchors, tags and duplicates."""
    from ruamel.yaml.nodes import MappingNode, SequenceNode

    line = node.start_mark.line + 1
    if node.anchor is not None:
        raise ProfileError("anchors and aliases are not used in profiles; use let", path=path, line=line)
    if isinstance(node, (MappingNode, SequenceNode)) and not str(node.tag).startswith(_CORE_TAG):
        raise ProfileError(f"the tag {str(node.tag)[:40]!r} is not used in profiles", path=path, line=line)
    if isinstance(node, MappingNode):
        return Node(_mapping(node, path), line)
    if isinstance(node, SequenceNode):
        return Node([_node(item, path) for item in node.value], line)
    return Node(_scalar(str(node.tag), node.value, path, line), line)


def _mapping(node: Any, path: str) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = key_node.value
        if not isinstance(key, str) or key == "<<" or key_node.anchor is not None:
            raise ProfileError("a key is a plain word", path=path, line=line)
        if key in found:
            raise ProfileError(f"given twice; first in line {found[key].line}", path=path, line=line, key=key)
        value = _node(value_node, path)
        found[key] = Node(value.value, line)  # the key's line: a value may begin further down
    return found


def _scalar(tag: str, text: str, path: str, line: int) -> Scalar | None:
    kind = tag.removeprefix(_CORE_TAG)
    try:
        if kind in {"int", "float"} and len(text) > _LONGEST_NUMBER:
            raise ValueError(text)
        if kind == "int":
            return int(text, 0) if text[:2].lower() in {"0x", "0o"} else int(text)
        if kind == "float":
            return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError as error:
        raise ProfileError(f"{text[:40]!r} is no number", path=path, line=line) from error
    if kind == "bool":
        return text.lower() == "true"
    if kind == "null":
        return None
    if kind in {"str", "timestamp"}:
        return text
    raise ProfileError(f"the tag {tag[:40]!r} is not used in profiles", path=path, line=line)
