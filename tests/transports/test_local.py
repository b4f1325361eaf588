"""Commands on this machine: what comes back, and that nothing outlives a limit."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from hostcfg.errors import HostError
from hostcfg.transports.base import Command, CommandResult
from hostcfg.transports.local import LocalTransport
from tests.sshd import wait_for


def run(command: Command, timeout_s: float = 10, limit_bytes: int = 32 << 20) -> CommandResult:
    with LocalTransport(timeout_s=timeout_s, limit_bytes=limit_bytes) as host:
        return host.run(command)


def fails(command: Command, kind: str, words: str, timeout_s: float = 1, limit_bytes: int = 32 << 20) -> None:
    began = time.monotonic()
    with pytest.raises(HostError, match=words) as caught:
        run(command, timeout_s, limit_bytes)
    assert caught.value.kind == kind
    assert caught.value.host == "local"
    assert time.monotonic() - began < timeout_s + 3


def test_output_errors_and_status_stay_apart() -> None:
    assert run(Command.sh("echo out; echo err >&2; exit 3")) == CommandResult(b"out\n", b"err\n", 3)


def test_commands_of_a_script_can_not_eat_the_rest_of_it() -> None:
    assert run(Command.sh("cat; read x; echo still here")).stdout == b"still here\n"


@pytest.mark.parametrize("size", [0, 1, 70_000, 5_000_000])
def test_bytes_go_through_unchanged(size: int) -> None:
    data = (bytes(range(256)) * (size // 256 + 1))[:size]
    assert run(Command("cat", data)) == CommandResult(data, b"", 0)


def test_a_command_may_leave_its_input_unread() -> None:
    assert run(Command("exec <&-; echo done", b"x" * 1_000_000)).stdout == b"done\n"


def test_a_command_ended_by_a_signal_has_no_status() -> None:
    assert run(Command("kill -9 $$")).status is None


def test_a_time_limit_kills_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"sleep 30 & echo $! >{pids}; (trap '' TERM HUP; echo $$ >>{pids}; sleep 30)"
    fails(Command.sh(script), "timeout", "did not end within 1 s")
    for pid in map(int, pids.read_text().split()):
        wait_for(partial(_ended, pid), f"the end of {pid}", 5)


def _ended(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_a_command_that_closes_its_output_and_stays() -> None:
    fails(Command.sh("exec >&- 2>&-; sleep 30"), "timeout", "did not end")


def test_a_command_that_reads_nothing_and_stays() -> None:
    fails(Command("sleep 30", b"x" * 1_000_000), "timeout", "did not end")


@pytest.mark.parametrize("script", ["yes", "yes >&2"])
def test_endless_output_is_cut(script: str) -> None:
    fails(Command.sh(script), "command", "more than 4 MiB", timeout_s=30, limit_bytes=4 << 20)


def test_no_shell() -> None:
    """Too long for the system: an error of ours, not a traceback."""
    fails(Command("x" * 10_000_000), "command", "can't run it")


def test_counts_and_names() -> None:
    with LocalTransport("here") as host:
        host.run(Command.sh("true"))
        assert (host.host, host.commands_run, host.connections_made, host.banner) == ("here", 1, 0, None)


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def test_nothing_is_left_open() -> None:
    run(Command.sh("true"))
    before = descriptors()
    for command in (Command.sh("echo x"), Command("cat", b"x" * 100_000)):
        run(command)
    fails(Command.sh("sleep 30"), "timeout", "did not end", timeout_s=0.2)
    assert descriptors() == before
