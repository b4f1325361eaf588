"""A target's facts: connect, find out the OS, run one command, assemble.

One connection and one command for each host.  POSIX systems share one script that asks ``uname``
itself; only a system without a POSIX shell needs its own command, and its SSH banner or the
inventory names it.  A banner that lies costs one more command.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.errors import HostcfgError, HostError, InputError, UsageError
from hostcfg.files import read_bytes
from hostcfg.lean import dataclass
from hostcfg.model import Facts, Finding, Section, State
from hostcfg.platforms import all_platforms, get_platform, parsers_for
from hostcfg.platforms.base import ProbeRequest
from hostcfg.platforms.framing import new_nonce, sh_probe, sh_section, split_frames
from hostcfg.snapshot import load_snapshot, looks_like_snapshot
from hostcfg.transports.base import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hostcfg.platforms.base import Platform
    from hostcfg.targets import HostSpec
    from hostcfg.transports.base import CommandResult, Transport

    Connect = Callable[[HostSpec], Transport]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one host: facts, or the error that prevented them."""

    spec: HostSpec
    facts: Facts | None
    error: HostcfgError | None = None


def read_host(spec: HostSpec, connect: Connect, *, peer: str | None = None) -> Facts:
    """Facts of one host; HostError or InputError that names it.

    ``peer`` is the address of the other end, whose route decides which interface matters.
    """
    if spec.kind == "file":
        return read_file(spec.name, Path(spec.address), os_name=spec.os)
    with connect(spec) as transport:
        return probe(transport, spec, peer=peer)


def without_text(facts: Facts) -> Facts:
    """``facts`` without what the host printed: enough to show and to compare, not to change the host."""
    return replace(facts, sections=())


def probe(transport: Transport, spec: HostSpec, *, peer: str | None = None) -> Facts:
    """Facts over an open transport, with one command where nobody lies about the OS."""
    first = _platform_without_shell(spec, transport.banner)
    if first is None:
        return _probe_posix(transport, spec, peer)
    request = ProbeRequest(new_nonce(), peer)
    result = transport.run(first.probe(request))
    try:
        return _assemble(first, spec.name, _sections(request, result, first, spec.name))
    except HostError as error:
        if spec.os is not None:
            said = f"{error.message} (the inventory says os: {spec.os})"
            raise HostError(error.kind, said, host=spec.name) from error
        return _probe_posix(transport, spec, peer)


def _platform_without_shell(spec: HostSpec, banner: str | None) -> Platform | None:
    if spec.os is not None:
        named = get_platform(spec.os)
        return named if named.uname is None else None
    for platform in all_platforms():
        if platform.uname is None and any(mark in (banner or "") for mark in platform.banner_marks):
            return platform
    return None


def _probe_posix(transport: Transport, spec: HostSpec, peer: str | None) -> Facts:
    request = ProbeRequest(new_nonce(), peer)
    result = transport.run(Command.sh(posix_script(request)))
    try:
        sections = _sections(request, result, None, spec.name)
    except HostError:
        other = [p for p in all_platforms() if p.uname is None and spec.os in (None, p.name)]
        for platform in other if result.status not in (0, None) else ():
            again = ProbeRequest(new_nonce(), peer)
            second = transport.run(platform.probe(again))
            if f"@@hostcfg {again.nonce}".encode() in second.stdout:
                return _assemble(platform, spec.name, _sections(again, second, platform, spec.name))
        raise
    return _assemble(_platform_of_uname(sections, spec.name), spec.name, sections)


_ONE_AT_A_TIME = threading.Lock()
_SMALL_BYTES = 1 << 20


def _assemble(platform: Platform, host: str, sections: Sequence[Section]) -> Facts:
    """The platform's facts; of many hosts that answer at once, one after the other.

    Python runs one thread at a time, so side by side it would only take more memory and more switches.
    What is far longer than any probe's output does not keep the others waiting.
    """
    if sum(len(section.text) for section in sections) > _SMALL_BYTES:
        return platform.assemble(host, sections)
    with _ONE_AT_A_TIME:
        return platform.assemble(host, sections)


_NONCE = "HOSTCFG-NONCE"


def posix_script(request: ProbeRequest) -> str:
    """One sh script for every POSIX system: it asks ``uname -s`` and runs that system's part."""
    return _script_template(request.peer).replace(_NONCE, request.nonce)


@lru_cache(maxsize=64)
def _script_template(peer: str | None) -> str:
    """The same text for all hosts of a fleet, but for what no host may foresee."""
    request = ProbeRequest(_NONCE, peer)
    cases = []
    for platform in all_platforms():
        body = platform.probe_script(request)
        if body is not None and platform.uname is not None:
            cases.append(f"{platform.uname})\n{body}\n;;\n")
    return (
        "LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin; export PATH\n"
        "hc_uname=$(uname -a 2>/dev/null)\n"  # its first word is what -s says (POSIX uname(1))
        + sh_probe(
            request.nonce,
            sh_section(request.nonce, "os-name", "printf '%s\\n' \"${hc_uname%% *}\"")
            + 'case "${hc_uname%% *}" in\n'
            + "".join(cases)
            + "esac",
        )
    )


def _platform_of_uname(sections: Sequence[Section], host: str) -> Platform:
    name = next((s.text.strip() for s in sections if s.kind == "os-name"), "")
    for platform in all_platforms():
        if platform.uname == name:
            return platform
    known = ", ".join(p.title for p in all_platforms())
    raise HostError("command", f"its uname says {name[:60]!r}; hostcfg reads {known}", host=host)


def _sections(
    request: ProbeRequest, result: CommandResult, platform: Platform | None, host: str
) -> list[Section]:
    decode = platform.decode if platform is not None else _decode_posix
    return split_frames(request.nonce, decode(result.stdout), decode(result.stderr), host=host)


def _decode_posix(data: bytes) -> str:
    return data.decode("utf-8", errors="backslashreplace")


def read_file(host: str, path: Path, *, os_name: str | None = None) -> Facts:
    """Facts of a ``file:`` target: a snapshot of hostcfg's, or pasted output of native commands."""
    data = read_bytes(path)
    if looks_like_snapshot(data):
        snapshot = load_snapshot(data, str(path))
        try:
            platform = get_platform(snapshot.os)
        except UsageError as error:
            raise InputError(str(error), path=str(path)) from error
        facts = platform.assemble(host, snapshot.sections)
        return replace(facts, findings=(Finding("snapshot", "info", snapshot.origin), *facts.findings))
    from hostcfg.pasted import text_of

    return read_pasted(host, text_of(data, str(path)), str(path), os_name=os_name)


def read_pasted(host: str, text: str, path: str, *, os_name: str | None = None) -> Facts:
    """Facts from pasted text; InputError if nothing in it is known."""
    from hostcfg.pasted import remarks_on, split_pasted

    pasted = split_pasted(text, parsers_for(text))
    name = os_name or pasted.os
    if name is None:
        raise InputError(
            "holds no output that hostcfg knows; paste what `sysctl -a`, `netsh interface tcp show global` "
            "or the like printed",
            path=path,
        )
    try:
        platform = get_platform(name)
    except UsageError:
        readable = ", ".join(p.title for p in all_platforms())
        said = f"is output of {name}; hostcfg knows the settings of {readable}"
        if name == "any":
            said = "is the result of a test and holds no settings; give it to --iperf3"
        raise InputError(said, path=path) from None
    sections = [piece.section for piece in pasted.pieces if piece.parser.os in (name, "any")]
    facts = platform.assemble(host, sections)
    left_out = pasted.left_out(name)
    found = [Finding("left_out", "warning", left_out)] if left_out else []
    found += [*facts.findings, *_partial(facts)]
    found += remarks_on(text, pasted, facts.native, platform.unused)
    return replace(facts, findings=tuple(found))


def _partial(facts: Facts) -> Iterator[Finding]:
    """What a pasted text does not say: it is absent, never a default."""
    known = [r for r in facts.readings.values() if r.state is not State.UNSUPPORTED]
    absent = [r.setting for r in known if r.state is State.ABSENT]
    if absent:
        held = len(known) - len(absent)
        message = f"the text holds {held} of {len(known)} settings; the others are absent"
        yield Finding("partial", "info", message, tuple(absent))
