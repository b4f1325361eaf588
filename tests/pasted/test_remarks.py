"""Outputs one after the other without prompts: parted, used, and what is not understood is told."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from hostcfg.measure import slowest_interface_bps
from hostcfg.model import Link
from hostcfg.pasted import split_pasted
from hostcfg.path import analyse_path
from hostcfg.platforms import all_parsers
from hostcfg.reader import read_pasted

if TYPE_CHECKING:
    from hostcfg.model import Facts, Finding
    from hostcfg.path import PathReport

SYSCTL = "net.ipv4.tcp_rmem = 4096 131072 6291456\n" + "".join(
    f"net.ipv4.conf.eth{n}.rp_filter = 2\n" for n in range(60)
)
LINK = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
4: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc mq state UP mode DEFAULT group default qlen 1000
    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
    2454727840   78970      0       0       0       0
"""
QDISC = "qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms\n"
SPEED = """\
Settings for eth0:
\tSupported link modes:   1000baseT/Full
\t                        10000baseT/Full
\tSpeed: 10000Mb/s
\tDuplex: Full
\tLink detected: yes
"""
FEATURES = (
    "Features for eth0:\ntcp-segmentation-offload: on\n\ttx-tcp-segmentation: on\n"
    "large-receive-offload: off\n"
)
RING = (
    "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\n"
    "Current hardware settings:\nRX:\t\t512\nTX:\t\t512\n"
)
MEMORY = "MemTotal:       16384000 kB\nMemFree:         1000000 kB\nBuffers:           10000 kB\n"
UNAME = "Linux lon-1 6.1.0-50-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.170-1 (2026-05-01) x86_64 GNU/Linux\n"
KINDS = {
    SYSCTL: "sysctl",
    LINK: "ip-link",
    QDISC: "tc-qdisc",
    SPEED: "ethtool",
    FEATURES: "ethtool-k",
    RING: "ethtool-g",
    MEMORY: "meminfo",
    UNAME: "uname",
}


def facts_of(text: str) -> Facts:
    return read_pasted("far", text, "far.txt")


def finding(facts: Facts, kind: str) -> Finding:
    (found,) = (f for f in facts.findings if f.kind == kind)
    return found


@pytest.mark.parametrize("texts", list(permutations(KINDS, 2)))
def test_two_outputs_after_one_another_are_two_sections(texts: tuple[str, str]) -> None:
    pasted = split_pasted("".join(texts), all_parsers())
    assert [section.kind for section in pasted.sections] == [KINDS[text] for text in texts]
    assert not pasted.unrecognized
    assert all(not p.parser.parse(p.section.text).unrecognized for p in pasted.pieces)


def test_all_of_them_are_used() -> None:
    facts = facts_of(SYSCTL + RING + SPEED + QDISC + LINK + FEATURES + MEMORY + UNAME)
    (eth0,) = facts.interfaces
    assert (eth0.mtu_bytes, eth0.speed_bps, eth0.qdisc) == (1400, 10_000_000_000, "fq_codel")
    assert eth0.offloads["tcp-segmentation-offload"]
    assert facts.memory_bytes == 16384000 * 1024
    assert facts.release == (6, 1)
    assert facts.native["net.ipv4.tcp_rmem"].raw == "4096\t131072\t6291456"
    assert "ethtool -g" in finding(facts, "unused").message


def test_a_comment_goes_with_the_settings_below_it() -> None:
    (section, last) = split_pasted(f"{LINK}# set by the vendor\n{SYSCTL}", all_parsers()).sections
    assert "vendor" not in section.text
    assert last.text.startswith("# set by the vendor\n")


def test_speed_that_ethtool_says_is_the_rate() -> None:
    assert slowest_interface_bps([facts_of(SPEED)]) == 10_000_000_000
    assert slowest_interface_bps([facts_of(SPEED), facts_of(SPEED.replace("10000Mb", "1000Mb"))]) == 1e9


def test_of_two_interfaces_the_route_tells_which_carries() -> None:
    both = SPEED + SPEED.replace("eth0", "eth1").replace("10000Mb", "1000Mb")
    assert {i.name: i.speed_bps for i in facts_of(both).interfaces} == {"eth0": 10**10, "eth1": 10**9}
    with pytest.raises(Exception, match="ip route"):
        slowest_interface_bps([facts_of(both)])
    assert slowest_interface_bps([facts_of(f"{both}default via 192.0.2.1 dev eth1\n")]) == 10**9


def test_a_pair_of_virtual_ends_has_no_speed() -> None:
    assert facts_of(SPEED.replace("eth0", "veth7a1")).interfaces[0].speed_bps is None


def test_offloads_of_several_interfaces() -> None:
    facts = facts_of(FEATURES + FEATURES.replace("eth0", "eth1"))
    assert {i.name: i.offloads["large-receive-offload"] for i in facts.interfaces} == {
        "eth0": False,
        "eth1": False,
    }


def test_files_below_proc_with_their_names_above_them() -> None:
    facts = facts_of(
        "==> /proc/sys/net/core/rmem_max <==\n212992\n\n==> /proc/sys/net/core/wmem_max <==\n4096\n"
    )
    assert (facts.native["net.core.rmem_max"].raw, facts.native["net.core.wmem_max"].raw) == (
        "212992",
        "4096",
    )


def test_ends_on_bsd_need_no_prompts_either() -> None:
    ifconfig = (
        "em0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 9000\n"
        "\tmedia: Ethernet autoselect (1000baseT <full-duplex>)\n\tstatus: active\n"
    )
    settings = "net.inet.tcp.recvbuf_max: 2097152\nkern.ipc.maxsockbuf: 2097152\nkern.ostype: FreeBSD\n"
    for text in (ifconfig + settings, settings + ifconfig):
        facts = facts_of(text)
        assert facts.native["net.inet.tcp.recvbuf_max"].raw == "2097152"
        assert [(i.name, i.mtu_bytes) for i in facts.interfaces] == [("em0", 9000)]
        assert slowest_interface_bps([facts]) == 1e9


def test_an_adapter_alone_says_its_speed() -> None:
    adapter = (
        '"Name","InterfaceIndex","ReceiveLinkSpeed","MtuSize","InterfaceDescription"\n'
        '"Ethernet","6","1000000000","1500","Intel"\n'
    )
    facts = facts_of(adapter)
    assert [(i.name, i.speed_bps, i.mtu_bytes) for i in facts.interfaces] == [("Ethernet", 10**9, 1500)]


def test_windows_tells_mtus_in_two_tables() -> None:
    table = (
        "Idx     Met         MTU          State                Name\n"
        "---  ----------  ----------  ------------  ---------------------------\n"
        "  1          75  4294967295  connected     Loopback Pseudo-Interface 1\n"
        "  6          25        1400  connected     Ethernet\n"
    )
    assert [(i.name, i.mtu_bytes) for i in facts_of(table).interfaces] == [("Ethernet", 1400)]


@pytest.mark.parametrize("line", ["hello world", "Copyright (c) somebody"])
def test_what_is_not_understood_is_told_wherever_it_stands(line: str) -> None:
    for text in (f"{line}\n{SYSCTL}", f"{SYSCTL}{line}\n", f"{LINK}\n{line}\n\n{SYSCTL}"):
        said = finding(facts_of(text), "unrecognized").message
        assert said == f"1 line was not understood, the first is {line!r}"


def test_a_key_twice_names_both_values_and_lines() -> None:
    facts = facts_of(f"{SYSCTL}net.ipv4.tcp_rmem = 4096\t131072\t33554432\n")
    twice = finding(facts, "twice")
    assert twice.severity == "warning"
    assert twice.keys == ("net.ipv4.tcp_rmem",)
    assert twice.message == (
        "net.ipv4.tcp_rmem has several values in this text: 4096 131072 6291456 (line 1), "
        "4096 131072 33554432 (line 62); 4096 131072 33554432 is used"
    )


def test_the_same_value_twice_or_a_file_beside_it_is_nothing_to_tell() -> None:
    same = "net.ipv4.tcp_rmem = 4096 131072 6291456\n"
    for text in (
        SYSCTL + same,
        f"$ sysctl -a\n{SYSCTL}$ cat /etc/sysctl.conf\n# ours\n{same.replace('6', '9')}",
    ):
        assert not [f for f in facts_of(text).findings if f.kind == "twice"]


def test_a_key_with_a_line_for_each_part_has_one_value() -> None:
    text = f"{SYSCTL}dev.cdrom.info = CD-ROM information\ndev.cdrom.info = drive name: sr0\n"
    assert not [f for f in facts_of(text).findings if f.kind == "twice"]


def test_a_table_twice_with_another_value() -> None:
    table = (
        "TCP Global Parameters\n----------------------------------------------\n"
        "Receive-Side Scaling State          : enabled\n"
        "Receive Window Auto-Tuning Level    : disabled\n"
        "ECN Capability                      : disabled\n"
    )
    later = table.replace("Level    : disabled", "Level    : normal")
    prompt = r"C:\> netsh interface tcp show global"
    said = finding(facts_of(f"{prompt}\n{table}{prompt}\n{later}"), "twice").message
    assert "disabled, normal; normal is used" in said
    without = facts_of(f"{table}\n{later}")  # nobody knows which is right
    assert "global.autotuninglevel" not in without.native
    assert "2 lines were not understood" in finding(without, "unrecognized").message


def test_a_typed_cat_of_a_file_is_no_running_value() -> None:
    for file in ("/etc/sysctl.conf", "/etc/sysctl.d/99-ours.conf"):
        facts = facts_of(
            "$ sysctl net.ipv4.tcp_rmem\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n"
            f"$ cat {file}\nnet.ipv4.tcp_rmem = 4096 131072 33554432\n"
        )
        assert facts.native["net.ipv4.tcp_rmem"].raw == "4096\t131072\t6291456"
        assert [value.raw for value in facts.boot] == ["4096 131072 33554432"]


def test_a_link_that_is_down_hides_no_mtu() -> None:
    down = (
        LINK.replace("4: eth0", "2: ifb0").replace("mtu 1400", "mtu 1500").replace("state UP", "state DOWN")
    )
    down = down.replace("UP,LOWER_UP", "NOARP")
    facts = facts_of(SYSCTL + down + LINK)
    assert [(i.name, i.mtu_bytes) for i in facts.interfaces] == [("eth0", 1400)]
    assert path_of(facts).mtu_bytes == 1400
    assert "the MTU of" not in str(path_of(facts).directions)


def test_of_several_mtus_the_route_is_what_is_missing() -> None:
    other = LINK.replace("4: eth0", "5: eth1").replace("mtu 1400", "mtu 9000")
    said = str(path_of(facts_of(SYSCTL + LINK + other)).directions)
    assert (
        "way (its interfaces have 1400 to 9000, and no route says which) was not read: assumed 1400" in said
    )
    route = "default via 192.0.2.1 dev eth1\n"
    assert path_of(facts_of(SYSCTL + LINK + other + route)).mtu_bytes == 1400
    assert "the MTU of" not in str(path_of(facts_of(SYSCTL + LINK + other + route)).directions)


def path_of(facts: Facts) -> PathReport:
    other = replace(facts_of(SYSCTL + LINK), host="near")
    return analyse_path(facts, other, Link(rate_bps=1e9, rtt_s=0.01))
