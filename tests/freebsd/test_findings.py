"""What is said of a FreeBSD host, with the numbers of the field cases and of the recorded sessions."""

from __future__ import annotations

import pytest

from hostcfg.pasted import split_pasted
from hostcfg.platforms.bsd.lockout import lockout_risk
from hostcfg.platforms.freebsd import PLATFORM
from tests.freebsd.pieces import host, kinds, message, recorded_host
from tests.freebsd.samples import PARSERS, sample
from tests.freebsd.sessions import record

FIELD_CASE_5 = """\
> root@files:~ # sysctl kern.ipc.maxsockbuf net.inet.tcp.sendbuf_max
> kern.ipc.maxsockbuf: 262144
> net.inet.tcp.sendbuf_max: 262144
> root@files:~ # netstat -m
> 1027/1558/2585 mbufs in use (current/cache/total)
> 1025/1045/2070/25600 mbuf clusters in use (current/cache/total/max)
> 1106/2171/531 requests for mbufs denied (mbufs/clusters/mbuf+clusters)
> 361/1345/0 requests for jumbo clusters denied
> (4k/9k/16k)
"""


def test_a_stock_host_is_told_of_its_stock_maxima_and_of_nothing_else() -> None:
    for facts in (host(), recorded_host()):
        assert [(f.kind, f.severity) for f in facts.findings] == [("buffer_max_above_cap", "info")] * 2
        assert "1864135 bytes" in facts.findings[0].message


def test_field_case_5_names_the_denied_clusters_and_the_send_buffers() -> None:
    pasted = split_pasted(FIELD_CASE_5, PARSERS)
    assert pasted.os == "freebsd"
    facts = PLATFORM.assemble("files", pasted.sections)
    denied = message(facts, "mbufs_denied")
    assert "1106 mbufs, 2171 clusters, 531 mbuf+clusters" in denied
    assert "net.inet.tcp.sendbuf_max is 262144" in denied
    jumbo = next(f for f in facts.findings if f.kind == "jumbo_clusters_denied")
    assert "361 page-size, 1345 9k" in jumbo.message
    assert jumbo.keys == ("kern.ipc.nmbjumbop", "kern.ipc.nmbjumbo9", "net.inet.tcp.sendbuf_max")
    assert "buffer_max_above_cap" in kinds(facts)  # 262144 is above 8/9 of 262144


@pytest.mark.parametrize(
    ("maxsockbuf", "sendspace", "recvspace", "fails"),
    [
        (2097152, 32768, 65536, False),
        (65536, 32768, 65536, True),  # lockout.txt
        (16384, 32768, 65536, True),  # extra 003: nc rc=1
        (2097152, 4194304, 65536, True),  # extra 004
        (2097152, 32768, 4194304, True),  # extra 005
        (2097152, 1800000, 65536, False),  # extra 006
        (2097152, 1950000, 65536, True),  # extra 006
        (2097152, 0, 65536, False),  # extra 007
        (2097152, 1864135, 65536, False),
        (2097152, 1864136, 65536, True),
        (2097152, -1, 65536, True),
        (0, 32768, 65536, True),
        (18446744073709551615, 32768, 65536, False),
    ],
)
def test_lock_out(maxsockbuf: int, sendspace: int, recvspace: int, fails: bool) -> None:
    values = {
        "kern.ipc.maxsockbuf": maxsockbuf,
        "net.inet.tcp.sendspace": sendspace,
        "net.inet.tcp.recvspace": recvspace,
    }
    assert (lockout_risk(values) is not None) is fails
    facts = host({key: str(value) for key, value in values.items()})
    assert ("sockets_fail" in kinds(facts)) is fails
    after = {key: str(value) for key, value in values.items()}
    assert bool(PLATFORM.plan_hazards(host(), after)) is fails


def test_lock_out_says_what_would_be_enough() -> None:
    risk = lockout_risk({"kern.ipc.maxsockbuf": 65536, "net.inet.tcp.recvspace": 65536})
    assert risk is not None
    assert "73728" in risk  # 65536 x 9/8
    assert "58254 bytes" in risk  # 65536 x 8/9
    assert facts_severity({"kern.ipc.maxsockbuf": "65536"}) == "error"


def facts_severity(values: dict[str, str]) -> str:
    return host(values).findings[0].severity


def test_nothing_is_known_without_the_cap() -> None:
    assert lockout_risk({"net.inet.tcp.recvspace": 1 << 40}) is None
    assert lockout_risk({"kern.ipc.maxsockbuf": 1}) is None


def test_a_boot_file_that_will_lock_everyone_out() -> None:
    facts = host(sysctl_conf="kern.ipc.maxsockbuf=65536\n")
    finding = next(f for f in facts.findings if f.kind == "sockets_fail_at_boot")
    assert finding.severity == "error"
    assert finding.message.startswith("after the next boot")
    assert "sockets_fail" not in kinds(facts)


def test_a_pasted_sysctl_conf_alone_is_judged_as_it_will_be() -> None:
    text = sample("sysctl.conf__freebsd__01.txt").text  # *_max = maxsockbuf = 16777216
    facts = PLATFORM.assemble("x", split_pasted(text, PARSERS).sections)
    assert kinds(facts).count("buffer_max_above_cap_at_boot") == 2
    assert "18874368" in message(facts, "buffer_max_above_cap_at_boot")


def test_maxima_above_the_cap() -> None:
    facts = host({"net.inet.tcp.recvbuf_max": "4194304"})
    assert (facts.findings[0].kind, facts.findings[0].severity) == ("buffer_max_above_cap", "warning")
    assert "4718592" in facts.findings[0].message  # 4 MiB x 9/8
    assert "buffer_negative" in kinds(host({"net.inet.tcp.sendbuf_max": "-1"}))


@pytest.mark.parametrize(("current", "near"), [(79, False), (80, True), (100, True)])
def test_pools_near_their_limit(current: int, near: bool) -> None:
    row = f"{current}/0/{current}/100 mbuf clusters in use (current/cache/total/max)\n"
    assert ("mbufs_near_limit" in kinds(host(netstat=row))) is near


def test_a_limit_of_zero_is_no_limit() -> None:
    row = "500/0/500/0 mbuf clusters in use (current/cache/total/max)\n"
    assert kinds(host(netstat=row)) == kinds(host())


def test_loader_settings_without_effect_and_loader_tunables_in_sysctl_conf() -> None:
    facts = host(
        sysctl_conf=sample("sysctl.conf__freebsd__09.txt").text,
        loader_conf='kern.ipc.maxsockbuf="8388608"\nnet.inet.tcp.sendspace=131072\nkern.ipc.nmbclusters=65536\n',
    )
    found = {f.keys[0] for f in facts.findings if f.kind == "loader_no_effect"}
    assert found == {"kern.ipc.maxsockbuf", "net.inet.tcp.sendspace"}
    assert {f.keys[0] for f in facts.findings if f.kind == "loader_only"} == {
        "net.inet.tcp.hostcache.hashsize",
        "net.inet.tcp.hostcache.cachelimit",
        "net.inet.tcp.hostcache.bucketlimit",
    }


def test_doubles_within_and_across_files() -> None:
    facts = host(
        sysctl_conf="==> /etc/sysctl.conf <==\nnet.inet.tcp.mssdflt=8960\nnet.inet.tcp.mssdflt=9176\n\n"
        "==> /etc/sysctl.conf.local <==\n# mine\nnet.inet.tcp.mssdflt=1460\n"
    )
    text = message(facts, "duplicate_assignment")
    assert "/etc/sysctl.conf:1 (8960), /etc/sysctl.conf:2 (9176), /etc/sysctl.conf.local:2 (1460)" in text
    (winner,) = facts.boot
    assert (winner.raw, winner.path, winner.line, winner.loader) == (
        "1460",
        "/etc/sysctl.conf.local",
        2,
        "rc.d/sysctl",
    )


def test_boot_values_that_differ_from_the_running_ones() -> None:
    facts = host(sysctl_conf="net.inet.tcp.sendspace=0x8000\nnet.inet.tcp.recvspace=131072\n")
    differing = [f.keys[0] for f in facts.findings if f.kind == "boot_differs"]
    assert differing == ["net.inet.tcp.recvspace"]  # 0x8000 is 32768


CC = "net.inet.tcp.cc.algorithm=htcp\n"


def test_an_algorithm_that_nothing_loads() -> None:
    facts = host(sysctl_conf=CC)
    assert 'cc_htcp_load="YES"' in message(facts, "cc_module_not_loaded")
    assert "boot_differs" not in kinds(facts)  # its line fails at boot


@pytest.mark.parametrize(
    ("loader_conf", "rc_conf"),
    [('cc_htcp_load="YES"\n', None), (None, 'kld_list="if_bridge /boot/kernel/cc_htcp.ko"\n')],
)
def test_an_algorithm_that_is_loaded_at_boot(loader_conf: str | None, rc_conf: str | None) -> None:
    facts = host(sysctl_conf=CC, loader_conf=loader_conf, rc_conf=rc_conf)
    assert kinds(facts) == ["boot_differs", *kinds(host())]


@pytest.mark.parametrize(
    ("osreldate", "algorithm", "missing"),
    [("1200086", "cubic", True), ("1200086", "newreno", False), ("1402000", "cubic", False)],
)
def test_which_algorithm_the_kernel_itself_holds(osreldate: str, algorithm: str, missing: bool) -> None:
    facts = host({"kern.osreldate": osreldate}, sysctl_conf=f"net.inet.tcp.cc.algorithm={algorithm}\n")
    assert ("cc_module_not_loaded" in kinds(facts)) is missing


def test_a_module_that_is_loaded_now_only() -> None:
    facts = host({"net.inet.tcp.cc.available": "cubic, htcp"}, sysctl_conf=CC)
    assert "loaded now" in message(facts, "cc_module_not_loaded")


def test_rc_conf_switches_scaling_off() -> None:
    assert "tcp_extensions_off" in kinds(host(rc_conf='tcp_extensions="NO"\n'))


def test_what_a_jail_may_not_write() -> None:
    jail = next(f for f in host({"security.jail.jailed": "1"}).findings if f.kind == "jail_read_only")
    assert "net.inet.tcp.sendspace" in jail.keys
    vnet = host({"security.jail.jailed": "1", "security.jail.vnet": "1"})
    found = next(f for f in vnet.findings if f.kind == "jail_read_only")
    assert "kern.ipc.maxsockbuf" in found.keys
    assert "net.inet.tcp.sendspace" not in found.keys


def test_the_second_boot_of_the_sessions() -> None:
    """Loader variables without effect, bad lines in sysctl.conf: what the session shows, is said."""
    facts = host(
        {"net.inet.tcp.sendbuf_max": "4194304", "net.inet.tcp.recvbuf_max": "4194304"},
        sysctl_conf=record("boot2", 1).stdout,
        loader_conf=record("boot2", 4).stdout,
    )
    assert set(kinds(facts)) >= {
        "buffer_max_above_cap",
        "cc_module_not_loaded",
        "loader_no_effect",
        "loader_only",
    }


def test_the_most_serious_comes_first() -> None:
    facts = host(
        {"kern.ipc.maxsockbuf": "65536", "security.jail.jailed": "1"}, loader_conf="kern.ipc.maxsockbuf=1\n"
    )
    order = [finding.severity for finding in facts.findings]
    assert order == sorted(order, key=["error", "warning", "info"].index)
    assert order[0] == "error"


def test_findings_come_again_from_the_facts() -> None:
    facts = host({"net.inet.tcp.recvbuf_max": "4194304"}, sysctl_conf=CC)
    assert tuple(PLATFORM.findings(facts)) == tuple(facts.findings)
