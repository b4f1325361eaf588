"""OpenSSH client configuration, read once for all hosts: ssh_config(5) files -> what is said for a host.

paramiko's ``SSHConfig`` decides which blocks hold for a host.  Around it stand what it lacks or does
slowly: ``Include``, comments after values, ``Match localnetwork``, an error for a criterion it
would take as matching, and a choice of blocks beforehand, since its own scan of 200 ``Host`` blocks
costs some milliseconds for each host.
"""

from __future__ import annotations

import getpass
import glob
import shlex
from collections import defaultdict
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.errors import InputError
from hostcfg.lean import dataclass
from hostcfg.transports.known_hosts import matches
from hostcfg.transports.ssh_config_file import Line, parse_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.transports.destination import Destination

_MAX_DEPTH = 16
"""Nested Include files; OpenSSH's own limit (READCONF_MAX_DEPTH)."""

_NATIVE = frozenset(
    [
        "hostname",
        "user",
        "port",
        "addressfamily",
        "canonicalizehostname",
        "canonicaldomains",
        "canonicalizemaxdots",
        "canonicalizefallbacklocal",
    ]
)
"""Keywords that paramiko itself needs to match blocks; all others only pass through it by number."""

_CRITERIA = frozenset(
    ["host", "originalhost", "user", "localuser", "exec", "localnetwork", "tagged", "sessiontype"]
)
_BARE_CRITERIA = frozenset(["all", "canonical", "final"])


@dataclass(frozen=True, slots=True)
class Said:
    """What the files say for one host: the native keywords resolved, all others in order of precedence."""

    host_name: str
    user: str | None
    port: str | None
    address_family: str
    lines: Sequence[Line]


@dataclass(slots=True)
class _Block:
    criteria: str | None  # of a Match; None: a Host block
    patterns: tuple[str, ...] = ("*",)
    lines: list[int] = field(default_factory=list)
    text: str = ""


class SshConfig:
    """The client configuration of one run; :meth:`lookup` may be called from many threads."""

    def __init__(self, files: Sequence[Path]) -> None:
        """Read ``files``, the one that wins first; a missing one says nothing.  InputError with its line."""
        self._lines: list[Line] = []
        self._blocks: list[_Block] = []
        self._asks_for_tags = False
        for path in files:
            self._read(path, path.parent, (), 0, must_exist=False)
        self._refuse_tags()
        self._everywhere: list[int] = []
        self._literal: defaultdict[str, list[int]] = defaultdict(list)
        self._index()
        # the name may become another one
        self._renames = any(li.keyword == "canonicalizehostname" and li.text != "no" for li in self._lines)
        self._same_for_all = not self._renames and all(
            self._names_nobody(self._blocks[n]) for n in self._everywhere
        )
        self._exec_answers: dict[str, bool] = {}
        self._answers: dict[tuple[str, str | None, int | None], Said] = {}

    def _refuse_tags(self) -> None:
        """A tag that nobody asks for says nothing, and nobody has one that no line sets."""
        tag = next((line for line in self._lines if line.keyword == "tag"), None)
        if tag is not None and self._asks_for_tags:
            raise tag.error("hostcfg does not follow tags: say it in Host or Match host blocks")

    def lookup(self, destination: Destination) -> Said:
        """What holds for ``destination``; its own user and port go before any that a file names."""
        own_user()  # which paramiko asks for, too
        shared = self._same_for_all and destination.host not in self._literal
        key = ("*" if shared else destination.host, destination.user, destination.port)
        answer = self._answers.get(key)
        if answer is None:  # two threads at once give the same answer
            answer = self._answers[key] = self._look_up(destination)
        return replace(answer, host_name=destination.host) if shared else answer

    def _names_nobody(self, block: _Block) -> bool:
        """Whether ``block`` holds for every host, and says the same for each: a fleet's configuration."""
        keywords = {self._lines[n].keyword for n in block.lines}
        everybodys = _NATIVE & keywords <= {"user", "port", "addressfamily"}
        return block.criteria is None and block.patterns == ("*",) and everybodys

    def _look_up(self, destination: Destination) -> Said:
        from paramiko.ssh_exception import ConfigParseError, CouldNotCanonicalize

        from hostcfg.transports.ssh_config_match import MatchingConfig

        head = f"User {destination.user}\n" if destination.user is not None else ""
        head += f"Port {destination.port}\n" if destination.port is not None else ""
        text = head + "".join(self._blocks[n].text for n in self._candidates(destination.host))
        try:
            found = MatchingConfig.read(text, self._exec_answers).lookup(destination.host)
        except (ConfigParseError, CouldNotCanonicalize, KeyError, ValueError) as error:
            raise InputError(f"ssh configuration: {error}", host=destination.name) from None
        numbers = [int(key[1:]) for key in found if key[0] == "k" and key[1:].isdecimal()]
        return Said(
            host_name=found["hostname"],
            user=found.get("user"),
            port=found.get("port"),
            address_family=found.get("addressfamily", "any").lower(),
            lines=tuple(self._lines[n] for n in numbers),
        )

    def _candidates(self, host: str) -> list[int]:
        """Numbers of the blocks that may hold for ``host``, in file order."""
        if self._renames:
            return list(range(len(self._blocks)))
        return sorted({*self._everywhere, *self._literal.get(host, ())})

    def _index(self) -> None:
        for number, block in enumerate(self._blocks):
            block.text = self._render(block)
            if block.criteria is not None or any(set(p) & set("*?[!") for p in block.patterns):
                self._everywhere.append(number)
            else:
                for pattern in block.patterns:
                    self._literal[pattern].append(number)

    def _render(self, block: _Block) -> str:
        if block.criteria is None:
            header = "Host " + " ".join(shlex.quote(p) for p in block.patterns)
        else:
            header = f"Match {block.criteria}"
        body = (
            f"{line.keyword} {line.text}" if line.keyword in _NATIVE else f"k{number} set"
            for number, line in ((n, self._lines[n]) for n in block.lines)
        )
        return "\n".join([header, *body, ""])

    def _read(
        self, path: Path, base: Path, outer: tuple[_Block, ...], depth: int, *, must_exist: bool = True
    ) -> None:
        """Add the blocks of one file, each under the conditions of the ``outer`` ones."""
        if depth > _MAX_DEPTH:
            raise InputError("Include is nested too deeply; does a file include itself?", path=str(path))
        self._open_block(outer)
        inner: tuple[_Block, ...] = ()
        for line in parse_file(path, must_exist=must_exist):
            if line.keyword in ("host", "match"):
                self._asks_for_tags |= line.keyword == "match" and "tagged" in line.text.lower()
                inner = (_block(line),)
                self._open_block(outer + inner)
            elif line.keyword == "include":
                for included in _included(line, base):
                    self._read(included, base, outer + inner, depth + 1)
                self._open_block(outer + inner)
            else:
                self._blocks[-1].lines.append(len(self._lines))
                self._lines.append(line)

    def _open_block(self, conditions: tuple[_Block, ...]) -> None:
        """Begin a block that holds where all ``conditions`` hold."""
        if not conditions:
            self._blocks.append(_Block(None))
        elif len(conditions) == 1:
            only = conditions[0]
            self._blocks.append(_Block(only.criteria, only.patterns))
        else:
            parts = [_as_criteria(block) for block in conditions]
            self._blocks.append(_Block(" ".join(p for p in parts if p) or "all"))


def own_user() -> str:
    """Who runs this; InputError where nothing says so, as in a container with a number for its user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no such user; the same from Python 3.13 on; Windows
        raise InputError("the user who runs this has no name here: set LOGNAME to one") from None


def _block(line: Line) -> _Block:
    """The condition that a Host or Match line states."""
    if not line.words:
        raise line.error("needs a pattern")
    if line.keyword == "host":
        return _Block(None, line.words)
    words: list[str] = []
    given = list(line.words)
    while given:
        name = given.pop(0)
        kind = name.lstrip("!").lower()
        if kind in _BARE_CRITERIA:
            words.append(name.lower())
            continue
        if kind not in _CRITERIA:
            raise line.error(f"hostcfg does not know the criterion {name!r}")
        if not given:
            raise line.error(f"{name!r} needs a value")
        value = given.pop(0)
        same = _for_all_hosts(line, kind, value)
        if same is not None:  # decided here, as a pattern for any or for none
            name, value = "originalhost", "*" if same != name.startswith("!") else "!*"
        words += [name.lower(), value]
    return _Block(" ".join(shlex.quote(word) for word in words))


def _for_all_hosts(line: Line, kind: str, value: str) -> bool | None:
    """Whether a criterion holds that has nothing to do with the host; None for the others."""
    if kind == "localnetwork":
        return _on_network(line, value)
    if kind == "sessiontype":
        return matches(value, "exec")
    return value == "" if kind == "tagged" else None  # no line sets one: see _refuse_tags


def _as_criteria(block: _Block) -> str:
    """``block`` as criteria that can stand beside others on one Match line."""
    if block.criteria is None:
        return f"originalhost {shlex.quote(','.join(block.patterns))}"
    return "" if block.criteria == "all" else block.criteria


def _on_network(line: Line, networks: str) -> bool:
    """Whether an address of this machine is in one of ``networks`` (comma-separated, CIDR)."""
    import ipaddress

    import psutil

    try:
        wanted = [ipaddress.ip_network(text, strict=False) for text in networks.split(",")]
    except ValueError as error:
        raise line.error(str(error)) from None
    for addresses in psutil.net_if_addrs().values():
        for address in addresses:
            try:
                own = ipaddress.ip_address(address.address.partition("%")[0])
            except ValueError:  # a link-layer address
                continue
            if any(own in network for network in wanted):
                return True
    return False


def _included(line: Line, base: Path) -> list[Path]:
    """Files of an Include line, sorted as glob(7) gives them; relative to ``base``."""
    found: list[Path] = []
    for word in line.words:
        pattern = str(base / Path(word).expanduser())  # an absolute word replaces base
        found += [Path(name) for name in sorted(glob.glob(pattern))]  # noqa: PTH207  # Path.glob takes no absolute one
    return found
