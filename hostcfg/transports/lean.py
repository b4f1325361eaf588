"""paramiko without what hostcfg has no use for."""

from __future__ import annotations

import sys


def import_paramiko() -> None:
    """Import it, unless that has been done, as if ``invoke`` were not installed.

    paramiko.config asks for invoke to run ``Match exec``, which hostcfg does itself
    (``ssh_config_match``); invoke brings asyncio and unittest.mock, a third of what paramiko costs a
    start.  paramiko is made to do without it.
    """
    hidden = "invoke" not in sys.modules
    if hidden:
        sys.modules["invoke"] = None  # type: ignore[assignment]  # Python's way to say: not there
    try:
        import paramiko  # noqa: F401
    finally:
        if hidden:
            del sys.modules["invoke"]
