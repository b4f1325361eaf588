"""Prompts and typed commands are told from output."""

from __future__ import annotations

import pytest

from hostcfg.pasted.prompts import command_of, commands_in


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("user@host:~$ sysctl -a", "sysctl -a"),
        ("root@fbsd:~ # sysctl net.inet.tcp", "sysctl net.inet.tcp"),
        ("root@fbsd:/usr/local/etc # cat x", "cat x"),
        ("[admin@x ~]$ cat /etc/sysctl.conf", "cat /etc/sysctl.conf"),
        ("[root@host1 ~]# netstat -m", "netstat -m"),
        ("(venv) user@host:~$ ls", "ls"),
        ("host1# netstat -m | grep mbuf", "netstat -m | grep mbuf"),
        ("host% sysctl a", "sysctl a"),
        ("# sysctl kern.maxfiles=5000", "sysctl kern.maxfiles=5000"),
        ("$ sysctl -a", "sysctl -a"),
        ("% ipadm show-prop tcp", "ipadm show-prop tcp"),
        ("user@host1 [~] netstat -m", "netstat -m"),
        ("user@mac ~ % sysctl -n hw.ncpu", "sysctl -n hw.ncpu"),
        ("$netstat -m   ", "netstat -m"),
        ("$:~# sysctl -w kern.x.y=1", "sysctl -w kern.x.y=1"),
        ("      \u2717 netstat -m", "netstat -m"),
        ("\u279c  ~ sysctl -a", "sysctl -a"),
        ("\u276f sysctl -a", "sysctl -a"),
        ("user@router> show system buffers", "show system buffers"),
        ("user@host ~> sysctl -a", "sysctl -a"),
        (r"C:\>netsh int tcp show global", "netsh int tcp show global"),
        (r"C:\Users\x> netsh int tcp show global", "netsh int tcp show global"),
        (r"PS C:\> Get-NetTCPSetting", "Get-NetTCPSetting"),
        ("PS> Get-NetTCPSetting", "Get-NetTCPSetting"),
        ("sysctl net.inet.tcp.cc", "sysctl net.inet.tcp.cc"),
        ("sudo sysctl -w kern.ipc.maxsockbuf=1", "sudo sysctl -w kern.ipc.maxsockbuf=1"),
        ("/sbin/sysctl -a", "/sbin/sysctl -a"),
        ("root@host1:/ #", ""),
        ("user@host:~$", ""),
        (r"C:\>", ""),
    ],
)
def test_typed(line: str, command: str) -> None:
    assert command_of(line) == command


@pytest.mark.parametrize(
    "line",
    [
        "kern.ipc.maxsockbuf: 2097152",
        "# set to at least 16MB for 10GE hosts",
        "#security.bsd.see_other_uids=0",
        "258/507/765 mbufs in use (current/cache/total)",
        "sysctl: unknown oid 'x'",
        "kern.version: FreeBSD 14.2 root@builder:/usr/obj/GENERIC",
        "    root@builder:/usr/obj/GENERIC amd64",
        "FreeBSD 14.2 root@releng.example.org:/usr/obj/usr/src/amd64/sys/GENERIC  amd64",
        "100% of the map",
        "someone@example.org wrote: > hello",
        "Show me the output of sysctl, please.",
        "Cat and mouse",
        "route to: 10.0.2.2",
        "Id Refs Address                Size Name",
        "netstat: no namelist",
        "",
        "   ",
    ],
)
def test_not_typed(line: str) -> None:
    assert command_of(line) is None


def test_a_hash_is_a_prompt_only_where_comments_are_fewer() -> None:
    session = ["# sysctl kern.maxfiles=5000", "kern.maxfiles: 2088 -> 5000"]
    assert commands_in(session) == ["sysctl kern.maxfiles=5000", None]
    conf = ["# sysctl kern.maxfiles shows it", "# raise it", "# and again", "kern.maxfiles=5000"]
    assert commands_in(conf) == [None, None, None, None]
