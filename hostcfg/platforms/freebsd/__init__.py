"""FreeBSD."""

from __future__ import annotations

from hostcfg.platforms.freebsd.platform import FreeBsd

PLATFORM = FreeBsd()
