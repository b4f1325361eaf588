"""Apply and rollback on the emulated FreeBSD: files in place, modules, the real lock-out, its old shells."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions, apply_host
from hostcfg.errors import ChangeRefused, HostError
from hostcfg.plan import Wanted, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.platforms.freebsd.change import CHANGER
from hostcfg.rollback import rollback_change, rollback_unfinished
from hostcfg.transports.base import CommandResult, Transport
from tests.change.conftest import read
from tests.change.test_apply import wait_until
from tests.hosts.freebsd.host import FreeBsdHost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hostcfg.changes import HostChange
    from hostcfg.journal import Journal
    from hostcfg.model import Facts, Plan
    from hostcfg.transports.base import Command

pytestmark = pytest.mark.root

PLATFORM = get_platform("freebsd")
WAN = {
    "kern.ipc.maxsockbuf": "33554432",
    "net.inet.tcp.sendbuf_max": "16777216",
    "net.inet.tcp.recvbuf_max": "16777216",
    "net.inet.tcp.cc.algorithm": "htcp",
}
LAN = {"net.inet.tcp.sendbuf_max": "65536", "net.inet.tcp.ecn.enable": "1"}
RFC1323_OFF = {"net.inet.tcp.rfc1323": "0", "net.inet.tcp.recvbuf_max": "65535"}


class Inside(Transport):
    """Commands on the emulated host; a new connection is made only while its kernel can make a socket."""

    def __init__(self, lab: FreeBsdLab) -> None:
        super().__init__("fbsd")
        self.lab = lab

    def open(self) -> None:
        if self.lab.refuse or not self.lab.host._accepts():
            raise HostError("unreachable", "connection reset", host=self.host)
        self.connections_made += 1

    def run(self, command: Command, *, timeout_s: float | None = 60) -> CommandResult:
        if self.lab.cut:
            raise HostError("command", "the connection is gone", host=self.host)
        self.commands_run += 1
        argv = [*self.lab.host.enter(self.lab.user), *shlex.split(command.line)]
        done = subprocess.run(argv, input=command.stdin, capture_output=True, timeout=timeout_s)
        return CommandResult(done.stdout, done.stderr, done.returncode)

    def close(self) -> None:
        pass


@dataclass
class FreeBsdLab:
    host: FreeBsdHost
    journal: Journal
    refuse: bool = False
    cut: bool = False
    user: str = "root"
    transports: list[Inside] = field(default_factory=list)

    def connect(self, _: str) -> Inside:
        self.transports.append(Inside(self))
        return self.transports[-1]

    def apply(
        self,
        wanted: Mapping[str, str],
        *,
        persist: bool = False,
        force: bool = False,
        revert_in_s: int = 30,
        hear: object = None,
    ) -> tuple[str, HostChange]:
        draft = self.journal.draft("apply")

        def plan(facts: Facts) -> Plan:
            rows = [Wanted(key, raw) for key, raw in wanted.items() if facts.native[key].raw != raw]
            return plan_writes(facts, PLATFORM, rows, persist=persist, force=force)

        result = apply_host(
            "fbsd",
            draft=draft,
            journal=self.journal,
            connect=self.connect,
            read=read,
            planner=plan,
            options=ChangeOptions(revert_in_s=revert_in_s, force=force),
            on_event=hear or (lambda _: None),  # type: ignore[arg-type]
        )
        return draft.id, result

    def back(self, change_id: str) -> HostChange:
        rollback = rollback_change(
            change_id, journal=self.journal, connect=self.connect, read=read, options=ChangeOptions(30)
        )
        (host,) = rollback.hosts
        return host


@pytest.fixture(params=["14.2", "9.3"])
def lab(request: pytest.FixtureRequest, journal: Journal) -> Iterator[FreeBsdLab]:
    with FreeBsdHost(release=request.param) as host:
        yield FreeBsdLab(host, journal)


@pytest.fixture
def lab14(journal: Journal) -> Iterator[FreeBsdLab]:
    with FreeBsdHost(values={"net.inet.tcp.recvspace": "65536"}) as host:
        yield FreeBsdLab(host, journal)


def test_three_profiles_and_back_leave_the_host_byte_for_byte(lab: FreeBsdLab) -> None:
    start = lab.host.snapshot()
    ids = []
    for wanted in (WAN, LAN, RFC1323_OFF):
        change_id, result = lab.apply(wanted, persist=True)
        assert (result.status, result.error) == ("applied", None)
        assert {s.outcome for s in result.steps} == {"set"}
        ids.append(change_id)
    conf = lab.host.file("/etc/sysctl.conf").read_text()
    assert conf.startswith("#\n#  This file is read when going to multi-user")
    block = conf.partition("# BEGIN hostcfg")[2]
    assert "\nnet.inet.tcp.recvbuf_max=65535\n" in block
    assert "\nkern.ipc.maxsockbuf=33554432\n" in block
    assert 'cc_htcp_load="YES"' in lab.host.file("/boot/loader.conf").read_text()
    assert lab.host.get("net.inet.tcp.cc.algorithm") == "htcp"
    for change_id in reversed(ids):
        host = lab.back(change_id)
        assert (host.status, host.error) == ("reverted", None)
    assert lab.host.snapshot() == start


def test_var_lib_is_made_for_all_and_what_is_in_it_for_root(lab14: FreeBsdLab) -> None:
    """FreeBSD has no /var/lib; ports that make a folder there later must be able to go through it."""
    lab14.host.run("rm -rf /var/lib")
    lab14.apply(LAN)
    assert lab14.host.run("ls -ld /var/lib /var/lib/hostcfg | cut -c1-10").stdout.split() == [
        "drwxr-xr-x",
        "drwx------",
    ]


def test_caps_are_raised_before_what_they_cap(lab14: FreeBsdLab) -> None:
    _, result = lab14.apply({"net.inet.tcp.sendspace": "4194304", "kern.ipc.maxsockbuf": "33554432"})
    assert [s.key for s in result.steps] == ["kern.ipc.maxsockbuf", "net.inet.tcp.sendspace"]
    assert result.status == "applied"


LOCKOUT = {"kern.ipc.maxsockbuf": "65536"}


def test_a_lock_out_is_refused(lab14: FreeBsdLab) -> None:
    start = lab14.host.snapshot()
    _, result = lab14.apply(LOCKOUT)
    assert result.status == "failed"
    assert result.error is not None
    assert (
        "net.inet.tcp.recvspace = 65536 is above 8/9 of kern.ipc.maxsockbuf = 65536" in result.error.message
    )
    assert "--force" in result.error.message
    assert lab14.host.snapshot() == start


def test_a_forced_lock_out_is_undone_over_the_connection_that_lives(lab14: FreeBsdLab) -> None:
    start = lab14.host.snapshot()
    _, result = lab14.apply(LOCKOUT, force=True)
    assert result.status == "reverted"
    assert result.error is not None
    assert "connection reset" in result.error.message
    assert lab14.host.snapshot() == start
    assert lab14.host._accepts()


def test_a_forced_lock_out_with_the_controller_gone_is_undone_by_the_timer(lab14: FreeBsdLab) -> None:
    """The real one (lockout.txt): every new connection is closed; only the timer on the host helps."""
    start = lab14.host.snapshot()

    def hear(event: str) -> None:
        if event == "written":
            assert not lab14.host._accepts()
            lab14.cut = True  # and the first connection is gone as well

    change_id, result = lab14.apply(LOCKOUT, force=True, revert_in_s=6, hear=hear)
    assert result.status == "unknown" or lab14.host._accepts()
    lab14.cut = False
    wait_until(lab14.host._accepts, 10)
    wait_until(lambda: lab14.host.snapshot() == start, 5)
    wait_until(lambda: not lab14.host.processes(), 5)
    rollback_unfinished(journal=lab14.journal, connect=lab14.connect, read=read, options=ChangeOptions(30))
    assert lab14.journal.change(change_id).hosts[0].status == "reverted"


def test_a_value_that_only_grows_is_refused_and_named_when_forced(lab14: FreeBsdLab) -> None:
    key = "kern.ipc.nmbclusters"
    more = str(int(lab14.host.get(key) or 0) + 1000)
    _, refused = lab14.apply({key: more})
    assert refused.error is not None
    assert "only lets it grow" in refused.error.message
    change_id, forced = lab14.apply({key: more}, force=True)
    assert forced.status == "applied"
    host = lab14.back(change_id)
    assert host.status == "failed"
    assert host.error is not None
    assert f"{key}: it was written by force and nothing can take it back" in host.error.message


def test_what_only_the_loader_sets_is_refused(lab14: FreeBsdLab) -> None:
    _, result = lab14.apply({"net.inet.tcp.syncache.hashsize": "1024"})
    assert result.error is not None
    assert "set it in /boot/loader.conf" in result.error.message


def test_outcomes_on_freebsd(lab14: FreeBsdLab) -> None:
    start = lab14.host.snapshot()
    _, result = lab14.apply({"net.inet.tcp.keepidle": "7200999"})  # rounded to ticks, status 0
    assert (result.steps[0].outcome, result.status) == ("clamped", "reverted")
    _, result = lab14.apply({"net.inet.tcp.sendbuf_max": "5000000000"})  # cut to 32 bits, status 0
    assert (result.steps[0].outcome, result.steps[0].read_back) == ("clamped", "705032704")
    _, result = lab14.apply({"net.inet.tcp.mssdflt": "100"})
    assert (result.steps[0].outcome, result.steps[0].error) == (
        "rejected",
        "sysctl: net.inet.tcp.mssdflt=100: Invalid argument",
    )
    _, result = lab14.apply({"net.inet.tcp.cc.algorithm": "nonesuch"})
    assert result.steps[0].outcome == "rejected"
    assert "No such process" in result.steps[0].error
    assert lab14.host.snapshot() == start


def test_a_sysctl_that_exits_0_without_doing_it_is_seen(journal: Journal) -> None:
    with FreeBsdHost(about={"ignores": "net.inet.tcp.sack.enable"}) as host:
        lab = FreeBsdLab(host, journal)
        _, result = lab.apply({"net.inet.tcp.rfc1323": "0", "net.inet.tcp.sack.enable": "0"})
        assert result.status == "reverted"
        assert {s.key: s.outcome for s in result.steps}["net.inet.tcp.sack.enable"] == "rejected"
        assert host.get("net.inet.tcp.rfc1323") == "1"


def test_in_a_jail_the_global_values_are_denied(journal: Journal) -> None:
    with FreeBsdHost(about={"jail": "vnet"}) as host:
        lab = FreeBsdLab(host, journal)
        start = host.snapshot()
        _, result = lab.apply({"kern.ipc.maxsockbuf": "33554432"})
        assert (result.status, result.steps[0].outcome) == ("reverted", "denied")
        assert host.snapshot() == start
        assert lab.apply(LAN)[1].status == "applied"


def test_another_user_is_told_to_be_root(lab14: FreeBsdLab) -> None:
    lab14.user = "ops"
    _, result = lab14.apply(LAN)
    assert result.error is not None
    assert result.error.kind == "no_permission"


def test_a_module_that_the_change_loaded_goes_with_it(lab14: FreeBsdLab) -> None:
    change_id, result = lab14.apply({"net.inet.tcp.cc.algorithm": "htcp"})
    assert result.status == "applied"
    assert "cc_htcp" in lab14.host.run("kldstat").stdout
    assert lab14.journal.change(change_id).hosts[0].modules == ("cc_htcp",)
    assert lab14.back(change_id).status == "reverted"
    assert "cc_htcp" not in lab14.host.run("kldstat").stdout


def test_a_module_that_was_there_stays(lab14: FreeBsdLab) -> None:
    lab14.host.run("kldload cc_htcp")
    change_id, _ = lab14.apply({"net.inet.tcp.cc.algorithm": "htcp"})
    lab14.back(change_id)
    assert "cc_htcp" in lab14.host.run("kldstat").stdout


HOSTILE = ["$(touch /tmp/owned)", "`touch /tmp/owned`", "a'; touch /tmp/owned; '", 'x" & y', "-n", "%s", "*"]


def test_hostile_values_reach_no_shell(lab14: FreeBsdLab) -> None:
    start = lab14.host.snapshot()
    for raw in HOSTILE:
        _, result = lab14.apply({"net.inet.tcp.cc.algorithm": raw})
        assert result.status in ("failed", "reverted")
    assert lab14.host.snapshot() == start
    assert not lab14.host.file("/tmp/owned").exists()


@pytest.mark.parametrize("key", ["-x", "a b", "a=b", "kern.x;reboot", "", "a\nb", "$(x)"])
def test_a_key_that_is_no_name_is_refused(key: str, lab14: FreeBsdLab) -> None:
    with lab14.connect("fbsd") as transport:
        facts = read(transport, "fbsd")
    with pytest.raises(Exception, match="sysctl name") as raised:
        CHANGER.inverse(facts, key, "1")
    assert "\n" not in str(raised.value)
    with pytest.raises(ChangeRefused, match="it is a fact"):
        CHANGER.inverse(facts, "hw.ncpu", "1")
