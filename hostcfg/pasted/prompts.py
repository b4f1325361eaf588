"""Prompts of shells, and the commands typed after them, in pasted text.

``user@host:~$ cmd``   ``root@fbsd:~ # cmd``   ``[admin@x ~]$ cmd``   ``host# cmd``   ``# cmd``
``C:\\> cmd``   ``PS C:\\Users\\x> cmd``   ``user@router> show system buffers``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = frozenset(
    {
        *(
            "sysctl",
            "netstat",
            "ipadm",
            "ndd",
            "kldload",
            "kldunload",
            "kldstat",
            "kenv",
            "uname",
            "ifconfig",
        ),
        *("cat", "more", "less", "head", "tail", "grep", "egrep", "fgrep", "route", "show", "sw_vers", "jls"),
        *("ip", "tc", "ethtool", "ss", "iperf", "iperf3", "lsmod", "modprobe", "dmesg", "vmstat", "service"),
        *("sudo", "doas", "su", "env", "for", "while", "echo", "printf", "ls", "id", "hostname", "ping"),
        *("netsh", "powershell", "pwsh", "get-nettcpsetting", "set-nettcpsetting", "get-netadapter"),
        *("get-netoffloadglobalsetting", "get-netipinterface", "get-netipv4protocol", "get-computerinfo"),
        *("ver", "type", "systeminfo", "findstr", "tracert", "chcp"),
    }
)
"""First words that make a line a command even after a bare ``#``, ``%``, ``$`` or nothing at all."""

_USER_HOST = r"[\w.+-]{1,64}@[\w.-]{1,128}"
_VIRTUALENV = r"(?:\([\w .-]{1,64}\)\s)?"
_TYPED = r"(?P<command>.*)"
_STRONG = tuple(
    regex(rf"\s{{0,16}}{pattern}")
    for pattern in (
        rf"{_VIRTUALENV}[\[(]?{_USER_HOST}[ :]?[^#$%>\n]{{0,128}}?[\])]?\s?[#$%](?:\s+{_TYPED}|\s*)",
        rf"{_USER_HOST}[ :]?[~/\w.-]{{0,128}}\s?>(?:\s{_TYPED}|\s*)",
        rf"{_USER_HOST}\s\[[^\]\n]{{0,128}}\]\s{_TYPED}",
        rf"PS(?:\s[^>\n]{{0,256}})?>\s?{_TYPED}",
        rf"[A-Za-z]:\\[^<>|\n]{{0,256}}>\s?{_TYPED}",
        rf"\$?:~?[/\w.-]{{0,64}}\s?[#$%]\s{_TYPED}",
    )
)
_MARK = regex(r"[#$%>\]\u276f\u279c\u2717\u27a4\u03bb~]")
"""A prompt has one of these."""
_WEAK = regex(
    r"\s{0,16}(?:[\w.-]{1,64}(?::[\w/~.-]{0,64})?\s?)?(?:[#$%>\u276f\u279c\u2717\u27a4\u03bb]\s{0,3}|~\s)+(?P<command>[A-Za-z./].*)"
)
_ECHO = regex(r"\s{0,16}(?P<command>(?:/[\w./-]{1,64}/)?[A-Za-z][\w-]{0,31}(?:\.exe)?(?:\s.*|$))")
_PROSE = regex(r"[A-Za-z-]+[:,]?(?:\s+[A-Za-z-]+[.,:;]?){0,40}[.:!?]?")
_ANY_CASE = frozenset({"netsh", "powershell", "pwsh", "systeminfo", "chcp"})
_ALONE = frozenset({"netstat", "kldstat", "uname", "ifconfig", "sysctl"})


def command_of(line: str, *, hash_prompts: bool = True) -> str | None:
    """The command typed in ``line``, "" for a bare prompt, None where the line is output.

    ``hash_prompts`` False: a line that begins with ``#`` is a comment, whatever it says.
    """
    if len(line) > 4096 or line.isspace():
        return None
    if not _MARK.search(line) and not is_command(line):
        return None
    for prompt in _STRONG:
        match = prompt.fullmatch(line)
        if match is not None and not _is_table(line):
            return (match["command"] or "").strip()
    if line.lstrip().startswith("#") and not hash_prompts:
        return None
    weak = _WEAK.fullmatch(line)
    if weak is not None and is_command(weak["command"]):
        return weak["command"].strip()
    echo = _ECHO.fullmatch(line)
    if echo is not None and is_command(echo["command"]) and _looks_typed(echo["command"]):
        return echo["command"].strip()
    return None


def commands_in(lines: Sequence[str]) -> list[str | None]:
    """:func:`command_of` for each line; ``# text`` counts as a prompt only if comments are fewer."""
    hashes = [line for line in lines if line.lstrip().startswith("#")]
    typed = sum(1 for line in hashes if command_of(line) is not None)
    prompts = 2 * typed > len(hashes)
    return [command_of(line, hash_prompts=prompts) if line else None for line in lines]


def is_command(text: str) -> bool:
    """Whether ``text`` begins with a program that hostcfg's readers use.

    Only Windows takes a name in any case: ``Show`` and ``Cat`` begin sentences.
    """
    first = text.split(None, 1)[0] if text.strip() else ""
    name = first.rsplit("/", 1)[-1].removesuffix(".exe")
    return name in _COMMANDS or (name.lower() in _ANY_CASE) or ("-" in name and name.lower() in _COMMANDS)


def _looks_typed(text: str) -> bool:
    """A line without a prompt is a command only if its words are arguments and no sentence or table."""
    words = text.split()
    name = words[0].rsplit("/", 1)[-1].lower().removesuffix(".exe")
    if len(words) == 1:
        return name in _ALONE
    if words[1].startswith(":"):
        return False  # "Set-NetTCPSetting : Property ... is read-only" is PowerShell's error, not a command
    if name in ("sudo", "doas"):
        return is_command(" ".join(words[1:]))
    if name in ("netsh", "show", "powershell", "pwsh") or "-" in name:
        return len(words) < 24
    if name in ("sysctl", "kldload", "kldunload", "modprobe", "cat", "netstat"):
        return (
            words[1][:1] in "-/"
            or "." in words[1]
            or "_" in words[1]
            or (name != "sysctl" and len(words) == 2)
        )
    return words[1].startswith("-") and not _PROSE.fullmatch(text)


def _is_table(line: str) -> bool:
    """``a@b`` inside a table or a message is no prompt."""
    return line.count("|") > 4
