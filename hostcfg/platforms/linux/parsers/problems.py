"""Error lines about sysctl keys: what sysctl, systemd-sysctl, a shell or ``cat`` say that went wrong.

Samples, one for each family::

    sysctl: permission denied on key 'kernel.cad_pid'                                    procps 3.3
    sysctl: cannot stat /proc/sys/net/ipv4/tcp_tw_recycle: No such file or directory     procps 3.3
    sysctl: setting key "net.core.default_qdisc", ignoring: No such file or directory    procps 4
    error: "net.bridge.bridge-nf-call-iptables" is an unknown key                        procps 3.2
    sysctl: error reading key 'net.ipv6.conf.all.stable_secret': I/O error               busybox
    systemd-sysctl[211]: Couldn't write 'bbr' to 'net/ipv4/tcp_congestion_control': Operation not permitted
    cat: /proc/sys/net/core/bpf_jit_limit: Keine Berechtigung                            any locale
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex
from hostcfg.platforms.linux.conf import key_to_path, path_to_key
from hostcfg.platforms.linux.native import is_key
from hostcfg.platforms.linux.parsers.errno_text import DENIED_KEY, ERRNO_TEXT, UNKNOWN_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

# An error line is short; a longer one is garbage, and is not searched.
MAX_LINE = 2_000

_START = regex(
    r"(?:(?:/[\w.-]{1,20}){0,4}/?(?:systemd-)?sysctl(?:\[[0-9]{1,9}\])?|error|warning|busybox"
    r"|Error \([\w.]{1,40}:[0-9]{1,9}\)): ?"
)
# "cat: /proc/sys/net/ipv6/conf: est un dossier", for reasons that the table does not have.
_BY_PROGRAM = regex(r"-?[\w./-]{1,40}: (?:[^/:]{0,40}[ :])?/proc/sys/[^\s:]+: \S")
# "bash: line 1: ", "sudo: ", "/bin/sh: 1: " in front of "sysctl: command not found".
_SHELL = regex(r"-?[\w./-]{1,40}: (?:(?:line )?[0-9]{1,9}: )?")
_SYSTEMD = regex(r"(?:Couldn.t|Failed to) write '(?P<value>[^\n]*)' to '(?P<path>[^'\n]+)'")
_PROC = regex(r"/proc/sys/([^\s:\"'»«”“’,]+)")
_QUOTE = "\"'`´‘’‚“”„«»"
_IN_QUOTES = regex(rf"[{_QUOTE}][ \u00a0\u202f]?([^{_QUOTE}\s=]+)=?[ \u00a0\u202f]?[{_QUOTE}]")
_SYNTAX = ("invalid syntax", "malformed", "must be of the form", "bad line", "separators should not")
# "sysctl: /etc/sysctl.conf(5): ungültige Syntax, es wird fortgefahren" in any language
_LINE_NUMBER = regex(r"^sysctl: [^:]{1,200}\([0-9]{1,9}\): ")
_READING = ("reading key", "unable to open directory", "Can't read")
_PHRASES = tuple(
    (phrase.casefold(), kind)
    for kind, phrases in (("unknown", UNKNOWN_KEY), ("denied", DENIED_KEY), *ERRNO_TEXT.items())
    for phrase in phrases
)
_ENGLISH = tuple(pair for pair in _PHRASES if pair[0].isascii() and " " in pair[0])


@dataclass(frozen=True, slots=True)
class Problem:
    """One error line.  ``name`` is the key as ``sysctl -a`` prints it, None where the line names none.

    ``kind``: ``unknown`` (no such key), ``denied``, ``read_only`` (file system or key), ``invalid``
    (the kernel refused the value), ``not_found`` (the value names an algorithm or queueing discipline
    that is not there), ``unreadable`` (EIO: normal for an unset stable_secret), ``unsupported``,
    ``range``, ``syntax`` (of a command line or file) or ``other``.
    """

    name: str | None
    kind: str
    text: str


def problem(line: str) -> Problem | None:
    """The error that ``line`` reports, or None if it is no error line about sysctl keys."""
    text = line.strip(" \t")
    if len(text) > MAX_LINE:
        return None
    marked = _START.match(text) is not None or _BY_PROGRAM.match(text) is not None
    if not marked and "/proc/sys/" not in text and _SYSTEMD.search(text) is None:
        return None
    name, by_path = _name(text)
    found = _kind(text, name)
    if not marked and found is None:
        return None  # a path alone is no error: "/proc/sys/net/core/rmem_max:212992"
    kind = found or "other"
    if kind == "absent":
        kind = "unknown" if by_path else "not_found"
    return Problem(None if text.endswith("/") else name, kind, text)  # a path that is cut


def spliced(line: str) -> tuple[str, str] | None:
    """What stands before and from an error message that was printed into the middle of a line.

    Standard error is written at once and standard output in blocks: merged into one stream an error
    can land inside a value: ``net.ipv4.tcp_mem = 221sysctl: permission denied on key 'vm.x'``.
    """
    for mark in ("sysctl: ", 'error: "', "error: permission denied on key"):
        at = line.find(mark)
        if at > 0 and line[:at].strip(" \t") and not _SHELL.fullmatch(line, 0, at):
            return line[:at], line[at:]
    return None


def _name(text: str) -> tuple[str | None, bool]:
    """The key that the line is about, and whether the line gives it as a path that was opened."""
    systemd = _SYSTEMD.search(text)
    if systemd is not None:
        return _key(systemd["path"]), False
    proc = _PROC.search(text)
    if proc is not None:
        return _key(f"/proc/sys/{proc[1]}"), True
    for quoted in _IN_QUOTES.finditer(text):
        key = _key(quoted[1])
        if key is not None:
            return key, False
    for word in _bare_words(text):
        key = _key(word)
        if key is not None:
            return key, "/" in word
    return None, False


def _bare_words(text: str) -> Iterator[str]:
    return (word.strip(f"{_QUOTE}:,;") for word in text.split(" ")[:40])


def _key(name: str) -> str | None:
    """``name`` as ``sysctl -a`` would print it; None if no key can be called so."""
    path = name.removeprefix("/proc/sys/").lstrip("-").rstrip("/")
    key = path_to_key(path if name.startswith("/proc/sys/") else key_to_path(path))
    return key if is_key(key) else None


def _kind(text: str, name: str | None) -> str | None:
    folded = text.casefold()
    for phrase, kind in _PHRASES:
        if phrase in folded:
            return kind
    tail = folded.rpartition(": ")[2]
    for phrase, kind in _ENGLISH:
        if len(tail) >= 8 and phrase.startswith(tail):  # "No such file", cut by an excerpt
            return kind
    if any(mark in text for mark in _SYNTAX) or _LINE_NUMBER.search(text):
        return "syntax"
    if name is not None and any(mark in text for mark in _READING):
        return "unreadable"
    return None
