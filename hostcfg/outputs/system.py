"""A host's system in words, the same in every output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.platforms import get_platform

if TYPE_CHECKING:
    from hostcfg.model import Facts


def system_of(facts: Facts) -> str:
    """``Debian GNU/Linux 12 (bookworm), Linux 6.1.0``; ``Linux, release unknown`` if nothing says which."""
    return facts.os_version or f"{title_of(facts.os)}, release unknown"


def title_of(os_name: str) -> str:
    """The system's name as people write it."""
    return get_platform(os_name).title
