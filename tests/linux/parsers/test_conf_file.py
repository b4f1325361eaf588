"""sysctl.conf, sysctl.d, fragments and scripts: what they set, and what they only seem to set."""

from __future__ import annotations

import pytest

from tests.linux.parsers.samples import BY_KIND, best, parsed

TRIPLE = [4096, 87380, 16777216]


def test_both_spellings_mixed_and_keys_by_path() -> None:
    text = (
        "# 10 Gbit/s\n; old\n"
        "net.core.rmem_max = 16777216\n"
        "net.core.wmem_max=16777216\n"
        "  net/ipv4/tcp_rmem =\t4096   87380\t16777216  \n"
        "net/ipv4/conf/eth0.100/rp_filter = 1\n"
        "net.ipv4.conf.eth0/200.rp_filter = 2\r\n"
        "net.core.default_qdisc = fq"
    )
    got = parsed("sysctl-conf", text)
    assert got.values == {
        "net.core.rmem_max": 16777216,
        "net.core.wmem_max": 16777216,
        "net.ipv4.tcp_rmem": TRIPLE,
        "net.ipv4.conf.eth0/100.rp_filter": 1,
        "net.ipv4.conf.eth0/200.rp_filter": 2,
        "net.core.default_qdisc": "fq",
    }
    assert not got.unrecognized
    assert best(text).kind == "sysctl-conf"


def test_the_last_assignment_wins_and_the_others_are_told() -> None:
    got = parsed("sysctl-conf", "net.core.rmem_max=1\nnet/core/rmem_max = 2\n")
    assert got.values == {"net.core.rmem_max": 2}
    assert got.extra["duplicates"] == {"net.core.rmem_max": ["1", "2"]}


def test_globs_and_exclusions_are_no_values() -> None:
    text = "net.ipv4.conf.*.rp_filter = 0\n-net.ipv4.conf.all.rp_filter\n-net.ipv4.tcp_fack = 0\n"
    got = parsed("sysctl-conf", text)
    assert got.values == {"net.ipv4.tcp_fack": 0}
    assert got.extra["globs"] == {"net.ipv4.conf.*.rp_filter": "0"}
    assert got.extra["excluded"] == ["net.ipv4.conf.all.rp_filter"]


@pytest.mark.parametrize(
    "line",
    [
        'net.ipv4.tcp_rmem = "4096 87380 16777216"',
        "net.core.wmem_max=300002#x",
        "net.core.rmem_max = 16M",
        "net.core.rmem_max = 1 000",
        "net.ipv4.tcp_rmem = 4096 87380",
        "net.core.default_qdisc = fq # fair",
        "net.core.rmem_max =",
        "net.core.rmem_max : 300018",
        "net.core.rmem_max 300016",
        "\u00a0net.core.rmem_max = 300028",
        "NET.CORE.RMEM_MAX = 300023",
        "net.core.rmem_max = ${RMEM}",
    ],
)
def test_lines_that_set_nothing_are_left_over(line: str) -> None:
    got = parsed("sysctl-conf", f"net.ipv4.tcp_sack = 1\n{line}\n")
    assert got.values == {"net.ipv4.tcp_sack": 1}
    assert len(got.unrecognized) == 1
    assert (
        got.unrecognized[0].split()[0].lstrip("\u00a0").lower().startswith(line.strip("\u00a0").lower()[:10])
    )


def test_a_refused_triple_spoils_the_one_before_it() -> None:
    """Recorded: EINVAL for the third element, and the first two have changed all the same."""
    got = parsed("sysctl-conf", "net.ipv4.tcp_rmem=4096 87380 1\nnet.ipv4.tcp_rmem=4096 87380 16M\n")
    assert "net.ipv4.tcp_rmem" not in got.values
    assert any("part of it replaces" in note for note in got.notes)


def test_a_refused_integer_leaves_the_one_before_it() -> None:
    assert parsed("sysctl-conf", "net.core.rmem_max=4096\nnet.core.rmem_max=16M\n").values == {
        "net.core.rmem_max": 4096
    }


def test_a_file_of_comments_only_is_a_config_without_values() -> None:
    text = "#\n# /etc/sysctl.conf\n#net.ipv4.ip_forward=1\n#net.ipv4.tcp_syncookies=1\n"
    assert best(text).kind == "sysctl-conf"
    assert parsed("sysctl-conf", text).values == {}


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (
            "sysctl -w net.core.rmem_max=1 net.core.wmem_max=2",
            {"net.core.rmem_max": 1, "net.core.wmem_max": 2},
        ),
        ("sudo /sbin/sysctl -w net.ipv4.tcp_rmem='4096 87380 16777216'", {"net.ipv4.tcp_rmem": TRIPLE}),
        ('sysctl -q -w "net.ipv4.tcp_rmem=4096 87380 16777216"', {"net.ipv4.tcp_rmem": TRIPLE}),
        (
            "sysctl net.ipv4.tcp_sack=0 && sysctl net.ipv4.tcp_dsack=0",
            {"net.ipv4.tcp_sack": 0, "net.ipv4.tcp_dsack": 0},
        ),
        ("echo 4096 87380 16777216 > /proc/sys/net/ipv4/tcp_rmem", {"net.ipv4.tcp_rmem": TRIPLE}),
        ('echo "1" >/proc/sys/net/ipv4/conf/eth0.100/rp_filter', {"net.ipv4.conf.eth0/100.rp_filter": 1}),
        ("echo 0 | sudo tee /proc/sys/net/ipv4/tcp_sack", {"net.ipv4.tcp_sack": 0}),
        ('echo "net.core.default_qdisc=fq" >> /etc/sysctl.conf', {"net.core.default_qdisc": "fq"}),
        ("echo 'net.ipv4.tcp_sack = 1' | tee -a /etc/sysctl.d/90-x.conf", {"net.ipv4.tcp_sack": 1}),
        (
            r'printf "net.core.rmem_max=1\nnet.core.wmem_max=2\n" > /etc/x.conf',
            {"net.core.rmem_max": 1, "net.core.wmem_max": 2},
        ),
        ("$ sudo sysctl -w net.ipv4.tcp_sack=1", {"net.ipv4.tcp_sack": 1}),
    ],
)
def test_shell_lines(line: str, values: dict[str, object]) -> None:
    got = parsed("sysctl-conf", f"#!/bin/sh\n{line}\n")
    assert got.values == values
    assert not got.unrecognized


@pytest.mark.parametrize(
    "line",
    [
        "sysctl -w net.core.rmem_max = 16777216",
        "sysctl -w net.ipv4.tcp_rmem=4096 87380 16777216",
        "sysctl -w net.core.rmem_max=$SIZE",
        "sysctl -w net.core.rmem_max=`cat size`",
        "echo $SIZE > /proc/sys/net/core/rmem_max",
        "echo 16777216 > /tmp/size",
        "sysctl -w 'net.core.rmem_max=1",
        "# sysctl -w net.core.rmem_max=1",
        "tc qdisc replace dev eth0 root fq",
    ],
)
def test_shell_lines_that_set_nothing_that_is_known(line: str) -> None:
    assert not parsed("sysctl-conf", f"#!/bin/sh\n{line}\n").values


def test_a_here_document_is_a_config() -> None:
    text = "cat >> /etc/sysctl.conf <<'EOF'\nnet.core.rmem_max = 1\n# x\nEOF\nsysctl -p\n"
    got = parsed("sysctl-conf", text)
    assert got.values == {"net.core.rmem_max": 1}
    assert not got.unrecognized


def test_two_arrays_of_one_length() -> None:
    text = 'K=(\n "net.core.rmem_max"\n "net.ipv4.tcp_rmem"\n)\nV=("1" "4096 87380 16777216")\n'
    assert parsed("sysctl-conf", text).values == {"net.core.rmem_max": 1, "net.ipv4.tcp_rmem": TRIPLE}
    assert not parsed("sysctl-conf", 'K=("net.core.rmem_max" "net.core.wmem_max")\nV=("1")\n').values


def test_tuned_profiles() -> None:
    text = (
        "[main]\nsummary=x\ninclude=throughput-performance\n\n"
        "[sysctl]\n# bytes\ntype=sysctl\n"
        'net.ipv4.tcp_rmem="4096 87380 16777216"\n'
        "net.core.somaxconn=>2048\nvm.dirty_ratio = <40 # less\n"
        "net.core.rmem_max=${size}\nvm.swappiness = 10 # c\nnonsense\n"
    )
    got = parsed("tuned-conf", text)
    assert got.values == {"net.ipv4.tcp_rmem": TRIPLE, "vm.swappiness": 10}
    assert got.extra["bounds"] == {
        "net.core.somaxconn": {"rule": "at_least", "value": 2048},
        "vm.dirty_ratio": {"rule": "at_most", "value": 40},
    }
    sections = got.extra["sections"]
    assert isinstance(sections, dict)
    assert sections["main"] == {"summary": "x", "include": "throughput-performance"}
    assert got.unrecognized == ["net.core.rmem_max = ${size}", "nonsense"]
    assert best(text).kind == "tuned-conf"


def test_a_profile_of_another_program_is_not_tuneds() -> None:
    assert BY_KIND["tuned-conf"].recognize("[Match]\nName=eth0\n[Network]\nDHCP=yes\n") == 0
