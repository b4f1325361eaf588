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
    hostcfg confirm 20261130-162700-4f2a --exclude lon-2
    """
    from hostcfg.apply import confirm_change
    from hostcfg.cli.change_common import Hosts, Interrupts, chosen, finish, side_by_side
    from hostcfg.journal import Journal

    journal = Journal.open()
    change = journal.find(change_id)
    change_id = change.id
    wanted = chosen(session, [host.host for host in change.hosts])
    hosts = Hosts(session, known=change.hosts)
    with Interrupts() as interrupts:
        each = side_by_side(session, interrupts)
        changes = confirm_change(change_id, journal=journal, connect=hosts.connect, hosts=wanted, each=each)
    code = finish(session, change_id, changes)
    left = [host.host for host in change.everyone if host.status == "pending" and host.host not in wanted]
    if left:
        shown = ", ".join(left[:5]) + (" ..." if len(left) > 5 else "")
        waits = "waits" if len(left) == 1 else "wait"
        click.echo(f"hostcfg: {shown} still {waits}: hostcfg confirm {change_id}", err=True)
    return interrupts.code(code)
