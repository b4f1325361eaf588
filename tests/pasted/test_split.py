"""Several commands in one text: cut at prompts, by content where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostcfg.errors import UsageError
from hostcfg.pasted import parse_pasted, split_pasted
from hostcfg.platforms import all_parsers
from tests.pasted.texts import CONF, NETSTAT, PARSERS, SYSCTL

if TYPE_CHECKING:
    from collections.abc import Callable

SESSION = (
    f"root@fbsd:~ # sysctl kern.ipc.maxsockbuf net.inet.tcp\n{SYSCTL}"
    f"root@fbsd:~ # netstat -m\n{NETSTAT}"
    f"root@fbsd:~ # cat /etc/sysctl.conf\n{CONF}"
    "root@fbsd:~ # uptime\n 3:14PM  up 12 days,  1:02, 1 user\n"
    "root@fbsd:~ #\n"
)


def kinds(text: str) -> list[str]:
    return [section.kind for section in split_pasted(text, PARSERS).sections]


def quoted(mark: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{mark}{line}\n" for line in text.splitlines())


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "mail": quoted("> "),
    "mail in mail": quoted("> > "),
    "log": quoted("2024-05-01T12:00:00Z "),
    "syslog": quoted("Nov 30 14:35:01 fbsd root: "),
    "indented": quoted("    "),
    "numbered": lambda text: "".join(f"{i}: {line}\n" for i, line in enumerate(text.splitlines(), 1)),
    "coloured": lambda text: text.replace("root@fbsd", "\x1b[32mroot@fbsd\x1b[0m"),
    "with a greeting": lambda text: f"Hi,\n\nhere is what you asked for.\n\n{text}\nBest regards\n",
    "blanks": lambda text: text.replace("\n", "\n\n"),
    "csh": lambda text: text.replace("root@fbsd:~ #", "fbsd#"),
    "sudo": lambda text: text.replace("~ # sysctl", "~ # sudo sysctl"),
    "brackets": lambda text: text.replace("root@fbsd:~ #", "[root@fbsd ~]#"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_session_in_every_form(form: str) -> None:
    text = FORMS[form](SESSION)
    assert kinds(text) == ["sysctl", "netstat-m", "sysctl-conf"]
    parsed = parse_pasted(text, PARSERS)
    assert parsed is not None
    values: Any = parsed.values
    assert values["kern.ipc.maxsockbuf"] == 157286400  # the file comes last, and a later value wins
    assert values["net.inet.tcp.recvbuf_max"] == 2097152
    assert values["clusters"]["max"] == 109049
    assert "3:14PM  up 12 days,  1:02, 1 user" in parsed.unrecognized


@pytest.mark.parametrize("between", ["\n", "", "\n\n\n", "---\n", "and this:\n"])
def test_blocks_without_prompts(between: str) -> None:
    found = split_pasted(SYSCTL + between + NETSTAT, PARSERS)
    assert [section.kind for section in found.sections] == ["sysctl", "netstat-m"]
    assert found.sections[1].text.startswith("257/1018/1275 mbufs")


def test_the_same_the_other_way_round() -> None:
    assert kinds(NETSTAT + "\n" + SYSCTL) == ["netstat-m", "sysctl"]
    assert kinds(NETSTAT + SYSCTL + NETSTAT) == ["netstat-m", "sysctl", "netstat-m"]


def test_a_typed_command_decides_where_the_text_could_be_either() -> None:
    text = "kern.ipc.maxsockbuf=2097152\nnet.inet.tcp.sendspace=32768\n"
    assert kinds(f"$ cat /etc/sysctl.conf\n{text}") == ["sysctl-conf"]
    assert kinds(f"$ sysctl -e kern.ipc.maxsockbuf net.inet.tcp.sendspace\n{text}") == ["sysctl"]
    assert kinds(f'$ cat /boot/loader.conf\n{text}cc_htcp_load="YES"\n') == ["loader-conf"]


def test_the_rest_of_the_text_tells_whose_an_ambiguous_part_is() -> None:
    ambiguous = "user@mac ~ % sysctl kern.ipc.maxsockbuf\nkern.ipc.maxsockbuf: 2097152\n"
    assert split_pasted(ambiguous, PARSERS).os == "freebsd"
    clear = "user@mac ~ % netstat -m\n0/972 mbuf 4KB clusters in use\n0 KB returned to the system\n"
    found = split_pasted(ambiguous + clear, PARSERS)
    assert (found.os, [piece.parser.os for piece in found.pieces]) == ("macos", ["macos", "macos"])


def test_output_of_two_systems_is_not_mixed() -> None:
    linux = "user@deb:~$ sysctl net.core.rmem_max\nnet.core.rmem_max = 212992\n"
    parsed = parse_pasted(SESSION + linux, all_parsers())
    assert parsed is not None
    assert parsed.os == "freebsd"
    assert "net.core.rmem_max" not in parsed.values
    assert any("linux" in note for note in parsed.notes)


def test_pieces_know_the_command_that_was_typed() -> None:
    commands = [piece.command for piece in split_pasted(SESSION, PARSERS).pieces]
    assert commands == ["sysctl kern.ipc.maxsockbuf net.inet.tcp", "netstat -m", "cat /etc/sysctl.conf"]


def test_nothing_known_is_nothing() -> None:
    for text in ("", "\n\n", "hello\n", "Lorem ipsum dolor sit amet, kern of truth.\n"):
        assert parse_pasted(text, PARSERS) is None
        assert split_pasted(text, PARSERS).os is None
    assert split_pasted("hello\n\nworld\n", PARSERS).unrecognized == ("hello", "world")


def test_a_kind_can_be_told() -> None:
    text = "kern.ipc.maxsockbuf=2097152\n"
    told = parse_pasted(text, PARSERS, "sysctl")
    assert told is not None
    assert (told.kind, told.os) == ("sysctl", "freebsd")
    mac = parse_pasted(text, PARSERS, "macos:sysctl-conf")
    assert mac is not None
    assert (mac.kind, mac.os, dict(mac.values)) == ("sysctl-conf", "macos", {"kern.ipc.maxsockbuf": 2097152})
    nothing = parse_pasted("garbage\n", PARSERS, "netstat-m")
    assert nothing is not None
    assert list(nothing.unrecognized) == ["garbage"]


def test_a_kind_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="did you mean 'netstat-m'"):
        parse_pasted("x", PARSERS, "netstatm")
    with pytest.raises(UsageError, match="sysctl-conf"):
        parse_pasted("x", PARSERS, "zzz")


def test_values_by_n_with_the_typed_names_told_as_sysctl() -> None:
    parsed = parse_pasted("2097152\n65536\n", PARSERS, "sysctl")
    assert parsed is not None
    assert parsed.extra["values_in_order"] == ["2097152", "65536"]


@given(st.text(max_size=600))
@settings(max_examples=200, deadline=None)
def test_any_text(text: str) -> None:
    split_pasted(text, PARSERS)
    parse_pasted(text, PARSERS)


PARTS = st.sampled_from(
    [*SESSION.splitlines(), "", "garbage", "> ", "$ ", "\x00", "\u2028", "kern.a.b:", "1/2/3 x"]
)


@given(st.lists(PARTS, max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_lines(lines: list[str]) -> None:
    found = split_pasted("\n".join(lines), PARSERS)
    for piece in found.pieces:
        piece.parser.parse(piece.section.text)


LINUX_END = "net.core.rmem_max = 212992\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n"
BSD_END = "kern.ipc.maxsockbuf: 2097152\nnet.inet.tcp.sendspace: 32768\n"
LINUX_VALUES = {
    "net.core.rmem_max": 212992,
    "net.ipv4.tcp_rmem": [4096, 131072, 6291456],
}


@pytest.mark.parametrize(
    "text",
    [
        LINUX_END + BSD_END,
        BSD_END + LINUX_END,
        f"{LINUX_END}\n{BSD_END}",
        f"$ sysctl -a\n{LINUX_END}root@lon-2:~ # sysctl -a\n{BSD_END}",
        "\n".join("\n".join(pair) for pair in zip(LINUX_END.split("\n"), BSD_END.split("\n"), strict=False)),
    ],
    ids=["joined", "the other way round", "paragraphs", "sessions", "line by line"],
)
def test_of_two_systems_one_is_read_and_the_other_named(text: str) -> None:
    parsed = parse_pasted(text, all_parsers())
    assert parsed is not None
    said = " ".join(parsed.notes)
    own = {k: v for k, v in parsed.values.items() if k in LINUX_VALUES}
    if parsed.os == "linux":
        assert (own, len(parsed.values)) == (LINUX_VALUES, 2)
        assert "lines of linux are used" in said
        assert "lines of freebsd" in said
    else:
        assert not own
        assert "lines of freebsd are used" in said
        assert "lines of linux ('" in said
    assert "left out" in said


def test_show_says_it_as_well() -> None:
    from hostcfg.reader import read_pasted

    found = [f for f in read_pasted("a", LINUX_END + BSD_END, "a.txt").findings if f.kind == "left_out"]
    assert len(found) == 1
    assert (
        "2 lines of linux are used, 2 lines of freebsd ('kern.ipc.maxsockbuf: 2097152' ...)"
        in found[0].message
    )
