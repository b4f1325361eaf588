"""The recorded outputs of tests/fixtures/linux and what is expected of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from hostcfg.platforms.linux.parsers import PARSERS

if TYPE_CHECKING:
    from hostcfg.model import Parsed
    from hostcfg.platforms.base import Parser

FOLDER = Path(__file__).parents[2] / "fixtures" / "linux"
BY_KIND = {parser.kind: parser for parser in PARSERS}

# Other tests use these: iperf's outputs, experiments with loaders and with writes.
_OTHERS = ("iperf", "readback-", "precedence-", "conf-probe-", "sysctl-w-procps", "sysctl-w-busybox")
# Our copy of it is empty.
_EMPTY = "sysctl-fragment__saphana-anf__16.conf"

_KINDS = {
    "bb-sysctl": "sysctl",
    "sysctl-a": "sysctl",
    "sysctl-tcp": "sysctl",
    "sysctl-netns": "sysctl",
    "sysctl__container": "sysctl",
    "sysctl-p": "sysctl-set",
    "sysctl-system": "sysctl-set",
    "sysctl-w__rofs": "sysctl-set",
    "sysctl-conf": "sysctl-conf",
    "sysctl-shell": "sysctl-conf",
    "tuned-conf": "tuned-conf",
    "proc-sys": "proc-sys",
    "proc-read": "proc-read",
    "tc-": "tc-qdisc",
    "ip-route": "ip-route",
    "ip-j-route": "ip-route",
    "ip-": "ip-link",
    "ethtool-json-k": "ethtool-k",
    "ethtool-k": "ethtool-k",
    "ethtool-i": "ethtool-i",
    "ethtool-g__ubuntu": "ethtool-g",
    "ethtool-g__debian12-6.18": "ethtool-g",
    "ethtool-c__debian12-6.18": "ethtool-c",
    "ethtool": "ethtool",  # errors that do not say which option was given, too
    "ss-": "ss",
}
# A config without a comment, a tight "=" or an empty line may be the output of sysctl as well.
_LIKE_OUTPUT = {"sysctl-conf__centos-blog__25.conf": "sysctl"}


@dataclass(frozen=True)
class Sample:
    """One recorded output; ``expect`` as in index.yaml."""

    file: str
    expect: dict[str, Any]
    about: dict[str, Any]

    @property
    def text(self) -> str:
        return (FOLDER / self.file).read_bytes().decode("utf-8", "backslashreplace")

    @property
    def kind(self) -> str:
        if self.file in _LIKE_OUTPUT:
            return _LIKE_OUTPUT[self.file]
        return next(kind for start, kind in _KINDS.items() if self.file.startswith(start))


@cache
def samples() -> tuple[Sample, ...]:
    """Every sample whose parser is tested here."""
    rows = YAML(typ="safe").load((FOLDER / "index.yaml").read_text("utf-8"))
    return tuple(
        Sample(row["file"], row.get("expect") or {}, row.get("about") or {})
        for row in rows
        if not row["file"].startswith(_OTHERS) and row["file"] != _EMPTY
    )


def sample(file: str) -> Sample:
    """The sample of that file name."""
    return next(s for s in samples() if s.file == file)


def best(text: str) -> Parser:
    """The parser of this package that claims ``text`` most."""
    return max(PARSERS, key=lambda parser: parser.recognize(text))


def parsed(kind: str, text: str) -> Parsed:
    """``text`` through the parser called ``kind``."""
    return BY_KIND[kind].parse(text)
