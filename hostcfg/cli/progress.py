"""How far a run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress

    Tell = Callable[[str, str | None], None]
    """Called for each host that is done: its name, and in a word what went wrong (None: nothing)."""

_FEW = 3
"""Up to so many hosts no bar is worth its lines."""

EVERY_S = 10.0
"""Between two lines that count, where there is no terminal: a run that is over before has none."""

_bars: list[Progress] = []  # the one that is on the screen, if any


@contextmanager
def progress(total: int, *, verbose: int = 0, what: str = "hosts") -> Iterator[Tell]:
    """A function to call for each host (``what``) that is done; it writes to standard error.

    A bar on a terminal; elsewhere a line that counts, each :data:`EVERY_S` seconds in which something
    was done, or with ``-v`` one for each host.
    """
    if total > _FEW and sys.stderr.isatty():
        with _bar(total, what) as tell:
            yield tell
    elif verbose and total > 1:
        yield _lines(total)
    elif total > _FEW:
        with _counts(total, what) as tell:
            yield tell
    else:
        yield lambda *_: None


@contextmanager
def paused() -> Iterator[None]:
    """The bar leaves the screen to a question."""
    bar = _bars[-1] if _bars else None
    if bar is not None:
        bar.stop()
    try:
        yield
    finally:
        if bar is not None and bar in _bars:
            bar.start()


def _lines(total: int) -> Tell:
    from hostcfg.cli import note

    done = 0

    def tell(host: str, fault: str | None) -> None:
        nonlocal done
        done += 1
        note(f"{done}/{total} {host}: {fault or 'done'}")

    return tell


@contextmanager
def _counts(total: int, what: str) -> Iterator[Tell]:
    done = failed = 0
    over = threading.Event()

    def tell(_: str, fault: str | None) -> None:
        nonlocal done, failed
        done += 1
        failed += fault is not None

    def watch() -> None:
        said = -1
        while not over.wait(EVERY_S):
            if said != done:
                said = done
                print(f"{done}/{total} {what}, {failed} failed", file=sys.stderr, flush=True)  # noqa: T201

    watcher = threading.Thread(target=watch, name="progress", daemon=True)
    watcher.start()
    try:
        yield tell
    finally:
        over.set()
        watcher.join()


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

        _bars.append(bar)
        try:
            yield tell
        finally:
            _bars.remove(bar)
