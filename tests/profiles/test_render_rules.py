"""What is rendered never moves a host's value against its rule, whatever that host has."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from hostcfg.model import Link
from hostcfg.pasted import parse_pasted
from hostcfg.platforms import all_parsers, all_platforms, get_platform
from hostcfg.platforms.base import Bound, Stays
from hostcfg.platforms.posix.stays import only_where, unless_it_stays
from hostcfg.profiles import find_profile, load_profile
from hostcfg.render import render_profile

if TYPE_CHECKING:
    from pathlib import Path

    from hostcfg.platforms.base import RenderStyle

SLOW = Link(100e6, 0.012)  # BDP 150,000 bytes: far below what any current system has
LAN = Link(1e9, 0.00025)  # BDP 31,250 bytes, cap 65,536


def rendered(name: str, os: str, link: Link, style: RenderStyle = "script", **inputs: str) -> list[str]:
    text = render_profile(find_profile(name), get_platform(os), link, inputs, style)
    return [line for line in text.splitlines() if not line.startswith("#") or "=" in line]


def test_a_system_without_known_stock_values_is_looked_at_first() -> None:
    """macOS has 4 to 8 MiB there: 300,000 (2 x BDP) and 65,536 are bounds, not values."""
    wan = rendered("wan", "macos", SLOW)
    assert (
        "sysctl -n net.inet.tcp.autorcvbufmax | awk '{ ok = $1 >= 300000 } END { exit !ok }' "
        "|| sysctl -w net.inet.tcp.autorcvbufmax=300000"
    ) in wan
    assert not any(line.startswith("sysctl -w kern.ipc.maxsockbuf") for line in wan)
    config = "\n".join(rendered("wan", "macos", SLOW, "config"))
    assert "#   kern.ipc.maxsockbuf=337500" in config  # 9/8 of 300,000
    assert "\nkern.ipc.maxsockbuf" not in config
    lan = rendered("lan", "macos", Link(1e9, 0.08), "script")
    assert not any(line.startswith("sysctl -w") for line in lan)  # a cap of 20 MB must not raise sendspace
    text = render_profile(find_profile("lan"), get_platform("macos"), LAN, {}, "config")
    assert "# only where it is above 65,536:\n#   net.inet.tcp.sendspace=65536\n" in text


def test_a_native_key_with_a_rule_is_looked_at_on_every_system(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        """\
name: own
summary: s
when: w
os:
  linux: {settings: {net.ipv4.tcp_max_orphans: {rule: at_least, value: 4096, reason: r, source: s}}}
  freebsd: {settings: {kern.ipc.nmbufs: {rule: at_least, value: 4096, reason: r, source: s}}}
  windows: {settings: {global.maxsynretransmissions: {rule: at_most, value: 4, reason: r, source: s}}}
"""
    )
    profile = load_profile(str(path))
    script = {
        os: render_profile(profile, get_platform(os), None, {}, "script") for os in ("linux", "freebsd")
    }
    assert (
        "{ ok = $1 >= 4096 } END { exit !ok }' || sysctl -w net.ipv4.tcp_max_orphans=4096" in script["linux"]
    )
    assert "{ ok = $1 >= 4096 } END { exit !ok }' || sysctl kern.ipc.nmbufs=4096" in script["freebsd"]
    config = render_profile(profile, get_platform("linux"), None, {}, "config")
    assert "# only where it is below 4,096:\n#   net.ipv4.tcp_max_orphans = 4096\n" in config
    windows = render_profile(profile, get_platform("windows"), None, {}, "script").splitlines()
    assert not any(line.startswith("netsh interface tcp set") for line in windows)
    assert "rem netsh interface tcp set global maxsynretransmissions=4" in map(
        " ".join, map(str.split, windows)
    )


def test_what_cannot_be_tested_safely_is_not_put_into_a_test() -> None:
    """A profile's word is text of its own: none of it reaches the shell or awk but plain names."""
    hostile = Stays((Bound("one_of", ("cubic", 'x/ || system("id") #')),), stock_holds=True)
    assert unless_it_stays("sysctl -n k", "sysctl -w k=cubic", hostile) == "sysctl -w k=cubic"
    dotted = Stays((Bound("one_of", ("a.b",)),), stock_holds=True)
    assert "/^(a\\.b)$/" in unless_it_stays("r", "c", dotted)
    both = Stays((Bound("at_most", 5, 2), Bound("at_most", 7, 1)), stock_holds=True)
    assert unless_it_stays("r", "a; b", both) == (
        "r | awk '{ ok = $3 <= 5 && $2 <= 7 } END { exit !ok }' || { a; b; }"
    )
    assert only_where(both) == "only where it is above 5 or above 7"


@pytest.mark.parametrize("name", ["wan", "lan", "rfc1323-off", "default"])
def test_shells_and_shellcheck_take_every_script(name: str, tmp_path: Path) -> None:
    for platform in all_platforms():
        if platform.uname is None:
            continue
        path = tmp_path / f"{platform.name}.sh"
        path.write_text(render_profile(find_profile(name), platform, Link(1e9, 0.08), {}, "script"))
        assert subprocess.run(["sh", "-n", str(path)]).returncode == 0
        if shutil.which("shellcheck") is not None:
            done = subprocess.run(["shellcheck", str(path)], capture_output=True, text=True)
            assert (done.stdout, done.returncode) == ("", 0)


NAMESPACE = ["unshare", "--net", "--mount", "sh", "-c"]


@pytest.mark.root
@pytest.mark.parametrize(
    ("now", "after"),
    [
        ("4096 131072 67108864", "4096\t131072\t67108864"),  # raised on purpose: stays
        ("4096 131072 6291456", "4096\t131072\t25000000"),
        ("8192 524288 6291456", "8192\t524288\t25000000"),  # a first size of the admin's own stays too
    ],
)
def test_the_script_leaves_a_larger_maximum_alone(now: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "wan.sh"
    path.write_text(render_profile(find_profile("wan"), get_platform("linux"), Link(1e9, 0.08), {}, "script"))
    run = (
        f"sysctl -qw 'net.ipv4.tcp_rmem={now}'; cat /proc/sys/net/ipv4/tcp_congestion_control\n"
        f"sh {path} >&2\ncat /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_rmem"
    )
    done = subprocess.run([*NAMESPACE, run], capture_output=True, text=True)
    before, algorithm, memory = done.stdout.splitlines()
    assert memory == after, done.stderr
    assert algorithm == (before if before in {"bbr", "cubic", "htcp"} else "cubic")


SHELLS = ("dash", "bash", "mksh", "yash", "busybox sh")


@pytest.mark.root
@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shutil.which(shell.split()[0])])
@pytest.mark.parametrize("name", ["wan", "lan", "rfc1323-off", "default"])
def test_a_second_run_changes_nothing_whatever_the_shell(name: str, shell: str, tmp_path: Path) -> None:
    path = tmp_path / "script.sh"
    path.write_text(render_profile(find_profile(name), get_platform("linux"), Link(1e9, 0.08), {}, "script"))
    every = "cat /proc/sys/net/ipv4/tcp_*mem /proc/sys/net/ipv4/tcp_[a-l]* /proc/sys/net/ipv4/tcp_[n-z]*"
    run = (
        "sysctl -qw 'net.ipv4.tcp_wmem=8192 262144 67108864' net.ipv4.tcp_mtu_probing=0\n"
        f"{shell} {path} >&2\n{every}\necho ----\n{shell} {path} >&2\n{every}\n"
        "echo ----\ncat /proc/sys/net/ipv4/tcp_wmem"
    )
    done = subprocess.run([*NAMESPACE, run], capture_output=True, text=True)
    once, twice, memory = done.stdout.split("----\n")
    assert once == twice
    assert (
        memory.split()
        == {
            "wan": ["8192", "262144", "67108864"],  # more than is wanted
            "lan": ["8192", "262144", "20000000"],  # 2 x BDP, and no lower than that
            "rfc1323-off": ["8192", "131072", "131072"],
            "default": ["4096", "16384", "4194304"],
        }[name]
    )


def test_a_script_of_linux_reads_back_as_what_the_profile_wants(tmp_path: Path) -> None:
    """Though a triple's other numbers are the host's own there, the stock ones stand beside them."""
    path = tmp_path / "wan.sh"
    path.write_text(render_profile(find_profile("wan"), get_platform("linux"), Link(1e9, 0.08), {}, "script"))
    parsed = parse_pasted(path.read_text(), all_parsers())
    assert parsed is not None
    assert parsed.values["net.ipv4.tcp_rmem"] == [4096, 131072, 25_000_000]
    assert parsed.values["net.core.rmem_max"] == 25_000_000
