"""Every command recorded on FreeBSD 14.2 whose output the parsers take is read as what it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from hostcfg.pasted import parse_pasted
from hostcfg.platforms.bsd.values import parse_int
from hostcfg.platforms.freebsd.native import KEYS
from tests.freebsd.samples import PARSERS
from tests.freebsd.sessions import Record, record, records

if TYPE_CHECKING:
    from hostcfg.model import Parsed

_SETTING = re.compile(r"(?P<name>[a-z][\w%]*(?:\.[\w%-]+)+)(?:: |=)(?P<value>[^\n]*)")
_COMPLAINT = re.compile(r"sysctl: (?!Tunable values)")


def _describes(record: Record) -> bool:
    """The output of these flags holds types and descriptions, or bytes."""
    return bool(re.search(r"sysctl -[a-zA-Z]*[dtFlNb]|hexdump|head -c|grep -c|grep -n", record.command))


def _sysctl_records() -> list[Record]:
    return [
        r
        for r in records()
        if re.search(r"(^|[;|&(' ])(/sbin/)?sysctl( |$)", r.command)
        and not _describes(r)
        and _SETTING.search(r.stdout)
        and "/etc/rc.d/" not in r.command
    ]


def _parse(record: Record) -> Parsed:
    parsed = parse_pasted(record.pasted, PARSERS)
    assert parsed is not None
    assert parsed.os == "freebsd"
    return parsed


def _expected(record: Record) -> tuple[dict[str, int], list[tuple[str, int, int]]]:
    """Integers by name (the last one counts) and changes, read by a rule of this test's own."""
    values: dict[str, int] = {}
    changes: list[tuple[str, int, int]] = []
    for line in record.stdout.splitlines():
        found = _SETTING.fullmatch(line)
        if found is None or found["name"] not in KEYS or KEYS[found["name"]].type != "int":
            continue
        old, arrow, new = found["value"].partition(" -> ")
        numbers = [parse_int(part) for part in (old, new) if part]
        if arrow and len(numbers) == 2 and numbers[0] is not None and numbers[1] is not None:
            changes.append((found["name"], numbers[0], numbers[1]))
        elif len(numbers) == 1 and numbers[0] is not None:
            values[found["name"]] = numbers[0]
    return values, changes


def test_the_sessions_are_all_read() -> None:
    assert len(records()) == 276
    assert len(_sysctl_records()) > 120


@pytest.mark.parametrize("record", _sysctl_records(), ids=str)
def test_integers_and_changes_are_those_of_the_output(record: Record) -> None:
    values, changes = _expected(record)
    parsed = _parse(record)
    assert {name: parsed.values.get(name) for name in values} == values
    found: Any = parsed.extra.get("changes", [])
    assert [
        (c["name"], c["old"], c["new"]) for c in found if c["name"] in KEYS and isinstance(c["new"], int)
    ] == changes


@pytest.mark.parametrize("record", [r for r in records() if _COMPLAINT.search(r.stderr)], ids=str)
def test_every_complaint_becomes_an_error_and_none_a_value(record: Record) -> None:
    parsed = parse_pasted(record.pasted, PARSERS)
    assert parsed is not None
    found: Any = parsed.extra.get("errors", [])
    complaints = [line for line in record.stderr.splitlines() if _COMPLAINT.match(line)]
    assert len([e for e in found if e["kind"] != "usage" or len(complaints) == 1]) >= len(complaints)
    assert not any("sysctl:" in str(value) for value in parsed.values.values())


ERRORS = {
    ("main", 31): [("net.inet.tcp.nosuch", "unknown_oid")],
    ("main", 38): [("a.b", "unknown_oid"), ("c.d", "unknown_oid"), ("e.f", "unknown_oid")],
    ("main", 64): [("net.inet.tcp.sendspace", "invalid_value")],
    ("main", 67): [("net.inet.tcp.sendspace", "empty_value")],
    ("main", 86): [("kern.ipc.maxsockbuf", "invalid_argument")],
    ("main", 117): [("net.inet.tcp.cc.algorithm", "unavailable")],
    ("main", 132): [("net.inet.tcp.functions_default", "unavailable")],
    ("main", 133): [("net.inet.tcp.tcbhashsize", "loader_tunable")],
    ("main", 139): [("kern.ipc.numopensockets", "read_only")],
    ("main", 144): [("net.inet.tcp.stats", "not_settable")],
    ("main", 145): [("net.inet.tcp", "not_a_leaf")],
    ("main", 153): [("kern.ipc.maxsockbuf", "permission")],
    ("main", 168): [("/nonexistent", "file")],
}


@pytest.mark.parametrize("place", ERRORS, ids=str)
def test_what_complaints_mean(place: tuple[str, int]) -> None:
    parsed = parse_pasted(record(*place).pasted, PARSERS)
    assert parsed is not None
    found: Any = parsed.extra["errors"]
    assert [(e["name"], e["kind"]) for e in found] == ERRORS[place]


def test_a_refused_set_shows_the_old_value_and_what_was_asked() -> None:
    parsed = _parse(record("main", 86))  # kern.ipc.maxsockbuf=1000
    assert parsed.extra["old"] == {"kern.ipc.maxsockbuf": 1048576}
    assert parsed.extra["changes"] == []
    found: Any = parsed.extra["errors"]
    assert found[0]["value"] == "1000"
    assert found[0]["text"] == "Invalid argument"


def test_a_config_file_applied_by_hand_names_the_lines_that_failed() -> None:
    parsed = _parse(record("main", 164))
    found: Any = parsed.extra["errors"]
    assert [(e["name"], e["kind"], e["line"]) for e in found] == [
        ("net.inet.tcp.nosuch", "unknown_oid", 5),
        ("kern.ipc.maxsockbuf", "invalid_argument", 6),
        ("net.inet.tcp.tcbhashsize", "loader_tunable", 7),
        (None, "invalid_value", 8),
        ("garbage line here", "unknown_oid", 9),
        ("net.inet.tcp.cc.algorithm", "unavailable", 10),
    ]


def test_values_without_names_get_the_names_that_were_typed() -> None:
    three = _parse(record("main", 18))  # -n a b c, all there
    assert three.extra["values_in_order"] == ["2097152", "2097152", "2097152"]
    assert three.values["net.inet.tcp.recvbuf_max"] == 2097152
    gap = _parse(record("main", 37))  # -n a nosuch c: the complaint says which one is missing
    assert gap.extra["values_in_order"] == ["2097152", "2097152"]
    assert set(gap.values) == {"kern.ipc.maxsockbuf", "net.inet.tcp.sendbuf_max"}


def test_a_whole_tree_without_names_gives_no_named_value() -> None:
    parsed = _parse(record("main", 7))  # sysctl -n net.inet.tcp
    assert dict(parsed.values) == {}


@pytest.mark.parametrize("number", [9, 10, 24, 25])
def test_types_and_descriptions_are_no_values(number: int) -> None:
    parsed = _parse(record("main", number))
    assert dict(parsed.values) == {}
    assert parsed.notes


def test_descriptions_without_the_typed_command_are_no_values_either() -> None:
    parsed = parse_pasted(record("main", 10).stdout, PARSERS)
    assert parsed is not None
    assert dict(parsed.values) == {}


def test_tables_of_algorithms() -> None:
    parsed = _parse(record("main", 128))
    table: Any = parsed.extra["tables"]
    assert table["net.inet.tcp.cc.available"] == {
        "names": ["cubic", "newreno", "cdg", "chd", "dctcp", "hd", "vegas"],
        "default": "cubic",
        "pcb_count": {"cubic": 4, "newreno": 0, "cdg": 0, "chd": 0, "dctcp": 0, "hd": 0, "vegas": 0},
    }
    assert parsed.values["net.inet.tcp.cc.algorithm"] == "cubic"


def test_a_full_dump_is_read_to_the_end() -> None:
    parsed = _parse(record("main", 15))  # sysctl -a: 6,600 lines, a boot log and XML among them
    named = re.findall(r"^([a-z]\w*(?:\.[\w%+-]+)+): ", record("main", 15).stdout, re.MULTILINE)
    assert len(set(named) - set(parsed.values)) == 0
    assert parsed.values["kern.ipc.maxsockbuf"] == 2097152
    assert parsed.values["kern.version"] == (
        "FreeBSD 14.2-BETA1 #1: Mon Nov 30 13:50:51 UTC 2026\n    root@builder:/usr/obj/GENERIC"
    )
    assert parsed.unrecognized == ()


@pytest.mark.parametrize("number", [161, 174, 175, 176, 177, 191])
def test_mbuf_statistics_as_text_json_and_xml_are_the_same(number: int) -> None:
    parsed = _parse(record("main", number))
    values: Any = parsed.values
    assert values["clusters"] == {"current": 0, "cache": 254, "total": 254, "max": 1000000}
    assert values["jumbo_16k"] == {"current": 0, "cache": 0, "total": 0, "max": 2577}
    assert values["kbytes"] == {"current": 1088, "cache": 1642, "total": 2731}
    assert values["jumbo_denied"] == {"page": 0, "9k": 0, "16k": 0}
    assert values["pages_bogus"] == 0
    assert values["sfbufs"] is None
    assert parsed.unrecognized == ()


def test_loader_variables_and_boot_file_of_the_second_boot() -> None:
    kenv = _parse(record("boot2", 4))
    loader: Any = kenv.extra["loader"]
    assert loader["net.inet.tcp.tcbhashsize"] == "8192"
    conf = _parse(record("boot2", 1))
    assert conf.values["net.inet.tcp.sendbuf_max"] == 4194304
    assert conf.extra["loader_only"] == ["net.inet.tcp.tcbhashsize"]
    assert conf.unrecognized == ("net.inet.tcp.delayed_ack=abc",)
