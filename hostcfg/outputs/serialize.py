"""Documents to JSON or YAML text."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostcfg.model import Json

_PIECES = 8192  # of a dozen characters each


def to_json(document: Json, *, indent: int | None = 2) -> str:
    """One JSON document, keys in the contract's order; ``indent`` None for one document a line."""
    return "".join(json_parts(document, indent=indent))


def json_parts(document: Json, *, indent: int | None = 2) -> Iterator[str]:
    """The same text in parts of some 100 KB: put together at once it takes ten times its size."""
    encoder = json.JSONEncoder(ensure_ascii=False, indent=indent, allow_nan=False)
    pieces = encoder.iterencode(document)
    while part := "".join(islice(pieces, _PIECES)):
        yield part
    yield "\n"


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
