"""Files that a user named, read whole: bounded, and never waiting for what does not come."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from hostcfg.errors import InputError

MAX_FILE_BYTES = 64 * 1024 * 1024
"""A file above this size is refused; a ``sysctl -a`` has some 50 KB."""
PIPE_WAIT_S = 10.0
"""For so long nobody may write to a named pipe."""

INHERITED = ("/dev/fd/", "/dev/std", "/proc/self/fd/")
"""Pipes that a shell made for this call, as in ``<(ssh far sysctl -a)``: they end when their writer does."""


def home_expanded(text: str) -> Path:
    """A path in which ``~`` and ``~user`` are the home directories; InputError where there is none."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        said = (
            "there is no such user" if text[:2] not in ("~", "~/") else "no home directory is known: set HOME"
        )
        raise InputError(said, path=text) from None


def opened(path: Path) -> BinaryIO:
    """The file, open, from which reading ends; OSError, or InputError for what nobody writes to."""
    return os.fdopen(_open(path), "rb")


def unix_lines(text: str) -> str:
    """``text`` with line feeds alone at its line ends, whichever it had."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_there(text: str) -> bool:
    """Whether ``text`` is the path of something; False for what can be no path."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def expanded(text: str) -> list[str]:
    """The files that a path, a directory or a glob names, sorted; InputError where that is none.

    Of a directory its files without those in folders below, hidden ones and editors' backups.
    """
    path = home_expanded(text)
    try:
        if text and path.is_dir():
            names = [entry for entry in path.iterdir() if _is_wanted(entry)]
            return _some(names, text, "this directory has no files")
        if any(c in text for c in "*?[") and not path.exists():
            import glob

            names = [Path(name) for name in glob.glob(str(path))]  # noqa: PTH207  # Path.glob takes no absolute one
            return _some([name for name in names if not name.is_dir()], text, "no file matches")
    except (OSError, ValueError) as error:  # a directory that can't be listed; a NUL in the name
        raise InputError(f"can't be read: {getattr(error, 'strerror', None) or error}", path=text) from None
    return [str(path) if text.startswith("~") else text]


def _is_wanted(entry: Path) -> bool:
    return not entry.name.startswith(".") and not entry.name.endswith("~") and not entry.is_dir()


def _some(names: list[Path], text: str, otherwise: str) -> list[str]:
    if not names:
        raise InputError(otherwise, path=text)
    return sorted(map(str, names))


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that a user named; InputError that says why it can't be read."""
    try:
        with opened(path) as file:
            return read_bounded(file, str(path))
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path=str(path)) from None
    except ValueError as error:
        raise InputError(f"is no path: {error}", path=repr(str(path))) from None


def read_if_there(path: Path) -> bytes | None:
    """As :func:`read_bytes`; None if there is no such file."""
    return read_bytes(path) if path.exists() else None


def read_bounded(file: BinaryIO, path: str) -> bytes:
    """All of ``file``; InputError if it is larger than any host's output, or has no end."""
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise InputError("is larger than 64 MiB: this is no output of a host's commands", path=path)
    return data


if sys.platform == "win32":

    def _open(path: Path) -> int:
        return os.open(path, os.O_RDONLY | os.O_BINARY)

else:

    def _open(path: Path) -> int:
        """A descriptor from which reading ends; OSError or InputError."""
        if str(path).startswith(INHERITED):
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(21, "Is a directory")
            if os.isatty(descriptor):
                raise InputError("is a terminal; to type or paste a text say -", path=str(path))
            if stat.S_ISFIFO(mode):
                _wait_for_a_writer(descriptor, path)
            os.set_blocking(descriptor, True)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _wait_for_a_writer(descriptor: int, path: Path) -> None:
        import select

        ready, _, _ = select.select([descriptor], [], [], PIPE_WAIT_S)
        if not ready:
            raise InputError(
                f"is a named pipe, and nobody wrote to it for {PIPE_WAIT_S:g} s; give a file, or <(COMMAND)",
                path=str(path),
            )
