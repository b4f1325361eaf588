"""Texts that are no host's settings are not taken for any: logs, tables, code, files of other programs.

The texts are written here in the form of the programs that are named, or made by a program.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostcfg.pasted import parse_pasted, split_pasted
from hostcfg.platforms import all_parsers, parsers_for
from tests.e2e.program import hostcfg

WORDS = Path(__file__).with_name("words.txt")

FOREIGN = {
    "syslog": (
        "Nov 30 14:35:01 lon-1 CRON[2291]: (root) CMD (test -x /usr/sbin/anacron)\n"
        "Nov 30 14:35:07 lon-1 sshd[2302]: Accepted publickey for admin from 10.0.0.9 port 50122 ssh2\n"
        "Nov 30 14:36:11 lon-1 systemd[1]: Started session-4.scope - Session 4 of User admin.\n"
    ),
    "dmesg": (
        "[    0.000000] Linux version 6.1.0-50-amd64 (debian-kernel@lists.debian.org) (gcc-12 12.2.0)\n"
        "[    0.004000] BIOS-provided physical RAM map:\n"
        "[    1.204117] e1000e 0000:00:1f.6 eth0: (PCI Express:2.5GT/s:Width x1) 00:11:22:33:44:55\n"
        "[    1.310000] TCP: Hash tables configured (established 65536 bind 65536)\n"
    ),
    "netstat -rn": (
        "Kernel IP routing table\n"
        "Destination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n"
        "0.0.0.0         10.0.0.1        0.0.0.0         UG        0 0          0 eth0\n"
        "10.0.0.0        0.0.0.0         255.255.255.0   U         0 0          0 eth0\n"
    ),
    "netstat -s": (
        "Ip:\n    Forwarding: 1\n    9141 total packets received\n    0 forwarded\n"
        "Tcp:\n    214 active connection openings\n    12 segments retransmitted\n"
        "TcpExt:\n    5 TCP sockets finished time wait in fast timer\n    TCPBacklogCoalesce: 12\n"
    ),
    "netstat -s of FreeBSD": (
        "tcp:\n\t93420 packets sent\n\t\t51711 data packets (23120014 bytes)\n"
        "\t\t12 data packets (8220 bytes) retransmitted\n"
        "udp:\n\t1221 datagrams received\n\t0 with incomplete header\n"
    ),
    "ps aux": (
        "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
        "root           1  0.0  0.1 168140 11532 ?        Ss   Nov29   0:04 /sbin/init\n"
        "root         711  0.0  0.0  15436  6220 ?        Ss   Nov29   0:00 sshd: /usr/sbin/sshd -D\n"
    ),
    "df": (
        "Filesystem     1K-blocks    Used Available Use% Mounted on\n"
        "udev             4021312       0   4021312   0% /dev\n"
        "/dev/sda1       30832636 9120340  20127964  32% /\n"
    ),
    "services": (
        "# Network services, Internet style\n\ntcpmux\t\t1/tcp\t\t\t\t# TCP port service multiplexer\n"
        "echo\t\t7/tcp\necho\t\t7/udp\ndiscard\t\t9/tcp\t\tsink null\niperf3\t\t5201/tcp\n"
    ),
    "passwd": (
        "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
        "sshd:x:105:65534::/run/sshd:/usr/sbin/nologin\n"
    ),
    "JSON": json.dumps({"name": "x", "tcp": {"rmem": [1, 2, 3]}, "net.core": {"max": 1}}, indent=2),
    "HTML": (
        "<!doctype html>\n<html><head><title>Tuning</title></head>\n"
        "<body><h1>TCP tuning</h1><p>Windows: see netsh. Linux: see sysctl.</p></body></html>\n"
    ),
    "Python": (
        "import os\n\nLIMITS = {'net': 1, 'kern': 2}\n\n\ndef main(argv: list[str]) -> int:\n"
        "    user.name = argv[1]\n    print(f'{os.getpid()}: {user.name}')\n    return 0\n"
    ),
    "C": (
        "#include <sys/sysctl.h>\n\nint main(void)\n{\n\tint n = 0;\n\tsize_t len = sizeof n;\n"
        '\tif (sysctlbyname("kern.maxfiles", &n, &len, NULL, 0) == -1)\n\t\treturn 1;\n'
        "\tdev.state = 1;\n\treturn 0;\n}\n"
    ),
    "INI": "[client]\nport = 3306\nsocket = /run/mysqld.sock\n\n[mysqld]\nbind-address = 127.0.0.1\n",
    "properties": (
        "# logging\nlog4j.rootLogger=INFO, A1\nlog4j.appender.A1=org.apache.log4j.ConsoleAppender\n"
        "user.timezone=UTC\nserver.port=8080\nspring.datasource.url=jdbc:h2:mem:x\n"
    ),
    "java.security": (
        "security.provider.1=SUN\nsecurity.provider.2=SunRsaSign\nsecurity.provider.3=SunEC\n"
        "securerandom.source=file:/dev/random\nlogin.configuration.provider=sun.security.provider.ConfigFile\n"
        "networkaddress.cache.negative.ttl=10\nsecurity.overridePropertiesFile=true\n"
    ),
    "nginx.conf": (
        "user www-data;\nworker_processes auto;\nhttp {\n    sendfile on;\n    tcp_nopush on;\n"
        "    server {\n        listen 80;\n        server_name a.example;\n    }\n}\n"
    ),
    "YAML": "version: 2\nservices:\n  web:\n    image: nginx:1.25\n    ports:\n      - 80:80\n",
    "Elasticsearch": "cluster.name: es\nnode.name: a\npath.data: /var/lib/es\nnetwork.host: 0.0.0.0\n",
    "Ansible INI": (
        "[edge]\nlon-1 ansible_host=10.0.0.1 ansible_user=admin\nlon-2 ansible_host=10.0.0.2\n\n"
        "[edge:vars]\nansible_become=true\n"
    ),
    "Ansible YAML": "all:\n  children:\n    edge:\n      hosts:\n        lon-1: {ansible_host: 10.0.0.1}\n",
    "mail": (
        "From: a@example.org\nTo: noc@example.org\nSubject: slow transfers to Singapore\n\nHi all,\n\n"
        "the copy to sin-1 runs at 30 Mbit/s only. Our side: see the kern settings that I sent on Monday.\n"
        "Could it be the window? Could you look at netstat: I see drops.\n\nThanks\nAnna\n"
    ),
}


def understood(text: str) -> Any:
    return parse_pasted(text, parsers_for(text))


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_text_is_nobodys(name: str) -> None:
    found = understood(FOREIGN[name])
    assert found is None, (found.os, found.kind, found.values)


@pytest.mark.parametrize("name", ["syslog", "java.security", "mail"])
def test_parse_and_show_say_so_in_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(FOREIGN[name])
    assert "no known output" in hostcfg("parse", path).one_line_of_trouble()
    assert str(path) in hostcfg("show", f"file:{path}").one_line_of_trouble()


@pytest.mark.parametrize(
    "words", [["ps", "aux"], ["df"], ["mount"], ["env"], ["git", "--help"], ["ls", "-l", "/etc"]]
)
def test_what_programs_of_this_machine_print_is_nobodys(words: list[str]) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    text = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    assert understood(text) is None


@pytest.mark.skipif(sys.platform != "linux", reason="the texts are Linux's")
@pytest.mark.parametrize(("words", "kind"), [("ip addr", "ip-link"), ("ip route", "ip-route")])
def test_what_ip_prints_is_known_for_what_it_is(words: str, kind: str) -> None:
    if shutil.which("ip") is None:
        pytest.skip("ip is not installed")
    text = subprocess.run(words.split(), capture_output=True, text=True, check=False).stdout
    if not text:
        pytest.skip("this host has none")
    assert understood(text).kind == kind


def random_words(seed: int) -> str:
    """Words of a README in random order: names of settings are among them, and so are colons."""
    rng = random.Random(seed)
    words = WORDS.read_text().split()
    return "".join(rng.choice(words) + rng.choice("      \n,.:=") for _ in range(30_000))


@pytest.mark.parametrize("seed", range(6))
def test_random_words_are_nobodys(seed: int) -> None:
    assert understood(random_words(seed)) is None


def test_settings_in_a_mail_are_still_seen() -> None:
    setting = "kern.ipc.maxsockbuf: 2097152\nnet.inet.tcp.sendspace: 32768\n"
    for text in (
        f"{FOREIGN['mail']}\n{setting}\n{FOREIGN['mail']}",
        f"Hi,\nthis is what we have:\n{setting}Anna\n",
    ):
        assert dict(understood(text).values) == {
            "kern.ipc.maxsockbuf": 2097152,
            "net.inet.tcp.sendspace": 32768,
        }


@pytest.mark.parametrize("name", ["net/ipv4/ip_forward", "net.ipv4.ip_forward"])
@pytest.mark.parametrize(
    "script",
    [
        "#!/bin/sh\nset -e\nsysctl -w {}=1\nexit 0\n",
        'if [ -n "$X" ]; then\n  sysctl -w {}=1\nfi\n',
        "$ sysctl -w {}=1\n",
        "root@lon-1:~# sysctl -w {}=1\nnet.ipv4.ip_forward = 1\n",
    ],
)
def test_a_call_with_linuxs_names_is_linuxs(name: str, script: str) -> None:
    found = understood(script.format(name))
    assert (found.os, dict(found.values)) == ("linux", {"net.ipv4.ip_forward": 1})


@pytest.mark.parametrize(("separator", "os"), [(": ", "freebsd"), (" = ", "linux")])
@pytest.mark.parametrize("count", [3, 4, 100_000])
def test_a_listing_is_one_whatever_its_names(separator: str, os: str, count: int) -> None:
    found = understood("".join(f"vendor.x.y{i}{separator}{i}\n" for i in range(count)))
    assert (found.os, found.kind, dict(found.values)) == (os, "sysctl", {})
    assert len(found.unrecognized) == count
    assert found.unrecognized[-1] == f"vendor.x.y{count - 1}{separator}{count - 1}"


def test_two_lines_of_unknown_names_are_no_listing() -> None:
    assert understood("vendor.x.y: 1\nvendor.x.z: 2\n") is None
    assert understood("vendor.x.y: 1\nvendor.x.z: some words of prose\nvendor.x.w: 2\n") is None


TABLE = (
    "Receive Window Auto-Tuning Level    : normal\n"
    "ECN Capability                      : disabled\n"
    "RFC 1323 Timestamps                 : disabled\n"
)
HEAD = "TCP Global Parameters\n----------------------------------------------\n"
LINUX = "net.core.rmem_max = 212992\nnet.ipv4.tcp_rmem = 4096 131072 6291456\nvm.swappiness = 60\n"


@pytest.mark.parametrize("text", [HEAD + TABLE + LINUX, LINUX + HEAD + TABLE, LINUX + TABLE, TABLE + LINUX])
def test_linuxs_settings_joined_to_a_table_of_netsh(text: str) -> None:
    pasted = split_pasted(text, all_parsers())
    assert {piece.parser.os for piece in pasted.pieces} == {"linux", "windows"}
    found = understood(text)
    (note,) = [note for note in found.notes if "left out" in note]
    assert "linux" in note
    assert "windows" in note
    if found.os == "windows":
        assert found.values["receive_window_auto_tuning_level"] == "normal"
        assert "net.core.rmem_max" not in found.values
    else:
        assert found.values["vm.swappiness"] == 60
    assert set(found.unrecognized) <= set(HEAD.split("\n"))


def test_a_name_of_several_systems_goes_with_its_paragraph() -> None:
    bsd = "net.inet.tcp.sendspace: 32768\nkern.ipc.maxsockbuf: 2097152\nkern.ipc.nmbclusters: 1000\n"
    text = f"{bsd}\nvm.swappiness = 60\nnet.core.rmem_max = 212992\n"
    pieces = {p.parser.os: p.section.text for p in split_pasted(text, all_parsers()).pieces}
    assert "vm.swappiness" in pieces["linux"]
    assert "vm.swappiness" not in pieces["freebsd"]
