"""What ping printed, on any system and in any language, as seconds."""

from __future__ import annotations

import pytest

from hostcfg.errors import HostError, UsageError
from hostcfg.measure import ping_rtt_s, ping_times_s
from hostcfg.model import Facts
from hostcfg.transports.base import Command, CommandResult, Transport

# Debian 12, iputils 20221126
LINUX = """\
PING b (192.0.2.3) 56(84) bytes of data.
64 bytes from b (192.0.2.3): icmp_seq=1 ttl=64 time=160 ms
64 bytes from b (192.0.2.3): icmp_seq=2 ttl=64 time=80.1 ms
64 bytes from b (192.0.2.3): icmp_seq=3 ttl=64 time=80.3 ms

--- b ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 2004ms
rtt min/avg/max/mdev = 80.122/106.825/160.222/37.757 ms
"""
# Debian 12, BusyBox 1.35
BUSYBOX = """\
PING 127.0.0.1 (127.0.0.1): 56 data bytes
64 bytes from 127.0.0.1: seq=0 ttl=64 time=0.073 ms
64 bytes from 127.0.0.1: seq=1 ttl=64 time=0.058 ms

--- 127.0.0.1 ping statistics ---
2 packets transmitted, 2 packets received, 0% packet loss
round-trip min/avg/max = 0.058/0.065/0.073 ms
"""
# The form of ping(8), src/sbin/ping/ping.c; macOS writes the same
BSD = """\
PING 192.0.2.3 (192.0.2.3): 56 data bytes
64 bytes from 192.0.2.3: icmp_seq=0 ttl=64 time=80.402 ms
64 bytes from 192.0.2.3: icmp_seq=1 ttl=64 time=79.993 ms

--- 192.0.2.3 ping statistics ---
2 packets transmitted, 2 packets received, 0.0% packet loss
round-trip min/avg/max/stddev = 79.993/80.197/80.402/0.205 ms
"""
WINDOWS_EN = """\

Pinging 192.0.2.3 with 32 bytes of data:
Reply from 192.0.2.3: bytes=32 time=81ms TTL=64
Reply from 192.0.2.3: bytes=32 time=80ms TTL=64
Request timed out.
Reply from 192.0.2.3: bytes=32 time<1ms TTL=64

Ping statistics for 192.0.2.3:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 81ms, Average = 53ms
"""
WINDOWS_DE = """\

Ping wird ausgeführt für 192.0.2.3 mit 32 Bytes Daten:
Antwort von 192.0.2.3: Bytes=32 Zeit=81ms TTL=64
Antwort von 192.0.2.3: Bytes=32 Zeit=80ms TTL=64

Ping-Statistik für 192.0.2.3:
    Pakete: Gesendet = 2, Empfangen = 2, Verloren = 0
    (0% Verlust),
Ca. Zeitangaben in Millisek.:
    Minimum = 80ms, Maximum = 81ms, Mittelwert = 80ms
"""
WINDOWS_RU = (
    "Обмен пакетами с 192.0.2.3 по с 32 байтами данных:\r\n"
    "Ответ от 192.0.2.3: число байт=32 время=80мс TTL=64\r\n"
    "Статистика Ping для 192.0.2.3:\r\n    Минимальное = 80мсек, Максимальное = 80 мсек\r\n"
)
WINDOWS_FR = "Réponse de 192.0.2.3 : octets=32 temps=80 ms TTL=64\r\n"
WINDOWS_JA = "192.0.2.3 からの応答: バイト数 =32 時間 =80ms TTL=64\r\n"

NOBODY = """\
PING 192.0.2.77 (192.0.2.77) 56(84) bytes of data.
From 192.0.2.2 icmp_seq=1 Destination Host Unreachable

--- 192.0.2.77 ping statistics ---
1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 0ms
"""


@pytest.mark.parametrize(
    ("text", "times_ms"),
    [
        (LINUX, [160, 80.1, 80.3]),
        (BUSYBOX, [0.073, 0.058]),
        (BSD, [80.402, 79.993]),
        (WINDOWS_EN, [81, 80, 1]),
        (WINDOWS_DE, [81, 80]),
        (WINDOWS_RU, [80]),
        (WINDOWS_FR, [80]),
        (WINDOWS_JA, [80]),
        ("64 octets de b: icmp_seq=1 ttl=64 temps=80,2 ms", [80.2]),
        (NOBODY, []),
        ("Reply from 192.0.2.1: Destination host unreachable.", []),
        ("Reply from 192.0.2.1: TTL expired in transit.", []),
        ("", []),
    ],
)
def test_the_time_of_each_reply(text: str, times_ms: list[float]) -> None:
    assert ping_times_s(text) == pytest.approx([ms / 1000 for ms in times_ms])


def test_garbage_takes_no_time() -> None:
    assert ping_times_s("=9" * 3_000_000 + "\n" + "= min/avg/" * 300_000) == []


class Answers(Transport):
    """A host whose ping prints this."""

    def __init__(self, stdout: bytes, stderr: bytes = b"") -> None:
        super().__init__("far")
        self.result = CommandResult(stdout, stderr, 0)
        self.lines: list[str] = []

    def open(self) -> None:
        self.connections_made += 1

    def run(self, command: Command, *, timeout_s: float | None = None) -> CommandResult:
        del timeout_s
        self.lines.append(f"{command.line} {command.stdin!r}")
        return self.result

    def close(self) -> None:
        pass


def facts(os: str) -> Facts:
    return Facts("far", os, "", None, {}, {})


@pytest.mark.parametrize(
    ("os", "said", "rtt_s"),
    [
        ("linux", LINUX.encode(), 0.0801),
        ("freebsd", BSD.encode(), 0.079993),
        ("macos", BSD.encode(), 0.079993),
        ("windows", WINDOWS_DE.encode("cp850"), 0.080),
        ("windows", WINDOWS_RU.encode("cp866"), 0.080),
        ("windows", WINDOWS_JA.encode("cp932"), 0.080),
    ],
)
def test_the_least_of_several_counts(os: str, said: bytes, rtt_s: float) -> None:
    host = Answers(said)
    assert ping_rtt_s(host, facts(os), "192.0.2.3") == pytest.approx(rtt_s)
    assert "192.0.2.3" in host.lines[0]


def test_no_answer_names_host_address_and_what_was_said() -> None:
    with pytest.raises(
        HostError, match=r"no answer to ping 192\.0\.2\.77 .*100% packet loss.*--rtt"
    ) as error:
        ping_rtt_s(Answers(NOBODY.encode()), facts("linux"), "192.0.2.77")
    assert (error.value.kind, error.value.host) == ("command", "far")
    with pytest.raises(HostError, match="command not found"):
        ping_rtt_s(Answers(b"", b"sh: ping: command not found\n"), facts("linux"), "192.0.2.77")


def test_a_reply_without_a_time_is_no_round_trip_time_of_zero() -> None:
    with pytest.raises(HostError, match="no time that it could measure"):
        ping_rtt_s(Answers(b"64 bytes from ::1: seq=0 ttl=64 time=0.000 ms\n"), facts("linux"), "::1")


@pytest.mark.parametrize("address", ["-c1", "a b", "$(id)", "x;id", "fe80::1%$(id)", "fe80::1%& calc", ""])
def test_what_is_no_address_reaches_no_shell(address: str) -> None:
    host = Answers(b"")
    with pytest.raises(UsageError, match="neither an IP address nor a host name"):
        ping_rtt_s(host, facts("windows"), address)
    assert host.lines == []
