"""``hostcfg confirm``."""

from __future__ import annotations

import click

from hostcfg.cli.common import Session, host_options, output_options, with_session


@click.command()
@click.argument("change_id", metavar="ID")
@host_options()
@output_options()
@with_session
def confirm(session: Session, change_id: str) -> int:
    """End the waiting time of a change that was applied with --hold: the change stays.

    \b
    hostcfg confirm 20261130-162700-4f2a
    """
    from hostcfg.apply import confirm_change
    from hostcfg.cli.change_common import Hosts, Interrupts, finish, side_by_side
    from hostcfg.journal import Journal

    journal = Journal.open()
    hosts = Hosts(session, known=journal.change(change_id).hosts)
    with Interrupts() as interrupts:
        each = side_by_side(session, interrupts)
        changes = confirm_change(change_id, journal=journal, connect=hosts.connect, each=each)
    return interrupts.code(finish(session, change_id, changes))
