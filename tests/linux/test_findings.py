"""What hostcfg says about a Linux host, word for word where it matters."""

from __future__ import annotations

import pytest

from hostcfg.model import Section
from hostcfg.platforms.linux import PLATFORM
from tests.linux.pieces import MACHINE, SYSTEMD, finding, host_facts, messages
from tests.linux.test_assemble import INTERFACE

DEBIAN_11 = MACHINE + "=sysctl sysctl from procps-ng 3.3.17\n/proc/1/comm:init\n"


def test_a_host_as_it_comes_is_quiet() -> None:
    facts = host_facts(more=INTERFACE)
    assert [(f.kind, f.severity) for f in facts.findings] == [("explicit_size_capped", "info")]


def test_most_serious_first() -> None:
    facts = host_facts(
        {"net.ipv4.tcp_window_scaling": "0", "net.ipv4.tcp_sack": "0", "net.ipv4.tcp_timestamps": "0"}
    )
    assert [f.severity for f in facts.findings[:3]] == ["error", "warning", "info"]
    assert {f.severity for f in facts.findings[3:]} == {"info"}
    assert facts.findings[0].message == (
        "net.ipv4.tcp_window_scaling is 0: no window exceeds 65,535 bytes, whatever the buffers allow"
    )


def test_the_cap_of_field_case_1() -> None:
    """wmem_max 163840: the kernel doubles a request, to 320 KiB at most."""
    facts = host_facts({"net.core.rmem_max": "12582912", "net.core.wmem_max": "163840"})
    assert finding(facts, "explicit_size_capped").message == (
        "net.core.wmem_max 163,840 is below tcp_wmem's maximum 4,194,304: a program may ask for at most "
        "163,840 bytes (iperf -w), which the kernel doubles to a buffer of 327,680 (socket(7)); autotuning "
        "is not held back by it"
    )


def test_a_request_that_is_doubled_above_the_maximum_is_no_less_than_autotuning() -> None:
    """4,194,304 asked for become 8,388,608, above the 6,291,456 of tcp_rmem; 2,097,152 do not."""
    assert "explicit_size_capped" not in {f.kind for f in host_facts(_asked_for("4194304")).findings}
    assert (
        "at most 2,097,152 bytes (iperf -w), which the kernel doubles to a buffer of 4,194,304"
        in finding(host_facts(_asked_for("2097152")), "explicit_size_capped").message
    )


def test_two_caps_have_their_own_sizes() -> None:
    message = finding(
        host_facts(_asked_for("65536") | {"net.core.wmem_max": "212992"}), "explicit_size_capped"
    )
    assert (
        "at most 65,536 and 212,992 bytes (iperf -w), which the kernel doubles to a buffer of 131,072 and "
        in (message.message)
    )


def _asked_for(most: str) -> dict[str, str]:
    rmem = {"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304"}
    return rmem | {"net.core.rmem_max": most, "net.core.wmem_max": "4194304"}


def test_autotuning_off() -> None:
    facts = host_facts({"net.ipv4.tcp_moderate_rcvbuf": "0"})
    assert "stays at tcp_rmem's default of 131,072 bytes" in finding(facts, "autotuning_off").message


def test_a_default_above_the_maximum() -> None:
    facts = host_facts({"net.ipv4.tcp_wmem": "4096 131072 65536"})
    assert (
        "net.ipv4.tcp_wmem: the default 131,072 is above the maximum 65,536"
        in finding(facts, "buffer_order").message
    )


def test_tcp_mem_is_in_pages() -> None:
    facts = host_facts({"net.ipv4.tcp_mem": "8388608 12582912 16777216"})
    assert (
        "16,777,216 pages = 65,536 MiB, more than the RAM of 16,000 MiB"
        in finding(facts, "tcp_mem_too_large").message
    )
    facts = host_facts({"net.ipv4.tcp_mem": "1000 2000 3000"})
    assert "pressure from 8,000 KiB on" in finding(facts, "tcp_mem_too_small").message


def test_the_default_and_the_interface_s_queue() -> None:
    facts = host_facts({"net.core.default_qdisc": "fq"}, more=INTERFACE)
    assert finding(facts, "qdisc_differs").message == (
        "net.core.default_qdisc is fq and eth0 has fq_codel: the default serves new interfaces only; "
        "tc qdisc replace dev eth0 root fq"
    )


def test_queue_lengths() -> None:
    def with_length(length: int) -> list[str]:
        link = Section(
            "ip-link",
            INTERFACE[2].text.replace("qdisc mq", "qdisc pfifo_fast").replace("qlen 1000", f"qlen {length}"),
        )
        return messages(host_facts(more=[INTERFACE[0], INTERFACE[1], link]), "txqueuelen")

    assert with_length(1000) == []
    assert "is 0 with pfifo_fast" in with_length(0)[0]
    assert "20,000 packets" in with_length(20000)[0]


def test_routes_with_options_of_their_own() -> None:
    route = Section("ip-route", "default via 192.0.2.1 dev eth0 window 65535 initcwnd 30 congctl bbr")
    facts = host_facts(more=[route, *INTERFACE[1:]])
    assert "caps the window at 65,535 bytes" in finding(facts, "route_window").message
    assert "congctl bbr, initcwnd 30" in finding(facts, "route_options").message


def test_no_effect_since_6_6() -> None:
    assert messages(host_facts({"net.ipv4.tcp_adv_win_scale": "-2"}, release="6.5.0"), "no_effect") == []
    facts = host_facts({"net.ipv4.tcp_adv_win_scale": "-2"}, release="6.12.1")
    assert "has no effect since Linux 6.6" in finding(facts, "no_effect").message


@pytest.mark.parametrize(
    ("marks", "said", "severity"),
    [
        (
            "=exists /run/tuned/tuned.pid\n/etc/tuned/active_profile:network-throughput\n",
            "TuneD runs (profile network-throughput)",
            "warning",
        ),
        ("/proc/123/comm:bpftune\n", "bpftune runs and sets buffers", "warning"),
        ("/proc/77/comm:puppet\n", "puppet runs: it may set sysctls again", "info"),
    ],
)
def test_other_writers(marks: str, said: str, severity: str) -> None:
    got = finding(host_facts(marks=MACHINE + SYSTEMD + marks), "other_writer")
    assert got.message.startswith(said)
    assert got.severity == severity


def test_start_scripts() -> None:
    marks = (
        MACHINE + SYSTEMD + "/etc/rc.local:7:  sysctl -w net.core.rmem_max=1\n/etc/rc.local:8:# sysctl off\n"
    )
    assert messages(host_facts(marks=marks), "start_script") == [
        "/etc/rc.local:7 sets network values by itself: sysctl -w net.core.rmem_max=1"
    ]


class TestBoot:
    def test_a_value_that_the_next_boot_changes(self) -> None:
        facts = host_facts(
            files={"/etc/sysctl.d/90-x.conf": "# c\n\nnet.ipv4.tcp_rmem = 4096 87380 12582912"}
        )
        got = finding(facts, "boot_differs")
        assert got.message == (
            "net.ipv4.tcp_rmem is 4096 131072 6291456 and will be 4096 87380 12582912 after the next boot: "
            "/etc/sysctl.d/90-x.conf:3"
        )
        assert (got.severity, got.keys) == ("warning", ("net.ipv4.tcp_rmem",))

    def test_white_space_and_bases_are_no_difference(self) -> None:
        facts = host_facts(
            files={"/etc/sysctl.d/90-x.conf": "net.ipv4.tcp_rmem = 0x1000  131072   6291456 # as is"}
        )
        assert messages(facts, "boot_differs") == []

    def test_a_later_file_wins(self) -> None:
        files = {
            "/etc/sysctl.d/90-hostcfg.conf": "net.core.rmem_max = 12582912",
            "/etc/sysctl.d/99-tuning.conf": "net.core.rmem_max = 131072",
        }
        facts = host_facts({"net.core.rmem_max": "12582912"}, files=files)
        assert finding(facts, "boot_overridden").message == (
            "/etc/sysctl.d/90-hostcfg.conf:1 sets net.core.rmem_max to 12582912; "
            "/etc/sysctl.d/99-tuning.conf:1 comes later and sets 131072"
        )
        assert "will be 131072" in finding(facts, "boot_differs").message
        [boot] = facts.boot
        assert (boot.path, boot.line, boot.loader) == ("/etc/sysctl.d/99-tuning.conf", 1, "systemd-sysctl")

    def test_etc_over_the_distribution_is_no_warning(self) -> None:
        files = {
            "/usr/lib/sysctl.d/50-default.conf": "net.core.default_qdisc = fq_codel",
            "/etc/sysctl.d/90-x.conf": "net.core.default_qdisc = fq",
        }
        assert finding(host_facts(files=files), "boot_overridden").severity == "info"

    def test_a_mask_hides_a_file(self) -> None:
        files = {"/etc/sysctl.d/50-v.conf": None, "/usr/lib/sysctl.d/50-v.conf": "net.ipv4.tcp_sack = 0"}
        assert host_facts(files=files).boot == ()

    def test_sysctl_conf_is_not_read_by_systemd(self) -> None:
        """Debian 13: no 99-sysctl.conf any more."""
        files = {"/etc/sysctl.conf": "\nnet.ipv4.tcp_window_scaling = 0"}
        facts = host_facts(files=files)
        assert facts.boot == ()
        assert finding(facts, "loaders_disagree").message == (
            "/etc/sysctl.conf:2 sets net.ipv4.tcp_window_scaling to 0, and systemd-sysctl does not read that "
            "file at boot"
        )
        linked = host_facts(files=files | {"/etc/sysctl.d/99-sysctl.conf": "-> /etc/sysctl.conf"})
        assert messages(linked, "loaders_disagree") == []
        assert linked.boot[0].path == "/etc/sysctl.d/99-sysctl.conf"
        assert "99-sysctl.conf:2 (a link to /etc/sysctl.conf)" in finding(linked, "boot_differs").message
        assert facts.details["boot_files_ignored"] == [
            "/etc/sysctl.conf: systemd-sysctl does not read it at boot"
        ]
        assert messages(host_facts(files=files, marks=DEBIAN_11), "loaders_disagree") == []

    def test_the_loaders_take_another_file(self) -> None:
        files = {
            "/etc/sysctl.conf": "net.core.somaxconn = 100",
            "/etc/sysctl.d/99-zz.conf": "net.core.somaxconn = 200",
        }
        facts = host_facts(files=files)
        assert finding(facts, "loaders_disagree").message == (
            "/etc/sysctl.conf:1 sets net.core.somaxconn to 100 with `sysctl --system`; "
            "at boot systemd-sysctl sets 200: /etc/sysctl.d/99-zz.conf:1"
        )

    def test_a_quoted_triple_has_no_effect(self) -> None:
        files = {"/etc/sysctl.d/1.conf": 'net.ipv4.tcp_rmem = "4096 87380 16777216"'}
        got = finding(host_facts(files=files), "boot_refused")
        assert got.message == (
            "/etc/sysctl.d/1.conf:1: the kernel refuses '\"4096 87380 16777216\"' for net.ipv4.tcp_rmem"
        )

    def test_an_algorithm_that_is_not_loaded(self) -> None:
        files = {"/etc/sysctl.d/1.conf": "net.ipv4.tcp_congestion_control = bbr"}
        facts = host_facts(files=files)
        assert "is the module tcp_bbr there?" in finding(facts, "congestion_control_not_loaded").message
        assert messages(facts, "boot_differs") == []

    def test_a_key_that_the_kernel_lost(self) -> None:
        facts = host_facts(files={"/etc/sysctl.conf": "net.ipv4.tcp_tw_recycle = 1"}, marks=DEBIAN_11)
        assert messages(facts, "boot_unknown_key") == [
            "/etc/sysctl.conf:1 sets net.ipv4.tcp_tw_recycle, which this kernel does not have"
        ]

    def test_a_line_that_is_none(self) -> None:
        facts = host_facts(files={"/etc/sysctl.d/1.conf": "net.core.rmem_max : 1"})
        assert "systemd-sysctl can't use this line" in finding(facts, "boot_bad_line").message

    def test_many_of_a_kind_are_summed_up(self) -> None:
        text = "\n".join(f"nonsense {n}" for n in range(30))
        found = [
            f for f in host_facts(files={"/etc/sysctl.d/1.conf": text}).findings if f.kind == "boot_bad_line"
        ]
        assert len(found) == 9
        assert found[-1].message == "22 more findings of the kind boot_bad_line"

    def test_what_nobody_persisted(self) -> None:
        facts = host_facts({"net.core.somaxconn": "128"})
        assert finding(facts, "not_persisted").message == (
            "net.core.somaxconn is 128, not the kernel's own (4096), and no file sets it: "
            "it is lost at the next boot"
        )

    def test_busybox_stops(self) -> None:
        marks = MACHINE + "=sysctl BusyBox v1.36.1 () multi-call binary.\n/proc/1/comm:init\n"
        files = {"/etc/sysctl.conf": "net.core.somaxconn = x\nnet.ipv4.tcp_sack = 0"}
        facts = host_facts(files=files, marks=marks)
        assert facts.details["boot_loader"] == "busybox"
        assert "busybox sysctl stops here" in finding(facts, "boot_stops").message
        assert facts.boot == ()

    def test_ufw_comes_later(self) -> None:
        marks = MACHINE + SYSTEMD + "/etc/ufw/ufw.conf:ENABLED=yes\n"
        facts = host_facts(files={"/etc/ufw/sysctl.conf": "net/ipv4/tcp_sack=0"}, marks=marks)
        assert finding(facts, "other_writer").message == (
            "ufw sets net.ipv4.tcp_sack to 0 when it starts: /etc/ufw/sysctl.conf:1"
        )
        assert facts.boot == ()

    def test_nothing_loads_the_files(self) -> None:
        marks = MACHINE + "=sysctl sysctl from procps-ng 4.0.2\n/proc/1/comm:nginx\n"
        facts = host_facts(files={"/etc/sysctl.conf": "net.core.somaxconn = 1"}, marks=marks)
        assert "(process 1 is nginx)" in finding(facts, "no_boot_loader").message
        assert [boot.loader for boot in facts.boot] == ["sysctl --system"]
        assert "will be 1 by `sysctl --system`: /etc/sysctl.conf:1" in finding(facts, "boot_differs").message

    def test_a_masked_unit_loads_nothing(self) -> None:
        marks = MACHINE + SYSTEMD + "=masked /etc/systemd/system/systemd-sysctl.service\n"
        facts = host_facts(files={"/etc/sysctl.d/1.conf": "net.core.somaxconn = 1"}, marks=marks)
        assert "boot_loader" not in facts.details
        assert finding(facts, "no_boot_loader").keys == ("net.core.somaxconn",)

    def test_a_file_that_could_not_be_read(self) -> None:
        section = Section("linux-conf", "F u /etc/sysctl.d/secret.conf")
        facts = PLATFORM.assemble("h", [Section("linux-host", MACHINE + SYSTEMD), section])
        assert "/etc/sysctl.d/secret.conf" in finding(facts, "boot_unread").message


def test_a_hostile_text_stays_one_harmless_line() -> None:
    files = {"/etc/sysctl.d/1.conf": "net.core.somaxconn = \x1b[31mred\x1b[0m \u202e" + "x" * 500}
    for got in host_facts(files=files).findings:
        assert got.message.isprintable()
        assert len(got.message) < 400
