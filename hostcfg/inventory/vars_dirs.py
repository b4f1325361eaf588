"""group_vars and host_vars beside an Ansible inventory.

``group_vars/web.yml``, ``group_vars/web`` or a directory ``group_vars/web/`` of such files, in YAML or
JSON; a file that is encrypted as a whole is noted and left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg import yamltext
from hostcfg.errors import InventoryError
from hostcfg.inventory.ansible_yaml import DIALECT, vars_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from hostcfg.inventory.tree import Tree, Var

DIRECTORIES = ("group_vars", "host_vars")
_SUFFIXES = ("", ".yml", ".yaml", ".json")
_MOST_FILES = 10_000


def read_vars_dirs(folder: Path, tree: Tree) -> None:
    """Add what the directories in ``folder`` say of groups and hosts of ``tree``."""
    tree.group_files.update(_read(folder / "group_vars", {"all", "ungrouped", *tree.groups}, tree))
    tree.host_files.update(_read(folder / "host_vars", tree.hosts.keys(), tree))


def _read(directory: Path, names: Collection[str], tree: Tree) -> dict[str, dict[str, Var]]:
    """Variables by group or host; what belongs to no name of the inventory is not even opened."""
    found: dict[str, dict[str, Var]] = {}
    for name, path in _entries(directory):
        if name in names:
            for file in _files(path):
                found.setdefault(name, {}).update(_variables(file, tree))
    return found


def _entries(directory: Path) -> Iterator[tuple[str, Path]]:
    """Name and path of each entry, sorted: a host's name has dots, so only known suffixes are cut."""
    for path in _listed(directory):
        suffix = path.suffix if path.is_file() and path.suffix in _SUFFIXES else ""
        yield path.name.removesuffix(suffix), path


def _listed(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    try:
        entries = [path for path in directory.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise InventoryError(f"can't be listed: {error.strerror}", path=str(directory)) from None
    if len(entries) > _MOST_FILES:
        raise InventoryError(f"has more than {_MOST_FILES} files", path=str(directory))
    return sorted(path for path in entries if not path.name.endswith(("~", ".bak", ".swp", ".retry")))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for entry in _listed(path) for file in _files(entry)]
    return [path] if path.suffix in _SUFFIXES or "." not in path.name or path.is_file() else []


def _variables(path: Path, tree: Tree) -> dict[str, Var]:
    text = yamltext.read_text(str(path), DIALECT)
    if text.startswith("$ANSIBLE_VAULT;"):
        tree.note(f"{path} is encrypted with ansible-vault, so what it says is not known")
        return {}
    if not any(line and not line.startswith(("#", "---")) for line in text.split("\n")):
        return {}
    return vars_of(yamltext.compose(text, str(path), DIALECT), str(path), tree)
