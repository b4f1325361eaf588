"""A small system for tests: one key per way of carrying settings, and no parsers."""
# ruff: noqa: ARG002  # the contract's arguments, most of which this system has no use for

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from hostcfg.platforms.base import Key, Platform, ProfileContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.model import Facts, Finding, Section, Value
    from hostcfg.platforms.base import Parser, ProbeRequest, RenderStyle, Stays
    from hostcfg.transports.base import Command

STOCK: dict[str, Value] = {
    "recv_buffer_min": 4096,
    "recv_buffer_default": 131072,
    "recv_buffer_max": 6291456,
    "send_buffer_max": 4194304,
    "window_scaling": True,
    "timestamps": True,
    "congestion_control": "cubic",
    "queue_discipline": "pfifo_fast",
    "input_backlog": 1000,
}


def _element(index: int) -> Key:
    def encode(current: str, wanted: Value) -> str:
        parts = current.split()
        if len(parts) != 3:
            raise ValueError(f"{current!r} is no triple")
        parts[index] = str(wanted)
        return " ".join(parts)

    return Key("net.rmem", lambda raw: int(raw.split()[index]), encode, index)


def _bit(bit: int) -> Key:
    def encode(current: str, wanted: Value) -> str:
        return str(int(current) | bit if wanted else int(current) & ~bit)

    return Key("net.options", lambda raw: bool(int(raw) & bit), encode)


def _plain(name: str, decode: Callable[[str], Value]) -> Key:
    return Key(name, decode, lambda _current, wanted: str(wanted))


class HandlerPlatform(Platform):
    """Named like a real system, so that profiles take it for one; its keys are its own."""

    name = "linux"
    title = "Handler"

    def __init__(self, inputs: Mapping[str, bool | int | float | str] | None = None) -> None:
        self.context = ProfileContext({"linux_before_6_6": False, **(inputs or {})}, STOCK, "handler")

    @property
    def parsers(self) -> Sequence[Parser]:
        return ()

    def keys(self, facts: Facts | None) -> Mapping[str, Key]:
        return {
            "recv_buffer_min": _element(0),
            "recv_buffer_default": _element(1),
            "recv_buffer_max": _element(2),
            "send_buffer_max": _plain("net.sndmax", int),
            "window_scaling": _bit(1),
            "timestamps": _bit(2),
            "congestion_control": _plain("net.cc", str),
            "congestion_control_available": Key("net.cc_available", lambda raw: tuple(raw.split()), None),
            "queue_discipline": _plain("net.qdisc", str),
            "input_backlog": _plain("net.backlog", int),
        }

    def probe(self, request: ProbeRequest) -> Command:
        raise AssertionError("a pure function must not probe")

    def assemble(self, host: str, sections: Sequence[Section]) -> Facts:
        raise AssertionError("a pure function must not read")

    def findings(self, facts: Facts) -> Sequence[Finding]:
        return ()

    def profile_context(self, facts: Facts | None) -> ProfileContext:
        return self.context

    def set_command(self, key: str, raw: str) -> str:
        return f"set {key} '{raw}'"

    def persist_target(self, key: str) -> str | None:
        return None

    def write_order(self, key: str) -> int:
        return 0 if key == "net.sndmax" else 1

    def render(
        self,
        values: Mapping[str, str],
        style: RenderStyle,
        header: Sequence[str],
        stays: Mapping[str, Stays] = MappingProxyType({}),
    ) -> str:
        self.stays = stays
        lines = [f"# {line}".rstrip() for line in header]
        body = [self.set_command(k, v) if style == "script" else f"{k} = {v}" for k, v in values.items()]
        return "\n".join([*lines, *body]) + "\n"
