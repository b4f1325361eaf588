"""``hostcfg snapshot``."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import TARGET_HELP, Session, code_of, facts_of, host_options, with_session
from hostcfg.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command(epilog=TARGET_HELP)
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("-d", "--directory", type=click.Path(path_type=Path), default=Path(), help="Where to write.")
@click.option("--force", is_flag=True, help="Replace older snapshots of these hosts.")
@host_options()
@with_session
def snapshot(session: Session, targets: tuple[str, ...], directory: Path, force: bool) -> int:
    """Current settings of hosts as files, usable as file: targets.

    \b
    hostcfg snapshot lon-1 sin-1 -d before/
    hostcfg diff file:before/lon-1.json lon-1
    hostcfg show file:before/

    A file that is there already is not replaced without --force.
    """
    from hostcfg.snapshot import dump_snapshot, snapshot_name

    specs = session.hosts(targets)
    seen: dict[str, str] = {}
    for spec in specs:
        name = snapshot_name(spec.name)
        first = seen.setdefault(name.casefold(), spec.name)  # file systems of macOS and Windows fold, too
        if first != spec.name:
            message = f"{first} and {spec.name} would both write {name}: take them into two directories"
            raise UsageError(message)
    if not force:
        _check_older([directory / snapshot_name(spec.name) for spec in specs])
    _check_directory(directory)
    outcomes = session.read(specs, keep_text=True)
    for facts in facts_of(outcomes):
        path = directory / snapshot_name(facts.host)
        _write(path, dump_snapshot(facts))
        click.echo(path)
    return code_of(outcomes)


def _check_older(paths: Sequence[Path]) -> None:
    """UsageError before any host is asked: what was there before a change is not had a second time."""
    older = [path for path in paths if path.exists()]
    if older:
        is_there = f"and {len(older) - 1} more are there" if len(older) > 1 else "is there"
        raise UsageError(f"{older[0]} {is_there} already: write elsewhere with -d, or replace with --force")


def _check_directory(directory: Path) -> None:
    """InputError before any host is asked, if nothing can be written there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror or error}", path=str(directory)) from None


def _write(path: Path, text: str) -> None:
    """The whole file or none of it: written beside and renamed."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise InputError(f"can't be written: {error.strerror or error}", path=str(path)) from None
