"""Snapshots: what was written is read back to the byte, and a damaged one is told from a whole one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hostcfg.errors import InputError
from hostcfg.model import Facts, Section
from hostcfg.snapshot import dump_snapshot, load_snapshot, looks_like_snapshot, snapshot_name

SECTION = {"kind": "sysctl", "text": "net.ipv4.tcp_sack = 1\n", "errors": "", "status": 0}
WHOLE = {
    "schema": "hostcfg.snapshot/1",
    "host": "lon-1",
    "os": "linux",
    "taken": "2026-11-30T16:20:00+00:00",
    "sections": [SECTION],
}


def loaded(**change: Any) -> Any:
    return load_snapshot(json.dumps({**WHOLE, **change}).encode(), "s.json")


def test_what_was_written_is_read_back() -> None:
    sections = (
        Section("sysctl", "a = 1\n\tb\r\n\x00\x1b[31m 日本\n", "sysctl: permission denied\n", 255),
        Section("netstat-m", "", "", None),
    )
    facts = Facts("lön-1", "linux", "Linux", None, {}, {}, sections=sections)
    data = dump_snapshot(facts).encode()
    assert looks_like_snapshot(data)
    snapshot = load_snapshot(data, "s.json")
    assert (snapshot.host, snapshot.os, snapshot.sections) == ("lön-1", "linux", sections)


def test_a_name_of_bytes_that_are_no_text_can_be_written_and_read() -> None:
    facts = Facts("file:b\udcff", "linux", "", None, {}, {}, sections=(Section("sysctl", "a = 1"),))
    text = dump_snapshot(facts)
    assert '"host": "file:b\\udcff"' in text
    assert load_snapshot(text.encode(), "s.json").host == "file:b\udcff"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sections": []}, "sections is no list"),
        ({"sections": "abc"}, "sections is no list"),
        ({"sections": [[1]]}, "section 1 is no object"),
        ({"sections": [SECTION, {**SECTION, "text": None}]}, "section 2: text is missing"),
        ({"sections": [{**SECTION, "text": 5}]}, "section 1: text is no text"),
        ({"sections": [{**SECTION, "status": "0"}]}, "section 1: status is no whole number"),
        ({"sections": [{**SECTION, "status": True}]}, "section 1: status is no whole number"),
        ({"host": None}, "host is missing"),
        ({"os": ["linux"]}, "os is no text"),
        ({"schema": "hostcfg.snapshot/2"}, "this hostcfg reads hostcfg.snapshot/1: update it"),
    ],
)
def test_a_part_that_is_none_is_a_damaged_snapshot(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        loaded(**change)
    assert said in str(caught.value)
    assert str(caught.value).startswith("s.json: ")


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(WHOLE).encode()[:-1],
        json.dumps(WHOLE).encode() + b"x",
        json.dumps(WHOLE).encode()[:50] + b"\xff" + json.dumps(WHOLE).encode()[50:],
        b'{"schema": "hostcfg.snapshot/1", "sections": ' + b"[" * 200_000,
        b'{"schema": "hostcfg.snapshot/1", "x": ' + b"9" * 5_000 + b"}",
    ],
    ids=["cut", "more", "bytes", "nested", "digits"],
)
def test_what_is_no_json_is_a_damaged_snapshot(data: bytes) -> None:
    with pytest.raises(InputError, match="a damaged snapshot"):
        load_snapshot(data, "s.json")


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("lon-1", "lon-1.json"),
        ("file:mails/far end.txt", "file_mails_far_end.txt.json"),
        ("../../etc/x", "_.._etc_x.json"),
        ("..", "host.json"),
        ("a\n;$(id)", "a____id_.json"),
        ("é" * 300, "é" * 100 + ".json"),  # two bytes each, and a name ends at 255 of them
    ],
)
def test_names_of_files(host: str, name: str) -> None:
    assert snapshot_name(host) == name
