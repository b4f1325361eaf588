"""Linux: probe, parsers, keys, boot files, findings and write commands."""

from __future__ import annotations

from hostcfg.platforms.linux.platform import LinuxPlatform

PLATFORM = LinuxPlatform()
