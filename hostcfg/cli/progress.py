"""A progress bar on a terminal; silence elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostcfg.reader import Outcome

FEW = 3
"""Up to so many hosts no bar is worth its lines."""


@contextmanager
def progress(total: int) -> Iterator[Callable[[Outcome], None]]:
    """A function to call for each host that is done; it draws on standard error, if that is a terminal."""
    if total <= FEW or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("hosts"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("hosts", total=total, failed=0)
        failed = 0

        def on_done(outcome: Outcome) -> None:
            nonlocal failed
            failed += outcome.error is not None
            bar.update(task, advance=1, failed=failed)

        yield on_done
