"""Frames around the sections of a probe's output, so that noise and cuts are seen for what they are.

A probe prints for each section, and last ``@@hostcfg NONCE done``::

    @@hostcfg NONCE begin KIND
    ...
    @@hostcfg NONCE end KIND STATUS
    @@hostcfg NONCE errors KIND
    ...

the last two lines where its commands wrote to standard error.  The nonce is new for each run: no value
on the host can hold it.  What a shell prints before the first frame (a banner, a profile's greeting) is
left out.
"""

from __future__ import annotations

from itertools import pairwise

from hostcfg.errors import HostError
from hostcfg.model import Section


def new_nonce() -> str:
    """16 hex digits that no output can foresee."""
    import secrets

    return secrets.token_hex(8)


def sh_section(nonce: str, kind: str, body: str) -> str:
    """POSIX sh text that runs ``body``, in a subshell, inside the frames of section ``kind``."""
    frame = f"@@hostcfg {nonce}"
    return (
        f"hc_section() {{\n{body}\n}}\n"
        f"printf '\\n%s\\n' '{frame} begin {kind}'\n"
        "{ hc_errors=$(hc_section 2>&1 1>&3 3>&-); hc_status=$?; } 3>&1\n"
        f"printf '\\n%s %s\\n' '{frame} end {kind}' \"$hc_status\"\n"
        f"[ -z \"$hc_errors\" ] || printf '%s\\n%s\\n' '{frame} errors {kind}' \"$hc_errors\"\n"
    )


def sh_probe(nonce: str, sections: str) -> str:
    """POSIX sh text that runs ``sections`` and prints all of it at once.

    What each command writes would be a packet of its own, and most of what a read costs.  It is a
    function, since bash before 4 takes the ``)`` of a ``case`` for the end of a ``$(``; and where printf
    is a program (mksh), it could not be given as much.
    """
    return (
        f"hc_probe() {{\n{sections}\n}}\n"
        'case "$(command -v printf)" in\n'
        "/*) hc_probe ;;\n"
        "*) hc_output=$(hc_probe); printf '%s\\n' \"$hc_output\" ;;\n"
        "esac\n"
        f"printf '\\n%s\\n' '@@hostcfg {nonce} done'\n"
    )


def split_frames(nonce: str, stdout: str, stderr: str, *, host: str | None = None) -> list[Section]:
    """Sections in the order in which they were printed; a body's last newline is as the command left it.

    HostError ``command`` when there is no frame at all, or when the output ends before ``done``.
    """
    out = _sections(nonce, stdout)
    if f"@@hostcfg {nonce} done" not in stdout:
        seen = f"after section {out[-1].kind}" if out else "before its first section"
        first = next(
            (line.strip() for line in (stderr + "\n" + stdout).splitlines() if line.strip()), "no output"
        )
        raise HostError(
            "command",
            f"the output ends {seen} ({first[:120]!r}); is the connection stable and /bin/sh there?",
            host=host,
        )
    return out


def _sections(nonce: str, output: str) -> list[Section]:
    """Each section that is whole: begun, and ended by the next frame."""
    pieces = f"\n{output}".replace("\r\n", "\n").split(f"\n@@hostcfg {nonce} ")
    found: list[Section] = []
    for piece, following in pairwise(pieces):
        head, newline, body = piece.partition("\n")
        word, _, kind = head.partition(" ")
        ended = following.partition("\n")[0].split()
        if word == "begin" and newline and ended[:2] == ["end", kind] and ended[2:3] and ended[2].isdecimal():
            found.append(Section(kind, body, "", int(ended[2])))
        elif word == "errors" and newline and found and found[-1].kind == kind:
            last = found.pop()
            found.append(Section(kind, last.text, body.rstrip("\n"), last.status))
    return found
