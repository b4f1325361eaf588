"""The probe on this machine's kernel: each shell, missing tools, other users, other locales, namespaces."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from hostcfg.errors import HostError, UsageError
from hostcfg.model import State
from hostcfg.platforms.base import ProbeRequest
from hostcfg.platforms.linux import PLATFORM
from hostcfg.platforms.linux.probe import probe_body
from tests.linux.probing import SHELLS, facts_of, script, sections_inside, sections_of, text_of

VETH = """
ip link add v0 type veth peer name v1
ip addr add 192.0.2.1/24 dev v0
ip link set v0 up
ip link set v1 up
ip route add default via 192.0.2.254 dev v0
"""

# A place in the mount namespace where a tool is no more.
HIDE = """
for tool in {tools}; do
  for dir in /usr/sbin /sbin /usr/bin /bin; do [ -e $dir/$tool ] && mount --bind /dev/null $dir/$tool; done
done
"""


def proc(name: str) -> str:
    return Path("/proc/sys/net", name).read_text().rstrip("\n")


@pytest.mark.parametrize("shell", SHELLS)
def test_reads_what_the_kernel_says(shell: str) -> None:
    if shutil.which(SHELLS[shell][0]) is None:
        pytest.skip(f"{SHELLS[shell][0]} is not installed")
    facts = facts_of(sections_of(SHELLS[shell]))
    assert facts.native["net.ipv4.tcp_rmem"].raw == proc("ipv4/tcp_rmem")
    assert facts.native["net.core.somaxconn"].raw == proc("core/somaxconn")
    release = os.uname().release
    assert facts.release == tuple(int(part) for part in release.split(".")[:2])
    assert release in facts.os_version
    memory = next(line for line in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in line)
    assert facts.memory_bytes == int(memory.split()[1]) * 1024


def test_all_shells_say_the_same() -> None:
    seen = {}
    for name, shell in SHELLS.items():
        if shutil.which(shell[0]):
            seen[name] = [(s.kind, s.text, s.status) for s in sections_of(shell)]
    first = next(iter(seen.values()))
    assert all(said == first for said in seen.values())


def test_no_secret_is_read() -> None:
    text = text_of(sections_of(), "proc-sys")
    assert "tcp_fastopen:" in text
    assert "tcp_fastopen_key" not in text
    assert "netdev_rss_key" not in text
    assert "netdev_max_backlog" in text or "netdev" not in str(list(Path("/proc/sys/net/core").iterdir()))


def test_shellcheck_has_nothing_to_say(tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    path = tmp_path / "probe.sh"
    path.write_text(script(ProbeRequest("0" * 16, "192.0.2.9")))
    done = subprocess.run(["shellcheck", "-s", "sh", str(path)], capture_output=True, text=True)
    assert done.stdout == ""
    assert done.returncode == 0


def test_a_foreign_locale_changes_nothing() -> None:
    locales = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    foreign = next((name for name in locales if name not in ("C", "POSIX")), "C.utf8")
    env = {"LANG": "de_DE.UTF-8", "LC_ALL": foreign, "LANGUAGE": "de"}
    ours, theirs = sections_of(), sections_of(env=env)
    assert [(s.kind, s.text) for s in theirs] == [(s.kind, s.text) for s in ours]


def test_shell_startup_noise_stays_outside(tmp_path: Path) -> None:
    """A probe whose environment names a start file, a strange IFS and options."""
    noise = tmp_path / "noise"
    noise.write_text("echo 'net.ipv4.tcp_rmem = 1 2 3'\nset -o noclobber\n")
    env = {"ENV": str(noise), "BASH_ENV": str(noise), "IFS": ":/", "POSIXLY_CORRECT": "1"}
    facts = facts_of(sections_of(["bash"], env=env))
    assert facts.native["net.ipv4.tcp_rmem"].raw == proc("ipv4/tcp_rmem")


@pytest.mark.parametrize(
    "peer", ["$(reboot)", "a;b", "-x", "a b", "", "h\nx", "a'b", "`id`", "../x", "ü", "x" * 300]
)
def test_a_hostile_peer_is_refused(peer: str) -> None:
    with pytest.raises(UsageError, match="neither an IP address nor a host name"):
        probe_body(ProbeRequest("0" * 16, peer))


@pytest.mark.parametrize(
    "peer", ["192.0.2.9", "2001:db8::9", "fe80::1%eth0", "far-end.example.net", "host_1"]
)
def test_a_fair_peer_is_taken(peer: str) -> None:
    assert "hc_peer=" in probe_body(ProbeRequest("0" * 16, peer))


@pytest.mark.root
class TestInNamespace:
    """A network namespace of the test's own, where it may set and break what it likes."""

    @pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
    def test_values_that_the_test_sets_are_read_back(self, shell: str) -> None:
        prepare = VETH + (
            "echo '5000 60000 700000' >/proc/sys/net/ipv4/tcp_rmem\n"
            "echo 0 >/proc/sys/net/ipv4/tcp_window_scaling\n"
            "echo 2 >/proc/sys/net/ipv4/tcp_mtu_probing\n"
            "ip link set v0 mtu 1400 txqueuelen 123\n"
            "tc qdisc replace dev v0 root pfifo limit 77\n"
        )
        facts = facts_of(sections_inside(prepare, shell=shell))
        assert facts.native["net.ipv4.tcp_rmem"].raw == "5000\t60000\t700000"
        values = {name: reading.value for name, reading in facts.readings.items()}
        assert values["recv_buffer_max"] == 700_000
        assert values["recv_buffer_default"] == 60_000
        assert values["window_scaling"] is False
        assert values["mtu_probing"] is True
        [interface] = facts.interfaces
        assert (interface.name, interface.mtu_bytes, interface.qdisc) == ("v0", 1400, "pfifo")
        assert interface.txqueuelen_packets == 123
        assert interface.routes == ("default",)
        assert interface.driver is None  # a veth has no device behind it
        assert facts.native["qdisc/v0"].raw == "pfifo"
        assert facts.native["txqueuelen/v0"].raw == "123"
        assert interface.offloads["tcp-segmentation-offload"] is True
        assert facts.findings[0].kind == "window_scaling_off"

    def test_says_that_it_is_a_namespace(self) -> None:
        facts = facts_of(sections_inside(""))
        assert facts.confined == "network namespace"
        assert facts.readings["queue_discipline"].state is State.ABSENT
        assert facts.readings["tcp_memory_max"].state is State.ABSENT
        hidden = next(f for f in facts.findings if f.kind == "namespace")
        assert "net.core.default_qdisc" in hidden.keys
        assert facts.interfaces == ()

    def test_without_tools(self) -> None:
        """No sysctl, tc, ip or ethtool: what /proc and /sys tell is there, the rest is absent."""
        prepare = VETH + "ip link set v0 txqueuelen 321\n" + HIDE.format(tools="sysctl tc ip ethtool awk")
        sections = sections_inside(prepare)
        assert {"tc-qdisc", "ip-link", "ethtool-k"}.isdisjoint(s.kind for s in sections)
        facts = facts_of(sections)
        assert facts.native["net.ipv4.tcp_rmem"].raw == proc("ipv4/tcp_rmem")
        [interface] = facts.interfaces
        assert (interface.name, interface.routes) == ("v0", ("default",))
        assert interface.txqueuelen_packets == 321
        assert interface.qdisc is None
        assert interface.offloads == {}
        assert "qdisc/v0" not in facts.native

    @pytest.mark.parametrize("shell", ["dash", "busybox sh"])
    def test_without_grep(self, shell: str) -> None:
        """A shell's own `read` would give the first byte of a sysctl; cat must be used."""
        facts = facts_of(sections_inside(VETH + HIDE.format(tools="grep egrep"), shell=shell))
        assert facts.native["net.ipv4.tcp_wmem"].raw == proc("ipv4/tcp_wmem")
        assert facts.memory_bytes is not None
        assert [i.name for i in facts.interfaces] == ["v0"]

    def test_without_anything_that_reads(self) -> None:
        """Never "absent" for what could not be looked at."""
        hide = HIDE.format(tools="grep egrep cat sed awk mawk gawk head tail")
        with pytest.raises(HostError, match="no grep, cat or sed"):
            facts_of(sections_inside(hide, shell="dash"))

    def test_sysfs_of_another_namespace_is_not_believed(self) -> None:
        """`unshare --net` alone leaves the first namespace's /sys: eth0 there is not eth0 here."""
        devices = [path.name for path in Path("/sys/class/net").iterdir() if (path / "device").exists()]
        name = next(iter(devices), None)
        if name is None:
            pytest.skip("this machine has no network device with a driver")
        prepare = (
            f"umount /sys\nip link add {name} type veth peer name v9\n"
            f"ip link set {name} mtu 1234 up\nip addr add 192.0.2.1/24 dev {name}\n"
            f"ip route add default via 192.0.2.254\n"
        )
        [interface] = facts_of(sections_inside(prepare)).interfaces
        assert (interface.name, interface.mtu_bytes) == (name, 1234)
        assert interface.driver is None

    def test_routes_to_the_peer(self) -> None:
        prepare = VETH + (
            "ip link add w0 type veth peer name w1\nip link set w0 up\nip link set w1 up\n"
            "ip addr add 198.51.100.1/24 dev w0\nip -6 addr add 2001:db8::1/64 dev w0 nodad\n"
            "ip route add 203.0.113.0/24 via 198.51.100.9 dev w0 mtu 1300\n"
        )
        facts = facts_of(sections_inside(prepare, peer="203.0.113.7"))
        assert [(i.name, i.routes) for i in facts.interfaces] == [("w0", ("peer",)), ("v0", ("default",))]
        route = next(f for f in facts.findings if f.kind == "route_options")
        assert "mtu 1300" in route.message
        facts = facts_of(sections_inside(prepare, peer="2001:db8::77"))
        assert [(i.name, i.routes) for i in facts.interfaces] == [("w0", ("peer",)), ("v0", ("default",))]

    def test_a_peer_by_name_is_resolved_on_the_host(self, tmp_path: Path) -> None:
        hosts = tmp_path / "hosts"
        hosts.write_text("192.0.2.77 far-end.example\n")
        etc = tmp_path / "etc"  # a copy: a system that is made by debootstrap has no /etc/hosts to cover
        shutil.copytree("/etc", etc, symlinks=True, copy_function=shutil.copy2)
        shutil.copy(hosts, etc / "hosts")
        prepare = VETH + f"mount --bind {etc} /etc\n"
        facts = facts_of(sections_inside(prepare, peer="far-end.example"))
        assert facts.interfaces[0].routes == ("default", "peer")

    def test_a_peer_that_resolves_nowhere_costs_no_more_than_its_limit(self) -> None:
        start = time.monotonic()
        facts = facts_of(sections_inside(VETH, peer="no-such-host.invalid"))
        assert time.monotonic() - start < 8
        assert facts.interfaces[0].routes == ("default",)

    def test_interface_names_are_never_shell_text(self) -> None:
        """dev_valid_name() takes all but blanks, slashes and colons."""
        for name in ("$(id)", "a;b", "'q\"", "*", "-x", "a&b"):
            quoted = "'" + name.replace("'", "'\\''") + "'"
            prepare = (
                f"ip link add name {quoted} type veth peer name v1\nip link set dev {quoted} up\n"
                f"ip addr add 192.0.2.1/24 dev {quoted}\nip route add default via 192.0.2.254 dev {quoted}\n"
            )
            facts = facts_of(sections_inside(prepare))
            assert [i.name for i in facts.interfaces] == [name]
            assert facts.native[f"qdisc/{name}"].raw == "noqueue"
            if name.startswith("-"):  # read, but never handed to ip(8) or tc(8), for which it is an option
                with pytest.raises(UsageError, match="txqueuelen/-x"):
                    PLATFORM.set_command(f"txqueuelen/{name}", "9")
            else:
                assert PLATFORM.set_command(f"txqueuelen/{name}", "9").startswith("ip link set dev ")

    def test_a_bridge_of_containers_is_one_interface(self) -> None:
        prepare = (
            "ip link add v0 type veth peer name v1\nip link set v0 up\nip link set v1 up\n"
            "ip link add br0 type bridge || exit 3\nip link set v0 master br0\nip link set br0 up\n"
            "ip addr add 192.0.2.1/24 dev br0\nip route add default via 192.0.2.254\n"
        )
        probe = subprocess.run(
            ["unshare", "--net", "sh", "-c", "ip link add br0 type bridge"], capture_output=True
        )
        if probe.returncode != 0:
            pytest.skip("this kernel has no bridge")
        facts = facts_of(sections_inside(prepare))
        # A veth below has no device of its own: it is a container's end and does not carry the route.
        assert [i.name for i in facts.interfaces] == ["br0"]

    def test_a_missing_sysctl_conf(self) -> None:
        prepare = (
            "mount -t tmpfs tmpfs /etc/sysctl.d\nmkdir /tmp/hc-etc.$$\ncp -a /etc /tmp/hc-etc.$$/\n"
            "mount --bind /tmp/hc-etc.$$/etc /etc\nrm -f /etc/sysctl.conf\n"
        )
        sections = sections_inside(f"mount -t tmpfs tmpfs /tmp\n{prepare}")
        assert "/etc/sysctl.conf" not in text_of(sections, "linux-conf")
        assert facts_of(sections).native["net.ipv4.tcp_rmem"].raw == proc("ipv4/tcp_rmem")

    def test_nothing_but_busybox(self, tmp_path: Path) -> None:
        """An OpenWrt-like system: busybox is every tool there is, ash the shell, and its files count."""
        if shutil.which("busybox") is None:
            pytest.skip("busybox is not installed")
        bin_dir = tmp_path / "bin"
        bin_dir.mkdir()
        shutil.copy("/usr/bin/busybox", bin_dir / "busybox")
        subprocess.run([bin_dir / "busybox", "--install", "-s", bin_dir], check=True)
        for link in bin_dir.iterdir():
            if link.is_symlink():
                link.unlink()
                link.symlink_to("/usr/bin/busybox")
        prepare = VETH + (
            "mount -t tmpfs tmpfs /etc\nmkdir /etc/sysctl.d\necho DISTRIB_ID=OpenWrt >/etc/openwrt_release\n"
            "echo net.ipv4.tcp_retries2=7 >/etc/sysctl.d/50-a.conf\n"
            "echo net.ipv4.tcp_retries2=9 >/etc/sysctl.conf\n"
            f"mount --bind {bin_dir} /usr/sbin\nmount --bind {bin_dir} /usr/bin\n"
        )
        facts = facts_of(sections_inside(prepare, shell="/usr/bin/ash"))
        assert facts.native["net.ipv4.tcp_rmem"].raw == proc("ipv4/tcp_rmem")
        assert facts.details["boot_loader"] == "busybox"
        [boot] = facts.boot
        assert (boot.key, boot.raw, boot.path, boot.line) == (
            "net.ipv4.tcp_retries2",
            "9",
            "/etc/sysctl.conf",
            1,
        )
        [interface] = facts.interfaces
        assert (interface.name, interface.qdisc) == ("v0", "noqueue")  # ip says it, tc is not there

    def test_unprivileged(self) -> None:
        """As nobody: values are there, what only root may read is denied and not absent."""
        nobody = pwd.getpwnam("nobody")
        shell = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", "sh"]
        facts = facts_of(sections_of(shell))
        assert facts.native["net.ipv4.tcp_rmem"].raw == proc("ipv4/tcp_rmem")
        assert facts.native["net.core.bpf_jit_harden"].state is State.DENIED
        assert facts.native["net.core.bpf_jit_harden"].raw is None
        assert facts.details["root"] is False
        assert facts.details["net_admin"] is False

    def test_read_only_proc_sys(self) -> None:
        prepare = "mount --bind /proc/sys /proc/sys\nmount -o remount,ro,bind /proc/sys\n"
        facts = facts_of(sections_inside(prepare))
        assert facts.confined is not None
        assert facts.confined.endswith("network namespace, read-only /proc/sys")
        assert any(f.kind == "read_only_sys" and f.severity == "warning" for f in facts.findings)
        assert facts.native["net.ipv4.tcp_rmem"].fixed == "/proc/sys is mounted read-only here"

    @pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
    def test_keys_that_nobody_can_write(self, shell: str) -> None:
        """rmem_max is there in a child namespace from 6.11 on, and belongs to the whole kernel."""
        native = facts_of(sections_inside("", shell=shell)).native
        assert native["net.ipv4.tcp_rmem"].fixed is None
        assert native["net.ipv4.tcp_available_congestion_control"].fixed is not None
        if "net.core.rmem_max" in native:
            assert native["net.core.rmem_max"].fixed is not None
