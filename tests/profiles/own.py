"""Profiles written by tests, and their targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.model import Link, Target
from hostcfg.platforms.base import ProfileContext
from hostcfg.profiles import load_profile, profile_targets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hostcfg.model import Scalar
    from hostcfg.profiles import ProfileTargets

LINK = Link(100e6, 0.08)  # BDP 1,000,000 bytes

HEAD = "name: own\nsummary: s\nwhen: w\n"


def row(rule: str, value: str, *more: str) -> str:
    return "".join(
        f"    {line}\n" for line in [f"rule: {rule}", f"value: {value}", "reason: r", "source: RFC 1", *more]
    )


def targets(
    folder: Path,
    text: str,
    *,
    os: str = "linux",
    link: Link | None = LINK,
    inputs: Mapping[str, str] | None = None,
    context: ProfileContext | None = None,
    supported: list[str] | None = None,
) -> ProfileTargets:
    path = folder / "own.yaml"
    path.write_text(HEAD + text)
    return profile_targets(
        load_profile(str(path)),
        os=os,
        context=context or ProfileContext(),
        link=link,
        inputs=inputs or {},
        supported=supported,
    )


def one(folder: Path, text: str, known: Mapping[str, Scalar] | None = None) -> Target:
    (target,) = targets(folder, text, context=ProfileContext(known or {})).targets
    return target
