"""What commands share: options, reading hosts, printing results, exit codes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Sized

    from hostcfg.inventory import Inventory
    from hostcfg.model import Facts, Json, Link
    from hostcfg.outputs.blocks import Block
    from hostcfg.outputs.report.page import Page
    from hostcfg.reader import Outcome
    from hostcfg.targets import HostSpec
    from hostcfg.transports.base import Transport
    from hostcfg.transports.prompts import Prompts
    from hostcfg.transports.ssh_context import SshContext

F = TypeVar("F", bound="Callable[..., Any]")

FILE_ENDINGS = (".txt", ".json", ".conf", ".log", ".out")
"""No host's name ends so: what is called so and is there was meant as a file: target."""

FORMS = ("table", "json", "yaml", "markdown")
PAGES = (*FORMS, "html")
"""Forms of a result, and those of a command that reads hosts."""

_ENDS = 2  # of a path: they may have two passwords

_NO_GROUPS = frozenset({"all", "ungrouped"})

OK, DIFFERS, TROUBLE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes, as diff(1); and as a shell tells of what Ctrl-C has ended, 128 + SIGINT."""


@dataclass(frozen=True)
class Session:
    """How hosts are reached and results are printed in this run; threads share it.

    ``timeout_s`` bounds each of connect, login and command of one host.
    """

    output: str = "table"
    color: bool = True
    verbose: int = 0
    jobs: int | None = None
    timeout_s: float = 30.0
    inventory_path: str | None = None
    limit: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    accept_new: bool = False
    identity: str | None = None
    become: Literal["sudo", "doas"] | None = None
    ask_pass: bool = False
    ask_become_pass: bool = False

    @cached_property
    def inventory(self) -> Inventory | None:
        """The inventory that ``-i`` names."""
        if self.inventory_path is None:
            return None
        from hostcfg.inventory import load_inventory

        found = load_inventory(Path(self.inventory_path))
        if self.verbose:
            for note in found.notes:
                click.echo(f"hostcfg: note: {note}", err=True)
        return found

    def hosts(self, targets: Sequence[str], *, once: bool = True) -> list[HostSpec]:
        """The hosts that ``targets``, ``--limit`` and ``--exclude`` name, in the order of ``targets``."""
        from hostcfg.targets import resolve_targets, select

        specs = resolve_targets(targets, self.inventory, once=once)
        for spec in specs:
            if spec.kind == "ssh" and spec.address.endswith(FILE_ENDINGS) and Path(spec.address).is_file():
                raise UsageError(f"{spec.address!r} is a file here: did you mean file:{spec.address}?")
        return select(specs, self.inventory, limit=self.limit, exclude=self.exclude)

    @cached_property
    def ssh(self) -> SshContext:
        """Everything about SSH that is read once for all hosts."""
        from hostcfg.cli.reach import make_ssh_context

        return make_ssh_context(
            timeout_s=self.timeout_s,
            accept_new=self.accept_new,
            prompts=self.prompts,
        )

    @cached_property
    def prompts(self) -> Prompts:
        """Who asks for secrets; one question on the screen at a time."""
        from hostcfg.cli.reach import make_prompts

        return make_prompts(ask_password=self.ask_pass, ask_become_password=self.ask_become_pass)

    def prepare(self, specs: Sequence[HostSpec]) -> None:
        """What is read or asked once for all of ``specs``, before threads need it.

        Of more than two hosts one password and one become password are asked for, as Ansible does; a host
        that does not take it is that host's failure.
        """
        prompts = self.prompts
        if any(spec.kind == "ssh" for spec in specs):
            _ = self.ssh
        if len(specs) > _ENDS and self.ask_pass:
            prompts.password.settle(f"every one of {len(specs)} hosts that wants it")
        if len(specs) > _ENDS and self.ask_become_pass:
            prompts.become.settle(f"every one of {len(specs)} hosts")

    def connect(self, spec: HostSpec) -> Transport:
        """A transport to ``spec``, not yet open; the inventory's fault if it says nothing usable of it."""
        if spec.problem is not None:
            raise spec.problem
        from hostcfg.cli.reach import make_local, make_ssh

        if spec.kind == "local":
            return make_local(spec, self.become, self.timeout_s, self.prompts)
        return make_ssh(
            spec, self.ssh, become=self.become, identity=self.identity, near=lambda: self._near(spec)
        )

    def _near(self, spec: HostSpec) -> str:
        """What a name that is no host's may be a slip of; nothing for what the inventory names."""
        from hostcfg.targets import near_name

        if spec.address != spec.name or (self.inventory is not None and spec.name in self.inventory.names):
            return ""
        if spec.name == "all" and self.inventory is None:
            return "; all hosts of an inventory need one: give -i FILE"
        return near_name(spec.name, self.inventory)

    def address(self, spec: HostSpec) -> str | None:
        """The name or address at which ``spec`` is reached over the network; None for local and files."""
        if spec.kind != "ssh":
            return None
        if spec.problem is not None:
            raise spec.problem
        from hostcfg.cli.reach import make_destination

        return self.ssh.options(make_destination(spec, become=None, identity=None)).host_name

    def read(
        self,
        specs: Sequence[HostSpec],
        peers: Mapping[HostSpec, str | None] | None = None,
        *,
        keep_text: bool = False,
    ) -> list[Outcome]:
        """Facts of all ``specs``, side by side; each failure is told on stderr as one line.

        ``peers``: the address of a host's other end, whose route decides which interface matters.
        ``keep_text`` keeps what the hosts printed, which is most of the memory of a large fleet.
        """
        from hostcfg.cli.progress import progress
        from hostcfg.fleet import read_fleet
        from hostcfg.reader import read_host, without_text

        self.prepare(specs)

        def read(spec: HostSpec) -> Facts:
            facts = read_host(spec, self.connect, peer=(peers or {}).get(spec))
            return facts if keep_text else without_text(facts)

        with progress(len(specs), verbose=self.verbose) as tell:
            outcomes = read_fleet(
                specs,
                read,
                jobs=self.jobs,
                on_done=lambda one: tell(one.spec.name, one.error.kind if one.error is not None else None),
            )
        self.report_errors(outcomes)
        return outcomes

    def details(self, hosts: Sized) -> bool:
        """Whether to show each host in full: a few, or ``-v``; else one row each."""
        from hostcfg.outputs.fleet_views import FEW

        return self.verbose > 0 or len(hosts) <= FEW

    def report_errors(self, outcomes: Iterable[Outcome]) -> None:
        """One line on stderr for each host that could not be read."""
        from hostcfg.cli import report

        for outcome in outcomes:
            if outcome.error is not None:
                report(outcome.error)

    def groups_of(self, *hosts: str) -> list[str]:
        """The inventory's groups that any of ``hosts`` is in, but those that every inventory has."""
        if self.inventory is None:
            return []
        wanted = set(hosts)
        groups = self.inventory.groups.items()
        return [name for name, members in groups if name not in _NO_GROUPS and not wanted.isdisjoint(members)]

    def emit(
        self,
        document: Callable[[], Json],
        blocks: Callable[[], Iterable[Block]],
        page: Callable[[], Page] | None = None,
    ) -> None:
        """Print a result in the form that ``-o`` asks for; only that form is computed.

        ``page``: what ``-o html`` shows, where :data:`PAGES` are the command's forms.
        """
        if self.output == "html" and page is not None:
            from datetime import UTC, datetime

            from hostcfg.outputs.html import to_html

            click.echo(to_html(page(), datetime.now(UTC)), nl=False)
        elif self.output == "json":
            from hostcfg.outputs.serialize import json_parts

            for part in json_parts(document()):
                click.echo(part, nl=False)
        elif self.output == "yaml":
            from hostcfg.outputs.serialize import to_yaml

            click.echo(to_yaml(document()), nl=False)
        elif self.output == "markdown":
            from hostcfg.outputs.markdown import to_markdown

            click.echo(to_markdown(blocks()), nl=False)
        else:
            from hostcfg.outputs.text import make_console, print_blocks

            print_blocks(blocks(), make_console(sys.stdout, color=self.color))


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
        click.option("-v", "--verbose", count=True, help="Say more."),
    )


def host_options() -> Callable[[F], F]:
    """How hosts are found and reached."""
    return _add(
        click.option(
            "-i", "--inventory", "inventory_path", metavar="FILE", help="Inventory (YAML, Ansible, list)."
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
            default=30.0,
            help="Seconds for each of connect, login and command of a host [30].",
        ),
        click.option("--accept-new", is_flag=True, help="Accept and store the key of an unknown host."),
        click.option("--identity", metavar="FILE", help="Private key for SSH."),
        click.option("--become", type=click.Choice(["sudo", "doas"]), help="Become root on the host."),
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
