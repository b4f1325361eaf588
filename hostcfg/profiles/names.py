"""The static check of a profile's names: nothing is evaluated, and every system is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.nearest import did_you_mean
from hostcfg.profiles.reader import FLAG_FORMS
from hostcfg.profiles.structure import LINK_NAMES, STOCK, Expression, row_expressions
from hostcfg.settings import SETTINGS

DEEPEST_LET = 20

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hostcfg.errors import ProfileError
    from hostcfg.profiles.structure import Block, Profile, Row


def name_problems(profile: Profile) -> list[ProfileError]:
    """Unknown names, inputs without a value, unknown caps, and let names that go in a circle."""
    found: dict[str, ProfileError] = {}
    for os in [*profile.systems, ""]:
        for problem in _block_problems(profile, profile.block(os)):
            found.setdefault(str(problem), problem)
    return list(found.values())


def _block_problems(profile: Profile, block: Block) -> Iterator[ProfileError]:
    for name, expression in block.let.items():
        if name in profile.inputs:
            yield expression.where.error(f"{name!r} is an input as well; choose another name")
        yield from _unknown(expression, profile, block)
    yield from _nesting_problems(block)
    for rows in block.rows.values():
        for row in rows:
            yield from _row_problems(row, profile, block)
    for note in block.notes:
        for expression in note.text.expressions():
            yield from _unknown(expression, profile, block, optional=True)
        if note.when is not None:
            yield from _unknown(note.when, profile, block, optional=True)


def _row_problems(row: Row, profile: Profile, block: Block) -> Iterator[ProfileError]:
    for name in row.caps:
        if name not in block.caps:
            yield row.where.error(f"unknown cap {name[:40]!r}{did_you_mean(name, block.caps)}")
    for expression in row_expressions(row, block):
        has_stock = expression is row.value and not row.native
        unknown = list(_unknown(expression, profile, block, extra={STOCK} if has_stock else set()))
        if unknown and expression is row.value and _is_flag(row) and expression.text.isidentifier():
            yield expression.where.error(f"{expression.text[:40]!r} is no flag: write {FLAG_FORMS}")
        else:
            yield from unknown


def _is_flag(row: Row) -> bool:
    return not row.native and SETTINGS[row.setting].type == "flag"


def _unknown(
    expression: Expression,
    profile: Profile,
    block: Block,
    *,
    extra: Collection[str] = (),
    optional: bool = False,
) -> Iterator[ProfileError]:
    known = {*LINK_NAMES, *profile.inputs, *block.let, *extra}
    for name in sorted(expression.formula.required):
        if name not in known:
            hint = did_you_mean(name, known)
            message = f"unknown name {name!r} in a formula{hint}"
            yield expression.where.error(message)
        elif not optional and name in profile.inputs and profile.inputs[name].default is None:
            yield expression.where.error(f"input {name!r} has no default; write default({name}, value)")


def _nesting_problems(block: Block) -> Iterator[ProfileError]:
    """Let names that go in a circle, or that nest deeper than a reader (or the evaluator) can follow."""
    uses = {
        name: {used for used in e.formula.required | e.formula.optional if used in block.let}
        for name, e in block.let.items()
    }
    depth: dict[str, int] = {}
    open_names = list(uses)
    while ready := [name for name in open_names if uses[name] <= depth.keys()]:
        depth |= {name: 1 + max((depth[used] for used in uses[name]), default=0) for name in ready}
        open_names = [name for name in open_names if name not in depth]
        if max(depth[name] for name in ready) > DEEPEST_LET:
            yield block.let[ready[0]].where.error(f"let names nest deeper than {DEEPEST_LET}")
            return
    for name in open_names:
        circle = _circle(name, block)
        if circle:
            yield block.let[name].where.error(f"let names go in a circle: {' -> '.join(circle)}")


def _circle(start: str, block: Block) -> list[str]:
    """The way from a let name back to itself; empty where there is none."""
    pending = [(start, [start])]
    seen: set[str] = set()
    while pending:
        name, way = pending.pop()
        formula = block.let[name].formula
        for used in formula.required | formula.optional:
            if used == start:
                return [*way, start]
            if used in block.let and used not in seen:
                seen.add(used)
                pending.append((used, [*way, used]))
    return []
