"""What is no text is refused before any parser looks at it; what damage leaves of a text is not."""

from __future__ import annotations

import gzip
import random
import sys
from pathlib import Path

import pytest

from hostcfg.errors import InputError
from hostcfg.pasted import parse_pasted, text_of
from hostcfg.platforms import all_parsers, parsers_for

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
TEXTS = sorted(path for path in FIXTURES.rglob("*") if path.is_file() and path.name != "index.yaml")
FACTS = b"net.core.rmem_max = 212992\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def refused(data: bytes) -> bool:
    try:
        text_of(data, "far.txt")
    except InputError as error:
        return str(error).startswith("far.txt: is no text") and "plain text" in str(error)
    return False


@pytest.mark.parametrize(
    "data",
    [Path(sys.executable).read_bytes()[:400_000], PNG, gzip.compress(FACTS * 200, mtime=0), bytes(5000)],
    ids=["program", "png", "gzip", "zeros"],
)
def test_no_text(data: bytes) -> None:
    assert refused(data)


@pytest.mark.parametrize(("size", "seeds"), [(200, 200), (1000, 100), (100_000, 3)])
def test_random_bytes_are_no_text(size: int, seeds: int) -> None:
    assert all(refused(random.Random(f"{size} {seed}").randbytes(size)) for seed in range(seeds))


def test_fifty_random_bytes_say_nothing() -> None:
    """They may look like a text; no parser finds a value in them."""
    for seed in range(200):
        data = random.Random(seed).randbytes(50)
        if not refused(data):
            text = text_of(data, "far.txt")
            assert parse_pasted(text, parsers_for(text)) is None, seed


@pytest.mark.parametrize("path", TEXTS, ids=[path.name for path in TEXTS])
def test_every_sample_is_a_text_and_stays_one_when_bits_flip(path: Path) -> None:
    data = path.read_bytes()
    assert not refused(data)
    pick = random.Random(path.name)
    damaged = bytearray(data)
    for _ in range(max(2, len(data) // 200)):
        damaged[pick.randrange(len(damaged))] ^= 1 << pick.randrange(8)
    assert not refused(bytes(damaged))


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[32m$ \x1b[0msysctl -a\x07\r\n" + FACTS + b"ls\x08\x08 \x08\r\n",  # a terminal's own record
        FACTS + bytes(4096),  # the machine crashed before the file was written
        FACTS + "netsh interface tcp show global\r\n".encode("utf-16-le") * 20,  # PowerShell's >>
        "Ä\x84\x81: Ü\x9c\n".encode() + FACTS,  # UTF-8 that was encoded twice
    ],
    ids=["terminal", "zeros at the end", "two encodings", "encoded twice"],
)
def test_a_text_with_odd_characters_is_read(data: bytes) -> None:
    text = text_of(data, "far.txt")
    parsed = parse_pasted(text, all_parsers())
    assert parsed is not None
    assert parsed.values["net.core.rmem_max"] == 212992


def test_what_powershell_appended_is_read_too() -> None:
    shown = (FIXTURES / "windows" / "tcp_show_global__server2008__en__01.txt").read_text("utf-8")
    text = text_of(b"C:\\> ver\r\n\r\n" + shown.encode("utf-16-le"), "far.txt")
    appended, alone = parse_pasted(text, all_parsers()), parse_pasted(shown, all_parsers())
    assert appended is not None
    assert alone is not None
    assert appended.values == alone.values
