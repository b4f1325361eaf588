"""The recorded outputs under tests/fixtures/windows with their expectations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from hostcfg.platforms.windows.outputs import PARSERS

if TYPE_CHECKING:
    from hostcfg.model import Parsed
    from hostcfg.platforms.base import Parser

FOLDER = Path(__file__).parents[1] / "fixtures" / "windows"
KINDS = {
    "tcp_show_global": "netsh-tcp-global",
    "tcp_show_supplemental": "netsh-tcp-supplemental",
    "tcp_show_heuristics": "netsh-tcp-heuristics",
    "tcp_show_chimneystats": "netsh-chimneystats",
    "ipv4_show_dynamicport": "netsh-dynamicport",
    "ipv4_show_subinterfaces": "netsh-subinterfaces",
    "ipv6_show_subinterfaces": "netsh-subinterfaces",
    "ipv4_show_interfaces": "netsh-interfaces",
    "get_netoffloadglobalsetting": "get-netoffloadglobalsetting",
    "get_netoffloadglobalsetting_json": "get-netoffloadglobalsetting",
    "get_nettcpsetting": "get-nettcpsetting",
    "get_nettcpsetting_table": "get-nettcpsetting",
    "tcp_set_global": "netsh-set",
    "tcp_set_supplemental": "netsh-set",
    "ipv4_set_subinterface": "netsh-set",
    "netsh_error": "netsh-set",
    "set_nettcpsetting": "set-nettcpsetting",
}


@dataclass(frozen=True)
class Sample:
    """One recorded output: its text, the parser's kind, and the values that it holds."""

    name: str
    kind: str
    text: str
    values: dict[str, Any]

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)


@cache
def samples() -> tuple[Sample, ...]:
    """All samples of the index."""
    index = YAML(typ="safe").load((FOLDER / "index.yaml").read_text(encoding="utf-8"))
    return tuple(
        Sample(
            entry["file"],
            KINDS[entry["file"].partition("__")[0]],
            (FOLDER / entry["file"]).read_bytes().decode("utf-8"),
            entry["expect"]["values"],
        )
        for entry in index
    )


def sample(name: str) -> Sample:
    """The sample with this file name."""
    return next(s for s in samples() if s.name == name)


def parser(kind: str) -> Parser:
    """The parser of this kind."""
    return next(p for p in PARSERS if p.kind == kind)


def recognized(text: str) -> str | None:
    """The kind whose parser is surest of ``text``; None if none is."""
    best = max(PARSERS, key=lambda p: p.recognize(text))
    return best.kind if best.recognize(text) > 0 else None


def parse(text: str) -> Parsed:
    """``text`` by the parser that recognizes it."""
    kind = recognized(text)
    assert kind is not None, text[:200]
    return parser(kind).parse(text)
