"""One call of hostcfg: how it reaches hosts, what it reads and asks once, how it prints."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Sized

    from hostcfg.inventory import Inventory
    from hostcfg.model import Facts, Json
    from hostcfg.outputs.blocks import Block
    from hostcfg.outputs.report.page import Page
    from hostcfg.reader import Outcome
    from hostcfg.targets import HostSpec
    from hostcfg.transports.base import Transport
    from hostcfg.transports.prompts import Prompts
    from hostcfg.transports.ssh_context import SshContext

_MANY = 10
_LIMIT_BYTES = 4 << 20
"""The most that a host of so many may print: far more than any probe does, and a hundred are in hand."""

_ENDS = 2  # of a path: they may have two passwords

_NO_GROUPS = frozenset({"all", "ungrouped"})


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
            from hostcfg.cli import note

            for text in found.notes:
                note(f"note: {text}")
        return found

    def hosts(self, targets: Sequence[str], *, once: bool = True) -> list[HostSpec]:
        """The hosts that ``targets``, ``--limit`` and ``--exclude`` name, in the order of ``targets``."""
        from hostcfg.cli.target_words import check_destination, refuse_password, with_files
        from hostcfg.targets import resolve_targets, select

        for target in targets:
            refuse_password(target)
        words = [word for target in targets or self._chosen() for word in with_files(target)]
        specs = resolve_targets(words, self.inventory, once=once)
        for spec in specs:
            if spec.kind == "ssh" and spec.address == spec.name and spec.problem is None:
                check_destination(spec.address)
        return select(specs, self.inventory, limit=self.limit, exclude=self.exclude)

    def _chosen(self) -> list[str]:
        """Where no target is given: all hosts of the inventory, if ``--limit`` chooses among them."""
        if self.inventory_path is None:
            raise click.UsageError("Missing argument 'TARGET...'.", click.get_current_context(silent=True))
        if not self.limit:
            raise UsageError(
                f"which hosts of {self.inventory_path}? give names, globs, @group or all, or --limit PATTERN"
            )
        return ["all"]

    @cached_property
    def ssh(self) -> SshContext:
        """Everything about SSH that is read once for all hosts."""
        from hostcfg.cli.reach import make_ssh_context

        return make_ssh_context(
            timeout_s=self.timeout_s,
            accept_new=self.accept_new,
            prompts=self.prompts,
            tell=self.tell,
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
            if len(specs) > _MANY:
                self.ssh.limit_bytes = min(self.ssh.limit_bytes, _LIMIT_BYTES)
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
            return make_local(spec, self.become, self.timeout_s, self.prompts, self.tell)
        return make_ssh(
            spec, self.ssh, become=self.become, identity=self.identity, near=lambda: self._near(spec)
        )

    def tell(self, host: str, text: str) -> None:
        """With ``-v``, one line on stderr on what is done on a host."""
        if self.verbose:
            from hostcfg.cli import note

            note(f"{host}: {text}")

    def _near(self, spec: HostSpec) -> str:
        """What a name that is no host's may be a slip of; nothing for what the inventory names."""
        from hostcfg.targets import near_name

        if spec.address != spec.name or (
            self.inventory is not None and self.inventory.match_names(spec.name)
        ):
            return ""
        if spec.name == "all" and self.inventory is None:
            return "; all hosts of an inventory need one: give -i FILE"
        return near_name(spec.name, self.inventory)

    def place(self, spec: HostSpec) -> object:
        """What two hosts have in common only if they are one, as far as the configuration tells."""
        if spec.kind != "ssh":
            return spec.kind, spec.address
        from hostcfg.cli.reach import make_destination

        options = self.ssh.options(make_destination(spec, become=None, identity=None))
        return options.host_name, options.port, options.proxy_jump, options.proxy_command

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
        heed: Callable[[HostSpec, Facts], None] | None = None,
        tell: bool = True,
    ) -> list[Outcome]:
        """Facts of all ``specs``, side by side; each failure is told on stderr as one line, if ``tell``.

        ``peers``: the address of a host's other end, whose route decides which interface matters.
        ``keep_text`` keeps what the hosts printed, which is most of the memory of a large fleet;
        ``heed`` gets the facts with it, in a thread, and what it raises is the host's failure.
        """

        def taken(spec: HostSpec, facts: Facts) -> Facts:
            from hostcfg.reader import without_text

            if heed is not None:
                heed(spec, facts)
            return facts if keep_text else without_text(facts)

        if all(spec.kind == "file" for spec in specs):
            outcomes = self._read(specs, peers or {}, taken)
        else:
            from hostcfg.cli.reach import sigterm_as_ctrl_c

            with sigterm_as_ctrl_c():
                self.prepare(specs)
                self._tell_of_descriptors(specs)
                outcomes = self._read(specs, peers or {}, taken)
        if tell:
            self.report_errors(outcomes)
        return outcomes

    def _read(
        self,
        specs: Sequence[HostSpec],
        peers: Mapping[HostSpec, str | None],
        taken: Callable[[HostSpec, Facts], Facts],
    ) -> list[Outcome]:
        from hostcfg.cli.progress import progress
        from hostcfg.fleet import read_fleet
        from hostcfg.reader import read_host

        with progress(len(specs), verbose=self.verbose) as tell:
            return read_fleet(
                specs,
                lambda spec: taken(spec, read_host(spec, self.connect, peer=peers.get(spec))),
                jobs=self.jobs,
                on_done=lambda one: tell(one.spec.name, one.error.kind if one.error is not None else None),
            )

    def _tell_of_descriptors(self, specs: Sequence[HostSpec]) -> None:
        """A fleet that is read a few hosts at a time says why."""
        from hostcfg.fleet import DEFAULT_JOBS, hosts_at_once

        far = sum(spec.kind == "ssh" for spec in specs)
        wanted = min(far, self.jobs or DEFAULT_JOBS)
        if wanted > 1 and (most := hosts_at_once()) < wanted:
            from hostcfg.cli import note

            hosts = "host" if most == 1 else "hosts"
            note(f"note: only {most} {hosts} at once: raise the limit on open files (ulimit -n)")

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
