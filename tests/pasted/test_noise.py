"""Quoting marks, log prefixes and the rest come off; what output itself could have stays on."""

from __future__ import annotations

import pytest

from hostcfg.pasted.noise import normalize, strip_noise

LINES = [
    "kern.ipc.maxsockbuf: 2097152",
    "net.inet.tcp.sendspace: 32768",
    "0/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)",
    "0 requests for sfbufs denied",
    "sysctl: unknown oid 'a.b'",
]
PREFIXES = [
    "> ",
    ">> ",
    "> > ",
    ">",
    "| ",
    "Nov 30 14:35:01 fbsd root: ",
    "Nov  3 14:35:01 fbsd script[123]: ",
    "<13>Nov 30 14:35:01 fbsd root: ",
    "2024-05-01T12:00:00Z ",
    "2024-05-01T12:00:00.123456+02:00 fbsd root[9]: ",
    "2024-05-01 12:00:00,123 INFO ",
    "[2024-05-01 12:00:00] ",
    "[12:00:01] ",
    "12:00:01 ",
    "12:00:01.5 | ",
    "[   12.345678] ",
    "<118>",
    "INFO: ",
    "[INFO] ",
    "stdout: ",
    "[fbsd1.example.org] out: ",
    "fbsd1: ",
    "fbsd1 | ",
    "> 2024-05-01T12:00:00Z ",
    "- ",
    "* ",
    "\u2022 ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_come_off(prefix: str) -> None:
    assert strip_noise("\n".join(prefix + line for line in LINES)) == LINES


@pytest.mark.parametrize("form", ["{}. ", "{}: ", "{}) ", "  {}\t", "{:>6}  ", "{} | ", "L{}: "])
def test_line_numbers_come_off(form: str) -> None:
    lines = [LINES[i % 2] for i in range(8)]
    assert strip_noise("\n".join(form.format(i + 7) + line for i, line in enumerate(lines))) == lines


def test_strings_of_json_come_off() -> None:
    text = "\n".join(f'            "{line}",' for line in LINES)
    assert strip_noise(text) == LINES


@pytest.mark.parametrize(
    "text",
    [
        "kern.ipc.maxsockbuf: 1\nkern.ipc.maxsockbuf: 2",
        "0 requests for a\n1 requests for b\n2 requests for c\n7 requests for d",
        "1: lo: <LOOPBACK,UP> mtu 65536\n2: eth0: <UP> mtu 1500\n3: eth1: <UP> mtu 1500",
        " 1   17 0xffffffff80000000 80000000 kernel\n 2    1 0xffffffff8 22b0 a.ko\n 3    1 0x1 2 b.ko",
        "| net.inet.tcp.tso | integer | 1 | Enable TCP Segmentation Offload |",
        "net.inet.tcp.states: 0 19 0 0 2",
        "sysctl: unknown oid 'a.b'\nsysctl: unknown oid 'c.d'",
        "[ ID] Interval           Transfer\n[  5]   0.00-1.00   sec   112 MBytes",
    ],
)
def test_what_an_output_itself_has_stays(text: str) -> None:
    assert strip_noise(text) == text.split("\n")


def test_normal_form() -> None:
    assert normalize("a\r\nb\rc\u2028d\x1b[31m!\x1b[0m") == "a\nb\nc\nd!"
    assert normalize("x: 1 -&gt; 2") == "x: 1 -> 2"
    assert normalize("2097\x00152") == "2097\ufffd152"
    assert normalize("a\u00a0b\u200bc") == "a bc"
    assert normalize("a\n\n\n\n\n\nb") == "a\n\n\nb"
    assert normalize("<pre class='x'>a: 1<br/>\nb</pre>") == "a: 1\nb"
    assert normalize("```console\na: 1\n```\n") == "\na: 1\n\n"


def test_quoted_printable() -> None:
    assert normalize("kern.ipc.maxsockbuf=3D16777216\n") == "kern.ipc.maxsockbuf=16777216\n"
    wrapped = "0/84/84/63496 4k (page size) jumbo clusters in use (current/cache=\n/total/max)\n"
    assert normalize(wrapped) == wrapped.replace("=\n", "")


@pytest.mark.parametrize(
    "text", ["net.inet.tcp.mssdflt=20\n", "kern.bootargs=\nkern.x.y=10\n", "a=3D\nb=4\n", "net.a.b=AB=C3\n"]
)
def test_what_only_looks_quoted_stays(text: str) -> None:
    assert normalize(text) == text


def test_a_name_in_front_of_equal_values_is_no_host() -> None:
    for lines in (["vendor.x.y: 1"] * 3, ["vendor.x.y: 1", "vendor.x.y: 2"]):
        assert strip_noise("\n".join(lines)) == lines
    hosts = [f"db1: net.core.rmem_max = {number}" for number in (1, 2)]
    assert strip_noise("\n".join(hosts)) == ["net.core.rmem_max = 1", "net.core.rmem_max = 2"]
