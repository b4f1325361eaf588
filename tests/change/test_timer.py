"""The revert timer against what a host in trouble does to it, under each shell."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions
from hostcfg.rollback import rollback_change, rollback_unfinished
from tests.change.conftest import Lab, read
from tests.change.namespace import Namespace
from tests.change.test_apply import SHELLS, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostcfg.journal import Journal

pytestmark = pytest.mark.root

SACK = "net.ipv4.tcp_sack"
SLOW_SHELLS = {"/usr/bin/mksh", "/usr/bin/ksh93"}
WANTED = {SACK: "0", "net.ipv4.tcp_rmem": "4096\t65536\t65536", "qdisc/eth0": "bfifo"}


def has_state(lab: Lab, state: str) -> bool:
    return f"state.{state}" in lab.host.sh("ls /var/lib/hostcfg/*/")


def has_line(lab: Lab, path: str, words: str) -> bool:
    return words in Path(f"/proc/{lab.host.pid}/root{path}").read_text(errors="replace")


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, journal: Journal, tmp_path: Path) -> Iterator[Lab]:
    with Namespace(request.param) as host:
        yield Lab(host, journal, tmp_path / "state")


def test_a_timer_that_is_told_to_end_restores_first(shell: Lab) -> None:
    """A soft reboot ends every process and keeps the kernel with the new values."""
    start = shell.host.snapshot()
    shell.apply(WANTED, hold=True, revert_in_s=300)
    assert shell.host.get(SACK) == "0"
    shell.host.sh("kill -TERM $(cat /var/lib/hostcfg/*/timer.pid)")
    wait_until(lambda: has_state(shell, "restored"), 20)
    wait_until(lambda: not shell.host.processes(), 10)
    assert shell.host.snapshot() == start


def test_a_timer_that_is_told_to_end_leaves_a_confirmed_change(lab: Lab) -> None:
    change_id, _ = lab.apply(WANTED, revert_in_s=300)
    wait_until(lambda: not lab.host.processes(), 10)
    lab.host.sh(f"(sh /var/lib/hostcfg/{change_id}/restore timer & kill -TERM $!); true")
    wait_until(lambda: not lab.host.processes(), 10)
    assert has_state(lab, "confirmed")
    assert lab.host.get(SACK) == "0"


def test_a_timer_that_gets_no_process_for_a_while_still_restores(
    shell: Lab, request: pytest.FixtureRequest
) -> None:
    """Out of memory or of processes: the kernel answers forks of the timer with EAGAIN.

    Most shells end at the first no, bash after five within 15 s; yash and ksh93 go on with an empty answer.
    """
    if request.node.callspec.params["shell"] in SLOW_SHELLS and not request.config.getoption("--long"):
        pytest.skip("takes half a minute with this shell: --long")
    start = shell.host.snapshot()
    change_id, _ = shell.apply(WANTED, hold=True, revert_in_s=8)
    shell.host.sh(f"kill -9 $(cat /var/lib/hostcfg/{change_id}/timer.pid)")
    trace = "strace -o /dev/null -e inject=fork,vfork,clone,clone3:error=EAGAIN:when=2..7"
    restore = ["/bin/sh", f"/var/lib/hostcfg/{change_id}/restore", "timer"]
    subprocess.run(shell.host.argv(*trace.split(), *restore), timeout=100)
    assert has_state(shell, "restored")
    assert shell.host.snapshot() == start


def test_a_timer_does_not_give_up_on_a_value_that_comes_back_later(lab: Lab) -> None:
    """Nobody comes after the timer: what it can not do in its first passes it can once trouble is over."""
    start = lab.host.snapshot()
    change_id, _ = lab.apply(WANTED, persist=True, hold=True, revert_in_s=4)
    home = f"/var/lib/hostcfg/{change_id}"
    lab.host.sh("for t in cat tc; do mount --bind /bin/false $(readlink -f $(command -v $t)); done")
    wait_until(lambda: has_line(lab, f"{home}/timer.log", "not back"), 20)
    assert has_state(lab, "restoring")
    lab.host.sh("for t in cat tc; do umount $(readlink -f $(command -v $t)); done")
    wait_until(lambda: has_state(lab, "restored"), 30)
    wait_until(lambda: not lab.host.processes(), 10)
    assert lab.host.snapshot() == start


def test_a_timer_that_tries_again_is_over_once_somebody_else_has_settled_it(lab: Lab) -> None:
    change_id, _ = lab.apply(WANTED, hold=True, revert_in_s=4)
    log = f"/var/lib/hostcfg/{change_id}/timer.log"
    lab.host.sh("mount --bind /bin/false $(readlink -f $(command -v tc))")
    wait_until(lambda: has_line(lab, log, "not back"), 20)
    assert has_state(lab, "restoring")
    (settled,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    assert [h.status for h in settled.hosts] == ["failed"]
    wait_until(lambda: not lab.host.processes(), 20)
    assert has_state(lab, "failed")


@pytest.mark.parametrize("name", SHELLS)
def test_a_tmp_that_can_not_be_written_stops_nothing(name: str, journal: Journal, tmp_path: Path) -> None:
    """bash and mksh keep here-documents in files there."""
    with Namespace(name, "mount -t tmpfs -o ro,noexec tmpfs /tmp") as host:
        lab = Lab(host, journal, tmp_path / "state")
        host.sh("tc qdisc replace dev eth0 root handle 77: pfifo limit 123")
        start = host.snapshot()
        change_id, result = lab.apply(WANTED, persist=True)
        assert (result.status, result.error) == ("applied", None)
        host.sh(f"sh /var/lib/hostcfg/{change_id}/restore")
        assert host.snapshot() == start


def test_a_pid_that_was_used_again_is_nobody_to_be_killed(lab: Lab) -> None:
    """The timer is gone, and another program has its number by now."""
    change_id, _ = lab.apply(WANTED, hold=True, revert_in_s=300)
    other = lab.host.sh("sleep 1000 >/dev/null 2>&1 & echo $!").strip()
    lab.host.sh(f"cd /var/lib/hostcfg/{change_id} && kill -9 $(cat timer.pid) && echo {other} >timer.pid")
    _, second = lab.apply({"net.ipv4.tcp_window_scaling": "0"})
    assert second.error is not None
    assert "its timer is gone" in second.error.message
    (settled,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    assert [h.status for h in settled.hosts] == ["reverted"]
    lab.host.sh(f"kill -0 {other}")


@pytest.mark.parametrize("mask", ["000", "077", "777"])
def test_the_umask_of_the_session_changes_nothing(mask: str, journal: Journal, tmp_path: Path) -> None:
    with Namespace("/usr/bin/dash", "rm -rf /etc/sysctl.d") as host:
        lab = Lab(host, journal, tmp_path / "state", umask=mask)
        start = host.snapshot()
        change_id, result = lab.apply(WANTED, persist=True)
        assert (result.status, result.error) == ("applied", None)
        assert host.sh("stat -c %a /etc/sysctl.d /etc/sysctl.d/90-hostcfg.conf /var/lib/hostcfg").split() == [
            "755",
            "644",
            "700",
        ]
        host.sh(f"umask {mask}; sh /var/lib/hostcfg/{change_id}/restore")
        assert host.snapshot() == start


# tc and /proc/sys/net/core as the first network namespace has them; others have no default_qdisc
_QUEUES = r"""
mkdir /run/core
for f in /proc/sys/net/core/*; do cat "$f" >"/run/core/${f##*/}" 2>/dev/null || :; done
echo pfifo_fast >/run/core/default_qdisc
echo 'pfifo_fast 0:' >/run/queue
cat >/run/tc <<'TC'
#!/bin/sh
case $* in
*filter*) ;;
*' show'*) echo "qdisc $(cat /run/queue) dev eth0 root refcnt 2 " | sed "${4:+s/dev eth0 //}" ;;
*' replace '*) echo "${6#handle} 8001:" >/run/queue ;;
*' del '*) echo "$(cat /proc/sys/net/core/default_qdisc) 0:" >/run/queue ;;
esac
TC
chmod 755 /run/tc
mount --bind /run/tc $(readlink -f $(command -v tc))
mount --bind /run/core /proc/sys/net/core
"""
DEFAULT = "net.core.default_qdisc"


def queues(lab: Lab) -> tuple[str, str]:
    return lab.host.get(DEFAULT), lab.host.sh("cat /run/queue").strip()


@pytest.mark.parametrize("default", ["pfifo_fast", "fq"])
def test_a_queue_of_the_kernels_choice_comes_back_whatever_the_default_is_by_now(
    default: str, journal: Journal, tmp_path: Path
) -> None:
    """With ours gone the kernel takes what the default is at that moment: the new one, or an old one."""
    with Namespace("/usr/bin/dash", _QUEUES) as host:
        lab = Lab(host, journal, tmp_path / "state")
        host.set(DEFAULT, default)
        wanted = {"qdisc/eth0": "fq"} | ({DEFAULT: "fq"} if default != "fq" else {})
        change_id, result = lab.apply(wanted)
        assert (result.status, result.error) == ("applied", None)
        assert queues(lab) == ("fq", "fq 8001:")
        back = rollback_change(
            change_id, journal=journal, connect=lab.connect, read=read, options=ChangeOptions(20)
        )
        assert [(h.status, h.error) for h in back.hosts] == [("reverted", None)]
        assert queues(lab) == (default, "pfifo_fast 0:")

        change_id, _ = lab.apply(wanted, hold=True, revert_in_s=300)
        host.sh(f"kill -9 $(cat /var/lib/hostcfg/{change_id}/timer.pid)")
        # as a restore leaves it that is killed right then
        host.sh(f"echo {default} >/var/lib/hostcfg/{change_id}/default_qdisc")
        host.set(DEFAULT, "bfifo")
        host.sh(f"sh /var/lib/hostcfg/{change_id}/restore")
        assert queues(lab) == (default, "pfifo_fast 0:")
        assert "default_qdisc" not in host.sh(f"ls /var/lib/hostcfg/{change_id}")
