"""The recorded outputs of iperf and what their index says of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ruamel.yaml import YAML

from hostcfg.platforms.iperf import PARSERS

if TYPE_CHECKING:
    from hostcfg.model import Json, Parsed
    from hostcfg.platforms.base import Parser

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


def entries(folder: str, prefix: str = "") -> list[dict[str, Any]]:
    """The index's entries whose files begin with ``prefix``."""
    with (FIXTURES / folder / "index.yaml").open(encoding="utf-8") as file:
        found = cast("list[dict[str, Any]]", YAML(typ="safe").load(file))
    return [entry for entry in found if str(entry["file"]).startswith(prefix)]


def text_of(folder: str, name: str) -> str:
    """The sample as a person would paste it."""
    return (FIXTURES / folder / name).read_text(encoding="utf-8")


def parser_for(text: str) -> Parser:
    """The parser that claims ``text`` with the most certainty."""
    return max(PARSERS, key=lambda parser: parser.recognize(text))


def parse(text: str) -> Parsed:
    """``text`` parsed by the parser that claims it."""
    return parser_for(text).parse(text)


def records(parsed: Parsed) -> list[dict[str, Json]]:
    """The records of a result."""
    found = parsed.values["records"]
    assert isinstance(found, list)
    return [record for record in found if isinstance(record, dict)]
