"""What is said of a host, held against it: what its next boot keeps, what its kernel refuses to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.platforms.changer import get_changer
from tests.change.conftest import read

if TYPE_CHECKING:
    from tests.change.conftest import Lab

pytestmark = pytest.mark.root

DO = "change or remove that line"
OURS = "/etc/sysctl.d/90-hostcfg.conf"
SACK, WMEM = "net.ipv4.tcp_sack", "net.ipv4.tcp_wmem"
CC = "net.ipv4.tcp_congestion_control"


@pytest.mark.parametrize("hold", [False, True])
def test_nothing_is_claimed_of_a_boot_that_loads_no_file(lab: Lab, hold: bool) -> None:
    """Process 1 of this host is a sleep(1); sysctl(8) would read the file, and the host's own after it."""
    lab.host.sh("echo 'net.ipv4.tcp_wmem = 4096 16384 4194304' >>/etc/sysctl.conf")
    change_id, result = lab.apply({SACK: "0", WMEM: "4096\t16384\t65536"}, persist=True, hold=hold)
    assert result.error is None
    notes = [note for note in lab.journal.host(change_id, "host1").notes if "boot" in note or OURS in note]
    nobody = (
        "nothing is seen here that loads sysctl files at boot (process 1 is sleep): "
        f"{OURS} takes effect by `sysctl --system` alone"
    )
    assert notes == [
        f"not kept over a boot: {SACK}: {nobody}",
        f"not kept over a boot: {WMEM}: {nobody}, where /etc/sysctl.conf:3 wins over it; {DO}",
        f"{OURS} is written{' once the change is confirmed' if hold else ''}",
    ]


def test_a_namespace_is_refused_what_its_kernel_refuses(lab: Lab) -> None:
    facts = read(lab.connect("host1"), "host1")
    changer = get_changer("linux")
    for name in lab.host.get("net.ipv4.tcp_available_congestion_control").split():
        done = lab.host.sh(
            f"echo {name} >/proc/sys/net/ipv4/tcp_congestion_control && echo taken", check=False
        )
        assert (changer.refused_here(facts, CC, name) is None) is (done == "taken\n"), name
