"""What commands share: options, the session that they make, exit codes."""

from __future__ import annotations

from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hostcfg.cli.session import Session as Session  # noqa: PLC0414  # commands take it from here
from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hostcfg.model import Facts, Link
    from hostcfg.reader import Outcome

F = TypeVar("F", bound="Callable[..., Any]")

FORMS = ("table", "json", "yaml", "markdown")
PAGES = (*FORMS, "html")
"""Forms of a result, and those of a command that reads hosts."""

TARGET_HELP = "A target: local, HOST, NAME, @GROUP or file:PATH, as hostcfg --help has them."

OK, DIFFERS, TROUBLE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes, as diff(1); and as a shell tells of what Ctrl-C has ended, 128 + SIGINT."""


def facts_of(outcomes: Sequence[Outcome]) -> list[Facts]:
    """The facts of the hosts that could be read."""
    return [outcome.facts for outcome in outcomes if outcome.facts is not None]


def code_of(outcomes: Iterable[Outcome], *, differs: bool = False) -> int:
    """130 after Ctrl-C, 2 if any host could not be read, else 1 if something differs, else 0."""
    kinds = {outcome.error.kind for outcome in outcomes if outcome.error is not None}
    if "interrupted" in kinds:
        return INTERRUPTED
    if kinds:
        return TROUBLE
    return DIFFERS if differs else OK


def output_options(*, formats: Sequence[str] = FORMS) -> Callable[[F], F]:
    """``-o``, ``--no-color`` and ``-v``."""
    return _add(
        click.option(
            "-o",
            "--output",
            type=click.Choice(list(formats)),
            default="table",
            show_default=True,
            help="Form of the result.",
        ),
        click.option("--no-color", "color", is_flag=True, flag_value=False, default=True, help="No colour."),
        click.option("-v", "--verbose", count=True, help="Say what is done on each host."),
    )


def _a_number(_: click.Context, __: click.Parameter, value: float) -> float:
    """No range leaves NaN out."""
    if value != value:  # what NaN is known by
        raise click.BadParameter(f"{value} is no number of seconds.")
    return value


_WAYS = ("sudo", "doas")


def _a_way(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Ansible's flag of this name takes no value, so the word after it is often a target here."""
    if value is not None and value not in _WAYS:
        raise click.BadParameter(f"{value!r} is no way to become root: give --become sudo or --become doas.")
    return value


def _one_inventory(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Ansible merges several, so the last alone must not win in silence; "" would be the current folder."""
    if len(values) > 1:
        raise click.BadParameter("one inventory: give -i once; a directory merges what is in it.")
    if values and not values[0]:
        raise click.BadParameter("it is empty: leave -i out, or name a file.")
    if values and values[0].endswith(",") and not Path(values[0]).exists():
        raise click.BadParameter(f"{values[0]!r} is no file: hosts are targets, without -i.")
    return values[0] if values else None


def host_options() -> Callable[[F], F]:
    """How hosts are found and reached."""
    return _add(
        click.option(
            "-i",
            "--inventory",
            "inventory_path",
            metavar="FILE",
            multiple=True,
            callback=_one_inventory,
            help="Inventory (YAML, Ansible, list).",
        ),
        click.option(
            "--limit", metavar="PATTERN", multiple=True, help="Only these: a name, glob or group, or several."
        ),
        click.option("--exclude", metavar="PATTERN", multiple=True, help="Not these."),
        click.option(
            "-j", "--jobs", type=click.IntRange(1, 1000), help="Hosts at once [100, more while some hang]."
        ),
        click.option(
            "--timeout",
            "timeout_s",
            metavar="S",
            type=click.FloatRange(0, 86400, min_open=True),
            callback=_a_number,
            default=30.0,
            help="Seconds for each of connect, login and command of a host [30].",
        ),
        click.option("--accept-new", is_flag=True, help="Accept and store the key of an unknown host."),
        click.option("--identity", metavar="FILE", help="Private key for SSH."),
        click.option(
            "--become",
            metavar="[sudo|doas]",
            callback=_a_way,
            shell_complete=lambda _, __, begun: [way for way in _WAYS if way.startswith(begun)],
            help="Become root on the host.",
        ),
        click.option("--ask-pass", is_flag=True, help="Ask for the SSH password."),
        click.option("--ask-become-pass", is_flag=True, help="Ask for the password of --become."),
    )


def profile_options(*, required: bool = True) -> Callable[[F], F]:
    """Which profile, for which link."""
    return _add(
        click.option(
            "-p", "--profile", "profile_name", metavar="NAME|FILE", required=required, help="Profile."
        ),
        click.option("--rate", metavar="R", help="Link rate: 100mbit, 1G, 1235KiB/s."),
        click.option("--rtt", metavar="T", help="Round-trip time: 80ms, 0.08s."),
        click.option(
            "--set",
            "--input",
            "inputs",
            metavar="INPUT=VALUE",
            multiple=True,
            help="An input of the profile, e.g. streams=4.",
        ),
    )


def _add(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def with_session(command: Callable[..., int | None]) -> Callable[..., None]:
    """Call ``command(session, ...)`` with the common options as a Session; its return is the exit code."""

    def call(**options: Any) -> None:
        known = {k: options.pop(k) for k in list(options) if k in Session.__dataclass_fields__}
        if known.get("output") == "html":
            _need_report_libraries()
        code = command(Session(**known), **options)
        click.get_current_context().exit(code or OK)

    update_wrapper(call, command)
    return call


def _need_report_libraries() -> None:
    """UsageError if the extra is not installed, before any host is asked."""
    from importlib.util import find_spec

    missing = [name for name in ("jinja2", "pygal") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"-o html needs {' and '.join(missing)}: pip install 'hostcfg[report]' "
            "(in a checkout: sh setup.sh report)"
        )


def parse_inputs(pairs: Sequence[str]) -> dict[str, str]:
    """``--set`` arguments as a mapping; UsageError for one without ``=``."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name.strip():
            raise UsageError(f"--set {pair!r}: give INPUT=VALUE, as in --set streams=4")
        found[name.strip()] = value.strip()
    return found


def parse_link(rate: str | None, rtt: str | None) -> Link | None:
    """The link of ``--rate`` and ``--rtt``; None if neither is given, UsageError if only one is."""
    from hostcfg.model import Link
    from hostcfg.units import parse_rate, parse_time

    if rate is None and rtt is None:
        return None
    if rate is None or rtt is None:
        missing = "--rtt 80ms" if rtt is None else "--rate 100mbit"
        raise UsageError(f"a link has a rate and a round-trip time: give {missing} too")
    return Link(parse_rate(rate), parse_time(rtt))


def user_profile_directories() -> list[Path]:
    """Where a user's own profiles are: HOSTCFG_PROFILES (like PATH), then the configuration folder."""
    import os

    named = [Path(p) for p in os.environ.get("HOSTCFG_PROFILES", "").split(os.pathsep) if p]
    # click's, which is there already: platformdirs would add a sixth of what click takes
    own = Path(click.get_app_dir("hostcfg", roaming=False)) / "profiles"
    return [*named, *([own] if own.is_absolute() and own.is_dir() else [])]
