"""A YAML tree -> the definitions of one profile file."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from hostcfg.errors import ProfileError, UnitError
from hostcfg.formula import FUNCTIONS
from hostcfg.lean import dataclass, regex
from hostcfg.nearest import did_you_mean
from hostcfg.platforms import all_platforms
from hostcfg.profiles.document import Node
from hostcfg.profiles.inputs import parse_input
from hostcfg.profiles.reader import Reader, at
from hostcfg.profiles.rows import read_rows
from hostcfg.profiles.structure import (
    LINK_NAMES,
    STOCK,
    Block,
    Cap,
    Expression,
    Input,
    InputType,
    Note,
    Where,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_PROFILE_KEYS = ("name", "summary", "when", "include", "inputs", "let", "caps", "settings", "notes", "os")
MOST_INPUTS = 32
_BLOCK_KEYS = ("let", "caps", "settings", "notes")
_NAME = regex(r"[a-z][a-z0-9_]{0,39}")
_PROFILE_NAME = regex(r"[a-z0-9][a-z0-9._-]{0,59}")
_RESERVED = frozenset({*LINK_NAMES, *FUNCTIONS, STOCK, "true", "false", "and", "or", "not", "if", "else"})


@dataclass(frozen=True, slots=True)
class Draft:
    """One file, read by itself: what it includes is not yet in it."""

    path: str
    name: str
    summary: str
    when: str
    include: tuple[tuple[str, Where], ...]
    inputs: Mapping[str, Input]
    common: Block
    systems: Mapping[str, Block]
    problems: tuple[ProfileError, ...]


def read_draft(root: Node, path: str, known_systems: Collection[str]) -> Draft:
    """One file's definitions; its faults are in ``problems``."""
    reader = Reader(path)
    top = Where(path, root.line, "")
    fields = reader.mapping(root, top, _PROFILE_KEYS)
    name = reader.text(fields, "name", top)
    if name and not _PROFILE_NAME.fullmatch(name):
        reader.fault(at(top, "name", fields["name"]), f"{name[:40]!r} must be of a-z, 0-9 and dashes")
    systems: dict[str, Block] = {}
    for os, node in reader.mapping(fields.get("os"), _below(top, "os", fields)).items():
        where = at(_below(top, "os", fields), os, node)
        if os not in known_systems:
            reader.fault(where, f"unknown operating system {os[:40]!r}{_system_hint(os)}")
            continue
        systems[os] = _read_block(reader, reader.mapping(node, where, _BLOCK_KEYS), where, native=True)
    return Draft(
        path=path,
        name=name,
        summary=reader.text(fields, "summary", top),
        when=reader.text(fields, "when", top),
        include=_read_include(reader, fields, top),
        inputs=_read_inputs(reader, fields, top),
        common=_read_block(reader, fields, top, native=False),
        systems=systems,
        problems=tuple(reader.problems),
    )


def _system_hint(os: str) -> str:
    """The nearest system; importing them all is for this error only."""
    return did_you_mean(os, [platform.name for platform in all_platforms()])


def _below(where: Where, key: str, fields: Mapping[str, Node]) -> Where:
    return at(where, key, fields[key]) if key in fields else where


def _read_include(reader: Reader, fields: Mapping[str, Node], top: Where) -> tuple[tuple[str, Where], ...]:
    node = fields.get("include")
    if node is None:
        return ()
    where = at(top, "include", node)
    items = node.value if isinstance(node.value, list) else [node]
    found = []
    for item in items:
        if isinstance(item.value, str) and item.value.strip():
            found.append((item.value.strip(), where))
        else:
            reader.fault(where, "must be the name or path of a profile, or a list of them")
    return tuple(found)


def _read_block(reader: Reader, fields: Mapping[str, Node], where: Where, *, native: bool) -> Block:
    let: dict[str, Expression] = {}
    let_where = _below(where, "let", fields)
    for name, node in reader.mapping(fields.get("let"), let_where).items():
        place = at(let_where, name, node)
        expression = reader.expression(node, place)
        if _name_is_free(reader, name, place) and expression is not None:
            let[name] = expression
    return Block(
        let=let,
        caps=_read_caps(reader, fields, where),
        rows=read_rows(reader, fields.get("settings"), _below(where, "settings", fields), native=native),
        notes=_read_notes(reader, fields, where),
    )


def _name_is_free(reader: Reader, name: str, where: Where) -> bool:
    if not _NAME.fullmatch(name):
        reader.fault(where, f"{name[:40]!r} must be of a-z, 0-9 and _")
        return False
    if name in _RESERVED:
        reader.fault(where, f"{name!r} already means something in formulas; choose another name")
        return False
    return True


def _read_caps(reader: Reader, fields: Mapping[str, Node], where: Where) -> dict[str, Cap]:
    caps: dict[str, Cap] = {}
    caps_where = _below(where, "caps", fields)
    for name, node in reader.mapping(fields.get("caps"), caps_where).items():
        place = at(caps_where, name, node)
        parts = reader.mapping(node, place, ("value", "reason"))
        value = reader.expression(parts.get("value"), _below(place, "value", parts))
        reason = reader.template(parts, "reason", place)
        if "value" not in parts:
            reader.fault(place, "value is missing")
        if value is not None and reason is not None:
            caps[name] = Cap(value, reason)
    return caps


def _read_notes(reader: Reader, fields: Mapping[str, Node], where: Where) -> tuple[Note, ...]:
    node = fields.get("notes")
    if node is None:
        return ()
    place = at(where, "notes", node)
    if not isinstance(node.value, list):
        reader.fault(place, "must be a list of `- text: ...`")
        return ()
    notes = []
    for number, item in enumerate(node.value, start=1):
        item_where = Where(place.path, item.line, f"{place.key}[{number}]")
        parts = reader.mapping(item, item_where, ("text", "when"))
        text = reader.template(parts, "text", item_where)
        when = reader.expression(parts.get("when"), _below(item_where, "when", parts))
        if text is not None:
            notes.append(Note(text, when))
    return tuple(notes)


def _read_inputs(reader: Reader, fields: Mapping[str, Node], top: Where) -> dict[str, Input]:
    inputs: dict[str, Input] = {}
    inputs_where = _below(top, "inputs", fields)
    nodes = reader.mapping(fields.get("inputs"), inputs_where)
    if len(nodes) > MOST_INPUTS:
        reader.fault(inputs_where, f"more than {MOST_INPUTS} inputs; nobody will give them all")
        return inputs
    for name, node in nodes.items():
        place = at(inputs_where, name, node)
        found = _read_input(reader, name, node, place)
        if _name_is_free(reader, name, place) and found is not None:
            inputs[name] = found
    return inputs


def _read_input(reader: Reader, name: str, node: Node, where: Where) -> Input | None:
    parts = reader.mapping(node, where, ("type", "default", "min", "max", "choices", "meaning"))
    word = reader.text(parts, "type", where)
    kind = next((known for known in get_args(InputType) if known == word), None)
    meaning = reader.text(parts, "meaning", where)
    if kind is None:
        if "type" in parts:
            message = f"must be one of {', '.join(get_args(InputType))}"
            reader.fault(at(where, "type", parts["type"]), message)
        return None
    choices = _read_choices(reader, kind, parts, where)
    bare = Input(name, kind, meaning, where, choices=choices)
    numbers = {}
    for key in ("default", "min", "max"):
        if key in parts:
            try:
                numbers[key] = parse_input(bare, _scalar_text(parts[key]))
            except UnitError as error:
                reader.fault(at(where, key, parts[key]), error.message)
    low, high, default = numbers.get("min"), numbers.get("max"), numbers.get("default")
    if isinstance(low, str) or isinstance(high, str):
        reader.fault(where, "a choice has no min and max")
        return None
    found = Input(name, kind, meaning, where, default, low, high, choices)
    if default is not None:
        try:
            parse_input(found, _scalar_text(parts["default"]))
        except UnitError as error:
            reader.fault(at(where, "default", parts["default"]), error.message)
    return found


def _read_choices(
    reader: Reader, kind: InputType, parts: Mapping[str, Node], where: Where
) -> tuple[str, ...]:
    node = parts.get("choices")
    words = (
        [i.value for i in node.value if isinstance(i, Node)] if node and isinstance(node.value, list) else []
    )
    choices = tuple(word for word in words if isinstance(word, str))
    if (kind == "choice") != bool(choices) or len(choices) != len(words):
        reader.fault(where, "an input of type choice has choices, a list of words, and no other has them")
    return choices


def _scalar_text(node: Node) -> str:
    return str(node.value) if isinstance(node.value, (str, int, float)) else ""
