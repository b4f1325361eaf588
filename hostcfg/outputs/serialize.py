"""Documents to JSON or YAML text."""

from __future__ import annotations

import json
from itertools import islice, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostcfg.model import Json

_PIECES = 1024  # of a hundred characters each


def to_json(document: Json, *, indent: int | None = 2) -> str:
    """One JSON document, keys in the contract's order; ``indent`` None for one document a line."""
    return "".join(json_parts(document, indent=indent))


def json_parts(document: Json, *, indent: int | None = 2) -> Iterator[str]:
    """The same text in parts of some 100 KB: put together at once it takes ten times its size.

    What holds no other list or object stands on a line of its own: rows can be read, and encoded in C.
    """
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    pieces = iter([encode(document)]) if indent is None else _rows(document, encode, "\n", " " * indent)
    while part := "".join(islice(pieces, _PIECES)):
        # half a surrogate pair, from a snapshot or a name of other bytes, as JSON's own escape
        yield part.encode(errors="backslashreplace").decode()
    yield "\n"


def _rows(value: Json, encode: Callable[[object], str], line: str, indent: str) -> Iterator[str]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(item, (dict, list)) and item for item in inner):
        yield encode(value)
        return
    below = line + indent
    before = ("{" if isinstance(value, dict) else "[") + below
    names = [f"{encode(name)}: " for name in value] if isinstance(value, dict) else repeat("")
    for name, item in zip(names, inner, strict=False):  # repeat never ends
        yield before + name
        yield from _rows(item, encode, below, indent)
        before = "," + below
    yield line + ("}" if isinstance(value, dict) else "]")


def to_yaml(document: Json) -> str:
    """The same document as YAML 1.2."""
    from io import StringIO

    from ruamel.yaml import YAML

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # typed as None
    yaml.allow_unicode = True
    yaml.width = 100
    stream = StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()
