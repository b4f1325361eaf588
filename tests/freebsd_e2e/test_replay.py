"""The emulated FreeBSD answers as the recorded sessions: every command, in order, on one host each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.freebsd_e2e.sessions import MOVED, SESSIONS, words
from tests.hosts.freebsd.host import FreeBsdHost
from tests.hosts.freebsd.recording import session

FILES = ("main", "extra", "boot2", "rack", "lockout")
LEFT_OUT = {
    command: row["why"]
    for row in YAML(typ="safe").load(Path(__file__).with_name("left_out.yaml"))
    for command in row["commands"]
}


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SESSIONS)
def test_every_recorded_command(name: str) -> None:
    wrong = []
    with FreeBsdHost(**SESSIONS[name]) as host:
        for one in session(name):
            host.count(**MOVED.get(one.id, {}))
            done = host.run(one.command, user=one.user)
            if one.id in LEFT_OUT:
                continue
            got = (_ended(done.stdout, one.stdout), words(done.stderr), done.returncode)
            if got != (one.stdout, one.stderr, one.status):
                wrong.append((one.id, one.command, got, (one.stdout, one.stderr, one.status)))
    assert wrong == []


def _ended(text: str, recorded: str) -> str:
    """The recording has a newline after a text that was cut in the middle of a line."""
    return f"{text}\n" if text and recorded.endswith("\n") and not text.endswith("\n") else text


def test_what_is_left_out_is_known_and_little() -> None:
    known = {one.id for name in FILES for one in session(name)}
    assert set(LEFT_OUT) <= known
    assert len(known) == 276
    replayed = Counter(one.rpartition("-")[0] for one in known - set(LEFT_OUT))
    assert replayed == {"main": 183, "extra": 50, "boot2": 6, "rack": 5}
