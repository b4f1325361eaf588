"""The work of ``hostcfg path``: read both ends, measure what is to be measured, analyse, print."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hostcfg.cli.common import DIFFERS, INTERRUPTED, OK, TROUBLE, Session, facts_of
from hostcfg.errors import HostcfgError, HostError, InputError, UsageError
from hostcfg.lean import dataclass
from hostcfg.model import Link
from hostcfg.units import parse_rate, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hostcfg.model import Facts, Json, Parsed
    from hostcfg.outputs.blocks import Block
    from hostcfg.outputs.report.page import Page
    from hostcfg.path import LiveEvidence, MeasuredEvidence, PathReport
    from hostcfg.path.evidence import AsRun
    from hostcfg.targets import HostSpec


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says of a path; ``rate`` and ``rtt`` still as text, or ``auto``.

    ``addresses``: host name -> where the other end reaches it.
    """

    rate: str | None
    rtt: str | None
    window_bytes: int | None
    streams: int
    loss: float | None
    mtu_bytes: int | None
    addresses: Mapping[str, str] = field(default_factory=dict)
    live: bool = False
    iperf_file: str | None = None


@dataclass(frozen=True, slots=True)
class Analysed:
    """One path, both ends read.

    ``answer`` makes the same of other facts.
    """

    report: PathReport
    a: Facts
    b: Facts
    measured: list[MeasuredEvidence]
    live: LiveEvidence | None
    answer: Callable[[Facts, Facts], Analysed]

    def plainly(self) -> Analysed:
        """With names as people paste them: what a ``file:`` target is named after, where that is clear."""
        from hostcfg.path.advice import plain_name

        a, b = (replace(facts, host=plain_name(facts.host)) for facts in (self.a, self.b))
        return self if a.host == b.host else self.answer(a, b)

    @property
    def limited(self) -> bool:
        """Whether a setting limits a direction, or will once its losses are gone."""
        return any(
            d.limited_by.kind != "link_rate" and (d.limited_by.kind != "loss" or d.needs)
            for d in self.report.directions
        )

    def document(self) -> dict[str, Json]:
        """``hostcfg.path/1`` with the evidence beside it."""
        from dataclasses import asdict

        from hostcfg.path import to_json

        document = to_json(self.report)
        if self.measured:
            document["measured"] = [_plain(asdict(m)) for m in self.measured]
        if self.live is not None:
            document["live"] = _plain(asdict(self.live))
        return document


def _plain(value: object) -> Json:
    """Tuples as lists: what a dataclass holds as JSON has it."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def parse_addresses(pairs: Sequence[str]) -> dict[str, str]:
    """``HOST=ADDRESS`` arguments as a mapping; UsageError for what is none."""
    from hostcfg.targets import checked_address

    found = {}
    for pair in pairs:
        host, separator, address = pair.rpartition("=")
        if not separator or not host:
            raise UsageError(f"--address {pair!r}: give HOST=ADDRESS, as in --address sin-1=203.0.113.8")
        found[host] = checked_address(address)
    return found


def run_one(session: Session, asked: Asked, a: str, b: str) -> int:
    """``path A B``; the exit code."""
    specs = _ends(session, a, b)
    for name in asked.addresses:
        if name not in {spec.name for spec in specs}:
            raise UsageError(f"--address {name}=...: the ends of this path are {a} and {b}")
    asked = _with_rate(_as_listed(session, asked, specs), specs)
    _check(asked)
    found = _analyse(session, asked, specs)
    if isinstance(found, HostcfgError):
        return INTERRUPTED if found.kind == "interrupted" else TROUBLE

    def blocks() -> list[Block]:
        from hostcfg.outputs.path_views import path_blocks

        plain = found.plainly()
        return path_blocks(plain.report, plain.a, plain.b, plain.measured, plain.live)

    def page() -> Page:
        from hostcfg.outputs.report.paths import Audited, path_page

        return path_page([Audited(found.plainly().report, session.groups_of(a, b))], blocks=blocks()[1:])

    session.emit(found.document, blocks, page)
    return DIFFERS if found.limited else OK


def _ends(session: Session, a: str, b: str) -> list[HostSpec]:
    """The two hosts; UsageError where they are not two."""
    specs = [*session.hosts([a], once=False), *session.hosts([b], once=False)]
    if len(specs) != 2:
        raise UsageError(f"{a} and {b} name {len(specs)} hosts: a path has two ends")
    if specs[0].name == specs[1].name:
        raise UsageError(f"both ends are {a}: a path has two")
    return specs


def _as_listed(session: Session, asked: Asked, specs: Sequence[HostSpec]) -> Asked:
    """``asked`` with what the inventory's ``paths`` say of these two ends where nobody gave another.

    The direction does not matter, but one that is listed the same way round comes first.
    """
    names = tuple(spec.name for spec in specs)
    paths = session.inventory.paths if session.inventory is not None else ()
    listed = {(path.to_host, path.from_host): path for path in reversed(paths)}
    listed |= {(path.from_host, path.to_host): path for path in reversed(paths)}
    path = listed.get((names[0], names[1]))
    if path is None:
        return asked
    return replace(asked, rate=asked.rate or path.rate, rtt=asked.rtt or path.rtt)


def _with_rate(asked: Asked, specs: Sequence[HostSpec]) -> Asked:
    """``asked`` with the lowest rate that the inventory gives of the ends, if nobody gave another."""
    rates = [spec.rate for spec in specs if spec.rate is not None]
    return replace(asked, rate=min(rates, key=parse_rate)) if asked.rate is None and rates else asked


def _check(asked: Asked) -> None:
    """The parts that need no host, before any is asked."""
    if asked.rate is None or asked.rtt is None:
        given = ((asked.rate, "--rate 100mbit (or auto)"), (asked.rtt, "--rtt 80ms (or auto)"))
        missing = " and ".join(example for value, example in given if value is None)
        raise UsageError(f"a path has a rate and a round-trip time: give {missing}")
    if asked.rate != "auto":
        parse_rate(asked.rate)
    if asked.rtt != "auto":
        parse_time(asked.rtt)
    if asked.iperf_file is not None:
        _iperf(asked.iperf_file)


def _iperf(file: str) -> Parsed:
    from hostcfg.files import read_bytes
    from hostcfg.pasted import parse_pasted, text_of
    from hostcfg.platforms import all_parsers

    parsed = parse_pasted(text_of(read_bytes(Path(file)), file), all_parsers())
    if parsed is None or not parsed.values.get("records"):
        raise InputError("holds no result of iperf3 or iperf", path=file)
    return parsed


def _analyse(session: Session, asked: Asked, specs: Sequence[HostSpec]) -> Analysed | HostcfgError:
    """The analysis, or why an end could not be read (which was told)."""
    a, b = specs
    at = {spec: _address(session, asked, spec) for spec in specs}
    address = {a: at[b], b: at[a]}  # of the other end
    outcomes = session.read(specs, address)
    for outcome in outcomes:
        if outcome.error is not None:
            return outcome.error
    facts = facts_of(outcomes)
    facts_a, facts_b = facts
    reach = Reach(session, {a: facts_a, b: facts_b}, address)
    link = Link(_rate(asked, facts), _rtt(asked, reach))
    sockets = reach.sockets(a) if asked.live else None
    return partial(_answer, asked, link, at[b] or _own_name(b), sockets)(facts_a, facts_b)


def _answer(
    asked: Asked, link: Link, server: str | None, sockets: Parsed | None, a: Facts, b: Facts
) -> Analysed:
    """Analysis and evidence; ``a`` reaches ``b`` at ``server``, and ``sockets`` is what its ``ss`` said."""
    from hostcfg.path import analyse_path, live_evidence

    def predict(streams: int, window_bytes: int | None) -> PathReport:
        return analyse_path(
            a,
            b,
            link,
            window_bytes=window_bytes,
            streams=streams,
            loss=asked.loss,
            mtu_bytes=asked.mtu_bytes,
            server=server,
        )

    report = predict(asked.streams, asked.window_bytes)
    live = live_evidence(sockets, report.directions[0], release=a.release) if sockets is not None else None
    return Analysed(
        report, a, b, _measured(asked, report, predict), live, partial(_answer, asked, link, server, sockets)
    )


def _address(session: Session, asked: Asked, spec: HostSpec) -> str | None:
    """Where the other end reaches ``spec``: as the user says, else where SSH does; None: unknown."""
    return asked.addresses.get(spec.name) or spec.path_address or session.address(spec)


def _own_name(spec: HostSpec) -> str | None:
    """This machine's name, under which the other end may know it."""
    import platform

    return platform.node() or None if spec.kind == "local" else None


def _rate(asked: Asked, facts: Sequence[Facts]) -> float:
    if asked.rate is not None and asked.rate != "auto":
        return parse_rate(asked.rate)
    from hostcfg.measure import slowest_interface_bps

    return slowest_interface_bps(facts)


def _rtt(asked: Asked, reach: Reach) -> float:
    return parse_time(asked.rtt) if asked.rtt is not None and asked.rtt != "auto" else reach.rtt_s()


def _measured(asked: Asked, report: PathReport, as_run: AsRun) -> list[MeasuredEvidence]:
    if asked.iperf_file is None:
        return []
    from hostcfg.path import compare_measured

    return compare_measured(report, _iperf(asked.iperf_file), as_run=as_run)


class Reach:
    """The ends of one path, and from which the other can be asked for something."""

    def __init__(
        self, session: Session, facts: dict[HostSpec, Facts], address: dict[HostSpec, str | None]
    ) -> None:
        self.session = session
        self.facts = facts
        self.address = address

    def rtt_s(self) -> float:
        """The least of several pings, from the first end that can reach the other; HostcfgError."""
        from hostcfg.measure import ping_rtt_s

        failed: HostcfgError | None = None
        for spec, facts in self.facts.items():
            address = self.address[spec]
            if spec.kind == "file" or address is None:
                continue
            try:
                with self.session.connect(spec) as transport:
                    return ping_rtt_s(transport, facts, address)
            except HostError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        names = " and ".join(spec.name for spec in self.facts)
        raise UsageError(
            f"--rtt auto pings from one end to the other, and of {names} neither can: give --rtt"
        )

    def sockets(self, sender: HostSpec) -> Parsed:
        """The connections from ``sender`` to the other end as they are now; HostcfgError."""
        from hostcfg.measure import read_sockets

        address = self.address[sender]
        if sender.kind == "file" or address is None:
            raise UsageError(
                f"--live asks {sender.name} about its connections to the other end, over SSH or local"
            )
        with self.session.connect(sender) as transport:
            return read_sockets(transport, self.facts[sender], address)


def analyse_path_of(session: Session, asked: Asked, from_host: str, to_host: str) -> Analysed | HostcfgError:
    """One path of an inventory, or why an end could not be read (which was told)."""
    specs = _ends(session, from_host, to_host)
    asked = _with_rate(asked, specs)
    _check(asked)
    return _analyse(session, asked, specs)
