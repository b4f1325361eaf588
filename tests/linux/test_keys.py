"""Native text to values and back: each neutral setting that Linux has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostcfg.model import Facts, Interface, Native
from hostcfg.platforms.linux.keys import UINT_MAX, linux_keys, release_tuple
from hostcfg.settings import SETTINGS

if TYPE_CHECKING:
    from hostcfg.platforms.base import Key

KEYS = linux_keys(None)


def encode(setting: str, current: str, wanted: object) -> str:
    key = KEYS[setting]
    assert key.encode is not None
    return key.encode(current, wanted)  # type: ignore[arg-type]  # also wrong types are tried


def facts(release: tuple[int, ...] | None, **native: str) -> Facts:
    natives = {k.replace("__", "/"): Native(k.replace("__", "/"), v) for k, v in native.items()}
    interfaces = (Interface("eth0"),) if natives else ()
    return Facts("h", "linux", "", release, {}, natives, interfaces)


def test_every_key_is_a_known_setting() -> None:
    assert set(KEYS) <= set(SETTINGS)
    assert len(KEYS) >= 24


@pytest.mark.parametrize(
    ("setting", "raw", "value"),
    [
        ("recv_buffer_min", "4096\t131072\t6291456", 4096),
        ("recv_buffer_default", "4096 131072  6291456", 131072),
        ("recv_buffer_max", "4096\t131072\t6291456\n", 6291456),
        ("recv_buffer_max", "0x1000 010000 0x600000", 6291456),
        ("send_buffer_max", "4096 16384 4194304", 4194304),
        ("recv_explicit_max", " 212992 ", 212992),
        ("recv_autotuning", "1", True),
        ("window_scaling", "0", False),
        ("window_scaling", "255", True),
        ("timestamps", "2", True),
        ("mtu_probing", "0", False),
        ("metrics_cache", "0", True),
        ("metrics_cache", "1", False),
        ("ecn", "0", "off"),
        ("ecn", "1", "on"),
        ("ecn", "2", "accept"),
        ("ecn", "3", "on"),
        ("ecn", "5", "accept"),
        ("send_not_sent_lowat", "-1", UINT_MAX),
        ("send_not_sent_lowat", "4294967295", UINT_MAX),
        ("send_not_sent_lowat", "0", 0),
        ("fast_open", "0", "off"),
        ("fast_open", "1", "client"),
        ("fast_open", "0x602", "server"),
        ("fast_open", "1027", "on"),
        ("congestion_control", "bbr\n", "bbr"),
        ("congestion_control_available", "reno cubic bbr", ("reno", "cubic", "bbr")),
        ("queue_discipline", "fq_codel", "fq_codel"),
        ("tcp_memory_max", "22356\t29809\t44712", 44712),
    ],
)
def test_decode(setting: str, raw: str, value: object) -> None:
    got = KEYS[setting].decode(raw)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("setting", "raw"),
    [
        ("recv_buffer_max", "4096 131072"),
        ("recv_buffer_max", "4096 131072 6M"),
        ("recv_buffer_max", ""),
        ("recv_buffer_max", "4096\u00a0131072\u00a06291456"),
        ("recv_explicit_max", "1 2"),
        ("recv_explicit_max", "yes"),
        ("window_scaling", ""),
        ("ecn", "9"),
        ("congestion_control", "reno cubic"),
        ("congestion_control", ""),
    ],
)
def test_what_has_not_the_form_is_no_value(setting: str, raw: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        KEYS[setting].decode(raw)


@pytest.mark.parametrize(
    ("setting", "current", "wanted", "text"),
    [
        ("recv_buffer_max", "4096\t131072\t6291456", 12582912, "4096\t131072\t12582912"),
        ("recv_buffer_default", "4096 131072 6291456", 87380, "4096\t87380\t6291456"),
        # a maximum below the default would leave the default in force
        ("send_buffer_max", "4096 16384 4194304", 8192, "4096\t8192\t8192"),
        ("recv_buffer_max", "4096 131072 6291456", 2048, "2048\t2048\t2048"),
        ("timestamps", "2", True, "2"),
        ("timestamps", "0", True, "1"),
        ("timestamps", "2", False, "0"),
        ("mtu_probing", "0", True, "1"),
        ("metrics_cache", "1", True, "0"),
        ("metrics_cache", "0", False, "1"),
        ("ecn", "0", "accept", "2"),
        ("ecn", "3", "off", "0"),
        ("fast_open", "1537", "on", "1539"),
        ("fast_open", "3", "off", "0"),
        ("send_not_sent_lowat", "-1", UINT_MAX, "-1"),
        ("send_not_sent_lowat", "-1", 131072, "131072"),
        ("queue_discipline", "pfifo_fast", "fq", "fq"),
        ("recv_explicit_max", "212992", 12582912, "12582912"),
    ],
)
def test_encode(setting: str, current: str, wanted: object, text: str) -> None:
    assert encode(setting, current, wanted) == text


@pytest.mark.parametrize("wanted", ["fq;reboot", "$(id)", "a b", "", "x" * 16, 7])
def test_an_algorithm_is_a_name(wanted: object) -> None:
    with pytest.raises(ValueError, match="no name"):
        encode("congestion_control", "cubic", wanted)


triples = st.tuples(*[st.integers(0, 2**31 - 1)] * 3)


@given(triples, st.integers(0, 2**31 - 1), st.sampled_from(["\t", " ", "  \t"]))
def test_a_triple_keeps_what_it_can(values: tuple[int, ...], wanted: int, gap: str) -> None:
    current = gap.join(map(str, values))
    text = encode("recv_buffer_max", current, wanted)
    assert KEYS["recv_buffer_max"].decode(text) == wanted
    low, first, _ = (int(word) for word in text.split())
    assert low == min(values[0], wanted)
    assert first == min(values[1], wanted)


@given(st.sampled_from(sorted(KEYS)), st.integers(0, 2**31 - 1), st.booleans())
def test_encode_then_decode_is_the_wish(setting: str, number: int, flag: bool) -> None:
    key: Key = KEYS[setting]
    kind, choices = SETTINGS[setting].type, SETTINGS[setting].choices
    if key.encode is None:
        return
    wanted: object = {
        "int": number,
        "flag": flag,
        "text": choices[number % len(choices)] if choices else "fq",
    }[kind]
    current = "1 2 3" if key.element is not None else "1"
    assert key.decode(key.encode(current, wanted)) == wanted  # type: ignore[arg-type]


def test_window_scale_overhead_ends_with_6_6() -> None:
    assert "recv_window_scale_overhead" in linux_keys(facts((6, 5)))
    assert "recv_window_scale_overhead" in linux_keys(facts(None))
    assert "recv_window_scale_overhead" not in linux_keys(facts((6, 6)))
    assert "recv_window_scale_overhead" not in KEYS


def test_segmentation_offload_is_the_interface_s() -> None:
    key = linux_keys(facts((6, 1), tso__eth0="off [fixed]"))["segmentation_offload"]
    assert (key.name, key.decode("off [fixed]"), key.encode) == ("tso/eth0", False, None)
    assert "segmentation_offload" not in linux_keys(facts((6, 1)))


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("6.1.0-50-cloud-amd64", (6, 1)),
        ("2.6.32-754.el6", (2, 6)),
        ("5.10", (5, 10)),
        ("", None),
        (None, None),
        ("x6.1", None),
    ],
)
def test_release(text: str | None, release: tuple[int, int] | None) -> None:
    assert release_tuple(text) == release
