"""What can go wrong on a host while it is written: each is seen, named, and left in a known state."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions, apply_host
from hostcfg.errors import HostError
from hostcfg.plan import Wanted, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.rollback import rollback_change, rollback_unfinished
from tests.change.conftest import LAN, WAN, Lab, read
from tests.change.test_apply import wait_until

if TYPE_CHECKING:
    from hostcfg.changes import HostChange, StepResult
    from hostcfg.model import Facts, Plan

pytestmark = pytest.mark.root

SACK = "net.ipv4.tcp_sack"
SCALING = "net.ipv4.tcp_window_scaling"
RMEM = "net.ipv4.tcp_rmem"


def step(result: HostChange, key: str) -> StepResult:
    return next(s for s in result.steps if s.key == key)


def restored(lab: Lab, wanted: dict[str, str], key: str, start: str) -> StepResult:
    """Applies, and expects the host as it was and the fault in ``key``."""
    change_id, result = lab.apply(wanted)
    assert result.status == "reverted"
    assert result.error is not None
    assert key in result.error.message
    assert lab.host.snapshot() == start
    stored = lab.journal.change(change_id).hosts[0]
    assert (stored.status, stored.error) == ("reverted", result.error)
    assert step(stored, key).outcome == step(result, key).outcome
    return step(result, key)


def test_a_refused_value_takes_back_what_was_written_before(lab: Lab) -> None:
    """EINVAL at the third value of a triple changes the first two (recorded in readback-*)."""
    start = lab.host.snapshot()
    found = restored(lab, {SACK: "0", RMEM: "8192\t9000\t2147483648"}, RMEM, start)
    assert found.outcome == "rejected"
    assert "Invalid argument" in found.error
    assert found.read_back == "8192\t9000\t33554432"


def test_a_write_that_succeeds_and_does_nothing_is_rejected(lab: Lab) -> None:
    """The kernel takes ``1 2`` for a flag, returns success and keeps 1 (recorded)."""
    start = lab.host.snapshot()
    assert restored(lab, {SCALING: "1 2"}, SCALING, start).outcome == "rejected"


def test_a_value_that_comes_out_different_is_clamped(lab: Lab) -> None:
    start = lab.host.snapshot()
    found = restored(lab, {RMEM: "8192 9000 10000 11000"}, RMEM, start)
    assert (found.outcome, found.read_back) == ("clamped", "8192\t9000\t10000")


def test_a_clamped_value_stays_when_forced(lab: Lab) -> None:
    change_id, result = lab.apply({RMEM: "8192 9000 10000 11000"}, force=True)
    assert (result.status, step(result, RMEM).outcome) == ("applied", "clamped")
    back = rollback_change(
        change_id, journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    assert [h.status for h in back.hosts] == ["reverted"]
    assert lab.host.get(RMEM) == "4096\t131072\t33554432"


def test_hex_and_octal_are_the_numbers_they_are(lab: Lab) -> None:
    _, result = lab.apply({RMEM: "0x1000 0400000 12582912"})
    assert (result.status, step(result, RMEM).outcome) == ("applied", "set")


def test_an_unknown_algorithm_is_rejected(lab: Lab) -> None:
    start = lab.host.snapshot()
    key = "net.ipv4.tcp_congestion_control"
    found = restored(lab, {key: "nonesuch"}, key, start)
    assert found.outcome == "rejected"
    assert "No such file or directory" in found.error


def test_a_key_without_a_write_bit_is_read_only(lab: Lab) -> None:
    """net.core.rmem_max in a child namespace since 6.11: EACCES for root."""
    start = lab.host.snapshot()
    found = restored(lab, {"net.core.rmem_max": "300000"}, "net.core.rmem_max", start)
    assert found.outcome == "read_only"


def test_a_read_only_proc_sys_is_seen(lab: Lab) -> None:
    lab.host.sh("mount -o bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys")
    start = lab.host.snapshot()
    found = restored(lab, {SACK: "0", SCALING: "0"}, SACK, start)
    assert found.outcome == "read_only"
    assert "Read-only file system" in found.error


def test_a_key_that_goes_away_is_absent(lab: Lab) -> None:
    """Between the reading and the write the interface is taken out."""
    lab.host.sh("ip link add eth2 type veth peer name eth3; ip link set eth2 up")
    lab.host.sh("ip route add 198.51.100.0/24 dev eth2")
    lab.host.sh("ip route add default via 198.51.100.2 metric 5 onlink dev eth2")
    start = lab.host.get(SACK)

    def hear(event: str) -> None:
        if event == "planned":
            lab.host.sh("ip link del eth2")

    result = run(lab, {SACK: "0", "txqueuelen/eth2": "55"}, hear)
    assert result.status == "failed"
    assert result.error is not None
    assert "changed since it was read" in result.error.message
    assert lab.host.get(SACK) == start


def run(
    lab: Lab, wanted: dict[str, str], hear: object, *, persist: bool = False, revert_in_s: int = 20
) -> HostChange:
    def plan(facts: Facts) -> Plan:
        rows = [Wanted(key, raw) for key, raw in wanted.items()]
        return plan_writes(facts, get_platform("linux"), rows, persist=persist)

    return apply_host(
        "host1",
        draft=lab.journal.draft("apply"),
        journal=lab.journal,
        connect=lab.connect,
        read=read,
        planner=plan,
        options=ChangeOptions(revert_in_s=revert_in_s),
        on_event=hear,  # type: ignore[arg-type]
    )


def test_a_value_that_changes_after_it_was_read_stops_the_change(lab: Lab) -> None:
    def hear(event: str) -> None:
        if event == "planned":
            lab.host.set(SCALING, "0")

    result = run(lab, {SACK: "0", SCALING: "7"}, hear)
    assert result.status == "failed"
    assert result.error is not None
    assert f"changed since it was read, so the plan no longer fits: {SCALING}" in result.error.message
    assert (lab.host.get(SACK), lab.host.get(SCALING)) == ("1", "0")
    assert lab.host.sh("ls /var/lib/hostcfg") == ""


def test_a_value_that_someone_changes_after_the_backup_stops_the_write(lab: Lab) -> None:
    def hear(event: str) -> None:
        if event == "begun":
            lab.host.set(SCALING, "0")

    result = run(lab, {SACK: "0", SCALING: "7"}, hear)
    assert result.status == "reverted"
    assert step(result, SCALING).outcome == "overridden"
    assert (lab.host.get(SACK), lab.host.get(SCALING)) == ("1", "0")  # theirs stays


def test_a_value_that_something_changes_again_is_overridden(lab: Lab) -> None:
    """A tuning daemon that comes back before the confirmation."""

    def hear(event: str) -> None:
        if event == "reconnected":
            lab.host.set(SACK, "2")

    result = run(lab, {SACK: "0", SCALING: "0"}, hear)
    assert result.status == "reverted"
    assert step(result, SACK).outcome == "overridden"
    assert result.error is not None
    assert f"something else has changed it again: {SACK}" in result.error.message
    assert lab.host.get(SCALING) == "1"


def test_an_old_value_that_is_refused_until_another_is_back(lab: Lab) -> None:
    """ipfrag_high_thresh may not go below ipfrag_low_thresh: a second pass puts the order right."""
    high, low = "net.ipv4.ipfrag_high_thresh", "net.ipv4.ipfrag_low_thresh"
    lab.host.set(low, "1000")
    lab.host.set(high, "2000")
    start = lab.host.snapshot()
    lab.host.set(high, "2000")
    facts = {high: "9000000", low: "5000000"}
    change_id, result = lab.apply_native(facts)
    assert result.status == "applied"
    lab.host.sh(f"sh /var/lib/hostcfg/{change_id}/restore")
    assert lab.host.snapshot() == start


def test_an_old_value_that_the_kernel_does_not_take_back_is_named(lab: Lab) -> None:
    high, low = "net.ipv4.ipfrag_high_thresh", "net.ipv4.ipfrag_low_thresh"
    lab.host.set(low, "1000")
    lab.host.set(high, "2000")
    change_id, result = lab.apply_native({high: "9000000"})
    assert result.status == "applied"
    lab.host.set(low, "5000000")  # somebody's own change makes 2000 impossible
    said = lab.host.sh(f"sh /var/lib/hostcfg/{change_id}/restore", check=False)
    assert "step 1 (/proc/sys/net/ipv4/ipfrag_high_thresh): not back, the host has 9000000" in said
    assert "Invalid argument" in said
    assert f"hostcfg change {change_id} is now: failed" in said


def test_a_host_that_lets_nobody_in_is_restored_over_the_old_connection(lab: Lab) -> None:
    start = lab.host.snapshot()

    def hear(event: str) -> None:
        if event == "write journalled":
            lab.refuse = True

    result = run(lab, {SACK: "0"}, hear)
    assert result.status == "reverted"
    assert result.error is not None
    assert "connection refused" in result.error.message
    assert lab.host.snapshot() == start


def test_a_host_that_can_not_be_reached_at_all_reverts_by_its_timer(lab: Lab) -> None:
    start = lab.host.snapshot()

    def hear(event: str) -> None:
        if event == "write journalled":
            lab.refuse = lab.cut = True
            lab.let_in_after(9.0)

    result = run(lab, {SACK: "0"}, hear, revert_in_s=6)
    assert (result.status, lab.host.snapshot() == start) == ("reverted", True)


def test_two_controllers_one_wins_and_the_other_is_told_who(lab: Lab) -> None:
    results: list[tuple[str, HostChange]] = []

    def one(wanted: dict[str, str]) -> None:
        results.append(lab.apply(wanted, hold=True, revert_in_s=20))

    threads = [
        threading.Thread(target=one, args=({SACK: "0"},)),
        threading.Thread(target=one, args=({SCALING: "0"},)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner_id, winner), (_, loser) = sorted(results, key=lambda r: r[1].status, reverse=True)
    assert (winner.status, loser.status) == ("pending", "failed")
    assert loser.error is not None
    assert f"change {winner_id} by " in loser.error.message
    assert re.search(r"is (preparing|pending) there since 20\d\d-", loser.error.message)
    assert re.search(r"it reverts in \d+ s|it has just begun", loser.error.message)
    assert {lab.host.get(SACK), lab.host.get(SCALING)} == {"0", "1"}


def test_a_change_whose_timer_is_gone_is_reported_and_not_taken_over(lab: Lab) -> None:
    start = lab.host.snapshot()
    change_id, _ = lab.apply({SACK: "0"}, hold=True)
    lab.host.sh(f"kill -9 $(cat /var/lib/hostcfg/{change_id}/timer.pid)")
    _, second = lab.apply({SCALING: "0"})
    assert second.status == "failed"
    assert second.error is not None
    assert "its timer is gone" in second.error.message
    assert f"sh /var/lib/hostcfg/{change_id}/restore" in second.error.message
    (settled,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    assert [h.status for h in settled.hosts] == ["reverted"]
    assert lab.host.snapshot() == start


def test_a_full_disk_on_the_host_changes_nothing(lab: Lab) -> None:
    start = lab.host.snapshot()
    lab.host.sh("mkdir -p /var/lib/hostcfg; head -c 5m /dev/zero >/var/lib/fill", check=False)
    _, result = lab.apply(WAN)
    assert result.status == "failed"
    assert result.error is not None
    assert "the disk may be full" in result.error.message
    assert lab.host.snapshot() == start
    assert lab.host.sh("ls /var/lib/hostcfg") == ""
    assert lab.host.processes() == []


def test_a_disk_that_fills_up_after_the_backup_still_restores(lab: Lab) -> None:
    start = lab.host.snapshot()

    def hear(event: str) -> None:
        if event == "begun":
            lab.host.sh("head -c 8m /dev/zero >/var/lib/fill", check=False)

    result = run(lab, dict(LAN), hear)
    assert result.status == "reverted"
    assert lab.host.snapshot() == start


def test_a_full_etc_leaves_no_half_file(lab: Lab) -> None:
    start = lab.host.snapshot()

    def hear(event: str) -> None:
        if event == "write journalled":
            lab.host.sh("head -c 9m /dev/zero >/etc/ld.fill", check=False)

    result = run(lab, {SACK: "0"}, hear, persist=True)
    lab.host.sh("rm /etc/ld.fill")
    assert result.status == "reverted"
    assert result.error is not None
    assert "the disk may be full" in result.error.message
    assert lab.host.snapshot() == start


def test_a_link_in_place_of_the_file_is_left_alone(lab: Lab) -> None:
    lab.host.sh("ln -s /dev/null /etc/sysctl.d/90-hostcfg.conf")
    start = lab.host.snapshot()
    _, result = lab.apply({SACK: "0"}, persist=True)
    assert result.status == "failed"
    assert result.error is not None
    assert "/etc/sysctl.d/90-hostcfg.conf is no plain file" in result.error.message
    assert lab.host.snapshot() == start


@pytest.mark.parametrize("flag", ["i", "a"])
def test_an_immutable_file_is_refused_before_anything_is_written(lab: Lab, flag: str) -> None:
    path = "/etc/sysctl.d/90-hostcfg.conf"
    lab.host.sh(f"echo '# fixed' >{path}")
    if "Operation not supported" in lab.host.sh(f"chattr +{flag} {path} 2>&1; true"):
        pytest.skip("this kernel's tmpfs has no attributes")
    start = lab.host.snapshot()
    _, result = lab.apply({SACK: "0"}, persist=True)
    assert result.status == "failed"
    assert result.error is not None
    assert f"{path} is marked immutable or append-only" in result.error.message
    assert lab.host.snapshot() == start
    assert lab.host.sh("ls /var/lib/hostcfg") == ""
    assert lab.apply({SACK: "0"})[1].status == "applied"  # what writes no file is not concerned


def test_a_file_that_someone_changes_meanwhile_is_theirs(lab: Lab) -> None:
    def hear(event: str) -> None:
        if event == "write journalled":
            lab.host.sh("echo theirs >/etc/sysctl.d/90-hostcfg.conf")

    result = run(lab, {SACK: "0"}, hear, persist=True)
    assert result.status == "reverted"
    assert lab.host.sh("cat /etc/sysctl.d/90-hostcfg.conf") == "theirs\n"
    assert lab.host.sh("ls -A /etc/sysctl.d") == "90-hostcfg.conf\n"
    assert lab.host.get(SACK) == "1"


def test_another_user_is_told_to_be_root(lab: Lab) -> None:
    start = lab.host.snapshot()
    lab.user = "nobody"
    _, result = lab.apply({SACK: "0"})
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.kind == "no_permission"
    assert "--become" in result.error.message
    assert lab.host.snapshot() == start


def test_a_host_error_while_it_is_read_is_the_hosts_error(lab: Lab) -> None:
    lab.refuse = True
    _, result = lab.apply({SACK: "0"})
    assert (result.status, result.steps) == ("failed", ())
    assert result.error is not None
    assert result.error.kind == "unreachable"
    assert lab.journal.changes() == []


def test_the_transport_of_these_tests_can_refuse(lab: Lab) -> None:
    lab.refuse = True
    with pytest.raises(HostError, match="refused"), lab.connect("host1"):
        pass
    lab.refuse = False
    lab.let_in_after(0.0)
    wait_until(lambda: not lab.refuse, 5)


@pytest.mark.parametrize("inodes", [7, 8, 9, 10, 13, 14])
def test_a_disk_without_inodes_is_refused_and_keeps_nothing(lab: Lab, inodes: int) -> None:
    """A `:` whose redirection fails ends dash, and with it the refusal: nothing was said or taken away."""
    start = lab.host.snapshot()
    lab.host.sh(f"mkdir -p /var/lib/hostcfg; mount -t tmpfs -o nr_inodes={inodes} none /var/lib/hostcfg")
    _, result = lab.apply({SACK: "0"}, persist=True)
    assert result.status == "failed"
    assert result.error is not None
    assert re.search("the disk may be full|the revert timer does not run", result.error.message)
    assert lab.host.snapshot() == start
    assert lab.host.sh("ls /var/lib/hostcfg") == ""
    wait_until(lambda: lab.host.processes() == [])


def test_a_disk_whose_inodes_end_after_the_backup_is_refused(lab: Lab) -> None:
    start = lab.host.snapshot()
    lab.host.sh("mkdir -p /var/lib/hostcfg; mount -t tmpfs -o nr_inodes=40 none /var/lib/hostcfg")

    def hear(event: str) -> None:
        if event == "begin journalled":
            lab.host.sh(
                "i=0; while true 2>/dev/null >/var/lib/hostcfg/x$i; do i=$((i + 1)); done", check=False
            )

    result = run(lab, {SACK: "0"}, hear)
    assert result.error is not None
    assert "the disk may be full" in result.error.message
    assert result.status == "reverted"
    assert lab.host.snapshot() == start


@pytest.mark.parametrize("name", ["08", "010", "0", "99999999999999999999", "9223372036854775807", "1x"])
def test_a_lock_that_hostcfg_never_wrote_blocks_nobody(lab: Lab, name: str) -> None:
    lab.host.sh(f"mkdir -p /var/lib/hostcfg; echo other >/var/lib/hostcfg/lock.{name}")
    for value in "01":
        _, result = lab.apply({SACK: value})
        assert result.error is None
        assert lab.host.get(SACK) == value
