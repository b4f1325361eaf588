"""The emulated host answers as the recorded hosts do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.windows.emulation import execute, new_host
from tests.windows.samples import sample

if TYPE_CHECKING:
    from pathlib import Path

GLOBAL = "netsh interface tcp show global"


def lines(text: str) -> list[str]:
    """Lines without the blanks at their ends, which the recorded posts have lost."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("release", "values", "recorded"),
    [
        (
            "10-2004",
            {"rss": "disabled", "autotuninglevel": "disabled"},
            "tcp_show_global__win10-2004plus__en__01.txt",
        ),
        ("7", {"ecncapability": "enabled"}, "tcp_show_global__win7__en__04.txt"),
    ],
)
def test_show_global_is_the_recorded_table(
    tmp_path: Path, release: str, values: dict[str, Any], recorded: str
) -> None:
    state = new_host(tmp_path, release)
    for name, value in values.items():
        assert execute(state, f"netsh int tcp set global {name}={value}").stdout == b"Ok.\r\n\r\n"
    result = execute(state, GLOBAL)
    assert lines(result.stdout.decode()) == lines(sample(recorded).text)
    assert result.returncode == 0


def test_show_supplemental_and_ports_are_the_recorded_tables(tmp_path: Path) -> None:
    state = new_host(tmp_path, "11-24H2")
    shown = lines(execute(state, "netsh interface tcp show supplemental").stdout.decode())
    recorded = lines(sample("tcp_show_supplemental__win11__en__01.txt").text)
    assert shown[: len(recorded)] == recorded
    ports = execute(state, "netsh interface ipv4 show dynamicport tcp").stdout.decode()
    assert lines(ports) == lines(sample("ipv4_show_dynamicport__win10__en__01.txt").text)


def test_a_localized_table_comes_in_oem_bytes_with_the_recorded_labels(tmp_path: Path) -> None:
    state = new_host(tmp_path, "11-24H2", "ja")
    shown = lines(execute(state, GLOBAL).stdout.decode("cp932"))
    recorded = lines(sample("tcp_show_global__win11__ja__01.txt").text)
    assert [line.split(":")[0].strip() for line in shown] == [line.split(":")[0].strip() for line in recorded]


def test_code_page_437_brings_english(tmp_path: Path) -> None:
    result = execute(new_host(tmp_path, "11-24H2", "zh-CN"), f"chcp 437>nul & {GLOBAL}")
    assert b"Receive Window Auto-Tuning Level" in result.stdout


def test_without_elevation_the_words_are_on_standard_output(tmp_path: Path) -> None:
    state = new_host(tmp_path, elevated=False)
    result = execute(state, "netsh interface tcp set global autotuninglevel=disabled")
    assert (result.returncode, result.stderr) == (1, b"")
    assert b"requires elevation" in result.stdout


@pytest.mark.parametrize(("release", "status"), [("10-2004", 1), ("11-24H2", 0)])
def test_usage_text_follows_a_refused_argument(tmp_path: Path, release: str, status: int) -> None:
    result = execute(new_host(tmp_path, release), "netsh int tcp set global chimney=disabled")
    assert result.returncode == status
    assert lines(result.stdout.decode()) == lines(
        sample("tcp_set_global__win10-1809-server2019__en__01.txt").text
    )


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("echo a & echo b", b"a \r\nb\r\n"),
        ("echo a& echo b", b"a\r\nb\r\n"),
        ('echo "a & b"', b'"a & b"\r\n'),
        ("echo a ^& b", b"a & b\r\n"),
        ("echo %nosuch%", b"%nosuch%\r\n"),
        ('cmd /c "echo a & echo b"', b"a \r\nb\r\n"),
        ("nosuch 2>nul & call echo %^errorlevel%", b"9009\r\n"),
        ('cmd.exe /d /q /c "nosuch 2>nul& call echo %^errorlevel%"', b"9009\r\n"),
        ("whoami /groups | findstr S-1-16-", b"Mandatory Label\\Level  Label  S-1-16-12288\r\n"),
        ("ver>nul && echo yes || echo no", b"yes \r\n"),
    ],
)
def test_cmds_grammar(tmp_path: Path, line: str, output: bytes) -> None:
    assert execute(new_host(tmp_path), line).stdout == output


def test_powershell_as_default_shell_takes_other_characters_for_its_own(tmp_path: Path) -> None:
    state = new_host(tmp_path, shell="powershell")
    assert execute(state, 'cmd.exe /c "echo $home`x a"').stdout == b" a\r\n"
    assert b"not allowed" in execute(state, "ver & ver").stderr
