"""Asking a host what has become of a change on it, over any connection that can be had."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from hostcfg.changes import Fault
from hostcfg.errors import HostError
from hostcfg.lean import dataclass
from hostcfg.platforms.framing import new_nonce

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostcfg.platforms.changer import Changer, Refusal, StatusReport
    from hostcfg.transports.base import Command, CommandResult, Transport

GRACE_S = 20.0
"""How long after its deadline a host is still asked whether its timer has restored it."""

PAUSE_S = 3.0
"""Between two tries to connect to a host that does not let us in."""


def run_whole(transport: Transport, command: Command) -> CommandResult:
    """The result of a command that came to its end; HostError if the connection ended before it."""
    result = transport.run(command)
    if result.status is None:
        raise HostError("command", "the connection ended before the command did", host=transport.host)
    return replace(result, host=transport.host)


class Refused(Exception):
    """The host's own no: nothing is left of what it was asked to do."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def raise_for(refusal: Refusal | None, host: str) -> None:
    """Refused, if the host did refuse."""
    if refusal is not None:
        kind = "no_permission" if refusal.code == "no_permission" else "refused"
        raise Refused(Fault(kind, f"{host}: {refusal.message}"))


@dataclass(frozen=True, slots=True)
class Asking:
    """Questions about one change on one host; ``id_on_host`` is what the host knows it by."""

    host: str
    id_on_host: str
    connect: Callable[[str], Transport]
    changer: Changer

    def over(self, transport: Transport, *, restore: bool) -> StatusReport:
        """What the host says; ``restore`` puts it back first.  HostError if it can't be asked."""
        nonce = new_nonce()
        command = self.changer.status(self.id_on_host, nonce, restore=restore)
        return self.changer.read_status(nonce, run_whole(transport, command))

    def to_restore(self, first: Transport | None, left_s: int | None) -> StatusReport | None:
        """Has the host restored: over ``first``, which may live where a new connection is refused.

        Else new ones are tried until its timer, which has ``left_s`` to go, must have restored it (None:
        no timer, so once).  None if it could not be asked.
        """
        if first is not None:
            try:
                return self.over(first, restore=True)
            except HostError:
                pass  # a new connection tells
        end = time.monotonic() + (0 if left_s is None else left_s + GRACE_S)
        while True:
            try:
                with self.connect(self.host) as transport:
                    return self.over(transport, restore=True)
            except HostError:
                wait_s = end - time.monotonic()
                if wait_s <= 0:
                    return None
                time.sleep(min(PAUSE_S, wait_s))
