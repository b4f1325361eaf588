"""A profile that takes throughput says so before anyone says yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hostcfg.audit import SLOWER, ProfileAudit, audit_host
from hostcfg.cli.change_common import Planner
from hostcfg.model import Link
from hostcfg.outputs.blocks import Paragraph
from hostcfg.outputs.change_views import plan_blocks, question_blocks
from hostcfg.outputs.documents import diff_document, plan_document
from hostcfg.path import slower_sentence
from hostcfg.profiles import find_profile
from tests.path.hosts import freebsd, linux, windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostcfg.model import Facts
    from hostcfg.outputs.blocks import Block

LINK = Link(100e6, 0.080)
# 65,535 bytes in 80 ms are 6.55 Mbit/s
UNSCALED = (
    "One connection will be slower at 80 ms: after the change the window without scaling allows 6.55 Mbit/s "
    "(now 100 Mbit/s)."
)


def slower(facts: Facts, profile: str = "rfc1323-off", link: Link | None = LINK, **inputs: str) -> list[str]:
    audit = audit_host(facts, find_profile(profile), link, inputs)
    return [f.message for f in audit.findings if f.kind == SLOWER]


def planner(profile: str = "rfc1323-off") -> Planner:
    return Planner(profile, "100mbit", "80ms", ())


def warnings(blocks: Sequence[Block]) -> list[str]:
    return [b.text for b in blocks if isinstance(b, Paragraph) and b.label == "warning"]


@pytest.mark.parametrize("facts", [linux("a", release="6.12.0"), freebsd("a")])
def test_options_off_end_a_connection_at_its_16_bits(facts: Facts) -> None:
    assert slower(facts) == [UNSCALED]


def test_each_side_says_what_it_loses() -> None:
    """Before 6.6 a buffer of 131,072 bytes that does not grow is a window of 65,536 less a
    segment of 1,460: 64,076 bytes, 6.41 Mbit/s."""
    assert slower(linux("a")) == [
        UNSCALED.replace(
            "the window without", "the receive buffer allows 6.41 Mbit/s (now 100 Mbit/s), the window without"
        )
    ]


def test_a_windows_level_carries_the_option_and_the_window() -> None:
    assert slower(windows("a")) == [UNSCALED.replace("window without scaling", "receive buffer")]


def test_what_is_slow_already_is_no_slower() -> None:
    """Without scaling it is 6.55 Mbit/s before and 6.41 after: less than 5 %."""
    assert slower(linux("a", tcp_window_scaling="0")) == []


def test_what_still_fills_the_link_is_no_loss() -> None:
    """65,535 bytes are more than the 31,250 of a gigabit in 250 us, and a cap of 64 KiB holds 43,909."""
    assert slower(linux("a"), link=Link(1e9, 0.00025)) == []
    assert slower(linux("a"), "lan", Link(1e9, 0.00025)) == []
    assert slower(linux("a"), "wan") == []


def test_a_soft_buffer_that_shrinks_is_still_a_floor() -> None:
    """65,536 x 0.67 are 43,909 bytes: 4.39 Mbit/s."""
    said = slower_sentence(linux("a"), {"net.ipv4.tcp_wmem": "4096 16384 65536"}, LINK)
    assert said == (
        "One connection will be slower at 80 ms: after the change the send buffer allows 4.39 Mbit/s or more "
        "(now 100 Mbit/s)."
    )


def test_a_native_value_that_is_none_says_nothing() -> None:
    assert slower_sentence(linux("a"), {"net.ipv4.tcp_wmem": "as much as it likes"}, LINK) is None


def test_without_a_link_nobody_can_tell() -> None:
    assert slower(linux("a"), "default", None) == []


def test_diff_plan_and_the_question_have_it() -> None:
    facts = linux("a", release="6.12.0")
    audit = audit_host(facts, find_profile("rfc1323-off"), LINK, {})
    document: Any = diff_document(ProfileAudit("rfc1323-off", LINK, [audit]))
    assert {"kind": SLOWER, "severity": "warning"}.items() <= document["hosts"][0]["findings"][0].items()
    plan = planner()(facts)
    assert plan.warnings == [UNSCALED]
    for blocks in (plan_blocks([plan]), question_blocks([plan])):
        assert warnings(blocks) == [UNSCALED]
    planned: Any = plan_document([plan])
    assert planned["hosts"][0]["warnings"] == [UNSCALED]
    assert planner("wan")(facts).warnings == []


def test_many_hosts_have_it_once() -> None:
    plans = [planner()(linux(name, release="6.12.0")) for name in "abcd"]
    assert warnings(question_blocks(plans, details=False)) == [f"4 hosts: {UNSCALED}"]
    assert warnings(plan_blocks(plans[:2], details=False)) == [f"a, b: {UNSCALED}"]
