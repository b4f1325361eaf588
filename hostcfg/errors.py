"""The error tree.

::

    HostcfgError
    ├── UsageError          the call is wrong: an argument, an option, a combination
    ├── InputError          a file or text is wrong: names the file, the line and the key
    │   ├── UnitError       "80" where a unit decides the meaning
    │   ├── ProfileError    a profile or one of its formulas
    │   └── InventoryError  an inventory or a selection from it
    ├── HostError           one host could not be read or changed: names the host and the kind
    ├── ChangeRefused       a change that must not be started (no inverse, another one pending ...)
    ├── JournalError        the journal can't be opened, written or understood
    └── InternalError       a fault of hostcfg itself

``str(error)`` is one line: where, what, and what to do.  Only the command line knows exit codes.
"""

from __future__ import annotations

import os
from typing import Literal

HostErrorKind = Literal[
    "unreachable",  # no route, name unknown, port closed
    "host_key",  # unknown or changed host key
    "auth",  # no accepted key or password
    "timeout",  # connect, banner, login or command took longer than --timeout
    "command",  # the remote command failed, or its output is cut or not understood
    "no_permission",  # logged in, but become or root is missing
    "input",  # a file: target can't be read or understood
    "interrupted",  # the user ended the run before the host had answered
]


class HostcfgError(Exception):
    """Root of all errors that reach a user; ``kind`` is a stable word for scripts."""

    kind: str = "error"

    def __init__(self, message: str, *, host: str | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.host = host
        self.key = key

    def __str__(self) -> str:
        where = [part for part in (self.host, self.key) if part]
        text = ": ".join([*where, self.message])
        return " ".join(text.split())


class UsageError(HostcfgError):
    """The call is wrong: an argument, an option, or a combination of them."""

    kind = "usage"


class InputError(HostcfgError):
    """A file or a text is wrong; ``path`` and ``line`` (from 1) say where."""

    kind = "input"

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        host: str | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(message, host=host, key=key)
        self.path = path
        self.line = line

    def __str__(self) -> str:
        text = super().__str__()
        if self.path is None:
            return text
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {text}"


class UnitError(InputError):
    """A rate, time, size or ratio that can't be read without guessing."""

    kind = "unit"


class ProfileError(InputError):
    """A profile, or a formula in it, that can't be used."""

    kind = "profile"


class InventoryError(InputError):
    """An inventory, or a selection from it, that can't be used."""

    kind = "inventory"


class HostError(HostcfgError):
    """One host could not be read or changed."""

    kind: HostErrorKind

    def __init__(
        self, kind: HostErrorKind, message: str, *, host: str | None = None, key: str | None = None
    ) -> None:
        super().__init__(message, host=host, key=key)
        self.kind = kind


class ChangeRefused(HostcfgError):
    """A change that must not be started; nothing was written."""

    kind = "refused"


class JournalError(HostcfgError):
    """The journal can't be opened, written or understood."""

    kind = "journal"


class InternalError(HostcfgError):
    """A fault of hostcfg itself: of one host alone where ``host`` is set, and the others go on."""

    kind = "internal"

    @classmethod
    def of(cls, error: Exception, host: str | None = None) -> InternalError:
        """What to tell of ``error``; with HOSTCFG_TRACEBACK in the environment it is raised instead."""
        if "HOSTCFG_TRACEBACK" in os.environ:
            raise error
        said = f"a fault in hostcfg itself: {type(error).__name__}: {error}"
        return cls(f"{said}; please report it with what HOSTCFG_TRACEBACK=1 prints", host=host)
