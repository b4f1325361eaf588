"""The recorded outputs under tests/fixtures/freebsd with their expectations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from hostcfg.pasted import decode_bytes, parse_pasted
from hostcfg.platforms import freebsd, lookalikes, macos

FOLDER = Path(__file__).parents[1] / "fixtures" / "freebsd"
PARSERS = (*freebsd.PLATFORM.parsers, *macos.PLATFORM.parsers, *lookalikes.PARSERS)
NOT_PRINTED = frozenset({"absent"})


@dataclass(frozen=True)
class Sample:
    """One recorded output: its bytes, its system and what a correct parser returns."""

    name: str
    os: str
    data: bytes
    expect: dict[str, Any]

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def text(self) -> str:
        return decode_bytes(self.data)


@cache
def samples() -> tuple[Sample, ...]:
    index = YAML(typ="safe").load((FOLDER / "index.yaml").read_text(encoding="utf-8"))
    return tuple(
        Sample(e["file"], e["os"].lower(), (FOLDER / e["file"]).read_bytes(), e["expect"]) for e in index
    )


def sample(name: str) -> Sample:
    return next(found for found in samples() if found.name == name)


def document(text: str) -> dict[str, Any] | None:
    """What ``hostcfg parse`` prints of ``text``, numbers as text; None if nothing is understood."""
    parsed = parse_pasted(text, PARSERS)
    if parsed is None:
        return None
    found = {"os": parsed.os, "values": parsed.values, **parsed.extra}
    plain = as_text(found)
    assert isinstance(plain, dict)
    return plain


def as_text(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): as_text(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_text(item) for item in value]
    return None if value is None else str(value)


def differences(expected: Any, found: Any, where: str = "") -> list[str]:
    """Where ``found`` does not hold what is expected; mappings may hold more, lists may not."""
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return [f"{where}: a mapping is expected, not {found!r}"]
        return [
            text
            for key, value in expected.items()
            for text in differences(value, found.get(key, "<missing>"), f"{where}.{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [text for i, (a, b) in pairs for text in differences(a, b, f"{where}[{i}]")]
    return [] if expected == found else [f"{where}: {expected!r} is expected, not {found!r}"]
