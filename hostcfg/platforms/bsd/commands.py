"""Commands and config lines that set native keys on a BSD, quoted for sh and for sysctl.conf(5)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from hostcfg.errors import UsageError
from hostcfg.lean import regex
from hostcfg.platforms.posix.stays import only_where

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hostcfg.platforms.base import Stays

_ALWAYS_THERE = "kern.ostype"
_READ = """\
hc_rest=' {names} {last} '
while :; do
  hc_values=$(sysctl $hc_rest 2>&1)
  printf '%s\\n' "$hc_values"
  case $hc_values in
  *'{last}: '*) break ;;
  *"unknown oid '"*) ;;
  *) break ;;
  esac
  hc_gone=${{hc_values##*"unknown oid '"}}
  hc_gone=${{hc_gone%%"'"*}}
  case $hc_rest in
  *" $hc_gone "*) hc_rest=" ${{hc_rest#*" $hc_gone "}}" ;;
  *) break ;;
  esac
done"""
_NAME = regex(r"[A-Za-z_][\w.%+-]{0,255}")


def checked_key(key: str) -> str:
    """``key``; UsageError if it can be no name of sysctl(8)."""
    if not _NAME.fullmatch(key):
        raise UsageError(f"{key[:80]!r} can be no sysctl name", key=key[:80])
    return key


def checked_value(key: str, raw: str) -> str:
    """``raw``; UsageError for a value of several lines or with control characters: none can be set so."""
    if any(ord(char) < 32 or ord(char) == 127 for char in raw):
        raise UsageError("a value of several lines or with control characters can't be set", key=key)
    return raw


def read_names(names: Iterable[str]) -> str:
    """sh text that prints every one of ``names`` that the host has, as ``name: value``, and complaints.

    FreeBSD's sysctl(8) before 10 ends at the first name that it does not know (sbin/sysctl/sysctl.c
    at 9.3, ``errx``), so that what follows would look absent.  A name that every kernel has comes
    last: where it is not answered, the names after the unknown one are asked for again.
    """
    words = " ".join(dict.fromkeys(checked_key(name) for name in names if name != _ALWAYS_THERE))
    return _READ.format(names=words, last=_ALWAYS_THERE)


def sysctl_command(key: str, raw: str) -> str:
    """``sysctl name=value`` as a person would type it under sh."""
    return f"sysctl {shlex.quote(f'{checked_key(key)}={checked_value(key, raw)}')}"


def conf_line(key: str, raw: str) -> str:
    """One line of sysctl.conf: a ``#`` would end the value, so it is escaped."""
    value = checked_value(key, raw).replace("#", "\\#")
    return f"{checked_key(key)}={value}"


def conf_lines(ordered: Iterable[tuple[str, str]], stays: Mapping[str, Stays]) -> Iterator[str]:
    """Lines of sysctl.conf; a comment where the value must be looked at before."""
    for key, raw in ordered:
        unsure = stays.get(key)
        if unsure is None or unsure.stock_holds:
            yield conf_line(key, raw)
        else:
            yield f"# {only_where(unsure)}:"
            yield f"#   {conf_line(key, raw)}"


def comments(header: Sequence[str]) -> list[str]:
    """``header`` as comment lines, whatever line breaks are in it."""
    return [f"# {line}".rstrip() for text in header for line in text.splitlines() or [""]]
