"""``profiles check``: every fault of a profile, its formulas tried for every system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.errors import HostcfgError, ProfileError
from hostcfg.model import Link
from hostcfg.nearest import did_you_mean
from hostcfg.platforms.base import ProfileContext
from hostcfg.profiles.files import is_of_a_row, load_with_problems
from hostcfg.profiles.names import name_problems
from hostcfg.profiles.structure import LINK_NAMES
from hostcfg.profiles.targets import profile_targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hostcfg.model import Target
    from hostcfg.platforms.base import Key, Platform
    from hostcfg.profiles.structure import Expression, Input, Profile

TRIAL_LINKS = (
    Link(1e9, 0.080),  # a long fat network
    Link(64e3, 0.600),  # a thin one over a satellite
    Link(1e9, 0.00025),  # a LAN
    Link(400e9, 0.300),  # what comes next: 15 GB in flight
)
"""Links that ``check_profile`` tries every formula with."""

_EXACT = {"size": "{}", "rate": "{!r}bit/s", "time": "{!r}s", "count": "{}", "ratio": "{:.15g}%"}
_SAMPLES = {"size": 65536, "rate": 1e8, "time": 0.08, "count": 4, "ratio": 0.01}


def check_profile(path: str, directories: Sequence[str | Path] = ()) -> list[ProfileError]:
    """All faults, in the order of the file; each prints as ``file:line: key: message``.

    Beside the form and the names, every formula is evaluated for every system, with a typical host
    of that system and one of which nothing is known, over links from a LAN to 400 Gbit/s, with
    the inputs' defaults, bounds and choices.
    """
    profile, problems = load_with_problems(path, directories)
    if profile is None or not all(map(is_of_a_row, problems)) or name_problems(profile):
        return problems
    found = {str(problem): problem for problem in problems}
    for problem in [*_unknown_to_platforms(profile), *_trials(profile)]:
        found.setdefault(str(problem), problem)
    return sorted(found.values(), key=lambda p: (p.path != path, p.line or 0))


def _contexts() -> dict[str, ProfileContext]:
    """What a typical host of each system offers to formulas."""
    from hostcfg.platforms import all_platforms

    return {platform.name: platform.profile_context(None) for platform in all_platforms()}


def _unknown_to_platforms(profile: Profile) -> Iterator[ProfileError]:
    """Names in ``default(name, value)`` that nothing ever gives a value to: a slip of the pen."""
    offered = {name for context in _contexts().values() for name in context.inputs}
    for os in [*profile.systems, ""]:
        block = profile.block(os)
        known = {*offered, *LINK_NAMES, *profile.inputs, *block.let}
        for expression in _expressions(profile, os):
            for name in sorted(expression.formula.optional - known):
                message = f"nothing gives {name!r} a value, so its default always holds"
                yield expression.where.error(message + did_you_mean(name, known))


def _expressions(profile: Profile, os: str) -> Iterator[Expression]:
    from hostcfg.profiles.structure import row_expressions

    block = profile.block(os)
    yield from block.let.values()
    for rows in block.rows.values():
        for row in rows:
            yield from row_expressions(row, block)
    for note in block.notes:
        yield from note.text.expressions()
        if note.when is not None:
            yield note.when


def _trials(profile: Profile) -> Iterator[ProfileError]:
    contexts = _contexts()
    for os in sorted({*contexts, *profile.systems}):
        for context in (contexts.get(os, ProfileContext()), ProfileContext()):
            for link in TRIAL_LINKS:
                for inputs in _input_trials(profile):
                    try:
                        found = profile_targets(profile, os=os, context=context, link=link, inputs=inputs)
                        yield from _refused(profile, os, found.targets)
                    except ProfileError as error:
                        yield error
                    except HostcfgError as error:
                        yield ProfileError(f"on {os}: {error.message}", path=profile.path, key=error.key)


def _refused(profile: Profile, os: str, targets: Sequence[Target]) -> Iterator[ProfileError]:
    """Words and native keys that the system's commands would not take."""
    from hostcfg.platforms import get_platform, platform_names

    if os not in platform_names():
        return
    platform, rows = get_platform(os), profile.block(os).rows
    keys = platform.keys(None)
    for target in targets:
        words = target.value if isinstance(target.value, tuple) else (target.value,)
        for word in words:
            try:
                if target.key is not None:
                    platform.set_command(target.key, str(int(word)) if isinstance(word, bool) else str(word))
                elif isinstance(word, str) and target.setting in keys:
                    _encode(platform, keys[target.setting], word)
            except (ValueError, HostcfgError) as error:
                yield rows[target.setting][0].where.error(f"{platform.title} can't have this: {error}")


def _encode(platform: Platform, key: Key, word: str) -> None:
    """ValueError or UsageError where no command sets ``word``; some keys keep bits of what is there."""
    if key.encode is not None:
        platform.set_command(key.name, key.encode("0", word))


def _input_trials(profile: Profile) -> Iterator[dict[str, str]]:
    """The defaults; and each input at its bounds and choices, the others at their defaults."""
    yield {}
    for name, wanted in profile.inputs.items():
        for text in _texts(wanted):
            yield {name: text}


def _texts(wanted: Input) -> Iterator[str]:
    if wanted.type == "choice":
        yield from wanted.choices
        return
    bounds = [bound for bound in (wanted.low, wanted.high) if bound is not None]
    if wanted.default is None and not bounds:
        bounds = [_SAMPLES[wanted.type]]
    for bound in bounds:
        yield _EXACT[wanted.type].format(bound * 100 if wanted.type == "ratio" else bound)
