"""Shell lines that set sysctls: what they would set, as far as it can be said without running them.

Samples::

    sysctl -w net.core.rmem_max=16777216 net.core.wmem_max=16777216
    sudo sysctl -w net.ipv4.tcp_rmem="4096 87380 16777216"
    echo 4096 87380 16777216 > /proc/sys/net/ipv4/tcp_rmem
    echo "net.core.default_qdisc=fq" | sudo tee -a /etc/sysctl.conf
    KEYS=("net.core.rmem_max" "net.core.wmem_max")
    VALUES=("33554432" "33554432")

``sysctl -w key = value`` sets nothing: the blanks make three arguments of it (recorded with procps
and busybox).  A value with a ``$`` is only known to the shell.
"""

from __future__ import annotations

import shlex
from dataclasses import field
from itertools import pairwise

from hostcfg.lean import dataclass, regex
from hostcfg.platforms.linux.conf import assignments, key_to_path, path_to_key
from hostcfg.platforms.linux.native import is_key
from hostcfg.platforms.linux.parsers.text import BLANKS, prompted

# A longer line is no command that a person wrote.
MAX_LINE = 4_000

_COMMAND = regex(
    r"[ \t]*(?:sudo |doas )?(?:/\w{1,20}){0,4}/?(?P<name>sysctl|echo|printf|cat|tee)[ \t]+(?![ \t=])"
)
_ARRAY = regex(r"\b(?P<name>[A-Za-z_]\w{0,63})=\((?P<body>[^()]{1,20000})\)")
_HEREDOC = regex(r"<<-?[ \t]*[\"'\\]?(?P<end>[A-Za-z_]\w{0,31})")
_SEPARATORS = ("&&", ";", "||", "&")


@dataclass(frozen=True, slots=True)
class Setting:
    """``key = raw`` as a shell line sets it; ``line`` counts from 1."""

    key: str
    raw: str
    line: int


@dataclass(slots=True)
class Script:
    """The shell lines of a text.  ``lines`` are the numbers of those that were dealt with here."""

    settings: list[Setting] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    unrecognized: list[str] = field(default_factory=list)


def read_script(text: str) -> Script:
    """What the shell lines of ``text`` set; all other lines are left alone.  Never raises."""
    found = Script()
    if "=(" in text:
        _arrays(text, found)
    end: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line or number in found.lines or len(line) > MAX_LINE:
            continue
        if end is not None and line.strip(BLANKS) == end:
            found.lines.add(number)
            end = None
        elif is_shell(line):
            found.lines.add(number)
            heredoc = _HEREDOC.search(line)
            if heredoc is not None:
                end = heredoc["end"]
            else:
                _commands(_without_prompt(line), number, found)
    return found


def is_shell(line: str) -> bool:
    """Whether ``line`` begins with a command that can set a sysctl."""
    return (
        not line.lstrip(BLANKS).startswith(("#", ";")) and _COMMAND.match(_without_prompt(line)) is not None
    )


def _without_prompt(line: str) -> str:
    command = prompted(line) if not line.lstrip(BLANKS).startswith("#") else None
    return line if command is None else command


def _commands(line: str, number: int, found: Script) -> None:
    words: list[str] = []
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        tokens = [*lexer, ";"]
    except ValueError:  # a quote is left open
        found.unrecognized.append(line.strip(BLANKS))
        return
    for token in tokens:
        if token not in _SEPARATORS:
            words.append(token)
            continue
        if words and not _one(words, number, found):
            found.unrecognized.append(line.strip(BLANKS))
        words = []


def _one(words: list[str], number: int, found: Script) -> bool:
    """One simple command or pipe; False if it can't be said what it sets."""
    words = words[1:] if words[0] in ("sudo", "doas") else words
    name = words[0].rpartition("/")[2] if words else ""
    if name == "sysctl":
        return _sysctl(words[1:], number, found)
    if name in ("echo", "printf"):
        return _echo(words[1:], number, found)
    return False


def _sysctl(words: list[str], number: int, found: Script) -> bool:
    if any(word in ("-p", "--load", "--system", "-a", "-n") for word in words):
        found.notes.append(f"line {number}: loads or reads, and sets nothing by itself")
        return True
    pairs = [word.partition("=") for word in words if not word.startswith("-")]
    complete = True
    for name, equals, raw in pairs:
        key = path_to_key(key_to_path(name))
        if equals and raw and is_key(key) and not _is_open(raw):
            found.settings.append(Setting(key, raw, number))
        else:
            complete = False
    if any(not name for name, equals, _ in pairs if equals):
        found.notes.append(f"line {number}: blanks around '=': sysctl takes three arguments and sets nothing")
    return complete and bool(pairs)


def _echo(words: list[str], number: int, found: Script) -> bool:
    target = _target(words)
    if target is None:
        return False
    text = " ".join(words[: target[0]])
    while text.startswith(("-n ", "-e ")):
        text = text[3:]
    if _is_open(text):
        return False
    path = target[1]
    if path.startswith("/proc/sys/"):
        key = path_to_key(path.removeprefix("/proc/sys/"))
        found.settings.append(Setting(key, text, number))
        return is_key(key)
    conf = assignments(text.replace("\\n", "\n"))
    found.settings += [Setting(a.key, a.raw, number) for a in conf.assignments if is_key(a.key)]
    return bool(conf.assignments) and not conf.not_understood


def _target(words: list[str]) -> tuple[int, str] | None:
    """Where the text of an echo ends, and the file that gets it: ``> FILE`` or ``| tee FILE``."""
    for index, (word, after) in enumerate(pairwise(words)):
        if word in (">", ">>", ">|"):
            return index, after
        if word == "|":
            names = [w for w in words[index + 1 :] if not w.startswith("-") and w not in ("sudo", "doas")]
            return (index, names[1]) if len(names) >= 2 and names[0] == "tee" else None
    return None


def _is_open(text: str) -> bool:
    """Whether only the shell knows what ``text`` becomes."""
    return "$" in text or "`" in text


def _arrays(text: str, found: Script) -> None:
    """Two arrays of one length, keys in the first and values in the second."""
    arrays = [(m, _items(m["body"])) for m in _ARRAY.finditer(text)]
    for (keys_at, keys), (values_at, values) in pairwise(arrays):
        if not keys or len(keys) != len(values) or not all(map(is_key, keys)):
            continue
        if len(set(keys)) != len(keys):
            found.notes.append("two arrays with one key twice: which value is whose can't be said")
            continue
        line = text.count("\n", 0, values_at.start()) + 1
        found.settings += [Setting(key, raw, line) for key, raw in zip(keys, values, strict=True)]
        for match in (keys_at, values_at):
            first = text.count("\n", 0, match.start()) + 1
            found.lines.update(range(first, first + match[0].count("\n") + 1))


def _items(body: str) -> list[str]:
    try:
        return shlex.split(body, comments=True)
    except ValueError:
        return []
