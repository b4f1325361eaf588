"""Frames around the sections of a probe's output, so that noise and cuts are seen for what they are.

A probe prints, on standard output **and** on standard error, for each section::

    @@hostcfg NONCE begin KIND
    ...
    @@hostcfg NONCE end KIND STATUS

and last ``@@hostcfg NONCE done``.  The nonce is new for each run: no value on the host can hold it.
What a shell prints before the first frame (a banner, a profile's greeting) is left out.
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
    """POSIX sh text that runs ``body`` inside the frames of section ``kind``."""
    begin, end = f"@@hostcfg {nonce} begin {kind}", f"@@hostcfg {nonce} end {kind}"
    return (
        f"printf '\\n%s\\n' '{begin}'; printf '\\n%s\\n' '{begin}' >&2\n"
        f"(\n{body}\n)\n"
        f"hc_status=$?; printf '\\n%s %s\\n' '{end}' \"$hc_status\"; "
        f"printf '\\n%s %s\\n' '{end}' \"$hc_status\" >&2\n"
    )


def sh_done(nonce: str) -> str:
    """POSIX sh text that ends a probe."""
    return f"printf '\\n%s\\n' '@@hostcfg {nonce} done'\n"


def split_frames(nonce: str, stdout: str, stderr: str, *, host: str | None = None) -> list[Section]:
    """Sections in the order in which they were printed; a body's last newline is as the command left it.

    HostError ``command`` when there is no frame at all, or when the output ends before ``done``.
    """
    out = _bodies(nonce, stdout)
    if f"@@hostcfg {nonce} done" not in stdout:
        seen = f"after section {out[-1][0]}" if out else "before its first section"
        first = next(
            (line.strip() for line in (stderr + "\n" + stdout).splitlines() if line.strip()), "no output"
        )
        raise HostError(
            "command",
            f"the output ends {seen} ({first[:120]!r}); is the connection stable and /bin/sh there?",
            host=host,
        )
    errors = {kind: text for kind, text, _ in _bodies(nonce, stderr)}
    return [Section(kind, text, errors.get(kind, ""), status) for kind, text, status in out]


def _bodies(nonce: str, output: str) -> list[tuple[str, str, int | None]]:
    """``(kind, body, status)`` of each section that is whole: begun, and ended by the next frame."""
    pieces = f"\n{output}".replace("\r\n", "\n").split(f"\n@@hostcfg {nonce} ")
    found: list[tuple[str, str, int | None]] = []
    for piece, following in pairwise(pieces):
        begun, newline, body = piece.partition("\n")
        ended = following.partition("\n")[0].split()
        if not newline or not begun.startswith("begin ") or len(ended) != 3:
            continue
        kind = begun.removeprefix("begin ")
        if ended[:2] == ["end", kind] and ended[2].isdecimal():
            found.append((kind, body, int(ended[2])))
    return found
