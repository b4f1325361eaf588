"""YAML read by libyaml and by ruamel.yaml's own parser: the same trees, and no text that ends the process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hostcfg import yamltext
from hostcfg.errors import InventoryError, ProfileError
from hostcfg.inventory.ansible_yaml import DIALECT as INVENTORY
from hostcfg.profiles.document import DIALECT as PROFILE

if TYPE_CHECKING:
    from hostcfg.yamltext import Dialect

ROOT = Path(__file__).resolve().parents[2]
FILES = [*(ROOT / "profiles").glob("*.yaml"), *(ROOT / "tests/fixtures").rglob("*.y*ml")]
LONG_COMMENT = "\n# " + "x" * 1001 + "\n"
"""A line that only the slower parser gets to see."""


def test_libyaml_is_here() -> None:
    from ruamel.yaml import YAML

    assert YAML(typ="safe").Parser is not YAML(typ="safe", pure=True).Parser


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_both_parsers_make_the_same_of_a_file(path: Path) -> None:
    text = path.read_text()
    dialect = PROFILE if path.parent.name == "profiles" else INVENTORY
    assert _tree(text, dialect) == _tree(text + LONG_COMMENT, dialect)


def _tree(text: str, dialect: Dialect) -> object:
    try:
        return yamltext.compose(text, "f", dialect)
    except (InventoryError, ProfileError) as error:
        return error.line


@pytest.mark.parametrize(
    "text",
    [
        "[" * 600 + "]" * 600,
        "[" * 1100,
        "{a: " * 1000,
        "- " * 100_000,
        "- " * 499,
        "".join(" " * depth + "a:\n" for depth in range(990)),
        "".join(" " * depth + "- -\n" for depth in range(990)),
        "".join(" " * depth + "a:\n" + " " * depth + "-\n" for depth in range(990)),
    ],
    ids=[
        "brackets",
        "many brackets",
        "braces",
        "dashes",
        "a line of dashes",
        "keys",
        "lists",
        "lists in keys",
    ],
)
def test_depth_is_a_fault_or_a_tree(text: str) -> None:
    for dialect in (PROFILE, INVENTORY):
        assert "nested too deeply" in (fault := _fault(text, dialect)) or "no YAML" in fault or not fault


def _fault(text: str, dialect: Dialect) -> str:
    try:
        yamltext.compose(text, "f", dialect)
    except (InventoryError, ProfileError) as error:
        return str(error)
    return ""


def test_an_alias_is_the_same_node_again() -> None:
    found = yamltext.compose("a: &x {k: 1}\nb: *x\nc: {<<: *x, l: 2}\n", "f", INVENTORY)
    assert isinstance(found.value, dict)
    assert found.value["b"].value is found.value["a"].value
    merged = found.value["c"].value
    assert isinstance(merged, dict)
    assert {name: node.value for name, node in merged.items()} == {"k": 1, "l": 2}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: &x [*x]\n", "f:1: an alias within what it stands for"),
        ("a: &k b\n*k : 2\n", "f:1: a key is a plain word"),
        (
            "a0: &a0 [" + "x," * 50 + "]\n"
            + "".join(f"a{n}: &a{n} [" + f"*a{n - 1}," * 50 + "]\n" for n in range(1, 6)),
            "its aliases stand for more than anyone can have meant",
        ),
    ],
)  # fmt: skip
def test_aliases_that_no_one_meant(text: str, fault: str) -> None:
    for variant in (text, text + LONG_COMMENT):
        with pytest.raises(InventoryError) as caught:
            yamltext.compose(variant, "f", INVENTORY)
        assert fault in str(caught.value)
    with pytest.raises(ProfileError, match="anchors and aliases are not used in profiles"):
        yamltext.compose(text, "f", PROFILE)
