"""The programs beside cmd.exe: what the host's other executables print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.hosts.windows import netsh, posh, tasks
from tests.hosts.windows.releases import SERVERS, VERSIONS
from tests.hosts.windows.syntax import split_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hosts.windows.cmd import Shell, Sinks

    Program = Callable[["Shell", str, "Sinks"], int]

NOT_FOUND = 9009


def _chcp(shell: Shell, rest: str, sinks: Sinks) -> int:
    session = shell.session
    if rest.strip().isdigit():
        session.code_page = int(rest)
    sinks.out(session.encode(session.say("chcp").format(session.code_page) + "\n"))
    return 0


def _ver(shell: Shell, rest: str, sinks: Sinks) -> int:
    del rest
    session = shell.session
    version = VERSIONS[session.state["release"]]
    sinks.out(session.encode(f"\nMicrosoft Windows [{session.say('version')} {version}]\n"))
    return 0


def _whoami(shell: Shell, rest: str, sinks: Sinks) -> int:
    del rest
    rid = 12288 if shell.session.state["elevated"] else 8192
    printed = f"Mandatory Label\\Level  Label  S-1-16-{rid}\nBUILTIN\\Users  S-1-5-32-545\n"
    sinks.out(shell.session.encode(printed))
    return 0


def _findstr(shell: Shell, rest: str, sinks: Sinks) -> int:
    """Literal words, alone or as ``/c:WORD``; any of them."""
    del shell
    words = [word.removeprefix("/c:").encode() for word in rest.split()]
    kept = [line for line in sinks.stdin.splitlines(keepends=True) if any(w in line for w in words)]
    sinks.out(b"".join(kept))
    return 0 if kept else 1


def _reg(shell: Shell, rest: str, sinks: Sinks) -> int:
    """``reg query KEY /v NAME`` and ``reg add KEY /v NAME /d DATA /f``; all values are REG_SZ."""
    session = shell.session
    verb, key, _, name, *more = split_words(rest)
    key = key.upper()
    if verb == "add":
        if not session.state["elevated"]:
            sinks.err(session.encode("ERROR: Access is denied.\n"))
            return 1
        session.load()
        session.state["registry"][f"{key}\\{name}"] = more[1]
        session.save()
        return 0
    kind = "ServerNT" if session.state["release"] in SERVERS else "WinNT"
    values = {r"HKLM\SYSTEM\CURRENTCONTROLSET\CONTROL\PRODUCTOPTIONS\ProductType": kind}
    value = (values | session.state["registry"]).get(f"{key}\\{name}")
    if value is None:
        message = "ERROR: The system was unable to find the specified registry key or value.\n"
        sinks.err(session.encode(message))
        return 1
    sinks.out(session.encode(f"\nHKEY_LOCAL_MACHINE\\...\n    {name}    REG_SZ    {value}\n\n"))
    return 0


def _netsh(shell: Shell, rest: str, sinks: Sinks) -> int:
    shell.session.load()
    printed, status = netsh.run(shell.session, rest.strip())
    sinks.out(shell.session.encode(printed))
    return status


def _powershell(shell: Shell, rest: str, sinks: Sinks) -> int:
    session = shell.session
    if not session.state["powershell"]:
        sinks.err(session.encode(session.say("unknown").format("powershell.exe") + "\n"))
        return NOT_FOUND
    session.load()
    printed, errors, status = posh.run(session, rest)
    sinks.out(session.encode(printed))
    sinks.err(session.encode(errors))
    return status


def _schtasks(shell: Shell, rest: str, sinks: Sinks) -> int:
    session = shell.session
    session.load()
    printed, errors, status = tasks.schtasks(session, rest)
    sinks.out(session.encode(printed))
    sinks.err(session.encode(errors))
    return status


def _icacls(shell: Shell, rest: str, sinks: Sinks) -> int:
    """Kept as it was asked for, so that a test can see it."""
    session = shell.session
    session.load()
    session.state["acl"].append(rest.strip())
    session.save()
    sinks.out(session.encode("processed file: hostcfg\nSuccessfully processed 1 files\n"))
    return 0


def _ping(shell: Shell, rest: str, sinks: Sinks) -> int:
    """One second for each request but the first."""
    count = re.search(r"-n (\d+)", rest)
    shell.session.pause(int(count[1]) - 1 if count else 3)
    sinks.out(b"Pinging 127.0.0.1\r\n")
    return 0


def _cmd(shell: Shell, rest: str, sinks: Sinks) -> int:
    from tests.hosts.windows.cmd import Shell as NewShell

    inner = NewShell(shell.session, shell.cwd, dict(shell.env))
    return inner.line(after_switch(rest), sinks)


def after_switch(rest: str) -> str:
    """The command of ``/d /q /c COMMAND``: without the first and the last quote."""
    command = rest.partition("/c")[2].strip()
    if command.startswith('"') and command.endswith('"') and len(command) > 1:
        return command[1:-1]
    return command


PROGRAMS: dict[str, Program] = {
    "chcp": _chcp,
    "ver": _ver,
    "whoami": _whoami,
    "findstr": _findstr,
    "reg": _reg,
    "netsh": _netsh,
    "powershell": _powershell,
    "schtasks": _schtasks,
    "icacls": _icacls,
    "ping": _ping,
    "cmd": _cmd,
}
