"""The ``settings`` of a profile: rule, value, reason and source of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from hostcfg.model import Rule
from hostcfg.nearest import did_you_mean, nearest
from hostcfg.profiles.reader import at
from hostcfg.profiles.structure import Expression, Row, Where
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostcfg.model import Value
    from hostcfg.profiles.document import Node
    from hostcfg.profiles.reader import Reader
    from hostcfg.settings import Setting

_ROW_KEYS = ("rule", "value", "formula", "reason", "source", "when", "cap")
_RULES: tuple[str, ...] = get_args(Rule)


def read_rows(reader: Reader, node: Node | None, where: Where, *, native: bool) -> dict[str, tuple[Row, ...]]:
    """Rows by setting; a list gives alternatives, and ``null`` in an OS's block takes a row away."""
    found: dict[str, tuple[Row, ...]] = {}
    for name, item in reader.mapping(node, where).items():
        place = at(where, name, item)
        if not _is_known(reader, name, place, native=native):
            continue
        if item.value is None:
            if native:
                found[name] = ()
            else:
                reader.fault(place, "is empty; only an os block can take a row away")
            continue
        items = item.value if isinstance(item.value, list) else [item]
        rows = [_read_row(reader, name, alternative, place) for alternative in items]
        found[name] = tuple(row for row in rows if row is not None)
    return found


def _is_known(reader: Reader, name: str, where: Where, *, native: bool) -> bool:
    if name in SETTINGS:
        return True
    looks_native = "." in name or "/" in name
    if looks_native and native:
        return True
    if looks_native:
        reader.fault(where, f"{name[:60]!r} is a native key; it belongs into the block of its os")
    else:
        reader.fault(where, f"unknown setting {name[:60]!r}{did_you_mean(name, SETTINGS)}")
    return False


def _read_row(reader: Reader, name: str, node: Node, where: Where) -> Row | None:
    place = Where(where.path, node.line, where.key)
    fields = reader.mapping(node, place, _ROW_KEYS)
    rule = _read_rule(reader, fields, place)
    reason = reader.template(fields, "reason", place)
    source = reader.text(fields, "source", place)
    when = reader.expression(fields["when"], at(place, "when", fields["when"])) if "when" in fields else None
    value = None if rule is None else _read_value(reader, SETTINGS.get(name), rule, fields, place)
    if rule is None or reason is None or value is None:
        return None
    return Row(
        setting=name,
        native=name not in SETTINGS,
        rule=rule,
        value=value,
        reason=reason,
        source=source,
        where=place,
        when=when,
        caps=_read_cap_names(reader, fields, place),
    )


def _read_rule(reader: Reader, fields: Mapping[str, Node], where: Where) -> Rule | None:
    text = reader.text(fields, "rule", where)
    rule: Rule | None = next((r for r in get_args(Rule) if r == text), None)
    if rule is None and text:
        place = at(where, "rule", fields["rule"])
        reader.fault(place, f"unknown rule {text[:40]!r}; rules are {', '.join(_RULES)}")
    return rule


def _read_cap_names(reader: Reader, fields: Mapping[str, Node], where: Where) -> tuple[str, ...]:
    node = fields.get("cap")
    if node is None:
        return ()
    items = [item.value for item in node.value] if isinstance(node.value, list) else [node.value]
    names = tuple(item for item in items if isinstance(item, str))
    if len(names) != len(items):
        reader.fault(at(where, "cap", node), "must be the name of a cap, or a list of them")
    return names


def _read_value(
    reader: Reader, setting: Setting | None, rule: Rule, fields: Mapping[str, Node], where: Where
) -> Expression | Value | None:
    given = [key for key in ("value", "formula") if key in fields]
    if len(given) != 1:
        reader.fault(where, "needs one of value and formula")
        return None
    node, place = fields[given[0]], at(where, given[0], fields[given[0]])
    if rule == "one_of":
        return _read_choices(reader, setting, node, place)
    if rule in {"at_least", "at_most"} and setting is not None and setting.type != "int":
        reader.fault(at(where, "rule", fields["rule"]), f"{rule} needs a number, and this setting is none")
        return None
    is_word = setting is not None and setting.type in {"text", "texts"}
    if given[0] == "value" and isinstance(node.value, str) and (is_word or setting is None):
        return _read_word(reader, setting, node.value, place)
    if setting is not None and setting.type == "flag" and given[0] == "value":
        return reader.flag(node, place)
    return reader.expression(node, place)


def _read_choices(
    reader: Reader, setting: Setting | None, node: Node, where: Where
) -> tuple[int, ...] | tuple[str, ...] | None:
    items = [item.value for item in node.value] if isinstance(node.value, list) else []
    words = tuple(item for item in items if isinstance(item, str))
    numbers = tuple(item for item in items if isinstance(item, int) and not isinstance(item, bool))
    if not items or len(items) not in {len(words), len(numbers)}:
        reader.fault(where, "one_of needs a list of words, or of numbers, the preferred one first")
        return None
    if numbers:
        return numbers
    checked = [_read_word(reader, setting, word, where) for word in words]
    return words if None not in checked else None


def _read_word(reader: Reader, setting: Setting | None, word: str, where: Where) -> str | None:
    choices = setting.choices if setting is not None else ()
    if choices and word not in choices:
        close = nearest(word, choices)
        hint = "" if close is None else f"; did you mean {close!r}?"
        reader.fault(where, f"{word[:40]!r} is none of {', '.join(choices)}{hint}")
        return None
    if not word.strip() or not word.isprintable() or len(word) > 200:
        reader.fault(where, "must be one line of printable text")
        return None
    return word
