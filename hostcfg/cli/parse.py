"""``hostcfg parse``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import OK, TROUBLE, Session, output_options, with_session
from hostcfg.errors import HostcfgError, InputError

if TYPE_CHECKING:
    from hostcfg.model import Parsed
    from hostcfg.outputs.blocks import Block


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|-...")
@click.option("--as", "kind", metavar="KIND", help="Take it for the output of KIND, e.g. sysctl, netstat-m.")
@output_options(formats=("table", "json", "yaml", "markdown", "csv"))
@with_session
def parse(session: Session, files: tuple[str, ...], kind: str | None) -> int:
    """Recognise and parse the output of a native command; print its values.

    \b
    sysctl -a | hostcfg parse -
    hostcfg parse --as netstat-m far-end.txt -o json
    hostcfg parse iperf3-*.json -o csv

    With several files, -o json prints one document a line.
    """
    from hostcfg.cli import report

    code = OK
    found: list[tuple[str, Parsed]] = []
    for file in files:
        try:
            parsed = _parse_file(file, kind)
        except HostcfgError as error:
            report(error)
            code = TROUBLE
            continue
        if session.output == "csv":
            found.append((file, parsed))
        else:
            _print(session, parsed, file if len(files) > 1 else None)
    if session.output == "csv":
        from hostcfg.outputs.csv_view import parse_csv

        click.echo(parse_csv(found), nl=False)
    return code


def _parse_file(file: str, kind: str | None) -> Parsed:
    from hostcfg.files import read_bounded, read_bytes
    from hostcfg.pasted import parse_pasted, text_of
    from hostcfg.platforms import all_parsers, parsers_for

    path = "standard input" if file == "-" else file
    data = read_bounded(sys.stdin.buffer, path) if file == "-" else read_bytes(Path(file))
    text = text_of(data, path)
    parsed = parse_pasted(text, parsers_for(text) if kind is None else all_parsers(), kind)
    if parsed is None:
        kinds = ", ".join(sorted({parser.kind for parser in all_parsers()}))
        raise InputError(f"no known output; if you know what it is, say --as KIND: {kinds}", path=path)
    if kind is not None and parsed.unrecognized and not _says_something([parsed.values, parsed.extra]):
        raise InputError(f"is no output of {kind}: no line of it was understood", path=path)
    return parsed


def _says_something(value: object) -> bool:
    """Whether anything but null is in ``value``, at any depth."""
    if isinstance(value, Mapping):
        return any(_says_something(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return any(_says_something(v) for v in value)
    return value is not None


def _print(session: Session, parsed: Parsed, file: str | None) -> None:
    from hostcfg.outputs.documents import parse_document

    if session.output == "json" and file is not None:
        from hostcfg.outputs.serialize import to_json

        click.echo(to_json(parse_document(parsed, file), indent=None), nl=False)
        return

    def blocks() -> list[Block]:
        from hostcfg.outputs.parse_view import parse_blocks

        return parse_blocks(parsed, file)

    session.emit(lambda: parse_document(parsed, file), blocks)
