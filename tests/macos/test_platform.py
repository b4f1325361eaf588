"""macOS: one module on what the BSD family shares."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from hostcfg.errors import UsageError
from hostcfg.model import Section, State
from hostcfg.pasted import parse_pasted, split_pasted
from hostcfg.platforms.base import ProbeRequest
from hostcfg.platforms.framing import split_frames
from hostcfg.platforms.macos import KEYS, PLATFORM
from tests.freebsd.samples import PARSERS, sample

SESSION = """\
user@mac ~ % uname -a
Darwin mac.local 21.4.0 Darwin Kernel Version 21.4.0: Fri Mar 18 00:46:32 PDT 2022; x86_64
user@mac ~ % sysctl -a | grep -E 'tcp|maxsock|memsize'
kern.ipc.maxsockbuf: 8388608
hw.memsize: 17179869184
net.inet.tcp.sendspace: 131072
net.inet.tcp.recvspace: 131072
net.inet.tcp.autorcvbufmax: 4194304
net.inet.tcp.autosndbufmax: 8388608
net.inet.tcp.doautorcvbuf: 1
net.inet.tcp.doautosndbuf: 1
net.inet.tcp.win_scale_factor: 3
net.inet.tcp.sack: 1
net.inet.tcp.tso: 1
user@mac ~ % ifconfig en0
en0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500
\toptions=6463<RXCSUM,TXCSUM,TSO4,TSO6,CHANNEL_IO,PARTIAL_CSUM,ZEROINVERT_CSUM>
\tether 00:00:5e:00:53:01
\tmedia: autoselect (1000baseT <full-duplex,flow-control>)
\tstatus: active
user@mac ~ % netstat -m
4258/6301 mbufs in use:
\t4258 mbufs allocated to data
2228/3344 mbuf 2KB clusters in use
17253 KB allocated to network (32.2% in use)
0 KB returned to the system
12 requests for memory denied
"""


def test_facts_of_a_pasted_session() -> None:
    pasted = split_pasted(SESSION, PARSERS)
    assert (pasted.os, pasted.unrecognized) == ("macos", ())
    facts = PLATFORM.assemble("mac", pasted.sections)
    readings = {name: reading.value for name, reading in facts.readings.items() if reading.value is not None}
    assert readings["recv_buffer_max"] == 4194304
    assert readings["send_buffer_max"] == 8388608
    assert readings["socket_buffer_max"] == 8388608
    assert readings["recv_explicit_max"] == 7456540  # 8388608 x 8/9
    assert (readings["recv_autotuning"], readings["sack"]) == (True, True)
    assert facts.readings["window_scaling"].state is State.ABSENT
    assert facts.readings["congestion_control"].state is State.UNSUPPORTED
    assert (facts.os_version, facts.release) == ("Darwin 21.4.0", (21, 4, 0))
    assert facts.memory_bytes == 17179869184
    (interface,) = facts.interfaces
    assert (interface.name, interface.mtu_bytes, interface.speed_bps) == ("en0", 1500, 1_000_000_000)
    assert interface.offloads["tso4"] is True
    kinds = [finding.kind for finding in facts.findings]
    assert kinds == ["buffer_max_above_cap", "mbufs_denied"]


def test_the_lock_out_is_the_same_as_on_freebsd() -> None:
    after = {"kern.ipc.maxsockbuf": "131072", "net.inet.tcp.recvspace": "131072"}
    assert PLATFORM.plan_hazards(PLATFORM.assemble("mac", []), after)
    text = "".join(f"{key}: {value}\n" for key, value in after.items())
    facts = PLATFORM.assemble("mac", [Section("sysctl", text)])
    assert (facts.findings[0].kind, facts.findings[0].severity) == ("sockets_fail", "error")


def test_the_myricom_file_stays_below_the_limit() -> None:
    """recvspace 3727361 < 4194304 x 8/9 = 3728270: its author knew."""
    text = sample("sysctl.conf__macos__01.txt").text
    facts = PLATFORM.assemble("mac", split_pasted(text, PARSERS).sections)
    assert facts.findings == ()
    assert {value.key for value in facts.boot} >= {"kern.ipc.maxsockbuf", "net.inet.tcp.recvspace"}


def test_a_set_out_of_range_is_told_from_other_refusals() -> None:
    parsed = parse_pasted(sample("sysctl-set-error__macos-14__01.txt").text, PARSERS)
    assert parsed is not None
    errors: Any = parsed.extra["errors"]
    assert (errors[0]["kind"], errors[0]["text"]) == ("range", "Result too large")


def test_release_of_the_panic_log_and_rounded_shares() -> None:
    parsed = parse_pasted(sample("netstat-m__macos-12__01.txt").text, PARSERS)
    assert parsed is not None
    assert parsed.values["percent_in_use"] == 98
    assert parsed.values["requests_denied"] is None


@pytest.mark.parametrize(
    "text",
    [
        "net.inet.tcp.autorcvbufmax: 4194304\n",
        "sysctl -n net.inet.tcp.autorcvbufmax\n4194304\n",
        "net.inet.tcp.autorcvbufmax=4194304\n",
        "net.inet.tcp.autorcvbufmax: 131072 -> 4194304\nnet.inet.tcp.autorcvbufmax: 4194304\n",
    ],
)
def test_forms_of_one_value(text: str) -> None:
    parsed = parse_pasted(text, PARSERS)
    assert parsed is not None
    assert (parsed.os, parsed.values["net.inet.tcp.autorcvbufmax"]) == ("macos", 4194304)


VALUES = {"net.inet.tcp.autorcvbufmax": "8388608", "kern.ipc.maxsockbuf": "9437184"}


def test_rendering() -> None:
    script = PLATFORM.render(VALUES, "script", ["wan"]).splitlines()
    assert script[-2:] == [
        "sysctl -w kern.ipc.maxsockbuf=9437184",
        "sysctl -w net.inet.tcp.autorcvbufmax=8388608",
    ]
    config = PLATFORM.render(VALUES, "config", ["wan"])
    facts = PLATFORM.assemble("mac", [Section("sysctl-conf", config)])
    assert {value.key: value.raw for value in facts.boot} == VALUES
    with pytest.raises(UsageError):
        PLATFORM.render({"a\nb": "1"}, "config", [])


def test_keys_and_files() -> None:
    for name, key in PLATFORM.keys(None).items():
        assert key.name in KEYS, name
    assert PLATFORM.persist_target("net.inet.tcp.autorcvbufmax") == "/etc/sysctl.conf"
    assert PLATFORM.persist_target("hw.memsize") is None
    assert PLATFORM.profile_context(None).inputs["memory_bytes"] == 8 * 1024**3


def test_the_probe_is_plain_sh() -> None:
    command = PLATFORM.probe(ProbeRequest("0123456789abcdef"))
    done = subprocess.run(["/bin/sh", "-s"], input=command.stdin, capture_output=True, timeout=30)
    sections = split_frames("0123456789abcdef", done.stdout.decode(), done.stderr.decode(), host="x")
    assert [section.kind for section in sections] == [
        "sysctl",
        "netstat-m",
        "uname",
        "route-get",
        "ifconfig",
        "sysctl-conf",
    ]
