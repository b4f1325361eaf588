"""FreeBSD 5 and 6: a buffer has the size that it begins with, whatever maxsockbuf would allow."""

from __future__ import annotations

import pytest

from hostcfg.model import Link
from hostcfg.path import analyse_path

from .hosts import linux, pasted

LINK = Link(100e6, 0.03)  # BDP 375,000 bytes
TEXT = (
    "kern.osrelease: {release}\nkern.ipc.maxsockbuf: {cap}\nnet.inet.tcp.sendspace: {send}\n"
    "net.inet.tcp.recvspace: {recv}\nnet.inet.tcp.rfc1323: 1\n"
)


@pytest.mark.parametrize("release", ["5.5-RELEASE", "6.4-RELEASE"])
def test_the_first_size_is_the_window(release: str) -> None:
    old = pasted("old", TEXT.format(release=release, cap=262144, send=32768, recv=65536))
    back, there = analyse_path(old, linux("new"), LINK).directions
    assert (there.window_bytes, there.limited_by.key) == (65536, "net.inet.tcp.recvspace")
    assert there.predicted_bps == 45 * 1448 * 8 / 0.03  # 17.4 Mbit/s
    assert (back.window_bytes, back.limited_by.key) == (32768, "net.inet.tcp.sendspace")
    assert [(n.need.key, n.need.target) for n in there.needs] == [
        ("kern.ipc.maxsockbuf", 843_750),  # 9/8 of 2 x 375,000, and first: else every socket() fails
        ("net.inet.tcp.recvspace", 750_000),
    ]
    mended = pasted("old", TEXT.format(release=release, cap=843_750, send=750_000, recv=750_000))
    for direction in analyse_path(mended, linux("new"), LINK).directions:
        assert (direction.limited_by.kind, direction.needs) == ("link_rate", [])


def test_from_7_on_it_grows() -> None:
    text = TEXT.format(release="7.0-RELEASE", cap=262144, send=32768, recv=65536)
    newer = pasted("newer", f"{text}net.inet.tcp.recvbuf_max: 200000\n")
    there = analyse_path(linux("new"), newer, LINK).directions[0]
    assert (there.window_bytes, there.limited_by.key) == (200_000, "net.inet.tcp.recvbuf_max")
