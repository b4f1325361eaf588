"""Connections that break at each command of an apply, and a host that lets nobody in any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sshd import wait_for

if TYPE_CHECKING:
    from tests.windows.conftest import Start

WANTED = {"global.autotuninglevel": "restricted", "global.timestamps": "enabled"}
COMMANDS = ("probe", "prepare", "begin", "write", "confirm")


@pytest.mark.parametrize("lost", ["before", "after"])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_connection_is_cut_at_each_command(start: Start, command: str, lost: str) -> None:
    """Before the host got the command, and after it ran it and before the answer came."""
    host, lab = start()
    began = host.settings()
    lab.cut_at = (COMMANDS.index(command) + 1, lost)
    _, result = lab.apply(WANTED)
    if (command, lost) == ("confirm", "after"):
        assert (result.status, result.error) == ("applied", None)  # it was, and says so when asked
        return
    assert result.status in ("failed", "reverted")
    assert result.error is not None
    assert host.settings() == began
    assert host.state["tasks"] == {}
    assert lab.journal.unfinished() == []


def test_a_host_that_refuses_new_connections_is_put_back_over_the_first(start: Start) -> None:
    host, lab = start()
    began = host.settings()

    def hear(event: str) -> None:
        if event == "write journalled":
            lab.refuse = True

    _, result = lab.apply(WANTED, hear=hear)
    assert result.status == "reverted"
    assert host.settings() == began


def test_an_upload_that_is_cut_is_never_run(start: Start) -> None:
    """What the first piece left behind counts for nothing, and the host is free for the next one."""
    host, lab = start()
    lab.cut_at = (2, "after")
    lab.apply(WANTED)
    assert host.states() == {}
    lab.cut_at = (0, "")
    assert lab.apply(WANTED)[1].status == "applied"


def test_the_task_restores_a_write_that_nobody_heard_of_again(start: Start) -> None:
    host, lab = start()
    began = host.settings()

    def hear(event: str) -> None:
        if event == "written":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lab.apply(WANTED, revert_in_s=4, hear=hear)
    wait_for(lambda: host.state["tasks"] == {}, "the timer", 30)
    assert host.settings() == began
    assert [h.status for h in lab.journal.changes(limit=1)[0].hosts] == ["applying"]
