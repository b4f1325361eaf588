"""Commands and files that set Linux keys."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.errors import UsageError
from hostcfg.platforms.linux import PLATFORM
from hostcfg.platforms.linux.conf import Loader, assignments
from tests.linux.probing import IN_NAMESPACE

if TYPE_CHECKING:
    from pathlib import Path

LOADERS: tuple[Loader, ...] = ("systemd-sysctl", "procps", "busybox")
VALUES = {
    "net.ipv4.tcp_congestion_control": "bbr",
    "net.ipv4.tcp_rmem": "4096\t87380\t12582912",
    "net.core.default_qdisc": "fq",
    "net.core.rmem_max": "12582912",
    "net.ipv4.tcp_sack": "1",
}


@pytest.mark.parametrize(
    ("key", "raw", "command"),
    [
        ("net.ipv4.tcp_rmem", "4096\t87380\t1", "sysctl -w 'net.ipv4.tcp_rmem=4096 87380 1'"),
        ("net.core.rmem_max", "212992", "sysctl -w net.core.rmem_max=212992"),
        ("net.ipv4.conf.eth0/100.rp_filter", "1", "sysctl -w net.ipv4.conf.eth0/100.rp_filter=1"),
        ("qdisc/eth0", "fq", "tc qdisc replace dev eth0 root fq"),
        ("qdisc/$(id)", "fq", "tc qdisc replace dev '$(id)' root fq"),
        ("txqueuelen/eth0", "1000", "ip link set dev eth0 txqueuelen 1000"),
        ("tso/eth0", "on [fixed]", None),
        ("tso/eth0", "off", "ethtool -K eth0 tso off"),
    ],
)
def test_commands(key: str, raw: str, command: str | None) -> None:
    if command is None:
        with pytest.raises(UsageError):
            PLATFORM.set_command(key, raw)
    else:
        assert PLATFORM.set_command(key, raw) == command


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("reboot", "1"),
        ("net.inet.tcp.sack", "1"),
        ("net.core.rmem_max", "1\x1b[0m"),
        ("qdisc/eth0", "fq; reboot"),
        ("qdisc/eth0", "$(id)"),
        ("qdisc/eth0", ""),
        ("qdisc/a b", "fq"),
        ("qdisc/" + "x" * 16, "fq"),
        ("txqueuelen/eth0", "many"),
        ("txqueuelen/eth0/../x", "1"),
    ],
)
def test_what_is_no_key_or_no_value(key: str, raw: str) -> None:
    with pytest.raises(UsageError):
        PLATFORM.set_command(key, raw)


@given(st.text(min_size=1, max_size=60))
def test_no_value_reaches_a_shell_unquoted(raw: str) -> None:
    """Whatever the value: the shell sees one word that is that value, white space aside."""
    try:
        command = PLATFORM.set_command("net.core.default_qdisc", raw)
    except UsageError:
        return
    import shlex

    words = shlex.split(command)
    assert words[:2] == ["sysctl", "-w"]
    assert len(words) == 3
    assert words[2].split() == f"net.core.default_qdisc={' '.join(raw.split())}".split()


def test_order() -> None:
    keys = [
        "net.ipv4.tcp_mem",
        "net.core.rmem_max",
        "net.core.rmem_default",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_sack",
        "net.core.default_qdisc",
        "qdisc/eth0",
        "txqueuelen/eth0",
        "net.ipv4.tcp_congestion_control",
    ]
    shuffled = [*keys[4:], *keys[:4]]
    assert sorted(shuffled, key=PLATFORM.write_order) == keys


def test_persist_target() -> None:
    assert PLATFORM.persist_target("net.ipv4.tcp_rmem") == "/etc/sysctl.d/90-hostcfg.conf"
    assert PLATFORM.persist_target("net.ipv4.conf.eth0/100.mtu") == "/etc/sysctl.d/90-hostcfg.conf"
    assert PLATFORM.persist_target("qdisc/eth0") is None
    assert PLATFORM.persist_target("txqueuelen/eth0") is None


def test_script() -> None:
    text = PLATFORM.render(VALUES, "script", ["wan, 100 Mbit/s", "two\nlines; `id`\x1b[0m"])
    assert text == (
        "#!/bin/sh\n# wan, 100 Mbit/s\n# two\n# lines; `id` [0m\n"
        "# Run as root; the values last until the next boot.\nstatus=0\n"
        "sysctl -w net.core.rmem_max=12582912 || status=1\n"
        "sysctl -w 'net.ipv4.tcp_rmem=4096 87380 12582912' || status=1\n"
        "sysctl -w net.ipv4.tcp_sack=1 || status=1\n"
        "sysctl -w net.core.default_qdisc=fq || status=1\n"
        "sysctl -w net.ipv4.tcp_congestion_control=bbr || status=1\n"
        "# Interfaces that are there keep their queueing discipline; for each of them:\n"
        "#   tc qdisc replace dev INTERFACE root fq\nexit $status\n"
    )


def test_config() -> None:
    text = PLATFORM.render({**VALUES, "qdisc/eth0": "fq", "txqueuelen/eth0": "500"}, "config", ["wan"])
    assert "# wan\n" in text
    assert "net.ipv4.tcp_rmem = 4096 87380 12582912\n" in text
    assert "#   tc qdisc replace dev eth0 root fq\n#   ip link set dev eth0 txqueuelen 500\n" in text
    for loader in LOADERS:
        conf = assignments(text, loader)
        assert conf.not_understood == ()
        assert {a.key: a.raw for a in conf.assignments} == {k: " ".join(v.split()) for k, v in VALUES.items()}


def test_a_value_that_the_kernel_refuses_is_not_rendered() -> None:
    for raw in ('"4096 87380 1"', "4096 87380 16M", ""):
        with pytest.raises(UsageError, match=r"net\.ipv4\.tcp_rmem"):
            PLATFORM.render({"net.ipv4.tcp_rmem": raw}, "config", [])


numbers = st.integers(4608, 2**31 - 1)
rendered = st.fixed_dictionaries(
    {"net.core.rmem_max": numbers.map(str)},
    optional={
        "net.ipv4.tcp_rmem": st.tuples(numbers, numbers, numbers).map(lambda t: " ".join(map(str, t))),
        "net.ipv4.tcp_sack": st.sampled_from(["0", "1"]),
        "net.core.default_qdisc": st.sampled_from(["fq", "fq_codel", "cake"]),
    },
)


@given(rendered)
def test_parse_of_render_is_the_start(values: dict[str, str]) -> None:
    conf = assignments(PLATFORM.render(values, "config", ["h"]))
    assert {a.key: a.raw for a in conf.assignments} == values


@pytest.mark.root
@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_the_script_does_it(shell: str, tmp_path: Path) -> None:
    """In a network namespace: the values are there afterwards, by procps and by busybox."""
    if shutil.which(shell.split(maxsplit=1)[0]) is None:
        pytest.skip(f"{shell} is not installed")
    values = {
        "net.ipv4.tcp_rmem": "4096 65536 12582912",
        "net.ipv4.tcp_mtu_probing": "1",
        "qdisc/v0": "pfifo",
        "txqueuelen/v0": "77",
    }
    path = tmp_path / "script.sh"
    path.write_text(PLATFORM.render(values, "script", ["test"]))
    run = (
        f"ip link add v0 type veth peer name v1\n{shell} {path} >&2\necho status $?\n"
        "cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_mtu_probing\n"
        "tc qdisc show dev v0\nip link show dev v0\n"
    )
    done = subprocess.run([*IN_NAMESPACE, run], capture_output=True, text=True)
    assert done.stdout.startswith("status 0\n4096\t65536\t12582912\n1\nqdisc pfifo "), done.stderr
    assert "qlen 77" in done.stdout
    again = run.replace(f"{shell} {path}", f"sed s/tcp_rmem/tcp_nosuch/ {path} >{path}.x; {shell} {path}.x")
    done = subprocess.run([*IN_NAMESPACE, again], capture_output=True, text=True)
    assert done.stdout.startswith("status 1\n"), done.stderr


def test_shellcheck_likes_the_script(tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    path = tmp_path / "script.sh"
    path.write_text(PLATFORM.render({**VALUES, "qdisc/eth0": "fq"}, "script", ["h"]))
    done = subprocess.run(["shellcheck", str(path)], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)
