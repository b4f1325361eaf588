"""Two or three hosts are shown in full; a line after them says what became of how many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .program import hostcfg

if TYPE_CHECKING:
    from pathlib import Path

WAN = ("--profile", "rfc1323-off", "--rate", "1gbit", "--rtt", "80ms")


def _mail(folder: Path, name: str, scaling: int) -> str:
    path = folder / f"{name}.txt"
    path.write_text(
        f"net.ipv4.tcp_window_scaling = {scaling}\nnet.ipv4.tcp_timestamps = 0\n"
        "net.ipv4.tcp_rmem = 4096 131072 131072\nnet.ipv4.tcp_wmem = 4096 16384 131072\n"
    )
    return f"file:{path}"


def test_the_last_line_counts(tmp_path: Path) -> None:
    off, on = _mail(tmp_path, "off", 0), _mail(tmp_path, "on", 1)
    gone = f"file:{tmp_path / 'gone.txt'}"
    ran = hostcfg("diff", off, on, gone, *WAN)
    assert ran.code == 2
    said = " ".join(ran.stdout.split("\n\n")[-1].split())
    assert said == (
        "3 hosts 1 could not be read, 1 differs from rfc1323-off at 1 Gbit/s x 80 ms (BDP 10,000,000 bytes), "
        "1 has no difference"
    )
    assert hostcfg("show", off, on).stdout.splitlines()[-1] == "2 hosts  2 read"


def test_one_host_is_not_counted(tmp_path: Path) -> None:
    assert "hosts" not in hostcfg("diff", _mail(tmp_path, "off", 0), *WAN).stdout
    assert "hosts" not in hostcfg("show", _mail(tmp_path, "off", 0)).stdout
