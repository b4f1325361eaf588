"""Apply and rollback on the emulated Windows; test_change_ssh.py has it behind a real sshd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sshd import wait_for
from tests.windows.change_lab import outcomes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.windows.conftest import Start

LEVEL = {"global.autotuninglevel": "restricted"}


def test_a_second_apply_has_no_step_and_writes_nothing(start: Start) -> None:
    host, lab = start()
    lab.apply_profile("wan")
    before = host.state
    _, again = lab.apply_profile("wan")
    assert (again.status, list(again.steps)) == ("applied", [])
    assert len(lab.lines) == 1  # the probe
    assert host.state == before


def test_the_old_global_provider(start: Start) -> None:
    host, lab = start("7")
    began = host.settings()
    change_id, done = lab.apply({"global.congestionprovider": "ctcp"})
    assert outcomes(done) == {"global.congestionprovider": "set"}
    assert host.state["global"]["congestionprovider"] == "ctcp"
    assert any("next whole minute" in note for note in done.notes)
    assert lab.back(change_id).status == "reverted"
    assert host.settings() == began


@pytest.mark.parametrize("shell", ["cmd", "powershell"])
def test_without_elevation_nothing_is_begun(start: Start, shell: str) -> None:
    host, lab = start(elevated=False, shell=shell)
    _, done = lab.apply(LEVEL)
    assert done.status == "failed"
    assert done.error is not None
    assert done.error.kind == "no_permission"
    assert "elevated administrator" in done.error.message
    assert not host.backups.exists()
    assert host.state["tasks"] == {}


def test_an_elevation_that_netsh_alone_misses_is_denied(start: Start) -> None:
    """The words are on standard output."""
    host, lab = start(netsh_elevated=False)
    began = host.settings()
    _, done = lab.apply(LEVEL)
    assert done.status == "reverted"
    assert outcomes(done) == {"global.autotuninglevel": "denied"}
    assert "requires elevation" in done.steps[0].error
    assert host.settings() == began


def test_netsh_that_says_ok_and_does_nothing_is_rejected(start: Start) -> None:
    host, lab = start(ignores_sets=True)
    _, done = lab.apply({**LEVEL, "global.timestamps": "enabled"})
    assert done.status == "reverted"
    assert outcomes(done) == {"global.autotuninglevel": "rejected", "global.timestamps": None}
    assert done.steps[0].error == "netsh took it and changed nothing"
    assert set(host.states().values()) == {"restored"}


def test_usage_with_exit_0_is_a_rejection_and_what_was_written_before_comes_back(start: Start) -> None:
    host, lab = start()  # this release exits 0
    began = host.settings()
    _, done = lab.apply({"global.timestamps": "enabled", "global.initialrto": "9"})
    assert done.status == "reverted"
    assert outcomes(done) == {"global.timestamps": "set", "global.initialrto": "rejected"}
    assert "is not a valid argument" in done.steps[1].error
    assert host.settings() == began
    assert host.state["tasks"] == {}
    assert lab.journal.unfinished() == []


def test_a_parameter_that_this_release_does_not_have_is_absent(start: Start) -> None:
    host, lab = start("7")
    began = host.settings()
    _, done = lab.apply({"global.pacingprofile": "always"}, force=True)
    assert outcomes(done) == {"global.pacingprofile": "absent"}
    assert done.status == "reverted"
    assert host.settings() == began


def test_another_value_than_the_wanted_one_is_clamped(start: Start) -> None:
    host, lab = start(clamps={"autotuninglevel=experimental": "normal"})
    host.set("global", "autotuninglevel", "highlyrestricted")
    host.set("persistent", "autotuninglevel", "highlyrestricted")
    began = host.settings()
    _, done = lab.apply({"global.autotuninglevel": "experimental"})
    assert outcomes(done) == {"global.autotuninglevel": "clamped"}
    assert done.status == "reverted"
    assert host.settings() == began
    _, kept = lab.apply({"global.autotuninglevel": "experimental"}, force=True)
    assert (kept.status, outcomes(kept)) == ("applied", {"global.autotuninglevel": "clamped"})
    assert host.state["global"]["autotuninglevel"] == "normal"


def test_group_policy_overrides_the_level(start: Start) -> None:
    host, lab = start(policy_level="normal")
    began = host.settings()
    _, done = lab.apply({"global.timestamps": "enabled", **LEVEL})
    assert outcomes(done)["global.autotuninglevel"] == "overridden"
    assert done.status == "reverted"
    assert host.settings() == began


def test_heuristics_override_the_level(start: Start) -> None:
    host, lab = start("2012", heuristics_keep="highlyrestricted")
    began = host.settings()
    _, done = lab.apply(LEVEL)
    assert outcomes(done) == {"global.autotuninglevel": "overridden"}
    assert "heuristics" in done.steps[0].error
    assert host.settings() == began


# -- the timer --------------------------------------------------------------------------------------


def test_a_host_that_lets_nobody_in_takes_the_change_back(start: Start) -> None:
    host, lab = start()
    began = host.settings()
    change_id, held = lab.apply(LEVEL, revert_in_s=4, hold=True)
    assert held.status == "pending"
    assert host.settings() != began
    assert list(host.state["tasks"]) == [f"hostcfg-{change_id}"]
    wait_for(lambda: host.states() == {change_id: "restored"}, "the timer", 20)
    wait_for(lambda: host.state["tasks"] == {}, "the end of the task", 10)
    assert host.settings() == began
    assert [h.status for h in lab.settle()] == ["reverted"]


def test_without_powershell_the_task_starts_with_the_next_whole_minute(start: Start) -> None:
    host, lab = start(powershell=False, tasks_start=False, clock="08:09:31")
    began = host.settings()
    change_id, held = lab.apply(LEVEL, revert_in_s=60, hold=True)
    assert held.status == "pending"
    assert held.left_s == 120
    starts = {name: task["starts"] for name, task in host.state["tasks"].items()}
    assert starts == {f"hostcfg-{change_id}": "08:11:00", f"hostcfg-{change_id}-boot": "At system startup"}
    host.start_tasks()
    assert host.settings() == began
    assert host.state["tasks"] == {}
    assert host.states() == {change_id: "restored"}


def test_the_minute_after_midnight(start: Start) -> None:
    host, lab = start("7", tasks_start=False, clock="23:59:30")
    change_id, _ = lab.apply({"global.congestionprovider": "ctcp"}, revert_in_s=30, hold=True)
    assert host.state["tasks"][f"hostcfg-{change_id}"]["starts"] == "00:00:00"
    assert lab.confirm(change_id).status == "applied"
    assert host.state["tasks"] == {}


def test_without_a_task_nothing_is_written(start: Start) -> None:
    host, lab = start(scheduler=False)
    began = host.state
    _, done = lab.apply(LEVEL)
    assert done.status == "failed"
    assert done.error is not None
    assert "no scheduled task could be made" in done.error.message
    assert host.states() == {}
    assert host.settings() == {k: v for k, v in began.items() if k in host.settings()}


def test_a_task_that_is_gone_before_the_first_write(start: Start) -> None:
    host, lab = start(tasks_start=False)
    began = host.settings()

    def hear(event: str) -> None:
        if event == "begin journalled":
            host.update(tasks={})

    _, done = lab.apply(LEVEL, hear=hear)
    assert done.status == "reverted"
    assert host.settings() == began


def test_no_timer_is_said(start: Start) -> None:
    host, lab = start()
    _, done = lab.apply(LEVEL, revert_in_s=0)
    assert done.status == "applied"
    assert any("no revert timer runs" in note for note in done.notes)
    assert host.state["tasks"] == {}


# -- others -----------------------------------------------------------------------------------------


def test_two_controllers_one_wins_and_the_other_names_it(start: Start, tmp_path: Path) -> None:
    host, lab = start()
    other = lab.another(tmp_path / "other")
    first, held = lab.apply(LEVEL, hold=True)
    assert held.status == "pending"
    before = host.settings()
    _, refused = other.apply({"global.timestamps": "enabled"})
    assert refused.status == "failed"
    assert refused.error is not None
    assert f"change {first} by " in refused.error.message
    assert "is pending there since" in refused.error.message
    assert "its timer restores the host" in refused.error.message
    assert host.settings() == before
    assert list(host.states()) == [first]
    assert lab.confirm(first).status == "applied"
    _, done = other.apply({"global.timestamps": "enabled"})
    assert done.status == "applied"


def test_a_value_that_changed_since_it_was_read_stops_the_change(start: Start) -> None:
    host, lab = start()

    def hear(event: str) -> None:
        if event == "journalled":
            host.set("global", "autotuninglevel", "highlyrestricted")

    _, done = lab.apply(LEVEL, hear=hear)
    assert done.status == "reverted"
    assert done.error is not None
    assert "changed since it was read" in done.error.message
    assert host.state["global"]["autotuninglevel"] == "highlyrestricted"
    assert set(host.states().values()) == {"restored"}


def test_what_someone_changes_before_the_confirmation_is_overridden(start: Start) -> None:
    host, lab = start()
    began = host.settings()
    change_id, _ = lab.apply(LEVEL, hold=True)
    host.set("global", "autotuninglevel", "highlyrestricted")
    done = lab.confirm(change_id)
    assert done.status == "reverted"
    assert outcomes(done) == {"global.autotuninglevel": "overridden"}
    assert host.settings()["global"] == began["global"]


def test_what_someone_changed_since_is_left_alone_by_a_rollback(start: Start) -> None:
    host, lab = start()
    change_id, _ = lab.apply(LEVEL)
    host.set("global", "autotuninglevel", "highlyrestricted")
    left = lab.back(change_id)
    assert left.status == "failed"
    assert left.error is not None
    assert "someone changed it to 'highlyrestricted'" in left.error.message
    assert host.state["global"]["autotuninglevel"] == "highlyrestricted"
    assert lab.back(change_id, force=True).status == "reverted"
    assert host.state["global"]["autotuninglevel"] == "normal"


def test_a_rollback_can_be_rolled_back_and_refuses_another_machine(start: Start) -> None:
    host, lab = start()
    change_id, _ = lab.apply(LEVEL)
    changed = host.settings()
    registry = host.state["registry"]
    name = next(name for name in registry if name.endswith("MachineGuid"))
    host.update(registry=registry | {name: "00000000-0000-4000-8000-000000000000"})
    refused = lab.back(change_id)
    assert refused.error is not None
    assert "machine-guid differs" in refused.error.message
    assert host.settings() == changed
    host.update(registry=registry)
    assert lab.back(change_id).status == "reverted"


def test_an_old_value_that_netsh_refuses_to_take_back_is_named(start: Start) -> None:
    host, lab = start(refuses=["autotuninglevel=normal"])
    _, done = lab.apply({**LEVEL, "global.initialrto": "9"})
    assert done.status == "failed"
    assert done.error is not None
    assert "not put back: global.autotuninglevel" in done.error.message
    assert set(host.states().values()) == {"failed"}
    host.update(refuses=[])
    before = next(iter(host.states()))
    host.run(f"call C:\\ProgramData\\hostcfg\\{before}\\restore.cmd")
    assert host.states() == {before: "restored"}
    assert host.state["global"]["autotuninglevel"] == "normal"


def test_by_hand_a_confirmed_change_comes_back(start: Start) -> None:
    host, lab = start()
    began = host.settings()
    change_id, _ = lab.apply(LEVEL)
    note = (host.backups / change_id / "NOTE.txt").read_text()
    path = f"C:\\ProgramData\\hostcfg\\{change_id}\\restore.cmd"
    assert path in note
    assert host.run(f"call {path}").strip() == f"hostcfg change {change_id} is now: restored"
    assert host.settings() == began


def test_the_newest_five_backups_stay(start: Start) -> None:
    host, lab = start(powershell=False, tasks_start=False)
    ids = []
    for level in ("restricted", "normal") * 4:
        change_id, done = lab.apply({"global.autotuninglevel": level})
        assert done.status == "applied"
        ids.append(change_id)
    assert sorted(host.states()) == sorted(ids)[-5:]


def test_a_directory_that_someone_else_made_is_never_used(start: Start) -> None:
    host, lab = start()
    host.backups.mkdir(parents=True)
    _, done = lab.apply(LEVEL)
    assert done.error is not None
    assert "hostcfg did not make it" in done.error.message
    assert list(host.backups.iterdir()) == []


def test_the_directory_is_for_administrators_and_the_system(start: Start) -> None:
    host, lab = start()
    lab.apply(LEVEL)
    assert "hostcfg /setowner *S-1-5-32-544" in host.state["acl"]
    grant = "hostcfg /inheritance:r /grant:r *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F"
    assert host.state["acl"].count(grant) == 2


def test_a_full_disk_is_one_clear_line(start: Start) -> None:
    host, lab = start()
    began = host.settings()
    lab.apply(LEVEL)
    host.update(disk_full=True)
    _, done = lab.apply({"global.timestamps": "enabled"})
    assert done.status == "failed"
    assert done.error is not None
    assert "did not arrive whole" in done.error.message
    assert host.settings()["global"]["timestamps"] == began["global"]["timestamps"]


def test_a_disk_that_fills_up_between_begin_and_write(start: Start) -> None:
    host, lab = start()
    began = host.settings()

    def hear(event: str) -> None:
        if event == "begin journalled":
            host.update(disk_full=True)

    _, done = lab.apply(LEVEL, hear=hear)
    assert done.status in ("reverted", "failed")
    assert host.settings() == began


def test_a_running_value_that_is_not_the_one_of_the_next_boot_has_no_inverse(start: Start) -> None:
    host, lab = start()
    host.set("persistent", "autotuninglevel", "disabled")
    _, done = lab.apply(LEVEL)
    assert done.error is not None
    assert "runs with normal and boots with disabled" in done.error.message
    assert host.states() == {}
