"""From the command line's options to transports; secrets are asked for here, and nowhere else."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostcfg.targets import HostSpec
    from hostcfg.transports.base import Tell, Transport
    from hostcfg.transports.destination import Become, Destination
    from hostcfg.transports.prompts import Prompts
    from hostcfg.transports.ssh_context import SshContext


def make_prompts(*, ask_password: bool, ask_become_password: bool) -> Prompts:
    """Secrets from the terminal: passphrases whenever someone is there, passwords where they are wanted."""
    from hostcfg.transports.prompts import Prompts

    someone = sys.stdin.isatty()
    if not someone and (ask_password or ask_become_password):
        instead = "use a key" if ask_password else "let sudo or doas there take none (NOPASSWD, nopass)"
        raise UsageError(f"a password is asked for on a terminal, and standard input is none: {instead}")
    return Prompts(
        passphrase=(lambda path: _ask(f"passphrase of {path}: ")) if someone else None,
        password=(lambda who: _ask(f"password of {who}: ")) if someone and ask_password else None,
        become=(lambda host: _ask(f"become password on {host}: "))
        if someone and ask_become_password
        else None,
    )


def _ask(question: str) -> str | None:
    from getpass import getpass

    from hostcfg.cli.progress import paused

    try:
        with paused(), _terminal_kept():
            return getpass(f"hostcfg: {question}", stream=sys.stderr) or None
    except EOFError:
        return None


_kept: list[tuple[int, Any]] = []  # a terminal that does not echo now, and how it was


@contextmanager
def _terminal_kept() -> Iterator[None]:
    """Ctrl-C may leave the thread that asks behind: then :func:`restore_terminal` ends the question."""
    with ExitStack() as afterwards:
        if sys.platform != "win32":  # where getpass reads the console key by key, and changes nothing
            import termios

            with suppress(OSError):
                terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
                afterwards.callback(os.close, terminal)
                _kept.append((terminal, termios.tcgetattr(terminal)))
                afterwards.callback(_kept.clear)
        yield


def restore_terminal() -> None:
    """Let the terminal echo again, if a question is still on it."""
    if sys.platform != "win32":
        import termios

        for terminal, attributes in _kept:
            with suppress(OSError, termios.error):
                termios.tcsetattr(terminal, termios.TCSANOW, attributes)
                sys.stderr.write("\n")


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """In here SIGTERM prints what is known and leaves the terminal as it was; unless it is ignored."""
    import signal

    before = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def make_ssh_context(*, timeout_s: float, accept_new: bool, prompts: Prompts, tell: Tell) -> SshContext:
    """Everything about SSH that is read once for all hosts of a run."""
    from hostcfg.transports.lean import import_paramiko

    import_paramiko()
    from hostcfg.transports.ssh_context import SshContext

    return SshContext(timeout_s=timeout_s, accept_new=accept_new, prompts=prompts, tell=tell)


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
    spec: HostSpec,
    context: SshContext,
    *,
    become: Become | None,
    identity: str | None,
    near: Callable[[], str],
) -> Transport:
    """An SSH transport to ``spec``; ``near`` as for SshTransport."""
    from hostcfg.transports.ssh import SshTransport

    return SshTransport(make_destination(spec, become=become, identity=identity), context, near=near)


def make_local(
    spec: HostSpec, become: Become | None, timeout_s: float, prompts: Prompts, tell: Tell
) -> Transport:
    """This machine."""
    from hostcfg.transports.local import LocalTransport

    way = spec.become or become
    return LocalTransport(spec.name, timeout_s=timeout_s, become=way, prompts=prompts, tell=tell)
