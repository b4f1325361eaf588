"""``hostcfg show``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import (
    PAGES,
    TARGET_HELP,
    Session,
    code_of,
    host_options,
    output_options,
    with_session,
)

if TYPE_CHECKING:
    from hostcfg.outputs.blocks import Block
    from hostcfg.outputs.report.page import Page


@click.command(epilog=TARGET_HELP)
@click.argument("targets", nargs=-1, metavar="TARGET...")
@host_options()
@output_options(formats=PAGES)
@with_session
def show(session: Session, targets: tuple[str, ...]) -> int:
    """Current settings of hosts, and what is worth knowing of them.

    \b
    hostcfg show local
    hostcfg show root@192.0.2.7 file:far-end.txt -o json
    """
    from hostcfg.outputs.documents import show_document

    outcomes = session.read(session.hosts(targets))

    def blocks() -> list[Block]:
        from hostcfg.outputs.views import show_blocks

        return show_blocks(outcomes, details=session.details(outcomes))

    def page() -> Page:
        from hostcfg.outputs.report.show import show_page

        return show_page(outcomes, session.groups_of, details=session.details(outcomes))

    session.emit(lambda: show_document(outcomes), blocks, page)
    return code_of(outcomes)
