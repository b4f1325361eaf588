"""One connection to each host, for a run that asks the same hosts again and again."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Self

from hostcfg.cli.session import Session
from hostcfg.errors import HostError
from hostcfg.transports.base import Transport

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostcfg.reader import Outcome
    from hostcfg.targets import HostSpec
    from hostcfg.transports.base import Command, CommandResult


class InTurn(Transport):
    """A transport that threads use one after the other; what one opens stays open for the next.

    A host that could not be reached is not tried again.
    """

    def __init__(self, inner: Transport) -> None:
        super().__init__(inner.host)
        self._inner = inner
        self._turn = threading.Lock()
        self._failed: HostError | None = None

    def open(self) -> None:
        self._turn.acquire()
        try:
            if self._failed is not None:
                raise HostError(self._failed.kind, self._failed.message, host=self.host)
            self._inner.open()
        except BaseException as error:
            if isinstance(error, HostError):
                self._failed = error
            self._turn.release()
            raise

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        return self._inner.run(command, timeout_s=timeout_s)

    def close(self) -> None:
        self._turn.release()

    def end(self) -> None:
        """Close it for good."""
        self._inner.close()

    @property
    def banner(self) -> str | None:
        return self._inner.banner


@dataclass(frozen=True)
class SharingSession(Session):
    """A session whose hosts have one connection each; a context manager, at whose end they are closed."""

    @classmethod
    def of(cls, session: Session) -> Self:
        """As ``session``, what it has read and asked included."""
        made = cls(**{field.name: getattr(session, field.name) for field in fields(Session)})
        made.__dict__.update(session.__dict__)
        return made

    @cached_property
    def _shared(self) -> tuple[threading.Lock, dict[HostSpec, InTurn]]:
        return threading.Lock(), {}

    def connect(self, spec: HostSpec) -> Transport:
        lock, transports = self._shared
        with lock:
            if spec not in transports:
                transports[spec] = InTurn(super().connect(spec))
            return transports[spec]

    @cached_property
    def _told(self) -> dict[str, Outcome]:
        return {}

    def report_errors(self, outcomes: Iterable[Outcome]) -> None:
        """A dead host's line once, not for each question to it."""
        super().report_errors(
            one for one in outcomes if one.error is None or self._told.setdefault(str(one.error), one) is one
        )

    def __enter__(self) -> Self:
        _ = self._shared, self._told  # before threads need it
        return self

    def __exit__(self, *_: object) -> None:
        for transport in self._shared[1].values():
            transport.end()
