"""A profile of one's own with a fault takes no other from the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .program import hostcfg

if TYPE_CHECKING:
    from pathlib import Path


def test_the_others_are_listed_and_each_fault_is_told(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(
        "name: good\nsummary: s\nwhen: w\n"
        "settings: {sack: {rule: exact, value: true, reason: r, source: s}}\n"
    )
    (tmp_path / "loop.yaml").write_text("name: loop\nsummary: s\nwhen: w\ninclude: loop\n")
    (tmp_path / "short.yaml").write_text("name: short\n")
    ran = hostcfg("profiles", "list", "-o", "json", HOSTCFG_PROFILES=str(tmp_path))
    assert ran.code == 2
    names = [profile["name"] for profile in ran.document["profiles"]]
    assert names == ["default", "good", "lan", "rfc1323-off", "wan"]
    loop, short = ran.stderr.splitlines()
    assert loop == f"hostcfg: {tmp_path}/loop.yaml:4: include: includes itself: loop -> loop"
    assert short.startswith(f"hostcfg: {tmp_path}/short.yaml:1: ")
