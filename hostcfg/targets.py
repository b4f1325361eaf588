"""What a target on the command line names: this machine, a file, an inventory's hosts, an SSH host."""

from __future__ import annotations

import ipaddress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, Protocol

from hostcfg.errors import UsageError
from hostcfg.lean import dataclass, regex
from hostcfg.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.errors import HostcfgError
    from hostcfg.model import Json


@dataclass(frozen=True, slots=True)
class HostSpec:
    """One host to read: how it is called in output and how it is reached.

    ``address`` is an SSH destination (``ssh``) or a path (``file``).  None means "not said":
    ssh_config, the banner and the defaults decide.  ``rate`` is text with its unit, ``key`` the path of
    a private key, ``jump`` a ProxyJump, ``path_address`` where the other end of a path reaches the host
    if that is not where SSH does.  ``problem``: why the inventory's entry can't be used, a fault of this
    host alone.
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
    path_address: str | None = None
    problem: HostcfgError | None = None


_REACH = ("kind", "address", "port", "user", "key", "os", "become", "jump")


_HOST_NAME = regex(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_ZONE = regex(r"[A-Za-z0-9._-]{0,64}")


def checked_address(text: str) -> str:
    """``text`` if it is an IP address, with or without a zone, or a host name (RFC 1123); UsageError for
    anything else.
    """
    zone = text.partition("%")[2]
    try:
        if _ZONE.fullmatch(zone):
            return str(ipaddress.ip_address(text))
    except ValueError:
        if _HOST_NAME.fullmatch(text):
            return text
    raise UsageError(f"{text[:60]!r} is neither an IP address nor a host name")


def to_reach(spec: HostSpec) -> dict[str, str | int]:
    """How a host is reached as the journal keeps it; there is no secret in it."""
    return {name: value for name in _REACH if (value := getattr(spec, name)) not in (None, "")}


def from_reach(name: str, reach: Mapping[str, Json]) -> HostSpec:
    """The host that :func:`to_reach` described; UsageError for what is no such description."""
    known = {field: reach[field] for field in _REACH if isinstance(reach.get(field), (str, int))}
    if known.get("kind") not in ("local", "ssh"):
        raise UsageError(f"the journal does not say how {name} is reached: give -i FILE")
    return HostSpec(name, **known)  # type: ignore[arg-type]  # what to_reach wrote


class Inventory(Protocol):
    """What target selection needs of an inventory."""

    @property
    def names(self) -> Sequence[str]:
        """Every host."""

    @property
    def groups(self) -> Mapping[str, Sequence[str]]:
        """Group name -> its hosts."""

    def match(self, pattern: str) -> Sequence[HostSpec]:
        """Hosts of a name, glob or group, in the inventory's order; empty if it names none."""

    def match_names(self, pattern: str) -> Sequence[str]:
        """Their names alone: none of them need be reachable."""


def resolve_targets(
    targets: Sequence[str], inventory: Inventory | None = None, *, once: bool = True
) -> list[HostSpec]:
    """Hosts in the order given; UsageError for an empty, unknown or matchless target.

    ``once``: a host that several targets name comes once.
    """
    specs = [spec for target in targets for spec in _resolve_one(target.strip(), inventory)]
    return list(dict.fromkeys(specs)) if once else specs


def _resolve_one(target: str, inventory: Inventory | None) -> Sequence[HostSpec]:
    odd = not target or target.startswith("-") or any(c.isspace() or not c.isprintable() for c in target)
    if odd and not target.startswith("file:"):
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
    if inventory is not None and target.removeprefix("@") in ("all", *inventory.groups):
        raise UsageError(f"{target!r} has no hosts in this inventory")
    if target.startswith("@") or _is_pattern(target):
        if inventory is None:
            raise UsageError(f"{target!r} matches nothing: there is no inventory: give -i FILE")
        where = f"the inventory has no such host or group{near_name(target, inventory)}"
        raise UsageError(f"{target!r} matches nothing: {where}")
    return [HostSpec(target, "ssh", target)]


def _is_pattern(target: str) -> bool:
    """Whether it is a glob or a range; ``[`` stands before an address, too."""
    host = target.rpartition("@")[2].removeprefix("ssh://")
    return any(c in target for c in "*?") or "[" in host[1:]


_MOST_COMPARED = 5_000
"""Names that a slip is held against: each takes some 20 us."""


def near_name(word: str, inventory: Inventory | None, more: Sequence[str] = ()) -> str:
    """``; did you mean 'lon-1'?``, or nothing: of ``local``, the inventory's hosts and groups, and ``more``.

    A glob is held against names without its wildcards: ``lon*x`` is near ``lon-1``.
    """
    names = dict.fromkeys([*more, "local"])
    if inventory is not None:
        names |= dict.fromkeys([*inventory.names, *inventory.groups, "all"])
    at = "@" if word.startswith("@") else ""
    known = [name for name in names if not at or (inventory is not None and name in inventory.groups)]
    bare = "".join(c for c in word if c not in "@*?[]!")
    near = nearest(bare, [name for name in known[:_MOST_COMPARED] if name != bare])
    return f"; did you mean {at + near!r}?" if near is not None else ""


def select(
    specs: Sequence[HostSpec],
    inventory: Inventory | None,
    *,
    limit: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> list[HostSpec]:
    """``specs`` that one of ``limit`` names (all, if there is none) and none of ``exclude`` does.

    Patterns are names, globs and groups; several may stand in one, with commas.  UsageError for a
    pattern that names nothing, since a slip in it would change other hosts than was meant, and if no
    host is left.
    """
    wanted = _names(limit, specs, inventory, "--limit") if limit else {spec.name for spec in specs}
    unwanted = _names(exclude, specs, inventory, "--exclude")
    chosen = [spec for spec in specs if spec.name in wanted and spec.name not in unwanted]
    if specs and not chosen:
        raise UsageError("--limit and --exclude leave no host")
    return chosen


def _names(
    patterns: Sequence[str], specs: Sequence[HostSpec], inventory: Inventory | None, option: str
) -> set[str]:
    found: set[str] = set()
    parts = [[part.strip() for part in text.split(",") if part.strip()] for text in patterns]
    if not all(parts):  # an empty variable of a script, which must not mean "no limit"
        raise UsageError(f"{option} '' names no host: leave the option out, or give a name, glob or @group")
    for pattern in (part for some in parts for part in some):
        named = {spec.name for spec in specs if fnmatchcase(spec.name, pattern)}
        if inventory is not None:
            named |= set(inventory.match_names(pattern))
        if not named:
            where = "" if inventory is not None else " among the targets; groups need an inventory: -i FILE"
            near = near_name(pattern, inventory, [spec.name for spec in specs])
            raise UsageError(f"{option} {pattern!r} names no host{where}{near}")
        found |= named
    return found
