"""From sysctls of real hosts, over SSH, to what a browser shows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet.lab import Fleet
from tests.report.screen import IN_BROWSER
from tests.sshd import SSHD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.report.screen import Screen

pytestmark = [
    *IN_BROWSER,
    pytest.mark.root,
    pytest.mark.skipif(SSHD is None, reason="install openssh-server"),
]

HOSTS = 4
SMALL, LARGE = "4096 65536 65536", "4096 131072 67108864"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Four hosts of which h02 has a small receive buffer, and one at whose port nobody listens."""
    folder = tmp_path_factory.mktemp("fleet")
    folder.chmod(0o755)
    with Fleet(folder, HOSTS) as running:
        for name, host in running.hosts.items():
            value = SMALL if name == "h02" else LARGE
            host.sh(f"sysctl -qw 'net.ipv4.tcp_rmem={value}'")
        hosts, _, _ = running.inventory.read_text().partition("groups:")
        running.inventory.write_text(
            f"{hosts}  h99: {{address: 10.99.1.1, port: 1}}\n"
            "groups: {edge: [h01, h02], core: [h03, h04, h99]}\n"
            "paths:\n"
            "  - {from: h01, to: h02, rate: 100mbit, rtt: 12ms}\n"
            "  - {from: h01, to: h99, rate: 100mbit, rtt: 12ms}\n"
        )
        yield running


def test_a_fleet_against_a_profile(fleet: Fleet, screen: Screen) -> None:
    link = ("--profile", "wan", "--rate", "100mbit", "--rtt", "12ms")
    ran = fleet.run("diff", "-i", str(fleet.inventory), "*", *link, "-o", "html")
    assert ran.code == 2
    screen.open_text(ran.stdout)
    assert screen.driver.title == "5 hosts against the profile wan"
    assert screen.cell("h02", "recv_buffer_max")["text"].split()[:2] == ["≠", "65536"]
    assert screen.cell("h03", "recv_buffer_max")["text"] == "67108864"
    assert screen.rows()[0] == "h02"  # it differs in most
    assert screen.rows(".failures") == ["h99"]
    screen.choose("group", "edge")
    assert set(screen.rows()) == {"h01", "h02"}
    assert screen.rows(".failures") == []


def test_the_paths_of_the_inventory(fleet: Fleet, screen: Screen) -> None:
    ran = fleet.run("path", "-i", str(fleet.inventory), "--all", "-o", "html")
    assert ran.code == 2
    screen.open_text(ran.stdout)
    assert screen.rows(".paths") == ["h01 -> h02", "h02 -> h01"]
    assert "h02's net.ipv4.tcp_rmem[2] = 65,536" in screen.js(
        "document.querySelector('.paths tbody').innerText"
    )
    assert screen.rows(".failures") == ["h01 and h99"]
    screen.choose("group", "core")
    assert screen.rows(".paths") == []
    assert screen.rows(".failures") == ["h01 and h99"]
