"""What words on the command line name: files by directory and glob, and what is no host at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hostcfg import __version__

if TYPE_CHECKING:
    from pathlib import Path

FACTS = "net.ipv4.tcp_rmem = 4096 131072 6291456\n"


def call(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hostcfg", *words],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    far = tmp_path / "far"
    for directory in (far, far / "below", tmp_path / "empty"):
        directory.mkdir()
    for name in ("b.txt", "a.txt", "a.txt~", ".hidden.txt", "below/c.txt"):
        (far / name).write_text(FACTS)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "hosts"),
    [
        ("file:far", ["file:far/a.txt", "file:far/b.txt"]),
        ("file:far/", ["file:far/a.txt", "file:far/b.txt"]),
        ("file:far/*.txt", ["file:far/a.txt", "file:far/b.txt"]),
        ("file:far/[b]*", ["file:far/b.txt"]),
        ("file:far/*", ["file:far/a.txt", "file:far/a.txt~", "file:far/b.txt"]),
        ("file:far/./a.txt", ["file:far/./a.txt"]),
    ],
)
def test_files_of_a_directory_and_of_a_glob(folder: Path, target: str, hosts: list[str]) -> None:
    done = call("show", target, "-o", "json", folder=folder)
    assert [host["host"] for host in json.loads(done.stdout)["hosts"]] == hosts
    assert done.returncode == 0


def test_a_file_is_found_at_home_and_under_a_name_that_looks_like_a_glob(folder: Path) -> None:
    (folder / "[x].txt").write_text(FACTS)
    done = call("show", "file:~/far/a.txt", "file:[x].txt", "-o", "json", folder=folder)
    hosts = [host["host"] for host in json.loads(done.stdout)["hosts"]]
    assert hosts == [f"file:{folder}/far/a.txt", "file:[x].txt"]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["file:empty/"], "empty/: this directory has no files"),
        (["file:far/*.json"], "far/*.json: no file matches"),
        (["file:~nobody-of-that-name/x"], "~nobody-of-that-name/x: there is no such user"),
        (["file:"], "file: needs a path"),
        (["far/a.txt"], "'far/a.txt' is a file here: did you mean file:far/a.txt?"),
        (["far/"], "'far/' is a path here: did you mean file:far/?"),
        (["h1,h2"], "give several targets as words of their own"),
        (["all:!h1"], "give several targets as words of their own, and --limit or --exclude"),
        (["host[1"], "'host[1' matches nothing: there is no inventory: give -i FILE"),
        (["host[1:3]"], "'host[1:3]' matches nothing: there is no inventory: give -i FILE"),
        (["[host"], "'[host' is no destination"),
        (["host:99999"], "the port is a number from 1 to 65535"),
        (["local", "-i", ""], "it is empty: leave -i out"),
        (["all", "-i", "h1,h2,"], "'h1,h2,' is no file: hosts are targets, without -i"),
        (["local", "-i", "a", "-i", "b"], "one inventory: give -i once"),
        (["local", "--limit", ""], "--limit '' names no host: leave the option out"),
        (["local", "--exclude", " , "], "--exclude '' names no host: leave the option out"),
    ],
)
def test_words_that_name_nothing_are_one_line_and_no_host_is_asked(
    folder: Path, words: list[str], fault: str
) -> None:
    done = call("show", *words, "-o", "json", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert fault in done.stderr
    told = [line for line in done.stderr.splitlines() if not line.startswith(("Usage:", "Try ")) and line]
    assert len(told) == 1  # click's own have two lines more


def test_an_older_snapshot_is_replaced_only_where_that_is_asked_for(folder: Path) -> None:
    assert call("snapshot", "file:far/a.txt", "-d", "before", folder=folder).returncode == 0
    path = folder / "before" / "file_far_a.txt.json"
    path.write_text(path.read_text().replace("6291456", "1111111"))
    old = path.read_bytes()
    (folder / "far" / "a.txt").write_text("net.ipv4.tcp_rmem = 4096 131072 2222222\n")
    again = call("snapshot", "file:far/", "-d", "before", folder=folder)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == (
        "hostcfg: before/file_far_a.txt.json is there already: write elsewhere with -d,"
        " or replace with --force\n"
    )
    assert path.read_bytes() == old
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert call("snapshot", "file:far/", "-d", "before", "--force", folder=folder).returncode == 0
    assert b"2222222" in path.read_bytes()


def test_a_snapshot_says_when_it_was_taken_and_by_which_hostcfg(folder: Path) -> None:
    call("snapshot", "file:far/a.txt", "-d", "s", folder=folder)
    path = folder / "s" / "file_far_a.txt.json"
    taken = json.loads(path.read_text())["taken"]
    shown = json.loads(call("show", "file:s/", "-o", "json", folder=folder).stdout)["hosts"][0]["findings"][0]
    said = f"{taken[:10]} {taken[11:19]} UTC by hostcfg {__version__}"
    assert shown["kind"] == "snapshot"
    assert shown["message"] == f"a snapshot of file:far/a.txt, taken {said}"


def test_a_snapshot_of_the_first_hostcfg_does_not_say_which(folder: Path) -> None:
    call("snapshot", "file:far/a.txt", "-d", "s", folder=folder)
    path = folder / "s" / "file_far_a.txt.json"
    document = json.loads(path.read_text())
    del document["by"]
    path.write_text(json.dumps({**document, "taken": "2026-11-30T18:20:00+02:00"}))
    assert "taken 2026-11-30 18:20:00+02:00 by hostcfg\n" in call(
        "show", "file:s/", "-o", "markdown", folder=folder
    ).stdout.replace("  \n", "\n")


def test_verbose_says_what_is_done_on_each_host(folder: Path) -> None:
    done = call("show", "local", "local", "-o", "json", "-v", folder=folder)
    assert "hostcfg: local: ran /bin/sh, " in done.stderr
    assert call("show", "local", "-o", "json", folder=folder).stderr == ""


@pytest.mark.parametrize("command", ["show", "snapshot", "diff", "path", "plan", "apply"])
def test_every_command_that_takes_targets_says_where_they_are_told(folder: Path, command: str) -> None:
    shown = " ".join(call(command, "--help", folder=folder).stdout.split())
    assert shown.endswith("A target: local, HOST, NAME, @GROUP or file:PATH, as hostcfg --help has them.")
    told = call("--help", folder=folder).stdout
    assert all(f"  {word}" in told for word in ("local", "HOST", "NAME", "@GROUP", "file:PATH"))
