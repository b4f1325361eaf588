"""``hostcfg diff``: against a profile, or host against host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import (
    DIFFERS,
    OK,
    PAGES,
    TARGET_HELP,
    Session,
    code_of,
    facts_of,
    host_options,
    output_options,
    parse_inputs,
    parse_link,
    profile_options,
    user_profile_directories,
    with_session,
)
from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Link
    from hostcfg.outputs.blocks import Block
    from hostcfg.outputs.report.page import Page


@click.command(epilog=TARGET_HELP)
@click.argument("targets", nargs=-1, metavar="TARGET...")
@profile_options(required=False)
@host_options()
@output_options(formats=PAGES)
@with_session
def diff(
    session: Session,
    targets: tuple[str, ...],
    profile_name: str | None,
    rate: str | None,
    rtt: str | None,
    inputs: tuple[str, ...],
) -> int:
    """Hosts against a profile, or one host against another.

    \b
    hostcfg diff local --profile wan --rate 1gbit --rtt 80ms
    hostcfg diff lon-1 file:sin-1.json

    Exit status: 0 nothing differs, 1 something does, 2 trouble.
    """
    link = parse_link(rate, rtt)
    if profile_name is not None:
        return _diff_profile(session, targets, profile_name, link, inputs)
    if link is not None or inputs:
        raise UsageError("--rate, --rtt and --set belong to a profile: give --profile NAME")
    return _diff_hosts(session, targets)


def _diff_profile(
    session: Session, targets: Sequence[str], name: str, link: Link | None, inputs: Sequence[str]
) -> int:
    from hostcfg.audit import audit_fleet, check_call
    from hostcfg.profiles import find_profile

    profile = find_profile(name, user_profile_directories())
    given = parse_inputs(inputs)
    check_call(profile, link, given)
    outcomes = session.read(session.hosts(targets))
    audit = audit_fleet(outcomes, profile, link, given)

    def blocks() -> list[Block]:
        from hostcfg.outputs.views import diff_blocks

        return diff_blocks(audit, details=session.details(audit.hosts))

    def page() -> Page:
        from hostcfg.outputs.report.diff import diff_page

        return diff_page(audit, session.groups_of, details=session.details(audit.hosts))

    from hostcfg.outputs.documents import diff_document

    session.emit(lambda: diff_document(audit), blocks, page)
    return code_of(outcomes, differs=any(host.differences for host in audit.hosts))


def _diff_hosts(session: Session, targets: Sequence[str]) -> int:
    from hostcfg.compare import compare_hosts
    from hostcfg.outputs.documents import host_diff_document

    specs = session.hosts(targets, once=False)
    if len(specs) != 2:
        raise UsageError(
            f"{len(specs)} target{'s' if len(specs) != 1 else ''} and no profile: give two, or --profile NAME"
        )
    outcomes = session.read(specs)
    facts = facts_of(outcomes)
    if len(facts) != 2:
        return code_of(outcomes)
    a, b = facts
    difference = compare_hosts(a, b)

    def blocks() -> list[Block]:
        from hostcfg.outputs.views import host_diff_blocks

        return host_diff_blocks(a, b, difference)

    def page() -> Page:
        from hostcfg.outputs.report.page import titled

        return titled(blocks())

    session.emit(lambda: host_diff_document(a, b, difference), blocks, page)
    return DIFFERS if difference.settings or difference.native else OK
