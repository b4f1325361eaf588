"""Names and values that a shell would act on reach the host as what they are, under each shell."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions
from hostcfg.errors import ChangeRefused
from hostcfg.platforms.linux.change import address
from hostcfg.rollback import rollback_change
from tests.change.conftest import Lab, read
from tests.change.namespace import Namespace
from tests.change.test_apply import SHELLS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hostcfg.journal import Journal

pytestmark = pytest.mark.root

# the kernel takes all of these as the name of an interface (dev_valid_name, net/core/dev.c)
INTERFACES = ["$(>own)", "`>own`", "a';>own;'", 'b"&>own&"', "x|y>z", "*", "~", "\\n", "#c"]
VALUES = [
    "$(touch /etc/owned)",
    "`touch /etc/owned`",
    "a'; touch /etc/owned; '",
    'x" & touch y',
    "-n",
    "%s",
    "*",
]
WHO = "mallory'; touch /etc/owned; '$(touch /etc/owned)`touch /etc/owned`"


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, journal: Journal, tmp_path: Path) -> Iterator[Lab]:
    with Namespace(request.param) as host:
        yield Lab(host, journal, tmp_path / "state")


def add(lab: Lab, number: int, name: str) -> None:
    """An interface that carries a route, so that the probe reads it."""
    quoted = shlex.quote(name)
    lab.host.sh(
        f"ip link add name {quoted} type veth peer name peer{number}; ip link set dev {quoted} up;"
        f"ip route add default via 198.51.100.2 metric {number} onlink dev {quoted}"
    )


def test_interfaces_of_hostile_names_are_changed_and_come_back(shell: Lab) -> None:
    for number, name in enumerate(INTERFACES, 5):
        add(shell, number, name)
    start = shell.host.snapshot()
    wanted = {f"qdisc/{name}": "bfifo" for name in INTERFACES}
    wanted |= {f"txqueuelen/{name}": "77" for name in INTERFACES}
    change_id, result = shell.apply(wanted)
    assert (result.status, result.error) == ("applied", None)
    assert {s.outcome for s in result.steps} == {"set"}
    back = rollback_change(
        change_id, journal=shell.journal, connect=shell.connect, read=read, options=ChangeOptions(20)
    )
    assert [(h.status, h.error) for h in back.hosts] == [("reverted", None)]
    assert shell.host.snapshot() == start


def test_hostile_values_and_users_reach_no_shell(shell: Lab) -> None:
    start = shell.host.snapshot()
    for raw in VALUES:
        shell.drafts = [replace(shell.journal.draft("apply"), by=WHO, from_host=f"h{WHO}")]
        change_id, result = shell.apply({"net.ipv4.tcp_congestion_control": raw})
        assert result.status == "reverted"
        assert [s.outcome for s in result.steps] == ["rejected"]
        assert shell.host.snapshot() == start
        assert f"by={WHO}\n" in shell.host.sh(f"cat /var/lib/hostcfg/{change_id}/owner")
    shell.drafts = [replace(shell.journal.draft("apply"), by=WHO)]
    _, held = shell.apply({"net.ipv4.tcp_sack": "0"}, hold=True)
    assert held.status == "pending"
    _, second = shell.apply({"net.ipv4.tcp_window_scaling": "0"})
    assert second.error is not None
    assert f"by {WHO}" in second.error.message


@pytest.mark.parametrize("name", ["-x", "", ".", "..", "a/b", "a b", "a:b", "a\nb", "x" * 16, "../../etc"])
def test_what_is_no_interface_is_refused(name: str) -> None:
    with pytest.raises(ChangeRefused, match="no name of a network interface"):
        address(f"qdisc/{name}")


@pytest.mark.parametrize("key", ["a..b", ".a", "a.", "a./etc", "/etc/passwd", "net.ipv4/../../../etc"])
def test_no_key_leads_out_of_proc_sys(key: str) -> None:
    try:
        kind, path = address(key)
    except ChangeRefused:
        return
    assert kind == "sysctl"
    assert path.startswith("/proc/sys/")
    assert not {"", ".", ".."} & set(path.removeprefix("/proc/sys/").split("/"))
