"""Windows: netsh and PowerShell, in any language, from Vista and Server 2008 on."""

from __future__ import annotations

from hostcfg.platforms.windows.platform import PLATFORM

__all__ = ["PLATFORM"]
