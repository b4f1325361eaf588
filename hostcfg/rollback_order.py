"""In which order changes of one host are taken back: the newest of a setting first.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.changes import Fault
from hostcfg.rollback_plan import in_force

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostcfg.changes import Change, HostChange

_MOST = 5


def set_since(change: Change, newer: Sequence[Change]) -> Mapping[str, Fault]:
    """Host -> why ``change`` can't be taken back on it yet: one of ``newer`` stands on the same settings.

    Half of such a rollback would be refused, since the values are not what the older change wrote.
    """
    found = {}
    for host in change.hosts:
        for other in newer:
            theirs = next((h for h in other.hosts if h.host == host.host and _stands(other, h)), None)
            if theirs is None or _undoes_newer(other, change, newer):
                continue
            both = [name for name in touched(host) if name in touched(theirs)]
            if both:
                more = f" and {len(both) - _MOST} more" if len(both) > _MOST else ""
                why = f"change {other.id} set {', '.join(both[:_MOST])}{more} since"
                message = f"{host.host}: {why}: roll that back first (or --force)"
                found[host.host] = Fault("changed", message)
                break
    return found


def touched(host: HostChange) -> list[str]:
    """The keys and the files that a change has written on a host, or may have."""
    keys = [step.key for step in host.steps if step.outcome != "unchanged"]
    return [*keys, *(file.before.path for file in host.files if file.after is not None)]


def _stands(change: Change, host: HostChange) -> bool:
    return in_force(change, host) or (host.unfinished and host.status != "planned")


def _undoes_newer(other: Change, change: Change, newer: Sequence[Change]) -> bool:
    """Whether ``other`` takes back what came after ``change``, or takes back such a thing again."""
    return other.kind == "rollback" and (other.of == change.id or any(n.id == other.of for n in newer))
