"""Facts from a probe's sections and from pasted text."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostcfg.errors import HostError
from hostcfg.model import Section, State
from hostcfg.platforms.linux import PLATFORM
from tests.linux.pieces import MACHINE, STOCK, SYSTEMD, host_facts, messages, pasted, proc_sys

FIXTURES = Path(__file__).parents[1] / "fixtures" / "linux"

IP_LINK = (
    "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT qlen 1000\n"
    "    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
)
TC = (
    "qdisc noqueue 0: dev lo root refcnt 2\nqdisc mq 0: dev eth0 root\n"
    "qdisc fq_codel 0: dev eth0 parent :2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms\n"
    "qdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms\n"
    "qdisc clsact ffff: dev eth0 parent ffff:fff1\n"
)
SYSFS = (
    "/sys/class/net/eth0/ifindex:2\n/sys/class/net/eth0/mtu:9000\n/sys/class/net/eth0/tx_queue_len:1000\n"
    "/sys/class/net/eth0/speed:10000\n/sys/class/net/eth0/device/uevent:DRIVER=ixgbe\n"
)
ETHTOOL = (
    "Features for eth0:\ntcp-segmentation-offload: off\ngeneric-receive-offload: on\nrx-all: off [fixed]\n"
)
INTERFACE = (
    Section("ip-route", "default via 192.0.2.1 dev eth0 proto dhcp metric 100"),
    Section("linux-net-class", SYSFS),
    Section("ip-link", IP_LINK),
    Section("tc-qdisc", TC),
    Section("ethtool-k", ETHTOOL),
)


def test_a_whole_probe() -> None:
    facts = host_facts(more=INTERFACE)
    assert facts.os_version == "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-50-cloud-amd64"
    assert facts.release == (6, 1)
    assert facts.memory_bytes == 16384000 * 1024
    assert facts.confined is None
    [interface] = facts.interfaces
    assert interface.speed_bps == 10_000_000_000
    assert (interface.mtu_bytes, interface.driver, interface.qdisc) == (9000, "ixgbe", "fq_codel")
    assert interface.offloads == {
        "tcp-segmentation-offload": False,
        "generic-receive-offload": True,
        "rx-all": False,
    }
    assert interface.routes == ("default",)
    assert facts.native["qdisc/eth0"].raw == "fq_codel"
    assert facts.native["txqueuelen/eth0"].raw == "1000"
    assert facts.readings["segmentation_offload"].value is False
    assert facts.readings["recv_buffer_max"].source == "/proc/sys/net/ipv4/tcp_rmem"
    assert facts.readings["socket_buffer_max"].state is State.UNSUPPORTED
    assert facts.details["boot_loader"] == "systemd-sysctl"
    assert facts.details["root"] is True
    assert PLATFORM.findings(facts) == list(facts.findings)


def test_a_snapshot_s_sections_give_the_same_facts() -> None:
    facts = host_facts(more=INTERFACE, files={"/etc/sysctl.d/9.conf": "net.ipv4.tcp_sack = 0"})
    assert PLATFORM.assemble("h", facts.sections) == facts


def test_denied_absent_and_unparsed_are_told_apart() -> None:
    values = {key: raw for key, raw in STOCK.items() if key != "net.ipv4.tcp_wmem"}
    errors = (
        "grep: /proc/sys/net/core/bpf_jit_limit: Permission denied\n"
        "grep: /proc/sys/net/ipv4/tcp_ecn: Operation not permitted\n"
        "grep: /proc/sys/net/core/[!n]*: No such file or directory\n"
    )
    sections = [proc_sys(values | {"net.ipv4.tcp_rmem": "4096 131072 x"}, errors)]
    facts = PLATFORM.assemble("h", sections)
    assert facts.readings["send_buffer_max"].state is State.ABSENT
    assert facts.readings["ecn"].state is State.DENIED
    assert facts.readings["recv_buffer_max"].state is State.UNPARSED
    assert facts.readings["recv_buffer_max"].value is None
    assert facts.native["net.core.bpf_jit_limit"].state is State.DENIED
    assert not any("[!n]" in key for key in facts.native)
    assert any("net.ipv4.tcp_ecn" in message for message in messages(facts, "denied"))
    assert messages(facts, "unparsed") == ["net.ipv4.tcp_rmem is not in a known form: 4096 131072 x"]


def test_zero_is_a_value() -> None:
    facts = host_facts({"net.core.somaxconn": "0", "net.ipv4.tcp_mtu_probing": "0"})
    assert facts.readings["listen_backlog_max"].value == 0
    assert facts.readings["mtu_probing"].value is False


def test_nothing_that_reads_is_an_error() -> None:
    with pytest.raises(HostError, match="h: the host has no grep"):
        PLATFORM.assemble("h", [Section("proc-sys", "", "hostcfg: nothing here reads a file", 97)])


def test_a_bond_s_ports_follow_the_route() -> None:
    sysfs = SYSFS + SYSFS.replace("eth0", "bond0").replace("ifindex:2", "ifindex:5").replace(
        "DRIVER=ixgbe", "X=1"
    )
    links = IP_LINK + IP_LINK.replace("2: eth0", "5: bond0")
    sections = [
        Section("ip-route", "default via 192.0.2.1 dev bond0"),
        Section("linux-net-class", sysfs),
        Section("ip-link", links),
    ]
    facts = PLATFORM.assemble("h", sections)
    assert [(i.name, i.routes) for i in facts.interfaces] == [("bond0", ("default",)), ("eth0", ("lower",))]


def test_a_speed_that_a_driver_invents_is_none() -> None:
    veth = "/sys/class/net/eth0/speed:10000\n/sys/class/net/eth0/uevent:INTERFACE=eth0\n"
    vlan = veth + "/sys/class/net/eth0/uevent:DEVTYPE=vlan\n"
    nic = veth + "/sys/class/net/eth0/device/uevent:DRIVER=ixgbe\n"
    speeds = []
    for text in (veth, vlan, nic):
        [interface] = host_facts(more=[Section("linux-net-class", text)]).interfaces
        speeds.append(interface.speed_bps)
    assert speeds == [None, 10_000_000_000, 10_000_000_000]


def test_several_next_hops() -> None:
    routes = (
        "default proto static metric 20 \n\tnexthop via 10.0.0.1 dev eth1 weight 1 \n"
        "\tnexthop via 10.0.0.2 dev eth2 weight 1 \n10.0.0.0/24 dev eth3 scope link"
    )
    facts = PLATFORM.assemble("h", [Section("ip-route", routes)])
    assert [i.name for i in facts.interfaces] == ["eth1", "eth2"]
    json = '[{"dst":"default","nexthops":[{"dev":"eth1"},{"dev":"eth2"}]},{"dst":"10.0.0.0/24","dev":"eth3"}]'
    facts = PLATFORM.assemble("h", [Section("ip-route", json)])
    assert [i.name for i in facts.interfaces] == ["eth1", "eth2"]


@pytest.mark.parametrize(
    ("marks", "kind"),
    [
        ("=container lxc\n", "lxc"),
        ("/run/systemd/container:podman\n", "podman"),
        ("=exists /run/.containerenv\n", "podman"),
        ("=exists /dev/lxd/sock\n", "lxd"),
        ("=exists /proc/vz\n", "openvz"),
        ("/proc/self/cgroup:0::/docker/0123\n", "docker"),
        ("/proc/self/cgroup:1:cpu:/kubepods/besteffort\n", "kubernetes"),
        ("=exists /.dockerenv\n/proc/self/uid_map: 0 100000 65536\n", "docker"),
    ],
)
def test_containers_say_so(marks: str, kind: str) -> None:
    facts = host_facts(marks=marks)
    assert facts.confined == f"{kind} container"


@pytest.mark.parametrize("marks", ["=exists /.dockerenv\n", "=exists /proc/vz\n=exists /proc/bc\n", ""])
def test_these_are_no_containers(marks: str) -> None:
    assert host_facts(marks=MACHINE + marks).confined is None


def test_the_control_group_limits_memory() -> None:
    facts = host_facts(marks=MACHINE + "/sys/fs/cgroup/memory.max:2147483648\n")
    assert PLATFORM.profile_context(facts).inputs["memory_bytes"] == 2147483648
    assert facts.memory_bytes == 16384000 * 1024
    none = "/sys/fs/cgroup/memory/memory.limit_in_bytes:9223372036854771712\n"
    assert (
        PLATFORM.profile_context(host_facts(marks=MACHINE + none)).inputs["memory_bytes"] == 16384000 * 1024
    )
    assert "memory_limit_bytes" not in host_facts(marks=MACHINE + "/sys/fs/cgroup/memory.max:max\n").details


@pytest.mark.parametrize(
    ("marks", "names"),
    [
        (
            "=qdisc fq\n=qdisc cake\n/lib/modules/6.1.0/modules.builtin:kernel/net/sched/sch_mqprio.ko\n",
            ("bfifo", "cake", "fq", "fq_codel", "mqprio", "pfifo", "pfifo_fast"),
        ),
        ("CONFIG_NET_SCH_FQ_CODEL=y\n", ("bfifo", "fq_codel", "pfifo", "pfifo_fast")),
        ("", None),
    ],
)
def test_queueing_disciplines_that_can_be_had(marks: str, names: tuple[str, ...] | None) -> None:
    """fq_codel is in use on this host, so it is there whatever the modules say."""
    facts = host_facts(marks=MACHINE + marks)
    assert facts.readings["queue_discipline_available"].value == names


class TestPasted:
    """What comes in a mail."""

    def test_sysctl_a_of_4_9(self) -> None:
        text = (FIXTURES / "sysctl-a__debian8-4.9__01.txt").read_text()
        facts = pasted("sysctl", text)
        assert facts.release == (4, 9)
        assert facts.readings["recv_buffer_max"].value == 3825472
        assert facts.readings["recv_explicit_max"].value == 26214400
        assert facts.readings["queue_discipline"].value == "fq"
        assert facts.readings["recv_window_scale_overhead"].value == 1

    def test_an_old_kernel_has_no_such_key(self) -> None:
        facts = pasted("sysctl", "net.ipv4.tcp_sack = 1\nkernel.osrelease = 2.6.32-754.el6.x86_64\n")
        assert facts.release == (2, 6)
        assert facts.readings["sack"].value is True
        assert facts.readings["fast_open"].state is State.ABSENT
        assert "kernel.osrelease" not in facts.native  # it says which release, and is no setting

    def test_uname_alone(self) -> None:
        facts = pasted("uname", "Linux far 5.10.0-32-amd64 #1 SMP Debian 5.10.223-1 x86_64 GNU/Linux")
        assert facts.release == (5, 10)
        assert facts.os_version == "Linux 5.10.0-32-amd64"
        assert facts.readings["recv_buffer_max"].state is State.ABSENT

    def test_tc_alone(self) -> None:
        facts = pasted("tc-qdisc", TC)
        assert [(i.name, i.qdisc, i.routes) for i in facts.interfaces] == [("eth0", "fq_codel", ())]
        assert facts.native["qdisc/eth0"].raw == "fq_codel"
        assert facts.readings["queue_discipline"].state is State.ABSENT

    def test_links_of_a_container_host_are_not_all_listed(self) -> None:
        links = "".join(IP_LINK.replace("2: eth0", f"{n}: veth{n}") for n in range(3, 300)) + IP_LINK
        tc = "".join(f"qdisc noqueue 0: dev veth{n} root refcnt 2\n" for n in range(3, 300)) + TC
        facts = PLATFORM.assemble("h", [Section("ip-link", links), Section("tc-qdisc", tc)])
        assert [i.name for i in facts.interfaces] == ["eth0"]

    def test_a_config_file_alone_is_what_boot_sets(self) -> None:
        text = "net.ipv4.tcp_rmem = 4096 87380 12582912\nnet.core.default_qdisc = fq # fair\n"
        text += "net.core.rmem_max = 16M\n"
        facts = pasted("sysctl-conf", text)
        reading = facts.readings["recv_buffer_max"]
        assert reading.value == 12582912
        assert reading.source == "sysctl.conf:1, as set at boot"
        assert facts.readings["queue_discipline"].state is State.UNPARSED
        assert facts.readings["recv_explicit_max"].state is State.UNPARSED
        assert facts.findings[0].kind == "config_only"
        assert "sysctl.conf:3: the kernel refuses '16M' for net.core.rmem_max" in messages(facts, "unparsed")
        assert facts.boot[-1].raw == "4096 87380 12582912"

    def test_a_later_line_wins(self) -> None:
        facts = pasted("sysctl-conf", "net.core.rmem_max = 1000000\nnet/core/rmem_max = 0x200000\n")
        assert facts.readings["recv_explicit_max"].value == 0x200000

    def test_config_beside_the_running_values(self) -> None:
        sections = [
            Section("sysctl", "net.core.rmem_max = 212992\nnet.core.wmem_max = 212992\n"),
            Section("sysctl-conf", "net.core.rmem_max = 16777216\nnet.core.wmem_max = 0x34000\n"),
        ]
        facts = PLATFORM.assemble("h", sections)
        assert facts.readings["recv_explicit_max"].value == 212992
        assert messages(facts, "boot_differs") == [
            "net.core.rmem_max is 212992 and will be 16777216 where this file is loaded: sysctl.conf:1"
        ]

    def test_bash_arrays_of_a_script(self) -> None:
        facts = pasted("sysctl-conf", (FIXTURES / "sysctl-conf__perfsonar-script__20.txt").read_text())
        assert facts.readings["recv_buffer_max"].value == 16777216
        assert not {"VARIABLES", "VALUES"} & set(facts.native)

    def test_tuned_profile(self) -> None:
        facts = pasted("tuned-conf", (FIXTURES / "tuned-conf__rhel__01.conf").read_text())
        assert facts.readings["send_not_sent_lowat"].value == 131072
        assert messages(facts, "config_only")

    def test_memory_and_title(self) -> None:
        sections = [
            Section("meminfo", "MemTotal: 2048 kB\n"),
            Section("os-release", 'PRETTY_NAME="Alpine Linux v3.19"\n'),
        ]
        facts = PLATFORM.assemble("h", sections)
        assert (facts.memory_bytes, facts.os_version) == (2048 * 1024, "Alpine Linux v3.19")

    def test_nothing_known(self) -> None:
        facts = PLATFORM.assemble("h", [Section("os-name", "Linux"), Section("unheard-of", "?")])
        assert facts.os_version == ""
        assert facts.findings == ()
        assert {r.state for r in facts.readings.values()} == {State.ABSENT, State.UNSUPPORTED}


def test_a_damaged_probe_raises_nothing() -> None:
    """A host may print anything; every section cut anywhere, and every byte pattern, gives facts."""
    whole = host_facts(more=INTERFACE, marks=MACHINE + SYSTEMD, files={"/etc/sysctl.conf": "a.b = 1\nx"})
    for index, section in enumerate(whole.sections):
        for cut in range(0, len(section.text), max(1, len(section.text) // 12)):
            for text in (section.text[:cut], section.text[cut:], section.text[:cut] + "\x00\ufffd::=\n" * 3):
                sections = list(whole.sections)
                sections[index] = Section(section.kind, text, section.errors, section.status)
                PLATFORM.assemble("h", sections)
