"""The change contract: how one OS family is changed, as commands to run and reports to read.  Pure.

A changer never runs anything: it returns commands and reads their output.  ``hostcfg.apply`` runs
them in this order, one exec each::

    prepare  only where a script is too long for one command line    } first connection
    begin    lock, before-values, backup, timer: writes no setting    }
    write    the steps in order, each read back                       }
    confirm  the files, the end of the change, the timer off            new connection
    status   what has become of it; with ``restore`` everything back    any time

An OS that can be changed has a module ``change`` in its folder with a ``CHANGER``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Literal

from hostcfg.errors import ChangeRefused
from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.changes import FileChange, FileState, Outcome
    from hostcfg.model import Facts
    from hostcfg.transports.base import Command, CommandResult

HostState = Literal[
    "preparing", "pending", "confirming", "confirmed", "restoring", "restored", "failed", "gone"
]
"""What the change is on the host itself: only these names are ever on its disk."""


@dataclass(frozen=True, slots=True)
class JobStep:
    """One write as a host gets it; ``number`` from 1 in the order of writing.

    ``before`` None: not known, so that nothing is compared and nothing can be restored.
    """

    number: int
    key: str
    before: str | None
    wanted: str


@dataclass(frozen=True, slots=True)
class Job:
    """What one host is to do in one change.

    ``paths`` are files that may be written; ``modules`` kernel modules that the writes may load;
    ``unload`` modules that go once the change is confirmed (a rollback).  ``force`` accepts a host
    that is no longer as planned, ``accept`` a value that comes out other than wanted.
    """

    change_id: str
    by: str
    from_host: str
    started: str
    revert_in_s: int
    steps: Sequence[JobStep]
    paths: Sequence[str] = ()
    modules: Sequence[str] = ()
    unload: Sequence[str] = ()
    identity: Mapping[str, str] = field(default_factory=dict)
    force: bool = False

    @property
    def accept(self) -> bool:
        """Whether a value that came out other than wanted stays."""
        return self.force


@dataclass(frozen=True, slots=True)
class Refusal:
    """The host's own no: nothing was written in this exec, or all of it is back."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class BeginReport:
    """``values``: key -> (raw or None) as found under the lock; ``details`` what restoring needs beyond it.

    ``timer`` is how the timer was started, None where ``revert_in_s`` is 0.
    ``listening_ports`` are TCP ports with a server that listens already (None: not known).
    """

    refusal: Refusal | None
    state: HostState
    values: Mapping[str, str | None]
    details: Mapping[str, str]
    files: Sequence[FileState]
    identity: Mapping[str, str]
    timer: str | None = None
    left_s: int | None = None
    listening_ports: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class StepReport:
    """What the host said of one step; ``outcome`` None: it was not tried."""

    key: str
    outcome: Outcome | None
    read_back: str | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class WriteReport:
    """``stopped``: why the host stopped (failed, changed, space, taken), None when all is written.

    ``unrestored`` are the keys and paths that could not be put back after a stop.
    """

    refusal: Refusal | None
    state: HostState
    steps: Sequence[StepReport]
    stopped: str | None = None
    unrestored: Sequence[str] = ()
    modules: Sequence[str] = ()
    left_s: int | None = None


@dataclass(frozen=True, slots=True)
class ConfirmReport:
    """``overridden``: keys that are no longer as they were written; ``files`` what is on disk now."""

    refusal: Refusal | None
    state: HostState
    overridden: Mapping[str, str | None] = field(default_factory=dict)
    unrestored: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class StatusReport:
    """``was`` is the state before this exec did anything; ``left_s`` None: no timer runs.

    ``written`` are the numbers of the steps whose write was begun, None where the host does not tell.
    """

    state: HostState
    was: HostState
    identity: Mapping[str, str]
    unrestored: Sequence[str] = ()
    left_s: int | None = None
    root: bool = True
    log: str = ""
    written: frozenset[int] | None = None


class Changer(ABC):
    """One OS family's way to change a host."""

    os: ClassVar[str]

    def prepare(self, job: Job, nonce: str) -> Sequence[Command]:
        """Commands before ``begin`` that bring it what is too long for one command line.

        Their output is not read.  They write nothing but files of the change's own, and ``begin``
        checks that all of it has come.
        """
        del job, nonce
        return ()

    @abstractmethod
    def begin(self, job: Job, nonce: str) -> Command:
        """Lock, compare with the plan, back up, arm the timer."""

    @abstractmethod
    def read_begin(self, job: Job, nonce: str, result: CommandResult) -> BeginReport:
        """HostError ``command`` where the output is cut."""

    @abstractmethod
    def write(self, job: Job, nonce: str) -> Command:
        """Every step in order; on a failure everything that was written is put back."""

    @abstractmethod
    def read_write(self, job: Job, nonce: str, result: CommandResult) -> WriteReport:
        """HostError ``command`` where the output is cut."""

    @abstractmethod
    def confirm(self, job: Job, nonce: str, files: Sequence[FileState]) -> Command:
        """Write ``files`` (contents None: remove), end the change, disarm the timer."""

    @abstractmethod
    def read_confirm(self, job: Job, nonce: str, result: CommandResult) -> ConfirmReport:
        """HostError ``command`` where the output is cut."""

    @abstractmethod
    def status(self, change_id: str, nonce: str, *, restore: bool) -> Command:
        """Ask what has become of a change; ``restore`` puts its before-values back first."""

    @abstractmethod
    def read_status(self, nonce: str, result: CommandResult) -> StatusReport:
        """HostError ``command`` where the output is cut."""

    @abstractmethod
    def same(self, key: str, a: str, b: str) -> bool:
        """Whether two raw values of a key mean the same, compared by type."""

    @abstractmethod
    def inverse(self, facts: Facts, key: str, wanted: str) -> tuple[str | None, str]:
        """The exact command that brings back what ``key`` has now, once it is ``wanted``.

        None and why where there is none: not read, made by hand, or a value that only grows.
        ChangeRefused for a key or a value that could mean something else to the host.
        """

    def notes(self, facts: Facts, keys: Sequence[str], *, persist: bool) -> Sequence[str]:
        """What a plan for this host must say about how it is protected and how long it lasts."""
        del facts, keys, persist
        return ()

    def companions(self, facts: Facts, key: str, raw: str) -> Mapping[str, str]:
        """Other keys that must follow when ``key`` is ``raw``, so that it has its effect now."""
        del facts, key, raw
        return {}

    def shown(self, key: str, raw: str | None) -> str | None:
        """``raw`` as a person wants to see it, where the host's own text is longer than the value."""
        del key
        return raw

    def modules_for(self, key: str, raw: str) -> Sequence[str]:
        """Kernel modules that setting ``key`` to ``raw`` may load."""
        del key, raw
        return ()

    def impossible(self, key: str, raw: str) -> str | None:
        """Why no kernel of this OS takes ``raw`` for ``key``; None where one may."""
        del key, raw
        return None

    def refused_here(self, facts: Facts, key: str, raw: str) -> str | None:
        """Why the kernel of this host, and not every one, takes no ``raw`` for ``key``; None where it may."""
        del facts, key, raw
        return None

    @abstractmethod
    def persisted(self, facts: Facts, values: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
        """Path -> assignments that carry ``values`` over a boot of the host that ``facts`` are of.

        Empty where the OS keeps them by itself.
        """

    @abstractmethod
    def file_contents(self, path: str, now: bytes | None, assignments: Mapping[str, str]) -> bytes:
        """The whole file with ``assignments`` in hostcfg's part of it, everything else untouched."""

    @abstractmethod
    def file_restored(self, change: FileChange, now: FileState) -> FileState | None:
        """What takes a change out of a file as it is ``now``; None: it has been changed too much since.

        ``change.after`` is known.  A file that is already as before comes back as it is.
        """

    @abstractmethod
    def outranked_by(self, facts: Facts, key: str) -> str | None:
        """``path:line`` of an assignment that wins at boot over what hostcfg would persist for ``key``."""

    def lost_at_boot(self, facts: Facts, values: Mapping[str, str]) -> Mapping[str, str]:
        """Key -> why the next boot does not set it, and what to do, of ``values`` that are persisted."""
        lost = {}
        for key, raw in values.items():
            winner = self.outranked_by(facts, key)
            if winner is not None:
                path = next(iter(self.persisted(facts, {key: raw})))
                lost[key] = f"{winner} wins over {path} at boot; change or remove that line"
        return lost

    def unreached(self, keys: Sequence[str], ports: Sequence[int] | None) -> Sequence[str]:
        """Notes on what a change of ``keys`` does not reach; ``ports`` None: not known who listens."""
        del keys, ports
        return ()


@cache
def get_changer(os: str) -> Changer:
    """The changer of an OS; ChangeRefused where hostcfg can read it and not change it."""
    from hostcfg.platforms import platform_names

    name = f"hostcfg.platforms.{os}.change"
    if os in platform_names() and find_spec(name) is not None:
        found: Changer = import_module(name).CHANGER
        return found
    raise ChangeRefused(f"hostcfg reads {os} and does not change it")
