"""Where profiles are, and how one file and all that it includes become one profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.errors import ProfileError, UsageError
from hostcfg.nearest import did_you_mean
from hostcfg.platforms import platform_names
from hostcfg.profiles.document import compose, read_text
from hostcfg.profiles.names import name_problems
from hostcfg.profiles.schema import Draft, read_draft
from hostcfg.profiles.structure import Block, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIXES = (".yaml", ".yml")
_DEEPEST_INCLUDE = 8


def builtin_directory() -> Path:
    """The profiles that come with hostcfg: inside an installed wheel, or at the top of a checkout."""
    package = Path(__file__).resolve().parent.parent
    for directory in (package / "_profiles", package.parent / "profiles"):
        if (directory / "wan.yaml").is_file():
            return directory
    raise ProfileError("the profiles that come with hostcfg are missing; install it again", path=str(package))


def find_profile(name_or_path: str, directories: Sequence[str | Path] = ()) -> Profile:
    """The profile of a name, a file, or a directory that holds just one.

    A name is a file's name without its suffix, looked for in ``directories`` and then among the
    built-in ones; what holds a slash or ends in .yaml is a path.  UsageError for an unknown name
    (with the nearest) and for a directory with none or several; ProfileError for a faulty file.
    """
    return load_profile(str(_locate(name_or_path, directories)), directories)


def list_profiles(directories: Sequence[str | Path] = ()) -> list[Profile]:
    """Every profile, by name; one in ``directories`` hides a built-in one of the same name.

    ProfileError for the first that has a fault; :func:`profiles_and_faults` has the others all the same.
    """
    profiles, faults = profiles_and_faults(directories)
    if faults:
        raise faults[0]
    return profiles


def profiles_and_faults(directories: Sequence[str | Path] = ()) -> tuple[list[Profile], list[ProfileError]]:
    """Every profile that can be used, by name, and the first fault of each that can't."""
    profiles, faults = [], []
    for _, path in sorted(_by_name([*directories, builtin_directory()]).items()):
        try:
            profiles.append(load_profile(str(path), directories))
        except ProfileError as fault:
            faults.append(fault)
    return profiles, faults


def load_profile(path: str, directories: Sequence[str | Path] = ()) -> Profile:
    """One file and all that it includes; ProfileError for its first fault."""
    profile, problems = load_with_problems(path, directories)
    if profile is None or problems:
        first = problems[0]
        more = len(problems) - 1
        if more:
            message = f"{first.message} (and {more} more; `hostcfg profiles check` lists them)"
            raise ProfileError(message, path=first.path, line=first.line, key=first.key)
        raise first
    return profile


def load_with_problems(
    path: str, directories: Sequence[str | Path] = ()
) -> tuple[Profile | None, list[ProfileError]]:
    """The profile, as far as it can be read, and all its faults in the order of the file."""
    try:
        draft = _draft(path)
        merged, problems = _with_includes(draft, directories, (Path(path).resolve(),))
    except ProfileError as error:
        return None, [error]
    profile = Profile(
        name=draft.name,
        summary=draft.summary,
        when=draft.when,
        path=path,
        inputs=merged.inputs,
        common=merged.common,
        systems=merged.systems,
    )
    if all(map(is_of_a_row, problems)):  # what formulas name is known then
        problems = [*problems, *name_problems(profile)]
    return profile, sorted(problems, key=lambda p: (p.path != path, p.line or 0))


def is_of_a_row(problem: ProfileError) -> bool:
    """Whether a fault is in a row of ``settings``: names and inputs stand, so the rest can be judged."""
    key = problem.key or ""
    return key.startswith("settings.") or (key.startswith("os.") and ".settings." in key)


def _draft(path: str) -> Draft:
    return read_draft(compose(read_text(path), path), path, platform_names())


def _with_includes(
    draft: Draft, directories: Sequence[str | Path], chain: tuple[Path, ...]
) -> tuple[Draft, list[ProfileError]]:
    """``draft`` over all that it includes; a later include is over an earlier one."""
    problems = list(draft.problems)
    base: Draft | None = None
    for reference, where in draft.include:
        try:
            path = _locate_include(reference, draft.path, directories)
        except UsageError as error:
            problems.append(where.error(error.message))
            continue
        if path.resolve() in chain:
            circle = " -> ".join(p.stem for p in [*chain[chain.index(path.resolve()) :], path])
            problems.append(where.error(f"includes itself: {circle}"))
            continue
        if len(chain) > _DEEPEST_INCLUDE:
            problems.append(where.error(f"includes go deeper than {_DEEPEST_INCLUDE} files"))
            continue
        try:
            included, faults = _with_includes(_draft(str(path)), directories, (*chain, path.resolve()))
        except ProfileError as error:
            problems.append(error)
            continue
        problems += faults
        base = included if base is None else _over(included, base)
    return (draft if base is None else _over(draft, base)), problems


def _over(own: Draft, base: Draft) -> Draft:
    """``base`` with ``own`` in place of what has the same name.

    What ``own`` says for all systems also replaces what ``base`` says for one of them.
    """
    systems = {os: _without(block, own.common) for os, block in base.systems.items()}
    for os, block in own.systems.items():
        systems[os] = block.over(systems.get(os, Block()))
    return Draft(
        path=own.path,
        name=own.name,
        summary=own.summary,
        when=own.when,
        include=own.include,
        inputs={**base.inputs, **own.inputs},
        common=own.common.over(base.common),
        systems=systems,
        problems=own.problems,
    )


def _without(block: Block, overriding: Block) -> Block:
    return Block(
        {name: item for name, item in block.let.items() if name not in overriding.let},
        {name: item for name, item in block.caps.items() if name not in overriding.caps},
        {name: item for name, item in block.rows.items() if name not in overriding.rows},
        block.notes,
    )


def _locate_include(reference: str, from_path: str, directories: Sequence[str | Path]) -> Path:
    """An included profile: a path from the including file's folder, a file beside it, or a name."""
    folder = Path(from_path).parent
    if _is_path(reference):
        return folder / reference
    for suffix in SUFFIXES:
        beside = folder / f"{reference}{suffix}"
        if beside.is_file():
            return beside
    return _locate(reference, directories)


def _locate(name_or_path: str, directories: Sequence[str | Path]) -> Path:
    path = Path(name_or_path)
    if not name_or_path or "\0" in name_or_path:
        raise UsageError(f"{name_or_path!r} names no profile")
    if not _is_path(name_or_path):
        named = _by_name([*directories, builtin_directory()])
        if name_or_path in named:
            return named[name_or_path]
        beside = next((s for s in SUFFIXES if Path(name_or_path + s).is_file()), None)
        if beside is not None and not path.exists():
            file = name_or_path + beside
            message = f"{file} is here: name the file, as in --profile {file}"
            raise UsageError(f"unknown profile {name_or_path[:60]!r}, but {message}")
        if not path.exists():
            raise UsageError(f"unknown profile {name_or_path[:60]!r}{did_you_mean(name_or_path, named)}")
    if not path.is_dir():
        return path
    found = _files(path)
    if not found:
        raise UsageError(f"{path} holds no profile; a profile is a .yaml file")
    if len(found) > 1:
        names = ", ".join(str(file) for file in found[:6])
        raise UsageError(f"{name_or_path} holds several profiles; name one of {names}")
    return found[0]


def _is_path(text: str) -> bool:
    return "/" in text or "\\" in text or text.endswith(SUFFIXES)


def _by_name(directories: Sequence[str | Path]) -> dict[str, Path]:
    """Files by name, the first directory's before the next one's."""
    named: dict[str, Path] = {}
    for directory in directories:
        for file in _files(Path(directory)):
            named.setdefault(file.stem, file)
    return named


def _files(directory: Path) -> list[Path]:
    """Its profiles, sorted; UsageError for a directory that can't be listed."""
    try:
        return sorted(p for p in directory.iterdir() if p.suffix in SUFFIXES and not p.name.startswith("."))
    except OSError as error:
        raise UsageError(f"{directory}: can't be listed: {error.strerror}") from error
