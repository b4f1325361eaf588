"""Which parser claims a text: Linux's kinds among each other, and nothing of other systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostcfg.platforms.linux.parsers import PARSERS
from tests.linux.parsers.samples import best

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOREIGN = sorted(
    path
    for folder in ("freebsd", "freebsd-14.2", "windows", "macos")
    for path in (FIXTURES / folder).glob("*.txt")
)


def test_kinds_have_one_parser_each() -> None:
    kinds = [parser.kind for parser in PARSERS]
    assert len(kinds) == len(set(kinds))
    assert {parser.os for parser in PARSERS} == {"linux"}


@pytest.mark.parametrize("path", FOREIGN, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_recorded_texts_of_other_systems_are_not_claimed(path: Path) -> None:
    """Whole files; sessions that hold output of several commands may have a line or two like Linux's."""
    text = path.read_bytes().decode("utf-8", "backslashreplace")
    claims = {parser.kind: parser.recognize(text) for parser in PARSERS}
    assert {kind: points for kind, points in claims.items() if points >= 25} == {}


@pytest.mark.parametrize(
    "text",
    [
        "net.inet.tcp.recvspace: 65536\nkern.ipc.maxsockbuf: 2097152\n",
        "kern.ipc.maxsockbuf=16777216\nnet.inet.tcp.sendbuf_max=16777216\n",
        "kern.ipc.maxsockbuf = 16777216\nnet.inet.tcp.recvbuf_max = 4194304\n",
        "# sysctl dev.ix.0.iflib.x=1\nsysctl: oid 'dev.ix.0.iflib.x' is a read only tunable\n",
        "sysctl: unknown oid 'net.ipv4.tcp_rmem'\n",
        "sudo sysctl -w kern.ipc.maxsockbuf=8441037\nkern.ipc.maxsockbuf: 8388608\n",
        "#!/bin/sh\nsysctl -w net.inet.tcp.rfc1323=1\n# vm.swappiness\n",
        "kern.maxfiles: 2088 -> 5000\n",
        "1106/2171/531 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n",
        "Receive Window Auto-Tuning Level    : normal\nCongestion Control Provider         : cubic\n",
        "TcpGlobalParameters\nReceive-Side Scaling State          : enabled\n",
        "PROTO PROPERTY              PERM CURRENT      PERSISTENT   DEFAULT      POSSIBLE\n",
        "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n",
        "Proto Recv-Q Send-Q Local Address Foreign Address (state)\ntcp4 0 0 10.0.0.1.22 10.0.0.2.9 LISTEN\n",
        "[Match]\nName=eth0\n",
        '{"a": 1}\n',
        "hello world\n",
        "",
        "\n\n",
        "\x00\x01\x02",
    ],
)
def test_texts_of_others_and_of_nobody(text: str) -> None:
    assert max(parser.recognize(text) for parser in PARSERS) == 0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("net.ipv4.tcp_rmem = 4096\t131072\t6291456\n", "sysctl"),
        ("net.ipv4.tcp_rmem = 4096 131072 6291456\nnet.core.rmem_max = 1\n", "sysctl"),
        ("sysctl: cannot stat /proc/sys/net/ipv4/x: No such file or directory\n", "sysctl"),
        ("net.ipv4.tcp_rmem=4096 131072 6291456\n", "sysctl-conf"),
        ("# tuned by hand\nnet.core.rmem_max = 1\n", "sysctl-conf"),
        ("net.core.rmem_max = 1 # one\n", "sysctl-conf"),
        ("net.core.rmem_max = 0x100000\n", "sysctl-conf"),
        ("-net.ipv4.tcp_fack = 0\n", "sysctl-conf"),
        ("sysctl -w net.core.rmem_max=1\n", "sysctl-conf"),
        ("vm.swappiness=10\n", "sysctl-conf"),
        ("* Applying /etc/sysctl.conf ...\nnet.core.rmem_max = 1\n", "sysctl-set"),
        ("* /etc/sysctl.conf wird angewendet …\nnet.core.rmem_max = 1\n", "sysctl-set"),
        ("$ sudo sysctl -w net.core.rmem_max=1\nnet.core.rmem_max = 1\n", "sysctl-set"),
        ("error: permission denied on key 'net.core.rmem_max'\n", "sysctl-set"),
        ("sysctl: permission denied on key 'kernel.cad_pid'\nkernel.panic = 0\n", "sysctl"),
        ("[sysctl]\nvm.swappiness=10\n", "tuned-conf"),
        ("netlink error: Operation not supported\n", "ethtool"),
    ],
)
def test_kinds_that_look_alike(text: str, kind: str) -> None:
    assert best(text).kind == kind


def test_a_key_that_may_be_anybodys_is_claimed_with_few_points() -> None:
    assert 0 < best("vm.foo = 1\n").recognize("vm.foo = 1\n") < 25


def test_one_odd_line_in_a_dump_makes_no_config_of_it() -> None:
    dump = "".join(f"net.ipv4.conf.eth{n}.rp_filter = 0\n" for n in range(300))
    assert best(dump + "kernel.core_pattern = |/usr/lib/x %P \n").kind == "sysctl"


@pytest.mark.parametrize("known", ["", "net.core.rmem_max = 212992\n"])
def test_a_listing_of_names_that_nobody_knows_is_one_of_sysctl(known: str) -> None:
    """Modules bring names, and roots, of their own: what is known is read, the rest is handed back."""
    text = known + "".join(f"vendor.x.y{number} = {number}\n" for number in range(1000))
    parser = best(text)
    assert parser is not None
    parsed = parser.parse(text)
    assert (parsed.kind, len(parsed.unrecognized)) == ("sysctl", 1000)
    assert dict(parsed.values) == ({"net.core.rmem_max": 212992} if known else {})


@pytest.mark.parametrize(
    "text",
    ["vendor.x.y = 1\n", "org.gradle.daemon=true\norg.a.b=1\norg.a.c=2\n", "a.b = 1\na.c = 2\nand words\n"],
)
def test_a_few_lines_with_dots_are_no_listing(text: str) -> None:
    assert {p.kind for p in PARSERS if p.recognize(text) >= 25} == set()
