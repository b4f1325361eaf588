"""What Ansible's extra arguments for ssh say of how a host is reached.  Pure.

``-J bastion``, ``-o ProxyJump=bastion`` and ``-o ProxyCommand="ssh -W %h:%p bastion"`` name a jump host;
``-l``, ``-p``, ``-i`` and their ``-o`` forms user, port and key.  Another ProxyCommand is refused: a command
in an inventory is not run.  So is ``-F``, which another file would have to be read for.  Everything else,
such as StrictHostKeyChecking=no, is not obeyed.
"""

from __future__ import annotations

import getopt
import re
import shlex
from typing import TYPE_CHECKING

from hostcfg.lean import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

_LETTERS = "1246ab:c:e:fgi:kl:m:no:p:qstvxAB:CD:E:F:GI:J:KL:MNO:P:Q:R:S:TVw:W:XYy"
"""ssh(1)'s own options (OpenSSH: ssh.c)."""
_KEYWORDS = {"-J": "proxyjump", "-l": "user", "-p": "port", "-i": "identityfile"}
_READ = frozenset({*_KEYWORDS.values(), "hostname", "proxycommand"})
_OPTION = regex(r"(\w+)(?:\s*=\s*|\s+)(.*)", re.DOTALL)  # Keyword=value or "Keyword value", ssh(1) -o
_STDIO = regex(r"ssh(?:\s+-[qaxT46]|\s+-o\s*(?:StrictHostKeyChecking|UserKnownHostsFile)=\S+)*\s+(.*)")


def read_arguments(text: str) -> Mapping[str, str]:
    """``jump``, ``user``, ``port``, ``identityfile`` and ``hostname``, those that ``text`` names.

    As with ssh the first of a kind wins.  ValueError that says what can't be done.

    >>> read_arguments("-C -o ProxyJump=gate -p 2222")
    {'jump': 'gate', 'port': '2222'}
    """
    found: dict[str, str] = {}
    for letter, value in _options(text):
        if letter == "-F":
            raise ValueError(
                f"asks ssh for another configuration ({value[:60]}), which is not read:"
                " name that file in an Include line of ~/.ssh/config"
            )
        option = _OPTION.fullmatch(value.strip()) if letter == "-o" else None
        keyword = option[1].lower() if option else _KEYWORDS.get(letter, "")
        if keyword in _READ:
            _add(found, keyword, (option[2] if option else value).strip())
    return found


def _options(text: str) -> list[tuple[str, str]]:
    try:
        return getopt.getopt(shlex.split(text), _LETTERS)[0]
    except (ValueError, getopt.GetoptError) as error:
        raise ValueError(f"can't be read as arguments of ssh: {error}") from None


def _add(found: dict[str, str], keyword: str, value: str) -> None:
    if keyword in ("proxyjump", "proxycommand"):
        if "jump" not in found:
            found["jump"] = value if keyword == "proxyjump" else _jump_of_command(value)
    else:
        found.setdefault(keyword, value)


def _jump_of_command(command: str) -> str:
    """``ssh -W %h:%p -q user@bastion`` is a jump host in other words; ``none`` is none."""
    if command.lower() == "none":
        return command
    found = _STDIO.fullmatch(command.replace('"', "").replace("'", ""))
    words = found[1].split() if found else []
    words = [word for word in words if word not in ("-q", "-W", "%h:%p", "-W%h:%p")]
    port = ""
    if len(words) == 3 and words[0] == "-p":
        port, words = f":{words[1]}", words[2:]
    if "%h:%p" not in command or len(words) != 1 or words[0].startswith("-"):
        raise ValueError(
            f"a ProxyCommand in an inventory is not run ({command[:60]}): put it into ~/.ssh/config,"
            " or name the jump host with -J"
        )
    return words[0] + port
