"""show, diff and plan on emulated FreeBSD hosts of several releases, over a real sshd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.hosts.freebsd.host import CSH, FreeBsdHost
from tests.sshd import SshServer

if TYPE_CHECKING:
    from tests.freebsd_e2e.client import Client

pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]

LINK = ("--rate", "1gbit", "--rtt", "80ms")
MIB2, USABLE2 = 2097152, 1864135
# What a fresh host of the release has (sys/netinet/tcp_input.c and tcp_output.c, uipc_sockbuf.c).
FRESH: dict[str, dict[str, Any]] = {
    "7.2": {
        "socket_buffer_max": 262144,
        "recv_explicit_max": 233016,  # 262144 * 2048 / 2304
        "recv_buffer_max": 262144,
        "ecn": None,
        "congestion_control": None,
        "initial_window": 1,
        "listen_backlog_max": 128,
    },
    "9.3": {
        "socket_buffer_max": MIB2,
        "recv_buffer_max": MIB2,
        "ecn": "off",
        "congestion_control": "newreno",
        "congestion_control_available": ["newreno"],
        "metrics_cache": None,
        "listen_backlog_max": 128,
    },
    "10.4": {"recv_buffer_max": MIB2, "ecn": "accept", "mtu_probing": False, "metrics_cache": None},
    "12.4": {"send_buffer_max": MIB2, "metrics_cache": True, "congestion_control": "newreno"},
    "13.0": {"congestion_control_available": ["newreno"], "initial_window": 10},
    "14.2": {"congestion_control_available": ["cubic"], "initial_rto": 1000, "recv_explicit_max": USABLE2},
    "15.0": {"congestion_control": "cubic", "window_scaling": True, "timestamps": True},
}


def shown(client: Client, name: str) -> Any:
    ran = client("show", name, "-o", "json")
    assert ran.code == 0, ran.stderr
    (found,) = ran.document["hosts"]
    return found


@pytest.mark.parametrize("release", FRESH)
def test_a_fresh_host_of_each_release(client: Client, release: str) -> None:
    with FreeBsdHost(release=release) as host:
        name = client.know("bsd", host.door)
        found = shown(client, name)
        assert (found["os"], found["os_version"].partition("-")[0]) == ("freebsd", f"FreeBSD {release}")
        settings = found["settings"]
        for setting, value in FRESH[release].items():
            state = "absent" if value is None else "value"
            assert (settings[setting]["value"], settings[setting]["state"]) == (value, state), setting
        assert settings["send_buffer_default"]["value"] == 32768
        assert settings["recv_buffer_default"]["value"] == 65536
        assert settings["window_scaling"]["value"] is True
        assert settings["mbuf_clusters_max"]["value"] == 30932
        assert (host.door.connections, host.door.commands) == (1, 1)

        plan = client("plan", name, "-p", "wan", *LINK, "-o", "json")
        assert plan.code == 1
        steps = plan.document["hosts"][0]["steps"]
        assert steps[0]["key"] == "kern.ipc.maxsockbuf"  # the cap comes first
        assert steps[0]["to"] == "22500000"  # 2 x 10,000,000 x 9/8
        targets = {step["key"]: step["to"] for step in steps}
        assert targets["net.inet.tcp.sendbuf_max"] == targets["net.inet.tcp.recvbuf_max"] == "20000000"
        diff = client("diff", name, "-p", "default", "-o", "json")
        assert diff.document["hosts"][0]["differences"] == [], release
        assert diff.code == 0


def test_a_name_that_is_gone_in_this_release_is_absent_and_the_rest_is_read(client: Client) -> None:
    gone = ("net.inet.tcp.rfc1323", "net.inet.tcp.sendbuf_auto", "kern.ipc.nmbclusters")
    for release in ("14.2", "9.3"):
        with FreeBsdHost(release=release, without=gone) as host:
            settings = shown(client, client.know(f"bsd-{release}", host.door))["settings"]
            for setting in ("window_scaling", "timestamps", "send_autotuning", "mbuf_clusters_max"):
                assert (settings[setting]["state"], settings[setting]["value"]) == ("absent", None)
            assert settings["recv_buffer_max"]["value"] == MIB2


@pytest.mark.parametrize("how", [{"missing": ("netstat",)}, {"about": {"mbuf_zones": "missing"}}])
def test_without_mbuf_statistics_the_rest_is_read_and_the_reason_said(
    client: Client, how: dict[str, Any]
) -> None:
    with FreeBsdHost(**how) as host:
        found = shown(client, client.know("bsd", host.door))
    assert found["settings"]["recv_buffer_max"]["value"] == MIB2
    (finding,) = [f for f in found["findings"] if f["kind"] == "mbufs_unread"]
    assert "not found" in finding["message"]


def test_denied_clusters_and_the_buffer_that_holds_them(client: Client) -> None:
    """Field case 5 on a host that can be asked: large send buffers, jumbo clusters denied."""
    with FreeBsdHost(values={"net.inet.tcp.sendbuf_max": "16777216"}) as host:
        host.count(jumbo9_failures=1254, jumbop_failures=7)
        name = client.know("bsd", host.door)
        ran = client("diff", name, "-p", "lan", "--rate", "1gbit", "--rtt", "1ms", "-o", "json")
    (found,) = ran.document["hosts"]
    assert "net.inet.tcp.sendbuf_max" in {d["key"] for d in found["differences"]}
    (finding,) = [f for f in found["findings"] if f["kind"] == "jumbo_clusters_denied"]
    assert "1254 9k" in finding["message"]
    assert "net.inet.tcp.sendbuf_max" in finding["keys"]


@pytest.mark.skipif(CSH is None, reason="no csh here")
def test_a_csh_that_greets_and_complains(client: Client) -> None:
    greeting = (
        "echo Welcome to FreeBSD!\necho 'net.inet.tcp.rfc1323: 0'\nstty erase\nsetenv LC_ALL de_DE.UTF-8\n"
    )
    with FreeBsdHost(release="12.4", files={"/root/.cshrc": greeting}) as host:
        assert "csh" in host.file("/etc/passwd").read_text()
        name = client.know("bsd", host.door)
        found = shown(client, name)
        assert found["settings"]["window_scaling"]["value"] is True
        assert found["os_version"] == "FreeBSD 12.4-RELEASE"
        ran = client("apply", name, "-p", "lan", "--rate", "100mbit", "--rtt", "1ms", "--yes")
        assert ran.code == 0, ran.stderr
        assert host.get("net.inet.tcp.sendbuf_max") == "65536"


def test_somebody_without_privileges_reads_everything(client: Client) -> None:
    with FreeBsdHost() as host:
        name = client.know("bsd", host.door, user="ops")
        found = shown(client, name)
        assert found["settings"]["recv_buffer_max"]["value"] == MIB2
        start = host.snapshot()
        line = client("apply", name, "-p", "wan", *LINK, "--yes", "-o", "json")
        assert line.code == 2
        (row,) = line.document["hosts"]
        assert (row["status"], row["error"]["kind"]) == ("failed", "no_permission")
        assert host.snapshot() == start


# banners that lie


@pytest.mark.parametrize(
    ("banner", "commands"),
    [
        ("FreeBSD-20240806", 1),
        ("none", 1),  # says nothing of the system
        ("Debian-2+deb12u3", 1),
        ("OpenSSH_for_Windows_9.5", 2),  # asked as Windows first, in vain
    ],
)
def test_a_banner_that_says_nothing_or_lies(client: Client, banner: str, commands: int) -> None:
    with FreeBsdHost(sshd=("DebianBanner no", f"VersionAddendum {banner}")) as host:
        found = shown(client, client.know("bsd", host.door))
        assert (found["os"], found["settings"]["recv_buffer_max"]["value"]) == ("freebsd", MIB2)
        assert (host.door.connections, host.door.commands) == (1, commands)


def test_a_linux_that_claims_to_be_freebsd(client: Client) -> None:
    with SshServer(options=("DebianBanner no", "VersionAddendum FreeBSD-20240806")) as server:
        found = shown(client, client.know("box", server, user=server.user))
        assert found["os"] == "linux"
        assert server.commands == 1
