"""Blocks of different kinds in text without prompts: paragraph by paragraph, then line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.pasted.systems import settings_of_strangers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.pasted.scores import Judge
    from hostcfg.platforms.base import Parser

SURE = 60
"""Points from which a paragraph of another kind begins a new block."""
_ALIKE = frozenset({"sysctl", "sysctl-conf", "loader-conf"})


def blocks_of(lines: Sequence[str], judge: Judge, most: int) -> list[list[str]]:
    """``lines`` in consecutive blocks of one kind each; what no parser knows stays with its neighbour.

    Paragraphs beyond ``most`` are joined before they are judged.
    """
    blocks: list[tuple[str | None, list[str]]] = []
    for paragraph in _paragraphs(lines, most):
        kinds = _with_strangers(paragraph, judge)
        parts = _by_line(paragraph, kinds, judge)
        for kind, part in parts:
            _add(blocks, kind, part, kinds if len(parts) == 1 else {kind or "": 100})
    return [block for _, block in blocks]


def _add(
    blocks: list[tuple[str | None, list[str]]], kind: str | None, part: list[str], kinds: dict[str, int]
) -> None:
    """To the last block unless ``part`` is surely of another kind."""
    last = blocks[-1][0] if blocks else None
    if blocks and (kind is None or kind == last or _stays(last, kind, kinds)):
        blocks[-1] = (last or kind, blocks[-1][1])
        blocks[-1][1].extend(part)
    elif blocks and last is None:
        blocks[-1] = (kind, blocks[-1][1])
        blocks[-1][1].extend(part)
    else:
        blocks.append((kind, list(part)))


def _stays(last: str | None, kind: str, kinds: dict[str, int]) -> bool:
    """Whether a paragraph goes on with the kind before it although another one fits better."""
    if last is None:
        return False
    points, own = kinds.get(kind, 0), kinds.get(last, 0)
    return points < SURE or own >= 0.6 * points or (last in _ALIKE and kind in _ALIKE and own > 0)


def _paragraphs(lines: Sequence[str], most: int) -> list[list[str]]:
    """Runs of lines between blank ones, each with the blank lines after it."""
    found: list[list[str]] = []
    blank = True
    for line in lines:
        if not line.strip():
            blank = True
        elif blank or not found:
            found.append([])
            blank = False
        if found:
            found[-1].append(line)
    step = -(-len(found) // most) if found else 1
    if step < 2:
        return found
    return [[line for part in found[i : i + step] for line in part] for i in range(0, len(found), step)]


def _kinds(paragraph: Sequence[str], judge: Judge) -> dict[str, int]:
    """The most points that any parser of a kind gives, for each kind with some."""
    text = "\n".join(paragraph) + "\n"
    points: dict[str, int] = {}
    for parser, found in judge.all_points(text):
        if found > points.get(parser.kind, 0):
            points[parser.kind] = found
    return points


def _with_strangers(paragraph: Sequence[str], judge: Judge) -> dict[str, int]:
    """:func:`_kinds`, and those of the settings of another system that stand in the paragraph.

    Beside a long table they are too few to be seen.
    """
    kinds = _kinds(paragraph, judge)
    best = max(kinds, key=lambda kind: kinds[kind]) if kinds else None
    for os in {parser.os for parser in judge.parsers if parser.kind == best}:
        strangers = settings_of_strangers(paragraph, os)
        if 0 < len(strangers) < len(paragraph):
            found = _kinds(strangers, judge)
            kinds = {kind: max(kinds.get(kind, 0), found.get(kind, 0)) for kind in {**kinds, **found}}
    return kinds


def _by_line(paragraph: list[str], kinds: dict[str, int], judge: Judge) -> list[tuple[str | None, list[str]]]:
    """``paragraph`` cut where its lines change from one kind to another that it surely holds too."""
    best = max(kinds, key=lambda kind: kinds[kind]) if kinds else None
    rivals = {kind for kind, points in kinds.items() if points >= SURE}
    longest = 2000 if judge.sampled else 20000  # lines that are asked for one by one
    if best is None or len(rivals) < 2 or rivals <= _ALIKE or len(paragraph) > longest:
        return [(best, paragraph)]
    rival_parsers = [parser for parser in judge.parsers if parser.kind in rivals]
    owners = [_owner(line, rival_parsers, kinds) for line in paragraph]
    if len({owner for owner in owners if owner is not None}) < 2:
        return [(best, paragraph)]
    parts: list[tuple[str | None, list[str]]] = []
    for line, owner in zip(paragraph, owners, strict=True):
        if parts and (owner is None or owner == parts[-1][0]):
            parts[-1][1].append(line)
        elif parts and parts[-1][0] is None:
            parts[-1] = (owner, parts[-1][1])
            parts[-1][1].append(line)
        else:
            parts.append((owner, [line]))
    return parts


def _owner(line: str, parsers: Sequence[Parser], kinds: dict[str, int]) -> str | None:
    """The only kind that knows ``line``, files that look alike being one; None for several or none."""
    text = f"{line}\n"
    found = {parser.kind for parser in parsers if line.strip() and parser.recognize(text) > 0}
    if found and found <= _ALIKE:
        return max(_ALIKE & kinds.keys(), key=lambda kind: kinds[kind])
    return found.pop() if len(found) == 1 else None
