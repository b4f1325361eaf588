"""The probe line: what shells make of it, what comes back, and in which bytes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from hostcfg.errors import HostError
from hostcfg.model import State
from hostcfg.platforms.base import ProbeRequest
from hostcfg.platforms.framing import split_frames
from hostcfg.platforms.windows import PLATFORM
from hostcfg.platforms.windows.probe import MAX_LINE_CHARS, cmd_line, decode, framed_line
from tests.windows.emulation import NONCE, execute, new_host, probe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STOCK: dict[str, Any] = {
    "recv_buffer_max": 16_777_216,
    "recv_autotuning": True,
    "window_scaling": True,
    "timestamps": False,
    "ecn": "off",
    "congestion_control": "cubic",
    "slow_start_after_idle": False,
    "initial_window": 10,
    "initial_rto": 1000,
    "pacing": "off",
    "window_scaling_heuristics": False,
    "fast_open": "on",
}
VARIANTS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("11-24H2", "en", {}, {}),
    ("11-24H2", "en", {"shell": "powershell"}, {}),
    ("11-24H2", "en", {"banner": "Welcome\nto @@hostcfg host"}, {}),
    ("10-2004", "de", {}, {}),  # German stays German in code page 437
    ("10-2004", "ja", {}, {}),
    ("10-2004", "zh-CN", {"shell": "powershell"}, {}),
    ("10-2004", "ru", {"english_at_437": False}, {}),
    ("11-24H2", "th", {"english_at_437": False}, {}),
    ("2022", "en", {}, {"ecn": "on"}),
    ("2022", "ru", {"powershell": False}, {"ecn": "on"}),
    ("10-1703", "en", {}, {"congestion_control": "newreno", "initial_rto": 3000}),
    (
        "2012",
        "de",
        {},
        {
            "congestion_control": "ctcp",
            "ecn": "on",
            "initial_rto": 3000,
            "initial_window": 4,
            "window_scaling_heuristics": True,
            "pacing": None,
            "fast_open": None,
        },
    ),
    (
        "7",
        "ja",
        {},
        {
            "congestion_control": "newreno",
            "window_scaling_heuristics": True,
            "initial_rto": None,
            "initial_window": None,
            "slow_start_after_idle": None,
            "pacing": None,
            "fast_open": None,
        },
    ),
]


@pytest.mark.parametrize(("release", "language", "changes", "differs"), VARIANTS, ids=str)
def test_probe_reads_every_variant(
    tmp_path: Path, release: str, language: str, changes: dict[str, Any], differs: dict[str, Any]
) -> None:
    facts = probe(new_host(tmp_path, release, language, **changes))
    wanted = {name: value for name, value in (STOCK | differs).items() if value is not None}
    found = {n: r.value for n, r in facts.readings.items() if n != "congestion_control_available"}
    assert found == wanted
    assert {r.state for r in facts.readings.values()} == {State.VALUE}


@pytest.mark.parametrize(
    ("language", "name"),
    [("zh-CN", "本地连接* 2"), ("de", "LAN-Verbindung (Büro)"), ("ru", "Подключение по локальной сети")],
)
def test_names_come_in_the_consoles_code_page(tmp_path: Path, language: str, name: str) -> None:
    facts = probe(new_host(tmp_path, "11-24H2", language), peer="192.0.2.7")
    interface = facts.interfaces[0]
    assert (interface.name, interface.mtu_bytes, interface.speed_bps) == (name, 1500, 1_000_000_000)
    assert interface.routes == ("default", "peer")


def test_version_build_and_edition(tmp_path: Path) -> None:
    facts = probe(new_host(tmp_path, "2022"))
    assert facts.os_version == "Windows Server 2022 (10.0.20348.2113)"
    assert facts.release == (10, 0, 20348)
    assert facts.details["server"] is True


def test_automatic_template_is_read_for_the_wan(tmp_path: Path) -> None:
    facts = probe(new_host(tmp_path, "2022", powershell=False))
    assert facts.readings["congestion_control"].key == "supplemental.internet.congestionprovider"
    assert facts.details["default_template"] == "automatic"


def test_a_thai_answer_is_told_by_position_and_says_so(tmp_path: Path) -> None:
    facts = probe(new_host(tmp_path, "11-24H2", "th", english_at_437=False))
    kinds = [finding.kind for finding in facts.findings]
    assert kinds[0] == "mapped_by_position"


def test_missing_elevation_is_a_finding(tmp_path: Path) -> None:
    facts = probe(new_host(tmp_path, elevated=False))
    assert "not_elevated" in {finding.kind for finding in facts.findings}
    assert facts.readings["recv_buffer_max"].value == 16_777_216


def test_group_policy_decides_the_level(tmp_path: Path) -> None:
    facts = probe(new_host(tmp_path, policy_level="highlyrestricted"))
    reading = facts.readings["recv_buffer_max"]
    assert reading.value == 262_144
    assert reading.source == "Get-NetTCPSetting AutoTuningLevelGroupPolicy"
    assert facts.native["global.autotuninglevel"].raw == "normal"
    assert facts.findings[0].kind == "group_policy_override"


def test_the_next_boot_is_read_too(tmp_path: Path) -> None:
    facts = probe(new_host(tmp_path, persistent={**_globals(), "autotuninglevel": "restricted"}))
    boot = {value.key: value.raw for value in facts.boot}
    assert boot["global.autotuninglevel"] == "restricted"
    assert "boot_differs" in {finding.kind for finding in facts.findings}


def _globals() -> dict[str, str]:
    from tests.hosts.windows.releases import new_state

    values: dict[str, str] = new_state("11-24H2")["global"]
    return values


def test_output_that_ends_early_is_an_error(tmp_path: Path) -> None:
    result = execute(new_host(tmp_path), PLATFORM.probe(ProbeRequest(NONCE)).line)
    half = decode(result.stdout[: len(result.stdout) // 2])
    with pytest.raises(HostError, match="ends after section"):
        split_frames(NONCE, half, "", host="pc")


@pytest.mark.parametrize("peer", [None, "192.0.2.7", "2001:db8::1", "fe80::1%eth0", "host & calc", '"; calc'])
def test_the_line_fits_and_holds_nothing_that_a_shell_would_take(peer: str | None) -> None:
    line = PLATFORM.probe(ProbeRequest(NONCE, peer)).line
    assert len(line) < MAX_LINE_CHARS
    assert line.startswith('cmd.exe /d /q /c "')
    inner = line.removeprefix('cmd.exe /d /q /c "').removesuffix('"')
    assert not set(inner) & set('"$`\r\n')
    assert "calc" not in line
    assert "eth0" not in line
    assert set(re.findall(r"%[^%&]*%", inner)) == {"%^errorlevel%"}


def test_the_line_only_reads() -> None:
    line = PLATFORM.probe(ProbeRequest(NONCE, "192.0.2.7")).line
    words = re.findall(r"\b(?:set|add|delete|reset|Set-\w+|New-\w+|Remove-\w+)\b", line)
    assert words == []
    assert set(re.findall(r"netsh interface \w+ (\w+)", line)) == {"show"}


@pytest.mark.parametrize("script", ['echo "a"', "echo $x", "echo `x", "a\nb", "x" * MAX_LINE_CHARS])
def test_scripts_that_two_shells_read_differently_are_refused(script: str) -> None:
    with pytest.raises(ValueError, match=r"shells|cmd\.exe takes"):
        cmd_line(script)


def test_framed_commands_tell_their_status(tmp_path: Path) -> None:
    state = new_host(tmp_path, elevated=False)
    command = PLATFORM.set_command("global.autotuninglevel", "restricted")
    result = execute(state, framed_line(NONCE, [("netsh-set", command), ("chcp", "chcp")]))
    sections = split_frames(NONCE, decode(result.stdout), "", host="pc")
    assert [(s.kind, s.status) for s in sections] == [("netsh-set", 1), ("chcp", 0)]
    assert "requires elevation" in sections[0].text


# -- bytes ------------------------------------------------------------------------------------------


def _frame(words: str) -> bytes:
    return f"@@hostcfg {NONCE} begin chcp\r\n".encode() + words.encode("ascii") + b"\r\n\r\n"


@pytest.mark.parametrize(
    ("page", "codec", "text"),
    [
        (850, "cp850", "LAN-Verbindung (Büro)"),
        (866, "cp866", "Ок"),
        (936, "gbk", "本地连接"),
        (932, "cp932", "イーサネット"),
        (874, "cp874", "อีเทอร์เน็ต"),
        (65001, "utf-8", "本地连接"),
    ],
)
def test_decode_takes_the_code_page_from_the_output(page: int, codec: str, text: str) -> None:
    data = _frame(f"Active code page: {page}") + text.encode(codec)
    assert decode(data).endswith(text)


def test_utf_8_wins_over_a_code_page_that_would_accept_it() -> None:
    data = _frame("Active code page: 936") + "接收窗口自动调节级别".encode()
    assert decode(data).endswith("接收窗口自动调节级别")


@pytest.mark.parametrize("head", [b"", _frame("Active code page: 0"), _frame("Active code page: 99999")])
def test_unknown_code_pages_leave_ascii_readable(head: bytes) -> None:
    assert decode(head + b"\xff\xfe : normal").endswith("\\xff\\xfe : normal")


# -- a real cmd.exe parser --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Wine's cmd.exe in a prefix of its own; its server is stopped at the end."""
    found = shutil.which("wine")
    if found is None:
        pytest.skip("wine is not installed (Debian: apt-get install --no-install-recommends wine wine64)")
    prefix = tmp_path_factory.mktemp("wine")
    environment = {**os.environ, "WINEPREFIX": str(prefix), "WINEDEBUG": "-all", "DISPLAY": ""}
    yield ["env", f"WINEPREFIX={prefix}", "WINEDEBUG=-all", "DISPLAY=", found]
    subprocess.run([found, "wineboot", "-k"], env=environment, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("shell", [[], ["cmd", "/c"]], ids=["alone", "in another cmd.exe"])
def test_wines_cmd_runs_the_line(wine: list[str], shell: list[str]) -> None:
    line = PLATFORM.probe(ProbeRequest(NONCE)).line
    inner = line.removeprefix('cmd.exe /d /q /c "').removesuffix('"')
    arguments = [*wine, *shell, "cmd.exe", "/d", "/q", "/c", inner]
    result = subprocess.run(arguments, capture_output=True, timeout=110, check=False)
    sections = split_frames(NONCE, decode(result.stdout), "", host="wine")
    kinds = [section.kind for section in sections]
    assert kinds[:3] == ["chcp", "windows-release", "netsh-subinterfaces"]
    assert kinds[-2:] == ["windows-product-type", "whoami-groups"]
    assert "powershell" in kinds
    assert all(section.status is not None for section in sections)
    assert "Microsoft Windows" in sections[1].text
    assert PLATFORM.assemble("wine", sections).details["server"] is False  # wine's registry says WinNT
