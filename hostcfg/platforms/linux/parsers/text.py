"""What pasted text goes through before it is parsed: mail quoting, colours, prompts, cut JSON."""

from __future__ import annotations

import json
import quopri
import re
from typing import TYPE_CHECKING

from hostcfg.lean import dataclass, regex

if TYPE_CHECKING:
    from hostcfg.model import Json

BLANKS = " \t"

# A recogniser looks at this much of a text: enough for any output's face, and bounded for garbage.
HEAD_CHARS = 65_536
HEAD_LINES = 600

_ANSI = regex(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][A-Za-z0-9])")
_QUOTED = regex(r"^(?:> ?)+", re.MULTILINE)
_QP = regex(r"^\s*[\w./-]+ ?=3D", re.MULTILINE)
# "$ ", "# ", "root@h:~# ", "[root@h ~]# ", "user@h ~ % " in front of a command.
_PROMPT = regex(
    r"^[ \t]*(?:"
    r"[\w.-]{1,64}@[\w.-]{1,64}[^\s#$%>]{0,80}(?: [^\s#$%>]{0,80})?[#$%>]"
    r"|\[[^\]\n]{1,80}\][#$%]"
    r"|[\w.~:/-]{0,40}[$#%]) ?"
    r"(?P<command>(?:sudo |doas |busybox )?(?:/\w{1,20}){0,4}/?"
    r"(?:sysctl|cat|grep|head|tail|tc|ip|ethtool|ss|uname|echo|for|ls|cd|vi|vim|nano|modprobe|lsmod|sh|bash|"
    r"systemctl|exit|su|sudo|iperf|iperf3|ping|netstat|ifconfig)\b[^\n]*)$"
)


def clean(text: str) -> str:
    """``text`` without what mail, terminals and browsers add; lines keep their order and their blanks.

    Byte order mark, CR, colour codes, ``> `` of a quoted mail, quoted-printable ``=3D``, and fences
    of markdown.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "=3D" in text and _QP.search(text):
        text = quopri.decodestring(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    if ">" in text:
        text = _QUOTED.sub("", text)
    if "```" in text:
        text = re.sub(r"^[ \t]*```\w*[ \t]*$", "", text, flags=re.MULTILINE)
    return text


def head(text: str) -> list[str]:
    """The first lines of the cleaned text, for a recogniser; a cut last line is left out."""
    part = text[:HEAD_CHARS]
    lines = clean(part).split("\n")
    if len(text) > HEAD_CHARS and len(lines) > 1:
        lines.pop()
    return [line for line in lines if line.strip(BLANKS)][:HEAD_LINES]


def prompted(line: str) -> str | None:
    """The command of a line that shows a shell prompt and a known command, or None."""
    found = _PROMPT.match(line)
    return found["command"].strip(BLANKS) if found else None


def share(matching: int, lines: list[str], ceiling: int) -> int:
    """A recogniser's answer: ``ceiling`` where every line matches, less where some do, 0 for none."""
    if not lines or not matching:
        return 0
    return max(1, round(ceiling * min(1.0, matching / len(lines))))


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON value inside a text; ``rest`` are the lines around it, prompts left out."""

    value: Json
    rest: tuple[str, ...]


def find_json(text: str) -> Found | None:
    """The first JSON array or object that starts a line of ``text``; None if there is none, or it is cut."""
    cleaned = clean(text)
    start = re.search(r"^[ \t]*([\[{])", cleaned, re.MULTILINE)
    if start is None:
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(cleaned, start.start(1))
    except (ValueError, RecursionError):  # cut, damaged, or nested deeper than any tool prints
        return None
    around = cleaned[: start.start(1)].split("\n") + cleaned[end:].split("\n")
    rest = tuple(line.strip() for line in around if line.strip() and prompted(line) is None)
    return Found(value, rest)


def rows_of(found: Found) -> list[dict[str, Json]]:
    """The objects of a JSON array, or a lone object as the only one."""
    if isinstance(found.value, dict):
        return [found.value]
    if isinstance(found.value, list):
        return [row for row in found.value if isinstance(row, dict)]
    return []


def whole(value: Json) -> int | None:
    """``value`` if it is an integer and no truth value, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(text: str) -> int | None:
    """Decimal digits as a number, None for anything else (and for more digits than 64 bits need).

    No tool prints a leading zero: a digit before it is damaged.
    """
    return int(text) if re.fullmatch(r"-?(?:0|[1-9][0-9]{0,19})", text) else None
