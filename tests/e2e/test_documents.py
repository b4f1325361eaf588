"""The stable fields of the contract, and the numbers of the field cases, through the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import hostcfg

COMMANDS = [
    *("show", "parse", "snapshot", "profiles", "profiles list", "profiles show", "profiles check", "render"),
    *("diff", "path", "plan", "apply", "confirm", "rollback", "history"),
]

HALF_TUNED = """\
net.core.rmem_max = 163840
net.core.wmem_max = 163840
net.ipv4.tcp_rmem = 4096 87380 12582912
net.ipv4.tcp_wmem = 4096 16384 65536
net.ipv4.tcp_window_scaling = 0
net.ipv4.tcp_timestamps = 1
net.ipv4.tcp_sack = 1
"""


@pytest.fixture
def far_end(tmp_path: Path) -> str:
    path = tmp_path / "far.txt"
    path.write_text(HALF_TUNED)
    return f"file:{path}"


def by_setting(document: Any, host: int = 0) -> dict[str, Any]:
    return {d["setting"]: d for d in document["hosts"][host]["differences"]}


def test_diff(far_end: str) -> None:
    ran = hostcfg("diff", far_end, "-p", "wan", "--rate", "20mbit", "--rtt", "516ms", "-o", "json")
    assert ran.code == 1
    document = ran.document
    assert document["schema"] == "hostcfg.diff/1"
    assert document["profile"] == {"name": "wan", "rate_bps": 20000000, "rtt_s": 0.516, "bdp_bytes": 1290000}
    differences = by_setting(document)
    assert "recv_buffer_max" not in differences  # case 1: 12,582,912 is more than wan asks for
    assert differences["send_buffer_max"]["key"] == "net.ipv4.tcp_wmem"
    assert differences["send_buffer_max"]["current"] == 65536
    assert differences["send_buffer_max"]["target"] == 3225000  # 2.5 x 1,290,000: the release is not known
    assert differences["send_buffer_max"]["rule"] == "at_least"
    assert differences["window_scaling"]["current"] is False
    assert differences["window_scaling"]["target"] is True
    assert differences["recv_explicit_max"]["current"] == 163840


def test_a_windows_level_is_called_by_its_name() -> None:
    pasted = Path(__file__).parents[1] / "fixtures" / "docs" / "office-pc.txt"
    ran = hostcfg("diff", f"file:{pasted}", "-p", "wan", "--rate", "1gbit", "--rtt", "80ms", "-o", "json")
    level = by_setting(ran.document)["recv_buffer_max"]
    assert (level["current"], level["target"]) == ("highlyrestricted", "normal")
    assert (level["current_value"], level["target_value"]) == (262144, 10000000)
    assert "16 MiB" in level["reason"]


def test_nothing_differs_is_zero(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("net.ipv4.tcp_rmem = 4096 131072 67108864\nnet.ipv4.tcp_sack = 1\n")
    ran = hostcfg(
        "diff", f"file:{tmp_path}/good.txt", "-p", "wan", "--rate", "1G", "--rtt", "80ms", "-o", "json"
    )
    assert ran.code == 0
    assert ran.document["hosts"][0]["status"] == "same"


def test_show(far_end: str) -> None:
    ran = hostcfg("show", far_end, "-o", "json")
    assert ran.code == 0
    (host,) = ran.document["hosts"]
    assert (host["os"], host["status"], host["error"]) == ("linux", "ok", None)
    reading = host["settings"]["recv_buffer_max"]
    assert (reading["value"], reading["unit"], reading["state"]) == (12582912, "bytes", "value")
    assert host["settings"]["ecn"]["state"] == "absent"
    assert host["settings"]["pacing"]["state"] == "unsupported"
    assert host["native"]["net.ipv4.tcp_rmem"].split() == ["4096", "87380", "12582912"]
    assert any(f["kind"] == "partial" for f in host["findings"])


def test_parse_several_files_one_document_a_line(far_end: str, tmp_path: Path) -> None:
    import json

    path = far_end.removeprefix("file:")
    ran = hostcfg("parse", path, path, "-o", "json")
    first, second = (json.loads(line) for line in ran.stdout.splitlines())
    assert first["file"] == path
    assert first == second
    assert first["values"]["net.ipv4.tcp_rmem"] == [4096, 87380, 12582912]
    assert first["values"]["net.core.rmem_max"] == 163840
    (tmp_path / "no.txt").write_text("dear admin,\n")
    assert hostcfg("parse", path, tmp_path / "no.txt", "-o", "json").code == 2


def test_parse_from_standard_input() -> None:
    ran = hostcfg("parse", "-", "-o", "json", stdin=HALF_TUNED)
    assert ran.document["schema"] == "hostcfg.parse/1"
    assert ran.document["os"] == "linux"
    assert "file" not in ran.document


def test_yaml_and_json_say_the_same(far_end: str) -> None:
    from ruamel.yaml import YAML

    arguments = ("diff", far_end, "-p", "rfc1323-off", "--rate", "100mbit", "--rtt", "80ms")
    as_yaml = YAML(typ="safe", pure=True).load(hostcfg(*arguments, "-o", "yaml").stdout)
    assert as_yaml == hostcfg(*arguments, "-o", "json").document


def test_a_snapshot_is_a_target_and_does_not_differ_from_its_source(far_end: str, tmp_path: Path) -> None:
    ran = hostcfg("snapshot", far_end, "-d", tmp_path / "taken")
    assert ran.code == 0
    taken = ran.stdout.strip()
    same = hostcfg("diff", far_end, f"file:{taken}", "-o", "json")
    assert (same.code, same.document["settings"], same.document["native"]) == (0, [], [])
    assert hostcfg("diff", far_end, far_end).code == 0


def test_host_against_host_across_systems(far_end: str, tmp_path: Path) -> None:
    (tmp_path / "bsd.txt").write_text(
        "kern.ipc.maxsockbuf: 2097152\nnet.inet.tcp.recvbuf_max: 2097152\nnet.inet.tcp.sendbuf_max: 262144\n"
        "net.inet.tcp.rfc1323: 1\n"
    )
    ran = hostcfg("diff", far_end, f"file:{tmp_path}/bsd.txt", "-o", "json")
    assert ran.code == 1
    assert ran.document["schema"] == "hostcfg.hostdiff/1"
    assert ran.document["native"] == []
    pairs = {s["setting"]: (s["a"], s["b"]) for s in ran.document["settings"]}
    assert pairs["recv_buffer_max"] == (12582912, 2097152)
    assert pairs["window_scaling"] == (False, True)


@pytest.mark.parametrize(
    ("rate", "rtt", "bdp"),
    [
        ("50mbit", "30ms", 187500),
        ("200Mbit/s", "80ms", 2000000),
        ("20M", "0.516s", 1290000),
        ("1G", "80ms", 10000000),
    ],
)
def test_the_bandwidth_delay_products_of_the_field_cases(rate: str, rtt: str, bdp: int) -> None:
    ran = hostcfg("profiles", "show", "wan", "--rate", rate, "--rtt", rtt, "-o", "json")
    assert ran.document["bdp_bytes"] == bdp
    assert {s["os"] for s in ran.document["systems"]} == {"linux", "freebsd", "windows", "macos"}


@pytest.mark.parametrize("command", ["show", "diff", "profiles show", "parse"])
def test_tables_fit_eighty_columns_without_colour(far_end: str, command: str) -> None:
    calls = {
        "show": ("show", far_end),
        "diff": ("diff", far_end, "-p", "wan", "--rate", "1G", "--rtt", "80ms"),
        "profiles show": ("profiles", "show", "wan", "--rate", "1G", "--rtt", "80ms"),
        "parse": ("parse", far_end.removeprefix("file:")),
    }
    ran = hostcfg(*calls[command])
    lines = ran.stdout.splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in ran.stdout
    assert not any(line.endswith(" ") for line in lines)


def test_markdown_has_a_table_that_renders(far_end: str) -> None:
    ran = hostcfg("diff", far_end, "-p", "wan", "--rate", "1G", "--rtt", "80ms", "-o", "markdown")
    table = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    assert len({line.count(" | ") for line in table}) == 1


def test_what_a_host_says_is_no_terminal_command(tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_text(
        "net.core.rmem_max = 212992\nkernel.hostname = \x1b]0;owned\x07\x1b[2J\n"
    )
    for arguments in (("show", f"file:{tmp_path}/evil.txt"), ("parse", str(tmp_path / "evil.txt"))):
        ran = hostcfg(*arguments)
        assert "\x1b" not in ran.stdout + ran.stderr
        assert "\x07" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "command",
    COMMANDS,
)
def test_the_help_of_each_command_has_an_example(command: str) -> None:
    ran = hostcfg(*command.split(), "--help")
    assert ran.code == 0
    usage = f"hostcfg {command}"
    assert sum(usage in line for line in ran.stdout.splitlines()) >= 2, "usage and an example"
    assert max(map(len, ran.stdout.splitlines())) <= 80
