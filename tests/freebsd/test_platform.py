"""FreeBSD as a platform: facts from sections, keys by release, commands and files."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from hostcfg.errors import UsageError
from hostcfg.model import Facts, Section, State
from hostcfg.platforms.base import ProbeRequest
from hostcfg.platforms.bsd.hostinfo import osreldate_release, release_of, speed_of_media
from hostcfg.platforms.bsd.sockbuf import maxsockbuf_for, usable
from hostcfg.platforms.framing import split_frames
from hostcfg.platforms.freebsd import PLATFORM
from hostcfg.platforms.freebsd.native import KEYS
from hostcfg.platforms.freebsd.stock import stock_values
from hostcfg.settings import SETTINGS
from tests.freebsd.pieces import host, recorded_host
from tests.freebsd.samples import sample
from tests.freebsd.sessions import record

if TYPE_CHECKING:
    from pathlib import Path


def test_facts_of_the_recorded_host() -> None:
    facts = recorded_host()
    assert (facts.os, facts.os_version, facts.release) == ("freebsd", "FreeBSD 14.2-BETA1", (14, 2))
    assert facts.confined is None
    readings = {name: reading.value for name, reading in facts.readings.items()}
    assert readings["socket_buffer_max"] == 2097152
    assert readings["recv_explicit_max"] == 1864135
    assert readings["recv_buffer_max"] == 2097152
    assert (readings["window_scaling"], readings["timestamps"], readings["sack"]) == (True, True, True)
    assert readings["ecn"] == "accept"
    assert readings["congestion_control"] == "cubic"
    assert readings["congestion_control_available"] == ("cubic",)
    assert readings["mbuf_clusters_max"] == 30932
    assert readings["listen_backlog_max"] == 128
    assert facts.readings["pacing"].state is State.UNSUPPORTED
    assert set(facts.readings) == set(SETTINGS)


def test_interface_of_the_recorded_host() -> None:
    (interface,) = recorded_host().interfaces
    assert interface.name == "vtnet0"
    assert (interface.mtu_bytes, interface.speed_bps) == (1500, 10_000_000_000)
    assert interface.routes == ("peer",)
    assert interface.offloads == {"vlan_mtu": True, "jumbo_mtu": True, "linkstate": True}


def test_what_was_asked_for_and_is_not_there_is_absent_and_no_default() -> None:
    facts = host(errors="sysctl: unknown oid 'net.inet.tcp.hostcache.enable'\n")
    assert facts.native["net.inet.tcp.hostcache.enable"].state is State.ABSENT
    assert facts.readings["metrics_cache"].state is State.ABSENT
    assert facts.readings["metrics_cache"].value is None


def test_what_has_not_its_form_is_unparsed_and_keeps_its_text() -> None:
    facts = host({"net.inet.tcp.sendbuf_max": "twelve"})
    assert facts.readings["send_buffer_max"].state is State.UNPARSED
    assert facts.native["net.inet.tcp.sendbuf_max"].raw == "twelve"


def test_zero_is_a_value() -> None:
    facts = host({"net.inet.tcp.sendspace": "0", "net.inet.tcp.rfc1323": "0"})
    assert facts.readings["send_buffer_default"].value == 0
    assert facts.readings["window_scaling"].value is False


def test_a_set_and_a_refused_set_tell_what_is_in_force() -> None:
    text = record("main", 84).pasted + record("main", 85).pasted + record("main", 86).pasted
    from hostcfg.pasted import split_pasted
    from tests.freebsd.samples import PARSERS

    facts = PLATFORM.assemble("x", split_pasted(text, PARSERS).sections)
    assert facts.readings["socket_buffer_max"].value == 1048576


@pytest.mark.parametrize(
    ("release", "raw", "scaling", "timestamps"),
    [
        ("1301000", "0", False, False),
        ("1301000", "1", True, True),
        ("1301000", "2", True, True),
        ("1402000", "0", False, False),
        ("1402000", "1", True, True),
        ("1402000", "2", True, False),
        ("1402000", "3", False, True),
        ("1402000", "9", True, True),
        ("1402000", "-1", True, True),
    ],
)
def test_rfc1323_by_release(release: str, raw: str, scaling: bool, timestamps: bool) -> None:
    facts = host({"kern.osreldate": release, "net.inet.tcp.rfc1323": raw})
    assert facts.readings["window_scaling"].value is scaling
    assert facts.readings["timestamps"].value is timestamps


def test_writing_one_option_keeps_the_other() -> None:
    keys = PLATFORM.keys(host())
    scaling, timestamps = keys["window_scaling"].encode, keys["timestamps"].encode
    assert scaling is not None
    assert timestamps is not None
    assert scaling("1", False) == "3"
    assert timestamps("3", False) == "0"
    assert scaling("0", True) == "2"
    assert timestamps("2", True) == "1"
    old = PLATFORM.keys(host({"kern.osreldate": "903000"}))["window_scaling"].encode
    assert old is not None
    assert old("1", False) == "0"


@pytest.mark.parametrize("name", sorted(PLATFORM.keys(None)))
def test_every_key_reads_back_what_it_wrote(name: str) -> None:
    key = PLATFORM.keys(None)[name]
    if key.encode is None:
        return
    samples: dict[str, tuple[bool | int | str, ...]] = {"flag": (True, False), "int": (1, 65536, 1864135)}
    values = samples.get(SETTINGS[name].type, ("off", "accept", "on") if name == "ecn" else ("cubic",))
    for value in values:
        raw = key.encode("1", value)
        decoded = key.decode(raw)
        if name.endswith("explicit_max"):
            assert isinstance(decoded, int)
            assert decoded >= int(value)
        else:
            assert decoded == value
    assert key.name in KEYS


def test_the_8_9_rule() -> None:
    assert usable(2097152) == 1864135
    assert maxsockbuf_for(1864135) == 2097152
    assert usable(maxsockbuf_for(12_000_000)) >= 12_000_000
    encode = PLATFORM.keys(None)["recv_explicit_max"].encode
    assert encode is not None
    assert encode("2097152", 8_000_000) == "9000000"


def test_older_names_carry_the_setting_where_the_host_has_only_them() -> None:
    text = "kern.osreldate: 803000\nkern.ipc.somaxconn: 128\nnet.inet.tcp.slowstart_flightsize: 1\n"
    facts = PLATFORM.assemble("old", [Section("sysctl", text)])
    assert facts.readings["listen_backlog_max"].key == "kern.ipc.somaxconn"
    assert facts.readings["initial_window"].value == 1
    both = host({"kern.ipc.somaxconn": "128", "kern.ipc.soacceptqueue": "128"})
    assert both.readings["listen_backlog_max"].key == "kern.ipc.soacceptqueue"


@pytest.mark.parametrize(
    ("number", "release"),
    [
        (1402000, (14, 2)), (1500019, (15, 0)), (903000, (9, 3)), (1004500, (10, 4)), (702000, (7, 2)),
        (502010, (5, 2)), (440000, (4, 4)), (199607, None),
    ],
)  # fmt: skip
def test_release_of_osreldate(number: int, release: tuple[int, int] | None) -> None:
    assert osreldate_release(number) == release


def test_release_of_uname() -> None:
    assert release_of("14.2-RELEASE-p1") == (14, 2)
    assert release_of("CURRENT") is None


@pytest.mark.parametrize(
    ("media", "speed"),
    [
        ("Ethernet autoselect (10Gbase-T <full-duplex>)", 10_000_000_000),
        ("Ethernet autoselect (1000baseT <full-duplex>)", 1_000_000_000),
        ("Ethernet 100baseTX <full-duplex>", 100_000_000),
        ("Ethernet autoselect (2500Base-T <full-duplex,master>)", 2_500_000_000),
        ("Ethernet autoselect (40Gbase-CR4 <full-duplex>)", 40_000_000_000),
        ("Ethernet autoselect (none)", None),
        ("IEEE 802.11 Wireless Ethernet autoselect mode 11ng", None),
    ],
)
def test_speed_of_media(media: str, speed: int | None) -> None:
    assert speed_of_media(media) == speed


def test_jails() -> None:
    assert host({"security.jail.jailed": "1"}).confined == "jail"
    assert host({"security.jail.jailed": "1", "security.jail.vnet": "1"}).confined == "vnet jail"


# commands and files


def test_commands_are_quoted() -> None:
    assert PLATFORM.set_command("kern.ipc.maxsockbuf", "4194304") == "sysctl kern.ipc.maxsockbuf=4194304"
    assert PLATFORM.set_command("kern.bootfile", "a b;reboot") == "sysctl 'kern.bootfile=a b;reboot'"
    for key, raw in (("x;reboot", "1"), ("kern.ipc.maxsockbuf", "1\n2"), ("$(id)", "1"), ("a", "\x00")):
        with pytest.raises(UsageError):
            PLATFORM.set_command(key, raw)


def test_an_algorithm_that_is_a_module_is_loaded_first() -> None:
    command = PLATFORM.set_command("net.inet.tcp.cc.algorithm", "htcp")
    assert command == (
        "sysctl -n net.inet.tcp.cc.available | grep -qw htcp || kldload cc_htcp; "
        "sysctl net.inet.tcp.cc.algorithm=htcp"
    )
    odd = PLATFORM.set_command("net.inet.tcp.cc.algorithm", "x;reboot")
    assert odd == "sysctl 'net.inet.tcp.cc.algorithm=x;reboot'"


def test_where_keys_persist_and_in_which_order_they_are_written() -> None:
    assert PLATFORM.persist_target("net.inet.tcp.sendbuf_max") == "/etc/sysctl.conf"
    assert PLATFORM.persist_target("net.inet.tcp.tcbhashsize") == "/boot/loader.conf"
    assert PLATFORM.persist_target("cc_htcp_load") == "/boot/loader.conf"
    assert PLATFORM.persist_target("net.inet.tcp.cc.available") is None
    order = sorted(
        ["net.inet.tcp.sendspace", "net.inet.tcp.recvbuf_max", "kern.ipc.maxsockbuf"],
        key=PLATFORM.write_order,
    )
    assert order[0] == "kern.ipc.maxsockbuf"


VALUES = {
    "net.inet.tcp.recvspace": "131072",
    "net.inet.tcp.recvbuf_max": "12582912",
    "kern.ipc.maxsockbuf": "14155776",
    "net.inet.tcp.cc.algorithm": "htcp",
}


def test_a_rendered_config_reads_back() -> None:
    text = PLATFORM.render(VALUES, "config", ["wan, 1 Gbit/s, 80 ms\nmade by hostcfg"])
    assert text.splitlines()[:3] == ["# wan, 1 Gbit/s, 80 ms", "# made by hostcfg", "# /etc/sysctl.conf"]
    assert '# cc_htcp_load="YES"' in text
    facts = PLATFORM.assemble("x", [Section("sysctl-conf", text)])
    assert {value.key: value.raw for value in facts.boot} == VALUES


def test_a_rendered_script_runs_under_sh_and_raises_the_cap_first(tmp_path: Path) -> None:
    script = PLATFORM.render(VALUES, "script", ["for `a` $(far) 'end'\nrm -rf /"])
    fake = tmp_path / "sysctl"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$*" >> "$LOG"\n')
    fake.chmod(0o755)
    (tmp_path / "kldload").symlink_to(fake)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(tmp_path / "log")}
    subprocess.run(["/bin/sh", "-e"], input=script.encode(), env=env, check=True)
    called = (tmp_path / "log").read_text().splitlines()
    assert called[0] == "kern.ipc.maxsockbuf=14155776"
    assert called[-3:] == ["-n net.inet.tcp.cc.available", "cc_htcp", "net.inet.tcp.cc.algorithm=htcp"]


# the probe


def run_probe(tmp_path: Path, programs: dict[str, str], peer: str | None = None) -> Facts:
    """The probe under the real sh, with programs that answer as the recorded host did."""
    for name, body in programs.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    command = PLATFORM.probe(ProbeRequest("0123456789abcdef", peer))
    done = subprocess.run(
        ["/bin/sh", "-s"],
        input=command.stdin,
        capture_output=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        timeout=30,
    )
    sections = split_frames("0123456789abcdef", done.stdout.decode(), done.stderr.decode(), host="x")
    assert [s.kind for s in sections][:3] == ["sysctl", "netstat-m", "uname"]
    return PLATFORM.assemble("x", sections)


def answering(text: str, status: int = 0) -> str:
    return f"cat <<'END'\n{text}END\nexit {status}"


PROGRAMS = {
    "sysctl": answering(record("main", 44).stdout) + "\n",
    "uname": answering(record("main", 1).stdout),
    "route": f'printf "%s\\n" "$*" >> "$0.log"\n{answering(record("main", 198).stdout)}',
    "ifconfig": answering(record("main", 195).stdout),
    "kldstat": answering(record("rack", 1).stdout),
}


def test_the_probe_asks_netstat_for_json_and_takes_text_from_older_ones(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    facts = run_probe(tmp_path / "new", PROGRAMS | {"netstat": answering(record("main", 175).stdout)})
    old_text = sample("netstat-m__freebsd-8__01.txt").text
    refusing = 'case "$*" in\n*libxo*) echo "netstat: illegal option -- -" >&2; exit 1;;\nesac\n'
    old = refusing + answering(old_text)
    (tmp_path / "old").mkdir()
    before = run_probe(tmp_path / "old", PROGRAMS | {"netstat": old})
    assert facts.details["netstat_m"] != before.details["netstat_m"]
    groups = before.details["netstat_m"]
    assert isinstance(groups, dict)
    assert groups["jumbo_9k"] == {"current": 8191, "cache": 2216, "total": 10407, "max": 16777216}


def test_the_probe_asks_for_the_route_to_the_peer_and_never_lets_its_name_run(tmp_path: Path) -> None:
    run_probe(tmp_path, PROGRAMS | {"netstat": "exit 1"}, peer="10.0.2.2; touch /tmp/hostcfg-was-here")
    asked = (tmp_path / "route.log").read_text().splitlines()
    assert asked == ["-n get default", "-n get 10.0.2.2; touch /tmp/hostcfg-was-here"]


def test_a_host_without_mbuf_statistics_says_so(tmp_path: Path) -> None:
    failing = 'echo "netstat: memstat_sysctl_all: Version mismatch" >&2; exit 1'
    facts = run_probe(tmp_path, PROGRAMS | {"netstat": failing})
    assert "netstat_m" not in facts.details
    assert "Version mismatch" in next(f.message for f in facts.findings if f.kind == "mbufs_unread")


def test_the_probe_never_reads_values_without_names_and_never_writes() -> None:
    body = PLATFORM.probe_script(ProbeRequest("0" * 16, None))
    (line,) = [line for line in body.splitlines() if line.startswith("hc_rest=")]
    names = line.removeprefix("hc_rest='").removesuffix("'").strip()
    assert "=" not in names
    assert len(set(names.split())) == len(names.split())
    assert "sysctl -" not in body
    writes = re.sub(r"[0-9]?>&[0-9-]|2>/dev/null|==> %s <==", "", body)
    assert ">" not in writes


# stock values


def test_stock_values_by_release() -> None:
    assert stock_values((8, 1))["recv_buffer_max"] == 262144
    assert stock_values((8, 1))["ecn"] == "off"
    assert "congestion_control" not in stock_values((8, 1))
    assert "socket_buffer_max" not in stock_values((9, 0))
    assert stock_values((9, 3))["socket_buffer_max"] == 2097152
    assert "ecn" not in stock_values((10, 1))
    assert stock_values((10, 4))["ecn"] == "accept"
    assert stock_values((13, 2))["congestion_control"] == "newreno"
    assert stock_values((14, 2))["congestion_control"] == "cubic"
    unknown = stock_values(None)  # what 8 to 15 have alike: 256 KiB or 2 MiB of buffer is not
    assert unknown["recv_buffer_default"] == 65536
    assert not unknown.keys() & {"recv_buffer_max", "send_buffer_max", "socket_buffer_max", "ecn"}
    assert PLATFORM.profile_context(None).stock == stock_values((14, 2))


def test_stock_values_are_those_of_the_recorded_host() -> None:
    facts = recorded_host()
    stock = PLATFORM.profile_context(facts).stock
    read = {name: facts.readings[name].value for name in stock}
    assert read == dict(stock)


def test_profile_inputs() -> None:
    context = PLATFORM.profile_context(host())
    assert context.inputs["memory_bytes"] == 2068140032
    assert context.inputs["overhead"] == 1.0
    assert PLATFORM.profile_context(None).stock_source
