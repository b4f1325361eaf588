"""Keys, findings, stock values, commands and files of the Windows platform."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.errors import UsageError
from hostcfg.model import Section, State
from hostcfg.platforms import get_platform
from hostcfg.platforms.windows import PLATFORM
from hostcfg.platforms.windows.keys import LEVEL_WINDOW_BYTES
from hostcfg.settings import SETTINGS
from tests.windows.emulation import execute, new_host, probe
from tests.windows.samples import sample

if TYPE_CHECKING:
    from pathlib import Path

    from hostcfg.model import Facts

PASTED = """Microsoft Windows [Version 10.0.19045.3803]
(c) Microsoft Corporation. All rights reserved.

C:\\Users\\eng>netsh interface tcp show global
"""


def assemble(*named: tuple[str, str]) -> Facts:
    return PLATFORM.assemble("pc", [Section(kind, text) for kind, text in named])


def of_sample(name: str, kind: str = "netsh-tcp-global") -> Facts:
    return assemble((kind, sample(name).text))


def with_global(old: str, new: str) -> Facts:
    text = sample("tcp_show_global__win11__en__02.txt").text
    assert old in text
    return assemble(("netsh-tcp-global", text.replace(old, new)))


def kinds(facts: Facts) -> list[str]:
    return [finding.kind for finding in facts.findings]


def test_the_package_scan_finds_windows() -> None:
    assert get_platform("windows") is PLATFORM
    assert PLATFORM.banner_marks == ("OpenSSH_for_Windows",)
    assert PLATFORM.uname is None


# -- levels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "window"),
    [
        ("disabled", 65_535),
        ("highlyrestricted", 262_144),
        ("restricted", 1_048_576),
        ("normal", 16_777_216),
        ("experimental", 1_073_741_824),
    ],
)
def test_window_of_each_level(level: str, window: int) -> None:
    key = PLATFORM.keys(None)["recv_buffer_max"]
    assert key.decode(level) == window
    assert key.encode is not None
    assert key.encode("normal", window) == level
    assert key.encode("normal", window - 1) == level


@pytest.mark.parametrize(
    ("wanted", "level"),
    [(1, "disabled"), (65_536, "highlyrestricted"), (375_000, "restricted"), (20_000_000, "experimental")],
)
def test_the_smallest_level_that_carries_the_bytes(wanted: int, level: str) -> None:
    key = PLATFORM.keys(None)["recv_buffer_max"]
    assert key.encode is not None
    assert key.encode("normal", wanted) == level


def test_more_than_the_largest_level_is_the_largest_level() -> None:
    key = PLATFORM.keys(None)["recv_buffer_max"]
    assert key.encode is not None
    assert key.encode("normal", 2 * LEVEL_WINDOW_BYTES["experimental"]) == "experimental"


@given(st.sampled_from(sorted(LEVEL_WINDOW_BYTES)), st.booleans())
def test_switching_scaling_keeps_a_level_that_scales(level: str, wanted: bool) -> None:
    for name in ("window_scaling", "recv_autotuning"):
        key = PLATFORM.keys(None)[name]
        assert key.encode is not None
        written = key.encode(level, wanted)
        assert key.decode(written) is wanted
        assert written == (level if wanted == key.decode(level) else "normal" if wanted else "disabled")


@given(st.text(max_size=20))
def test_decoding_anything_gives_the_tables_type_or_value_error(raw: str) -> None:
    types: dict[str, type] = {"int": int, "flag": bool, "text": str}
    for name, key in PLATFORM.keys(None).items():
        try:
            value = key.decode(raw)
        except ValueError:
            continue
        assert type(value) is types[SETTINGS[name].type]


def test_encoding_what_was_decoded_changes_nothing(tmp_path: Path) -> None:
    facts = probe(new_host(tmp_path, "2022", powershell=False))
    for name, key in PLATFORM.keys(facts).items():
        raw, value = facts.native[key.name].raw, facts.readings[name].value
        assert raw is not None
        assert value is not None
        assert key.encode is not None
        assert key.decode(key.encode(raw, value)) == value


# -- readings of pasted tables ----------------------------------------------------------------------


def test_field_case_6_a_windows_pc_on_carrier_ethernet() -> None:
    """50 Mbit/s, 30 ms: 187,500 bytes in flight; a PC with the level disabled allows 65,535."""
    text = sample("tcp_show_global__win10-2004plus__en__01.txt").text
    facts = assemble(("windows-release", PASTED.splitlines()[0]), ("netsh-tcp-global", text))
    reading = facts.readings["recv_buffer_max"]
    assert (reading.value, reading.key) == (65_535, "global.autotuninglevel")
    assert facts.readings["window_scaling"].value is False
    bdp_bytes = 50_000_000 * 0.030 / 8
    assert bdp_bytes == 187_500
    key = PLATFORM.keys(facts)["recv_buffer_max"]
    assert key.encode is not None
    level = key.encode("disabled", int(2 * bdp_bytes))
    assert PLATFORM.set_command(key.name, level) == (
        "netsh interface tcp set global autotuninglevel=restricted"
    )
    assert facts.os_version == "Windows 10 (10.0.19045.3803)"


def test_what_was_not_pasted_is_absent() -> None:
    facts = of_sample("tcp_show_global__win11__en__02.txt")
    assert facts.readings["congestion_control"].state is State.ABSENT
    assert facts.readings["window_scaling_heuristics"].state is State.ABSENT
    assert facts.os_version == ""
    assert facts.release is None


def test_windows_7_has_its_provider_in_the_global_table() -> None:
    facts = of_sample("tcp_show_global__win7__en__04.txt")
    assert facts.readings["congestion_control"].key == "global.congestionprovider"
    assert facts.readings["congestion_control"].value == "newreno"
    assert facts.readings["congestion_control_available"].value == ("ctcp", "newreno")
    assert "initial_rto" not in facts.readings


def test_the_global_provider_column_says_nothing_on_2012() -> None:
    facts = of_sample("tcp_show_global__server2012__en__01.txt")
    assert facts.native["global.congestionprovider"].raw == "none"
    assert facts.readings["congestion_control"].state is State.ABSENT


def test_powershell_alone_is_enough() -> None:
    facts = of_sample("get_nettcpsetting__server2012__en__01.txt", "get-nettcpsetting")
    values = {name: reading.value for name, reading in facts.readings.items()}
    assert values["recv_buffer_max"] == 16_777_216
    assert values["congestion_control"] == "ctcp"
    assert values["ecn"] == "on"
    assert values["initial_window"] == 4
    assert facts.native["supplemental.datacenter.congestionprovider"].raw == "dctcp"
    assert facts.readings["congestion_control"].source == "Get-NetTCPSetting"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("The requested operation requires elevation (Run as administrator).\n", State.DENIED),
        ("Zugriff verweigert\n", State.DENIED),
        ("The following command was not found: interface tcp show heuristics.\n", State.ABSENT),
        ("Something else went wrong.\n", State.UNPARSED),
        ("", State.ABSENT),
    ],
)
def test_a_failed_read_is_never_a_default(text: str, state: State) -> None:
    facts = assemble(("netsh-tcp-heuristics", text))
    reading = facts.readings["window_scaling_heuristics"]
    assert (reading.value, reading.state) == (None, state)


def test_mtus_are_native_keys_and_interfaces() -> None:
    facts = of_sample("ipv4_show_subinterfaces__win11__ja__01.txt", "netsh-subinterfaces")
    assert facts.native["subinterface/イーサネット.mtu"].raw == "1500"
    assert [(i.name, i.mtu_bytes) for i in facts.interfaces] == [("イーサネット", 1500)]


def test_supplemental_rows_belong_to_the_template_in_use() -> None:
    facts = of_sample("tcp_show_supplemental__win11__en__01.txt", "netsh-tcp-supplemental")
    assert facts.native["supplemental.internet.icw"].raw == "10"
    text = sample("tcp_show_supplemental__win11__en__01.txt").text.replace("is internet", "is datacenter")
    facts = assemble(("netsh-tcp-supplemental", text))
    assert facts.readings["congestion_control"].key == "supplemental.datacenter.congestionprovider"


# -- findings ---------------------------------------------------------------------------------------


def test_heuristics_note_under_the_table() -> None:
    assert kinds(of_sample("tcp_show_global__win7__en__01.txt")) == ["heuristics_override"]


def test_experimental_level() -> None:
    facts = with_global(": normal", ": experimental")
    assert kinds(facts) == ["experimental_level"]
    assert facts.findings[0].severity == "warning"
    assert facts.readings["recv_buffer_max"].value == 1_073_741_824


def test_timestamps_allowed_are_on_and_said() -> None:
    facts = of_sample("tcp_show_global__win11__en__01.txt")
    assert facts.readings["timestamps"].value is True
    assert "timestamps_allowed" in kinds(facts)


@pytest.mark.parametrize(("build", "found"), [("26100.1742", True), ("22631.3007", False)])
def test_bbr2_breaks_the_loopback_of_24h2(build: str, found: bool) -> None:
    text = sample("tcp_show_supplemental__win11__en__01.txt").text.replace(": cubic", ": bbr2")
    facts = assemble(
        ("windows-release", f"Microsoft Windows [Version 10.0.{build}]"), ("netsh-tcp-supplemental", text)
    )
    assert ("bbr2_loopback" in kinds(facts)) is found


def test_what_the_template_makes_of_the_provider() -> None:
    text = sample("tcp_show_supplemental__win11__en__01.txt").text
    datacenter = text.replace("is internet", "is datacenter").replace(": cubic", ": dctcp")
    message = assemble(("netsh-tcp-supplemental", datacenter)).findings[0].message
    assert message.startswith(
        "the template in use is datacenter, which runs dctcp; DCTCP is for data centers"
    )


def test_deprecated_settings_are_named() -> None:
    facts = of_sample("tcp_show_global__server2012__en__01.txt")
    assert kinds(facts) == []
    text = sample("tcp_show_global__server2012__en__01.txt").text.replace(": none", ": ctcp")
    facts = assemble(
        (
            "netsh-tcp-global",
            text.replace(
                "Chimney Offload State               : disabled",
                "Chimney Offload State               : automatic",
            ),
        )
    )
    assert kinds(facts) == ["deprecated_setting", "deprecated_setting"]
    assert [finding.keys for finding in facts.findings] == [
        ("global.congestionprovider",),
        ("global.chimney",),
    ]


def test_most_serious_findings_come_first(tmp_path: Path) -> None:
    facts = probe(new_host(tmp_path, "11-24H2", "th", english_at_437=False, elevated=False))
    severities = [finding.severity for finding in facts.findings]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)


# -- profiles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "wanted"),
    [
        ("11-24H2", {"initial_rto": 1000, "ecn": "off", "congestion_control": "cubic", "initial_window": 10}),
        ("2022", {"initial_rto": 1000, "ecn": "on", "congestion_control": "cubic"}),
        ("2012", {"initial_rto": 3000, "congestion_control": "ctcp", "initial_window": 4}),
        ("7", {"congestion_control": "newreno", "window_scaling_heuristics": True}),
    ],
)
def test_stock_values_are_those_of_an_untouched_host(
    tmp_path: Path, release: str, wanted: dict[str, Any]
) -> None:
    facts = probe(new_host(tmp_path, release))
    context = PLATFORM.profile_context(facts)
    assert wanted.items() <= context.stock.items()
    for name, value in context.stock.items():
        assert facts.readings[name].value == value, name
    assert context.stock_source


def test_a_typical_current_host() -> None:
    context = PLATFORM.profile_context(None)
    assert context.stock["recv_buffer_max"] == 16_777_216
    assert context.inputs["largest_window_bytes"] == 1_073_741_824


# -- commands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "raw", "command"),
    [
        ("global.autotuninglevel", "normal", "netsh interface tcp set global autotuninglevel=normal"),
        ("global.initialrto", "1000", "netsh interface tcp set global initialrto=1000"),
        ("heuristics.wsh", "disabled", "netsh interface tcp set heuristics wsh=disabled"),
        (
            "supplemental.internet.congestionprovider",
            "cubic",
            "netsh interface tcp set supplemental template=internet congestionprovider=cubic",
        ),
        (
            "dynamicport.tcp",
            "start=49152 num=16384",
            "netsh interface ipv4 set dynamicport tcp start=49152 num=16384",
        ),
    ],
)
def test_set_commands(key: str, raw: str, command: str) -> None:
    assert PLATFORM.set_command(key, raw) == command
    assert PLATFORM.persist_target(key) is not None


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("global.autotuninglevel", "normal & calc"),
        ("global.autotuninglevel", "normal\r\ncalc"),
        ("global.autotuninglevel", "%PATH%"),
        ("global.autotuninglevel", "$(calc)"),
        ("global.autotuninglevel", "`calc`"),
        ("global.autotuninglevel", 'normal"'),
        ("global.autotuninglevel", ""),
        ("global.a & calc", "normal"),
        ("supplemental.internet & calc.icw", "10"),
        ("subinterface/Ethernet.mtu", "1500"),
        ("net.ipv4.tcp_rmem", "1 2 3"),
        ("dynamicport.tcp", "start=1 num=2 & calc"),
    ],
)
def test_hostile_keys_and_values_reach_no_shell(key: str, raw: str) -> None:
    with pytest.raises(UsageError):
        PLATFORM.set_command(key, raw)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_command_is_plain_words(name: str, raw: str) -> None:
    for key in (f"global.{name}", f"supplemental.{name}.icw", f"heuristics.{name}"):
        try:
            command = PLATFORM.set_command(key, raw)
        except UsageError:
            continue
        assert re.fullmatch(r"[A-Za-z0-9 =]+", command)


def test_heuristics_are_written_before_the_level_that_they_override() -> None:
    keys = ["supplemental.internet.icw", "global.autotuninglevel", "heuristics.wsh"]
    assert sorted(keys, key=PLATFORM.write_order) == keys[::-1]


def test_a_script_for_somebody_elses_admin() -> None:
    values = {"global.autotuninglevel": "normal", "heuristics.wsh": "disabled"}
    script = PLATFORM.render(values, "script", ["wan & calc", "100%"])
    assert script.splitlines() == [
        "@echo off",
        "rem wan   calc",
        "rem 100",
        "rem run in an elevated prompt; netsh keeps what it sets over a boot",
        "netsh interface tcp set heuristics wsh=disabled",
        "netsh interface tcp set global autotuninglevel=normal",
        "netsh interface tcp show global",
    ]


def test_there_is_no_config_file_and_the_text_says_so() -> None:
    text = PLATFORM.render({"global.autotuninglevel": "normal"}, "config", [])
    assert all(line.startswith("rem ") for line in text.splitlines())
    assert "Windows has no file for these settings" in text
    assert "netsh interface tcp set global autotuninglevel=normal" in text


# -- sets on the emulated host ----------------------------------------------------------------------


def test_a_set_is_read_back(tmp_path: Path) -> None:
    state = new_host(tmp_path)
    result = execute(state, PLATFORM.set_command("global.autotuninglevel", "restricted"))
    assert (result.stdout, result.returncode) == (b"Ok.\r\n\r\n", 0)
    assert probe(state).readings["recv_buffer_max"].value == 1_048_576


@pytest.mark.parametrize("changes", [{"elevated": False}, {"ignores_sets": True}], ids=str)
def test_what_a_set_says_proves_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    state = new_host(tmp_path, **changes)
    result = execute(state, PLATFORM.set_command("global.autotuninglevel", "restricted"))
    assert result.stderr == b""
    assert probe(state).readings["recv_buffer_max"].value == 16_777_216


def test_a_refused_argument_prints_usage_and_exits_0_on_24h2(tmp_path: Path) -> None:
    state = new_host(tmp_path)
    result = execute(state, "netsh interface tcp set global chimney=disabled")
    assert result.returncode == 0
    parsed = next(p for p in PLATFORM.parsers if p.kind == "netsh-set").parse(result.stdout.decode())
    assert parsed.values == {
        "result": "error",
        "error_kind": "invalid_argument",
        "invalid_argument": "chimney",
    }
