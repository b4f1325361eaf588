"""What a target on the command line names: this machine, a file, an inventory's hosts, an SSH host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from hostcfg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class HostSpec:
    """One host to read: how it is called in output and how it is reached.

    ``address`` is an SSH destination (``ssh``) or a path (``file``).  None means "not said":
    ssh_config, the banner and the defaults decide.  ``rate`` is text with its unit, ``key`` the path of
    a private key, ``jump`` a ProxyJump.
    """

    name: str
    kind: Literal["local", "ssh", "file"]
    address: str = ""
    port: int | None = None
    user: str | None = None
    key: str | None = None
    os: str | None = None
    become: Literal["sudo", "doas"] | None = None
    rate: str | None = None
    jump: str | None = None


class Inventory(Protocol):
    """What target selection needs of an inventory."""

    def match(self, pattern: str) -> Sequence[HostSpec]:
        """Hosts of a name, glob or ``@group``, in the inventory's order; empty if it names none."""


def resolve_targets(
    targets: Sequence[str], inventory: Inventory | None = None, *, once: bool = True
) -> list[HostSpec]:
    """Hosts in the order given; UsageError for an empty, unknown or matchless target.

    ``once``: a host that several targets name comes once.
    """
    specs = [spec for target in targets for spec in _resolve_one(target.strip(), inventory)]
    return list(dict.fromkeys(specs)) if once else specs


def _resolve_one(target: str, inventory: Inventory | None) -> Sequence[HostSpec]:
    if not target or target.startswith("-") or any(c.isspace() or not c.isprintable() for c in target):
        if not target.startswith("file:"):
            raise UsageError(f"{target!r} names no host; give local, a host, user@host:port or file:PATH")
    if target == "local":
        return [HostSpec("local", "local")]
    if target.startswith("file:"):
        path = target.removeprefix("file:")
        if not path:
            raise UsageError("file: needs a path, as in file:far-end.txt")
        return [HostSpec(target, "file", path)]
    hosts = inventory.match(target) if inventory is not None else ()
    if hosts:
        return hosts
    if target.startswith("@") or any(c in target for c in "*?"):
        where = (
            "the inventory has no such host or group" if inventory else "there is no inventory: give -i FILE"
        )
        raise UsageError(f"{target!r} matches nothing: {where}")
    return [HostSpec(target, "ssh", target)]
