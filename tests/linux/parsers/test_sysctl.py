"""``sysctl``: readings, errors between and inside them, sets, and sessions with prompts."""

from __future__ import annotations

import pytest

from tests.linux.parsers.samples import best, parsed


def test_values_and_the_blanks_around_them() -> None:
    got = parsed("sysctl", "net.ipv4.tcp_rmem = 4096\t131072\t6291456\nnet.ipv4.ip_local_reserved_ports = \n")
    assert got.values == {
        "net.ipv4.tcp_rmem": [4096, 131072, 6291456],
        "net.ipv4.ip_local_reserved_ports": "",
    }
    assert not got.unrecognized
    assert not got.notes


def test_zero_is_a_value_and_absence_is_not_zero() -> None:
    got = parsed("sysctl", "net.ipv4.tcp_sack = 0\n")
    assert got.values == {"net.ipv4.tcp_sack": 0}
    assert "net.core.rmem_max" not in got.values


def test_a_value_without_its_form_is_left_over_and_never_cut() -> None:
    text = "net.core.rmem_max = 2129x92\nnet.ipv4.tcp_wmem = 4096 16384\nnet.ipv4.tcp_sack = 1\n"
    got = parsed("sysctl", text)
    assert got.values == {"net.ipv4.tcp_sack": 1}
    assert got.unrecognized == ["net.core.rmem_max = 2129x92", "net.ipv4.tcp_wmem = 4096 16384"]


def test_a_value_of_several_lines() -> None:
    text = "kernel.core_modes = file\nkernel.core_modes = pipe\nkernel.core_modes = socket\n"
    assert parsed("sysctl", text).values == {"kernel.core_modes": ["file", "pipe", "socket"]}


def test_read_twice_the_later_reading_counts() -> None:
    text = "net.ipv4.tcp_sack = 1\nnet.core.rmem_max = 1\nnet.ipv4.tcp_sack = 0\n"
    assert parsed("sysctl", text).values["net.ipv4.tcp_sack"] == 0


@pytest.mark.parametrize(
    ("line", "field", "name"),
    [
        ("sysctl: permission denied on key 'kernel.cad_pid'", "denied", "kernel.cad_pid"),
        ('sysctl: permission denied on key "kernel.cad_pid"', "denied", "kernel.cad_pid"),
        ("error: permission denied on key 'net.ipv4.route.flush'", "denied", "net.ipv4.route.flush"),
        ('error: "net.nosuch" is an unknown key', "unknown", "net.nosuch"),
        ("sysctl: error: 'net.nosuch' is an unknown key", "unknown", "net.nosuch"),
        (
            "sysctl: cannot stat /proc/sys/net/ipv4/conf/eth0.100/mtu: No such file or directory",
            "unknown",
            "net.ipv4.conf.eth0/100.mtu",
        ),
        ("sysctl: Zugriff verweigert auf Schlüssel »vm.stat_refresh«", "denied", "vm.stat_refresh"),
        ("sysctl: permission refusée sur la clé «\u00a0vm.stat_refresh\u00a0»", "denied", "vm.stat_refresh"),
        ('sysctl: nieznany klucz: "net.nosuch"', "unknown", "net.nosuch"),
        ("sysctl: error setting key 'net.core.rmem_max': 只读文件系统", "read_only", "net.core.rmem_max"),
    ],
)
def test_error_lines_go_to_their_lists(line: str, field: str, name: str) -> None:
    got = parsed("sysctl", f"net.ipv4.tcp_sack = 1\n{line}\n")
    assert got.extra[field] == [name]
    assert got.values == {"net.ipv4.tcp_sack": 1}
    assert not got.unrecognized


@pytest.mark.parametrize(
    ("line", "kind", "name"),
    [
        (
            'sysctl: reading key "net.ipv6.conf.lo.stable_secret"',
            "unreadable",
            "net.ipv6.conf.lo.stable_secret",
        ),
        ('sysctl: unable to open directory "/proc/sys/fs/binfmt_misc/"', "unreadable", "fs.binfmt_misc"),
        ("sysctl: command line(0): invalid syntax, continuing...", "syntax", None),
        ("sysctl: /etc/x.conf(5): ungültige Syntax, es wird fortgefahren …", "syntax", None),
        ("sysctl: error: malformed setting 'net.core.rmem_max='", "syntax", "net.core.rmem_max"),
        ("sysctl: write error: Invalid argument", "invalid", None),
        ('error: Invalid argument setting key "net.ipv4.tcp_rmem"', "invalid", "net.ipv4.tcp_rmem"),
        ('sysctl: setting key "net.core.default_qdisc": No such file', "not_found", "net.core.default_qdisc"),
        (
            "systemd-sysctl[9]: Couldn't write 'x' to 'net/ipv4/tcp_congestion_control': No such file",
            "not_found",
            "net.ipv4.tcp_congestion_control",
        ),
        ("sysctl: something nobody has seen", "other", None),
    ],
)
def test_errors_have_a_kind_and_a_name_if_the_line_has_one(line: str, kind: str, name: str | None) -> None:
    got = parsed("sysctl-set", f"{line}\n")
    assert got.extra["errors"] == [{"name": name, "kind": kind, "text": line}]
    assert not got.values


def test_an_error_inside_a_value_spoils_that_value_and_no_other() -> None:
    text = (
        "net.core.wmem_max = 212992\n"
        "net.core.rmem_max = 2129sysctl: permission denied on key 'vm.stat_refresh'\n"
        "sysctl: permission denied on key 'vm.mmap_rnd_bits'\n"
        "92\n"
        "net.ipv4.tcp_sack = 1\n"
    )
    got = parsed("sysctl", text)
    assert got.values == {"net.core.wmem_max": 212992, "net.ipv4.tcp_sack": 1}
    assert got.extra["denied"] == ["vm.stat_refresh", "vm.mmap_rnd_bits"]
    assert got.unrecognized == ["net.core.rmem_max = 2129", "92"]
    assert got.notes == ["line 2 is cut by an error message; its value is not used"]


def test_the_tail_of_a_cut_key_is_no_key() -> None:
    text = "kernel.printk = 4\t4\t1\t7\nnet.core.sysctl: permission denied on key 'vm.x'\nnet.core.y = 5\n"
    assert parsed("sysctl", text).values == {"kernel.printk": [4, 4, 1, 7]}


def test_an_echo_after_the_error_is_the_request() -> None:
    text = (
        'sysctl: setting key "net.core.default_qdisc": No such file or directory\n'
        "net.core.default_qdisc = fq\n"
        "net.ipv4.tcp_sack = 1\n"
    )
    got = parsed("sysctl-set", text)
    assert got.values == {"net.ipv4.tcp_sack": 1}
    assert got.extra["changes"] == [{"name": "net.ipv4.tcp_sack", "old": None, "new": 1}]
    assert got.extra["set"] == {"net.ipv4.tcp_sack": "1"}
    assert got.notes == ["line 2: net.core.default_qdisc = fq is what was asked for, not the state"]


def test_an_echo_before_its_error_is_the_request_too() -> None:
    text = 'net.core.rmem_max = 1\nsysctl: setting key "net.core.rmem_max": Invalid argument\n'
    assert not parsed("sysctl-set", text).values


def test_a_reading_after_a_failed_set_counts_if_the_prompt_shows_it() -> None:
    text = (
        "# sysctl -w net.core.rmem_max=1\n"
        'sysctl: setting key "net.core.rmem_max": Invalid argument\n'
        "net.core.rmem_max = 1\n"
        "# sysctl net.core.rmem_max\n"
        "net.core.rmem_max = 212992\n"
    )
    got = parsed("sysctl-set", text)
    assert got.values == {"net.core.rmem_max": 212992}
    assert got.extra["changes"] == []  # it was read, not set


def test_an_echo_with_a_trailing_comment_set_the_number() -> None:
    got = parsed("sysctl-set", "* Applying /etc/sysctl.d/x.conf ...\nnet.core.rmem_max = 300002 # trailing\n")
    assert got.values == {"net.core.rmem_max": 300002}
    assert got.extra["files"] == ["/etc/sysctl.d/x.conf"]


def test_triples_in_set_are_text_as_in_the_index() -> None:
    got = parsed("sysctl-set", "* Applying /x.conf ...\nnet.ipv4.tcp_rmem = 4096 87380 67108864\n")
    assert got.extra["set"] == {"net.ipv4.tcp_rmem": ["4096", "87380", "67108864"]}
    assert got.values == {"net.ipv4.tcp_rmem": [4096, 87380, 67108864]}


def test_values_without_names_belong_to_the_names_of_the_prompt() -> None:
    text = (
        "$ sysctl -n net.ipv4.tcp_rmem net.nosuch.key net.core.rmem_max\n"
        "4096\t131072\t6291456\n"
        "sysctl: cannot stat /proc/sys/net/nosuch/key: No such file or directory\n"
        "212992\n"
        "$ cat /proc/sys/net/ipv4/tcp_congestion_control\n"
        "cubic\n"
    )
    got = parsed("sysctl", text)
    assert got.values == {
        "net.ipv4.tcp_rmem": [4096, 131072, 6291456],
        "net.core.rmem_max": 212992,
        "net.ipv4.tcp_congestion_control": "cubic",
    }
    assert best(text).kind == "sysctl"


def test_too_few_values_without_names_belong_to_nobody() -> None:
    got = parsed("sysctl", "$ sysctl -n net.core.rmem_max net.core.wmem_max\n212992\n")
    assert not got.values
    assert got.unrecognized == ["212992"]


@pytest.mark.parametrize(
    "text",
    [
        "> net.core.rmem_max = 212992\n> net.ipv4.tcp_sack = 1\n",
        "> > net.core.rmem_max = 212992\r\n> > net.ipv4.tcp_sack = 1\r\n",
        "```\nnet.core.rmem_max = 212992\nnet.ipv4.tcp_sack = 1\n```\n",
        "\ufeffnet.core.rmem_max =3D 212992\nnet.ipv4.tcp_sack =3D 1\n",
        "net.core.\x1b[01;31m\x1b[Krmem\x1b[m\x1b[K_max = 212992\nnet.ipv4.tcp_sack = 1\n",
        "    net.core.rmem_max = 212992\n\n    net.ipv4.tcp_sack = 1\n",
    ],
    ids=["mail", "mail twice, CRLF", "markdown", "quoted-printable", "colours of grep", "indented"],
)
def test_what_mail_and_terminals_add_does_not_matter(text: str) -> None:
    assert parsed("sysctl", text).values == {"net.core.rmem_max": 212992, "net.ipv4.tcp_sack": 1}


def test_a_text_that_ends_within_a_line_says_so() -> None:
    got = parsed("sysctl", "net.core.rmem_max = 2129")
    assert got.values == {"net.core.rmem_max": 2129}
    assert got.notes == ["the text does not end with a newline: its last line may be cut"]


def test_a_shell_without_sysctl_says_nothing_about_keys() -> None:
    got = parsed("sysctl", "bash: line 1: sysctl: command not found\n")
    assert not got.values
    assert got.unrecognized == ["bash: line 1: sysctl: command not found"]
    assert best("bash: line 1: sysctl: command not found\n").recognize("bash: sysctl: x\n") == 0
