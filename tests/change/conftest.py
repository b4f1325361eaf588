"""A real host in namespaces, a journal of its own, and short ways to apply and roll back."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions, apply_host
from hostcfg.journal import Journal
from hostcfg.model import Native
from hostcfg.plan import Wanted, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.reader import probe
from hostcfg.targets import HostSpec
from tests.change.namespace import Namespace, NamespaceTransport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hostcfg.apply import Planner
    from hostcfg.changes import HostChange
    from hostcfg.journal import Draft
    from hostcfg.model import Facts, Plan
    from hostcfg.transports.base import Transport

WAN = {
    "net.ipv4.tcp_rmem": "4096\t131072\t12582912",
    "net.ipv4.tcp_wmem": "4096\t16384\t12582912",
    "net.ipv4.tcp_congestion_control": "reno",
    "net.ipv4.tcp_mtu_probing": "1",
    "net.ipv4.tcp_slow_start_after_idle": "0",
    "qdisc/eth0": "bfifo",
    "txqueuelen/eth0": "2000",
}
LAN = {
    "net.ipv4.tcp_rmem": "4096\t65536\t65536",
    "net.ipv4.tcp_wmem": "4096\t16384\t65536",
    "net.ipv4.tcp_ecn": "1",
    "qdisc/eth0": "pfifo",
}
RFC1323_OFF = {
    "net.ipv4.tcp_window_scaling": "0",
    "net.ipv4.tcp_timestamps": "0",
    "net.ipv4.tcp_rmem": "4096\t65535\t65535",
}


def read(transport: Transport, host: str) -> Facts:
    """As the command line reads."""
    return probe(transport, HostSpec(name=host, kind="ssh", address=host))


@dataclass
class Lab:
    """One host, one controller."""

    host: Namespace
    journal: Journal
    state: Path
    transports: list[NamespaceTransport] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    refuse: bool = False  # no new connection is let in
    cut: bool = False  # connections that exist are gone
    user: str = "root"
    umask: str = "022"
    cut_at: tuple[int, str] | None = None  # the n-th command of an apply: before, after, for good
    # in the n-th command, at the m-th of these calls, the shell gets this signal, or error=NAME
    kill_shell: tuple[int, int, str, str] | None = None
    trace: str = "/dev/null"  # what strace writes down then
    killed: bool = False
    commands: int = 0
    native: list[str] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)

    def connect(self, name: str) -> NamespaceTransport:
        transport = NamespaceTransport(self, name)
        self.transports.append(transport)
        return transport

    def let_in_after(self, seconds: float) -> None:
        """The host takes connections again after a while."""

        def open_again() -> None:
            self.refuse = self.cut = False

        timer = threading.Timer(seconds, open_again)
        timer.daemon = True
        timer.start()

    def read(self, transport: Transport, host: str) -> Facts:
        """With ``native``, which the probe does not read."""
        facts = read(transport, host)
        more = {key: Native(key, self.host.get(key)) for key in self.native}
        return replace(facts, native={**facts.native, **more})

    def apply_native(self, wanted: Mapping[str, str], *, hold: bool = False) -> tuple[str, HostChange]:
        """Keys that the probe does not read, in the order given."""
        self.native = list(wanted)

        def plan(facts: Facts) -> Plan:
            rows = [Wanted(key, raw) for key, raw in wanted.items()]
            return plan_writes(facts, get_platform("linux"), rows, ordered=True)

        return self.apply_plan(plan, hold=hold)

    def apply_plan(self, plan: Planner, *, hold: bool = False) -> tuple[str, HostChange]:
        draft = self.journal.draft("apply")
        result = apply_host(
            "host1",
            draft=draft,
            journal=self.journal,
            connect=self.connect,
            read=self.read,
            planner=plan,
            options=ChangeOptions(revert_in_s=20, hold=hold),
        )
        return draft.id, result

    def apply(
        self,
        wanted: Mapping[str, str],
        *,
        persist: bool = False,
        revert_in_s: int = 20,
        hold: bool = False,
        force: bool = False,
    ) -> tuple[str, HostChange]:
        draft = self.drafts.pop() if self.drafts else self.journal.draft("apply", profile={"name": "test"})
        self.commands = 0
        self.killed = False

        def plan(facts: Facts) -> Plan:
            rows = [Wanted(key, raw) for key, raw in wanted.items() if facts.native[key].raw != raw]
            return plan_writes(facts, get_platform("linux"), rows, persist=persist, force=force)

        result = apply_host(
            "host1",
            draft=draft,
            journal=self.journal,
            connect=self.connect,
            read=read,
            planner=plan,
            options=ChangeOptions(revert_in_s=revert_in_s, hold=hold, force=force),
            on_event=self.events.append,
        )
        return draft.id, result


@pytest.fixture
def host() -> Iterator[Namespace]:
    with Namespace() as namespace:
        yield namespace


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal.open(tmp_path / "state")
    yield opened
    opened.close()


@pytest.fixture
def lab(host: Namespace, journal: Journal, tmp_path: Path) -> Lab:
    return Lab(host, journal, tmp_path / "state")
