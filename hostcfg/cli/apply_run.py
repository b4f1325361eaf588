"""The work of ``hostcfg apply``: one host, a run over many in batches, or the rest of a run that was cut."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hostcfg.apply import ChangeOptions, apply_host
from hostcfg.batches import BatchRun, batch_line, cut, stopped_line
from hostcfg.changes import Fault, HostChange, Run
from hostcfg.cli import report
from hostcfg.cli.apply_look import NO_LOOK, Look, look_at, question
from hostcfg.cli.apply_options import Asked, parse_check, run_check
from hostcfg.cli.change_common import Hosts, Interrupts, ask, finish, need_someone, side_by_side
from hostcfg.cli.change_preview import Shown, show
from hostcfg.cli.common import TROUBLE, Session
from hostcfg.errors import ChangeRefused, HostcfgError, InternalError, JournalError, UsageError
from hostcfg.fleet import DEFAULT_JOBS
from hostcfg.journal import Draft, Journal
from hostcfg.rollback import rollback_change, settle_change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hostcfg.changes import Change, RunState
    from hostcfg.model import Facts, Plan
    from hostcfg.targets import HostSpec


def apply_new(
    session: Session, specs: Sequence[HostSpec], asked: Asked, sizes: Sequence[tuple[int, bool]], *, yes: bool
) -> int:
    """A new change on ``specs``; the exit code."""
    planner = asked.planner()
    hosts = Hosts(session, specs)
    names = [spec.name for spec in specs]
    batches = cut(names, sizes)
    need_someone(yes=yes)
    look = NO_LOOK if yes and len(specs) == 1 else look_at(session, specs, planner, asked.rules())
    if not yes and not look.ends(asked.rules()):
        show(session, look.plans)
        if any(plan.steps for plan in look.plans):
            ask(question(planner.profile.name, batches, look.failed), yes=yes)
    journal = Journal.open()
    run = None
    if len(names) > 1:
        run = Run(batches, {name: hosts.reach(name) for name in names}, asked.stored(planner))
    draft = journal.draft("apply", profile=planner.document(), run=run)
    allowed = planner if yes else Shown(look.plans).only(planner)
    return _Apply(session, hosts, journal, draft, asked, allowed).over(batches, look)


def refuse_one_host_twice(session: Session, specs: Sequence[HostSpec]) -> None:
    """UsageError where two names are one host: each would take the other's work for somebody else's."""
    if len(specs) < 2:
        return
    seen: dict[object, str] = {}
    for spec in specs:
        if spec.problem is not None:
            continue
        first = seen.setdefault(session.place(spec), spec.name)
        if first != spec.name:
            raise UsageError(f"{first} and {spec.name} are one host: leave one of them out (--exclude)")


def resume(session: Session, change_id: str, given: Mapping[str, Any], *, yes: bool) -> int:
    """The rest of a run: what hangs is settled, then the batches go on; the exit code.

    ``given`` are fields of :class:`Asked` that the command line says anew.
    """
    check = given.get("check")
    journal = Journal.open()
    change = journal.find(change_id)
    change_id = change.id
    run = _resumable(change)
    if run.options.get("check") and check is None:
        raise UsageError(
            "this run checks after each batch, and the journal keeps no commands: give --check again"
        )
    options: dict[str, Any] = {**run.options, "check": check, **given}
    asked = Asked(**options)
    parse_check(check)
    left = _left(change)
    if not left and run.state != "running" and not any(h.unfinished for h in change.hosts):
        click.echo(f"hostcfg: nothing is left to resume: change {change_id} came to every host", err=True)
        return finish(session, change_id, [host for host in change.hosts if host.status == "failed"])
    planner = asked.planner()
    asked.refuse_another_profile(planner, change_id)
    hosts = Hosts(session, known=change.everyone)
    ask(f"go on with {change_id}: {sum(map(len, left))} of {len(run.names)} hosts are left?", yes=yes)
    with Interrupts() as interrupts:
        settle_change(
            change,
            journal=journal,
            connect=hosts.connect,
            read=hosts.read,
            options=ChangeOptions(asked.revert_in_s, force=asked.force),
            each=side_by_side(session, interrupts),
        )
    if interrupts.asked:
        raise KeyboardInterrupt
    change = journal.change(change_id)
    draft = replace(Draft.again(change), run=replace(run, state="running", faults={}), process="")
    left = _left(change)
    specs = [hosts.spec(name) for batch in left for name in batch]
    look = look_at(session, specs, planner, asked.rules()) if len(specs) > 1 else NO_LOOK
    return _Apply(session, hosts, journal, draft, asked, planner).over(left, look, change)


def _resumable(change: Change) -> Run:
    """The run of a change that can go on."""
    if change.kind != "apply" or change.run is None:
        raise ChangeRefused(f"change {change.id} is no run over several hosts: apply again")
    taken = next((host.undone_by for host in change.hosts if host.undone_by is not None), None)
    if taken is not None:
        raise ChangeRefused(f"change {change.id} was taken back by {taken}: apply again")
    return change.run


def _left(change: Change) -> list[list[str]]:
    """The batches without the hosts that need nothing any more, and without those that must be looked at."""
    run = change.run
    assert run is not None  # noqa: S101  # _resumable has seen it
    kept = {h.host for h in change.hosts if h.status in ("applied", "pending", "failed", "unknown")}
    kept |= set(run.unchanged)
    batches = [[name for name in batch if name not in kept] for batch in run.batches]
    return [batch for batch in batches if batch]


class _Apply:
    """One change being made, from its first batch to its report."""

    def __init__(
        self,
        session: Session,
        hosts: Hosts,
        journal: Journal,
        draft: Draft,
        asked: Asked,
        planner: Callable[[Facts], Plan],
    ) -> None:
        self.session = session
        self.hosts = hosts
        self.journal = journal
        self.draft = draft
        self.asked = asked
        self.planner = planner
        self.options = ChangeOptions(asked.revert_in_s, hold=asked.hold, force=asked.force)
        self.interrupts = Interrupts()
        self._run: BatchRun | None = None

    def over(self, batches: Sequence[Sequence[str]], look: Look, before: Change | None = None) -> int:
        """Runs ``batches``, takes back what the rules say, prints; ``before``: what is resumed.

        What ``look`` found of hosts counts before any is begun.
        """
        from hostcfg.cli.progress import progress

        stuck = [h for h in before.hosts if h.status in ("failed", "unknown")] if before else []
        unknown = sum(host.status == "unknown" for host in stuck)
        jobs = self.session.jobs or DEFAULT_JOBS  # never more: what is in hand can't be stopped
        rules = replace(self.asked.rules(), check=self._checker(), jobs=jobs)
        run = self._run = BatchRun(batches, self._one, rules, failures=unknown + len(look.failed))
        run.results.update(look.failed)
        if look.ends(rules):
            run.why = look.why
        self.session.prepare([self.hosts.spec(name) for name in run.not_reached])
        self._keep(run, "running")
        with (
            self.interrupts as interrupts,
            progress(sum(map(len, batches)), verbose=self.session.verbose) as tell,
        ):
            interrupts.heed(run.interrupt)
            run.on_done = lambda change: tell(change.host, change.error.kind if change.error else None)
            run.after_batch = lambda: self._after_batch(run)
            run.run()
        self._keep_or_halt(run, "stopped" if run.why is not None else "ended")
        results = [*stuck, *run.results.values()]
        back = self.asked.on_failure == "rollback" and run.ended_badly and self._stored()
        if back:
            click.echo(f"hostcfg: {run.why}: taking the change back on the hosts that have it", err=True)
            results = self._take_back(results)
        return self._report(run, results, back=back)

    def _after_batch(self, run: BatchRun) -> None:
        """The journal hears how far the run is, and so does whoever watches a run of several batches."""
        from hostcfg.cli.progress import paused

        self._keep_or_halt(run, "running")
        if len(run.batches) > 1 and (self.session.verbose or sys.stderr.isatty()):
            with paused():
                click.echo(f"{self.draft.id}: {batch_line(run)}", err=True)

    def _one(self, name: str) -> HostChange:
        """What became of a host.

        A fault of ours is its failure, and a journal that can't be written is the end of the run: in
        either case the others are not left in the middle.
        """
        events: list[str] = []
        fault: HostcfgError
        try:
            return apply_host(
                name,
                draft=self.draft,
                journal=self.journal,
                connect=self.hosts.connect,
                read=self.hosts.read,
                planner=self.planner,
                options=self.options,
                reach=self.hosts.reach(name),
                on_event=events.append,
            )
        except JournalError as error:
            if self._run is not None:
                self._run.halt(str(error))
            said = "not recorded what became of it" if "journalled" in events else "not begun"
            fault = JournalError(f"{said}: the journal can't be written", host=name)
        except Exception as error:
            fault = InternalError.of(error, name)
        return HostChange(name, "", "unknown" if "journalled" in events else "failed", error=Fault.of(fault))

    def _checker(self) -> Callable[[Sequence[str]], str | None] | None:
        command = parse_check(self.asked.check)
        if command is None:
            return None
        return lambda names: run_check(command, names, self.draft.id)

    def _stored(self) -> bool:
        return self.journal.is_stored(self.draft.id)

    def _keep(self, run: BatchRun, state: RunState) -> None:
        """How far the run is, in the journal."""
        was = self.draft.run
        if was is None:
            return
        done = run.results.values()
        now = replace(
            was,
            state=state,
            unchanged=[*was.unchanged, *(c.host for c in done if c.error is None and not c.steps)],
            faults=_faults_without_steps(done),
        )
        self.journal.run_is(self.draft.id, now)

    def _keep_or_halt(self, run: BatchRun, state: RunState) -> None:
        """As :meth:`_keep`; a journal that can't be written ends the run, and it is told all the same."""
        try:
            self._keep(run, state)
        except JournalError as error:
            run.halt(str(error))

    def _take_back(self, results: Sequence[HostChange]) -> list[HostChange]:
        """Every host of this change back as it was; what became of each, the fault that began it kept."""
        by_name = {change.host: change for change in results}
        with Interrupts() as interrupts:
            try:
                back = rollback_change(
                    self.draft.id,
                    journal=self.journal,
                    connect=self.hosts.connect,
                    read=self.hosts.read,
                    options=ChangeOptions(self.asked.revert_in_s),
                    each=side_by_side(self.session, interrupts),
                )
            except ChangeRefused:
                return list(results)  # no host had come to have it
            except JournalError as error:
                report(error)
                return list(results)
        for change in back.hosts:
            begun = by_name.get(change.host, change)  # a resumed run has hosts from before
            by_name[change.host] = replace(begun, status=change.status, error=change.error or begun.error)
        return list(by_name.values())

    def _report(self, run: BatchRun, results: Sequence[HostChange], *, back: bool) -> int:
        order = {name: number for number, name in enumerate(self.draft.run.names if self.draft.run else [])}
        results = sorted(results, key=lambda change: order.get(change.host, 0))
        change_id = self.draft.id if self._stored() else None
        code = finish(self.session, change_id, results, not_reached=run.not_reached)
        for fault in () if back else run.faults:
            click.echo(f"hostcfg: {fault}", err=True)
        if run.why is None:
            return TROUBLE if run.faults else self.interrupts.code(code)
        if run.not_reached or run.halted:
            resumed = change_id if not back else None  # what was taken back is begun anew
            click.echo(f"hostcfg: {stopped_line(run, resumed)}", err=True)
        return self.interrupts.code(TROUBLE)


def _faults_without_steps(done: Iterable[HostChange]) -> dict[str, Fault]:
    """Why a host failed before the journal had anything of it to keep."""
    return {c.host: c.error for c in done if c.error is not None and not c.steps}
