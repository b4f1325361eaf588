"""What the boot files of a BSD will make of a host: doubles, and values that differ from the running ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Finding
from hostcfg.platforms.bsd.values import parse_int

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from hostcfg.model import Facts
    from hostcfg.platforms.bsd.assembly import BootFiles
    from hostcfg.platforms.bsd.conf import Assignment


def duplicate_assignments(boot: BootFiles) -> Iterator[Finding]:
    """Keys that one loader sets more than once: the last one wins."""
    by_key: dict[tuple[str, str], list[Assignment]] = {}
    for loader, found in boot.assignments:
        by_key.setdefault((loader, found.name), []).append(found)
    for (_, name), given in by_key.items():
        if len(given) > 1:
            places = ", ".join(f"{found.path}:{found.line} ({found.value})" for found in given)
            yield Finding(
                "duplicate_assignment",
                "warning",
                f"{name} is set {len(given)} times, {places}: the last one wins",
                (name,),
            )


def boot_differences(facts: Facts, boot: BootFiles, skip: Collection[str]) -> Iterator[Finding]:
    """Running values that the next boot is asked to change; ``skip`` names what it can't change."""
    for name, found in boot.of("rc.d/sysctl").items():
        read = facts.native.get(name)
        if name in skip or read is None or read.raw is None or same_value(read.raw, found.value):
            continue
        yield Finding(
            "boot_differs",
            "warning",
            f"{name} is {' '.join(read.raw.split())} now, and {found.path}:{found.line} asks for "
            f"{found.value} at the next boot",
            (name,),
        )


def after_boot(values: Mapping[str, int], boot: BootFiles) -> dict[str, int]:
    """Integers as they will be once the boot files were read, where those are integers."""
    asked = {name: parse_int(found.value) for name, found in boot.of("rc.d/sysctl").items()}
    return {**values, **{name: number for name, number in asked.items() if number is not None}}


def same_value(running: str, configured: str) -> bool:
    """Whether two texts are one value: numbers as numbers (0x8000 is 32768), the rest word by word."""
    a, b = parse_int(running), parse_int(configured)
    if a is not None and b is not None:
        return a == b
    return running.split() == configured.split()
