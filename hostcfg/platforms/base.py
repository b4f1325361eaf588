"""The platform contract: everything that is true of one OS, declared in that OS's own folder.

A platform turns raw text into values and values into native commands.  It never runs anything:
scripts are returned as text, output is given as text.  ``hostcfg.platforms`` finds every folder
here by itself, so a new OS edits nothing elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, replace
from functools import cache, lru_cache
from importlib import import_module
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

from hostcfg.errors import UsageError
from hostcfg.lean import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.model import Facts, Finding, Parsed, Scalar, Section, Value
    from hostcfg.platforms.endpoint import WindowModel
    from hostcfg.transports.base import Command

RenderStyle = Literal["script", "config"]


@dataclass(frozen=True, slots=True)
class Parser:
    """Recognises and parses the output of one native command.  Pure: text in, values out.

    ``kind`` is its name for ``parse --as`` and for the sections of a probe; ``command`` what a
    person would have typed.  ``recognize`` returns 0 (not mine) to 100 (can be nothing else);
    the highest wins.  ``parse`` never raises on bad text: what it can't read goes to
    ``unrecognized``, line by line, and never becomes a wrong value.
    ``transcript``: the parser wants the commands that were typed too, as lines ``$ command``.
    ``begins``: pattern of a line with which only this output begins, or several alike; "": none is sure.
    """

    kind: str
    os: str
    command: str
    recognize: Callable[[str], int]
    parse: Callable[[str], Parsed]
    transcript: bool = False
    begins: str = ""


SETTINGS_BEGIN = (
    r"\* Applying /|sysctl: |-?(?:net|kern|kernel|vm|vfs|fs|dev|hw|user|abi|debug|security|machdep)"
    r"[./][\w./:*@%+-]{1,200} ?[:=]"
)
"""How outputs and files of sysctl begin, whatever the system."""


def lazy_parser(
    kind: str, os: str, command: str, module: str, *, transcript: bool = False, begins: str = ""
) -> Parser:
    """The parser of ``kind`` that stands in ``module``, which is imported when it is first called."""

    @cache
    def real() -> Parser:
        for value in vars(import_module(module)).values():
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, Parser) and one.kind == kind:
                    return one
        raise LookupError(f"{module} has no parser {kind}")

    def recognize(text: str) -> int:
        """As the parser itself."""
        return real().recognize(text)

    @lru_cache(maxsize=4)  # a pasted text is asked for twice, and hosts of a kind say much in the same words
    def parse(text: str) -> Parsed:
        """As the parser itself."""
        return real().parse(text)

    return Parser(kind, os, command, recognize, parse, transcript, begins)


@dataclass(frozen=True, slots=True)
class Key:
    """How one native key carries one neutral setting.

    ``decode`` takes the key's native text and returns the setting's typed value (ValueError: it
    has not the form that the OS documents -> state ``unparsed``).  ``encode`` takes the native
    text that is there now and the wanted value and returns the whole new native text, so that the
    other elements of a triple, or the other bit of rfc1323, stay as they are.
    ``encode`` None: the key can be read and not written (a list of what is available, a fact).
    """

    name: str
    decode: Callable[[str], Value]
    encode: Callable[[str, Value], str] | None
    element: int | None = None


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What a probe needs to know: ``nonce`` frames the sections, ``peer`` asks for the route to it."""

    nonce: str
    peer: str | None = None


@dataclass(frozen=True, slots=True)
class ProfileContext:
    """What a platform knows that a profile's formulas may use.

    ``inputs`` are names for formulas (``memory_bytes``, ``overhead`` ...); ``stock`` the OS's
    default value of each setting for this release (None: not known for it), as the ``default``
    profile wants them, with ``stock_source``.  ``assumed_release`` names the release where no host
    was read (``Linux 6.12``), ``by_release`` the inputs that would be others for another one.
    """

    inputs: Mapping[str, Scalar] = field(default_factory=dict)
    stock: Mapping[str, Value] = field(default_factory=dict)
    stock_source: str = ""
    assumed_release: str = ""
    by_release: frozenset[str] = frozenset()

    def of_any_release(self) -> ProfileContext:
        """The same without what only the assumed release is known for: for a host that nobody has read."""
        inputs = {name: value for name, value in self.inputs.items() if name not in self.by_release}
        return replace(self, inputs=inputs)


@dataclass(frozen=True, slots=True)
class Bound:
    """A rule on one number of a key's value (``element``; None: it is the only one), or on its one word."""

    rule: Literal["at_least", "at_most", "one_of"]
    value: int | tuple[str, ...]
    element: int | None = None


@dataclass(frozen=True, slots=True)
class Stays:
    """A key's value stays as it is where all ``bounds`` hold already.

    ``stock_holds``: what is to be written is no step against them on a host with stock settings; False
    where the stock value is not known, so that nobody can write it without a look.
    """

    bounds: tuple[Bound, ...]
    stock_holds: bool


class Platform(ABC):
    """One operating system."""

    name: ClassVar[str]  # as in JSON and profiles: "linux"
    title: ClassVar[str]  # as people write it: "Linux"
    uname: ClassVar[str | None] = None  # what `uname -s` prints; None: no POSIX shell there
    banner_marks: ClassVar[tuple[str, ...]] = ()  # parts of an SSH banner that name this OS
    unused: ClassVar[frozenset[str]] = frozenset()  # kinds of its parsers that assemble makes nothing of

    @property
    @abstractmethod
    def parsers(self) -> Sequence[Parser]:
        """Every native output that this OS prints and hostcfg understands."""

    @abstractmethod
    def keys(self, facts: Facts | None) -> Mapping[str, Key]:
        """Neutral setting -> the native key that carries it, for this host's release.

        A setting that is missing here is ``unsupported``.  ``facts`` None: the current release.
        """

    @abstractmethod
    def probe(self, request: ProbeRequest) -> Command:
        """One command that reads everything, framed by ``request.nonce`` (hostcfg.platforms.framing)."""

    def probe_script(self, request: ProbeRequest) -> str | None:
        """The body of :meth:`probe` for POSIX hosts, so that one exec can serve several of them."""
        del request
        return None

    def decode(self, data: bytes) -> str:
        """Text of what a command of this OS printed; bytes that are no text become ``\\xNN``."""
        return data.decode("utf-8", errors="backslashreplace")

    @abstractmethod
    def assemble(self, host: str, sections: Sequence[Section]) -> Facts:
        """Facts from raw sections, whether a probe printed them or a person pasted them.

        A key that no section holds is ``absent``.  Findings are already in the result.
        """

    @abstractmethod
    def findings(self, facts: Facts) -> Sequence[Finding]:
        """What is true of this host and worth saying, most serious first."""

    @abstractmethod
    def profile_context(self, facts: Facts | None) -> ProfileContext:
        """Names and stock values for profiles; ``facts`` None means a typical current host."""

    def ping_command(self, address: str) -> Command:
        """Four echo requests to ``address`` (an IP address or host name, nothing else), ping(8)."""
        from hostcfg.transports.base import Command

        return Command.sh(f"LC_ALL=C ping -c 4 {quote(address)}")

    def socket_statistics_command(self, address: str) -> Command | None:
        """What prints the state of the TCP connections to ``address`` (kind ``ss``); None: no such thing."""
        del address
        return None

    @abstractmethod
    def set_command(self, key: str, raw: str) -> str:
        """The exact command, quoted for this OS's shell, that sets ``key`` to ``raw`` at run time."""

    @abstractmethod
    def persist_target(self, key: str) -> str | None:
        """The file or store that carries ``key`` over a boot; None where nothing can."""

    @abstractmethod
    def write_order(self, key: str) -> int:
        """Rank of ``key`` when several are raised: what caps others comes first (lower rank)."""

    def lockout_risk(self, values: Mapping[str, str]) -> str | None:
        """Why nobody could connect any more with these native values in force; None: no such reason known.

        ``values`` are the host's native keys as they would be after a write, each in its raw text.
        """
        del values
        return None

    def plan_hazards(self, facts: Facts, native_after: Mapping[str, str]) -> Sequence[str]:
        """Why a host with ``native_after`` (key -> raw, changed and unchanged) could lock people out.

        One sentence each, key and numbers included; a plan with hazards is refused unless forced.
        """
        del facts, native_after
        return ()

    @abstractmethod
    def render(
        self,
        values: Mapping[str, str],
        style: RenderStyle,
        header: Sequence[str],
        stays: Mapping[str, Stays] = MappingProxyType({}),
    ) -> str:
        """The commands or the config file that set ``values`` (native key -> raw), with comments.

        A script leaves a value alone that meets its key's ``stays``, where the system's shell can look.
        Where that can't be, a value without ``stock_holds`` is a comment that says when to set it.
        """

    def window_model(self, facts: Facts) -> WindowModel:
        """What ``facts`` let a flow have in flight: ``MODEL`` of this platform's file ``window.py``.

        UsageError where the platform has no such file.
        """
        name = f"hostcfg.platforms.{self.name}.window"
        try:
            model: type[WindowModel] = import_module(name).MODEL
        except ModuleNotFoundError as error:
            if error.name not in {name, name.removesuffix(".window")}:
                raise
            message = f"hostcfg has no window model for {self.title}"
            raise UsageError(message, host=facts.host) from None
        return model(facts)
