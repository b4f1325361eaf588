"""One command line that reads a Windows host, whatever its default shell and its language.

sshd hands the line to cmd.exe or to PowerShell.  Both pass the text between the double quotes on as
it is: it holds no double quote, no ``$``, no backtick, and no variable that cmd could expand too
early (``%^errorlevel%`` is the name of none until the inner cmd has taken the caret away and
``call`` expands it).  It only reads.

Order matters: interface names come in the console's own code page; then ``chcp 437`` makes netsh
answer in English.  :func:`decode` finds the code page in the output itself.
"""

from __future__ import annotations

import codecs
import ipaddress
import re
from typing import TYPE_CHECKING

from hostcfg.transports.base import Command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostcfg.platforms.base import ProbeRequest

MAX_LINE_CHARS = 8191
"""Longest command line that cmd.exe takes (Microsoft, "Command prompt line string limitation")."""

_NATIVE_PAGE = (
    ("chcp", "chcp"),
    ("windows-release", "ver"),
    ("netsh-subinterfaces", "netsh interface ipv4 show subinterfaces"),
)
_ENGLISH = (
    ("netsh-tcp-global", "netsh interface tcp show global"),
    ("netsh-tcp-global-persistent", "netsh interface tcp show global store=persistent"),
    ("netsh-tcp-supplemental", "netsh interface tcp show supplemental"),
    ("netsh-tcp-supplemental-internet", "netsh interface tcp show supplemental template=internet"),
    ("netsh-tcp-heuristics", "netsh interface tcp show heuristics"),
    ("netsh-dynamicport", "netsh interface ipv4 show dynamicport tcp"),
    (
        "windows-product-type",
        r"reg query HKLM\SYSTEM\CurrentControlSet\Control\ProductOptions /v ProductType",
    ),
    ("whoami-groups", "whoami /groups | findstr S-1-16-"),
)

TCP_PROPERTIES = (
    "SettingName,MinRtoMs,InitialCongestionWindowMss,CongestionProvider,CwndRestart,DelayedAckTimeoutMs,"
    "DelayedAckFrequency,AutoTuningLevelLocal,AutoTuningLevelGroupPolicy,AutoTuningLevelEffective,"
    "EcnCapability,Timestamps,InitialRtoMs,ScalingHeuristics,NonSackRttResiliency,ForceWS,"
    "MaxSynRetransmissions"
)
OFFLOAD_PROPERTIES = (
    "ReceiveSideScaling,ReceiveSegmentCoalescing,Chimney,TaskOffload,NetworkDirect,"
    "NetworkDirectAcrossIPSubnets,PacketCoalescingFilter"
)
# Through CSV and back: Windows PowerShell 5.1 would print enums as numbers.  @() keeps one object a list.
TEXT_JSON = (
    "ConvertTo-Json -Compress -InputObject @({0} | Select-Object {1} | ConvertTo-Csv | ConvertFrom-Csv)"
)
_CSV = "{0} | Select-Object {1} | ConvertTo-Csv -NoTypeInformation"
_ROUTE = "InterfaceAlias,InterfaceIndex,DestinationPrefix,RouteMetric"

_FRAME_PAGE = re.compile(rb"@@hostcfg \S+ begin chcp\s[^@]{0,400}?(\d{3,5})\.?\s")


def probe_line(request: ProbeRequest) -> str:
    """The whole line; under 8,191 characters with any peer."""
    nonce = request.nonce
    parts = [
        "echo.",
        *_framed(nonce, _NATIVE_PAGE),
        *_powershell(nonce, request.peer),
        "chcp 437 >nul 2>&1",
        *_framed(nonce, _ENGLISH),
        f"echo @@hostcfg {nonce} done",
    ]
    return cmd_line("& ".join(parts))


def cmd_line(script: str) -> str:
    """``script`` for cmd.exe as a line that cmd.exe and PowerShell both hand on unchanged.

    ValueError for a script with a character that one of them would take for its own.
    """
    if re.search(r'["$`\r\n\x00]', script):
        raise ValueError("a script for two shells can't hold quotes, $, backticks or line ends")
    line = f'cmd.exe /d /q /c "{script}"'
    if len(line) > MAX_LINE_CHARS:
        raise ValueError(f"{len(line)} characters are more than cmd.exe takes")
    return line


def framed_line(nonce: str, commands: Iterable[tuple[str, str]]) -> str:
    """``(kind, command)`` pairs in the frames of hostcfg.platforms.framing, as one line."""
    return cmd_line("& ".join(["echo.", *_framed(nonce, commands), f"echo @@hostcfg {nonce} done"]))


def probe(request: ProbeRequest) -> Command:
    """The probe as an exec request without input."""
    return Command(probe_line(request))


def _framed(nonce: str, commands: Iterable[tuple[str, str]]) -> Iterable[str]:
    """No blank may stand before ``&`` after an echo: echo would print it.

    Errors go where the text goes, since netsh puts its own there too.
    """
    for kind, command in commands:
        yield f"echo @@hostcfg {nonce} begin {kind}"
        yield f"{command} 2>&1"
        yield "echo."
        yield f"call echo @@hostcfg {nonce} end {kind} %^errorlevel%"


def _powershell(nonce: str, peer: str | None) -> Iterable[str]:
    """One start of PowerShell for everything; it prints the frames itself.

    Section ``powershell`` says how the start ended: 9009 where there is none.
    """
    queries = [
        ("get-nettcpsetting", TEXT_JSON.format("Get-NetTCPSetting", TCP_PROPERTIES)),
        (
            "get-netoffloadglobalsetting",
            TEXT_JSON.format("Get-NetOffloadGlobalSetting", OFFLOAD_PROPERTIES),
        ),
        (
            "get-netadapter",
            _CSV.format(
                "Get-NetAdapter", "Name,InterfaceIndex,ReceiveLinkSpeed,MtuSize,InterfaceDescription"
            ),
        ),
        ("get-netroute", _CSV.format("Get-NetRoute -DestinationPrefix 0.0.0.0/0,::/0", _ROUTE)),
    ]
    address = _address(peer)
    if address is not None:
        queries.append(("find-netroute", _CSV.format(f"Find-NetRoute -RemoteIPAddress {address}", _ROUTE)))
    statements = "; ".join(
        f"'@@hostcfg {nonce} begin {kind}'; {query}; ''; '@@hostcfg {nonce} end {kind} 0'"
        for kind, query in queries
    )
    escaped = statements.replace("|", "^|")
    yield f"powershell.exe -NoProfile -NonInteractive -Command {escaped} 2>&1"
    yield f"echo @@hostcfg {nonce} begin powershell"  # an echo leaves the error level as it is
    yield "echo."
    yield f"call echo @@hostcfg {nonce} end powershell %^errorlevel%"


def _address(peer: str | None) -> str | None:
    """``peer`` if it is an IP address without a zone; names are not resolved on the host."""
    try:
        address = ipaddress.ip_address(peer or "")
    except ValueError:
        return None
    return None if "%" in str(address) else str(address)


def decode(data: bytes) -> str:
    """Text of a console's bytes: strict UTF-8, else the OEM code page that ``chcp`` printed in it.

    UTF-8 first, since UTF-8 read as GBK often succeeds with wrong characters.  Without a code page
    that Python knows, bytes above 127 become ``\\xNN``: every value that decides is ASCII.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_codec(data), errors="backslashreplace")


def _codec(data: bytes) -> str:
    found = _FRAME_PAGE.search(data)
    name = f"cp{found[1].decode()}" if found else "ascii"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "ascii"
