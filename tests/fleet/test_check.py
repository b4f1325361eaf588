"""``--check``: the user's own command, by a shell, between two batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostcfg.cli.apply_options import parse_check, run_check
from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

ID = "20261130-162700-4f2a"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("true", None),
        ('test "$HOSTCFG_HOSTS" = "a b" && test $HOSTCFG_CHANGE = ' + ID, None),
        ("true && false", "--check 'true && false' ended with 1 after a, b"),
        ("exit 3", "--check 'exit 3' ended with 3 after a, b"),
        ("kill -9 $$", "--check 'kill -9 $$' ended by signal 9 after a, b"),
        (
            "no-such-tool --now",
            "--check 'no-such-tool --now' can't be run after a, b: no such command (status 127)",
        ),
        (
            "/etc/passwd",
            "--check '/etc/passwd' can't be run after a, b: it is not executable (status 126)",
        ),
    ],
)
def test_what_a_check_says(command: str, said: str | None) -> None:
    assert run_check(command, ["a", "b"], ID) == said


def test_names_of_hosts_are_no_words_of_the_shell(tmp_path: Path) -> None:
    """What a host is called comes from an inventory, and never becomes a part of the command."""
    name = f"$(touch {tmp_path}/run);`touch {tmp_path}/run`"
    assert run_check(f'printf %s "$HOSTCFG_HOSTS" >{tmp_path}/heard', [name], ID) is None
    assert (tmp_path / "heard").read_text() == name
    assert not (tmp_path / "run").exists()
    assert run_check("false", list("abcdef"), ID) == "--check 'false' ended with 1 after a, b, c, d, e ..."


def test_what_no_shell_can_read_is_refused_before_anything_is_begun(tmp_path: Path) -> None:
    assert parse_check(None) is None
    assert parse_check(f"touch {tmp_path}/run") == f"touch {tmp_path}/run"
    assert not (tmp_path / "run").exists()
    for command in ("'x", "if true", "for h in a; do", "(", "a &&"):
        with pytest.raises(UsageError, match=r"^--check .*: /bin/sh: "):
            parse_check(command)
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 1\n")
    silent.chmod(0o755)
    with pytest.raises(UsageError, match=r"silent can't read it$"):
        parse_check("true", str(silent))


def test_a_system_without_that_shell() -> None:
    assert parse_check("true", "/nowhere/sh") == "true"
    said = run_check("true", ["a"], ID, "/nowhere/sh")
    assert said == "--check 'true' can't be run after a: /nowhere/sh: No such file or directory"
