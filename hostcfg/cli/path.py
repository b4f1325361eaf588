"""``hostcfg path``."""

from __future__ import annotations

import click

from hostcfg.cli.common import PAGES, TARGET_HELP, Session, host_options, output_options, with_session
from hostcfg.errors import UsageError


@click.command(epilog=TARGET_HELP)
@click.argument("ends", nargs=-1, metavar="[A B]")
@click.option("--rate", metavar="R|auto", help="Link rate, e.g. 100mbit; auto: the interfaces' speed.")
@click.option("--rtt", metavar="T|auto", help="Round-trip time, e.g. 80ms; auto: ping between the ends.")
@click.option("--window", metavar="W", help="Size that the program asks for (iperf3 -w), e.g. 256K.")
@click.option("--streams", type=click.IntRange(1, 10000), default=1, help="Connections in parallel.")
@click.option("--loss", metavar="P", help="Packets lost at random, e.g. 0.1%.")
@click.option("--mtu", type=click.IntRange(68, 65535), metavar="BYTES", help="Of the path.")
@click.option(
    "--address",
    "addresses",
    metavar="HOST=ADDRESS",
    multiple=True,
    help="Where the other end reaches HOST, if not where SSH does.",
)
@click.option("--live", is_flag=True, help="Ask A what limits the transfer to B that runs now.")
@click.option(
    "--iperf3", "iperf_file", metavar="FILE", help="Result of a test to hold the prediction against."
)
@click.option("--all", "every", is_flag=True, help="Every path of the inventory.")
@host_options()
@output_options(formats=PAGES)
@with_session
def path(
    session: Session,
    ends: tuple[str, ...],
    rate: str | None,
    rtt: str | None,
    window: str | None,
    streams: int,
    loss: str | None,
    mtu: int | None,
    addresses: tuple[str, ...],
    live: bool,
    iperf_file: str | None,
    every: bool,
) -> int:
    """Which setting at which end limits a path, and to what rate.

    \b
    hostcfg path lon-1 sin-1 --rate 1gbit --rtt 170ms
    hostcfg path local file:far-end.txt --rate 100mbit --rtt 80ms -o markdown
    hostcfg path lon-1 sin-1 --rate auto --rtt auto --iperf3 result.json
    hostcfg path lon-1 sin-1 --rate 1gbit --rtt auto --address sin-1=203.0.113.8

    Exit status: 0 no setting limits it, 1 one does, 2 trouble.
    """
    from hostcfg.cli.path_all import run_all
    from hostcfg.cli.path_run import Asked, parse_addresses, run_one
    from hostcfg.units import parse_ratio, parse_size

    asked = Asked(
        rate=rate,
        rtt=rtt,
        window_bytes=parse_size(window) if window is not None else None,
        streams=streams,
        loss=parse_ratio(loss) if loss is not None else None,
        mtu_bytes=mtu,
        addresses=parse_addresses(addresses),
        live=live,
        iperf_file=iperf_file,
    )
    if every:
        if ends or live or iperf_file or addresses:
            raise UsageError(
                "--all takes the inventory's paths: give no hosts, no --live, --iperf3 or --address"
            )
        return run_all(session, asked)
    if len(ends) != 2:
        raise UsageError(f"a path has two ends, not {len(ends)}: give A and B, or --all with -i INVENTORY")
    return run_one(session, asked, *ends)
