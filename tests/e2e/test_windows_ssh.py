"""show, diff and plan on the emulated Windows through a real sshd: both shells, languages, silent banners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.freebsd_e2e.client import Client
from tests.hosts.windows.host import WindowsHost
from tests.sshd import SSHD

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.skipif(SSHD is None, reason="no sshd"), pytest.mark.timeout(300)]

LINK = ("--rate", "50mbit", "--rtt", "20ms")  # a BDP of 125,000 bytes
LEVEL = "global.autotuninglevel"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "home")


def shown(client: Client, name: str) -> Any:
    ran = client("show", name, "-o", "json")
    assert ran.code == 0, ran.stderr
    (found,) = ran.document["hosts"]
    assert found["os"] == "windows"
    return found


def know(client: Client, host: WindowsHost) -> str:
    return client.know("pc", host.server, user=host.server.user)


@pytest.mark.parametrize("shell", ["cmd", "powershell"])
@pytest.mark.parametrize(
    ("release", "language"),
    [
        ("7", "en"),
        ("2012", "ja"),
        ("10-2004", "ru"),
        ("11-24H2", "de"),  # stays German in code page 437
        ("2022", "zh-CN"),
        ("11-24H2", "th"),  # a language that hostcfg has no words for
    ],
)
def test_a_host_of_each_kind(tmp_path: Path, client: Client, shell: str, release: str, language: str) -> None:
    changes = {"shell": shell, "banner": "Willkommen!"}
    with WindowsHost(tmp_path / "pc", release, language, changes) as host:
        name = know(client, host)
        found = shown(client, name)
        assert (host.server.connections, host.server.commands) == (1, 1)
        settings = found["settings"]
        assert settings["recv_buffer_max"]["value"] == 16777216  # the window of "normal"
        assert settings["window_scaling"]["value"] is True
        assert settings["timestamps"]["value"] is False
        assert found["native"][LEVEL] == "normal"
        assert client("diff", name, "-p", "default", "-o", "json").code == 0


def test_the_level_that_carries_the_bandwidth_delay_product(tmp_path: Path, client: Client) -> None:
    changes = {"shell": "powershell"}
    with WindowsHost(tmp_path / "pc", "10-2004", "en", changes) as host:
        for store in ("global", "persistent"):
            host.set(store, "autotuninglevel", "disabled")
        name = know(client, host)
        ran = client("diff", name, "-p", "wan", *LINK, "-o", "json")
        assert ran.code == 1
        (found,) = ran.document["hosts"]
        differences = {d["setting"]: d for d in found["differences"] if d["key"] == LEVEL}
        assert differences.keys() == {"window_scaling", "recv_buffer_max"}
        level = differences["recv_buffer_max"]
        assert (level["current"], level["target"]) == ("disabled", "highlyrestricted")
        assert "256 KiB" in level["reason"]
        plan = client("plan", name, "-p", "wan", *LINK, "-o", "json")
        assert plan.code == 1
        (row,) = plan.document["hosts"]
        (step,) = [s for s in row["steps"] if s["key"] == LEVEL]
        assert (step["from"], step["to"]) == ("disabled", "highlyrestricted")
        assert "autotuninglevel=highlyrestricted" in step["command"]
        assert "autotuninglevel=disabled" in step["inverse"]
        assert host.state["global"]["autotuninglevel"] == "disabled"  # nothing was written


@pytest.mark.parametrize("shell", ["cmd", "powershell"])
@pytest.mark.parametrize(
    ("banner", "commands"), [("OpenSSH_for_Windows_9.5", 1), ("none", 2), ("FreeBSD-20240806", 2)]
)
def test_a_banner_that_is_silent_or_lies(
    tmp_path: Path, client: Client, shell: str, banner: str, commands: int
) -> None:
    host = WindowsHost(tmp_path / "pc", changes={"shell": shell})
    force = host.server.options[0]
    host.server.options = [force, "DebianBanner no", f"VersionAddendum {banner}"]
    with host:
        assert shown(client, know(client, host))["settings"]["recv_buffer_max"]["value"] == 16777216
        assert (host.server.connections, host.server.commands) == (1, commands)


def test_without_elevation_it_is_read_and_a_change_is_denied_by_name(tmp_path: Path, client: Client) -> None:
    with WindowsHost(tmp_path / "pc", changes={"elevated": False}) as host:
        for store in ("global", "persistent"):
            host.set(store, "autotuninglevel", "disabled")
        name = know(client, host)
        assert shown(client, name)["native"][LEVEL] == "disabled"
        began = host.settings()
        ran = client("apply", name, "-p", "wan", *LINK, "--yes", "-o", "json")
        assert ran.code == 2
        (row,) = ran.document["hosts"]
        assert row["status"] in ("failed", "reverted")
        assert row["error"]["kind"] == "no_permission"
        assert host.settings() == began


def test_a_linux_window_against_a_windows_level(tmp_path: Path, client: Client) -> None:
    linux = tmp_path / "linux.txt"
    linux.write_text("net.ipv4.tcp_rmem = 4096 131072 6291456\nnet.ipv4.tcp_window_scaling = 1\n")
    with WindowsHost(tmp_path / "pc") as host:
        host.set("global", "autotuninglevel", "restricted")
        ran = client("diff", f"file:{linux}", know(client, host), "-o", "json")
    assert ran.code == 1
    pairs = {s["setting"]: (s["a"], s["b"]) for s in ran.document["settings"]}
    assert pairs["recv_buffer_max"] == (6291456, 1048576)
    assert ran.document["native"] == []
