"""``hostcfg render``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import OK, parse_inputs, parse_link, user_profile_directories

if TYPE_CHECKING:
    from hostcfg.platforms.base import RenderStyle


@click.command()
@click.argument("name", metavar="NAME|FILE")
@click.option("--os", "os_name", required=True, metavar="OS", help="linux, freebsd, windows or macos.")
@click.option("--rate", metavar="R", help="Link rate: 100mbit, 1G, 1235KiB/s.")
@click.option("--rtt", metavar="T", help="Round-trip time: 80ms, 0.08s.")
@click.option(
    "--set", "--input", "inputs", metavar="INPUT=VALUE", multiple=True, help="An input, e.g. streams=4."
)
@click.option(
    "--as",
    "style",
    type=click.Choice(["script", "config"]),
    default="script",
    show_default=True,
    help="Form.",
)
def render(
    name: str, os_name: str, rate: str | None, rtt: str | None, inputs: tuple[str, ...], style: RenderStyle
) -> None:
    """A profile as commands or config file, to send to someone else's admin.

    \b
    hostcfg render wan --os linux --rate 1gbit --rtt 80ms
    hostcfg render wan --os freebsd --rate 1gbit --rtt 80ms --as config
    """
    from hostcfg.platforms import get_platform
    from hostcfg.profiles import find_profile
    from hostcfg.render import render_profile

    profile = find_profile(name, user_profile_directories())
    text = render_profile(
        profile, get_platform(os_name), link=parse_link(rate, rtt), inputs=parse_inputs(inputs), style=style
    )
    click.echo(text, nl=not text.endswith("\n"))
    click.get_current_context().exit(OK)
