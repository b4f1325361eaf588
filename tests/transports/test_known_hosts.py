"""The known_hosts index: what ssh-keygen writes and finds, and what it costs."""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.transports.known_hosts import KnownHosts, fingerprint, matches, new_line
from tests.sshd import fingerprint_of, make_key, public_line

if TYPE_CHECKING:
    from pathlib import Path

A, B, C = ("AAAA" + base64.b64encode(bytes([n]) * 30).decode() for n in range(3))


def index(text: str) -> KnownHosts:
    known = KnownHosts()
    known.add_text(text, "kh")
    return known


def places(known: KnownHosts, name: str) -> list[str]:
    return [key.place for key in known.keys_for(name)]


def test_every_kind_of_line() -> None:
    known = index(
        f"# comment\n\n"
        f"far,192.0.2.1 ssh-ed25519 {A} a comment\n"
        f"[far]:2222 ssh-rsa {B}\n"
        f"*.example.org,!bad.example.org ssh-ed25519 {C}\n"
        f"@cert-authority *.example.org ssh-ed25519 {A} ca\n"
        f"@revoked * ssh-rsa {C}\n"
        f"  FAR2\tecdsa-sha2-nistp256\t{B}\n"
        f"[web?]:22* ssh-rsa {A}\n"
        f"2001:db8::1 ssh-rsa {A}\n"
    )
    assert places(known, "far") == ["kh:3", "kh:7"]
    assert places(known, "192.0.2.1") == ["kh:3", "kh:7"]
    assert places(known, "[far]:2222") == ["kh:4", "kh:7"]
    assert places(known, "x.example.org") == ["kh:5", "kh:6", "kh:7"]
    assert places(known, "bad.example.org") == ["kh:6", "kh:7"]
    assert places(known, "far2") == ["kh:8", "kh:7"]
    assert places(known, "[web1]:2200") == ["kh:7", "kh:9"]
    assert places(known, "2001:db8::1") == ["kh:10", "kh:7"]
    assert [key.marker for key in known.keys_for("x.example.org")] == ["", "@cert-authority", "@revoked"]
    assert known.skipped == []


def test_damaged_lines_are_named_and_match_nothing() -> None:
    known = index(f"far ssh-rsa\n|1|x|y ssh-rsa {A}\n@new far ssh-rsa {A}\nfar ssh-rsa ***\nfar ssh-rsa é\n")
    assert known.skipped == ["kh:1", "kh:2", "kh:3"]
    assert [key.blob for key in known.keys_for("far")] == [b"", b""]


def test_a_form_feed_starts_no_line() -> None:
    assert places(index(f"a ssh-rsa {A} x\x0cy\nb ssh-rsa {B}\n"), "b") == ["kh:2"]


def test_finds_what_ssh_keygen_hashed(tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    path = tmp_path / "known_hosts"
    path.write_text(f"far,192.0.2.1 {public_line(key)}\n[near]:2222 {public_line(key)}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(path)], check=True, stderr=subprocess.DEVNULL)
    text = path.read_text()
    assert "far" not in text
    for name in ("far", "192.0.2.1", "[near]:2222"):
        assert [known.key_type for known in index(text).keys_for(name)] == ["ssh-ed25519"], name
    assert places(index(text), "near") == []


def test_ssh_keygen_finds_what_we_write(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    key = make_key(tmp_path / "key")
    blob = base64.b64decode(public_line(key).split()[1])
    path.write_text(new_line("[far]:2222", "ssh-ed25519", blob, salt=b"s" * 20))
    found = subprocess.run(
        ["ssh-keygen", "-F", "[far]:2222", "-f", str(path)], check=True, capture_output=True, text=True
    )
    assert "found: line 1" in found.stdout
    assert fingerprint(blob) == fingerprint_of(key)


@given(st.text(alphabet="ab*?!,[]:.", max_size=30), st.text(alphabet="ab[]:.", max_size=12))
def test_patterns_end_and_agree_with_a_regex(pattern: str, name: str) -> None:
    import re

    found = False
    for part in pattern.split(","):
        body = part.removeprefix("!")
        regex = "".join(
            ".*" if c == "*" else "." if c == "?" else re.escape(c) for c in re.sub(r"\*+", "*", body)
        )
        if re.fullmatch(regex, name):
            if part.startswith("!"):
                found = False
                break
            found = True
    assert matches(pattern, name) == found


@pytest.mark.parametrize(
    ("pattern", "is_met"), [("*a" * 500 + "b", False), ("*" * 10_000, True), ("?" * 10_000, False)]
)
def test_hostile_patterns_come_to_an_end(pattern: str, is_met: bool) -> None:
    assert matches(pattern, "a" * 255) is is_met


def test_four_thousand_lines_are_told_apart() -> None:
    text = "".join(
        f"host{n}.example.org,10.0.{n // 250}.{n % 250} ssh-ed25519 {A}{n} c\n" for n in range(4000)
    )
    known = index(text)
    found = [known.keys_for(f"host{n}.example.org") for n in range(0, 4000, 10)]
    assert all(len(keys) == 1 for keys in found)


def test_the_last_of_four_thousand_hashed_lines_is_found() -> None:
    text = "".join(new_line(f"host{n}", "ssh-ed25519", b"k", salt=n.to_bytes(20, "big")) for n in range(4000))
    known = index(text)
    assert places(known, "host3999") == ["kh:4000"]


def test_a_file_that_never_ends_is_named_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.touch()
    with path.open("r+b") as file:
        file.truncate(65 << 20)
    index = KnownHosts()
    index.add_file(str(path))
    assert index.unreadable == [str(path)]
