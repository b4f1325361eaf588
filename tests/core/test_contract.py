"""One contract over all platforms: what holds of one operating system holds of each."""

from __future__ import annotations

import inspect
import shlex

import pytest

from hostcfg.errors import UsageError
from hostcfg.model import Facts, Section, State
from hostcfg.platforms import all_parsers, all_platforms, get_platform
from hostcfg.platforms.base import Parser, Platform, ProbeRequest
from hostcfg.platforms.framing import new_nonce
from hostcfg.settings import SETTINGS

PLATFORMS = all_platforms()
each_platform = pytest.mark.parametrize("platform", PLATFORMS, ids=lambda p: p.name)
each_parser = pytest.mark.parametrize("parser", all_parsers(), ids=lambda p: f"{p.os}:{p.kind}")

SAMPLE_VALUES = {"int": 4096, "flag": True, "text": "on", "texts": ("a",)}


def test_the_four_systems_are_found_by_a_scan() -> None:
    assert [p.name for p in PLATFORMS] == ["freebsd", "linux", "macos", "windows"]


@each_platform
def test_keys_are_neutral_settings(platform: Platform) -> None:
    assert set(platform.keys(None)) <= set(SETTINGS)


@each_platform
def test_nothing_pasted_is_absent_and_no_default(platform: Platform) -> None:
    facts = platform.assemble("h", [])
    assert facts.os == platform.name
    assert all(r.value is None for r in facts.readings.values())
    assert {r.state for r in facts.readings.values()} <= {State.ABSENT, State.UNSUPPORTED}
    assert set(facts.readings) <= set(SETTINGS)


@each_platform
def test_encode_then_decode_gives_the_value_back(platform: Platform) -> None:
    """A level carries at least the bytes asked for; every other value comes back as it went in."""
    stock = platform.profile_context(None).stock
    for name, key in platform.keys(None).items():
        if key.encode is None or name not in stock:
            continue
        encoded = key.encode("1 2 3" if key.element is not None else "1", stock[name])
        decoded = key.decode(encoded)
        if isinstance(decoded, int) and not isinstance(decoded, bool):
            assert decoded >= int(stock[name]), (name, encoded)  # type: ignore[arg-type]
        else:
            assert decoded == stock[name], (name, encoded)


@each_platform
def test_every_key_that_is_written_has_a_command_a_rank_and_a_place(platform: Platform) -> None:
    for key in platform.keys(None).values():
        if key.encode is not None:
            assert platform.set_command(key.name, "1")
            assert isinstance(platform.write_order(key.name), int)
            assert platform.persist_target(key.name) is None or isinstance(
                platform.persist_target(key.name), str
            )


@each_platform
def test_a_probe_is_framed_and_names_no_other_host(platform: Platform) -> None:
    nonce = new_nonce()
    command = platform.probe(ProbeRequest(nonce))
    text = command.line + command.stdin.decode()
    assert nonce in text
    assert "done" in text


@each_platform
def test_a_hostile_peer_does_not_reach_the_shell_unquoted(platform: Platform) -> None:
    peer = "x;touch /tmp/owned`id`$(id)&|'\""
    try:
        command = platform.probe(ProbeRequest(new_nonce(), peer))
    except UsageError:
        return
    text = command.line + command.stdin.decode()
    assert "$(id)" not in text.replace(shlex.quote(peer), "")


@each_platform
@pytest.mark.parametrize("style", ["script", "config"])
def test_render_says_what_it_is(platform: Platform, style: str) -> None:
    key = platform.keys(None)["recv_buffer_max"]
    assert key.encode is not None
    raw = key.encode("4096 131072 6291456" if key.element is not None else "65536", 1048576)
    text = platform.render({key.name: raw}, style, ["made for a test"])  # type: ignore[arg-type]
    assert "made for a test" in text
    assert text.endswith("\n")


@each_platform
def test_findings_come_with_the_facts(platform: Platform) -> None:
    facts: Facts = platform.assemble("h", [])
    assert list(facts.findings) == list(platform.findings(facts))


def test_kinds_are_unique_within_a_system() -> None:
    names = [(p.os, p.kind) for p in all_parsers()]
    assert len(names) == len(set(names))


@each_parser
@pytest.mark.parametrize("text", ["", "\n", "\x00", "a" * 10_000, "= = =\n: :\n", "{", "[]", "{}\n[1, 2"])
def test_no_parser_falls_over_noise(parser: Parser, text: str) -> None:
    parsed = parser.parse(text)
    assert parsed.os == parser.os or parser.os == "any"
    said = [v for name, v in parsed.values.items() if name != "format"]
    assert not any(isinstance(v, (int, str)) and not isinstance(v, bool) and v for v in said)


@each_parser
def test_parsers_are_documented(parser: Parser) -> None:
    assert parser.command
    assert inspect.getdoc(parser.parse) or inspect.getdoc(inspect.getmodule(parser.parse))


def test_sections_of_no_known_kind_do_no_harm() -> None:
    facts = get_platform("linux").assemble("h", [Section("no-such-kind", "net.core.rmem_max = 1\n")])
    assert facts.readings["recv_explicit_max"].state is State.ABSENT
