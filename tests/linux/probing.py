"""Runs the real probe under real shells, in namespaces that the test makes, and reads what it said."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from hostcfg.platforms.base import ProbeRequest
from hostcfg.platforms.framing import new_nonce, split_frames
from hostcfg.platforms.linux import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.model import Facts, Section

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "ash": ["busybox", "sh"]}

# A network namespace with its own /sys: what `ip netns exec` gives.
IN_NAMESPACE = ["unshare", "--net", "--mount", "sh", "-c"]


def script(request: ProbeRequest) -> str:
    """What goes to ``/bin/sh -s`` on a host."""
    return PLATFORM.probe(request).stdin.decode()


def sections_of(
    shell: Sequence[str] = ("sh",),
    *,
    peer: str | None = None,
    env: Mapping[str, str] | None = None,
) -> list[Section]:
    """Sections of one run of the probe, with the script on standard input as over SSH."""
    request = ProbeRequest(new_nonce(), peer)
    done = subprocess.run(
        [*shell, "-s"],
        input=script(request).encode(),
        capture_output=True,
        timeout=60,
        env={**os.environ, **(env or {})},
    )
    text, errors = (data.decode("utf-8", "backslashreplace") for data in (done.stdout, done.stderr))
    return split_frames(request.nonce, text, errors)


def sections_inside(prepare: str, *, shell: str = "sh", peer: str | None = None) -> list[Section]:
    """Sections of a probe in a fresh network and mount namespace, after the sh text ``prepare``."""
    request = ProbeRequest(new_nonce(), peer)
    start = f"mount -t sysfs sysfs /sys\nip link set lo up\n{prepare}\nexec {shell} -s"
    done = subprocess.run(
        [*IN_NAMESPACE, start], input=script(request).encode(), capture_output=True, timeout=60
    )
    text, errors = (data.decode("utf-8", "backslashreplace") for data in (done.stdout, done.stderr))
    return split_frames(request.nonce, text, errors)


def facts_of(sections: Sequence[Section]) -> Facts:
    return PLATFORM.assemble("host", sections)


def text_of(sections: Sequence[Section], kind: str) -> str:
    return "\n".join(section.text for section in sections if section.kind == kind)
