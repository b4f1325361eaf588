"""Which form an inventory has, by its content: hostcfg's YAML, Ansible's YAML, INI or JSON, a list.

A program that prints an inventory is never run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg import yamltext
from hostcfg.errors import InventoryError
from hostcfg.files import unix_lines
from hostcfg.inventory import ansible_json, ansible_yaml, native
from hostcfg.inventory.hosts import Inventory, of_native, of_tree
from hostcfg.inventory.ini import read_ini
from hostcfg.inventory.tree import Tree
from hostcfg.inventory.vars_dirs import DIRECTORIES, read_vars_dirs
from hostcfg.lean import regex
from hostcfg.nearest import did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

_YAML_SUFFIXES = (".yml", ".yaml")
_SECTION = regex(r"\[[^\]\s,]+\]\s*(?:[#;].*)?")
_YAML_LINE = regex(r"""(?:---|%YAML)(?:\s|$)|-\s|["']?[\w.@*/-]+["']?\s*:(?:\s|$)""")
_IGNORED = (".pyc", ".swp", ".bak", "~", ".md", ".txt", ".rst", ".orig", ".cfg", ".retry", ".csv", ".rpm")
"""What Ansible passes over in a directory (INVENTORY_IGNORE_EXTS), and backups."""


def load_inventory(path: Path) -> Inventory:
    """The inventory in a file, or in all files of a directory as Ansible merges them.

    InventoryError with file and line of what is wrong.
    """
    if path.is_dir():
        return _load_directory(path)
    text = _read(path)
    root = _yaml_root(text, path)
    if root is not None and native.looks_native(root) and not ansible_yaml.looks_like_groups(root):
        return of_native(native.read_native(root, str(path)), str(path))
    tree = Tree()
    _add(text, root, path, tree)
    return _of_tree(tree, path, path.absolute().parent)


def _load_directory(path: Path) -> Inventory:
    tree = Tree()
    files = [entry for entry in sorted(path.iterdir()) if _is_source(entry)]
    if not files:
        raise InventoryError("this directory holds no inventory", path=str(path))
    for file in files:
        text = _read(file)
        root = _yaml_root(text, file)
        if root is not None and native.looks_native(root) and not ansible_yaml.looks_like_groups(root):
            raise InventoryError("is an inventory of hostcfg's: name the file itself", path=str(file))
        _add(text, root, file, tree)
    return _of_tree(tree, path, path)


def _is_source(entry: Path) -> bool:
    if entry.name.startswith(".") or entry.name in DIRECTORIES or not entry.is_file():
        return False
    return not entry.name.endswith(_IGNORED)


def _of_tree(tree: Tree, path: Path, folder: Path) -> Inventory:
    read_vars_dirs(folder, tree)
    if not tree.hosts:
        raise InventoryError("has no hosts", path=str(path))
    return of_tree(tree, str(path))


def _read(path: Path) -> str:
    text = unix_lines(yamltext.read_text(str(path), ansible_yaml.DIALECT))
    if text.startswith("$ANSIBLE_VAULT;"):
        message = "is encrypted with ansible-vault: give what `ansible-inventory --list` prints, as a file"
        raise InventoryError(message, path=str(path), line=1)
    if text.startswith("#!"):
        message = f"is a program, which is not run: give what `{path} --list` prints, as a file"
        raise InventoryError(message, path=str(path), line=1)
    return text


def _yaml_root(text: str, path: Path) -> yamltext.Node | None:
    """The tree of a YAML inventory; None for Ansible's JSON and for INI."""
    if text.lstrip()[:1] == "{":
        if ansible_json.is_ansible(ansible_json.parse_json(text, str(path))):
            return None
        return yamltext.compose(text, str(path), ansible_yaml.DIALECT)
    if not _is_yaml(text, path):
        return None
    root = yamltext.compose(text, str(path), ansible_yaml.DIALECT)
    if isinstance(root.value, dict) and "plugin" in root.value and not native.looks_native(root):
        line = root.value["plugin"].line
        message = (
            f"is a configuration for one of Ansible's plugins: give what `ansible-inventory -i {path} --list`"
            " prints, as a file"
        )
        raise InventoryError(message, path=str(path), line=line)
    return root


def _is_yaml(text: str, path: Path) -> bool:
    if path.suffix in _YAML_SUFFIXES or text.lstrip()[:2] in ('["', "[]"):  # a list in JSON
        return True
    for raw in text.split("\n"):
        line = raw.strip()
        if line and line[0] not in "#;":
            return _SECTION.fullmatch(line) is None and _YAML_LINE.match(line) is not None
    return False


def _add(text: str, root: yamltext.Node | None, path: Path, tree: Tree) -> None:
    if root is not None:
        _check_groups(root, path)
        ansible_yaml.read_yaml(root, str(path), tree)
    elif text.lstrip()[:1] == "{":
        document = ansible_json.parse_json(text, str(path))
        ansible_json.read_json(document, text, str(path), tree)
    else:
        read_ini(text, str(path), tree)


def _check_groups(root: yamltext.Node, path: Path) -> None:
    """A slip in one of our own four words makes a file look like Ansible's: say so."""
    if not isinstance(root.value, dict):
        message = "an inventory has hosts: with a name for each, or groups of them"
        raise InventoryError(message, path=str(path), line=root.line)
    for name, node in root.value.items():
        near = did_you_mean(name, native.TOP)
        if "did you mean" in near and not _looks_like_group(node):
            raise InventoryError(f"unknown{near}", path=str(path), line=node.line, key=name)


def _looks_like_group(node: yamltext.Node) -> bool:
    return node.value is None or (
        isinstance(node.value, dict) and set(node.value) <= {"hosts", "children", "vars"}
    )
