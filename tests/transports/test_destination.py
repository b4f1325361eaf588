"""Destinations: what people write, and what must never reach a shell."""

from __future__ import annotations

import pytest

from hostcfg.errors import UsageError
from hostcfg.transports.destination import Destination, format_host_port, parse_destination


@pytest.mark.parametrize(
    ("text", "user", "host", "port"),
    [
        ("far", None, "far", None),
        ("root@far", "root", "far", None),
        ("root@far:2222", "root", "far", 2222),
        ("far:2222", None, "far", 2222),
        ("[2001:db8::1]:2222", None, "2001:db8::1", 2222),
        ("root@[2001:db8::1]", "root", "2001:db8::1", None),
        ("2001:db8::1", None, "2001:db8::1", None),
        ("fe80::1%eth0", None, "fe80::1%eth0", None),
        ("ssh://root@far:2222", "root", "far", 2222),
        ("ssh://far", None, "far", None),
        ("ssh://root@[2001:db8::1]:22/", "root", "2001:db8::1", 22),
        ("ssh://domain%5Cuser@far", "domain\\user", "far", None),
        ("user@corp.example@far", "user@corp.example", "far", None),
        ("  far \n", None, "far", None),
        ("bücher.example", None, "bücher.example", None),
    ],
)
def test_forms(text: str, user: str | None, host: str, port: int | None) -> None:
    assert parse_destination(text) == Destination(text.strip(), host, user, port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "root@",
        "@far",
        "far:",
        "far:0",
        "far:65536",
        "far:22x",
        "far:" + "9" * 5000,
        "[2001:db8::1",
        "[::1]22",
        "1:2:x",
        "ssh://far/path",
        "ssh://root;fingerprint=x@far",
        "-oProxyCommand=id",
        "-l@far",
        "far$(id)",
        "far;id",
        "`id`@far",
        "a b",
        "far\x00",
        "far\\",
        "user\\@far",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_destination(text)


def test_text_wins_over_arguments() -> None:
    found = parse_destination("root@far:1", name="x", user="bob", port=2, key="k", become="sudo")
    assert found == Destination("x", "far", "root", 1, "k", "sudo")
    assert parse_destination("far", user="bob", port=2) == Destination("far", "far", "bob", 2)


def test_format() -> None:
    assert format_host_port("far", 22) == "far"
    assert format_host_port("::1", 2222) == "[::1]:2222"
