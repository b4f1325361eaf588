"""What plan, apply, confirm and rollback share."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from hostcfg.cli.common import OK, TROUBLE, Session, parse_inputs, parse_link, user_profile_directories
from hostcfg.errors import ChangeRefused, HostcfgError, InternalError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.changes import HostChange
    from hostcfg.hostrun import Each
    from hostcfg.model import Facts, Json, Plan
    from hostcfg.outputs.blocks import Block
    from hostcfg.targets import HostSpec
    from hostcfg.transports.base import Transport


class Planner:
    """Facts of one host to its plan, for one profile on one link."""

    def __init__(
        self,
        profile_name: str,
        rate: str | None,
        rtt: str | None,
        inputs: Sequence[str],
        *,
        persist: bool = False,
        force: bool = False,
    ) -> None:
        from hostcfg.audit import check_call
        from hostcfg.profiles import find_profile

        self.profile = find_profile(profile_name, user_profile_directories())
        self.link = parse_link(rate, rtt)
        self.inputs = parse_inputs(inputs)
        self.persist, self.force = persist, force
        check_call(self.profile, self.link, self.inputs)

    def __call__(self, facts: Facts) -> Plan:
        """The steps from what is to what the profile wants."""
        from hostcfg.audit import SLOWER, audit_host
        from hostcfg.compare import NOT_COMPARED
        from hostcfg.plan import make_plan
        from hostcfg.platforms import get_platform

        audit = audit_host(facts, self.profile, self.link, self.inputs)
        plan = make_plan(
            facts,
            audit.differences,
            get_platform(facts.os),
            persist=self.persist,
            force=self.force,
            also=audit.holding,
            wanted_by=f"profile {self.profile.path}",
        )
        left_out = [f.message for f in audit.findings if f.kind.startswith(NOT_COMPARED)]
        slower = [f.message for f in audit.findings if f.kind == SLOWER and plan.steps]
        return replace(plan, notes=[*plan.notes, *left_out], warnings=slower)

    def document(self) -> Mapping[str, Json]:
        """The profile as the journal keeps it."""
        from hostcfg.outputs.documents import number

        link = self.link
        return {
            "name": self.profile.name,
            "rate_bps": number(link.rate_bps) if link else None,
            "rtt_s": number(link.rtt_s) if link else None,
            "inputs": dict(self.inputs),
        }


class Hosts:
    """Named hosts of one run, as the change engine asks for them.

    ``known`` are hosts as the journal has them, for a change that was made in another process.
    """

    def __init__(
        self, session: Session, specs: Sequence[HostSpec] = (), known: Sequence[HostChange] = ()
    ) -> None:
        self.session = session
        self.known = {host.host: host for host in known}
        self.specs = {spec.name: spec for spec in specs}
        for spec in specs:
            if spec.kind == "file":
                raise UsageError(
                    f"{spec.name} is a file, and can't be changed: plan prints the commands for it, render "
                    "those for any host"
                )

    def connect(self, name: str) -> Transport:
        """A fresh, unopened transport."""
        return self.session.connect(self.spec(name))

    def read(self, transport: Transport, name: str) -> Facts:
        """Facts over an open transport."""
        from hostcfg.reader import probe

        return probe(transport, self.spec(name))

    def spec(self, name: str) -> HostSpec:
        """How ``name`` is reached: as the inventory of this run says, else as it was when it was changed.

        What --identity and --become say wins over the journal.
        """
        if name not in self.specs:
            self.specs[name] = self._resolved(name)
        return self.specs[name]

    def _resolved(self, name: str) -> HostSpec:
        from hostcfg.targets import from_reach, resolve_targets

        inventory = self.session.inventory
        listed = inventory.match(name) if inventory is not None else ()
        if len(listed) == 1:
            return listed[0]
        if name not in self.known or not self.known[name].reach:
            return resolve_targets([name])[0]
        spec = from_reach(name, self.known[name].reach)
        return replace(spec, key=self.session.identity or spec.key, become=self.session.become or spec.become)

    def reach(self, name: str) -> Mapping[str, Json]:
        """How ``name`` is reached in this run, for the journal: no secret, and no relative path."""
        from hostcfg.targets import to_reach

        spec = self.spec(name)
        key = spec.key or self.session.identity
        return to_reach(
            replace(
                spec,
                key=str(Path(key).expanduser().absolute()) if key else None,
                become=spec.become or self.session.become,
            )
        )


def chosen(session: Session, names: Sequence[str]) -> list[str]:
    """Those of ``names``, hosts of a change, that --limit and --exclude leave; UsageError for none."""
    from hostcfg.targets import HostSpec, select

    specs = [HostSpec(name, "ssh") for name in names]
    left = select(specs, session.inventory, limit=session.limit, exclude=session.exclude)
    return [spec.name for spec in left]


def need_someone(*, yes: bool) -> None:
    """UsageError where there must be a question and nobody to answer it."""
    if not yes and not sys.stdin.isatty():
        raise UsageError("nobody to ask on this standard input: give --yes to go on without a question")


def ask(question: str, *, yes: bool, no: str = "not applied") -> None:
    """Go on only if the user says so: with --yes, or at a terminal; ChangeRefused, or UsageError elsewhere.

    A no is an answer and no interrupt, and so is the end of what is typed: ``no`` says what was not done.
    """
    need_someone(yes=yes)
    if not yes and not _says_yes(question):
        raise ChangeRefused(f"{no}; nothing was changed")


def _says_yes(question: str) -> bool:
    try:
        return click.confirm(question, err=True)
    except click.Abort as abort:
        if isinstance(abort.__context__, EOFError):
            click.echo(err=True)
            return False
        raise


def finish(
    session: Session,
    change_id: str | None,
    hosts: Sequence[HostChange],
    *,
    not_reached: Sequence[str] = (),
    rolled_back: bool = False,
    of: str | None = None,
    way_back: bool = False,
) -> int:
    """Print what became of a change (as :func:`change_blocks` does); the exit code."""
    from hostcfg.changes import change_document

    def blocks() -> list[Block]:
        from hostcfg.outputs.change_views import change_blocks

        return change_blocks(
            change_id,
            hosts,
            not_reached=not_reached,
            details=session.details(hosts),
            rolled_back=rolled_back,
            of=of,
            way_back=way_back,
        )

    session.emit(lambda: change_document(change_id, hosts, not_reached), blocks)
    for host in hosts:
        if host.error is not None:
            click.echo(f"hostcfg: {' '.join(host.error.message.split())}", err=True)
    return TROUBLE if any(host.trouble for host in hosts) else OK


class Interrupts:
    """Ctrl-C or SIGTERM once: begin nothing more, and let the hosts in hand come to an end; twice: leave now.

    A host that is left is told by the journal and by its own timer; one that ends needs neither.
    """

    def __init__(self) -> None:
        self.asked = False
        self._signal = signal.SIGINT.value
        self._heed: list[Callable[[], None]] = []
        self._before: dict[int, Any] = {}

    def heed(self, ask: Callable[[], None]) -> None:
        """Call ``ask`` at the first interrupt; it runs in a signal handler."""
        self._heed.append(ask)

    def __enter__(self) -> Self:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no terminal that hangs up
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # nohup(1) has its way
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def code(self, code: int) -> int:
        """The exit status of a run that would end with ``code``: 128 + the signal, if one ended it."""
        return 128 + self._signal if self.asked else code

    def _hear(self, number: int, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self._signal, self.asked = number, True
        text = b"hostcfg: no further host is begun; waiting for those in hand (once more: leave them)\n"
        with suppress(OSError):  # sys.stderr may be in use right where the signal came
            os.write(2, text)
        for ask in self._heed:
            ask()


def side_by_side(session: Session, interrupts: Interrupts) -> Each:
    """How a rollback goes over hosts: several at once, none begun any more after an interrupt."""

    def each(work: Callable[[HostChange], HostChange], hosts: Sequence[HostChange]) -> list[HostChange]:
        from hostcfg.changes import Fault, HostChange
        from hostcfg.cli.progress import progress
        from hostcfg.fleet import SideBySide
        from hostcfg.targets import HostSpec

        def guarded(host: HostChange) -> HostChange:
            try:
                return work(host)
            except HostcfgError:
                raise
            except Exception as error:  # the others go on, and this one is still unfinished
                fault = Fault.of(InternalError.of(error, host.host))
                return HostChange(host.host, host.os, "unknown", error=fault)

        session.prepare([HostSpec(h.host, "local" if h.host == "local" else "ssh") for h in hosts])
        side = SideBySide(hosts, guarded, session.jobs, stopping=lambda: interrupts.asked)
        interrupts.heed(side.nudge)
        done: dict[int, HostChange] = {}
        with progress(len(hosts), verbose=session.verbose) as tell:
            for index, change in side:
                done[index] = change
                tell(change.host, change.error.kind if change.error is not None else None)
        return [done[index] for index in sorted(done)]

    return each
