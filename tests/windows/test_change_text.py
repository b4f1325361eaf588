"""The lines that go to a Windows host and what is read of its answers, without a host."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostcfg.changes import FileChange, FileState
from hostcfg.errors import ChangeRefused, HostError
from hostcfg.model import Facts, Native, Section, State
from hostcfg.platforms.changer import Job, JobStep, get_changer
from hostcfg.platforms.windows import change_text as text
from hostcfg.platforms.windows.change import CHANGER
from hostcfg.transports.base import CommandResult

if TYPE_CHECKING:
    from pathlib import Path

NONCE = "0011223344556677"
LEVEL = "global.autotuninglevel"
JOB = Job(
    change_id="20261130-173559-ab12",
    by="anna",
    from_host="desk",
    started="2026-11-30T17:35:59Z",
    revert_in_s=60,
    steps=(
        JobStep(1, "heuristics.wsh", "enabled", "disabled"),
        JobStep(2, LEVEL, "normal", "restricted"),
        JobStep(3, "supplemental.internet.congestionprovider", "newreno", "cubic"),
        JobStep(4, "dynamicport.tcp", "start=49152 num=16384", "start=10000 num=50000"),
        JobStep(5, "global.pacingprofile", None, "default"),
    ),
)
HOSTILE = ["a&calc", "a|b", "$(x)", "`x`", 'a"b', "a'b", "a\nb", "%PATH%", "!x!", "a^b", "a b", "<a", "ä", ""]


def frames(**sections: str) -> CommandResult:
    """Output of a script with these sections (``_`` for a dot)."""
    out = "".join(
        f"@@hostcfg {NONCE} begin {kind.replace('_', '.')}\n{body}\n"
        f"@@hostcfg {NONCE} end {kind.replace('_', '.')} 0\n"
        for kind, body in sections.items()
    )
    return CommandResult(f"{out}@@hostcfg {NONCE} done\n".encode(), b"", 0)


def facts(**changes: object) -> Facts:
    native = {LEVEL: Native(LEVEL, "normal"), "global.rss": Native("global.rss", None, State.DENIED)}
    made = Facts("pc", "windows", "Windows 11", (10, 0, 26100), {}, native)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_script_holds_what_each_step_needs() -> None:
    lines = text.script(JOB).splitlines()
    for line in (
        "set show.1=tcp show heuristics",
        "set show.2=tcp show global",
        "set show.3=tcp show supplemental template=internet",
        "set show.4=ipv4 show dynamicport tcp",
        "set table.2=2",
        "set set.2=tcp set global autotuninglevel=",
        "set to.2=restricted",
        "set back.2=normal",
        "set want.2=restricted",
        "set back.3=none",  # netsh shows newreno and takes none
        "set set.4=ipv4 set dynamicport tcp ",
        "set to.4=start=10000 num=50000",
    ):
        assert line in lines
    assert not any(line.startswith(("set back.5", "set want.4", "set want.5", "rem")) for line in lines)
    assert text.shown_as("supplemental.internet.congestionprovider", "none") == ("none", "newreno")


def test_every_line_is_short_and_has_nothing_that_a_shell_takes_for_its_own() -> None:
    names = ("autotuninglevel", "timestamps", "ecncapability", "initialrto", "fastopen", "pacingprofile")
    steps = [JobStep(n, f"global.{name}", "normal", "disabled") for n, name in enumerate(names * 9, 1)]
    for job in (JOB, replace(JOB, steps=steps)):
        commands = [*CHANGER.prepare(job, NONCE), CHANGER.begin(job, NONCE), CHANGER.write(job, NONCE)]
        commands += [CHANGER.confirm(job, NONCE, ()), CHANGER.status(job.change_id, NONCE, restore=True)]
        for command in commands:
            assert len(command.line) <= text.MAX_LINE_CHARS
            assert command.stdin == b""
            inner = command.line.removeprefix('cmd.exe /d /q /c "').removesuffix('"')
            assert not set('"$`\n\r') & set(inner)


def test_the_directory_is_opened_once() -> None:
    job = replace(JOB, steps=())
    lines = [*text.prepare_lines(job, NONCE), text.begin_line(job, NONCE)]
    assert sum(line.count("icacls hostcfg /setowner") for line in lines) == 1


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_reach_no_command(value: str) -> None:
    for step in (JobStep(1, LEVEL, "normal", value), JobStep(1, LEVEL, value, "normal")):
        with pytest.raises(ChangeRefused):
            CHANGER.begin(replace(JOB, steps=(step,)), NONCE)
    for key in (f"global.{value}", f"supplemental.{value}.icw"):
        with pytest.raises(ChangeRefused):
            CHANGER.begin(replace(JOB, steps=(JobStep(1, key, "1", "2"),)), NONCE)
    with pytest.raises(ChangeRefused):
        CHANGER.inverse(facts(), LEVEL, value)
    with pytest.raises(ChangeRefused):
        CHANGER.status(f"x{value}/..", NONCE, restore=True)
    script = text.script(replace(JOB, by=value, from_host=value))
    assert "calc" not in script or "a_calc" in script
    assert not any(
        line.startswith("set by=") and set("&|<>^%\"'`$!") & set(line) for line in script.splitlines()
    )


def test_escaping_leaves_no_name_for_a_variable_and_no_operator() -> None:
    assert text.escaped("if %1==x echo %id%>owner") == "if %^1==x echo %^id%^>owner"
    assert text.escaped("for %%a in (now) do set x=%%a& goto y%") == (
        "for %^%^a in ^(now^) do set x=%^%^a^& goto y%"
    )


def test_same_compares_words() -> None:
    provider = "supplemental.internet.congestionprovider"
    assert CHANGER.same(LEVEL, "Normal", "normal ")
    assert CHANGER.same(provider, "none", "newreno")
    assert not CHANGER.same(LEVEL, "none", "newreno")
    assert not CHANGER.same(provider, "none", "cubic")


def test_inverse() -> None:
    command = "netsh interface tcp set global autotuninglevel=normal"
    assert CHANGER.inverse(facts(), LEVEL, "disabled") == (command, "")
    assert CHANGER.inverse(facts(), "global.rss", "enabled")[0] is None
    assert "absent" in CHANGER.inverse(facts(), "global.prr", "enabled")[1]
    overridden = facts(details={"heuristics_override": True})
    assert CHANGER.inverse(overridden, LEVEL, "disabled")[0] is None


def test_there_are_no_files() -> None:
    state = FileState("x", None)
    assert CHANGER.persisted(facts(), {LEVEL: "normal"}) == {}
    assert CHANGER.impossible(LEVEL, "whatever") is None  # netsh's own words are checked with the inverse
    assert CHANGER.file_restored(FileChange(state), state) == state
    assert CHANGER.outranked_by(facts(), LEVEL) is None
    with pytest.raises(ChangeRefused, match="persistent store"):
        CHANGER.file_contents("x", None, {})
    assert get_changer("windows") is CHANGER


def test_notes() -> None:
    started = facts(details={"build": 26100}, sections=(Section("powershell", "", status=0),))
    assert CHANGER.notes(started, [], persist=True) == [
        "netsh keeps what it sets over a boot; --persist changes nothing here",
        "the revert timer is a scheduled task with seconds, made by PowerShell",
    ]
    seven = facts(details={"build": 7601}, sections=(Section("powershell", "", status=0),))
    for one in (facts(), seven):
        assert "next whole minute" in CHANGER.notes(one, [], persist=False)[1]
        assert "it follows the local time" in CHANGER.notes(one, [], persist=False)[2]
    assert CHANGER.unreached([], None) == ()


def test_a_cut_report_is_no_report() -> None:
    with pytest.raises(HostError, match="no 'state'"):
        CHANGER.read_confirm(JOB, NONCE, frames(x="y"))
    with pytest.raises(HostError):
        CHANGER.read_confirm(JOB, NONCE, CommandResult(b"", b"", 0))


def test_a_holder_without_a_timer_or_any_text() -> None:
    owner = "old by=otto from=far started=2026-11-30T00:00:00Z"
    refusal = CHANGER.read_begin(JOB, NONCE, frames(refused="locked", holder=f"pending\n{owner}")).refusal
    assert refusal is not None
    assert refusal.message == (
        "change old by otto from far is pending there since 2026-11-30T00:00:00Z; it has no timer: "
        r"hostcfg confirm or rollback, or %ProgramData%\hostcfg\old\restore.cmd there"
    )
    bare = CHANGER.read_begin(JOB, NONCE, frames(refused="locked")).refusal
    assert bare is not None
    assert bare.message.startswith("change unknown by ? from ?")


def test_another_machine_is_refused_unless_forced() -> None:
    job = replace(JOB, steps=(), identity={"machine-guid": "11111111-1111"})
    guid = "    MachineGuid    REG_SZ    22222222-2222\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA host"
    with pytest.raises(ChangeRefused, match="machine-guid differs"):
        CHANGER.read_begin(job, NONCE, frames(identity=guid, state="pending"))
    report = CHANGER.read_begin(replace(job, force=True), NONCE, frames(identity=guid, state="pending"))
    known = {"machine-guid": "22222222-2222", "host-key-ed25519": "AAAAC3NzaC1lZDI1NTE5AAAA"}
    assert report.identity == known


def _global(level: str, *, note: bool = False) -> str:
    rows = f"Receive Window Auto-Tuning Level    : {level} \n"
    text_ = f"TCP Global Parameters\n{'-' * 46}\n{rows}"
    return text_ + (
        "** The above autotuninglevel setting is the result of Windows Scaling heuristics\n" * note
    )


@pytest.mark.parametrize(
    ("after", "said", "final", "outcome"),
    [
        (_global("restricted"), "Ok.", _global("restricted"), "set"),
        (_global("restricted"), "Ok.", _global("normal"), "overridden"),
        (_global("restricted"), "Ok.", "", "overridden"),
        (_global("normal"), "Ok.", "", "rejected"),
        (_global("normal"), "Access is denied.", "", "denied"),
        (_global("normal"), "something new", "", "rejected"),
        (_global("disabled"), "Ok.", "", "clamped"),
        (_global("disabled"), "hm", "", "clamped"),
        ("", "", "", "absent"),
    ],
)
def test_outcomes(after: str, said: str, final: str, outcome: str) -> None:
    job = replace(JOB, steps=(JobStep(1, LEVEL, "normal", "restricted"),))
    found = frames(said_1=said, after_1=after, final_1=final, state="pending")
    report = CHANGER.read_write(job, NONCE, found)
    assert [step.outcome for step in report.steps] == [outcome]
    assert report.stopped == (None if outcome == "set" else "failed")
    assert report.left_s is None


def test_a_step_that_was_not_tried_and_one_that_held_already() -> None:
    one = JobStep(1, LEVEL, "restricted", "restricted")
    job = replace(JOB, steps=(one, JobStep(2, "heuristics.wsh", "enabled", "disabled")))
    table = _global("restricted")
    found = frames(after_1=table, final_1=table, stop="failed", unrestored="2 9", state="failed")
    report = CHANGER.read_write(job, NONCE, found)
    assert [step.outcome for step in report.steps] == ["unchanged", None]
    assert list(report.unrestored) == ["heuristics.wsh", "9"]


def test_a_policy_of_the_same_level_overrides_nothing() -> None:
    job = replace(JOB, steps=(JobStep(1, LEVEL, "normal", "restricted"),))
    policy = (
        '[{"SettingName":"Internet","AutoTuningLevelEffective":"GroupPolicy",'
        '"AutoTuningLevelGroupPolicy":"Restricted"}]'
    )
    sections = {"get-nettcpsetting": policy, "after.1": _global("restricted"), "state": "pending"}
    sections["final.1"] = sections["after.1"]
    report = CHANGER.read_write(job, NONCE, frames(**sections))
    assert [step.outcome for step in report.steps] == ["set"]


def test_unforced_confirmations_name_what_was_overridden() -> None:
    job = replace(JOB, steps=(JobStep(1, LEVEL, "normal", "restricted"),))
    found = frames(final_1=_global("disabled"), refused="overridden", state="restored")
    report = CHANGER.read_confirm(job, NONCE, found)
    assert report.overridden == {LEVEL: "disabled"}
    held = frames(final_1=_global("restricted"), refused="overridden", state="restored")
    assert CHANGER.read_confirm(job, NONCE, held).overridden == {}


@pytest.mark.skipif(shutil.which("wine") is None, reason="wine is not installed")
def test_the_pieces_under_a_real_parser(tmp_path: Path) -> None:
    """wine's cmd.exe prints what is sent, letter by letter (it can't redirect a block: left out)."""
    environment = dict(os.environ, WINEPREFIX=str(tmp_path / "prefix"), WINEDEBUG="-all")
    printed = b""
    for piece in text.pieces(JOB, NONCE):
        block = piece.rpartition(">>")[0]
        done = subprocess.run(
            ["wine", "cmd", "/d", "/q", "/c", block],
            env=environment,
            capture_output=True,
            timeout=120,
            check=True,
        )
        printed += done.stdout
    assert printed.decode().replace("\r\n", "\n") == text.script(JOB)
