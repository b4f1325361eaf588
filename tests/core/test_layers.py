"""The arrows of the import graph go one way, and the pure core touches nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "hostcfg"

ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "lean": set(),
    "model": set(),
    "settings": set(),
    "nearest": set(),
    "units": {"errors"},
    "formula": {"errors", "model", "nearest", "units"},
    "platforms": {
        "errors",
        "model",
        "settings",
        "changes",
        "nearest",
        "units",
        "transports.base",
    },
    "changes": {"errors", "model"},
    "pasted": {"errors", "model", "nearest", "platforms"},
    "profiles": {"errors", "model", "settings", "formula", "units", "nearest", "platforms", "yamltext"},
    "render": {"errors", "model", "settings", "platforms", "profiles", "units", "compare"},
    "compare": {"errors", "model", "settings", "platforms"},
    "path": {"errors", "model", "settings", "platforms", "units"},
    "audit": {"errors", "model", "platforms", "profiles", "compare", "path", "reader", "render"},
    "plan": {"errors", "model", "platforms", "changes", "settings", "plan_notes"},
    "plan_notes": {"model", "changes"},
    "snapshot": {"errors", "model"},
    "targets": {"errors", "nearest"},
}
"""First-level name -> what it may import of hostcfg beside ``lean``; who is not here may touch the world."""

WORLD = {"socket", "subprocess", "sqlite3", "paramiko", "click", "requests", "urllib", "http", "psutil"}


def modules() -> list[tuple[str, Path]]:
    return [
        (".".join(path.relative_to(PACKAGE).with_suffix("").parts), path)
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


def imports(path: Path) -> set[str]:
    """Every imported module's full name, those for type checkers apart."""
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are absolute"
            found.add(node.module)
    return found


def layer_of(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


PURE = [(name, path) for name, path in modules() if layer_of(name) in ALLOWED]


@pytest.mark.parametrize(("name", "path"), PURE, ids=[name for name, _ in PURE])
def test_pure_modules_import_only_what_is_below_them(name: str, path: Path) -> None:
    allowed = ALLOWED[layer_of(name)] | {layer_of(name), "lean"}
    for imported in imports(path):
        if imported.split(".")[0] in WORLD:
            pytest.fail(f"{name} is pure and imports {imported}")
        if imported.startswith("hostcfg."):
            below = imported.removeprefix("hostcfg.")
            assert any(below == a or below.startswith(f"{a}.") for a in allowed), f"{name} imports {imported}"


def test_every_layer_of_the_table_exists() -> None:
    present = {layer_of(name) for name, _ in modules()}
    assert set(ALLOWED) - present <= {"yamltext"}


def test_no_operating_system_is_asked_for_outside_its_folder() -> None:
    names = {"linux", "freebsd", "windows", "macos"}
    for name, path in modules():
        if name.startswith("platforms."):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                said = {s.value for s in sides if isinstance(s, ast.Constant) and isinstance(s.value, str)}
                assert not said & names, f"{path}:{node.lineno} compares with the name of an OS"


def test_only_the_command_line_knows_exit_codes() -> None:
    for name, path in modules():
        if layer_of(name) not in {"cli", "__main__"}:
            assert "sys.exit" not in path.read_text(), name
