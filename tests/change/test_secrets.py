"""A whole apply and its rollback behind a passphrase and a sudo or doas password: neither is anywhere."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hostcfg.apply import ChangeOptions, apply_host
from hostcfg.changes import change_document, history_document
from hostcfg.plan import Wanted, plan_writes
from hostcfg.platforms import get_platform
from hostcfg.rollback import rollback_change
from hostcfg.transports.destination import parse_destination
from hostcfg.transports.prompts import Prompts
from hostcfg.transports.ssh import SshTransport
from hostcfg.transports.ssh_context import SshContext
from tests.change.conftest import LAN, read
from tests.change.namespace import Namespace
from tests.change.test_ssh import NamespaceDoor
from tests.sshd import doas_conf, sudoers, system_user

if TYPE_CHECKING:
    from hostcfg.journal import Journal
    from hostcfg.model import Facts, Plan
    from hostcfg.transports.destination import Become

pytestmark = pytest.mark.root

PASSPHRASE, PASSWORD = "opens-the-key-7Hx", "becomes-root-9Qz"
NEEDED = ("sudoers", "sudoers.d", "pam.d", "security", "shadow", "login.defs", "doas.conf", "environment")


def command_lines() -> str:
    """What every process of this machine, those in the namespaces among them, was started with."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                found.append((path / name).read_bytes().decode("latin-1"))
            except OSError:
                continue
    return "".join(found)


@pytest.mark.parametrize("become", ["sudo", "doas"])
def test_no_secret_is_anywhere(
    become: Become,
    journal: Journal,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if shutil.which(become) is None:
        pytest.skip(f"{become} is not installed")
    caplog.set_level(logging.DEBUG)
    with ExitStack() as stack:
        user = stack.enter_context(system_user(password=PASSWORD))
        if become == "sudo":
            stack.enter_context(sudoers(f"{user} ALL=(ALL) ALL"))
        else:
            stack.enter_context(doas_conf(f"permit {user}"))
        host = stack.enter_context(Namespace())
        there = [name for name in NEEDED if Path("/etc", name).exists()]
        files = subprocess.run(["tar", "-C", "/etc", "-c", *there], capture_output=True, check=True).stdout
        subprocess.run(host.argv("tar", "-C", "/etc", "-x"), input=files, check=True)
        host.sh("mkdir -p /run/sshd")
        door = stack.enter_context(NamespaceDoor(user=user, enter=host.argv()))
        subprocess.run(
            ["ssh-keygen", "-q", "-p", "-P", "", "-N", PASSPHRASE, "-f", str(door.client_key)], check=True
        )
        (tmp_path / "known_hosts").write_text(door.known_hosts())
        (tmp_path / "ssh_config").write_text(
            f"Host *\nUserKnownHostsFile {tmp_path}/known_hosts\nIdentityFile {door.client_key}\n"
            "IdentitiesOnly yes\n"
        )
        prompts = Prompts(passphrase=lambda _: PASSPHRASE, become=lambda _: PASSWORD)
        context = SshContext(config_files=[tmp_path / "ssh_config"], timeout_s=20, prompts=prompts)
        seen: list[str] = []

        def connect(_: str) -> SshTransport:
            destination = parse_destination(f"{user}@127.0.0.1:{door.port}", become=become)
            return SshTransport(destination, context)

        def hear(_: str) -> None:
            seen.append(command_lines())

        def plan(facts: Facts) -> Plan:
            rows = [Wanted(key, raw) for key, raw in LAN.items()]
            return plan_writes(facts, get_platform("linux"), rows, persist=True)

        start = host.snapshot()
        draft = journal.draft("apply")
        result = apply_host(
            "host1",
            draft=draft,
            journal=journal,
            connect=connect,
            read=read,
            planner=plan,
            options=ChangeOptions(30),
            on_event=hear,
        )
        assert (result.status, result.error) == ("applied", None)
        back = rollback_change(
            draft.id, journal=journal, connect=connect, read=read, options=ChangeOptions(30), on_event=hear
        )
        assert [(h.status, h.error) for h in back.hosts] == [("reverted", None)]
        assert host.snapshot() == start
        left = host.sh("cat /var/lib/hostcfg/*/* /run/sshd.log 2>/dev/null; true")
    assert len(seen) >= 18
    documents = (
        change_document(draft.id, [result]),
        change_document(back.id, back.hosts),
        history_document(journal.changes()),
    )
    stored = (tmp_path / "state" / "journal.sqlite3").read_bytes().decode("latin-1")
    printed = "".join(capfd.readouterr())
    everything = "".join([*seen, left, stored, caplog.text, printed, json.dumps(documents), repr(result)])
    assert user in everything  # so that the net would have held a fish
    for secret in (PASSPHRASE, PASSWORD):
        assert secret not in everything
