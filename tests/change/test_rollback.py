"""Taking changes back: what is ours comes back, what is someone else's stays, and all of it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions
from hostcfg.errors import ChangeRefused
from hostcfg.rollback import (
    Rollback,
    rollback_change,
    rollback_host,
    rollback_last,
    rollback_unfinished,
)
from tests.change.conftest import LAN, WAN, Lab, read
from tests.change.test_apply import wait_until

if TYPE_CHECKING:
    from hostcfg.changes import HostChange

pytestmark = pytest.mark.root

SACK = "net.ipv4.tcp_sack"
SCALING = "net.ipv4.tcp_window_scaling"
OURS = "/etc/sysctl.d/90-hostcfg.conf"


def back(lab: Lab, change_id: str, *, force: bool = False) -> Rollback:
    return rollback_change(
        change_id,
        journal=lab.journal,
        connect=lab.connect,
        read=read,
        options=ChangeOptions(20, force=force),
    )


def only(rollback: Rollback) -> HostChange:
    (host,) = rollback.hosts
    return host


def status(lab: Lab, change_id: str) -> tuple[str, str | None]:
    host = lab.journal.change(change_id).hosts[0]
    return host.status, host.undone_by


def test_a_rollback_is_a_change_and_can_be_rolled_back(lab: Lab) -> None:
    start = lab.host.snapshot()
    change_id, _ = lab.apply(WAN, persist=True)
    changed = lab.host.snapshot()
    first = back(lab, change_id)
    assert only(first).status == "reverted"
    assert lab.host.snapshot() == start
    assert first.id is not None
    stored = lab.journal.change(first.id)
    assert (stored.kind, stored.of) == ("rollback", change_id)
    assert status(lab, change_id) == ("reverted", first.id)
    second = back(lab, first.id)
    assert only(second).status == "reverted"
    assert lab.host.snapshot() == changed
    assert status(lab, change_id) == ("applied", None)
    assert status(lab, first.id) == ("reverted", second.id)
    assert second.id is not None
    third = back(lab, second.id)
    assert only(third).status == "reverted"
    assert lab.host.snapshot() == start
    assert status(lab, change_id) == ("reverted", first.id)


def test_an_unknown_or_rolled_back_change_is_refused(lab: Lab) -> None:
    with pytest.raises(ChangeRefused, match="no change '20200101-000000-aaaa'"):
        back(lab, "20200101-000000-aaaa")
    change_id, _ = lab.apply(LAN)
    first = back(lab, change_id)
    with pytest.raises(ChangeRefused, match=f"was rolled back already, by {first.id}"):
        back(lab, change_id)
    with pytest.raises(ChangeRefused, match="no applied change is left"):
        rollback_last(journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
    with pytest.raises(ChangeRefused, match="host1: no applied change is left"):
        rollback_host("host1", journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
    with pytest.raises(ChangeRefused, match="it has no such host"):
        rollback_change(
            change_id,
            journal=lab.journal,
            connect=lab.connect,
            read=read,
            options=ChangeOptions(20),
            hosts={"other"},
        )


def test_a_change_that_came_to_nothing_is_not_in_force(lab: Lab) -> None:
    change_id, result = lab.apply({SACK: "0", "net.ipv4.tcp_rmem": "1 1 2147483648"})
    assert result.status == "reverted"
    with pytest.raises(ChangeRefused, match=r"nothing of change .* is in force: host1 reverted"):
        back(lab, change_id)


def test_someone_elses_value_is_reported_and_left_alone(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0", "net.ipv4.tcp_ecn": "1"})
    lab.host.set("net.ipv4.tcp_ecn", "0")
    host = only(back(lab, change_id))
    assert host.status == "failed"
    assert host.error is not None
    assert host.error.message == (
        "host1: net.ipv4.tcp_ecn: someone changed it to '0' since, so it is left alone; "
        "--force restores it all the same"
    )
    assert (lab.host.get(SACK), lab.host.get("net.ipv4.tcp_ecn")) == ("1", "0")
    assert status(lab, change_id) == ("applied", None)  # so that it can be forced
    forced = only(back(lab, change_id, force=True))
    assert forced.status == "reverted"
    assert lab.host.get("net.ipv4.tcp_ecn") == "2"


def test_a_rollback_that_leaves_something_tells_what_it_did_all_the_same(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0", "net.ipv4.tcp_ecn": "1"}, persist=True)
    lab.host.set("net.ipv4.tcp_ecn", "0")
    rollback = back(lab, change_id)
    assert (only(rollback).status, rollback.id is not None) == ("failed", True)
    assert f"{OURS} is removed" in only(rollback).notes
    assert f"{OURS} is removed" in lab.journal.changes()[0].hosts[0].notes
    assert lab.host.sh("ls /etc/sysctl.d") == ""


def test_when_all_is_someone_elses_nothing_is_written(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0"})
    lab.host.set(SACK, "7")
    runs = len(lab.transports)
    rollback = back(lab, change_id)
    assert (rollback.id, only(rollback).status) == (None, "failed")
    assert sum(t.commands_run for t in lab.transports[runs:]) == 1
    assert lab.host.get(SACK) == "7"


def test_a_host_that_booted_meanwhile_has_its_old_values(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0"})
    lab.host.set(SACK, "1")  # as a boot does
    rollback = back(lab, change_id)
    assert (rollback.id, only(rollback).status, only(rollback).error) == (None, "reverted", None)
    assert status(lab, change_id) == ("reverted", None)


def test_files_come_back_with_contents_mode_owner_and_absence(lab: Lab) -> None:
    start = lab.host.snapshot()
    one, _ = lab.apply({SACK: "0"}, persist=True)  # the file was absent
    lab.host.sh(f"chmod 600 {OURS}; chown 12:34 {OURS}")
    middle = lab.host.snapshot()
    two, _ = lab.apply({SCALING: "0"}, persist=True)
    assert only(back(lab, two)).error is None
    assert lab.host.snapshot() == middle
    assert only(back(lab, one)).error is None
    assert lab.host.snapshot() == start


def test_other_peoples_lines_in_a_file_stay(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0"}, persist=True)
    lab.host.sh(f"printf '# a note\\n' >>{OURS}")
    assert only(back(lab, change_id)).error is None
    assert lab.host.sh(f"cat {OURS}") == "# a note\n"


def test_a_file_whose_block_was_edited_is_left_alone(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0"}, persist=True)
    lab.host.sh(f"sed -i 's/tcp_sack = 0/tcp_sack = 2/' {OURS}")
    edited = lab.host.sh(f"cat {OURS}")
    host = only(back(lab, change_id))
    assert host.status == "failed"
    assert host.error is not None
    assert f"{OURS}: someone changed it since" in host.error.message
    assert lab.host.sh(f"cat {OURS}") == edited
    assert lab.host.get(SACK) == "1"
    assert only(back(lab, change_id, force=True)).status == "reverted"
    assert lab.host.sh("ls /etc/sysctl.d") == ""


def test_a_file_that_was_removed_stays_removed(lab: Lab) -> None:
    lab.host.sh(f"echo '# theirs' >{OURS}")
    change_id, _ = lab.apply({SACK: "0"}, persist=True)
    lab.host.sh(f"rm {OURS}")
    host = only(back(lab, change_id))
    assert host.error is not None
    assert "someone changed it since" in host.error.message
    assert lab.host.sh("ls /etc/sysctl.d") == ""


@pytest.mark.parametrize(
    "other",
    [
        "echo ffffffffffffffffffffffffffffffff >/etc/machine-id",
        "sed -i s/First/Second/ /etc/ssh/ssh_host_ed25519_key.pub",
    ],
)
def test_another_machine_of_that_name_is_not_touched(lab: Lab, other: str) -> None:
    change_id, _ = lab.apply({SACK: "0"})
    lab.host.sh(other)
    before = lab.host.snapshot()
    host = only(back(lab, change_id))
    assert host.status == "failed"
    assert host.error is not None
    assert "this is not the machine that the change was made on" in host.error.message
    assert lab.host.snapshot() == before
    assert status(lab, change_id) == ("applied", None)
    assert only(back(lab, change_id, force=True)).status == "reverted"


def test_a_host_that_is_gone_is_unknown_and_stays_in_force(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0"})
    lab.refuse = True
    host = only(back(lab, change_id))
    assert host.status == "unknown"
    assert host.error is not None
    assert host.error.kind == "unreachable"
    assert status(lab, change_id) == ("applied", None)
    lab.refuse = False
    assert (
        only(
            rollback_last(journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
        ).status
        == "reverted"
    )


def test_a_rollback_that_fails_leaves_the_change_in_force(lab: Lab) -> None:
    change_id, _ = lab.apply_native({"net.ipv4.ipfrag_high_thresh": "9000000"})
    changed = lab.host.get("net.ipv4.ipfrag_high_thresh")
    lab.host.set("net.ipv4.ipfrag_low_thresh", "8000000")  # 4194304 is refused now
    lab.native = ["net.ipv4.ipfrag_high_thresh"]
    host = only(
        rollback_change(
            change_id, journal=lab.journal, connect=lab.connect, read=lab.read, options=ChangeOptions(20)
        )
    )
    assert host.status == "failed"
    assert host.error is not None
    assert "net.ipv4.ipfrag_high_thresh: rejected" in host.error.message
    assert lab.host.get("net.ipv4.ipfrag_high_thresh") == changed
    assert status(lab, change_id) == ("applied", None)


def test_a_held_change_is_rolled_back_by_the_host_itself(lab: Lab) -> None:
    start = lab.host.snapshot()
    change_id, _ = lab.apply(LAN, hold=True, revert_in_s=60)
    rollback = rollback_host(
        "host1", journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    assert (rollback.id, only(rollback).status) == (None, "reverted")
    assert lab.host.snapshot() == start
    wait_until(lambda: not lab.host.processes(), 5)
    assert status(lab, change_id) == ("reverted", None)


def test_nothing_unfinished_is_nothing_to_do(lab: Lab) -> None:
    lab.apply(LAN)
    assert (
        rollback_unfinished(journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20))
        == []
    )


def settle(lab: Lab) -> HostChange:
    (one,) = rollback_unfinished(
        journal=lab.journal, connect=lab.connect, read=read, options=ChangeOptions(20)
    )
    return only(one)


def test_an_unfinished_host_that_can_not_be_asked_stays_unfinished(lab: Lab) -> None:
    lab.apply(LAN, hold=True)
    lab.refuse = True
    assert settle(lab).status == "unknown"
    assert len(lab.journal.unfinished()) == 1
    lab.refuse = False
    assert settle(lab).status == "reverted"
    assert lab.journal.unfinished() == []


def test_without_root_an_unfinished_host_stays_unfinished(lab: Lab) -> None:
    lab.apply(LAN, hold=True)
    lab.user = "nobody"
    host = settle(lab)
    assert host.status == "unknown"
    assert host.error is not None
    assert "only root can see there" in host.error.message


def test_a_backup_that_is_gone_is_made_up_for_by_the_journal(lab: Lab) -> None:
    start = lab.host.snapshot()
    change_id, _ = lab.apply(LAN, hold=True, revert_in_s=60)
    lab.host.sh(f"kill -9 $(cat /var/lib/hostcfg/{change_id}/timer.pid); rm -r /var/lib/hostcfg")
    assert settle(lab).status == "reverted"
    assert lab.host.snapshot() == start
    assert lab.journal.unfinished() == []
    assert status(lab, change_id)[0] == "reverted"


def test_a_backup_that_is_gone_does_not_make_other_peoples_values_ours(lab: Lab) -> None:
    change_id, _ = lab.apply({SACK: "0"}, hold=True, revert_in_s=60)
    lab.host.sh(f"kill -9 $(cat /var/lib/hostcfg/{change_id}/timer.pid); rm -r /var/lib/hostcfg")
    lab.host.set(SACK, "7")
    host = settle(lab)
    assert host.status == "failed"
    assert host.error is not None
    assert "someone changed it to '7' since" in host.error.message
    assert lab.host.get(SACK) == "7"
    assert len(lab.journal.unfinished()) == 1  # it can still be forced


def test_a_backup_that_is_gone_on_another_machine_is_not_made_up_for(lab: Lab) -> None:
    lab.apply({SACK: "0"}, hold=True, revert_in_s=60)
    lab.host.sh("kill -9 $(cat /var/lib/hostcfg/*/timer.pid); rm -r /var/lib/hostcfg")
    lab.host.sh("echo ffffffffffffffffffffffffffffffff >/etc/machine-id")
    host = settle(lab)
    assert host.status == "failed"
    assert host.error is not None
    assert "another machine now (machine-id differs)" in host.error.message
    assert lab.host.get(SACK) == "0"


def test_a_timer_without_its_directory_still_restores(lab: Lab) -> None:
    """Somebody cleans up /var/lib/hostcfg while a change is pending."""
    start = lab.host.snapshot()
    lab.apply({SACK: "0", SCALING: "0"}, hold=True, revert_in_s=5)
    lab.host.sh("rm -r /var/lib/hostcfg")
    wait_until(lambda: lab.host.snapshot() == start)


def test_a_restore_that_fails_is_failed_in_the_journal(lab: Lab) -> None:
    high, low = "net.ipv4.ipfrag_high_thresh", "net.ipv4.ipfrag_low_thresh"
    change_id, _ = lab.apply_native({high: "9000000"}, hold=True)
    lab.host.set(low, "8000000")
    host = settle(lab)
    assert host.status == "failed"
    assert host.error is not None
    assert host.error.message == f"host1: not put back: {high}"
    assert status(lab, change_id) == ("failed", None)
    lab.host.set(low, "3145728")
    _, again = lab.apply({SACK: "0"})  # a failed change does not lock the host for ever
    assert again.status == "applied"
