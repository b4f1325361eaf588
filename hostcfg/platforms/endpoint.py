"""One end of a path, as its operating system limits it: the contract of ``PLATFORM/window.py``.

A platform that has a window model puts a class called ``MODEL``, a :class:`WindowModel`, into the
file ``window.py`` of its folder; :meth:`hostcfg.platforms.base.Platform.window_model` finds it there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from hostcfg.lean import dataclass
from hostcfg.model import Reading, State
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Facts, Value

Side = Literal["receive", "send"]

UNSCALED_WINDOW_BYTES = 65535
"""The largest window that the 16-bit field of the TCP header holds (RFC 9293 section 3.1)."""
MAX_SHIFT = 14
"""The largest window scale (RFC 7323 section 2.3): a window never exceeds 65,535 x 2^14 bytes."""
MAX_WINDOW_BYTES = UNSCALED_WINDOW_BYTES << MAX_SHIFT
LARGEST_REQUEST_BYTES = 1 << 30
"""The largest size that a program may be told to ask for: a larger one can't become window."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The connection that is asked about.

    ``explicit_bytes``: the size that the program asks for with SO_RCVBUF and SO_SNDBUF (iperf3
    ``-w``), None where it leaves buffers to the OS.  ``mss_bytes``: payload of a full segment.
    ``timestamps``: both ends use the option.
    """

    explicit_bytes: int | None
    mss_bytes: int
    timestamps: bool
    rtt_s: float


@dataclass(frozen=True, slots=True)
class Window:
    """Payload in bytes that one end lets one stream have in flight, and which setting says so.

    ``mid_bytes`` is the best estimate between ``low_bytes`` and ``high_bytes``.  ``high_bytes`` None:
    the setting is a soft limit, flows can exceed it without a bound of its own.  ``mid_bytes`` None:
    this end sets no limit (``unbounded``), or what it is was not read.
    ``buffer_bytes`` is the socket buffer behind the window, which memory limits are about.
    ``assumed``: one sentence for each value that was not read and had to be assumed.
    ``refused``: why a program's request is turned down instead of met (the window is then what the
    flow gets if the program goes on).
    ``cap_unread``: how much a program may ask for was not read, so the request may be cut or refused.
    """

    low_bytes: int | None
    mid_bytes: int | None
    high_bytes: int | None
    setting: str | None
    key: str | None
    value: Value | None
    reason: str
    element: int | None = None
    buffer_bytes: int | None = None
    unbounded: bool = False
    clamped: bool = False
    refused: str | None = None
    assumed: Sequence[str] = ()
    cap_unread: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """A TCP option at one end: on or off; ``assumed`` says so where it was not read."""

    on: bool
    reading: Reading
    assumed: str | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """One setting that must change; ``current`` None where it was not read.

    ``setting`` None: it is the program's own argument ``key`` (iperf3 ``-w``).
    ``note``: why the system may refuse the target, and what then.
    """

    setting: str | None
    key: str | None
    current: Value | None
    target: Value
    reason: str
    element: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """``total_bytes`` of buffers, in units of ``unit_bytes``, that all sockets of the host may have."""

    total_bytes: int
    unit_bytes: int
    reading: Reading
    assumed: str | None = None


class WindowModel(ABC):
    """What one host lets a flow have in flight.  Pure: facts in, windows out.

    ``decisive`` names the settings of which at least one must have been read, or nothing can be
    said of this end.
    """

    decisive: ClassVar[tuple[str, ...]] = (
        "recv_buffer_max",
        "send_buffer_max",
        "recv_explicit_max",
        "send_explicit_max",
        "socket_buffer_max",
        "window_scaling",
    )

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    @abstractmethod
    def receive(self, flow: Flow) -> Window:
        """The window that this host can advertise to ``flow``."""

    @abstractmethod
    def send(self, flow: Flow) -> Window:
        """The payload that this host's send buffer can hold in flight for ``flow``."""

    @abstractmethod
    def shift(self, flow: Flow) -> int | None:
        """The window scale that this host's SYN carries; None where what decides it was not read."""

    @abstractmethod
    def needs(self, window_bytes: int, side: Side, flow: Flow) -> Sequence[Need]:
        """Settings to change, in the order to write them, so that ``side`` carries ``window_bytes``."""

    def scaling_needs(self, window_bytes: int) -> Sequence[Need]:
        """What switches the window scale option on, for a window of ``window_bytes``."""
        del window_bytes
        reading = self.scaling().reading
        reason = f"a window above {UNSCALED_WINDOW_BYTES:,} bytes needs it at both ends"
        return (Need("window_scaling", reading.key, reading.value, True, reason, reading.element),)

    @abstractmethod
    def rtts_to_reach(self, window_bytes: int) -> float:
        """Round trips until an autotuned receive buffer carries ``window_bytes``."""

    @abstractmethod
    def explicit_effect(self) -> str:
        """One clause: what asking for a buffer size does to autotuning here."""

    def memory_limits(self) -> Sequence[MemoryLimit]:
        """Caps over the buffers of all sockets."""
        return ()

    def notes(self) -> Sequence[str]:
        """Sentences about this end that the numbers can't show."""
        return ()

    def scaling(self) -> Option:
        """Whether this end offers the window scale option (RFC 7323 section 2.2)."""
        return self.option("window_scaling")

    def timestamps(self) -> Option:
        """Whether this end offers the timestamps option (RFC 7323 section 3)."""
        return self.option("timestamps")

    def congestion_control(self) -> Reading:
        """The algorithm of this end's new connections."""
        return self.reading("congestion_control")

    def initial_window_segments(self) -> int:
        """Segments that the first round trip carries: as read, else 10 (RFC 6928)."""
        read = self.number("initial_window")
        return read if read is not None and read > 0 else 10

    def reading(self, setting: str) -> Reading:
        """The reading of ``setting``; state ``absent`` where the facts hold none."""
        found = self.facts.readings.get(setting)
        return found if found is not None else Reading(setting, None, State.ABSENT)

    def number(self, setting: str) -> int | None:
        """The integer that was read; None in every other state, and for a size or count below 0."""
        value = self.reading(setting).value
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        return value if value >= 0 or not SETTINGS[setting].unit else None

    def flag(self, setting: str) -> bool | None:
        """The flag that was read; None in every other state."""
        value = self.reading(setting).value
        return value if isinstance(value, bool) else None

    def option(self, setting: str) -> Option:
        """A TCP option that every current OS has on unless someone switched it off."""
        reading, on = self.reading(setting), self.flag(setting)
        if on is not None:
            return Option(on, reading)
        return Option(True, reading, f"{self.missing(reading)}: assumed on")

    def missing(self, reading: Reading) -> str:
        """``host: key (setting) is denied``: for sentences about what was not read."""
        name = reading.key or reading.setting
        said = {
            State.ABSENT: "was not read",
            State.DENIED: "was denied",
            State.UNPARSED: "was not understood",
            State.UNSUPPORTED: "has no counterpart here",
            State.VALUE: f"is {reading.value}",
        }
        return f"{self.facts.host}: {name} {said[reading.state]}"

    def unknown(self, setting: str) -> Window:
        """The window of a side whose buffer was not read."""
        reading = self.reading(setting)
        return Window(None, None, None, setting, reading.key, None, self.missing(reading))

    def as_asked(self, explicit_bytes: int, reason: str, *, soft: bool = False) -> Window:
        """The window of a request that is met to the byte; ``soft``: the flow can exceed it."""
        return Window(
            explicit_bytes,
            explicit_bytes,
            None if soft else explicit_bytes,
            None,
            "-w",
            explicit_bytes,
            reason,
            buffer_bytes=explicit_bytes,
        )


def name_of(reading: Reading) -> str:
    """``net.ipv4.tcp_rmem[2]``, or the neutral name where no native key is known."""
    name = reading.key or reading.setting
    return name if reading.element is None else f"{name}[{reading.element}]"


def shift_for(space_bytes: int) -> int:
    """The smallest window scale with which a window of ``space_bytes`` can be advertised."""
    shift = 0
    while shift < MAX_SHIFT and UNSCALED_WINDOW_BYTES << shift < space_bytes:
        shift += 1
    return shift
