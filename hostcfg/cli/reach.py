"""From the command line's options to transports; secrets are asked for here, and nowhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from hostcfg.targets import HostSpec
    from hostcfg.transports.base import Transport
    from hostcfg.transports.destination import Become, Destination
    from hostcfg.transports.prompts import Prompts
    from hostcfg.transports.ssh_context import SshContext


def make_prompts(*, ask_password: bool, ask_become_password: bool) -> Prompts:
    """Secrets from the terminal: passphrases whenever someone is there, passwords where they are wanted."""
    from hostcfg.transports.prompts import Prompts

    someone = sys.stdin.isatty()
    if not someone and (ask_password or ask_become_password):
        raise UsageError("a password is asked for on a terminal, and standard input is none: use a key")
    return Prompts(
        passphrase=(lambda path: _ask(f"passphrase of {path}: ")) if someone else None,
        password=(lambda who: _ask(f"password of {who}: ")) if someone and ask_password else None,
        become=(lambda host: _ask(f"become password on {host}: "))
        if someone and ask_become_password
        else None,
    )


def _ask(question: str) -> str | None:
    from getpass import getpass

    try:
        return getpass(f"hostcfg: {question}", stream=sys.stderr) or None
    except EOFError:
        return None


def make_ssh_context(
    *, timeout_s: float, accept_new: bool, ask_password: bool, ask_become_password: bool
) -> SshContext:
    """Everything about SSH that is read once for all hosts of a run."""
    from hostcfg.transports.lean import import_paramiko

    import_paramiko()
    from hostcfg.transports.ssh_context import SshContext

    prompts = make_prompts(ask_password=ask_password, ask_become_password=ask_become_password)
    return SshContext(timeout_s=timeout_s, accept_new=accept_new, prompts=prompts)


def make_destination(spec: HostSpec, *, become: Become | None, identity: str | None) -> Destination:
    """How ``spec`` is reached; what the inventory says of the host wins over the options."""
    from hostcfg.transports.destination import parse_destination

    return parse_destination(
        spec.address,
        name=spec.name,
        user=spec.user,
        port=spec.port,
        key=spec.key or identity,
        become=spec.become or become,
        jump=spec.jump,
    )


def make_ssh(
    spec: HostSpec, context: SshContext, *, become: Become | None, identity: str | None
) -> Transport:
    """An SSH transport to ``spec``."""
    from hostcfg.transports.ssh import SshTransport

    return SshTransport(make_destination(spec, become=become, identity=identity), context)


def make_local(
    spec: HostSpec, become: Become | None, timeout_s: float, *, ask_become_password: bool
) -> Transport:
    """This machine."""
    from hostcfg.transports.local import LocalTransport

    prompts = make_prompts(ask_password=False, ask_become_password=ask_become_password)
    return LocalTransport(spec.name, timeout_s=timeout_s, become=spec.become or become, prompts=prompts)
