"""What plan, apply, confirm and rollback share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hostcfg.cli.common import OK, TROUBLE, Session, parse_inputs, parse_link, user_profile_directories
from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.changes import HostChange
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
        from hostcfg.audit import audit_host
        from hostcfg.plan import make_plan
        from hostcfg.platforms import get_platform

        audit = audit_host(facts, self.profile, self.link, self.inputs)
        return make_plan(
            facts,
            audit.differences,
            get_platform(facts.os),
            persist=self.persist,
            force=self.force,
            also=audit.holding,
        )

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
    """Named hosts of one run, as the change engine asks for them."""

    def __init__(self, session: Session, specs: Sequence[HostSpec]) -> None:
        self.session = session
        self.specs = {spec.name: spec for spec in specs}
        for spec in specs:
            if spec.kind == "file":
                raise UsageError(f"{spec.name} is a file: it can be planned with render, and not changed")

    def connect(self, name: str) -> Transport:
        """A fresh, unopened transport."""
        return self.session.connect(self.spec(name))

    def read(self, transport: Transport, name: str) -> Facts:
        """Facts over an open transport."""
        from hostcfg.reader import probe

        return probe(transport, self.spec(name))

    def spec(self, name: str) -> HostSpec:
        """How ``name`` is reached; a name that the journal knows is resolved like a target."""
        if name not in self.specs:
            (self.specs[name],) = self.session.hosts([name])
        return self.specs[name]


def ask(question: str, *, yes: bool) -> None:
    """Go on only if the user says so: with --yes, or at a terminal; UsageError elsewhere."""
    import sys

    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("nobody to ask on this standard input: give --yes to go on without a question")
    click.confirm(question, abort=True, err=True)


def finish(session: Session, change_id: str | None, hosts: Sequence[HostChange]) -> int:
    """Print what became of a change; the exit code."""
    from hostcfg.changes import change_document

    def blocks() -> list[Block]:
        from hostcfg.outputs.change_views import change_blocks

        return change_blocks(change_id, hosts)

    session.emit(lambda: change_document(change_id, hosts), blocks)
    for host in hosts:
        if host.error is not None:
            click.echo(f"hostcfg: {' '.join(host.error.message.split())}", err=True)
    return TROUBLE if any(host.trouble for host in hosts) else OK


def map_hosts(names: Sequence[str], work: Callable[[str], HostChange], jobs: int) -> list[HostChange]:
    """``work`` for each host, side by side; in the order of ``names``."""
    from concurrent.futures import ThreadPoolExecutor

    if len(names) <= 1:
        return [work(name) for name in names]
    with ThreadPoolExecutor(max_workers=min(jobs, len(names))) as pool:
        return list(pool.map(work, names))
