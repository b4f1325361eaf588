"""The work of ``hostcfg path --all``: every path of the inventory, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.cli import report
from hostcfg.cli.common import DIFFERS, OK, TROUBLE, Session
from hostcfg.cli.path_run import Analysed, Asked, analyse_path_of
from hostcfg.errors import HostcfgError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.inventory import PathSpec
    from hostcfg.model import Json
    from hostcfg.outputs.blocks import Block


def _analyse_all(session: Session, asked: Asked, paths: Sequence[PathSpec]) -> list[Analysed | None]:
    """Every path, side by side, in their order; None for one that could not be analysed, which is told."""
    from hostcfg.cli.progress import progress
    from hostcfg.fleet import SideBySide

    def analyse(one: PathSpec) -> Analysed | None:
        own = replace(asked, rate=asked.rate or one.rate, rtt=asked.rtt or one.rtt)
        try:
            return analyse_path_of(session, own, one.from_host, one.to_host)
        except HostcfgError as error:
            report(error)
            return None

    if any(end != "local" and not end.startswith("file:") for p in paths for end in (p.from_host, p.to_host)):
        _ = session.ssh  # asked for once, before threads need it
    done: dict[int, Analysed | None] = {}
    with progress(len(paths), verbose=session.verbose, what="paths") as tell:
        for index, analysed in SideBySide(paths, analyse, session.jobs):
            done[index] = analysed
            tell(f"{paths[index].from_host} to {paths[index].to_host}", None if analysed else "failed")
    return [done[index] for index in range(len(paths))]


def run_all(session: Session, asked: Asked) -> int:
    """``path --all``: every path of the inventory; the exit code."""
    inventory = session.inventory
    paths = inventory.paths if inventory is not None else ()
    if not paths:
        raise UsageError("--all needs an inventory with paths: give -i FILE")
    analysed = _analyse_all(session, asked, paths)
    found = [one for one in analysed if one is not None]
    code = DIFFERS if any(one.limited for one in found) else OK
    code = code if len(found) == len(paths) else TROUBLE

    def document() -> dict[str, Json]:
        return {"schema": "hostcfg.paths/1", "paths": [one.document() for one in found]}

    def blocks() -> list[Block]:
        from hostcfg.outputs.path_views import path_summary_blocks

        return path_summary_blocks([one.plainly().report for one in found])

    session.emit(document, blocks)
    return code
