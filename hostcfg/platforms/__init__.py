"""The operating systems that hostcfg knows: every folder here that has a ``PLATFORM`` or ``PARSERS``."""

from __future__ import annotations

import pkgutil
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.platforms.base import Parser, Platform
    from hostcfg.platforms.sure import Sure


@cache
def platform_names() -> tuple[str, ...]:
    """Folder names of this package, sorted; finding an OS is this scan and nothing else."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg))


@cache
def get_platform(name: str) -> Platform:
    """The platform called ``name``; UsageError that lists the known ones."""
    if name in platform_names():
        found: Platform | None = getattr(import_module(f"{__name__}.{name}"), "PLATFORM", None)
        if found is not None:
            return found
    known = ", ".join(p.name for p in all_platforms())
    raise UsageError(f"unknown operating system {name!r}; known are {known}")


@cache
def all_platforms() -> tuple[Platform, ...]:
    """Every platform that can be read, by name."""
    modules = (import_module(f"{__name__}.{name}") for name in platform_names())
    return tuple(m.PLATFORM for m in modules if hasattr(m, "PLATFORM"))


def parsers_for(text: str) -> Sequence[Parser]:
    """The parsers that can know ``text``: those of some folders where one is sure of it, else all.

    ``sure_of`` in a folder's file ``sure.py`` says so (:mod:`hostcfg.platforms.sure`).
    """
    for name in _sure_names():
        sure: Sure | None = import_module(f"{__name__}.{name}.sure").sure_of(text)
        if sure is not None:
            parsers = [parser for folder in sure.folders for parser in _parsers_of(folder)]
            return tuple(parser for parser in parsers if sure.kinds is None or parser.kind in sure.kinds)
    return all_parsers()


@lru_cache(maxsize=4096)
def folders_with(name: str) -> tuple[str, ...] | None:
    """The folders whose systems alone have settings below ``name`` (``net.ipv4``); None: not sure."""
    for folder in _sure_names():
        sure: Sure | None = import_module(f"{__name__}.{folder}.sure").sure_of(f"{name}.x = 1\n")
        if sure is not None:
            return sure.folders
    return None


@cache
def systems_of(folders: tuple[str, ...]) -> frozenset[str]:
    """The systems, by the names that parsers give them, whose parsers stand in ``folders``."""
    return frozenset(parser.os for folder in folders for parser in _parsers_of(folder))


@cache
def _sure_names() -> tuple[str, ...]:
    folders = [Path(path) for path in __path__]
    return tuple(n for n in platform_names() if any((folder / n / "sure.py").is_file() for folder in folders))


@cache
def all_parsers() -> Sequence[Parser]:
    """Every parser of every folder, look-alikes of other systems included."""
    return tuple(parser for name in platform_names() for parser in _parsers_of(name))


def _parsers_of(name: str) -> Sequence[Parser]:
    module = import_module(f"{__name__}.{name}")
    own = module.PLATFORM.parsers if hasattr(module, "PLATFORM") else ()
    return (*own, *getattr(module, "PARSERS", ()))
