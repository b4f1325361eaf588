"""``hostcfg history``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import OK, Session, output_options, with_session

if TYPE_CHECKING:
    from hostcfg.outputs.blocks import Block


@click.command()
@click.argument("change_id", metavar="[ID]", required=False)
@click.option(
    "--limit",
    "newest",
    type=click.IntRange(1),
    metavar="N",
    help="Only the newest N (a number; elsewhere --limit is a pattern).",
)
@output_options()
@with_session
def history(session: Session, change_id: str | None, newest: int | None) -> int:
    """What was changed, when, by whom, and how it ended.

    \b
    hostcfg history
    hostcfg history 20261130-162700-4f2a -o json
    """
    from hostcfg.changes import history_document
    from hostcfg.journal import Journal

    journal = Journal.open()
    changes = [journal.find(change_id)] if change_id is not None else list(journal.changes(newest))

    def blocks() -> list[Block]:
        from hostcfg.outputs.change_views import history_blocks

        return history_blocks(changes)

    session.emit(lambda: history_document(changes), blocks)
    return OK
