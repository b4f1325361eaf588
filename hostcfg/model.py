"""The values that flow through hostcfg, from a host's text to a plan: frozen, without behaviour.

::

    Section (raw text) -> Parsed -> Facts (Readings) -> Target -> Difference -> Step -> Plan
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Scalar = bool | int | float | str
Value = bool | int | float | str | tuple[int, ...] | tuple[str, ...]
"""A typed value: a triple is a tuple of int, never text."""

Json = bool | int | float | str | None | list["Json"] | dict[str, "Json"]

Rule = Literal["exact", "at_least", "at_most", "one_of"]
Severity = Literal["info", "warning", "error"]


class State(StrEnum):
    """What became of one attempt to read a value; a failed read never turns into a default."""

    VALUE = "value"
    ABSENT = "absent"  # this OS or kernel has no such key, or the text does not hold it
    DENIED = "denied"  # it is there, and we may not read it
    UNPARSED = "unparsed"  # it was read, and does not have the form the settings table says
    UNSUPPORTED = "unsupported"  # this OS has no counterpart of the setting


@dataclass(frozen=True, slots=True)
class Section:
    """The output of one native command: ``kind`` names its parser (``parse --as KIND``).

    ``status`` is the exit status where it is known; ``errors`` what came on standard error.
    """

    kind: str
    text: str
    errors: str = ""
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """One native output, understood.

    ``values`` as in the contract (spec section 5).  ``extra`` holds the other stable fields where
    the output has them: ``changes, errors, lists, tables, rows, qdiscs, links, loader`` ...
    """

    os: str
    kind: str
    command: str
    values: Mapping[str, Json]
    notes: Sequence[str] = ()
    unrecognized: Sequence[str] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Native:
    """One native key as read: ``raw`` is the host's own text, None unless ``state`` is VALUE or UNPARSED.

    ``source`` is where it was read: ``/proc/sys/net/ipv4/tcp_rmem``, ``netsh interface tcp show global``.
    ``fixed`` says why not even an administrator can write it here, None where one can or nobody knows.
    """

    key: str
    raw: str | None
    state: State = State.VALUE
    source: str = ""
    fixed: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One neutral setting of one host.

    ``value`` is typed as the settings table says and None unless ``state`` is VALUE.  ``key`` is
    the native key that carries it, ``element`` the index within it (tcp_rmem's maximum is 2).
    """

    setting: str
    value: Value | None
    state: State
    key: str | None = None
    element: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Interface:
    """One network interface that matters: it carries the default route or the route to the peer.

    ``offloads`` maps ethtool's feature names to on or off.  None is "not known", never a default.
    """

    name: str
    mtu_bytes: int | None = None
    speed_bps: int | None = None
    qdisc: str | None = None
    txqueuelen_packets: int | None = None
    driver: str | None = None
    offloads: Mapping[str, bool] = field(default_factory=dict)
    routes: Sequence[str] = ()  # "default", "peer"


@dataclass(frozen=True, slots=True)
class BootValue:
    """One assignment that a boot-time loader will make: the winner for its key and loader."""

    key: str
    raw: str
    path: str
    line: int
    loader: str  # "systemd-sysctl", "procps", "busybox", "rc.d/sysctl", "loader"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something true and worth saying that is no difference to a profile."""

    kind: str
    severity: Severity
    message: str
    keys: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """All readings of one host at one moment.

    ``release`` is the version tuple that models ask for: the kernel's on Linux ``(6, 1)``, the
    OS's on FreeBSD ``(14, 2)`` and the build on Windows ``(10, 0, 20348)``; None where unknown.
    ``details`` holds what only the platform understands (mbuf counters, templates).
    """

    host: str
    os: str
    os_version: str  # with its system's name; empty where nothing says which
    release: tuple[int, ...] | None
    readings: Mapping[str, Reading]
    native: Mapping[str, Native]
    interfaces: Sequence[Interface] = ()
    memory_bytes: int | None = None
    confined: str | None = None  # "container", "jail", "network namespace" ...: what limits our view
    boot: Sequence[BootValue] = ()
    findings: Sequence[Finding] = ()
    details: Mapping[str, Json] = field(default_factory=dict)
    sections: Sequence[Section] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A path: ``rate_bps`` in bit/s, ``rtt_s`` in seconds, both above zero."""

    rate_bps: float
    rtt_s: float

    @property
    def bdp_bytes(self) -> float:
        """Bandwidth-delay product in bytes: rate x RTT / 8 (RFC 7323 section 1.1)."""
        return self.rate_bps * self.rtt_s / 8


@dataclass(frozen=True, slots=True)
class Target:
    """What a profile wants of one setting on one host.

    For ``one_of`` ``value`` is a tuple in order of preference.  ``key`` and ``element`` are set
    where the profile names a native key instead of a setting.
    ``capped`` says what lowered the value (RAM, a type limit) and why.
    """

    setting: str
    rule: Rule
    value: Value
    reason: str
    source: str
    key: str | None = None
    capped: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One target that a host does not meet.

    ``current`` and ``target`` are typed values; ``current_native`` and ``target_native`` the whole
    native value before and after, as the OS writes it (a triple with the new maximum, a level).
    """

    setting: str
    key: str
    current: Value | None
    target: Value
    rule: Rule
    reason: str
    state: State = State.VALUE
    element: int | None = None
    current_native: str | None = None
    target_native: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One native write and its inverse, as the exact commands a person could type.

    ``from_raw`` None means that the key had no readable value: the step has no inverse.
    """

    key: str
    from_raw: str | None
    to_raw: str
    command: str
    inverse: str | None
    settings: Sequence[str] = ()
    persist: str | None = None  # the file (or store) that will carry it over a boot
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Ordered steps for one host; empty when nothing differs."""

    host: str
    os: str
    steps: Sequence[Step]
    notes: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """Path -> hostcfg's lines in the file that will carry the values over a boot."""
    warnings: Sequence[str] = ()
    """What whoever says yes should know first: what the change makes worse."""
