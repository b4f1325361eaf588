"""The work of ``hostcfg path --all``: every path of the inventory, side by side."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.cli import report
from hostcfg.cli.common import DIFFERS, INTERRUPTED, OK, TROUBLE, Session
from hostcfg.cli.path_run import Analysed, Asked, analyse_path_of
from hostcfg.cli.sharing import SharingSession
from hostcfg.errors import HostcfgError, HostError, InternalError, UsageError
from hostcfg.targets import HostSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.inventory import PathSpec
    from hostcfg.model import Json
    from hostcfg.outputs.blocks import Block
    from hostcfg.outputs.report.page import Page

    Found = Analysed | HostcfgError


def _analyse_all(session: Session, asked: Asked, paths: Sequence[PathSpec]) -> list[Found]:
    """Every path, side by side, in order; where one could not be analysed its error, which was told.

    A hub has one connection for all its paths: sshd turns away who comes too often (MaxStartups).
    """
    from hostcfg.cli.progress import progress
    from hostcfg.fleet import SideBySide

    def analyse(one: PathSpec) -> Found:
        own = replace(asked, rate=asked.rate or one.rate, rtt=asked.rtt or one.rtt)
        try:
            return analyse_path_of(sharing, own, one.from_host, one.to_host)
        except HostcfgError as error:
            report(error)
            return error
        except Exception as error:
            ours = InternalError.of(error, f"{one.from_host} to {one.to_host}")
            report(ours)
            return ours

    ends = dict.fromkeys(end for path in paths for end in (path.from_host, path.to_host))
    far = [HostSpec(end, "ssh") for end in ends if end != "local" and not end.startswith("file:")]
    session.prepare(far)
    done: dict[int, Found] = {}
    with (
        suppress(KeyboardInterrupt),
        SharingSession.of(session) as sharing,
        progress(len(paths), verbose=session.verbose, what="paths") as tell,
    ):
        for index, analysed in SideBySide(paths, analyse, session.jobs):
            done[index] = analysed
            failed = isinstance(analysed, HostcfgError)
            tell(f"{paths[index].from_host} to {paths[index].to_host}", "failed" if failed else None)
    for index, one in enumerate(paths):
        if index not in done:
            message = f"{one.from_host} to {one.to_host}: interrupted before both ends had answered"
            done[index] = HostError("interrupted", message)
            report(HostcfgError(message))
    return [done[index] for index in range(len(paths))]


def run_all(session: Session, asked: Asked) -> int:
    """``path --all``: every path of the inventory; the exit code."""
    inventory = session.inventory
    paths = inventory.paths if inventory is not None else ()
    if inventory is None:
        raise UsageError("--all needs an inventory with paths: give -i FILE")
    if not paths:
        raise UsageError(
            f"{session.inventory_path} has no paths: a YAML inventory lists them, as in "
            "`paths: [{from: lon-1, to: sin-1, rate: 1gbit, rtt: 170ms}]`"
        )
    analysed = _analyse_all(session, asked, paths)
    found = [one for one in analysed if not isinstance(one, HostcfgError)]
    code = DIFFERS if any(one.limited for one in found) else OK
    code = code if len(found) == len(paths) else TROUBLE
    if any(isinstance(one, HostcfgError) and one.kind == "interrupted" for one in analysed):
        code = INTERRUPTED

    def document() -> dict[str, Json]:
        return {"schema": "hostcfg.paths/1", "paths": [one.document() for one in found], "failed": failed()}

    def failed() -> list[Json]:
        from hostcfg.outputs.documents import error_document

        return [
            {"from": path.from_host, "to": path.to_host, "error": error_document(one)}
            for path, one in zip(paths, analysed, strict=True)
            if isinstance(one, HostcfgError)
        ]

    def blocks() -> list[Block]:
        from hostcfg.outputs.path_views import path_summary_blocks

        return path_summary_blocks([one.plainly().report for one in found])

    session.emit(document, blocks, lambda: _page(session, paths, analysed))
    return code


def _page(session: Session, paths: Sequence[PathSpec], analysed: Sequence[Found]) -> Page:
    from hostcfg.outputs.report.paths import Audited, Unread, path_page

    audited: list[Audited] = []
    unread: list[Unread] = []
    for path, one in zip(paths, analysed, strict=True):
        groups = session.groups_of(path.from_host, path.to_host)
        if isinstance(one, HostcfgError):
            unread.append(Unread(path.from_host, path.to_host, one, groups))
        else:
            audited.append(Audited(one.plainly().report, groups))
    return path_page(audited, unread)
