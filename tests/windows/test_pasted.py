"""Windows output as people send it: one prompt after the other, in one mail, in any bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.model import State
from hostcfg.pasted import decode_bytes, parse_pasted
from hostcfg.platforms import all_parsers
from hostcfg.reader import read_file
from tests.windows.samples import Sample, sample, samples

if TYPE_CHECKING:
    from pathlib import Path

    from hostcfg.model import Facts

CARRIER_ETHERNET = """Hi,

here is what you asked for. The PC sits behind the 50 Mbit/s line, 30 ms to London.

Microsoft Windows [Version 10.0.19045.3803]
(c) Microsoft Corporation. All rights reserved.

C:\\Users\\eng>netsh interface tcp show global
Querying active state...

TCP Global Parameters
----------------------------------------------
Receive-Side Scaling State          : enabled
Receive Window Auto-Tuning Level    : disabled
Add-On Congestion Control Provider  : default
ECN Capability                      : disabled
RFC 1323 Timestamps                 : disabled
Initial RTO                         : 1000
Receive Segment Coalescing State    : enabled
Non Sack Rtt Resiliency             : disabled
Max SYN Retransmissions             : 4
Fast Open                           : enabled
Fast Open Fallback                  : enabled
HyStart                             : enabled
Proportional Rate Reduction         : enabled
Pacing Profile                      : off


C:\\Users\\eng>netsh interface tcp show supplemental

The TCP global default template is internet

TCP Supplemental Parameters
----------------------------------------------
Minimum RTO (msec)                  : 300
Initial Congestion Window (MSS)     : 10
Congestion Control Provider         : cubic
Enable Congestion Window Restart    : disabled
Delayed ACK timeout (msec)          : 40
Delayed ACK frequency               : 2
Enable RACK                         : enabled
Enable Tail Loss Probe              : enabled

Please use the 'netsh int tcp show supplementalports' and
'netsh int tcp show supplementalsubnets' commands to view active filters.

C:\\Users\\eng>netsh interface tcp show heuristics
TCP Window Scaling heuristics Parameters
----------------------------------------------
Window Scaling heuristics         : disabled

C:\\Users\\eng>netsh interface ipv4 show subinterfaces

   MTU  MediaSenseState   Bytes In  Bytes Out  Interface
------  ---------------  ---------  ---------  -------------
4294967295                1          0      27509  Loopback Pseudo-Interface 1
  1500                1   65177881   28030327  Ethernet


C:\\Users\\eng>
"""


def read(path: Path, data: bytes) -> Facts:
    path.write_bytes(data)
    return read_file("pc", path)


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "cp1252"])
def test_field_case_6_from_a_mail(tmp_path: Path, codec: str) -> None:
    facts = read(tmp_path / "pc.txt", CARRIER_ETHERNET.replace("\n", "\r\n").encode(codec))
    assert facts.os == "windows"
    assert facts.os_version == "Windows 10 (10.0.19045.3803)"
    values = {name: r.value for name, r in facts.readings.items() if r.state is State.VALUE}
    assert values["recv_buffer_max"] == 65_535
    assert values["window_scaling"] is False
    assert values["congestion_control"] == "cubic"
    assert values["initial_window"] == 10
    assert values["window_scaling_heuristics"] is False
    assert [(i.name, i.mtu_bytes) for i in facts.interfaces] == [("Ethernet", 1500)]


def test_quoted_in_an_answer_it_says_the_same(tmp_path: Path) -> None:
    plain = read(tmp_path / "a.txt", CARRIER_ETHERNET.encode())
    quoted = "".join(f"> {line}\n" for line in CARRIER_ETHERNET.splitlines())
    again = read(tmp_path / "b.txt", quoted.encode())
    assert again.readings == plain.readings


def test_a_template_that_was_asked_for_keeps_its_name(tmp_path: Path) -> None:
    shown = sample("tcp_show_supplemental__win11__en__01.txt").text.replace(": cubic", ": dctcp")
    facts = read(
        tmp_path / "pc.txt", f"C:\\>netsh int tcp show supplemental template=datacenter\n{shown}".encode()
    )
    assert facts.native["supplemental.datacenter.congestionprovider"].raw == "dctcp"
    assert "supplemental.internet.congestionprovider" not in facts.native


@pytest.mark.parametrize("recorded", samples(), ids=str)
def test_every_sample_is_told_from_all_other_systems(recorded: Sample) -> None:
    parsed = parse_pasted(recorded.text, all_parsers())
    assert parsed is not None
    assert (parsed.os, parsed.kind) == ("windows", recorded.kind)
    assert recorded.values.items() <= parsed.values.items()


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("tcp_show_global__win11__ja__01.txt", "cp932"),
        ("tcp_show_global__win11__zh-CN__01.txt", "gbk"),
        ("tcp_show_global__win11__ru__01.txt", "cp866"),
        ("tcp_show_global__win11__de__01.txt", "cp850"),
    ],
)
def test_bytes_of_a_consoles_code_page(name: str, codec: str) -> None:
    recorded = sample(name)
    parsed = parse_pasted(decode_bytes(recorded.text.encode(codec)), all_parsers())
    assert parsed is not None
    assert recorded.values.items() <= parsed.values.items()
    assert list(parsed.notes) == []
