"""The command line: ``hostcfg COMMAND``.  Commands are imported when they are called."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click

from hostcfg import __version__
from hostcfg.errors import HostcfgError, InternalError

COMMANDS = {
    "apply": "hostcfg.cli.apply:apply",
    "confirm": "hostcfg.cli.confirm:confirm",
    "diff": "hostcfg.cli.diff:diff",
    "history": "hostcfg.cli.history:history",
    "parse": "hostcfg.cli.parse:parse",
    "path": "hostcfg.cli.path:path",
    "plan": "hostcfg.cli.plan:plan",
    "profiles": "hostcfg.cli.profiles:profiles",
    "render": "hostcfg.cli.render:render",
    "rollback": "hostcfg.cli.rollback:rollback",
    "show": "hostcfg.cli.show:show",
    "snapshot": "hostcfg.cli.snapshot:snapshot",
}
"""Command name -> where its click command stands."""

SUMMARIES = {
    "apply": "Write a profile to hosts, with backup, revert timer and check.",
    "confirm": "End the waiting time of a change that was held.",
    "diff": "Hosts against a profile, or one host against another.",
    "history": "What was changed, when, by whom, and how it ended.",
    "parse": "Recognise and parse the output of a native command.",
    "path": "Which setting at which end limits a path, and to what rate.",
    "plan": "The exact commands that apply would run; touches nothing.",
    "profiles": "List, show and check profiles.",
    "render": "A profile as commands or config file for someone else's admin.",
    "rollback": "Put before-values back.",
    "show": "Current settings of hosts, and what is worth knowing of them.",
    "snapshot": "Current settings of hosts as files, usable as file: targets.",
}


TARGETS = [
    ("local", "this machine"),
    ("HOST", "an SSH destination: host, user@host:port, [2001:db8::1]:22, an alias of ~/.ssh/config"),
    ("NAME", "a host of the inventory -i FILE; a glob (web*) or range (web[1:3]) of them; all"),
    ("@GROUP", "the hosts of a group of the inventory"),
    ("file:PATH", "a snapshot, or pasted output of native commands; all files of a DIR/ or a 'GLOB'"),
]
"""What a TARGET may be; ``--limit`` and ``--exclude`` take NAME and @GROUP, several with commas."""


class LazyGroup(click.Group):
    """Lists every command without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(sorted(SUMMARIES.items()))
        with formatter.section("Targets"):
            formatter.write_dl(TARGETS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            if near and "Did you mean" not in error.message:
                raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from None
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="hostcfg")
def cli() -> None:
    """Read, compare, change and roll back the TCP settings of hosts.

    \b
    hostcfg diff local --profile wan --rate 1gbit --rtt 80ms
    hostcfg path lon-1 sin-1 --rate 1gbit --rtt 170ms
    hostcfg show web-1 file:far-end.txt
    """


def main() -> None:
    """Entry point: exit 0, 1 (differences), 2 (trouble) or 130 (Ctrl-C); errors are one line on stderr."""
    gc.set_threshold(100_000)  # what a start makes stays: 700, the default, looks through it for nothing
    if sys.stdout is None:  # closed by the caller: there is nobody to tell
        sys.exit(2)
    if sys.stdin is None:  # its number must not become a host's socket
        sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123  # for as long as we run
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    code = _run()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _output_failed(error)
    try:
        sys.stderr.flush()
    except OSError:  # nobody can be told; the interpreter would end with 120
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process, without waiting for hosts that an interrupted run has left in their threads."""
    fleet = sys.modules.get("hostcfg.fleet")
    if fleet is not None and fleet.threads_left():
        with suppress(OSError):
            if (reach := sys.modules.get("hostcfg.cli.reach")) is not None:
                reach.restore_terminal()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)  # the interpreter's own end could not be trusted while they run
    gc.freeze()  # nor does the interpreter's end look through everything once more
    sys.exit(code)


def _run() -> int:
    try:
        with cli.make_context("hostcfg", sys.argv[1:]) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
    except (click.Abort, KeyboardInterrupt, EOFError):
        note("interrupted")
        return 130
    except OSError as error:
        return _output_failed(error)
    except HostcfgError as error:
        report(error)
    except MemoryError:
        report(HostcfgError("not enough memory for this input"))
    except Exception as error:
        report(InternalError.of(error))
    else:
        return 0
    return 2


def _output_failed(error: OSError) -> int:
    """A reader that has gone ends in silence, as `| head` expects; a full disk is told."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries again at its end
    if isinstance(error, BrokenPipeError):
        return 141
    report(HostcfgError(f"{error.strerror or error}", key=str(error.filename or "standard output")))
    return 2


def report(error: HostcfgError) -> None:
    """One line on stderr."""
    note(str(error))


def note(text: str) -> None:
    """One line on stderr; control characters are shown and not obeyed.

    Where it can't be written there is nobody to tell, and the result is no worse for it.
    """
    line = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    with suppress(OSError):
        click.echo(f"hostcfg: {line}", err=True)
