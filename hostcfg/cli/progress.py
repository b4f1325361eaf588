"""How far a run is: a bar on a terminal, plain lines elsewhere if they are asked for."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tell = Callable[[str, str | None], None]
    """Called for each host that is done: its name, and in a word what went wrong (None: nothing)."""

_FEW = 3
"""Up to so many hosts no bar is worth its lines."""


@contextmanager
def progress(total: int, *, verbose: int = 0, what: str = "hosts") -> Iterator[Tell]:
    """A function to call for each host (``what``) that is done; it writes to standard error.

    A bar on a terminal; elsewhere a line for each host with ``-v``, and nothing without.
    """
    if total > _FEW and sys.stderr.isatty():
        with _bar(total, what) as tell:
            yield tell
    elif verbose and total > 1:
        yield _lines(total)
    else:
        yield lambda *_: None


def _lines(total: int) -> Tell:
    done = 0

    def tell(host: str, fault: str | None) -> None:
        nonlocal done
        done += 1
        shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in host)
        print(f"hostcfg: {done}/{total} {shown}: {fault or 'done'}", file=sys.stderr, flush=True)  # noqa: T201

    return tell


@contextmanager
def _bar(total: int, what: str) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=total, failed=0)
        failed = 0

        def tell(_: str, fault: str | None) -> None:
            nonlocal failed
            failed += fault is not None
            bar.update(task, advance=1, failed=failed)

        yield tell
