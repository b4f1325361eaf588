"""What a profile wants and a system has no setting for is said, by diff, plan and render."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostcfg.audit import audit_host, describe_profile
from hostcfg.cli.change_common import Planner
from hostcfg.model import Link
from hostcfg.outputs.blocks import Heading
from hostcfg.outputs.views import diff_blocks
from hostcfg.platforms import get_platform
from hostcfg.profiles import find_profile, load_profile
from hostcfg.render import render_profile
from tests.path.hosts import linux, windows

if TYPE_CHECKING:
    from pathlib import Path

LINK = Link(1e9, 0.08)
SITE = """\
name: site
summary: s
when: w
settings:
  send_buffer_max: {rule: at_least, value: 2 * bdp, reason: r, source: s}
"""
BOTH = SITE + "  recv_buffer_max: {rule: at_least, value: bdp, reason: r, source: s}\n"
SAID = "send_buffer_max is no setting of Windows"


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "site.yaml"
    path.write_text(text)
    return str(path)


def test_a_profile_that_sets_nothing_on_a_system_does_not_pass_in_silence(tmp_path: Path) -> None:
    path = written(tmp_path, SITE)
    audit = audit_host(windows(), load_profile(path), LINK, {})
    (finding,) = [f for f in audit.findings if f.kind == "not_compared_unsupported"]
    assert (finding.severity, finding.message) == ("warning", f"not compared: {SAID}")
    assert tuple(finding.keys) == ("send_buffer_max",)
    plan = Planner(path, "1gbit", "80ms", ())(windows())
    assert (list(plan.steps), f"not compared: {SAID}" in plan.notes) == ([], True)
    text = render_profile(load_profile(path), get_platform("windows"), LINK, {}, "script")
    assert f"left out: {SAID}\n" in text
    (system,) = describe_profile(load_profile(path), LINK, {}, "windows").systems
    assert f"left out: {SAID}" in system.wanted.notes


def test_what_is_compared_beside_it_makes_it_a_note(tmp_path: Path) -> None:
    audit = audit_host(windows(), load_profile(written(tmp_path, BOTH)), LINK, {})
    (finding,) = [f for f in audit.findings if f.kind == "not_compared_unsupported"]
    assert finding.severity == "info"
    there = audit_host(linux(), load_profile(written(tmp_path, BOTH)), LINK, {})
    assert "not_compared_unsupported" not in {f.kind for f in there.findings}


def test_the_heading_does_not_call_it_the_same(tmp_path: Path) -> None:
    from hostcfg.audit import ProfileAudit

    audit = audit_host(windows(), load_profile(written(tmp_path, SITE)), LINK, {})
    heading = diff_blocks(ProfileAudit("site", LINK, [audit]))[0]
    assert isinstance(heading, Heading)
    assert "nothing to compare with site" in heading.aside
    assert "nothing differs" not in heading.aside


def test_the_profiles_that_come_along_say_nothing_of_it_on_linux_and_windows() -> None:
    for name in ("wan", "lan", "rfc1323-off", "default"):
        for host in (linux(), windows()):
            found = audit_host(host, find_profile(name), LINK, {}).findings
            assert "not_compared_unsupported" not in {f.kind for f in found}, (name, host.os)
