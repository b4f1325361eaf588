"""SSH: one connection to one host, one exec request for each command."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

from hostcfg.errors import HostError
from hostcfg.transports.base import Command, CommandResult, Transport, told_result
from hostcfg.transports.become import dialogue_for
from hostcfg.transports.known_hosts import fingerprint
from hostcfg.transports.ssh_connect import Connection, connect
from hostcfg.transports.words import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostcfg.transports.destination import Become, Destination
    from hostcfg.transports.ssh_context import SshContext


class SshTransport(Transport):
    """A host over SSH.  ``run`` may be called again and again, by one thread at a time.

    A command that runs into a limit ends the connection with it.  Background processes of a command
    must let go of its standard output and error, else the command has not ended.
    """

    def __init__(
        self, destination: Destination, context: SshContext, *, near: Callable[[], str] = lambda: ""
    ) -> None:
        """``near`` is asked what to add to the error where the name is unknown: what may be meant."""
        super().__init__(destination.name)
        self.destination = destination
        self.context = context
        self._near = near
        self._connection: Connection | None = None

    def open(self) -> None:
        if self._connection is not None:
            return
        try:
            self._connection = connect(self.context, self.destination)
        except HostError as error:
            near = self._near() if isinstance(error.__cause__, socket.gaierror) else ""
            if near:
                raise HostError(error.kind, f"{error.message}{near}", host=error.host) from error
            raise
        self.connections_made += 1

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        connection = self._connection
        if connection is None or not connection.session.transport.is_active():
            raise HostError("command", "the connection is closed", host=self.host)
        dialogue = dialogue_for(command, host=self.host, become=self._become(), password=self._password())
        limit_s = self.context.timeout_s if timeout_s is None else timeout_s
        self.commands_run += 1
        began = time.monotonic()
        try:
            result = dialogue.finish(connection.session.run(dialogue, limit_s, self.context.limit_bytes))
            self.context.tell(self.host, told_result(command, result, time.monotonic() - began))
            return result
        except HostError as error:
            if error.kind == "no_permission":
                self.context.prompts.become.forget(self.host)
            else:
                self.close()  # what it still sends or does is nobody's any more
            raise

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def banner(self) -> str | None:
        if self._connection is None:
            return None
        return printable(self._connection.session.transport.remote_version)

    @property
    def host_key_fingerprint(self) -> str | None:
        """``SHA256:...`` of the verified host key, once open: a host that was set up anew has another."""
        if self._connection is None:
            return None
        return fingerprint(self._connection.session.host_key_blob)

    def _become(self) -> Become | None:
        """root needs nobody's leave."""
        if self._connection is not None and self._connection.session.options.user == "root":
            return None
        return self.destination.become

    def _password(self) -> str | None:
        return None if self._become() is None else self.context.prompts.become.get(self.host)
