"""What profiles make of YAML: no anchors and no tags, and no file that is too large for one."""

from __future__ import annotations

from hostcfg import yamltext
from hostcfg.errors import ProfileError
from hostcfg.yamltext import Dialect, Node

__all__ = ["LARGEST_FILE_BYTES", "Node", "compose", "read_text"]

LARGEST_FILE_BYTES = 128 * 1024
"""Twenty times the longest profile that comes with hostcfg."""

DIALECT = Dialect(
    error=ProfileError,
    one="a profile",
    named="profiles",
    empty="is empty; a profile begins with name, summary, when",
    largest_bytes=LARGEST_FILE_BYTES,
    no_aliases="anchors and aliases are not used in profiles; use let",
)


def read_text(path: str) -> str:
    """A profile's text; ProfileError for a file that is missing, unreadable, too large or not UTF-8."""
    return yamltext.read_text(path, DIALECT)


def compose(text: str, path: str) -> Node:
    """The tree of one YAML document; ProfileError with the line of what is wrong."""
    return yamltext.compose(text, path, DIALECT)
