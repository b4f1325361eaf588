"""The script of one change, and the command lines that bring it to the host and run it.

The script goes up in pieces of a command line each: a default shell of PowerShell takes standard
input for itself, and a line read from standard input that is cut would still be run.  Begin
checks the script's length in bytes before it runs any of it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from hostcfg.errors import ChangeRefused, UsageError
from hostcfg.lean import regex
from hostcfg.platforms.windows.domains import LEVELS, PACING, PROVIDERS
from hostcfg.platforms.windows.keys import LEVEL_KEY
from hostcfg.platforms.windows.probe import TCP_PROPERTIES, TEXT_JSON, cmd_line
from hostcfg.platforms.windows.write import set_command, settable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.platforms.changer import Job, JobStep

MAX_LINE_CHARS = 7900
"""Of the 8,191 that cmd.exe takes, what is left when sshd has put its own shell in front of a line
and ``%ProgramData%`` has become a path."""

WORDS = sorted({*LEVELS, *PROVIDERS, *PACING, "enabled", "disabled", "allowed", "automatic"})
"""Every word that a row of ``show global``, ``supplemental`` or ``heuristics`` can end with."""

BASE = r"%ProgramData%\hostcfg"
_ID = regex(r"[A-Za-z0-9][A-Za-z0-9.-]{0,60}")
_ANCHOR = r"HKLM\SOFTWARE\hostcfg"
# S-1-5-18 is the system, S-1-5-32-544 the administrators, in every language
_GRANT = "/inheritance:r /grant:r *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F"
_INTEGRITY = "/c:S-1-16-12288 /c:S-1-16-16384"
"""High and system integrity (Microsoft, "Mandatory integrity control")."""
_ADMINISTRATOR = f"whoami /groups| findstr {_INTEGRITY} >nul"
_ANCHORED = f"reg query {_ANCHOR} /v Directory >nul 2>nul"
_SPECIAL = regex(r"[&|<>()^]")
_PERCENT = regex(r"%(?=[^^])")


@cache
def _template() -> str:
    return (files("hostcfg.platforms.windows") / "change.cmd").read_text(encoding="utf-8")


# -- the script -------------------------------------------------------------------------------------


def table_of(key: str) -> str:
    """What ``netsh interface`` prints ``key`` with: ``tcp show global``."""
    table, _, rest = key.partition(".")
    if table == "dynamicport":
        return "ipv4 show dynamicport tcp"
    if table == "supplemental":
        return f"tcp show supplemental template={rest.partition('.')[0]}"
    return f"tcp show {table}"


def tables_of(job: Job) -> list[str]:
    """The tables of a job's steps, each once; table N of the script is number N here, from 1."""
    return list(dict.fromkeys(table_of(step.key) for step in job.steps))


def script(job: Job) -> str:
    """The whole script for the host, one command a line, without remarks."""
    data = "\n".join([*_head(job), *(row for step in job.steps for row in _step(job, step))])
    text = _template().replace("@DATA@", data).replace("@WORDS@", " ".join(WORDS))
    lines = (line for line in text.splitlines() if line and line != "rem" and not line.startswith("rem "))
    return "".join(f"{line}\n" for line in lines)


def _head(job: Job) -> list[str]:
    values = {
        "id": change_id(job.change_id),
        "by": _plain(job.by),
        "from": _plain(job.from_host),
        "since": _plain(job.started),
        "revert": str(job.revert_in_s),
        "accept": str(int(job.accept)),
        "steps": str(len(job.steps)),
        "tables": str(len(tables_of(job))),
    }
    shows = {f"show.{number}": table for number, table in enumerate(tables_of(job), 1)}
    return [f"set {name}={value}" for name, value in (values | shows).items()]


def _step(job: Job, step: JobStep) -> list[str]:
    """``set set.1=tcp set global autotuninglevel=`` and what follows that text, before and after."""
    start, wanted = _split(step.key, step.wanted)
    rows = {
        "table": str(tables_of(job).index(table_of(step.key)) + 1),
        "set": start,
        "to": wanted,
        "want": " ".join(shown_as(step.key, wanted)),
    }
    if step.before is not None:
        rows["back"] = _split(step.key, step.before)[1]
    return [f"set {name}.{step.number}={value}" for name, value in rows.items() if value]


def _split(key: str, raw: str) -> tuple[str, str]:
    """netsh's arguments after ``netsh interface``, before and from the value on; ChangeRefused."""
    try:
        command = set_command(key, raw).removeprefix("netsh interface ")
    except UsageError as error:
        raise ChangeRefused(error.message, key=error.key) from error
    value = settable(key, raw)
    return command.removesuffix(value), value


def shown_as(key: str, value: str) -> Sequence[str]:
    """The words that the row may show once ``value`` is set; empty where any new word will do."""
    if value == "default" or key.startswith("dynamicport."):
        return ()
    return ("none", "newreno") if value == "none" else (value,)


def change_id(name: str) -> str:
    """``name`` if it is a change's; ChangeRefused for what could mean something to a shell."""
    if not _ID.fullmatch(name):
        raise ChangeRefused(f"{name[:60]!r} is no id of a change")
    return name


def _plain(text: str) -> str:
    """Who and where, for a person to read: nothing in it that a shell could take for its own."""
    return re.sub(r"[^A-Za-z0-9.:@_+-]", "_", text)[:60] or "_"


# -- the command lines ------------------------------------------------------------------------------


def escaped(line: str) -> str:
    """A line of the script as ``echo`` needs it within parentheses on a command line.

    A caret behind each percent sign makes it the name of no variable for both shells on its way; a
    special character brings its own, and at the end of the line nothing follows.

    >>> escaped("if %1==x echo %id%>owner")
    'if %^1==x echo %^id%^>owner'
    """
    return _PERCENT.sub("%^", _SPECIAL.sub(lambda found: f"^{found[0]}", line))


def pieces(job: Job, nonce: str) -> list[str]:
    """Commands that append the script to its file, each short enough for a line with begin's own text."""
    around = f"{_elevated(nonce)}& {_open(job)}&& & {_run_begin(job, nonce, 10**6)}"
    limit = MAX_LINE_CHARS - len(cmd_line(around)) - len("()>>") - len(job.change_id) - len(nonce) - 8
    found: list[list[str]] = [[]]
    room = limit
    for line in script(job).splitlines():
        words = f"echo {escaped(line)}"
        room -= len(words) + 2
        if room < 0:
            found.append([])
            room = limit - len(words) - 2
        found[-1].append(words)
    target = f"{job.change_id}\\new.{nonce}"
    return [f"({'& '.join(rows)})>>{target}" for rows in found]


def prepare_lines(job: Job, nonce: str) -> list[str]:
    """What must run before begin: all but the last piece of the script."""
    *first, _ = pieces(job, nonce)
    starts = [_open(job), *[f"cd /d {BASE}"] * len(first)]
    return [cmd_line(f"{start}&& {piece}") for start, piece in zip(starts, first, strict=False)]


def begin_line(job: Job, nonce: str) -> str:
    """The last piece of the script, its check, and its begin."""
    *first, last = pieces(job, nonce)
    start = f"cd /d {BASE}" if first else _open(job)
    size = sum(len(line) + 2 for line in script(job).splitlines())
    return cmd_line(f"{_elevated(nonce)}& {start}&& {last}& {_run_begin(job, nonce, size)}")


def run_line(name: str, verb: str, nonce: str) -> str:
    """``verb`` of the script of change ``name``; where there is none, the frames say that it is gone."""
    path = f"hostcfg\\{change_id(name)}\\restore.cmd"
    gone = _frames(nonce, {"was": "echo gone", "state": "echo gone"})
    identity, groups = _identity(nonce), f"whoami /groups| findstr {_INTEGRITY}"
    return cmd_line(
        f"{identity}& {_frames(nonce, {'integrity': groups})}& cd /d %ProgramData%& "
        f"if exist {path} (call {path} {verb} {nonce}) else ({gone}& echo @@hostcfg {nonce} done)"
    )


def policy_command() -> str:
    """The autotuning level that group policy enforces, as the probe asks for it."""
    return "powershell.exe -NoProfile -NonInteractive -Command " + TEXT_JSON.format(
        "Get-NetTCPSetting", TCP_PROPERTIES
    ).replace("|", "^|")


def write_line(job: Job, nonce: str) -> str:
    """The steps; for the autotuning level also what group policy makes of it, which netsh does not show."""
    line = run_line(job.change_id, "write", nonce)
    if all(step.key != LEVEL_KEY for step in job.steps):
        return line
    policy = _frames(nonce, {"get-nettcpsetting": f"{policy_command()} 2>nul& echo."})
    return cmd_line(f"echo.& {policy}& {line.removeprefix(cmd_line('')[:-1])[:-1]}")


def _frames(nonce: str, sections: Mapping[str, str]) -> str:
    parts = [
        f"echo @@hostcfg {nonce} begin {kind}& {command}& echo @@hostcfg {nonce} end {kind} 0"
        for kind, command in sections.items()
    ]
    return "& ".join(parts)


def _identity(nonce: str) -> str:
    """What tells this machine from another one: its own id and its SSH host key."""
    guid = r"reg query HKLM\SOFTWARE\Microsoft\Cryptography /v MachineGuid 2>nul"
    key = r"type %ProgramData%\ssh\ssh_host_ed25519_key.pub 2>nul"
    return f"echo.& {_frames(nonce, {'identity': f'{guid}& {key}& echo.'})}"


def _refuse(nonce: str, code: str) -> str:
    return f"({_frames(nonce, {'refused': f'echo {code}'})}& echo @@hostcfg {nonce} done& exit)"


def _elevated(nonce: str) -> str:
    return f"{_identity(nonce)}& {_ADMINISTRATOR}|| {_refuse(nonce, 'no_permission')}"


def _open(job: Job) -> str:
    """The change's own directory.

    Every user may make a directory in ``%ProgramData%``.  So one that hostcfg has not made, which the
    registry tells (only administrators write there), is never used: the timer runs as the system.
    """
    grant = _GRANT.replace("(", "^(").replace(")", "^)")
    make = f"md hostcfg&& icacls hostcfg {grant} >nul&& reg add {_ANCHOR} /v Directory /d made /f >nul"
    own = f"icacls hostcfg /setowner *S-1-5-32-544 >nul& icacls hostcfg {grant} >nul"
    return (
        f"cd /d %ProgramData%& {_ADMINISTRATOR}|| exit& {_ANCHORED}|| ({make})& {_ANCHORED}|| exit& "
        f"(if not exist hostcfg md hostcfg)& {own}& cd hostcfg&& md {change_id(job.change_id)}"
    )


def _run_begin(job: Job, nonce: str, size: int) -> str:
    """Begin, if the script has come whole and under a name that was free; else why not."""
    name = job.change_id
    new = f"{name}\\new.{nonce}"
    return (
        f"{_ANCHORED}|| {_refuse(nonce, 'directory')}& cd /d {BASE}& "
        f"(for %f in ({new}) do if %~zf==!SIZE! ren {new} restore.cmd&& echo sent>{name}\\sent)& "
        f"(if exist {new} del {new})& "
        f"(if not exist {name}\\sent rd {name} 2>nul& {_refuse(nonce, 'upload')})& "
        f"call {name}\\restore.cmd begin {nonce}& "
        f"cd /d {BASE}& if exist {name}\\refused rd /s /q {name}"
    ).replace("!SIZE!", str(size))
