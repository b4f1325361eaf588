"""``hostcfg profiles``: list, show and check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import (
    OK,
    TROUBLE,
    Session,
    output_options,
    parse_inputs,
    parse_link,
    user_profile_directories,
    with_session,
)

if TYPE_CHECKING:
    from hostcfg.outputs.blocks import Block


@click.group()
def profiles() -> None:
    """List, show and check profiles.

    \b
    hostcfg profiles list
    hostcfg profiles show wan --rate 1gbit --rtt 80ms
    hostcfg profiles check my-profile.yaml
    """


@profiles.command("list")
@output_options()
@with_session
def list_command(session: Session) -> int:
    """Every profile, built in or of your own.

    \b
    hostcfg profiles list
    hostcfg profiles list -o json
    """
    from hostcfg.cli import report
    from hostcfg.outputs.documents import profile_list_document
    from hostcfg.profiles import profiles_and_faults

    found, faults = profiles_and_faults(user_profile_directories())
    for fault in faults:
        report(fault)

    def blocks() -> list[Block]:
        from hostcfg.outputs.views import profile_list_blocks

        return profile_list_blocks(found)

    session.emit(lambda: profile_list_document(found), blocks)
    return TROUBLE if faults else OK


@profiles.command()
@click.argument("name", metavar="NAME|FILE")
@click.option("--rate", metavar="R", help="Link rate: 100mbit, 1G, 1235KiB/s.")
@click.option("--rtt", metavar="T", help="Round-trip time: 80ms, 0.08s.")
@click.option(
    "--set", "--input", "inputs", metavar="INPUT=VALUE", multiple=True, help="An input, e.g. streams=4."
)
@click.option("--os", "os_name", metavar="OS", help="Only this operating system.")
@output_options()
@with_session
def show(
    session: Session,
    name: str,
    rate: str | None,
    rtt: str | None,
    inputs: tuple[str, ...],
    os_name: str | None,
) -> int:
    """What a profile wants of each system on a link, and why.

    \b
    hostcfg profiles show wan --rate 1gbit --rtt 80ms
    hostcfg profiles show lan --rate 1gbit --rtt 250us --set guard=both
    """
    from hostcfg.audit import describe_profile
    from hostcfg.outputs.documents import profile_document
    from hostcfg.profiles import find_profile

    profile = find_profile(name, user_profile_directories())
    described = describe_profile(profile, parse_link(rate, rtt), parse_inputs(inputs), os_name)

    def blocks() -> list[Block]:
        from hostcfg.outputs.views import profile_blocks

        return profile_blocks(described)

    session.emit(lambda: profile_document(described), blocks)
    return OK


@profiles.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Every fault of a profile, with file, line and key.

    \b
    hostcfg profiles check my-profile.yaml

    \b
    Keys of a profile beside name, summary, when and settings:
      include: wan                  another profile, which this one is over
      inputs: NAME: {type, default, min, max, choices, meaning}
                                    given by --set; type: size, rate, time,
                                    count, ratio, choice
      let: NAME: FORMULA            of rate_bps, rtt_s, bdp (bytes), inputs, let
      caps: NAME: {value, reason}   an upper limit for rows with cap: NAME
      notes: - {text, when}         shown where the formula of when holds
      os: NAME: {settings, let, caps, notes}
                                    for linux, freebsd, windows or macos alone;
                                    settings has native keys too, and null in
                                    place of a row takes it away
    A row has rule, value, reason and source, and may have when and cap.
    A flag is on, off, true or false.

    Profiles in ~/.config/hostcfg/profiles, and in the folders of HOSTCFG_PROFILES,
    go by their names; any other by its path.
    """
    from hostcfg.cli import report
    from hostcfg.profiles.check import check_profile

    code = OK
    for file in files:
        problems = check_profile(file, user_profile_directories())
        for problem in problems:
            report(problem)
            code = TROUBLE
        if not problems:
            click.echo(f"{file}: no fault found")
    click.get_current_context().exit(code)
