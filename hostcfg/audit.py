"""A host held against a profile: targets, differences, and what they mean for throughput.  Pure."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal

from hostcfg.compare import NOT_COMPARED, compare_with_targets
from hostcfg.errors import UsageError
from hostcfg.lean import dataclass
from hostcfg.model import Finding
from hostcfg.path import slower_sentence, throughput_sentence
from hostcfg.platforms import all_platforms, get_platform
from hostcfg.profiles import profile_targets
from hostcfg.profiles.inputs import input_values
from hostcfg.profiles.targets import unsupported_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hostcfg.errors import HostcfgError
    from hostcfg.model import Difference, Facts, Link, Severity, Target
    from hostcfg.platforms.base import Platform
    from hostcfg.profiles import Profile, ProfileTargets
    from hostcfg.reader import Outcome


NOT_COMPARED_UNSUPPORTED = f"{NOT_COMPARED}unsupported"
"""Kind of the finding for what a profile wants and the host's system has no setting for."""
SLOWER = "slower_after"
"""Kind of the finding for a profile that takes throughput from one connection."""


@dataclass(frozen=True, slots=True)
class HostAudit:
    """One host's differences to a profile; ``meaning`` says in a sentence what they cost.

    ``holding`` are the native keys, with their raw values, whose targets hold already; ``targets`` is all
    that the profile wants of this host.
    """

    name: str
    facts: Facts | None
    differences: Sequence[Difference] = ()
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()
    meaning: str | None = None
    error: HostcfgError | None = None
    holding: Mapping[str, str] = field(default_factory=dict)
    targets: Sequence[Target] = ()

    @property
    def status(self) -> Literal["same", "differs", "error"]:
        """As in the contract's diff document."""
        if self.error is not None:
            return "error"
        return "differs" if self.differences else "same"


@dataclass(frozen=True, slots=True)
class ProfileAudit:
    """Hosts held against one profile on one link (None where the profile needs none)."""

    profile_name: str
    link: Link | None
    hosts: Sequence[HostAudit]


@dataclass(frozen=True, slots=True)
class SystemTargets:
    """What a profile wants on a typical host of one system."""

    os: str
    title: str
    wanted: ProfileTargets


@dataclass(frozen=True, slots=True)
class DescribedProfile:
    """A profile on a link, for each system."""

    profile: Profile
    link: Link | None
    systems: Sequence[SystemTargets]


def check_call(profile: Profile, link: Link | None, inputs: Mapping[str, str]) -> None:
    """UsageError or UnitError for inputs and a link that no host could be held against."""
    input_values(profile, inputs)
    if link is None and all(profile.needs_link(platform.name) for platform in all_platforms()):
        raise UsageError(
            f"profile {profile.name} needs a rate and an RTT; add for instance --rate 100mbit --rtt 80ms"
        )


class _Targets:
    """What a profile wants, computed once for all hosts of which it knows the same."""

    def __init__(self, profile: Profile, link: Link | None, inputs: Mapping[str, str]) -> None:
        self._profile = profile
        self._link = link
        self._inputs = inputs
        self._known: dict[object, ProfileTargets] = {}

    def of(self, facts: Facts, platform: Platform) -> ProfileTargets:
        """The targets for one host: they follow from its system, its context and its keys alone."""
        context, supported = platform.profile_context(facts), platform.keys(facts).keys()
        known_by = (
            facts.os,
            tuple(context.inputs.items()),
            tuple(context.stock.items()),
            context.stock_source,
            frozenset(supported),
        )
        found = self._known.get(known_by)
        if found is None:
            found = self._known[known_by] = profile_targets(
                self._profile,
                os=facts.os,
                context=context,
                link=self._link,
                inputs=self._inputs,
                supported=supported,
            )
        return found


def audit_host(facts: Facts, profile: Profile, link: Link | None, inputs: Mapping[str, str]) -> HostAudit:
    """``facts`` against ``profile``; ProfileError if the profile can't be computed for this host."""
    return _audit(facts, _Targets(profile, link, inputs), link)


def _audit(facts: Facts, targets: _Targets, link: Link | None) -> HostAudit:
    platform = get_platform(facts.os)
    wanted = targets.of(facts, platform)
    compared = compare_with_targets(facts, wanted.targets, platform)
    raws = _raws(facts, compared.differences, platform)
    return HostAudit(
        name=facts.host,
        facts=facts,
        differences=compared.differences,
        findings=(
            *_hazards(facts, raws),
            *_slower(facts, raws, link),
            *facts.findings,
            *compared.findings,
            *_unsupported(wanted, platform),
        ),
        notes=wanted.notes,
        meaning=throughput_sentence(facts, link) if link is not None else None,
        holding=compared.holding,
        targets=wanted.targets,
    )


def _unsupported(wanted: ProfileTargets, platform: Platform) -> Iterator[Finding]:
    """What the profile wants and the system does not have; a warning where that is all of it."""
    if wanted.unsupported:
        message = f"not compared: {unsupported_text(wanted.unsupported, platform)}"
        severity: Severity = "info" if wanted.targets else "warning"
        yield Finding(NOT_COMPARED_UNSUPPORTED, severity, message, wanted.unsupported)


def _raws(facts: Facts, differences: Sequence[Difference], platform: Platform) -> dict[str, str]:
    """The native values that end ``differences``: of a key that carries several settings all of them."""
    keys = platform.keys(facts)
    raws: dict[str, str] = {}
    for difference in differences:
        key, before = keys.get(difference.setting), raws.get(difference.key)
        encode = key.encode if key is not None and key.name == difference.key else None
        if before is not None and encode is not None:
            raws[difference.key] = encode(before, difference.target)
        elif difference.target_native is not None:
            raws[difference.key] = difference.target_native
    return raws


def _slower(facts: Facts, raws: Mapping[str, str], link: Link | None) -> Iterator[Finding]:
    """What one connection would lose."""
    text = slower_sentence(facts, raws, link) if raws and link is not None else None
    if text is not None:
        yield Finding(SLOWER, "warning", text, tuple(raws))


def _hazards(facts: Facts, wanted: dict[str, str]) -> Iterator[Finding]:
    """What would happen to a host that got what the profile wants, before anyone tries it."""
    now = {key: native.raw for key, native in facts.native.items() if native.raw is not None}
    for hazard in get_platform(facts.os).plan_hazards(facts, now | wanted) if wanted else ():
        yield Finding("profile_locks_out", "error", f"with this profile {hazard}", tuple(wanted))


def audit_fleet(
    outcomes: Sequence[Outcome], profile: Profile, link: Link | None, inputs: Mapping[str, str]
) -> ProfileAudit:
    """Every host against ``profile``, in order; hosts that could not be read keep their error."""
    targets = _Targets(profile, link, inputs)
    hosts = [
        HostAudit(outcome.spec.name, None, error=outcome.error)
        if outcome.facts is None
        else _audit(outcome.facts, targets, link)
        for outcome in outcomes
    ]
    return ProfileAudit(profile.name, link, hosts)


def describe_profile(
    profile: Profile, link: Link | None, inputs: Mapping[str, str], os: str | None = None
) -> DescribedProfile:
    """The targets of ``profile`` on a typical host of each system, or of ``os``."""
    platforms = all_platforms() if os is None else (get_platform(os),)
    systems = [SystemTargets(p.name, p.title, _on_stock(profile, p, link, inputs)) for p in platforms]
    return DescribedProfile(profile, link, systems)


def _on_stock(
    profile: Profile, platform: Platform, link: Link | None, inputs: Mapping[str, str]
) -> ProfileTargets:
    """The targets on a host of any release, with a warning where they would lock everybody out of it."""
    from hostcfg.render import risk_on_stock

    context = platform.profile_context(None).of_any_release()
    wanted = profile_targets(
        profile,
        os=platform.name,
        context=context,
        link=link,
        inputs=inputs,
        supported=platform.keys(None).keys(),
    )
    if context.assumed_release and any(t.source == context.stock_source for t in wanted.targets):
        text = f"stock values are those of {context.assumed_release}; another release may have others"
        wanted = replace(wanted, notes=(text, *wanted.notes))
    if wanted.unsupported:
        text = f"left out: {unsupported_text(wanted.unsupported, platform)}"
        wanted = replace(wanted, notes=(*wanted.notes, text))
    risk = risk_on_stock(wanted.targets, platform)
    return wanted if risk is None else replace(wanted, notes=(f"WARNING: {risk}", *wanted.notes))
