"""Frames around what a probe prints: bodies as they were, noise left out, cuts told."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.errors import HostError
from hostcfg.platforms.framing import sh_probe, sh_section, split_frames
from hostcfg.transports.base import Command

NONCE = "0011223344556677"


def framed(kind: str, body: str, status: int = 0, errors: str = "") -> str:
    told = f"@@hostcfg {NONCE} errors {kind}\n{errors}\n" if errors else ""
    return f"\n@@hostcfg {NONCE} begin {kind}\n{body}\n@@hostcfg {NONCE} end {kind} {status}\n{told}"


DONE = f"\n@@hostcfg {NONCE} done\n"


def test_bodies_are_as_the_commands_left_them() -> None:
    out = framed("a", "one\n") + framed("b", "", errors="oops\n") + framed("c", "\n\nx\n\n", 97) + DONE
    found = split_frames(NONCE, out, "a greeting\n")
    assert [(s.kind, s.text, s.errors, s.status) for s in found] == [
        ("a", "one\n", "", 0),
        ("b", "", "oops", 0),
        ("c", "\n\nx\n\n", "", 97),
    ]


def test_noise_around_and_between_frames_is_left_out() -> None:
    out = "Welcome\n" + framed("a", "1") + "job 3 finished\n" + framed("b", "2") + DONE + "bye\n"
    assert [(s.kind, s.text) for s in split_frames(NONCE, out, "")] == [("a", "1"), ("b", "2")]


def test_a_terminal_ends_its_lines_with_two_characters() -> None:
    out = (framed("a", "1\n2") + DONE).replace("\n", "\r\n")
    assert [(s.kind, s.text) for s in split_frames(NONCE, out, "")] == [("a", "1\n2")]


def test_a_frame_may_be_the_very_first_thing() -> None:
    out = (framed("a", "1") + DONE).lstrip("\n")
    assert [s.kind for s in split_frames(NONCE, out, "")] == ["a"]


def test_frames_of_another_run_are_text() -> None:
    inner = framed("a", "1").replace(NONCE, "f" * 16)
    out = framed("b", inner) + DONE
    assert [(s.kind, s.text) for s in split_frames(NONCE, out, "")] == [("b", inner)]


@pytest.mark.parametrize(
    "out",
    [
        framed("a", "1"),
        framed("a", "1") + f"\n@@hostcfg {NONCE} begin b\nhalf a lin",
        "",
        "sh: not found\n",
    ],
)
def test_an_output_without_its_end_is_a_fault(out: str) -> None:
    with pytest.raises(HostError, match="the output ends"):
        split_frames(NONCE, out, "", host="h1")


def test_a_section_without_its_end_is_left_out() -> None:
    begun = f"\n@@hostcfg {NONCE} begin a\n1\n"
    wrong = f"\n@@hostcfg {NONCE} begin b\n1\n@@hostcfg {NONCE} end c 0\n"
    assert [s.kind for s in split_frames(NONCE, begun + wrong + framed("d", "") + DONE, "")] == ["d"]


TEXT = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=80)
KINDS = st.lists(st.from_regex(r"[a-z][a-z0-9./-]{0,12}", fullmatch=True), max_size=6, unique=True)


@given(KINDS, st.lists(TEXT, min_size=6, max_size=6), st.integers(0, 255))
def test_what_is_framed_comes_back(kinds: list[str], bodies: list[str], status: int) -> None:
    pairs = list(zip(kinds, bodies, strict=False))
    out = "".join(framed(kind, body, status, body) for kind, body in pairs) + DONE
    found = split_frames(NONCE, out, "")
    assert [(s.kind, s.text) for s in found] == pairs
    assert {(s.errors == s.text.rstrip("\n"), s.status) for s in found} <= {(True, status)}


def test_errors_are_those_of_the_section_before_them() -> None:
    strayed = f"\n@@hostcfg {NONCE} errors b\noops\n"
    out = strayed + framed("a", "1") + strayed + framed("b", "2") + framed("b", "3", errors="no\nway") + DONE
    found = [(s.kind, s.text, s.errors) for s in split_frames(NONCE, out, "")]
    assert found == [("a", "1", ""), ("b", "2", ""), ("b", "3", "no\nway")]


@pytest.mark.parametrize("shell", ["dash", "bash --posix", "busybox sh", "mksh", "yash", "ksh93"])
def test_a_shell_tells_output_errors_and_status_apart(shell: str) -> None:
    if shutil.which(shell.partition(" ")[0]) is None:
        pytest.skip(f"{shell} is not installed")
    bodies = {
        "plain": "printf 'one\\ntwo\\n'",
        "failing": "echo out; echo err >&2; exit 7; echo never",
        "case": "case x in x) echo 'a)b' ;; esac; hc_lost=1",
        "after": 'echo "${hc_lost-kept apart}"',
        "none": ":",
        "long": "seq 100000 199999",  # more than a program's argument may hold
    }
    text = sh_probe(NONCE, "".join(sh_section(NONCE, kind, body) for kind, body in bodies.items()))
    command = Command.sh(text)
    done = subprocess.run([*shell.split(), "-s"], input=command.stdin, capture_output=True, check=True)
    assert done.stderr == b""
    assert [(s.kind, s.text, s.errors, s.status) for s in split_frames(NONCE, done.stdout.decode(), "")] == [
        ("plain", "one\ntwo\n", "", 0),
        ("failing", "out\n", "err", 7),
        ("case", "a)b\n", "", 0),
        ("after", "kept apart\n", "", 0),
        ("none", "", "", 0),
        ("long", "".join(f"{number}\n" for number in range(100_000, 200_000)), "", 0),
    ]
